"""``Session`` in this process: questions, files, tools, values, approvals, Stop, what cannot be."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from fake_anthropic import AnthropicMessages
from fake_gemini import GeminiApi
from fake_providers import calls, says, thinks
from fake_service import FakeService, Request, Script, Wire, after, error, text, tool_call

import cellwright
from cellwright.record.events import CellStarted, Event, TextDelta, ToolStarted

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels", "folder")]
Serve = Callable[[Script], FakeService]


def run_cell(code: str) -> Callable[[Request], Wire]:
    return tool_call("run_cell", {"code": code})


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_what_a_session_holds_goes_on_from_question_to_question(serve: Serve) -> None:
    service = serve([run_cell("x = 20"), text("Set."), run_cell("x + 1"), text("It is 21.")])
    with cellwright.Session() as session:
        first = session.ask("Set x.")
        second = session.ask("And one more?")
    assert (first.text, second.text) == ("Set.", "It is 21.")
    assert [output.data["text/plain"] for output in second.outputs] == ["21"]  # type: ignore[union-attr]
    assert [cell.cell.source for cell in second.cells] == ["x + 1"]
    assert second.run.record.continues == first.run.id
    said = [message["role"] for message in service.requests[-1].messages]
    assert said.count("user") == 2


def test_the_files_of_an_answer_are_those_that_its_run_made_or_changed(
    serve: Serve, folder: Path, tmp_path: Path
) -> None:
    (folder / "notes.txt").write_text("old")
    code = (
        "import os, pathlib; pathlib.Path('plot.bin').write_bytes(b'\\x00\\x01'); "
        "pathlib.Path('notes.txt').write_text('new one'); pathlib.Path('gone.txt').write_text('')"
    )
    later = "os.remove('gone.txt'); os.mkdir('out'); os.chdir('out')"
    last = "pathlib.Path('deep.txt').write_text('deep')"
    serve([run_cell(code), run_cell(later), run_cell(last), text("Done."), text("Nothing more.")])
    # to delete a file is asked about in mode auto, too
    with cellwright.Session(approve=lambda call: True) as session:
        answer = session.ask("Make some files.")
        assert session.ask("And now?").files == ()
    files = {file.name: file for file in answer.files}
    assert {name: file.change for name, file in files.items()} == {
        "plot.bin": "created",
        "notes.txt": "modified",
        str(Path("out", "deep.txt")): "created",
    }
    # they are still there when the session has ended
    assert files["plot.bin"].read_bytes() == b"\x00\x01"
    assert files["notes.txt"].read_text() == "new one"
    assert files["plot.bin"].size_bytes == 2
    saved = files["plot.bin"].save(tmp_path)
    assert saved == tmp_path / "plot.bin"
    assert saved.read_bytes() == b"\x00\x01"


def test_files_are_named_as_the_kernel_finds_them(
    serve: Serve, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere.csv"
    other.write_text("a,b\n1,2\n")
    read = f"len(open('iris.csv').readlines()) + len(open({str(other)!r}).readlines())"
    service = serve([run_cell(read), text("9 lines.")])
    with cellwright.Session(folder=folder) as session:
        answer = session.ask("How many lines?", files=["iris.csv", other])
    assert answer.outputs[0].data["text/plain"] == "9"  # type: ignore[union-attr]
    assert str(other) in service.requests[0].last_text
    assert list(answer.run.record.files) == ["iris.csv", str(other)]


def test_a_file_that_is_not_there_is_told_before_anything_is_asked(serve: Serve) -> None:
    service = serve([])
    with (
        cellwright.Session() as session,
        pytest.raises(cellwright.SetupError, match=r"missing\.csv"),
    ):
        session.ask("Look.", files=["missing.csv"])
    assert service.requests == []


def test_what_is_no_text_is_no_question(serve: Serve) -> None:
    service = serve([])
    with (
        cellwright.Session() as session,
        pytest.raises(cellwright.SetupError, match="The question is None"),
    ):
        session.ask(None)  # type: ignore[arg-type]
    assert service.requests == []


def test_a_function_is_a_tool_that_runs_in_the_program(serve: Serve) -> None:
    asked: list[str] = []

    @cellwright.tool(risk="read")
    def price(item: str) -> float:
        """Price of an item."""
        asked.append(item)
        return 2.5

    def stock(item: str) -> int:
        """How many there are."""
        return 4

    script = [tool_call("price", {"item": "tea"}), tool_call("stock", {"item": "tea"}), text("10.")]
    service = serve(script)
    with cellwright.Session(tools=[price, stock]) as session:
        answer = session.ask("What is all the tea worth?")
    assert asked == ["tea"]
    assert {"price", "stock", "run_cell"} <= set(service.requests[0].tool_names)
    told = [m["content"] for m in service.requests[-1].messages if m["role"] == "tool"]
    assert ["2.5" in told[0], "4" in told[1]] == [True, True]
    assert [call.status for call in answer.run.record.calls] == ["ok", "ok"]
    again = cellwright.replay(answer)
    assert again.is_same
    assert asked == ["tea"], "a replay uses what was recorded"


def test_a_tool_of_a_name_that_is_taken_is_refused() -> None:
    def run_cell(code: str) -> str:
        """Run."""
        return code

    with pytest.raises(cellwright.SetupError, match="run_cell"):
        cellwright.Session(tools=[run_cell])


def test_typed_results_are_values(serve: Serve) -> None:
    values = {"best": "tea", "share": 0.5}
    serve([tool_call("hand_in", {"values": values})])
    with cellwright.Session() as session:
        answer = session.ask("What sells best?", signature="-> best: str, share: float")
        plain = cellwright.Answer(answer.run)
    assert plain.values == values
    signature = cellwright.Signature.parse("question -> best: str, share: float")
    assert [field.name for field in signature.outputs] == list(values)


def test_events_are_seen_as_they_are_recorded(serve: Serve) -> None:
    serve([run_cell("1"), text("One.")])
    seen: list[Event] = []
    with cellwright.Session() as session:
        session.ask("Count.", on_event=seen.append)
    said = "".join(event.text for event in seen if isinstance(event, TextDelta))
    assert said == "One."
    assert any(isinstance(event, CellStarted) for event in seen)


def test_a_program_s_own_fault_while_it_watches_ends_the_run_and_its_record(serve: Serve) -> None:
    serve([run_cell("1"), text("Still here.")])

    def fail(event: Event) -> None:
        if isinstance(event, CellStarted):
            raise LookupError("mine")

    with cellwright.Session() as session:
        with pytest.raises(LookupError, match="mine"):
            session.ask("Count.", on_event=fail)
        assert cellwright.load_run("last").status == "cancelled"
        assert session.ask("And now?").text == "Still here."


def test_in_mode_ask_a_function_says_what_runs(serve: Serve) -> None:
    serve([run_cell("x = 1"), run_cell("x = 2"), run_cell("x"), text("Done.")])
    asked: list[str] = []

    def approve(call: ToolStarted) -> bool:
        asked.append(str(call.arguments["code"]))
        return "2" not in asked[-1]

    with cellwright.Session(mode="ask", approve=approve) as session:
        answer = session.ask("Try.")
    assert asked == ["x = 1", "x = 2", "x"]
    assert [call.status for call in answer.run.record.calls] == ["ok", "refused", "ok"]
    assert answer.outputs[-1].data["text/plain"] == "1"  # type: ignore[union-attr]


def test_where_nobody_can_be_asked_mode_ask_is_refused_and_told_what_to_pass(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CELLWRIGHT_MODE")
    service = serve([])
    before = children()
    with cellwright.Session() as session:
        with pytest.raises(cellwright.SetupError) as refused:
            session.ask("Run something.")
        assert children() == before, "no kernel is started for it"
    assert "nobody can be asked" in str(refused.value)
    assert 'Session(mode="auto")' in str(refused.value)
    assert service.requests == []


def test_in_mode_plan_nothing_runs(serve: Serve) -> None:
    serve([run_cell("x = 1"), text("I would set x.")])
    with cellwright.Session(mode="plan") as session:
        answer = session.ask("Set x.")
    assert [call.status for call in answer.run.record.calls] == ["refused"]


def test_a_run_that_fails_is_an_answer_that_can_raise(
    serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    serve([error(401, "wrong key")])
    with cellwright.Session() as session:
        answer = session.ask("Hello?")
    assert answer.status != "completed"
    assert answer.text == ""
    answer.show()
    assert "key" in capsys.readouterr().out
    with pytest.raises(cellwright.RunFailedError, match=answer.run.id):
        answer.raise_for_status()


def test_what_is_shown_is_the_answer_the_files_and_what_cannot_be_drawn(
    serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        "from IPython.display import display\n"
        "open('made.txt', 'w').close()\n"
        "display({'image/png': 'aGk=', 'text/plain': '<Figure>'}, raw=True)"
    )
    serve([run_cell(code), text("Here it **is**.")])
    with cellwright.Session() as session:
        answer = session.ask("Draw.").raise_for_status()
    answer.show()
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("Here it **is**.", "1 picture", "made.txt"))
    assert str(answer) == "Here it **is**."
    assert answer.run.id in repr(answer)


def test_stop_ends_the_run_from_another_thread_and_the_session_goes_on(serve: Serve) -> None:
    serve([run_cell("import time; time.sleep(60)"), text("Still here.")])
    with cellwright.Session() as session:

        def stop_when_it_runs(event: Event) -> None:
            if isinstance(event, CellStarted):
                threading.Timer(0.3, session.stop).start()

        answer = session.ask("Sleep.", on_event=stop_when_it_runs)
        assert answer.status == "cancelled"
        assert session.ask("Are you there?").text == "Still here."


def test_a_session_answers_one_question_at_a_time(serve: Serve) -> None:
    serve([run_cell("1"), text("One.")])
    problems: list[str] = []
    with cellwright.Session() as session:

        def ask_too(event: Event) -> None:
            if isinstance(event, CellStarted):
                with pytest.raises(cellwright.SetupError) as refused:
                    session.ask("Me too!")
                problems.append(str(refused.value))
                with pytest.raises(cellwright.SetupError, match="stop"):
                    session.close()

        answer = session.ask("Count.", on_event=ask_too)
    assert "answering" in problems[0]
    assert answer.status == "cancelled", "close asked it to stop"


def test_a_kernel_that_was_killed_between_questions_is_replaced(serve: Serve) -> None:
    code = "import os; print(os.getpid())"
    service = serve([run_cell(code), text("Set."), run_cell("os"), text("Gone.")])
    with cellwright.Session() as session:
        first = session.ask("Set x.")
        os.kill(int(first.outputs[0].text), signal.SIGKILL)  # type: ignore[union-attr]
        second = session.ask("Is it there?")
    assert second.text == "Gone."
    assert second.outputs[0].ename == "NameError"  # type: ignore[union-attr]
    told = next(
        str(m["content"]) for m in service.requests[2].messages[::-1] if m["role"] == "user"
    )
    assert "kernel" in told


def test_leaving_the_block_ends_the_kernel_and_a_closed_session_says_so(serve: Serve) -> None:
    serve([run_cell("import os; os.getpid()"), text("Done.")])
    with cellwright.Session() as session:
        answer = session.ask("Which process?")
        pid = int(answer.outputs[0].data["text/plain"])  # type: ignore[union-attr]
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    session.close()
    with pytest.raises(cellwright.SetupError, match="closed"):
        session.ask("Hello?")


def test_a_session_goes_on_after_a_run_of_another(serve: Serve) -> None:
    service = serve([run_cell("x = 1"), text("Set."), text("You asked to set x.")])
    with cellwright.Session() as session:
        first = session.ask("Set x.")
    with cellwright.Session.resume(first.run.id) as session:
        answer = session.ask("What did I ask?")
    assert answer.run.record.continues == first.run.id
    messages = service.requests[-1].messages
    assert [m["content"] for m in messages if m["role"] == "assistant"][-1] == "Set."
    assert "kernel" in str(messages[-1]["content"]).lower(), "its variables are gone"


def test_a_session_goes_on_after_a_run_that_nobody_answered(serve: Serve) -> None:
    service = serve([error(400, "no"), text("Now I can.")])
    with cellwright.Session() as session:
        session.ask("First question.")
    with cellwright.Session.resume("last") as session:
        assert session.ask("Second question.").text == "Now I can."
    said = [str(m["content"]) for m in service.requests[-1].messages if m["role"] == "user"]
    assert "Second question." in said[-1]


def test_a_limit_holds_and_one_of_another_name_is_refused(serve: Serve) -> None:
    serve(run_cell("1"))
    with cellwright.Session(limits={"step_limit": 2}) as session:
        answer = session.ask("Go on.")
    assert answer.status == "task limit reached"
    assert len(answer.cells) == 2
    with pytest.raises(cellwright.SetupError, match="step_limit"):
        cellwright.Session(limits={"steps": 2})


def test_a_budget_that_cannot_be_kept_is_refused(serve: Serve) -> None:
    service = serve([])
    with (
        cellwright.Session(limits={"cost_limit_dollars": 1.0}) as session,
        pytest.raises(cellwright.SetupError, match="CELLWRIGHT_PRICES"),
    ):
        session.ask("Go.")
    assert service.requests == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "gpt-5.6"}, "OPENAI_API_KEY"),
        ({"kernel": "no-such-kernel"}, "no-such-kernel"),
    ],
)
def test_what_is_missing_is_named(options: dict[str, str], words: str) -> None:
    options = {"model": "demo", **options}
    with (
        cellwright.Session(**options) as session,  # type: ignore[arg-type]
        pytest.raises(cellwright.CellwrightError, match=words),
    ):
        session.ask("Hello?")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "yolo"}, "auto"),
        ({"folder": "nowhere"}, "nowhere"),
        ({"kernel": "here"}, "IPython"),
    ],
)
def test_what_cannot_be_is_refused_at_once(options: dict[str, str], words: str) -> None:
    with pytest.raises(cellwright.SetupError, match=words):
        cellwright.Session(**options)  # type: ignore[arg-type]


def test_a_slow_service_is_not_waited_for_when_the_session_is_closed(serve: Serve) -> None:
    serve([after(text("late"), 30)])
    session = cellwright.Session()
    threading.Timer(1.0, session.close).start()
    assert session.ask("Hurry!").status == "cancelled"


def test_a_conversation_with_signed_thinking_goes_on_from_question_to_question(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that stands before a thought may change: not the head, not the tools, no question."""
    step = [thinks("Look."), calls("run_cell", {"code": "x = 41 + 1\nx"})]
    provider = AnthropicMessages([*([step, [thinks("So."), says("42.")]] * 4)], chunk_bytes=7)
    service = serve(provider)
    monkeypatch.setenv("CELLWRIGHT_API", "messages")
    with cellwright.Session() as session:
        answers = [session.ask(f"Question {n}?", files=["iris.csv"]) for n in range(4)]
    assert [answer.text for answer in answers] == ["42."] * 4
    assert provider.refusals == []
    assert len(service.requests) == 8
    kinds = [b["type"] for m in provider.taken[-1]["messages"] for b in m["content"]]
    assert kinds.count("thinking") == 7
    used = answers[-1].run.usage
    assert used.cached_tokens > 0.7 * used.prompt_tokens, used


def test_a_conversation_with_signed_calls_goes_on_from_question_to_question(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each signature goes back with its part in all later requests, out of the record, too."""
    step = [thinks("Look."), calls("run_cell", {"code": "x = 41 + 1\nx"})]
    provider = GeminiApi([*([step, [thinks("So."), says("42.")]] * 3)], chunk_bytes=7)
    serve(provider)
    monkeypatch.setenv("CELLWRIGHT_API", "gemini")
    with cellwright.Session() as session:
        answers = [session.ask(f"Question {n}?") for n in range(3)]
    assert [answer.text for answer in answers] == ["42."] * 3
    assert provider.refusals == []
    parts = [part for c in provider.taken[-1]["contents"] for part in c["parts"]]
    given = [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]
    assert given == list(provider.signatures)[:5], "of three steps with a call and two answers"
    assert answers[-1].run.usage.reasoning_tokens == 2 * 64
