"""A secret that shows up anywhere in a run is nowhere in what is kept or handed out (A17, A18)."""

from __future__ import annotations

import base64
import html
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from recorded_runs import RUN_CELL, SYSTEM, called, replied, result, started, user

from cellwright.agent.publishing import Publisher
from cellwright.exports import agentbench, notebook
from cellwright.exports import html as report
from cellwright.record.events import (
    ApprovalAsked,
    CellAdded,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelAsked,
    ModelRetrying,
    Notice,
    ReasoningDelta,
    RunFinished,
    StateCaptured,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import AssistantMessage, ToolCall
from cellwright.record.outputs import (
    Cell,
    DisplayData,
    ErrorOutput,
    ExecuteResult,
    Execution,
    StreamOutput,
    VariableSummary,
)
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

PLANTED = "tr0ub4dor/&+three horses"
KEY = "".join(["sk-", "proj-", "Zx9" * 12])
"""The configured key; it is in no variable."""
ENVIRON = {"WAREHOUSE_PASSWORD": PLANTED, "HOME": "somewhere"}
REDACTOR = Redactor.from_environment(ENVIRON, KEY)


def forms() -> Iterator[bytes]:
    """What must not be found in any file."""
    for secret in (PLANTED, KEY):
        data = secret.encode()
        yield data
        yield quote(secret, safe="").encode()
        yield html.escape(secret).encode()
        yield base64.b64encode(data)[:-4]
    yield b"tr0ub4dor"


def leaky_events() -> list[Event]:
    """Secrets in every kind of place an event has."""
    leak = f"password {PLANTED} and key {KEY}"
    page = f"<td>{html.escape(PLANTED)}</td><a href='https://x/?key={quote(PLANTED)}'>"
    trace = (f"ConnectionError: https://ann:{quote(PLANTED, safe='')}@db/x", leak)
    call = AssistantMessage(leak, (ToolCall("c1", "run_cell", f'{{"code": "{leak}"}}'),), leak)
    large = f"{leak} " + "x" * 100_000
    return [
        started(leak),
        StateCaptured(
            cells=(Cell("own", "code", leak, (StreamOutput("stdout", leak),), 1, {"note": leak}),),
            executed=(leak,),
            files={"a.csv": "00"},
            kernel={"env": {"WAREHOUSE_PASSWORD": PLANTED}},
        ),
        ModelAsked(1, (SYSTEM, user(leak)), (RUN_CELL,)),
        ModelRetrying(1, 0.5, f"401 for {KEY}"),
        TextDelta(leak),
        ReasoningDelta(leak),
        replied(call),
        ToolStarted("c1", "run_cell", {"code": leak, "nested": [{"deep": leak}]}, leak),
        ApprovalAsked("c1", leak),
        CellAdded("a", f"connect('{PLANTED}')", call_id="c1"),
        CellStarted("a"),
        CellOutput("a", StreamOutput("stdout", f"{base64.b64encode(PLANTED.encode()).decode()}\n")),
        CellOutput("a", DisplayData({"text/html": page, "text/plain": leak}, {"meta": leak})),
        CellOutput("a", ExecuteResult({"application/json": {"rows": [leak, large]}})),
        CellOutput("a", ErrorOutput("ValueError", leak, trace)),
        CellFinished(
            "a", Execution("error", 0.1, changed=(VariableSummary("p", "str", leak),), note=leak)
        ),
        ToolFinished("c1", "run_cell", result("c1", leak), shown=leak),
        Notice("warning", leak, leak),
        ModelAsked(2, (called("c1"), result("c1", leak))),
        replied(AssistantMessage(leak)),
        RunFinished("completed", leak, leak),
    ]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "home" / "runs.sqlite")
    yield opened
    opened.close()


def assert_clean(folder: Path) -> None:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    for file in files:
        content = file.read_bytes()
        for form in forms():
            assert form not in content, f"{form!r} in {file.name}"


def test_no_file_of_the_record_and_no_export_holds_a_secret(
    database: Database, tmp_path: Path
) -> None:
    store = RunStore(database)
    journal = store.start()
    publisher = Publisher(journal, REDACTOR, None)
    shown: list[Event] = []
    for event in leaky_events():
        shown += publisher.publish(event)
    for form in forms():
        assert form.decode() not in repr(shown)
    assert (tmp_path / "home" / "runs.sqlite-wal").stat().st_size > 0, "the log is searched too"
    assert list((tmp_path / "home" / "blobs").rglob("??*")), "large texts are searched too"
    assert_clean(tmp_path / "home")

    record = store.record(journal.run_id)
    exports = tmp_path / "exports"
    exports.mkdir()
    for name, export in (
        ("run.ipynb", notebook.export),
        ("run.html", report.export),
        ("runs.jsonl", agentbench.export),
    ):
        (exports / name).write_text(export(record, REDACTOR), encoding="utf-8")
        assert "«redacted:warehouse_password:" in (exports / name).read_text("utf-8")
        assert "«redacted:api_key:" in (exports / name).read_text("utf-8")
    assert_clean(exports)
    database.close()
    assert_clean(tmp_path)


def test_a_secret_that_became_known_later_is_taken_out_of_exports(
    database: Database, tmp_path: Path
) -> None:
    store = RunStore(database)
    journal = store.start()
    Publisher(journal, Redactor({}), None).publish(started(PLANTED), CellAdded("a", PLANTED))
    record = store.record(journal.run_id)
    for export in (notebook.export, report.export, agentbench.export):
        assert "tr0ub4dor" in export(record)
        assert "tr0ub4dor" not in export(record, REDACTOR)


def test_a_secret_that_came_in_two_pieces_of_output_is_whole_in_no_export(
    database: Database,
) -> None:
    store = RunStore(database)
    journal = store.start()
    publisher = Publisher(journal, REDACTOR, None)
    publisher.publish(started(), CellAdded("a", "print(p)"), CellStarted("a"))
    for piece in (PLANTED[:9], PLANTED[9:]):
        publisher.publish(CellOutput("a", StreamOutput("stdout", piece)))
    record = store.record(journal.run_id)
    for export in (notebook.export, report.export, agentbench.export):
        assert "tr0ub4dor" not in export(record, REDACTOR)


def test_a_key_in_an_address_or_an_exception_is_not_repeated() -> None:
    """A18."""
    for text in (
        f"https://api.example/v1?api_key={KEY}",
        f"POST https://user:{KEY}@api.example/v1 failed",
        f"openai.AuthenticationError: Incorrect API key provided: {KEY}.",
        f"{{'Authorization': 'Bearer {KEY}'}}",
    ):
        assert KEY not in Redactor({}).text(text)
        assert KEY not in REDACTOR.text(text)


def test_nothing_is_written_to_the_terminal_or_a_log(tmp_path: Path) -> None:
    script = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from pathlib import Path
from test_secrets import REDACTOR, leaky_events
from cellwright.agent.publishing import Publisher
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

Publisher(RunStore(open_database(Path(sys.argv[1]))).start(), REDACTOR, None).publish(
    *leaky_events()
)
"""
    paths = [str(Path(__file__).parent), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "runs.sqlite")],
        capture_output=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.stdout == b""
    assert done.stderr == b""
