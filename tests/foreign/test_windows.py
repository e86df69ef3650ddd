"""Windows of 2 and 4 thousand tokens: a notebook's chat at llama.cpp, one question too long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from command_line import Shell
from foreign.servers import Server, serve_llama
from foreign.test_real_servers import PATIENT
from foreign.test_small_tasks import TRUE_ENDS
from nbclient import NotebookClient

from cellwright.context.window import sent_at_most
from cellwright.record.events import ModelReplied, Notice, RunFinished
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

LONG = "Here is my log. " + "2026-11-23 10:00:00 worker 17 took 31 ms for job 4711. " * 900
"""About 30,000 tokens as this model counts them."""
QUESTIONS = [
    *("Add 17 and 25.", "Set x to 5.", "Say yes."),
    *(LONG, "What was that?", "Sort [3, 1, 2].", "Say no.", "Stop."),
]
TURN_SECONDS = 600


@pytest.fixture(params=[2_048, 4_096])
def window(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def server(window: int, logs: Path) -> Iterator[Server]:
    with serve_llama(logs, f"window_{window}", window) as served:
        yield served


@pytest.mark.kernel
@pytest.mark.timeout(len(QUESTIONS) * TURN_SECONDS)
def test_each_turn_of_a_chat_ends_truly_and_the_window_is_told(
    shell: Shell, server: Server, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**shell.environ, **PATIENT, **server.environ()}.items():
        monkeypatch.setenv(name, value)
    asked = [f"%%agent --mode auto --max-output 48 --max-steps 2\n{each}" for each in QUESTIONS]
    cells = ["%load_ext cellwright", *asked, "%agent context"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    where = {"metadata": {"path": str(shell.folder)}}
    NotebookClient(notebook, timeout=TURN_SECONDS, allow_errors=True, resources=where).execute()

    database = open_database(Path(shell.environ["CELLWRIGHT_HOME"]) / "runs.sqlite")
    try:
        rows = database.read("SELECT DISTINCT run_id FROM events ORDER BY run_id")
        runs = [[each.event for each in RunStore(database).events(str(row[0]))] for row in rows]
    finally:
        database.close()
    assert len(runs) == len(QUESTIONS)
    for number, events in enumerate(runs):
        end = events[-1]
        assert isinstance(end, RunFinished)
        replies = [event for event in events if isinstance(event, ModelReplied)]
        most = max((reply.usage.prompt_tokens for reply in replies), default=0)
        print(number, end.status, end.cause, f"{most} tokens", end.reason)
        assert end.status in TRUE_ENDS - {"agent context limit"}, end.reason
        assert replies
        assert most < window
    told = "".join(event.text for event in runs[3] if isinstance(event, Notice))
    assert "the middle of your question was left out" in told
    told = str(notebook.cells[-1].outputs)
    assert f"of {sent_at_most(window):,} at most" in told
    assert f"window is {window:,}" in told
