"""A client as a test plays it, and a room without a real kernel."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from fakes import FakeKernel
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from cellwright.context.turn_sources import TurnSource
from cellwright.kernels import Kernel
from cellwright.mcp_server import OutsideRun, RunBoundary
from cellwright.mcp_server.outside_agent import OutsideConversation
from cellwright.mcp_server.protocol import build_server
from cellwright.mcp_server.session import McpServerSession
from cellwright.notebooks import Notebook
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.session.questions import RunContext
from cellwright.settings import Limits, Mode
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

__all__ = ["HOW", "SECRET", "FakeRoom", "Peer", "call_of", "request", "words"]

SECONDS = 10.0
HOW = "Ask the person to allow it."
SECRET = "".join(["hunter2", "hunter2", "hunter2"])


class FakeRoom:
    """``mcp_server.Workroom`` over a kernel that plays a script.

    Args:
        folder: Of the record.
        kernel: Answers code.
        mode: What may be done without asking.
    """

    def __init__(self, folder: Path, kernel: FakeKernel | None = None, mode: Mode = "auto") -> None:
        self.store = RunStore(open_database(folder / "runs.sqlite"))
        self.mode = mode
        self.limits = Limits()
        self.fake_kernel = kernel or FakeKernel(probes={"list_variables": []})
        self.memory: Notebook | None = MemoryNotebook()
        self.kernel: Kernel | None = None
        self.sources: tuple[TurnSource, ...] = ()
        self.redactor = Redactor({"SERVICE_TOKEN": SECRET})
        self.problems: list[str] = []
        self.fails_with: Exception | None = None
        self.is_closed = False
        self.boundary = RunBoundary()
        self._conversation = OutsideConversation()

    @property
    def notebook(self) -> Notebook | None:
        return self.memory

    def run(self, run: OutsideRun) -> None:
        if self.fails_with is not None:
            raise self.fails_with
        self.kernel = self.fake_kernel
        place = RunContext(
            kernel=self.fake_kernel,
            store=self.store,
            redactor=self.redactor,
            lane="mcp",
            notebook=self.memory,
            sources=self.sources,
        )
        self._conversation.run(place, run)

    def take_problems(self) -> tuple[str, ...]:
        problems, self.problems = tuple(self.problems), []
        return problems

    def how_to_allow(self) -> str:
        return HOW

    def close(self) -> None:
        self.is_closed = True

    @property
    def record(self) -> Any:
        return self.store.record(self.store.last_started)


class Peer:
    """One client of a session, which says what is written on the wire.

    Args:
        room: Where the session works.
        options: Of the server.
    """

    def __init__(self, room: FakeRoom, **options: float) -> None:
        self.room = room
        self.session = McpServerSession(room)
        self.sent: list[dict[str, Any]] = []
        """All that came from the session, in order."""
        self.elicits: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] = lambda _: None
        """What the person answers, by the params of the question; None: an error."""
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._count = 0
        self._said_hello = False
        self.answers_late = False
        """The person takes a moment."""
        self._server = build_server(lambda _: self.session, **options)
        self._loop = asyncio.new_event_loop()
        self._to_server, self._server_reads = anyio.create_memory_object_stream[Any](100)
        self._server_writes, self._from_server = anyio.create_memory_object_stream[Any](100)
        self._thread = threading.Thread(target=self._drive, daemon=True)
        self._thread.start()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()
        self.leave()
        self.room.store.database.close()

    def leave(self) -> None:
        """Close the connection."""
        self._loop.call_soon_threadsafe(self._to_server.close)
        self._thread.join(SECONDS)
        self._loop.close()

    def put(self, message: Mapping[str, Any]) -> None:
        """Send a message as it is."""
        parsed = jsonrpc_message_adapter.validate_python(dict(message), by_name=False)
        sent = SessionMessage(parsed)
        self._loop.call_soon_threadsafe(self._to_server.send_nowait, sent)

    def _drive(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        async with anyio.create_task_group() as group, self._from_server:
            group.start_soon(self._hear)
            options = self._server.create_initialization_options()
            await self._server.run(self._server_reads, self._server_writes, options)

    async def _hear(self) -> None:
        async for sent in self._from_server:
            data = sent.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
            self.take(data)

    def hello(self, *, elicitation: object = None, **info: str) -> dict[str, Any]:
        """Say who we are; what the session says of itself."""
        can = {} if elicitation is None else {"elicitation": elicitation}
        facts = {"name": "peer", "version": "1.0", **info}
        params = {"protocolVersion": "2025-06-18", "capabilities": can, "clientInfo": facts}
        self._said_hello = True
        result: dict[str, Any] = self.ask("initialize", params)["result"]
        self.tell("notifications/initialized")
        return result

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request; the whole answer."""
        number = self.begin(method, params)
        answer = self._answers.get(timeout=SECONDS)
        assert answer["id"] == number
        return answer

    def begin(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request and do not wait; its id."""
        if not self._said_hello:
            self.hello()
        self._count += 1
        self.put(request(self._count, method, params or {}))
        return self._count

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool; its result."""
        result: dict[str, Any] = self.ask("tools/call", call_of(name, **arguments))["result"]
        return result

    def tell(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self.put({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    def of_method(self, method: str) -> list[dict[str, Any]]:
        """The params of what came with this method."""
        return [message["params"] for message in self.sent if message.get("method") == method]

    def until(self, look: Callable[[], Any]) -> Any:
        """What ``look`` finds, as soon as it finds something."""
        deadline = time.monotonic() + SECONDS
        while not (found := look()):
            assert time.monotonic() < deadline, f"it never came; the last: {self.sent[-3:]}"
            time.sleep(0.01)
        return found

    def take(self, message: Mapping[str, Any]) -> None:
        """A message has come from the session."""
        self.sent.append(dict(message))
        if message.get("method") == "elicitation/create":
            said = self.elicits(message["params"])
            told: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
            told |= {"error": {"code": -1, "message": "no"}} if said is None else {"result": said}
            if self.answers_late:
                threading.Timer(0.05, self.put, (told,)).start()
            else:
                self.put(told)
        elif "id" in message:
            self._answers.put(dict(message))


def request(number: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A request as it stands on the wire."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def call_of(name: str, /, **arguments: Any) -> dict[str, Any]:
    """The params of a call."""
    return {"name": name, "arguments": arguments}


def words(result: Mapping[str, Any]) -> str:
    """All texts of a result."""
    return "\n".join(item["text"] for item in result["content"] if item["type"] == "text")
