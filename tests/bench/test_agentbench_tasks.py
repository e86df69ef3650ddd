"""Small tasks written as AgentBench's are, run and served by command."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_line import Shell
from fake_answers import Request, Wire, error, text
from fake_service import MODEL, FakeService

from cellwright.bench.agentbench.serving import TaskServer, TaskWorker, ask_json, post_json
from cellwright.bench.results import ResultFiles
from cellwright.bench.task import Session, VirtualTask


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


CONFIGS = """
import yaml

class ConfigLoader:
    def load_from(self, path):
        with open(path) as file:
            return yaml.safe_load(file)
"""
SUMS = """
import asyncio
import json
from typing import Dict, List, Any

from src.server.task import Task, Session
from src.typings import *
from src.typings.general import ChatHistoryItem as Item
from .rules import RULES


class Sums(Task):
    def __init__(self, **configs):
        super().__init__(**configs)
        self.lock = asyncio.Lock()
        with open(configs.pop("data_file")) as f:
            self.data = json.load(f)

    def get_indices(self) -> List[SampleIndex]:
        return list(range(len(self.data)))

    async def start_sample(self, index, session: Session) -> TaskOutput:
        print("a task prints what it likes")
        async with self.lock:
            await asyncio.sleep(0)
        session.inject({"role": "user", "content": RULES})
        session.inject(Item(role="agent", content="Ok."))
        res = await session.action({"role": "user", "content": self.data[index]["question"]})
        if res.status == AgentOutputStatus.AGENT_CONTEXT_LIMIT:
            raise_and_catch = AgentContextLimitException("full")
            return TaskOutput(
                status=SampleStatus.AGENT_CONTEXT_LIMIT, result={"why": str(raise_and_catch)}
            )
        if res.content == "boom":
            raise KeyError("boom")
        return TaskOutput(
            status=SampleStatus.COMPLETED,
            result={"answer": res.dict()["content"], "error": ValueError("kept as text")},
            history=session.history,
        )

    def calculate_overall(self, results: List[TaskOutput]) -> Dict[str, Any]:
        print("and here")
        right = [
            isinstance(r, TaskOutput)
            and (r.result or {}).get("answer") == self.data[r.index]["answer"]
            for r in results
        ]
        return {"accuracy": sum(right) / len(right), "turns": len(results[0].history)}
"""
STORE = """
import docker
import socket
from docker.models import containers
from src.server.task import Task
from src.typings import SampleStatus, TaskSampleExecutionResult


class Store(Task):
    def __init__(self, port, **configs):
        super().__init__(**configs)
        self.container: containers.Container = docker.from_env().containers.run(
            "library/shouter:8", name="x", ports={"7": port}, detach=True
        )
        self.port = port

    def get_indices(self):
        return ["only"]

    async def start_sample(self, index, session):
        output = await session.action({"role": "user", "content": "What?"})
        with socket.create_connection(("127.0.0.1", self.port)) as asked:
            asked.sendall(output.content.encode())
            heard = asked.recv(100).decode()
        return TaskSampleExecutionResult(status=SampleStatus.COMPLETED, result={"heard": heard})

    def calculate_overall(self, results):
        return {"heard": [r.result["heard"] for r in results]}

    def release(self):
        self.container.stop()
