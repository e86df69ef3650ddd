"""AgentBench's own code against ours: its tasks, its worker, its controller, its assigner.

It needs what others wrote, so it is skipped where that is not named:
``AGENTBENCH_CHECKOUT`` is a checkout of its branch v0.2. ``AGENTBENCH_PYTHON`` has what its
``requirements.txt`` asks for, where fastchat, which its client imports and nothing here uses, may
be missing. ``AGENTBENCH_DBBENCH_PYTHON`` has the driver of dbbench, and cellwright.
``AGENTBENCH_MYSQL`` is HOST:PORT of a MySQL or MariaDB for nothing else.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell
from fake_answers import Request, Wire, text
from fake_service import MODEL, FakeService

from cellwright.bench.agentbench.serving import ask_json

CHECKOUT = Path(os.environ.get("AGENTBENCH_CHECKOUT", "-"))
THEIRS = os.environ.get("AGENTBENCH_PYTHON", "")
DBBENCH = os.environ.get("AGENTBENCH_DBBENCH_PYTHON", "")
MYSQL = os.environ.get("AGENTBENCH_MYSQL", "")

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "src" / "server" / "task.py").is_file(),
    reason="AGENTBENCH_CHECKOUT names no checkout of AgentBench's branch v0.2",
)
needs_theirs = pytest.mark.skipif(
    not THEIRS, reason="AGENTBENCH_PYTHON names no Python with AgentBench's requirements"
)
needs_mysql = pytest.mark.skipif(
    not (MYSQL and DBBENCH),
    reason="AGENTBENCH_MYSQL and AGENTBENCH_DBBENCH_PYTHON name no database and driver",
)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})


def repeat(request: Request) -> Wire:
    return text(f"Heard {request.body['messages'][-1]['content']}")(request)


def entries() -> dict[str, Any]:
    lines = (CHECKOUT / "data/dbbench/dev.jsonl").read_text("utf-8").splitlines()
    return {entry["description"]: entry for entry in map(json.loads, lines)}


def gold(request: Request) -> Wire:
    """dbbench's own answers: its SQL, then what it wants to hear."""
    messages = [str(message["content"]) for message in request.body["messages"]]
    entry = next(e for d, e in entries().items() if any(d in m for m in messages[:3]))
    is_change = entry["type"][0] in ("INSERT", "UPDATE", "DELETE")
    if is_change and len(messages) == 3:
        (sql,) = entry["label"]
        return text(f"I change it.\nAction: Operation\n```sql\n{sql}\n```")(request)
    answer = ["done"] if is_change else entry["label"]
    return text(f"I know it.\nAction: Answer\nFinal Answer: {answer!r}")(request)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def wait_for(url: str, word: str, seconds: float = 40) -> None:
    """Until a service answers with a word."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if word in json.dumps(ask_json(url, None, 5)):
                return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"{url} does not answer with {word!r}")


@contextmanager
def theirs(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A module of AgentBench's in a process of its own, with AgentBench's own libraries."""
    stub = folder / "stub" / "fastchat" / "model"
    stub.mkdir(parents=True, exist_ok=True)
    for path in (stub.parent, stub):
        (path / "__init__.py").touch()
    (stub / "model_adapter.py").write_text("get_conversation_template = None\n")
    environ = {**os.environ, "PYTHONPATH": str(folder / "stub"), "PYTHONDONTWRITEBYTECODE": "1"}
    with (folder / f"{words[0]}.log").open("w") as log:
        process = subprocess.Popen(
            [THEIRS, "-m", *words], cwd=CHECKOUT, env=environ, stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(20)


@needs_mysql
@pytest.mark.timeout(600)
def test_dbbench_runs_as_it_is_and_its_own_answers_score_as_it_says(shell: Shell) -> None:
    with FakeService(gold) as service:
        done = shell.asking(service).run_process(
            *("bench", "run", "agentbench:dbbench-dev", "--tasks", str(CHECKOUT), "-m", MODEL),
            *("--container", f"mysql={MYSQL}", "--python", DBBENCH, "-o", "out", "--json"),
            seconds=500,
        )
    (agent,) = done.document["agents"]
    assert (agent["total"], agent["failures"]) == (60, {}), done.err
    assert agent["by_status"] == {"completed": 60}
    assert set(agent["custom"].values()) == {1.0}
    assert agent["custom"]["overall_cat_accuracy"] == 1.0


def test_avalon_runs_as_it_is(shell: Shell) -> None:
    done = shell.run_process(
        *("bench", "run", "agentbench:avalon-dev-naive", "--tasks", str(CHECKOUT)),
        *("--agent", "noop", "-o", "out", "--json"),
    )
    (agent,) = done.document["agents"]
    assert (agent["total"], agent["failures"]) == (20, {}), done.err
    assert 0 < agent["custom"]["Win rate of Player 0"] < 1


def test_a_task_that_cannot_run_here_is_refused_with_what_it_lacks(shell: Shell) -> None:
    for task, lacking in (("webshop", "image"), ("cg-dev", "image"), ("kg-dev", "kg-dev")):
        done = shell.run_process(
            *("bench", "run", f"agentbench:{task}", "--tasks", str(CHECKOUT)),
            *("--agent", "noop", "-o", task),
        )
        assert (done.code, lacking in done.err) == (2, True), done.err
        assert not (shell.folder / task).exists()


@needs_theirs
@pytest.mark.parametrize("is_controlled", [False, True])
def test_its_assigner_drives_our_task_and_our_model(shell: Shell, is_controlled: bool) -> None:
    """Its assigner and HTTP agent; with its controller between them and our worker, or without."""
    ours, controller, folder = free_port(), free_port(), shell.folder
    with ExitStack() as stack:
        service = stack.enter_context(FakeService(repeat))
        words = ["bench", "run", "agentbench:virtual-task", "--serve", str(ours), "-m", MODEL]
        address = f"http://127.0.0.1:{ours}/api"
        if is_controlled:
            address = f"http://127.0.0.1:{controller}/api"
            stack.enter_context(theirs(folder, "src.server.task_controller", "-p", str(controller)))
            wait_for(f"{address}/list_sessions", "{")
            words += ["--controller", address]
        process = shell.asking(service).start(*words)
        stack.callback(process.communicate)
        stack.callback(process.terminate)
        wait_for(f"{address}/list_workers", "virtual-task")
        agent = {
            "module": "src.client.agents.HTTPAgent",
            "parameters": {
                "url": f"http://127.0.0.1:{ours}/api/agent",
                "prompter": {"name": "role_content_dict"},
                "return_format": "{response[choices][0][message][content]}",
            },
        }
        task = {
            "module": "src.client.TaskClient",
            "parameters": {"name": "virtual-task", "controller_address": address},
        }
        config = {
            "assignments": [{"agent": "ours", "task": "virtual-task"}],
            "concurrency": {"agent": {"ours": 5}, "task": {"virtual-task": 5}},
            "definition": {"agent": {"ours": agent}, "task": {"virtual-task": task}},
            "output": str(folder / "assigned"),
        }
        (folder / "assignment.json").write_text(json.dumps(config))
        overall = folder / "assigned" / "ours" / "virtual-task" / "overall.json"
        file = str(folder / "assignment.json")
        with theirs(folder, "src.assigner", "--config", file) as assigner:
            assigner.wait(200)
        for _ in range(50):  # a thread of the assigner writes it
            if overall.exists() and overall.stat().st_size:
                break
            time.sleep(0.1)
    document = json.loads(overall.read_text())
    assert (document["total"], document["custom"]) == (10, {"score": 0.4})
    assert document["validation"]["completed"] == 1.0
    lines = (overall.parent / "runs.jsonl").read_text().splitlines()
    turns = json.loads(lines[0])["output"]["history"]
    assert [turn["content"] for turn in turns[:2]] == ["Turn 0", "Heard Turn 0"]


@needs_theirs
@pytest.mark.parametrize("is_controlled", [False, True])
def test_our_assigner_drives_its_worker(shell: Shell, is_controlled: bool) -> None:
    """Its worker with its task, with its controller before it, or without."""
    worker, controller = free_port(), free_port()
    address = f"http://127.0.0.1:{worker}/api"
    heart = f"http://127.0.0.1:{controller}/api"
    with ExitStack() as stack:
        if is_controlled:
            stack.enter_context(
                theirs(shell.folder, "src.server.task_controller", "-p", str(controller))
            )
            wait_for(f"{heart}/list_sessions", "{")
        words = ["avalon-dev-single", "--self", address, "--port", str(worker), "-C", heart]
        stack.enter_context(theirs(shell.folder, "src.server.task_worker", *words))
        wait_for(f"{address}/worker_status", "concurrency")
        if is_controlled:
            wait_for(f"{heart}/list_workers", "AvalonBench-dev-single")
        service = stack.enter_context(FakeService(text("I do not play.")))
        done = shell.asking(service).run_process(
            *("bench", "run", "agentbench:AvalonBench-dev-single", "-m", MODEL, "--limit", "3"),
            *("--tasks", heart if is_controlled else address, "-o", "out", "--json", "-j", "2"),
        )
        assert service.requests
    (agent,) = done.document["agents"]
    assert (agent["total"], agent["failures"]) == (3, {}), done.err
    assert agent["by_status"] == {"agent invalid action": 3}
    assert agent["custom"] == {"Win rate of Player 0": 0.0, "Avg deduction acc of Player 0": 0.0}
