"""The same request through every face: one scripted model, and the runs that come of it.

A face is what a user asks through: ``%%agent`` in a kernel, the panel over its socket, the command
line, a benchmark, an agent of others over MCP. What may differ between them is listed in
``ADDED_TOOLS``, ``WITHOUT_SENSE`` and ``BY_FACE``, and nothing else may.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from subprocess import PIPE
from typing import Any, NamedTuple

import pytest
from command_line import COMMAND, Shell
from fake_service import MODEL, Answer, FakeService, text, tool_call
from magics.live_kernel import LiveKernel, Shown
from quick_kernels import without_forks
from server.live_server import Live

from cellwright.bench.results import ResultFiles
from cellwright.exports.sample import SampleRecord
from cellwright.exports.sampling import sample_of
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.record.messages import ToolCall
from cellwright.record.values import to_dict
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [pytest.mark.server, pytest.mark.kernel]

PROMPT = "How much is it together?"
ARGUMENTS = {"code": "total = 1 + 2\nprint(total)"}
ANSWER = "It is 3."
NATIVE = (tool_call("run_cell", ARGUMENTS), text(ANSWER))
IN_WORDS = (
    text(ChatAdapter().write_reply("", [ToolCall("", "run_cell", json.dumps(ARGUMENTS))])),
    text(ChatAdapter().write_reply(ANSWER, [])),
)
FILES = {"sales.csv": b"amount\n1\n2\n", "plot.png": b"\x89PNG\r\n\x1a\n" + bytes(40)}
CRITIC = 'name = "critic"\ninstructions = "Doubt it."\ntemperature = 0.3\nmodel = "sharp"\n'

NOTEBOOK_TOOLS = {"add_cell", "edit_cell", "arrange_cell", "read_notebook"}
MEMORY_TOOLS = {"remember", "recall"}
ADDED_TOOLS = {
    "cli": NOTEBOOK_TOOLS | MEMORY_TOOLS,
    "panel": NOTEBOOK_TOOLS | MEMORY_TOOLS,
    # A kernel that was started without a notebook has none.
    "magic": MEMORY_TOOLS,
    # What a user told cellwright earlier must not change a score.
    "bench": NOTEBOOK_TOOLS,
    "program": NOTEBOOK_TOOLS | MEMORY_TOOLS,
}
WITHOUT_SENSE = {
    *("id", "run_id", "call_id", "execution_count"),
    *("at", "seconds", "first_delta_seconds", "started_at", "cpu_seconds", "rss_bytes"),
    # Estimated from a request that lists other tools.
    "prompt_tokens",
    # Whether the kernel ran before the question, so that its version is known.
    "env",
}
"""Ids, times, and what is measured with them."""
BY_FACE = {"suite", "task", "agent", "scores", "lane", "notebook"}
"""What a sample is part of, how it scored, and where it was asked."""
UPLOAD = re.compile(r"\S*/files/../\w+(\.\w+)")
"""The panel stores files under their hash and says where; elsewhere they lie in the folder."""
UPLOADS_TOLD = re.compile(r"<context>\n(file \S+:\n  is stored as \S+\n)+</context>\n\n")
CELL = re.compile(r"\[cell \w+\]\n?")
"""A cell of a notebook is named in what the model is told of its output."""
FOLDER = re.compile(r"folder: \S+")


@dataclass(frozen=True)
class Outcome:
    """What one face made of the request."""

    bodies: Sequence[Mapping[str, Any]]
    sample: SampleRecord
    kinds: Sequence[str]
    """Of its events, in order; empty: a benchmark keeps its samples alone."""

    @property
    def tools(self) -> set[str]:
        return {tool["name"] for tool in self.sample.tools}

    @property
    def comparable(self) -> Any:
        """The requests and the record, but for what a face adds by nature."""
        found = json.loads(json.dumps([*self.bodies, to_dict(self.sample)], default=str))
        return _without_noise(found)


class Recorded(NamedTuple):
    """A run as a face keeps it."""

    sample: SampleRecord
    kinds: Sequence[str] = ()


def _without_noise(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {
            _without_noise_in_text(key): _without_noise(item)
            for key, item in value.items()
            if key not in WITHOUT_SENSE | BY_FACE
        }
        if isinstance(kept.get("content"), list):
            # An empty part is left where only a cell was named.
            parts = [part["text"] for part in kept["content"] if part["text"]]
            kept["content"] = "\n".join(parts)
        return kept
    if isinstance(value, list):
        added = NOTEBOOK_TOOLS | MEMORY_TOOLS
        return [_without_noise(item) for item in value if _tool_name(item) not in added]
    if isinstance(value, str):
        return _without_noise_in_text(value)
    return value


def _tool_name(value: Any) -> str:
    if not isinstance(value, dict) or "call_id" in value:
        return ""
    return str(value.get("function", value).get("name", ""))


def _without_noise_in_text(value: str) -> str:
    value = UPLOADS_TOLD.sub("", value)
    for name in FILES:
        value = value.replace(f"\n{name} (", f"\nFILE{Path(name).suffix} (")
    value = value if value not in FILES else f"FILE{Path(value).suffix}"
    return FOLDER.sub("folder: FOLDER", CELL.sub("", UPLOAD.sub(r"FILE\1", value)))


PROGRAM = """
import sys
import cellwright