"""
QUESTIONS = {"2 + 2?": "4", "2 + 3?": "5", "long?": "", "broken?": "boom"}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder laid out as AgentBench's, with tasks of ours."""
    folder = tmp_path / "AgentBench"
    tasks = folder / "src" / "server" / "tasks"
    for name, code in {"sums": SUMS, "store": STORE, "lacking": "import not_there_at_all"}.items():
        (tasks / name).mkdir(parents=True)
        (tasks / name / "__init__.py").write_text(code)
    (tasks / "sums" / "rules.py").write_text("RULES = 'Answer with one number.'")
    for package in (folder / "src", folder / "src" / "server", tasks):
        (package / "__init__.py").touch()
    # As upstream's, whose own contracts must not be the ones that are found.
    (folder / "src" / "server" / "task.py").write_text("raise SystemError('not ours')")
    (folder / "src" / "configs.py").write_text(CONFIGS)
    (folder / "data").mkdir()
    data = [{"question": q, "answer": a} for q, a in QUESTIONS.items()]
    (folder / "data" / "sums.json").write_text(json.dumps(data))
    (folder / "configs" / "tasks").mkdir(parents=True)
    definitions = {
        "sums-std": definition("sums.Sums", name="Sums", data_file="data/sums.json", concurrency=2),
        "store-dev": definition("store.Store", name="Store", port=free_port()),
        "lacking-dev": {**definition("lacking.Lacking"), "docker": {"image": "some/image"}},
        "far-dev": definition("sums.Sums", url=f"http://127.0.0.1:{free_port()}/sparql"),
        "empty-dev": definition("sums.Sums", name="Sums", data_file="data/none.json"),
    }
    (folder / "configs" / "tasks" / "task_assembly.yaml").write_text(json.dumps(definitions))
    return folder


def definition(module: str, **parameters: Any) -> dict[str, Any]:
    return {"module": f"src.server.tasks.{module}", "parameters": parameters}


def calculator(request: Request) -> Wire:
    question = str(request.body["messages"][-1]["content"])
    if question == "long?":
        return error(400, "maximum context length exceeded", code="context_length_exceeded")(
            request
        )
    return text({"2 + 3?": "six"}.get(question) or QUESTIONS[question])(request)


