"""A component that is called by hand: what is told of it, and what is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeKernel, Played
from server import hand_components as tools
from server.hand_place import SECRET, Place

from cellwright.record.content import OUTPUT_MIME, ComponentOutput, Content
from cellwright.record.events import ApprovalAnswered, ToolFinished
from cellwright.record.outputs import (
    ClearOutput,
    DisplayData,
    ErrorOutput,
    ExecuteResult,
    Execution,
    StreamOutput,
)
from cellwright.record.values import to_dict
from cellwright.server.component_envelopes import Envelope, server_sent
from cellwright.server.component_routes import NoKernel
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.tools import Component
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.live_tools import kernel_tool


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    database = open_database(tmp_path / "runs.sqlite")
    yield RunStore(database)
    database.close()


@pytest.fixture
def place(store: RunStore) -> Place:
    return Place(store)


def test_000_31_a_stream_begins_runs_and_ends_in_order(place: Place) -> None:
    last = place.call(tools.Mixed(), is_streamed=True, chat_id="chat1")
    assert [envelope.seq for envelope in place.told] == list(range(1, len(place.told) + 1))
    assert [envelope.status for envelope in place.told[:-1]] == ["running"] * len(place.told[:-1])
    assert (last.status, last.is_completion, last.content) == ("done", True, ())
    assert not any(envelope.is_completion for envelope in place.told[:-1])
    assert {envelope.run_id for envelope in place.told} == {place.store.last_started}
    assert {envelope.chat_id for envelope in place.told} == {"chat1"}
    assert place.words() == ["one ", "for you.", "two.", "an answer."]
    assert last.metrics is not None
    assert last.metrics.duration_seconds >= 0


def test_000_31_pieces_of_one_text_have_one_event_and_others_their_own(place: Place) -> None:
    place.call(tools.Mixed(), is_streamed=True)
    events = {
        item.text["info"]: item.event
        for envelope in place.told
        for item in envelope.content
        if "info" in item.text
    }
    assert events["one "].id == events["two."].id
    assert len({events[word].id for word in ("one ", "for you.", "an answer.")}) == 3
    assert {event.status for event in events.values()} == {"running"}
    assert {event.name for event in events.values()} == {"mixed"}
    assert all(event.created_time.endswith("+00:00") for event in events.values())


def test_000_31_each_role_has_a_message_of_its_own(place: Place) -> None:
    place.call(tools.Mixed(), is_streamed=True)
    roles = {envelope.role: envelope.message_id for envelope in place.told}
    assert set(roles) == {"tool", "assistant"}
    assert len(set(roles.values())) == 2


def test_000_34_progress_is_told_in_its_place_and_is_no_part_of_the_answer(place: Place) -> None:
    place.call(tools.Mixed(), is_streamed=True)
    kinds = [item.type for envelope in place.told for item in envelope.content]
    assert kinds[0] == "progress"
    whole = place.call(tools.Mixed())
    assert "progress" not in [item.type for item in whole.content]


def test_000_35_what_is_for_the_model_alone_is_told_only_to_who_asks(place: Place) -> None:
    for view, words in {
        "user": {"one two.", "for you.", "an answer."},
        "llm": {"one two.", "for the model.", "an answer."},
        "all": {"one two.", "for you.", "for the model.", "an answer."},
    }.items():
        whole = place.call(tools.Mixed(), view=view)
        texts = {item.text["info"] for item in whole.content if "info" in item.text}
        assert texts == words, view
        assert all(not hasattr(item, "raw_data") for item in whole.content)


def test_000_30_without_a_stream_all_is_put_together(place: Place) -> None:
    whole = place.call(tools.Mixed(), arguments={"number": 2.5})
    assert [envelope.seq for envelope in place.told] == [1]
    assert [item.type for item in whole.content] == ["text", "text", "json", "text"]
    assert {item.event.status for item in whole.content} == {"done"}
    data = whole.content[2].text["data"]
    assert data == {"number": 2.5, "no": None}


@pytest.mark.parametrize(
    ("how", "code", "message"),
    [
        ("tool", "tool_error", "It cannot. Do not."),
        ("refused", "refused", "It may not."),
        ("kernel", "kernel_died", "The kernel is gone."),
        ("bug", "internal", "The tool failed: ZeroDivisionError: division by zero"),
        ("itself", "tool_error", "it is wrong"),
        ("silently", "tool_error", "The component reports an error."),
    ],
)
@pytest.mark.parametrize("is_streamed", [True, False])
def test_000_17_an_error_is_told_after_what_was_said_and_ends_it(
    place: Place, how: str, code: str, message: str, is_streamed: bool
) -> None:
    last = place.call(tools.Fails(), arguments={"how": how}, is_streamed=is_streamed)
    assert (last.status, last.is_completion) == ("error", True)
    said = [item for envelope in place.told for item in envelope.content]
    assert [item.text["info"] for item in said] == ["begun.", message]
    assert said[1].is_error
    assert (said[1].event.status, said[1].event.error_code) == ("error", code)
    assert said[1].event.error_message == message
    assert place.record.status == "task error"
    assert "hidden" not in str(place.told)


def test_000_31_a_stop_between_two_outputs_interrupts(place: Place) -> None:
    endless = tools.Endless()
    endless.ended.clear()

    def tell(envelope: Envelope) -> None:
        place.told.append(envelope)
        if envelope.seq == 4:
            run.stop.set("the caller has gone")

    run = place.made(endless, is_streamed=True, tell=tell)
    last = place.do(run)
    assert (last.status, last.is_completion) == ("interrupt", True)
    assert last.content[0].event.error_code == "stopped"
    assert last.content[0].text["info"] == "Stopped: the caller has gone."
    assert endless.ended.is_set()
    assert (place.record.status, place.record.cause) == ("cancelled", "stopped")
    assert [event.status for event in place.events(ToolFinished)] == ["cancelled"]


def test_000_31_one_that_does_not_return_is_given_up(place: Place) -> None:
    run = place.made(tools.Mixed(), is_streamed=True)
    assert run.abandoned() == ()
    place.do(run)
    run.stop.set("it took too long")
    (last,) = run.abandoned()
    assert last.status == "interrupt"
    assert "it took too long; the component has not returned yet" in last.content[0].text["info"]


def test_000_32_the_call_is_recorded_with_version_mode_and_consent(place: Place) -> None:
    tools.RAN.clear()
    place.call(tools.Writes(), arguments={"text": "a"})
    assert tools.RAN == ["a"]
    record = place.record
    assert (record.status, record.lane, record.mode) == ("completed", "hand", "ask")
    assert record.prompt == "writes v1"
    assert [call.arguments for call in record.calls] == [{"text": "a"}]
    answered = place.events(ApprovalAnswered)
    assert [(event.allowed, event.by) for event in answered] == [(True, "person")]


def test_000_41_one_of_several_tools_is_called_by_its_name(place: Place) -> None:
    place.call(tools.Pair(), "second")
    assert place.words() == ["second"]


def test_000_14_a_component_knows_the_model_and_never_its_key(place: Place) -> None:
    whole = place.call(tools.Knows())
    (item,) = whole.content
    known = item.text["data"]
    assert known["model_configs"]["model"] == "large"
    assert known["model_configs"]["base_url"] == "https://models.example/v1"
    assert known["_sys_uid"] == "ada"
    assert known["_sys_traceid"] == place.store.last_started
    assert SECRET not in str(to_dict(whole))


def test_000_14_what_it_spends_on_models_is_in_the_same_run(place: Place) -> None:
    whole = place.call(tools.Knows())
    assert [(item.model, item.usage.total_tokens) for item in whole.usage] == [("small", 7)]
    assert place.record.usage.total_tokens == 7


def test_000_05_a_call_by_hand_sets_nothing_of_the_model(place: Place) -> None:
    known = place.call(tools.Knows()).content[0].text["data"]
    assert set(known["model_configs"]) == {"model", "base_url"}


def test_no_secret_is_told_or_recorded(place: Place) -> None:
    place.call(tools.shout, arguments={"word": SECRET.upper().lower()})
    place.call(tools.Writes(), arguments={"text": SECRET})
    events = place.store.events(place.store.last_started)
    assert SECRET not in str(place.told) + str(events)


class Hints(Component):
    name = "hints"

    def tool_eval(self) -> Iterator[ComponentOutput]:
        """Say what may become a secret, to two roles."""
        yield self.create_output(text="use gh", role="assistant")
        yield self.create_output("code", {"code": "hf", "language": "python"})


def test_13_8_what_is_held_back_comes_before_the_end(place: Place) -> None:
    last = place.call(Hints(), is_streamed=True)
    told = [(item.role, each.text) for item in place.told for each in item.content]
    assert told == [
        ("assistant", {"info": "use "}),
        ("tool", {"code": "", "language": "python"}),
        ("assistant", {"info": "gh"}),
        ("tool", {"code": "hf"}),
    ]
    assert [item.seq for item in place.told] == list(range(1, len(place.told) + 1))
    assert (last.is_completion, last.content) == (True, ())


def test_13_8_what_is_held_back_is_told_of_one_that_does_not_return(place: Place) -> None:
    given_up: list[Envelope] = []

    def tell(envelope: Envelope) -> None:
        place.told.append(envelope)
        if envelope.content and not given_up:
            run.stop.set("it took too long")
            given_up.extend(run.abandoned())

    run = place.made(Hints(), is_streamed=True, tell=tell)
    place.do(run)
    held, last = given_up
    assert [item.text for item in held.content] == [{"info": "gh"}]
    assert (held.is_completion, last.is_completion) == (False, True)
    assert held.seq < last.seq


def test_what_goes_over_the_wire_is_a_numbered_event(place: Place) -> None:
    place.call(tools.shout, arguments={"word": "a\nb"}, is_streamed=True)
    text = server_sent(place.told[1])
    assert text.startswith("id: 2\ndata: {")
    assert text.endswith("}\n\n")
    assert text.count("\n") == 3


def test_without_a_kernel_whoever_wants_one_is_told(place: Place) -> None:
    class Asks(Component):
        name = "asks"

        def tool_eval(self, context: Any) -> str:
            """Ask the kernel."""
            assert not context.kernel.is_alive()
            context.kernel.interrupt()
            context.kernel.wait_until_free(context.stop)
            return str(context.kernel.probe("list_variables", {}))

    last = place.call(Asks())
    assert last.content[0].event.error_code == "kernel"
    assert "No kernel was named." in last.content[0].text["info"]
    kernel = NoKernel()
    for ask in (kernel.describe, lambda: kernel.execute(None, None, None)):  # type: ignore[arg-type]
        with pytest.raises(Exception, match="No kernel was named"):
            ask()


class TestLiveTools:
    """A tool that lives in a kernel is a cell there; the person is told what the cell shows."""

    def played(self, place: Place, *messages: Any, **options: Any) -> Envelope:
        row = LiveRow("revenue", "revenue", "Revenue.", {"type": "object"})
        execution = options.pop("execution", Execution("ok", 0.1))
        kernel = FakeKernel({"revenue()": Played(tuple(messages), execution)})
        place.surroundings = replace(place.surroundings, kernel=kernel)
        return place.call(kernel_tool(row), **options)

    def test_000_30_what_the_cell_shows_is_the_answer(self, place: Place) -> None:
        whole = self.played(
            place,
            StreamOutput("stdout", "printed\n"),
            DisplayData({"image/png": "aGVsbG8=", "text/plain": "<Figure>"}),
            ClearOutput(),
            ExecuteResult({"text/plain": "42", "text/html": "<b>42</b>"}),
        )
        assert [item.type for item in whole.content] == ["text", "image", "text"]
        assert whole.content[0].text["info"] == "printed\n"
        assert whole.content[2].text["info"] == "42"
        assert whole.content[2].text["mime"]["text/html"] == "<b>42</b>"
        assert whole.status == "done"

    def test_000_35_contents_of_a_component_keep_their_scopes(self, place: Place) -> None:
        user = Content("text", {"info": "seen"}, visible_scope="user")
        model = Content("text", {"info": "read"}, visible_scope="llm")
        shown = to_dict(ComponentOutput((user, model)))
        data = {"text/plain": "seen", OUTPUT_MIME: shown}
        whole = self.played(place, DisplayData(data))
        assert [item.text["info"] for item in whole.content] == ["seen"]
        whole = self.played(place, DisplayData({"text/plain": "x", OUTPUT_MIME: {"new": 1}}))
        assert [item.text["info"] for item in whole.content] == ["x"]

    def test_000_17_an_exception_in_the_cell_is_the_error(self, place: Place) -> None:
        error = ErrorOutput("KeyError", "'north'")
        whole = self.played(place, error, execution=Execution("error", 0.1, error))
        assert whole.status == "error"
        assert whole.content[0].event.error_message == "KeyError: 'north'"
