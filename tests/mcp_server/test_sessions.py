from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeKernel, Played
from mcp_server.peers import HOW, SECRET, FakeRoom, Peer, call_of, words

from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.errors import KernelDiedError, KernelError
from cellwright.exports.notebook import sample_notebook
from cellwright.exports.sampling import sample_of
from cellwright.kernels import CellRequest, OutputSink
from cellwright.mcp_server import INSTRUCTIONS, OutsideRun
from cellwright.mcp_server.outside_agent import LEFT
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import CellFinished, Event, ModelReplied
from cellwright.record.messages import SystemMessage
from cellwright.record.outputs import Cell, DisplayData, ErrorOutput, Execution, StreamOutput
from cellwright.stopping import Stop
from cellwright.tools import Component

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class SlowKernel(FakeKernel):
    """Runs a cell until somebody stops it."""

    def execute(self, request: CellRequest, stop: Stop, on_output: OutputSink) -> Any:
        self.requests.append(request)
        if request.code != "forever()":
            return Execution("ok", 0.01)
        while True:
            stop.wait(0.02)
        yield


@pytest.fixture
def room(tmp_path: Path) -> FakeRoom:
    return FakeRoom(tmp_path)


@pytest.fixture
def peer(room: FakeRoom) -> Iterator[Peer]:
    with Peer(room) as peer:
        yield peer


def test_a_client_is_told_the_version_it_speaks_and_what_the_tools_are_for(peer: Peer) -> None:
    said = peer.hello()
    assert said["protocolVersion"] == "2025-06-18"
    assert said["serverInfo"]["name"] == "cellwright"
    assert said["instructions"] == INSTRUCTIONS
    assert peer.ask("ping")["result"] == {}


def test_a_method_that_is_not_there_is_an_error_and_the_session_goes_on(peer: Peer) -> None:
    assert peer.ask("cellwright/unknown")["error"]["code"] == -32601
    assert "result" in peer.ask("tools/list")


def test_the_tools_are_named_as_ours_and_hint_at_their_risk(peer: Peer, room: FakeRoom) -> None:
    tools = {tool["name"]: tool for tool in peer.ask("tools/list")["result"]["tools"]}
    hints = {name: tool["annotations"]["readOnlyHint"] for name, tool in tools.items()}
    assert {name for name, reads in hints.items() if reads} == {
        *("read_notebook", "read_output", "list_variables", "inspect_variable", "submit"),
    }
    assert tools["edit_cell"]["annotations"]["destructiveHint"]  # it may run the cell, too
    assert not tools["add_cell"]["annotations"]["destructiveHint"]
    assert tools["run_cell"]["annotations"]["openWorldHint"]
    assert tools["run_cell"]["inputSchema"]["required"] == ["code"]
    room.kernel = room.fake_kernel
    assert {tool["name"] for tool in peer.ask("tools/list")["result"]["tools"]} == set(tools)


def test_a_call_is_a_run_that_the_record_folds_and_that_is_a_sample(
    peer: Peer, room: FakeRoom
) -> None:
    peer.hello(name="Some Agent", version="2.1")
    result = peer.call("run_cell", code="x = 1", title="set x")
    assert not result["isError"]
    assert peer.call("submit", answer="x is **1**.")["content"][0]["text"] == "x is **1**."
    record = peer.until(lambda: found if (found := room.record).status == "completed" else None)
    assert (record.lane, record.answer) == ("mcp", "x is **1**.")
    assert record.prompt == "Some-Agent/2.1: run_cell set x"
    assert record.parameters.model == record.steps[0].model == "Some-Agent/2.1"
    assert [call.name for call in record.calls] == ["run_cell", "submit"]
    assert record.messages[0] == SystemMessage(INSTRUCTIONS)
    assert [cell.cell.source for cell in record.cells] == ["x = 1"]
    sample = sample_of(record, "one", whole=True)
    assert sample.status == "completed"
    assert "x = 1" in str(sample_notebook(sample))


def test_calls_of_one_session_are_one_run_until_it_ends(peer: Peer, room: FakeRoom) -> None:
    peer.call("run_cell", code="a = 1")
    peer.call("list_variables")
    assert len(room.record.calls) == 2
    first = room.store.last_started
    peer.call("submit", answer="Done.")
    peer.call("run_cell", code="b = 2")
    assert room.store.last_started != first
    assert room.record.continues == first
    peer.session.close()
    assert (room.record.status, room.record.answer) == ("completed", LEFT)
    assert room.is_closed
    assert "ended" in words(peer.call("list_variables"))