with cellwright.Session(mode="auto") as session:
    session.ask(sys.argv[1], files=sys.argv[2:])
"""


@dataclass(frozen=True)
class Faces:
    """All faces over one folder and one model."""

    folder: Path
    service: FakeService
    live: Live
    loop: asyncio.AbstractEventLoop

    def outcome(self, name: str, prompt: str, script: Sequence[Answer]) -> Outcome:
        """Ask through a face, in mode auto and with all files."""
        self.service.script = [*script]
        self.service.requests.clear()
        sample, kinds = getattr(self, name)(prompt)
        return Outcome([request.body for request in self.service.requests], sample, kinds)

    def magic(self, prompt: str) -> Recorded:
        shown = self.cell(f"%%agent --mode auto -f {' '.join(FILES)}\n{prompt}")
        assert shown.reply["content"]["status"] == "ok", shown.reply
        return newest(self.folder / "home")

    def cell(self, source: str) -> Shown:
        script = self.service.script
        kernel = LiveKernel(self.service, self.folder)
        try:
            kernel.run("%load_ext cellwright")
            return kernel.run(source, script)
        finally:
            kernel.close()

    def cli(self, prompt: str) -> Recorded:
        home = self.folder.parent / "cli"
        shell = Shell(self.folder, {"CELLWRIGHT_HOME": str(home)})
        done = shell.run_process("run", prompt, "--files", *FILES, "--mode", "auto")
        assert done.code == 0, done.err
        return newest(home)

    def bench(self, prompt: str) -> Recorded:
        shell = write_task(self.folder.parent / "tasks", prompt)
        done = shell.run_process("bench", "run", "tasks", *BENCH)
        assert done.code == 0, done.err
        (sample,) = ResultFiles(shell.folder / "out", MODEL, "tasks").samples()
        return Recorded(sample)

    def program(self, prompt: str) -> Recorded:
        home = self.folder.parent / "program"
        environ = {**without_forks(), "CELLWRIGHT_HOME": str(home)}
        command = [sys.executable, "-c", PROGRAM, prompt, *FILES]
        done = subprocess.run(
            command, cwd=self.folder, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return newest(home)

    def panel(self, prompt: str) -> Recorded:
        return self.loop.run_until_complete(self._ask_in_panel(prompt))

    async def _ask_in_panel(self, prompt: str) -> Recorded:
        application = await self.live.load()
        stored = {name: application.uploads.store(data, name) for name, data in FILES.items()}
        beside = [
            {"kind": "file", "name": name, "file": file.file} for name, file in stored.items()
        ]
        chat, tab = await self.live.chat(), await self.live.tab()
        await tab.follow(chat)
        accepted = await tab.ask(chat, prompt, context=beside)
        assert accepted["type"] == "accepted", accepted
        await tab.finished(seconds=60)
        (run_id,) = application.chats.active_run_ids(chat)
        return recorded(application.runs, run_id)


BENCH = ("-m", MODEL, "--kernels", "fresh", "-o", "out", "-j", "1")


def write_task(folder: Path, prompt: str) -> Shell:
    """A suite of one task, and a shell in the folder above it."""
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    task = {"prompt": prompt, "files": [*FILES], "checks": [{"answer": ANSWER}]}
    (folder / "one.yaml").write_text(json.dumps(task))
    return Shell(folder.parent, {"CELLWRIGHT_HOME": str(folder.parent / "bench")})


def recorded(store: RunStore, run_id: str) -> Recorded:
    kinds = [item.event.kind for item in store.events(run_id)]
    # How many pieces an answer came in is a matter of the network.
    return Recorded(sample_of(store.record(run_id), run_id), [k for k, _ in groupby(kinds)])


def newest(home: Path) -> Recorded:
    database = open_database(home / "runs.sqlite")
    try:
        store = RunStore(database)
        return recorded(store, store.resolve("last"))
    finally:
        database.close()


def call_over_mcp(shell: Shell, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
    """The results of tools that a client of ``cellwright mcp`` calls over stdin and stdout."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "them", "version": ""},
    }
    params = [hello, *({"name": name, "arguments": given} for name, given in calls)]
    methods = ["initialize", *(["tools/call"] * len(calls))]
    command = [str(COMMAND), "mcp", "--mode", "auto"]
    environ = {**without_forks(), **shell.environ}
    with subprocess.Popen(
        command, cwd=shell.folder, env=environ, stdin=PIPE, stdout=PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        results = []
        for number, (method, given) in enumerate(zip(methods, params, strict=True)):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
            process.stdin.write(f"{json.dumps(message)}\n")
            process.stdin.flush()
            results.append(json.loads(process.stdout.readline())["result"])
        process.stdin.close()
        process.wait(60)
    return results[1:]


@pytest.fixture
def faces(
    live: Live,
    scripted: FakeService,
    jp_root_dir: Path,
    jp_asyncio_loop: asyncio.AbstractEventLoop,
    monkeypatch: pytest.MonkeyPatch,
) -> Faces:
    monkeypatch.setenv("CELLWRIGHT_MODEL", MODEL)
    monkeypatch.setenv("CELLWRIGHT_MODELS", str(jp_root_dir.parent / "models.json"))
    blind = {name: {"vision": False} for name in (MODEL, "sharp")}
    (jp_root_dir.parent / "models.json").write_text(json.dumps(blind))
    for name, data in FILES.items():
        (jp_root_dir / name).write_bytes(data)
    return Faces(jp_root_dir, scripted, live, jp_asyncio_loop)


def test_every_face_asks_the_same_and_records_the_same(faces: Faces) -> None:
    found = {name: faces.outcome(name, PROMPT, NATIVE) for name in ADDED_TOOLS}
    common = set.intersection(*(outcome.tools for outcome in found.values()))
    for name, outcome in found.items():
        assert outcome.comparable == found["cli"].comparable, name
        assert outcome.kinds in ((), found["cli"].kinds), name
        assert outcome.tools - common == ADDED_TOOLS[name], name
        assert outcome.sample.result == ANSWER
        (notice,) = [event for event in outcome.sample.events if event.kind == "notice"]
        assert "does not see pictures; of plot.png" in notice.text, name


def test_every_face_talks_in_the_form_that_is_set(
    faces: Faces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_ADAPTER", "chat")
    for name in ADDED_TOOLS:
        outcome = faces.outcome(name, PROMPT, IN_WORDS)
        assert (outcome.sample.run["adapter"], outcome.sample.result) == ("chat", ANSWER), name
        assert "How to reply" in str(outcome.bodies[0]["messages"][0]), name


def test_every_face_with_assistants_asks_the_same_one(faces: Faces) -> None:
    assistants = faces.folder / ".cellwright" / "assistants"
    assistants.mkdir(parents=True)
    (assistants / "critic.toml").write_text(CRITIC)
    names = ("cli", "magic", "panel", "program")
    found = {name: faces.outcome(name, f"@critic, {PROMPT}", NATIVE) for name in names}
    for name, outcome in found.items():
        assert outcome.comparable == found["cli"].comparable, name
        assert outcome.sample.input == PROMPT, name
        assert (outcome.bodies[0]["model"], outcome.bodies[0]["temperature"]) == ("sharp", 0.3)
        assert "Doubt it." in str(outcome.bodies[0]["messages"][0]), name


def test_no_face_takes_a_budget_that_it_cannot_keep(faces: Faces) -> None:
    refusal = f"The budget of $0.5 cannot be kept: the price of '{MODEL}' is not known."
    shown = faces.cell(f"%agent --mode auto --budget 0.5 {PROMPT}")
    assert refusal in shown.reply["content"]["evalue"]
    shell = Shell(faces.folder, {"CELLWRIGHT_HOME": str(faces.folder.parent / "cli")})
    done = shell.run_process("run", PROMPT, "--mode", "auto", "--budget", "0.5")
    assert (done.code, refusal in done.err) == (2, True), done.err
    shell = write_task(faces.folder.parent / "tasks", PROMPT)
    for option in ("--budget", "--total-budget"):
        done = shell.run_process("bench", "run", "tasks", *BENCH, option, "0.5")
        assert (done.code, refusal in done.err) == (2, True), done.err
        assert not (shell.folder / "out").exists()
    assert refusal in faces.loop.run_until_complete(_refusal_of_panel(faces.live))
    assert faces.service.requests == []


async def _refusal_of_panel(live: Live) -> str:
    application = await live.load()
    application.configuration.cost_limit_dollars = 0.5
    chat, tab = await live.chat(), await live.tab()
    await tab.follow(chat)
    await tab.ask(chat, PROMPT)
    refused = await tab.wait("error")
    return str(refused["message"])


def test_an_agent_of_others_does_the_same_over_mcp(faces: Faces) -> None:
    """Its own model is asked elsewhere, so what it called is compared, and what came of it."""
    asked = faces.outcome("cli", PROMPT, NATIVE).comparable[-1]
    home = faces.folder.parent / "mcp"
    shell = Shell(faces.folder, {"CELLWRIGHT_HOME": str(home)})
    calls = (("run_cell", ARGUMENTS), ("submit", {"answer": ANSWER}))
    assert [result["isError"] for result in call_over_mcp(shell, calls)] == [False, False]
    called = _without_noise(json.loads(json.dumps(to_dict(newest(home).sample), default=str)))
    for part in ("cells", "written", "status", "cause", "result"):
        assert called[part] == asked[part], part
    for sample in (called, asked):
        sample["events"] = [e for e in sample["events"] if e.get("name") == "run_cell"]
    assert called["events"] == asked["events"]
    told = [m["content"] for m in called["messages"] if m["role"] == "tool"]
    assert told[0] == next(m["content"] for m in asked["messages"] if m["role"] == "tool")
    limits = {"step_limit", "wall_seconds"}  # the loop is the client's
    ours, theirs = (
        {key: value for key, value in sample["run"]["limits"].items() if key not in limits}
        for sample in (asked, called)
    )
    assert ours == theirs
