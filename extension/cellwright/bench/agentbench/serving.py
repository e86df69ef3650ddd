"""A task served over AgentBench 0.2's HTTP protocol, as its worker and its controller at once.

AgentBench's assigner asks it as a controller; AgentBench's controller, once it was told of it, as a
worker. Where there is an agent, AgentBench's HTTP agent can ask that, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import queue
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import ValidationError

from cellwright.bench.agentbench.typings import (
    CalculateOverallRequest,
    CancelRequest,
    InteractRequest,
    SampleStatusRequest,
)
from cellwright.bench.task import (
    AgentOutput,
    AgentOutputStatus,
    ChatHistoryItem,
    SampleIndex,
    SampleStatus,
    Task,
    TaskOutput,
    WorkerStatus,
    checked_indices,
    run_sample,
)
from cellwright.record.values import safe_json
from cellwright.stopping import WorkerThread

LOCAL = "127.0.0.1"
HEART_SECONDS = 8.0
CANCEL_SECONDS = 30.0
"""How long a sample that is told to end may take for it."""
IDLE_SECONDS = 600.0
"""After so long without its agent a sample makes room for another."""
BODY_LIMIT_BYTES = 64 * 1024 * 1024
Agent = Callable[[list[ChatHistoryItem]], AgentOutput]


class ProtocolError(Exception):
    """What is asked for is refused.

    Args:
        status: HTTP's.
        detail: Why.
    """

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(str(detail))
        self.status = status
        self.detail = detail


@dataclass
class _Talk:
    """A sample that runs."""

    index: SampleIndex
    outputs: queue.Queue[TaskOutput] = field(default_factory=queue.Queue)
    answer: asyncio.Future[AgentOutput] | None = None
    """What the sample waits for; None: it works."""
    is_cancelled: bool = False
    running: Future[None] | None = None
    heard_at: float = field(default_factory=time.monotonic)


class TaskWorker:
    """Runs the samples of a task, all on one event loop, as tasks of AgentBench expect.

    Args:
        task: The task.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.address = ""
        """Where it is served; told to whoever asks."""
        try:
            self._indices = checked_indices(task)
        except BaseException:
            task.release()
            raise
        self._talks: dict[int, _Talk] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._thread = WorkerThread(self._loop.run_forever, name="task")
        self._thread.start()

    def close(self) -> None:
        """End what runs and let go of the task."""
        self.cancel_all({})
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CANCEL_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()
        self.task.release()

    def registration(self) -> dict[str, Any]:
        """What a controller is told."""
        return {
            "name": self.task.name,
            "address": self.address,
            "concurrency": self.task.concurrency,
            "indices": self._indices,
        }

    def get_indices(self, asked: Mapping[str, Any]) -> list[SampleIndex]:
        """The task's indices."""
        self._check_name(asked, 400)
        return self._indices

    def get_sessions(self, asked: Mapping[str, Any]) -> dict[str, SampleIndex]:
        """The samples that run."""
        with self._lock:
            return {str(number): talk.index for number, talk in self._talks.items()}

    def worker_status(self, asked: Mapping[str, Any]) -> dict[str, int]:
        """How many run, and how many may."""
        return {"concurrency": self.task.concurrency, "current": len(self._talks)}

    def list_workers(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What a controller says of its workers: this one."""
        worker = {
            "id": 0,
            "address": self.address,
            "capacity": self.task.concurrency,
            "current": len(self._talks),
            "last_visit": time.time(),
            "status": WorkerStatus.ALIVE,
            "locked": False,
        }
        return {self.task.name: {"indices": self._indices, "workers": {"0": worker}}}

    def sample_status(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """How far a sample is."""
        number = SampleStatusRequest(**asked).session_id
        talk = self._talk(number)
        status = {"waiting_for_env": talk.answer is None, "waiting_for_agent": bool(talk.answer)}
        return {"session_id": number, "index": talk.index, "status": status}

    def start_sample(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Start a sample; what its agent is asked first."""
        self._check_name(asked, 406)
        index = asked.get("index")
        if not any(type(known) is type(index) and known == index for known in self._indices):
            raise ProtocolError(400, f"Error: There is no sample {index!r}.")
        self._make_room()
        with self._lock:
            number = asked.get("session_id")
            if number is None:
                number = next(n for n in self._numbers if n not in self._talks)
            if number in self._talks:
                raise ProtocolError(400, f"Error: There is a session {number!r} already.")
            if len(self._talks) >= self.task.concurrency:
                limit = self.task.concurrency
                raise ProtocolError(406, f"Error: {limit} samples run, and no more may.")
            talk = self._talks[number] = _Talk(index)  # type: ignore[arg-type]
        talk.running = asyncio.run_coroutine_threadsafe(self._run(number, talk), self._loop)
        return self._told(number, talk.outputs.get())

    def interact(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Give a sample the agent's turn; what the agent is asked next."""
        request = InteractRequest(**asked)
        talk = self._talk(request.session_id)
        with self._lock:
            answer, talk.answer = talk.answer, None
            talk.heard_at = time.monotonic()
        if answer is None:
            raise ProtocolError(400, "Error: The sample does not wait for its agent.")
        self._loop.call_soon_threadsafe(_resolve, answer, request.agent_response)
        told = self._told(request.session_id, output := talk.outputs.get())
        if output.status == SampleStatus.TASK_ERROR:
            raise ProtocolError(501, told)
        return told

    def cancel(self, asked: Mapping[str, Any]) -> dict[str, int]:
        """End a sample early."""
        number = CancelRequest(**asked).session_id
        talk = self._talk(number)
        with self._lock:
            answer, talk.answer = talk.answer, None
            talk.is_cancelled = True
        if answer is not None:
            cancelled = AgentOutput(status=AgentOutputStatus.CANCELLED)
            self._loop.call_soon_threadsafe(_resolve, answer, cancelled)
        if talk.running is not None:
            with contextlib.suppress(TimeoutError):
                talk.running.result(CANCEL_SECONDS)
            talk.running.cancel()
        return {"session_id": number}

    def cancel_all(self, asked: Mapping[str, Any]) -> None:
        """End all samples early."""
        with self._lock:
            numbers = list(self._talks)
        for number in numbers:
            with contextlib.suppress(ProtocolError):
                self.cancel({"session_id": number})

    def calculate_overall(self, asked: Mapping[str, Any]) -> Any:
        """Let the task sum up."""
        self._check_name(asked, 400)
        request = CalculateOverallRequest(**{"name": self.task.name, **asked})
        return safe_json(self.task.calculate_overall(request.results))

    def _check_name(self, asked: Mapping[str, Any], status: int) -> None:
        if asked.get("name", self.task.name) != self.task.name:
            raise ProtocolError(status, f"Error: There is no task {asked['name']!r}.")

    def _make_room(self) -> None:
        """End the samples whose agents have gone away, where there is no other room."""
        until = time.monotonic() - IDLE_SECONDS
        with self._lock:
            is_full = len(self._talks) >= self.task.concurrency
            idle = [n for n, t in self._talks.items() if t.answer and t.heard_at < until]
        for number in idle if is_full else ():
            with contextlib.suppress(ProtocolError):
                self.cancel({"session_id": number})

    def _talk(self, number: int) -> _Talk:
        with self._lock:
            if number not in self._talks:
                raise ProtocolError(400, "Error: There is no such session.")
            return self._talks[number]

    async def _run(self, number: int, talk: _Talk) -> None:
        output = TaskOutput(index=talk.index, status=SampleStatus.UNKNOWN)
        try:
            output = await run_sample(self.task, talk.index, partial(self._ask, talk))
        finally:
            with self._lock:
                self._talks.pop(number, None)
            talk.outputs.put(output)

    async def _ask(self, talk: _Talk, history: list[ChatHistoryItem]) -> AgentOutput:
        if talk.is_cancelled:
            return AgentOutput(status=AgentOutputStatus.CANCELLED)
        answer: asyncio.Future[AgentOutput] = self._loop.create_future()
        with self._lock:
            talk.answer = answer
            talk.heard_at = time.monotonic()
        talk.outputs.put(TaskOutput(index=talk.index, history=history))
        return await answer

    @staticmethod
    def _told(number: int, output: TaskOutput) -> dict[str, Any]:
        fields = safe_json(dict(output))
        fields["history"] = [dict(item) for item in output.history or ()]
        return {"session_id": number, "output": {**fields, "status": output.status.value}}


def _resolve(answer: asyncio.Future[AgentOutput], output: AgentOutput) -> None:
    if not answer.done():
        answer.set_result(output)


class TaskServer:
    """HTTP for a worker, an agent, or both.

    Args:
        host: The interface; the default is reached from this machine only.
        port: 0 takes a free one.

    Raises:
        OSError: The port is taken.
    """

    def __init__(self, host: str = LOCAL, port: int = 0) -> None:
        self.routes: dict[tuple[str, str], Callable[[Mapping[str, Any]], Any]] = {}
        self._http = _ProtocolServer((host, port), self.routes)
        shown = f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{self._http.server_address[1]}/api"
        self._closing = threading.Event()
        self._thread = WorkerThread(self._http.serve_forever, 0.05, name="task-server")
        self._thread.start()

    def add_worker(self, worker: TaskWorker, controller: str = "") -> None:
        """Serve a worker, and tell a controller of it again and again.

        Args:
            worker: The worker.
            controller: Its address, which ends in ``/api``; empty: there is none.
        """
        worker.address = self.address
        for get in ("get_indices", "get_sessions", "worker_status", "list_workers"):
            self.routes["GET", get] = getattr(worker, get)
        for post in ("start_sample", "interact", "cancel", "cancel_all", "calculate_overall"):
            self.routes["POST", post] = getattr(worker, post)
        self.routes["POST", "sample_status"] = worker.sample_status
        if controller:
            WorkerThread(self._register, worker, controller, name="heartbeat").start()

    def add_agent(self, agent: Agent) -> None:
        """Serve an agent under ``/agent``, in the shape of OpenAI's chat completions."""
        self.routes["POST", "agent"] = partial(_complete, agent)

    def close(self) -> None:
        """Serve no more."""
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5.0)

    def _register(self, worker: TaskWorker, controller: str) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(OSError):  # it may be started later, or again
                post_json(f"{controller}/receive_heartbeat", worker.registration(), HEART_SECONDS)
            self._closing.wait(HEART_SECONDS)


def _complete(agent: Agent, asked: Mapping[str, Any]) -> dict[str, Any]:
    roles = {"assistant": "agent", "system": "user"}
    history = [
        ChatHistoryItem(role=roles.get(item["role"], item["role"]), content=item["content"])
        for item in asked.get("messages", ())
    ]
    output = agent(history)
    if output.status != AgentOutputStatus.NORMAL:
        raise ProtocolError(400, "Error: The prompt is too long: the model's context is exceeded.")
    message = {"role": "assistant", "content": output.content}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}