def test_two_calls_at_once_are_made_one_after_the_other(peer: Peer, room: FakeRoom) -> None:
    begun = {peer.begin("tools/call", call_of("run_cell", code=f"{n}")) for n in range(3)}
    peer.until(lambda: begun <= {answer["id"] for answer in _answers(peer)})
    assert sorted(request.code for request in room.fake_kernel.requests) == ["0", "1", "2"]
    assert len(room.record.calls) == 3


def test_a_picture_is_a_picture_and_a_failed_cell_an_error(tmp_path: Path) -> None:
    error = ErrorOutput("ZeroDivisionError", "division by zero")
    picture = DisplayData({"image/png": PNG, "text/plain": "<Figure>"})
    kernel = FakeKernel(
        {
            "plot()": Played((picture,)),
            "1/0": Played((error,), Execution("error", 0.01, error)),
        }
    )
    with Peer(FakeRoom(tmp_path, kernel)) as peer:
        kinds = [item["type"] for item in peer.call("run_cell", code="plot()")["content"]]
        assert "image" in kinds
        failed = peer.call("run_cell", code="1/0")
        assert failed["isError"]
        assert "ZeroDivisionError" in words(failed)


def test_wrong_arguments_and_unknown_tools_are_results_that_say_so(peer: Peer) -> None:
    wrong = peer.call("run_cell", cod="1")
    assert wrong["isError"]
    assert "'code' is a required property" in words(wrong)
    assert "There is no tool 'run_cel'" in words(peer.call("run_cel"))
    assert peer.ask("tools/call", {"name": 7})["error"]["code"] == -32602


def test_a_key_is_neither_in_the_result_nor_in_the_record_nor_in_the_outline(
    tmp_path: Path,
) -> None:
    kernel = FakeKernel({"show()": Played((StreamOutput("stdout", f"it is {SECRET}\n"),))})
    room = FakeRoom(tmp_path, kernel)
    room.memory = MemoryNotebook((Cell("one", "markdown", f"key {SECRET}"),))
    with Peer(room) as peer:
        told = peer.call("run_cell", code="show()")
        assert "it is" in words(told)
        read = peer.ask("resources/read", {"uri": "cellwright://notebook"})
        assert "key" in str(read)
        assert SECRET not in str(told) + str(read) + str(room.record)


def test_the_notebook_is_a_resource_in_outline(peer: Peer, room: FakeRoom) -> None:
    listed = peer.ask("resources/list")["result"]["resources"]
    assert [item["uri"] for item in listed] == ["cellwright://notebook"]
    assert peer.ask("resources/templates/list")["result"] == {"resourceTemplates": []}
    failed = replace(Cell("c", "code", "1/0"), outputs=(ErrorOutput("E", ""),), execution_count=2)
    room.memory = MemoryNotebook((Cell("a", "markdown", "# Sales\nmore"), failed), "work.ipynb")
    text = peer.ask("resources/read", {"uri": "cellwright://notebook"})["result"]["contents"][0]
    assert text["text"] == (
        "# work.ipynb\n\n\n## Sales <!-- a -->\n\n- c code [2]: `1/0` — failed\n"
    )
    refused = peer.ask("resources/read", {"uri": "file:///etc"})["error"]
    assert (refused["code"], refused["data"]) == (-32002, {"uri": "file:///etc"})
    room.memory = None
    assert peer.ask("resources/list")["result"] == {"resources": []}


def test_what_needs_asking_is_refused_with_what_to_do_where_nobody_can_be_asked(
    tmp_path: Path,
) -> None:
    with Peer(FakeRoom(tmp_path, mode="ask")) as peer:
        peer.hello()
        refused = peer.call("run_cell", code="1")
        assert refused["isError"]
        assert words(refused).startswith("Refused: ")
        assert words(refused).endswith(HOW)
        assert not peer.call("list_variables")["isError"]
        assert peer.room.fake_kernel.requests == []


