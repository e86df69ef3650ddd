"""The main job with each real server, its replay, its rerun at another one, and the first run.

A model of 135 million parameters writes no call of its own: of thirty small tasks none ran a cell,
in any of the four forms. So its replies are held to a schema that has a call in it, with
one of two cells to choose from. What it answers is of no interest; that each step ends truly is.
What is proven here stands in ``provider_proofs.json``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell
from foreign.servers import MODEL, Server
from foreign.test_real_servers import (
    PATIENT,
    RUN_SECONDS,
    check_ending,
    events_of,
    make_short,
)
from provider_proofs import LIVE_SERVERS, prove
from server.live_process import TOKEN, ServerProcess
from server_client import Client
from tornado.httpclient import AsyncHTTPClient

from cellwright.commands.workplace import run_document
from cellwright.record.run_record import RunRecord
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(3 * RUN_SECONDS)]
NAMES = tuple(LIVE_SERVERS)


def closed(fields: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


TASK = "What is in sales.csv?"
CODES = ["print(open('sales.csv').read())", "len(open('sales.csv').read())"]
CALL = {
    "tool": {"const": "run_cell"},
    "arguments": closed({"code": {"enum": CODES}}),
}
REPLY = {
    "say": {"const": "I look."},
    "calls": {"type": "array", "items": closed(CALL), "minItems": 1, "maxItems": 1},
}
"""A reply in the form ``json`` that calls; short, as each token takes its time."""
FORMAT = {"type": "json_object", "schema": closed(REPLY)}
"""As llama.cpp takes a schema, and llama-cpp-python, which knows no ``json_schema``."""
STEPS = 1
"""Its cell is run, and one more reply comes after the result, of which nothing is run."""
each_server = pytest.mark.parametrize("name", NAMES)


@dataclass
class Desk:
    """A folder, a record, and the run that was made of the main job at each server."""

    shell: Shell
    request: pytest.FixtureRequest
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def at(self, name: str) -> Shell:
        """The command line, with settings that lead to a server."""
        server: Server = self.request.getfixturevalue(name)
        environ = {**self.shell.environ, **PATIENT, **server.environ(CELLWRIGHT_ADAPTER="json")}
        return Shell(self.shell.folder, environ)

    def main_job(self, name: str) -> dict[str, Any]:
        """What the run says of itself; a server is asked once."""
        if name not in self.runs:
            limits = ("--max-steps", str(STEPS), "--max-output", "160", "--temperature", "0")
            form = ("--body", f"response_format={json.dumps(FORMAT)}")
            self.runs[name] = self.do(name, "run", TASK, "--mode", "auto", *limits, *form)
        return self.runs[name]

    def do(self, name: str, *words: str) -> dict[str, Any]:
        """What a command that makes a run says of it."""
        done = self.at(name).run_process(*words, "--json", seconds=RUN_SECONDS)
        assert done.out, done.err
        assert "Traceback" not in done.err
        document: dict[str, Any] = done.document
        assert done.code == document["exit_code"]
        ended = f"{document['status']} ({document['cause']})"
        print(name, words[0], ended, [cell.source for cell in self.record(document).executions])
        return document

    def record(self, document: dict[str, Any]) -> RunRecord:
        """What was recorded of a run."""
        return record_of(self.shell, document["id"])


def record_of(shell: Shell, run_id: str) -> RunRecord:
    """A run of the shell's record."""
    with closing(open_database(Path(shell.environ["CELLWRIGHT_HOME"]) / "runs.sqlite")) as database:
        return RunStore(database).record(run_id)


@pytest.fixture(scope="module")
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder = tmp_path_factory.mktemp("main_job")
    (folder / "work").mkdir()
    (folder / "work" / "sales.csv").write_text("City,Sales\nA,20\nB,22\n", encoding="utf-8")
    home = {"CELLWRIGHT_HOME": str(folder / "home"), "CELLWRIGHT_OLLAMA": "off"}
    shell = Shell(folder / "work", home)
    make_short(shell)
    return Desk(shell, request)


@each_server
def test_the_main_job(desk: Desk, name: str) -> None:
    document = desk.main_job(name)
    check_ending(document, events_of(desk.shell, document["id"]))
    # Each reply has to call, so the limit ends it.
    assert (document["status"], document["cause"]) == ("task limit reached", "step_limit")
    assert (document["steps"], document["cells"], document["errors"]) == (STEPS + 1, STEPS, 0)
    assert {cell.source for cell in desk.record(document).executions} <= set(CODES)
    prove(name, "main job")


@each_server
def test_a_replay(desk: Desk, name: str) -> None:
    recorded = desk.main_job(name)
    again = desk.do(name, "replay", recorded["id"])
    assert (again["exit_code"], again["differences"]) == (0, [])
    assert again["cells"] == recorded["cells"]
    prove(name, "replay")


@each_server
def test_a_rerun_at_another(desk: Desk, name: str) -> None:
    """The server before it in the table had the run."""
    before = NAMES[NAMES.index(name) - 1]
    recorded = desk.main_job(before)
    run = desk.do(name, "rerun", recorded["id"])
    check_ending(run, events_of(desk.shell, run["id"]))
    assert (run["status"], run["cause"]) == ("task limit reached", "step_limit")
    assert (run["cells"], run["errors"]) == (STEPS, 0)
    prove(name, "rerun")


@pytest.fixture
def process(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerProcess]:
    """A Jupyter server in which nothing is set but patience and limits."""
    limits = {"CELLWRIGHT_PARAMETERS": json.dumps({"max_output_tokens": 48})}
    for name, value in {**shell.environ, **PATIENT, **limits}.items():
        monkeypatch.setenv(name, value)
    make_short(shell)
    started = ServerProcess(shell.folder)
    started.options["Cellwright.step_limit"] = STEPS
    started.start()
    yield started
    started.kill()


@each_server
def test_the_panels_first_run(
    shell: Shell, process: ServerProcess, request: pytest.FixtureRequest, name: str
) -> None:
    server: Server = request.getfixturevalue(name)
    run_id = asyncio.run(use_panel(process, server))
    document = run_document(record_of(shell, run_id))
    print(name, document["status"], document["cause"], document["steps"])
    check_ending({**document, "events_lost": 0}, events_of(shell, run_id))
    prove(name, "first run")


async def use_panel(process: ServerProcess, server: Server) -> str:
    """Choose a service as the panel's first run does, then ask; the id of the run that ended."""
    await process.up()
    base_url = f"http://127.0.0.1:{process.port}{process.prefix}/"
    client = Client(AsyncHTTPClient(), base_url, TOKEN, seconds=RUN_SECONDS)
    first = await client.first_run(server.base_url, server.api_key or "none")
    assert first.models == [MODEL]
    assert [check for check in first.checks if check["status"] == "blocked"] == []
    state = first.state
    assert (state["model"], state["base_url"]) == (MODEL, server.base_url)
    assert (state["has_key"], state["is_demo"]) == (True, False)
    chat = (await client.call("POST", "chats", {"notebook_path": ""})).json["id"]
    tab = await process.tab()
    await tab.follow(chat)
    await tab.ask(chat, TASK)
    await tab.finished(seconds=RUN_SECONDS)
    ((run_id, _, _), *_) = tab.events
    await tab.close()
    return run_id
