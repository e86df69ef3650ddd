"""AgentBench's own code against ours: its tasks, its worker, its controller, its assigner.

They run where ``CELLWRIGHT_FOREIGN`` names a folder with a checkout of THUDM/AgentBench, branch
v0.2, in it. fastchat, which AgentBench's client imports and nothing here uses, is an empty module.
Databases are a MariaDB of the tests' own; the containers of os_interaction are Docker's.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from getpass import getuser
from pathlib import Path

import pytest
from command_line import Done, Shell
from fake_answers import Request, Wire, text
from fake_service import MODEL, FakeService
from foreign.servers import BIN, pick_port
from source_tree import PROJECT

from cellwright.bench.agentbench.serving import ask_json

CHECKOUT = Path(os.environ.get("CELLWRIGHT_FOREIGN") or "-") / "AgentBench"
PYTHON = str(BIN / "python")
OURS = {"PYTHONPATH": str(PROJECT / "extension")}
"""For a task's process: that environment has what tasks import, and not cellwright."""
START_SECONDS = 60.0
IMAGE = "local-os/default"

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "src" / "server" / "task.py").is_file(),
    reason="CELLWRIGHT_FOREIGN names no folder with a checkout of THUDM/AgentBench, branch v0.2",
)


def repeat(request: Request) -> Wire:
    return text(f"Heard {request.body['messages'][-1]['content']}")(request)


def answer_dbbench(split: str) -> Callable[[Request], Wire]:
    """dbbench's own answers: its SQL, then what it wants to hear."""
    lines = (CHECKOUT / f"data/dbbench/{split}.jsonl").read_text("utf-8").splitlines()
    found = {f"{e['description']}\n{e['add_description']}": e for e in map(json.loads, lines)}

    def answer(request: Request) -> Wire:
        said = [str(message["content"]) for message in request.body["messages"]]
        entry = found[said[2]]
        is_change = entry["type"][0] in ("INSERT", "UPDATE", "DELETE")
        if is_change and len(said) == 3:
            (sql,) = entry["label"]
            return text(f"I change it.\nAction: Operation\n```sql\n{sql}\n```")(request)
        known = ["done"] if is_change else entry["label"]
        return text(f"I know it.\nAction: Answer\nFinal Answer: {known!r}")(request)

    return answer


MEASURE = "a=$(stat -c %s /root/log); sleep 6; echo $((42 / ($(stat -c %s /root/log) - a)))"
"""A program writes ``succeed`` into it every so many seconds."""