@pytest.mark.parametrize(
    ("said", "runs"),
    [
        ({"action": "accept", "content": {"answer": "yes"}}, True),
        ({"action": "accept", "content": {"answer": "no", "reason": "not now"}}, False),
        ({"action": "decline"}, False),
        ({"action": "cancel"}, False),
        (None, False),
    ],
)
def test_the_person_in_front_of_a_client_that_can_ask_is_asked(
    tmp_path: Path, said: dict[str, Any] | None, runs: bool
) -> None:
    with Peer(FakeRoom(tmp_path, mode="ask")) as peer:
        peer.hello(elicitation={})
        peer.elicits = lambda params: said
        result = peer.call("run_cell", code="x = 1", title="set x")
        assert result["isError"] is not runs
        asked = peer.of_method("elicitation/create")
        assert "set x\nIt runs code.\n\nx = 1" in asked[0]["message"]
        assert len(peer.room.fake_kernel.requests) == int(runs)
        reason = (said or {}).get("content", {}).get("reason", "")
        assert reason in words(result)
        assert HOW not in words(result) or said is None
        decision = peer.room.record.calls[0].decision
        assert decision.startswith("allowed by person" if runs else "refused by")


def test_a_person_may_take_their_time(tmp_path: Path) -> None:
    with Peer(FakeRoom(tmp_path, mode="ask")) as peer:
        peer.hello(elicitation={})
        peer.answers_late = True
        peer.elicits = lambda _: {"action": "accept", "content": {"answer": "yes"}}
        assert not peer.call("run_cell", code="x = 1")["isError"]
        peer.put({"jsonrpc": "2.0", "id": "nobody asked", "result": {}})
        assert not peer.of_method("notifications/cancelled")


def test_a_long_call_gives_signs_of_life(tmp_path: Path) -> None:
    kernel = SlowKernel()
    with Peer(FakeRoom(tmp_path, kernel), heartbeat_seconds=0.02) as peer:
        params = {**call_of("run_cell", code="forever()"), "_meta": {"progressToken": 1}}
        number = peer.begin("tools/call", params)
        told = peer.until(lambda: peer.of_method("notifications/progress"))
        assert told[0]["message"] == "run_cell goes on, 0 s"
        peer.tell("notifications/cancelled", {"requestId": number})


@pytest.mark.parametrize("failure", [KernelError("It is gone."), ValueError("It is gone.")])
def test_what_cannot_be_told_is_an_error_and_the_session_goes_on(
    peer: Peer, room: FakeRoom, failure: Exception
) -> None:
    class Broken:
        name = "broken"

        def components(self) -> tuple[Component, ...]:
            raise failure

        def look_up(self, turn: SourceQuestion) -> RetrievalResult:
            return RetrievalResult()

    room.sources = (Broken(),)
    answer = peer.ask("tools/list")["error"]
    assert answer["code"] == -32603
    assert "It is gone." in answer["message"]
    assert peer.ask("ping")["result"] == {}


def test_all_like_this_is_asked_once_a_session(tmp_path: Path) -> None:
    with Peer(FakeRoom(tmp_path, mode="ask")) as peer:
        peer.hello(elicitation={"form": {}})
        peer.elicits = lambda _: {"action": "accept", "content": {"answer": "all like this"}}
        peer.call("run_cell", code="x = 1")
        peer.call("submit", answer="Done.")
        peer.call("run_cell", code="y = 2")
        assert len(peer.of_method("elicitation/create")) == 1
        # Long texts are shown in part and that is said.
        peer.call("run_cell", code=f"import os\nos.remove('a.csv')\n# {'x' * 9_000}")
        first, asked = peer.of_method("elicitation/create")
        assert "more characters that are not shown" in asked["message"]
        # What deletes is asked about alone.
        offered = [of["requestedSchema"]["properties"]["answer"]["enum"] for of in (first, asked)]
        assert offered == [["yes", "all like this", "no"], ["yes", "no"]]


def test_a_client_that_can_only_open_addresses_is_not_asked(tmp_path: Path) -> None:
    with Peer(FakeRoom(tmp_path, mode="ask")) as peer:
        peer.hello(elicitation={"url": {}})
        assert "Refused: " in words(peer.call("run_cell", code="1"))


def test_a_cancelled_call_is_interrupted_and_the_session_goes_on(tmp_path: Path) -> None:
    kernel = SlowKernel(probes={"list_variables": []})
    room = FakeRoom(tmp_path, kernel)
    with Peer(room) as peer:
        number = peer.begin("tools/call", call_of("run_cell", code="forever()"))
        waiting = peer.begin("tools/call", call_of("run_cell", code="never()"))
        peer.until(lambda: kernel.requests)
        peer.tell("notifications/cancelled", {"requestId": waiting})
        peer.tell("notifications/cancelled", {"requestId": 4711})
        peer.tell("notifications/cancelled", {"requestId": number, "reason": "too slow"})
        stopped = room.store.last_started
        peer.until(lambda: room.store.record(stopped).status == "cancelled")
        assert room.store.record(stopped).reason == "Run stopped by the client."
        assert not peer.call("run_cell", code="1")["isError"]
        assert [request.code for request in kernel.requests] == ["forever()", "1"]
        assert {number, waiting}.isdisjoint(answer["id"] for answer in _answers(peer))


