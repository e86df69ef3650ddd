"""The same run in nbclient, papermill, a Jupyter front end and a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
import papermill
import pexpect
import pytest
from fake_service import MODEL, FakeService, error, text, tool_call
from magics.live_kernel import LiveKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook
from papermill.exceptions import PapermillExecutionError

from cellwright.record.run_record import RunRecord
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.usefixtures("forked_kernels"),
    pytest.mark.filterwarnings("ignore:.*TCP without encryption"),
]
LOAD = "%load_ext cellwright"
ASK = "%%agent --mode auto\nMake it three"
SCRIPT = [
    tool_call("list_variables", {}, text="I look."),
    tool_call("run_cell", {"code": "three = int('x')", "title": "Try"}, id="call_2"),
    tool_call("run_cell", {"code": "three = 3\nprint('made', three)\nthree"}, id="call_3"),
    text("It is **three**."),
]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeService]:
    with FakeService(SCRIPT) as service:
        monkeypatch.setenv("CELLWRIGHT_BASE_URL", service.base_url)
        monkeypatch.setenv("CELLWRIGHT_API_KEY", "no-key")
        monkeypatch.setenv("CELLWRIGHT_MODEL", MODEL)
        yield service


def notebook(*sources: str) -> nbformat.NotebookNode:
    cells = [new_code_cell(source) for source in sources]
    return new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    )


def executed(*sources: str) -> nbformat.NotebookNode:
    made = notebook(*sources)
    NotebookClient(made, timeout=60, kernel_name="python3").execute()
    return made


def papermilled(folder: Path, *sources: str) -> nbformat.NotebookNode:
    nbformat.write(notebook(*sources), folder / "in.ipynb")
    return papermill.execute_notebook(
        str(folder / "in.ipynb"), str(folder / "out.ipynb"), progress_bar=False, log_output=False
    )


def in_terminal(folder: Path, *lines: str) -> str:
    script = folder / "session.ipy"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "IPython", "--colors=NoColor", "--no-banner", str(script)]
    done = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=60, cwd=folder, check=False
    )
    return done.stdout + done.stderr


def last_run() -> RunRecord:
    database = open_database(Path(os.environ["CELLWRIGHT_HOME"]) / "runs.sqlite")
    try:
        store = RunStore(database)
        return store.record(store.resolve("last"))
    finally:
        database.close()


def event_kinds() -> list[str]:
    database = open_database(Path(os.environ["CELLWRIGHT_HOME"]) / "runs.sqlite")
    try:
        store = RunStore(database)
        events = store.events(store.resolve("last"))
    finally:
        database.close()
    # How finely text comes in is a matter of the wire.
    kinds = [recorded.event.kind for recorded in events]
    return [kind for at, kind in enumerate(kinds) if kind != "text_delta" or kinds[at - 1] != kind]


EXPECTED = (
    ["run_started", "state_captured"]
    + ["model_asked", "text_delta", "model_replied", "tool_started", "tool_finished"]
    + ["model_asked", "model_replied", "tool_started", "cell_added", "cell_started"]
    + ["cell_output", "cell_finished", "tool_finished"]
    + ["model_asked", "model_replied", "tool_started", "cell_added", "cell_started"]
    + ["cell_output", "cell_output", "cell_finished", "tool_finished"]
    + ["model_asked", "text_delta", "model_replied", "run_finished"]
)


def test_nbclient_records_the_same_events_and_shows_no_error(service: FakeService) -> None:
    made = executed(LOAD, ASK, "print(three)")
    assert event_kinds() == EXPECTED
    kinds = [output.output_type for output in made.cells[1].outputs]
    assert "error" not in kinds
    shown = "\n".join(
        str(output.get("data", {}).get("text/markdown")) for output in made.cells[1].outputs
    )
    assert "✗ ValueError" in shown
    assert shown.count("It is **three**.") == shown.count("I look.") == 1
    assert shown.count("ariables") == 1  # the line of the call that looks
    assert made.cells[2].outputs[0].text == "3\n"
    nbformat.validate(made)


def test_papermill_records_the_same_events_and_does_not_fail(
    service: FakeService, tmp_path: Path
) -> None:
    made = papermilled(tmp_path, LOAD, ASK, "print(three)")
    assert event_kinds() == EXPECTED
    assert made.cells[2].outputs[0].text == "3\n"


@pytest.mark.skipif("sys.platform != 'linux'")
@pytest.mark.parametrize("runner", ["nbclient", "papermill"])
def test_undo_brings_variables_back_where_a_program_runs_the_cells(
    service: FakeService, tmp_path: Path, runner: str
) -> None:
    cells = ("three = 0", LOAD, ASK, "print(three)", "%agent undo", "print(three)")
    made = executed(*cells) if runner == "nbclient" else papermilled(tmp_path, *cells)
    assert [made.cells[at].outputs[-1].text for at in (3, 5)] == ["3\n", "0\n"]


def test_a_terminal_records_the_same_events_and_shows_plain_lines(
    service: FakeService, tmp_path: Path
) -> None:
    shown = in_terminal(tmp_path, LOAD, "%agent --mode auto Make it three", "print(three)")
    assert event_kinds() == EXPECTED
    assert "\x1b" not in shown
    # A slow machine is told that the model is waited for.
    lines = [line for line in shown.splitlines() if line.strip() and "… waiting" not in line]
    assert lines[0] == "I look."
    assert lines[1].startswith("▸ ")
    assert lines[2:4] == ["▸ Try", "    three = int('x')"]
    assert lines[4].startswith("✗ ValueError: invalid literal")
    assert "made 3" in lines
    assert "It is **three**." in lines
    assert any(line.startswith("Out[") and line.endswith(": 3") for line in lines)


def test_a_front_end_with_a_person_records_the_same_events(
    service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = LiveKernel(service, tmp_path)
    try:
        kernel.run(LOAD)
        kernel.run(ASK, SCRIPT, answers=[])
    finally:
        kernel.close()
    monkeypatch.setenv("CELLWRIGHT_HOME", str(kernel.home))
    assert event_kinds() == EXPECTED


def at_a_terminal(folder: Path, *lines: str, typed: Mapping[str, str]) -> str:
    """What a real terminal showed in which somebody types answers to what is asked."""
    script = folder / "session.ipy"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = ["-m", "IPython", "--colors=NoColor", "--no-banner", str(script)]
    child = pexpect.spawn(
        sys.executable,
        arguments,
        cwd=str(folder),
        encoding="utf-8",
        timeout=60,
        dimensions=(50, 200),
    )
    shown = ""
    for question, answer in typed.items():
        child.expect_exact(question)
        shown += str(child.before) + question
        child.sendline(answer)
    child.expect(pexpect.EOF)
    return (shown + str(child.before)).replace("\r\n", "\n")


def test_a_terminal_asks_before_it_runs_code(service: FakeService, tmp_path: Path) -> None:
    service.script = [tool_call("run_cell", {"code": "three = 3"}), text("Done.")]
    lines = (LOAD, "%agent make it three", "print(three)")
    shown = at_a_terminal(tmp_path, *lines, typed={"Run it?": "y"})
    assert "    three = 3" in shown
    assert "\n3\n" in shown


def test_a_terminal_answers_what_the_code_asks(service: FakeService, tmp_path: Path) -> None:
    """Issue 13, 20."""
    service.script = [tool_call("run_cell", {"code": "who = input('Who? ')"}), text("Done.")]
    lines = (LOAD, "%agent --mode auto greet", "print('hello', who)")
    shown = at_a_terminal(tmp_path, *lines, typed={"Who? ": "Ada"})
    assert "\nhello Ada\n" in shown
    ran = last_run().executions[0].execution
    assert ran is not None
    assert ran.status == "ok"


def test_without_a_terminal_no_model_is_asked(service: FakeService, tmp_path: Path) -> None:
    service.script = [tool_call("run_cell", {"code": "three = 3"}), text("Done.")]
    assert "Use --mode auto" in in_terminal(tmp_path, LOAD, "%agent make it three")
    assert service.requests == []


def test_a_failed_run_ends_a_batch_with_one_line(service: FakeService) -> None:
    service.script = [error(401, "bad key", code="invalid_api_key")]
    with pytest.raises(CellExecutionError) as failed:
        executed(LOAD, "%agent --mode plan hello", "print('never')")
    assert failed.value.ename == "RunFailedError"
    assert "See %agent show" in failed.value.evalue
    assert "answering.py" not in str(failed.value)


def test_papermill_sees_a_failed_run(service: FakeService, tmp_path: Path) -> None:
    service.script = [error(401, "bad key", code="invalid_api_key")]
    with pytest.raises(PapermillExecutionError) as failed:
        papermilled(tmp_path, LOAD, "%agent hello")
    assert failed.value.ename == "RunFailedError"


def test_papermill_sees_a_wrong_option(service: FakeService, tmp_path: Path) -> None:
    with pytest.raises(PapermillExecutionError) as failed:
        papermilled(tmp_path, LOAD, "%agent --nonsense hello")
    assert "There is no option '--nonsense'" in failed.value.evalue


def test_nbclient_keeps_text_and_html_of_widgets(service: FakeService) -> None:
    made = executed(LOAD, "%agent --mode auto hello", "%agent chat", "%agent runs --widget")
    nbformat.validate(made)
    chat, runs = made.cells[2].outputs, made.cells[3].outputs
    texts = [output.data["text/plain"] for output in chat]
    assert texts == [
        "A chat with the agent. What was said is kept below.",
        "Nothing has been said yet.",
    ]
    assert all(output.data["text/html"].startswith("<p>") for output in chat)
    assert runs[0].data["text/plain"] == "A browser of recorded runs. The list is kept below."
    assert "hello" in runs[1].data["text/plain"]
    assert "<table" in runs[1].data["text/html"]
    for output in (chat[0], runs[0]):
        model = output.data["application/vnd.jupyter.widget-view+json"]["model_id"]
        assert model in made.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]


def test_a_terminal_gets_no_widgets_but_a_sentence_and_the_list(
    service: FakeService, tmp_path: Path
) -> None:
    shown = in_terminal(tmp_path, LOAD, "runs = %agent runs --widget", "print(runs)", "%agent chat")
    assert "No runs yet." in shown
    assert "A chat needs a notebook; this is a terminal. Ask with %agent" in shown