@pytest.fixture
def shouter() -> Iterator[str]:
    """A service that says everything louder; where it is."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                asked, _ = listener.accept()
            except OSError:
                return
            with asked:
                asked.sendall(asked.recv(100).upper())

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


def test_a_task_runs_from_its_checkout_as_it_is_and_sums_itself_up(
    shell: Shell, checkout: Path
) -> None:
    words = ("bench", "run", "agentbench:sums", "--tasks", str(checkout), "-m", MODEL)
    with FakeService(calculator) as service:
        asking = shell.asking(service)
        done = asking.run(*words, "-o", "out", "--json", "--retries", "0")
        assert done.code == 1, done.err
        (agent,) = done.document["agents"]
        again = asking.run("bench", "resume", "out", "--json", "--retries", "0")
    assert agent["by_status"] == {"completed": 2, "agent context limit": 1}
    assert agent["custom"] == {"accuracy": pytest.approx(1 / 3), "turns": 4}
    assert agent["failures"] == {"INTERACT_FAILED": 1}
    assert "KeyError: 'boom'" in done.err
    assert "1 of 4 samples to run" in again.err
    folder = shell.folder / "out" / MODEL / "Sums"
    lines = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    results = {line["index"]: line["output"]["result"] for line in lines}
    assert (results[1]["answer"], "kept as text" in results[1]["error"]) == ("six", True)
    assert results[2] == {"why": "AgentContextLimitException[agent_context_limit]: full"}
    assert lines[0]["output"]["history"][0]["content"] == "Answer with one number."
    roles = [message["role"] for message in service.requests[0].body["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert json.loads((folder / "overall.json").read_text())["custom"] == agent["custom"]
    refused = shell.run("bench", "rescore", "out")
    assert (refused.code, "has no checks" in refused.err) == (2, True)
    assert not [name for name in sys.modules if name.split(".")[0] == "src"]


def test_a_sample_that_nobody_recorded_an_answer_to_could_not_be_run(shell: Shell) -> None:
    run = ("bench", "run", "agentbench:virtual-task", "-q", "--json", "--agent")
    assert shell.run(*run, "noop", "-o", "first").code == 0
    runs = shell.folder / "first" / "noop" / "virtual-task" / "runs.jsonl"
    runs.write_text(runs.read_text().splitlines(keepends=True)[0])
    done = shell.run(*run, f"replay:{runs}", "-o", "second", "--epochs", "2")
    assert done.code == 1, done.err
    (agent,) = done.document["agents"]
    assert (agent["total"], agent["failures"]) == (1, {"START_FAILED": 19})


def test_the_total_budget_of_a_task_counts_what_was_spent_before(shell: Shell) -> None:
    run = ("bench", "run", "agentbench:virtual-task", "--agent", "noop", "-o", "out")
    assert shell.run(*run).code == 0
    files = ResultFiles(shell.folder / "out", "noop", "virtual-task")
    sample = next(files.samples())
    files.runs.unlink()
    files.add(replace(sample, cost_dollars=2.0))
    done = shell.run("bench", "resume", "out", "--total-budget", "1.5")
    assert "9 of 10 samples to run" in done.err
    assert "The samples cost $2.0000 of $1.5000, so no more were begun" in done.err
    assert (done.code, "9 not begun" in done.out) == (1, True)


def test_a_service_stands_in_for_a_container(shell: Shell, checkout: Path, shouter: str) -> None:
    with FakeService(text("hello")) as service:
        done = shell.asking(service).run(
            *("bench", "run", "agentbench:store-dev", "--tasks", str(checkout), "-m", MODEL),
            *("--container", f"shouter={shouter}", "-o", "out", "--json"),
        )
    assert done.document["agents"][0]["custom"] == {"heard": ["HELLO"]}, done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["agentbench:lacking-dev"], ["made for the Docker image some/image"]),
        (["agentbench:lacking-dev", "--python", sys.executable], ["not_there_at_all"]),
        (["agentbench:far-dev"], ["/sparql", "does not answer"]),
        (["agentbench:empty-dev"], ["data/none.json"]),
        (["agentbench:nothing"], ["has no task 'nothing'", "sums-std"]),
        (["agentbench:store-dev", "--container", "shouter=x"], ["IMAGE=HOST:PORT"]),
        (
            ["agentbench:store-dev", "--container", f"shouter=127.0.0.1:{free_port()}"],
            ["No service answers"],
        ),
        (["agentbench:sums", "--budget", "1"], ["of no use here"]),
        (["agentbench:sums", "--only", "77"], ["has no sample '77'"]),
    ],
)
def test_what_is_missing_is_said_before_anything_runs(
    shell: Shell, checkout: Path, words: list[str], said: list[str]
) -> None:
    done = shell.run(
        *("bench", "run", *words, "--tasks", str(checkout), "--agent", "noop", "-o", "out")
    )
    assert done.code == 2
    assert [word for word in said if word not in done.err] == [], done.err
    assert not (shell.folder / "out").exists()


def test_without_a_checkout_or_a_server_that_is_said(shell: Shell) -> None:
    for tasks, said in (
        ((), "--tasks CHECKOUT"),
        (("--tasks", "."), "no checkout of AgentBench"),
        (("--tasks", f"http://127.0.0.1:{free_port()}/api"), "Nobody serves the task 'sums'"),
    ):
        done = shell.run("bench", "run", "agentbench:sums", *tasks, "--agent", "noop")
        assert (done.code, said in done.err) == (2, True), done.err
    done = shell.run("bench", "run", "humaneval", "--serve", "0")
    assert (done.code, "cannot be served" in done.err) == (2, True)


class Talkative(VirtualTask):
    """Goes on for as long as its agent does, or fails."""

    let_go = 0

    async def start_sample(self, index: Any, session: Session) -> Any:
        output = await session.action({"role": "user", "content": "Go on?"})
        if output.content == "fail":
            raise KeyError("no such word")
        return await super().start_sample(index, session)

    def release(self) -> None:
        self.let_go += 1


def refusal(url: str, asked: dict[str, Any]) -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as refused:
        post_json(url, asked, 20)
    with refused.value as answer:
        return answer.code, answer.read().decode()


def test_the_protocol_says_what_agentbenchs_says() -> None:
    task = Talkative("talk", 1)
    worker, server = TaskWorker(task), TaskServer()
    try:
        server.add_worker(worker)
        address = server.address
        (served,) = ask_json(f"{address}/list_workers", None, 20).items()
        assert (served[0], served[1]["workers"]["0"]["capacity"]) == ("talk", 1)
        start = {"name": "talk", "index": 3}
        told = post_json(f"{address}/start_sample", start, 20)
        number = {"session_id": told["session_id"]}
        assert told["output"]["status"] == "running"
        assert told["output"]["history"] == [{"role": "user", "content": "Go on?"}]
        assert refusal(f"{address}/start_sample", {**start, "session_id": 99})[0] == 406
        assert refusal(f"{address}/start_sample", {"name": "else", "index": 3})[0] == 406
        assert refusal(f"{address}/start_sample", {"name": "talk", "index": "3"})[0] == 400
        assert refusal(f"{address}/interact", {"session_id": 77, "agent_response": YES})[0] == 400
        assert refusal(f"{address}/interact", number)[0] == 422
        assert refusal(f"{address}/elsewhere", number)[0] == 404
        page = urllib.request.Request(f"{address}/cancel_all", b"{}", {"Origin": "http://a.page"})
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(page, timeout=20)
        refused.value.close()
        assert ask_json(f"{address}/get_sessions", None, 20) == {str(told["session_id"]): 3}
        status = post_json(f"{address}/sample_status", number, 20)
        assert status["status"]["waiting_for_agent"]
        failed = refusal(f"{address}/interact", {**number, "agent_response": {"content": "fail"}})
        assert (failed[0], "no such word" in failed[1]) == (501, True)
        told = post_json(f"{address}/start_sample", {"index": 4, "session_id": 7}, 20)
        assert post_json(f"{address}/cancel", {"session_id": 7}, 20) == {"session_id": 7}
        assert ask_json(f"{address}/worker_status", None, 20)["current"] == 0
        post_json(f"{address}/start_sample", {"index": 4, "session_id": 8}, 20)
        post_json(f"{address}/cancel_all", {}, 20)
        summed = {"name": "talk", "results": [told["output"]]}
        assert post_json(f"{address}/calculate_overall", summed, 20) == {"score": 0.4}
    finally:
        server.close()
        worker.close()
    assert task.let_go == 1


YES = {"status": "normal", "content": "yes"}


def test_a_served_task_tells_a_controller_of_itself_and_has_the_model_beside_it(
    shell: Shell, checkout: Path
) -> None:
    registered: list[dict[str, Any]] = []
    heard = threading.Event()
    controller = TaskServer()

    def receive(asked: Any) -> None:
        registered.append(asked)
        heard.set()

    controller.routes["POST", "receive_heartbeat"] = receive
    with FakeService(calculator) as service:
        process = shell.asking(service).start(
            *("bench", "run", "agentbench:sums", "--tasks", str(checkout), "-m", MODEL),
            *("--serve", "0", "--controller", controller.address, "--json"),
        )
        try:
            assert heard.wait(60)
            agent = f"{registered[0]['address']}/agent"
            asked = {"messages": [{"role": "user", "content": "2 + 2?"}]}
            answer = post_json(agent, asked, 20)
            assert answer["choices"][0]["message"]["content"] == "4"
            asked = {"messages": [{"role": "user", "content": "long?"}]}
            code, words = refusal(agent, asked)
        finally:
            process.terminate()
            out, err = process.communicate(timeout=60)
            controller.close()
    assert (code, "prompt is too long" in words) == (400, True)
    assert registered[0]["name"] == "Sums"
    assert registered[0]["indices"] == [0, 1, 2, 3]
    assert json.loads(out)["task"] == "Sums", err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_tasks_process_ends_with_the_run(shell: Shell, number: signal.Signals) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slow(request: Request) -> Wire:
        asked.set()
        go_on.wait(60)
        return text("Yes.")(request)

    words = ("bench", "run", "agentbench:virtual-task", "-m", MODEL, "-o", "out", "--json")
    with FakeService(slow) as service:
        asking = shell.asking(service)
        process = asking.start(*words)
        try:
            assert asked.wait(60)
            children = psutil.Process(process.pid).children()
            assert children
            os.kill(process.pid, number)
            process.wait(60)
            _, alive = psutil.wait_procs(children, timeout=20)
            assert alive == []
        finally:
            go_on.set()
            process.kill()
            process.communicate()
        again = asking.run("bench", "resume", "out", "--json")
    assert again.document["agents"][0]["by_status"] == {"completed": 10}, again.err
    assert again.document["agents"][0]["custom"] == {"score": 0.4}