def test_leaving_while_a_cell_runs_interrupts_it(tmp_path: Path) -> None:
    kernel = SlowKernel()
    room = FakeRoom(tmp_path, kernel)
    peer = Peer(room)
    peer.begin("tools/call", call_of("run_cell", code="forever()"))
    peer.until(lambda: kernel.requests)
    peer.session.close()
    assert room.record.status == "cancelled"
    room.store.database.close()


def test_a_call_that_is_asked_about_can_be_cancelled(tmp_path: Path) -> None:
    with Peer(FakeRoom(tmp_path, mode="ask")) as peer:
        peer.hello(elicitation={})

        def cancel(_: object) -> dict[str, Any]:
            peer.tell("notifications/cancelled", {"requestId": 2})
            return {"action": "accept"}

        peer.elicits = cancel
        number = peer.begin("tools/call", call_of("run_cell", code="1"))
        assert number == 2
        peer.until(lambda: peer.room.store.counts().get("cancelled"))
        assert peer.room.fake_kernel.requests == []


def test_what_a_cell_prints_is_told_as_progress_where_the_client_wants_to_know(
    tmp_path: Path,
) -> None:
    kernel = FakeKernel({"long()": Played((StreamOutput("stdout", "1 of 9\n2 of 9\n"),))})
    with Peer(FakeRoom(tmp_path, kernel)) as peer:
        params = {**call_of("run_cell", code="long()"), "_meta": {"progressToken": "t"}}
        peer.ask("tools/call", params)
        told = peer.of_method("notifications/progress")
        assert told == [{"progressToken": "t", "progress": 1, "message": "2 of 9"}]
        peer.call("run_cell", code="long()")
        assert len(peer.of_method("notifications/progress")) == 1


def test_a_kernel_that_dies_is_told_and_the_next_call_begins_another_run(tmp_path: Path) -> None:
    died = Played(raises=KernelDiedError("The kernel died."))
    room = FakeRoom(tmp_path, FakeKernel({"crash()": died}))
    with Peer(room) as peer:
        assert "The kernel died." in words(peer.call("run_cell", code="crash()"))
        peer.until(lambda: room.record.cause == "kernel_died")
        first = room.store.last_started
        assert not peer.call("run_cell", code="1")["isError"]
        assert room.store.last_started != first


def test_a_run_that_cannot_begin_answers_its_call(peer: Peer, room: FakeRoom) -> None:
    room.fails_with = KernelError("There is no kernel.", hint="Start one.")
    failed = peer.call("run_cell", code="1")
    assert failed["isError"]
    assert words(failed) == "The call was not made: There is no kernel. Start one."
    room.fails_with = ValueError("odd")
    assert "cellwright failed: ValueError('odd')" in words(peer.call("run_cell", code="1"))
    room.fails_with = None
    assert not peer.call("run_cell", code="1")["isError"]


def test_a_call_that_a_failed_run_had_begun_is_not_said_to_be_not_made(
    room: FakeRoom, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def heard_and_failed(run: OutsideRun) -> None:
        def see(event: Event) -> None:
            run.heard(event)
            if isinstance(event, CellFinished):
                raise ValueError("odd")

        usual(replace(run, heard=see))

    usual = room.run
    monkeypatch.setattr(room, "run", heard_and_failed)
    failed = words(peer.call("run_cell", code="1"))
    assert [request.code for request in room.fake_kernel.requests] == ["1"]
    assert failed.startswith("The call was not finished: cellwright failed: ValueError('odd')")


def test_what_the_room_has_to_say_stands_beside_the_result(peer: Peer, room: FakeRoom) -> None:
    room.problems.append("The file is not saved.")
    assert words(peer.call("list_variables")).endswith("The file is not saved.")
    assert "not saved" not in words(peer.call("list_variables"))


def test_no_reply_of_a_model_counts_tokens(peer: Peer, room: FakeRoom) -> None:
    peer.call("list_variables")
    replies = [item.event for item in room.store.events(room.store.last_started)]
    used = [event.usage.total_tokens for event in replies if isinstance(event, ModelReplied)]
    assert used == [0]


def _answers(peer: Peer) -> list[dict[str, Any]]:
    return [message for message in peer.sent if "id" in message and "method" not in message]
