"""One client: what it asks is answered, what it calls is done, what it is asked comes back."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from cellwright._version import __version__
from cellwright.errors import CellwrightError
from cellwright.mcp_server import INSTRUCTIONS, ClientFacts, Send, Workroom, json_rpc
from cellwright.mcp_server.approving import ElicitingApprover
from cellwright.mcp_server.json_rpc import Notification, Request, RequestId, Response, RpcError
from cellwright.mcp_server.outline import outline
from cellwright.mcp_server.outside_agent import OutsideCall
from cellwright.mcp_server.results import call_result
from cellwright.mcp_server.runs import SessionRuns
from cellwright.mcp_server.tool_list import tool_list, tools_of

log = logging.getLogger(__name__)
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Of the protocol, the newest last. Clients of 2026-07-28 fall back to one of them."""
NOTEBOOK_URI = "cellwright://notebook"
HEARTBEAT_SECONDS = 5.0
"""A client that hears nothing of a long cell may give it up."""
PROGRESS_SECONDS = 0.5
PROGRESS_CHARACTERS = 200
LOOK_SECONDS = 0.1
NAME_CHARACTERS = 60
Answer = Mapping[str, Any]
Handler = Callable[["Session", Mapping[str, Any]], Answer]


class CallLine:
    """``mcp_server.Line`` of one request.

    Args:
        send: Sends what belongs to the request.
        token: What the client knows its progress by; None: it does not want to know.
    """

    def __init__(self, send: Send, token: Any) -> None:
        self.send, self._token = send, token
        self._count, self._told_at = 0, 0.0

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Tell how far it is; the last line of a text, twice a second at most."""
        now = time.monotonic()
        if self._token is None or now - self._told_at < PROGRESS_SECONDS:
            return
        self._told_at, self._count = now, self._count + 1
        lines = [line for line in text.splitlines() if line.strip()]
        told: dict[str, Any] = {"progressToken": self._token, "progress": self._count}
        share = "" if fraction is None else f" {fraction:.0%}"
        told["message"] = (lines or [""])[-1][:PROGRESS_CHARACTERS] + share
        self.send(json_rpc.notification("notifications/progress", told))


class Session:
    """Takes messages from any thread; answers come from threads of their own.

    Args:
        room: Where its calls work.
        heartbeat_seconds: So often a call that goes on gives a sign of life.
    """

    def __init__(self, room: Workroom, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._heartbeat_seconds = heartbeat_seconds
        self.runs = SessionRuns(room)
        self._room = room
        self._lock = threading.Lock()
        self._calls: dict[RequestId, OutsideCall] = {}
        self._numbers = itertools.count(1)
        self._asked: dict[RequestId, Response | None] = {}
        self._answered = threading.Condition(self._lock)

    @property
    def is_busy(self) -> bool:
        """Whether any call goes on."""
        return bool(self._calls)

    def receive(self, text: str | bytes, send: Send) -> None:
        """Take a message as it comes over the line; returns at once."""
        try:
            message = json_rpc.read(text)
        except RpcError as failure:
            send(json_rpc.error(failure))
            return
        self.handle(message, send)

    def handle(
        self, message: json_rpc.Incoming, send: Send, ended: Callable[[], None] = lambda: None
    ) -> None:
        """Take a message; what comes of it is sent, from a thread of its own where it takes long.

        Args:
            message: From the client.
            send: Sends what belongs to it.
            ended: Told when nothing more is sent for a request.
        """
        match message:
            case Response():
                self._take(message)
            case Notification():
                self._heed(message)
            case Request(method=method) if method in SLOW:
                arguments = (message, send, ended)
                threading.Thread(target=self._answer, args=arguments, daemon=True).start()
            case Request():
                self._answer(message, send, ended)

    def close(self) -> None:
        """End the run in order."""
        self.runs.close()
        self._room.close()

    def _answer(self, message: Request, send: Send, ended: Callable[[], None]) -> None:
        number = message.id
        try:
            if message.method == "tools/call":
                self._call(message, send)
                return
            handler = HANDLERS.get(message.method)
            if handler is None:
                text = f"There is no method {message.method!r}."
                raise RpcError(json_rpc.METHOD_NOT_FOUND, text)
            send(json_rpc.result(number, handler(self, message.params)))
        except RpcError as failure:
            send(json_rpc.error(failure, number))
        except CellwrightError as failure:
            send(json_rpc.error(RpcError(json_rpc.INTERNAL_ERROR, str(failure)), number))
        except Exception as failure:  # the session goes on; the log has the traceback
            log.exception("cellwright: an MCP request was not answered")
            words = f"cellwright failed: {failure!r}"
            send(json_rpc.error(RpcError(json_rpc.INTERNAL_ERROR, words), number))
        finally:
            ended()

    def _heed(self, message: Notification) -> None:
        if message.method != "notifications/cancelled":
            return
        call = self._calls.get(cast("RequestId", message.params.get("requestId")))
        if call is not None:
            self.runs.cancel(call)

    # What a client asks.

    def _initialize(self, params: Mapping[str, Any]) -> Answer:
        self._know(params)
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
            "capabilities": {"tools": {"listChanged": False}, "resources": {}},
            "serverInfo": {"name": "cellwright", "title": "cellwright", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def _know(self, params: Mapping[str, Any]) -> None:
        info, can = params.get("clientInfo"), params.get("capabilities")
        known = info if isinstance(info, dict) else {}
        asking = can.get("elicitation") if isinstance(can, dict) else None
        # An older client says {} for what a newer one calls {"form": {}}.
        asks = isinstance(asking, dict) and (not asking or "form" in asking)
        name = str(known.get("name") or ClientFacts.name)[:NAME_CHARACTERS]
        version = str(known.get("version") or "")[:NAME_CHARACTERS]
        self.runs.facts = ClientFacts(name, version, asks)
        self.runs.approver = ElicitingApprover(self._ask) if asks else None

    def _ping(self, params: Mapping[str, Any]) -> Answer:
        return {}

    def _list_tools(self, params: Mapping[str, Any]) -> Answer:
        return {"tools": tool_list(tools_of(self._room))}

    def _list_resources(self, params: Mapping[str, Any]) -> Answer:
        if self._room.notebook is None:
            return {"resources": []}
        found = {
            "uri": NOTEBOOK_URI,
            "name": "notebook",
            "title": "The notebook in outline",
            "description": "Every cell in a line: its id, its kind, what it is about.",
            "mimeType": "text/markdown",
        }
        return {"resources": [found]}

    def _list_templates(self, params: Mapping[str, Any]) -> Answer:
        return {"resourceTemplates": []}

    def _read_resource(self, params: Mapping[str, Any]) -> Answer:
        uri, notebook = params.get("uri"), self._room.notebook
        if uri != NOTEBOOK_URI or notebook is None:
            raise RpcError(json_rpc.RESOURCE_NOT_FOUND, f"There is no resource {uri!r}.")
        text = self._room.redactor.text(outline(notebook.cells(), notebook.path))
        return {"contents": [{"uri": NOTEBOOK_URI, "mimeType": "text/markdown", "text": text}]}

    # What a client calls.

    def _call(self, message: Request, send: Send) -> None:
        params = message.params
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            text = "tools/call takes a name and an object of arguments."
            raise RpcError(json_rpc.INVALID_PARAMS, text)
        meta = params.get("_meta")
        line = CallLine(send, meta.get("progressToken") if isinstance(meta, dict) else None)
        call = self.runs.call(name, arguments, line)
        self._calls[message.id] = call
        try:
            answer = self._outcome(call, line)
        finally:
            self._calls.pop(message.id, None)
        if not call.is_cancelled:
            send(json_rpc.result(message.id, answer))

    def _outcome(self, call: OutsideCall, line: CallLine) -> Answer:
        started = time.monotonic()
        while (message := call.wait(self._heartbeat_seconds)) is None:
            line.progress(f"{call.call.name} goes on, {time.monotonic() - started:.0f} s")
        notices = self._room.take_problems()
        if call.was_not_asked:
            notices = (*notices, self._room.how_to_allow())
        return call_result(message, notices)

    # What a client is asked.

    def _ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What the client answers; None: it failed, or cannot be asked now.

        Raises:
            RunCancelled: The call was cancelled meanwhile.
        """
        current, stop = self.runs.current, self.runs.stop
        if current is None:
            return None
        number = f"cellwright-{next(self._numbers)}"
        self._asked[number] = None
        try:
            current.line.send(json_rpc.request(number, method, params))
            with self._answered:
                while (answer := self._asked[number]) is None:
                    stop.check()
                    if current.is_decided:
                        return None
                    self._answered.wait(LOOK_SECONDS)
                return answer.result
        finally:
            if self._asked.pop(number) is None:
                told = {"requestId": number}
                current.line.send(json_rpc.notification("notifications/cancelled", told))

    def _take(self, message: Response) -> None:
        with self._answered:
            if message.id in self._asked:
                self._asked[message.id] = message
                self._answered.notify_all()


HANDLERS: Mapping[str, Handler] = {
    "initialize": Session._initialize,
    "ping": Session._ping,
    "tools/list": Session._list_tools,
    "resources/list": Session._list_resources,
    "resources/templates/list": Session._list_templates,
    "resources/read": Session._read_resource,
}
SLOW = ("tools/call", "tools/list", "resources/list", "resources/read")
"""What may wait for a kernel, a tab or a file."""
