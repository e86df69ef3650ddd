"""An hour beside a notebook that holds a password: read, edited, run, replayed, exported.

The password is in a cell, a variable, a file and the output of cells. It goes to no model, into no
record and no export; the person's cell stays as they wrote it and runs as they wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, after, in_bytes, text, tool_call

from cellwright.exports import agentbench
from cellwright.exports import html as report
from cellwright.exports import notebook as notebooks
from cellwright.kernels import CellRequest, Kernel
from cellwright.kernels.fresh import start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import Event, TextDelta
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RecordedEvent, RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import compare, replay
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
PASSWORD = "".join(["tiger", "-", "lily", "42!"])
IN_ENVIRONMENT = "".join(["Zx9", "qW7", "eR5", "tY3", "uI1"])
OWN_CELL = f'password = "{PASSWORD}"\nhost = "db.example"'
CONNECTED = f'address = "postgresql://ann:{PASSWORD}@" + host'
KEY = "".join(["nv", "api-", "Ab3dEf6hIj9k" * 5])


@dataclass
class Desk:
    """A kernel, a notebook file and what went out."""

    place: RunContext
    book: MemoryNotebook
    folder: Path
    sent: list[bytes]
    told: list[RecordedEvent]

    def ask(self, *answers: Any, prompt: str = "Go on.") -> tuple[RunRecord, list[Event]]:
        conversation = Conversation(self.place)
        conversation.resume((), (OWN_CELL, CONNECTED))
        with FakeService(list(answers)) as service:
            lm = OpenAILM(service.settings())
            question = RunRequest(
                prompt, Parameters("m"), mode="auto", variables=("password", "address")
            )
            events = list(conversation.ask(question, lm))
            self.sent += [request.raw for request in service.requests]
        return self.place.store.record(conversation.last_run_id), events

    def holds(self, name: str, value: str) -> bool:
        code = f"assert {name} == {value!r}"
        running = self.place.kernel.execute(CellRequest("check", code), Stop(), lambda out: out)
        while True:
            try:
                next(running)
            except StopIteration as ended:
                return bool(ended.value.status == "ok")


def run(kernel: Kernel, code: str) -> None:
    list(kernel.execute(CellRequest("own", code), Stop(), lambda output: output))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    cells = [
        {"cell_type": "code", "id": f"own-{number}", "metadata": {}, "source": source}
        for number, source in enumerate((OWN_CELL, CONNECTED))
    ]
    plain = {"cells": [{**cell, "outputs": [], "execution_count": 1} for cell in cells]}
    book = MemoryNotebook.from_nbformat({**plain, "metadata": {}})
    (tmp_path / ".env").write_text(f"DB_PASSWORD={PASSWORD}\nexport API_TOKEN='{KEY}'\n")
    told: list[RecordedEvent] = []
    database = open_database(tmp_path / "home" / "runs.sqlite")
    with start_kernel(cwd=str(tmp_path)) as kernel:
        run(kernel, f"{OWN_CELL}\n{CONNECTED}")
        run(kernel, f"import os; os.environ['ODDLY_NAMED'] = {IN_ENVIRONMENT!r}")
        place = RunContext(
            kernel, RunStore(database), Redactor({}), "cli", notebook=book, listener=told.extend
        )
        yield Desk(place, book, tmp_path, [], told)
    database.close()


def test_a_notebook_with_a_password_is_worked_with(desk: Desk) -> None:
    """13.8 and 13.9."""
    halves = ["The key in .env is ", KEY[:11], KEY[11:30], KEY[30:], ", which I do not repeat."]
    read_it = "lines = open('.env').read()"
    slowly = (
        "import sys, time\n"
        "for letter in lines[lines.index('nv'):].strip(\"'\\n\"):\n"
        "    print(letter, end='', flush=True); time.sleep(0.004)\n"
        "print(lines, file=sys.stderr)"
    )
    record, events = desk.ask(
        tool_call("read_notebook", {}, id="a"),
        tool_call("inspect_variable", {"name": "password"}, id="b"),
        tool_call("list_variables", {}, id="c"),
        tool_call("run_cell", {"code": "import os\nenvironment = os.environ"}, id="d"),
        tool_call("inspect_variable", {"name": "os.environ"}, id="e"),
        tool_call("list_variables", {}, id="f"),
        tool_call("run_cell", {"code": read_it}, id="g"),
        tool_call("run_cell", {"code": slowly}, id="h"),
        tool_call("run_cell", {"code": "len(password), address"}, id="i"),
        tool_call("run_cell", {"code": "raise ValueError(address)"}, id="j"),
        text(pieces=halves, reasoning="The token starts " + KEY),
        prompt=f"Use password={PASSWORD} from my cell.",
    )
    assert record.status == "completed"
    assert [call.status for call in record.calls].count("error") == 1, "the ValueError"
    streamed = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert streamed == record.answer
    assert "«redacted:nvidia_key:" in streamed
    assert "ODDLY_NAMED" in b"".join(desk.sent).decode(), "names are given, values are not"

    # What a model read as a placeholder it cannot write into the person's cell.
    placeholder = desk.place.redactor.text(OWN_CELL)
    assert placeholder != OWN_CELL
    second, _ = desk.ask(
        tool_call("read_notebook", {}, id="a"),
        tool_call("edit_cell", {"cell_id": "own-0", "source": f"{placeholder}\nx = 1"}, id="b"),
        tool_call("run_cell", {"code": placeholder}, id="c"),
        tool_call("run_cell", {"code": f'password = "{PASSWORD}"'}, id="d"),
        tool_call("edit_cell", {"cell_id": "own-1", "source": "host += '.'", "run": True}, id="e"),
        tool_call("run_cell", {"code": "found = password[:2] + '…'"}, id="f"),
        text("Done."),
    )
    assert [call.status for call in second.calls] == ["ok", *["error"] * 3, "ok", "ok"]
    kept = {cell.id: cell.source for cell in desk.book.cells()}
    assert kept["own-0"] == OWN_CELL
    assert kept["own-1"] == "host += '.'"
    assert desk.holds("password", PASSWORD)
    assert desk.holds("found", f"{PASSWORD[:2]}…")

    # A replay says what it lacks, and the recorded refusals are refusals again.
    with start_kernel(cwd=str(desk.folder)) as fresh:
        elsewhere = replace(desk.place, kernel=fresh, lane="replay", notebook=None)
        list(replay(second, elsewhere))
        assert isinstance(desk.place.store, RunStore)
        again = desk.place.store.record(desk.place.store.last_started)
    assert again.status == "completed"
    assert any("secrets" in notice for notice in again.notices)
    assert [call.status for call in again.calls] == [call.status for call in second.calls]
    # "«r…" is what the replay has of a password that its record does not have
    assert {difference.what for difference in compare(second, again)} <= {"output"}
    assert desk.holds("password", PASSWORD)

    exports = desk.folder / "exports"
    exports.mkdir()
    for number, kept_record in enumerate((record, second, again)):
        for name, export in (
            ("ipynb", notebooks.export),
            ("html", report.export),
            ("jsonl", agentbench.export),
        ):
            (exports / f"{number}.{name}").write_text(export(kept_record), encoding="utf-8")
    assert_nowhere(desk)


def assert_nowhere(desk: Desk) -> None:
    """No request, no told event, no file but the person's own holds a secret."""
    places = {f"request {number}": raw for number, raw in enumerate(desk.sent)}
    places["the listener"] = repr(desk.told).encode()
    for folder in ("home", "exports"):
        files = (file for file in (desk.folder / folder).rglob("*") if file.is_file())
        places |= {file.name: file.read_bytes() for file in files}
    assert {"runs.sqlite", "runs.sqlite-wal"} <= set(places)
    for secret in (PASSWORD, IN_ENVIRONMENT, KEY):
        forms = {secret, json.dumps(secret)[1:-1]}
        assert [place for place, raw in places.items() for f in forms if f.encode() in raw] == []


def test_a_reply_that_is_stopped_in_the_middle_of_a_key_says_no_more_than_it_may(
    desk: Desk,
) -> None:
    stop = Stop()
    conversation = Conversation(desk.place)
    answer = after(in_bytes(text(pieces=["a key: ", KEY[:20], KEY[20:]]), 64), 0.0)
    with FakeService([answer]) as service:
        lm = OpenAILM(service.settings())
        events = []
        for event in conversation.ask(RunRequest("Go on.", Parameters("m"), mode="auto"), lm, stop):
            events.append(event)
            if isinstance(event, TextDelta):
                stop.set()
    assert isinstance(desk.place.store, RunStore)
    assert desk.place.store.record(conversation.last_run_id).status in ("cancelled", "completed")
    assert KEY not in repr(events) + repr(desk.told)
    streamed = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert streamed.startswith("a key: ")