class _ProtocolServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], routes: Mapping[tuple[str, str], Any]) -> None:
        super().__init__(address, _ProtocolHandler)
        self.routes = routes


class _ProtocolHandler(BaseHTTPRequestHandler):
    server: _ProtocolServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        if size > BODY_LIMIT_BYTES:
            self._send(413, {"detail": "The request is too large."})
            return
        try:
            asked = json.loads(self.rfile.read(size) or b"{}")
        except ValueError as error:
            self._send(422, {"detail": f"That is no JSON: {error}"})
            return
        self._answer(asked if isinstance(asked, dict) else {})

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: a benchmark makes thousands of requests."""

    def _answer(self, asked: Mapping[str, Any]) -> None:
        path, _, query = self.path.partition("?")
        route = self.server.routes.get((self.command, path.removeprefix("/api").strip("/")))
        try:
            if "Origin" in self.headers:  # a page in a browser, which has no business here
                raise ProtocolError(403, "Forbidden")
            if route is None:
                raise ProtocolError(404, "Not Found")
            self._send(200, route({**dict(urllib.parse.parse_qsl(query)), **asked}))
        except ProtocolError as error:
            self._send(error.status, {"detail": error.detail})
        except (ValidationError, KeyError) as error:
            self._send(422, {"detail": f"The request is not understood: {error}"})
        except Exception as error:  # the task's own code, or the model service
            self._send(500, {"detail": f"{type(error).__name__}: {error}"})

    def _send(self, status: int, document: Any) -> None:
        data = json.dumps(document).encode()
        with contextlib.suppress(OSError):  # whoever asked has gone away
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)


def post_json(url: str, document: Any, seconds: float) -> Any:
    """Post JSON past any proxy; what is answered.

    Raises:
        OSError: Nobody answers, or not well (``urllib.error.HTTPError``).
        ValueError: The answer is no JSON.
    """
    return ask_json(url, json.dumps(document).encode(), seconds)


def ask_json(url: str, data: bytes | None, seconds: float) -> Any:
    """Get, or post data, past any proxy; what is answered.

    Raises:
        OSError: Nobody answers, or not well (``urllib.error.HTTPError``).
        ValueError: The answer is no JSON.
    """
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=seconds) as answer:
        return json.load(answer)