def answer_os(request: Request) -> Wire:
    """os_interaction's own answers: its example's code, then what that printed."""
    folder = CHECKOUT / "data/os_interaction"
    said = [str(message["content"]) for message in request.body["messages"]]
    asked = next(at for at, m in enumerate(said) if "My problem is:\n\n" in m)
    problem = said[asked].partition("My problem is:\n\n")[2]
    entries = json.loads((folder / "data/dev.json").read_text("utf-8"))
    entry = next(entry for entry in entries if entry["description"] == problem)
    evaluation, code = entry["evaluation"], MEASURE
    if "check" in evaluation:
        example = evaluation["example"]
        code = example if isinstance(example, str) else example.get("code", "")
        code = code or (folder / "scripts/dev" / example["file"]).read_text("utf-8")
    elif not problem.startswith("There's a program that writes 'succeed'"):
        return text(f"Think: I know it.\n\nAct: answer({evaluation['match']})")(request)
    if len(said) == asked + 1:
        return text(f"Think: I look.\n\nAct: bash\n\n```bash\n{code.strip()}\n```")(request)
    if "I would like to implement" in problem:
        return text("Think: It is done.\n\nAct: finish")(request)
    printed = said[-1].partition("\n\n")[2].split()  # its end; the command may stand before it
    return text(f"Think: I see.\n\nAct: answer({''.join(printed[-1:])})")(request)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[str]:
    """A MariaDB of its own, with the password that dbbench has: ``HOST:PORT``.

    As MySQL 8 it has utf8mb4; and it is as lenient as the server was with which AgentBench's
    expected tables were made.
    """
    path = f"{os.environ['PATH']}:/usr/sbin"
    server = shutil.which("mariadbd", path=path)
    install = shutil.which("mariadb-install-db", path=path)
    if not (server and install):
        pytest.skip("MariaDB's server is not installed: mariadbd and mariadb-install-db")
    folder, port = tmp_path / "database", pick_port()
    usual = ["--no-defaults", f"--datadir={folder}", f"--user={getuser()}"]
    subprocess.run([install, *usual, "--skip-test-db"], capture_output=True, check=True)
    start = folder / "start.sql"
    start.write_text(
        "CREATE USER root@'127.0.0.1' IDENTIFIED BY 'password';\n"
        "GRANT ALL ON *.* TO root@'127.0.0.1';\n"
    )
    words = [*usual, "--bind-address=127.0.0.1", f"--port={port}", "--skip-name-resolve"]
    words += [f"--socket={folder}/socket", f"--init-file={start}"]
    words += ["--sql-mode=", "--character-set-server=utf8mb4"]
    words += ["--innodb-flush-log-at-trx-commit=0"]  # it is thrown away
    with (tmp_path / "database.log").open("w") as log:
        process = subprocess.Popen([server, *words], stdout=log, stderr=log)
        try:
            wait_for_port(process, port)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def wait_for_port(process: subprocess.Popen[bytes], port: int) -> None:
    """Until a server can be reached."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, "it ended at once"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
            return
        time.sleep(0.1)
    pytest.fail(f"nobody answers at port {port}")


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
            [PYTHON, "-m", *words], cwd=CHECKOUT, env=environ, stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(20)


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("split", ["dev", "std"])
def test_dbbench_runs_as_it_is_and_its_own_answers_score_as_it_says(
    shell: Shell, database: str, split: str
) -> None:
    file, total = {"dev": ("dev", 60), "std": ("standard", 300)}[split]
    with FakeService(answer_dbbench(file)) as service:
        done = run_task(shell, service, f"dbbench-{split}", "--container", f"mysql={database}")
    (agent,) = done.document["agents"]
    assert (agent["total"], agent["failures"]) == (total, {}), done.err
    assert agent["by_status"] == {"completed": total}
    scores = agent["custom"]
    # What sample 225 of the standard split expects is not what its own SQL leaves.
    wrong = {"UPDATE_accuracy": 0.99, "overall_cat_accuracy": (1 + 1 + 0.99) / 3}
    expected = {**dict.fromkeys(scores, 1.0), **(wrong if split == "std" else {})}
    assert scores == pytest.approx(expected)


@pytest.mark.timeout(900)
def test_os_interaction_runs_as_it_is_in_dockers_containers(shell: Shell) -> None:
    look = f"import docker; docker.from_env().images.get({IMAGE!r})"
    found = subprocess.run([PYTHON, "-c", look], capture_output=True, text=True, check=False)
    if found.returncode:
        reason = (found.stderr.strip().splitlines() or ["unknown"])[-1]
        pytest.skip(f"there is no Docker with AgentBench's image {IMAGE}: {reason}")
    with FakeService(answer_os) as service:
        done = run_task(shell, service, "os-dev", "-j", "12")
    (agent,) = done.document["agents"]
    assert (agent["total"], agent["failures"]) == (26, {}), done.err
    assert agent["by_status"] == {"completed": 26}
    # The task reads a terminal piece by piece, and on a busy machine a piece may come too late.
    assert 13 <= agent["custom"]["overall"]["pass"] <= 26


def run_task(shell: Shell, service: FakeService, task: str, *words: str) -> Done:
    """Run a task of the checkout in the environment that has what it imports."""
    asking = shell.asking(service)
    done = replace(asking, environ={**asking.environ, **OURS}).run_process(
        *("bench", "run", f"agentbench:{task}", "--tasks", str(CHECKOUT), "-m", MODEL, *words),
        *("--python", PYTHON, "-o", "out", "--json"),
        seconds=1_700,
    )
    assert "agents" in done.document, done.out + done.err
    return done


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


@pytest.mark.parametrize("is_controlled", [False, True])
def test_its_assigner_drives_our_task_and_our_model(shell: Shell, is_controlled: bool) -> None:
    """Its assigner and HTTP agent; with its controller between them and our worker, or without."""
    ours, controller, folder = pick_port(), pick_port(), shell.folder
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


@pytest.mark.parametrize("is_controlled", [False, True])
def test_our_assigner_drives_its_worker(shell: Shell, is_controlled: bool) -> None:
    """Its worker with its task, with its controller before it, or without."""
    worker, controller = pick_port(), pick_port()
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
