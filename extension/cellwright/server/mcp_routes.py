"""The Model Context Protocol over HTTP: one address, behind the server's own authentication.

``POST`` takes one message. A call of a tool is answered with a stream of server-sent events, its
progress and questions before its result; everything else with JSON. Nothing is sent that was not
asked for, so ``GET`` is refused.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from cellwright.errors import SetupError
from cellwright.mcp_server import Workroom, json_rpc
from cellwright.mcp_server.json_rpc import Incoming, Request, RequestId, RpcError
from cellwright.mcp_server.session import McpServerSession
from cellwright.server.application import Application
from cellwright.server.mcp_chat import McpWish, ServerRoom, settings_of
from cellwright.server.routes import Refusal, Route, RouteTable
from cellwright.settings import Mode

# The MCP clients of one server: each has a session of its own, which ends when it is silent.


SESSION_LIMIT = 16
SILENT_SECONDS = 6 * 3_600.0
"""A client that has not been heard of for so long is gone."""
PATIENCE_SECONDS = 60.0
"""Where there are too many, one that was silent for so long makes room."""


@dataclass
class _KnownSession:
    session: McpServerSession
    owner: str
    heard_at: float = field(default=0.0)


def open_sessions(application: Application) -> McpSessions:
    """The sessions of a server.

    Raises:
        HTTPError: The server is stopping.
    """
    with application.opening():
        if application.outside is None:
            application.outside = McpSessions()
        return cast("McpSessions", application.outside)


class McpSessions:
    """Sessions by their ids, which only their clients know; safe to use from any thread.

    Args:
        clock: Tells how long a client was silent.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, _KnownSession] = {}
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether any call goes on."""
        with self._lock:
            return any(known.session.is_busy for known in self._known.values())

    def open(self, room: Workroom, owner: str) -> str:
        """A new session; its id.

        Raises:
            SetupError: There are too many.
        """
        self._make_room()
        with self._lock:
            if self._is_closed or len(self._known) >= SESSION_LIMIT:
                raise SetupError(
                    f"{SESSION_LIMIT} MCP clients are connected already.", hint="Close one of them."
                )
            name = secrets.token_urlsafe(24)
            self._known[name] = _KnownSession(McpServerSession(room), owner, self._clock())
            return name

    def find(self, name: str, owner: str) -> McpServerSession | None:
        """The session of that id and person; None: there is none."""
        with self._lock:
            known = self._known.get(name)
            if known is None or known.owner != owner:
                return None
            known.heard_at = self._clock()
            return known.session

    def end(self, name: str, owner: str) -> bool:
        """End a session; waits for its run. False: there is none."""
        session = self.find(name, owner)
        with self._lock:
            if session is None or self._known.pop(name, None) is None:
                return False
        session.close()
        return True

    def close(self) -> None:
        """End every session; waits for their runs."""
        with self._lock:
            self._is_closed = True
            ended, self._known = tuple(self._known.values()), {}
        for known in ended:
            known.session.close()

    def _make_room(self) -> None:
        """End sessions whose clients are gone, and the most silent one where there are too many."""
        now = self._clock()
        with self._lock:
            idle = [item for item in self._known.items() if not item[1].session.is_busy]
            idle.sort(key=lambda item: item[1].heard_at)
            ended = [item for item in idle if now - item[1].heard_at > SILENT_SECONDS]
            is_full = len(self._known) - len(ended) >= SESSION_LIMIT
            if is_full and idle and now - idle[0][1].heard_at > PATIENCE_SECONDS:
                ended = idle[:1]
            for name, _ in ended:
                del self._known[name]
        for _, known in ended:
            known.session.close()


SESSION_HEADER = "Mcp-Session-Id"
MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024
STREAMED = ("tools/call",)
EVENT_STREAM = "text/event-stream"
KEEP_ALIVE_SECONDS = 15.0
FIND_SECONDS = 5.0
LOST = "There is no such session; it has ended."
FIRST = "Begin with 'initialize'."


class McpRoute(Route):
    """``cellwright/v2/mcp?notebook=PATH&mode=MODE``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Take a message of the protocol."""
        await self._check_person()
        message = self._message()
        if message is None:
            return
        name = self.request.headers.get(SESSION_HEADER, "")
        if isinstance(message, Request) and message.method == "initialize":
            name = await self._begin()
            self.set_header(SESSION_HEADER, name)
        session = self._sessions.find(name, self.owner)
        if session is None:
            number = message.id if isinstance(message, Request) else None
            self._fail(404 if name else 400, RpcError(json_rpc.INVALID_REQUEST, FIRST), number)
        elif not isinstance(message, Request):
            session.handle(message, _nowhere)
            self.set_status(202)
            self.finish()
        elif message.method in STREAMED:
            await self._stream(session, message)
        else:
            await self._reply(session, message)

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """End the session."""
        name, owner = self.request.headers.get(SESSION_HEADER, ""), self.owner
        sessions = self._sessions
        if not await self.answer(lambda _: sessions.end(name, owner)):
            raise Refusal(404, LOST, FIRST)
        self.set_status(204)
        self.finish()

    @property
    def _sessions(self) -> McpSessions:
        return open_sessions(self.shared)

    async def _check_person(self) -> None:
        """Refuse whoever may not run code in kernels."""
        is_authorized = self.authorizer.is_authorized
        if not await ensure_async(is_authorized(self, self.current_user, "execute", "kernels")):
            raise Refusal(403, "You may not run code in kernels on this server.")

    def _message(self) -> Incoming | None:
        """The message of the body; None: it is none, and that was answered."""
        if len(self.request.body) > MESSAGE_LIMIT_BYTES:
            raise Refusal(413, "The request is too large.")
        try:
            return json_rpc.read(self.request.body)
        except RpcError as failure:
            self._fail(400, failure)
            return None

    async def _begin(self) -> str:
        """A new session; its id.

        Raises:
            Refusal: The notebook or the mode cannot be used, or there are too many sessions.
        """
        path, mode, owner = self.word("notebook").strip("/"), self.word("mode"), self.owner
        contents: Any = self.contents_manager
        if path and not await ensure_async(contents.file_exists(path)):
            raise Refusal(404, f"There is no notebook {path!r}.", "Give its path from the root.")
        find, sessions = self._kernel_finder(), self._sessions

        def begin(shared: Application) -> str:
            wanted = mode or settings_of(shared).mode
            shared.configuration.check_mode(wanted)
            wish = McpWish(path, cast("Mode", wanted), owner)
            return sessions.open(ServerRoom(shared, wish, find), owner)

        return await self.answer(begin)

    def _kernel_finder(self) -> Callable[[str], str]:
        """Finds the kernel of a notebook among the server's sessions; for worker threads."""
        loop = asyncio.get_running_loop()
        manager: Any = self.session_manager

        async def find(path: str) -> str:
            for session in await ensure_async(manager.list_sessions()):
                if session.get("path") == path:
                    return str((session.get("kernel") or {}).get("id") or "")
            return ""

        return lambda path: asyncio.run_coroutine_threadsafe(find(path), loop).result(FIND_SECONDS)

    async def _reply(self, session: McpServerSession, message: Request) -> None:
        line = _MessageLine()
        session.handle(message, line.send, line.end)
        async for sent in line.messages():
            if sent is not None:
                self.send(sent)

    async def _stream(self, session: McpServerSession, message: Request) -> None:
        line = _MessageLine()
        self.set_header("Content-Type", EVENT_STREAM)
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Accel-Buffering", "no")
        self.set_header("X-Content-Type-Options", "nosniff")
        session.handle(message, line.send, line.end)
        async for sent in line.messages():
            data = "" if sent is None else f"event: message\ndata: {json.dumps(sent)}\n\n"
            self.write(data or ": nothing yet\n\n")
            try:
                await self.flush()
            except StreamClosedError:
                # The call goes on and is in the record; its client ends it with a message.
                return
        self.finish(set_content_type=EVENT_STREAM)

    def _fail(self, status: int, failure: RpcError, number: RequestId | None = None) -> None:
        # In the protocol's words, and in those of all our routes.
        told = {**json_rpc.error(failure, number), "message": failure.message, "hint": ""}
        self.send(told, status)


class _MessageLine:
    """What belongs to one request, from the threads of a session to the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()

    def send(self, message: Mapping[str, Any]) -> None:
        self._put(message)

    def end(self) -> None:
        """Nothing more comes."""
        self._put(None)

    async def messages(self) -> Any:
        """What is sent, as it comes; None: nothing for a while."""
        while True:
            try:
                message = await asyncio.wait_for(self._waiting.get(), KEEP_ALIVE_SECONDS)
            except TimeoutError:
                yield None
                continue
            if message is None:
                return
            yield message

    def _put(self, message: Mapping[str, Any] | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._waiting.put_nowait, message)
        except RuntimeError:
            return  # the server has ended, and its loop with it


def _nowhere(message: Mapping[str, Any]) -> None:
    """Nothing is sent for what is not a request."""


ROUTES: RouteTable = (("/v2/mcp", McpRoute),)
