"""One client: what it asks is answered, what it calls is done, what it is asked comes back."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from cellwright._version import __version__
from cellwright.agent.policy import RISKS, ApprovalAnswer
from cellwright.errors import CellwrightError
from cellwright.mcp_server import INSTRUCTIONS, ClientFacts, Send, Workroom, json_rpc
from cellwright.mcp_server.json_rpc import Notification, Request, RequestId, Response, RpcError
from cellwright.mcp_server.outside_agent import OutsideCall, SessionRuns
from cellwright.record.asked_calls import code_of, words_of
from cellwright.record.events import ToolStarted
from cellwright.record.messages import ImagePart, Manifest, Part, ToolMessage
from cellwright.record.outputs import Cell, ErrorOutput
from cellwright.stopping import WorkerThread
from cellwright.tools import Component, Risk
from cellwright.tools.registry import Registry, ToolSource, within_caps
from cellwright.tools.standard import ToolOffer, standard_tools

# The person in front of the client is asked whether a call may run.


ASK_METHOD = "elicitation/create"
SHOWN_CHARACTERS = 4_000
YES, ALL, NO = "yes", "all like this", "no"
SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {
            "type": "string",
            "title": "Run it?",
            "description": "'all like this' does not ask about this tool again in this session.",
            "enum": [YES, ALL, NO],
        },
        "reason": {"type": "string", "title": "Why not", "description": "For the agent."},
    },
    "required": ["answer"],
}


class ElicitingApprover:
    """``policy.Approver`` over a client that can ask.

    Args:
        ask: Sends a request to the client and waits for its answer; None: there was none.
    """

    def __init__(self, ask: Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]) -> None:
        self._ask = ask

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """What the person says.

        Raises:
            RunCancelled: The call was cancelled meanwhile.
        """
        said = self._ask(ASK_METHOD, {"message": _shown(call, reason), "requestedSchema": SCHEMA})
        if said is None:
            return ApprovalAnswer(False, "batch", "The client could not ask.")
        content = said.get("content")
        fields = content if isinstance(content, dict) else {}
        answer = fields.get("answer") if said.get("action") == "accept" else NO
        if answer in (YES, ALL):
            return ApprovalAnswer(True, for_session=answer == ALL)
        return ApprovalAnswer(False, reason=str(fields.get("reason") or ""))


def _shown(call: ToolStarted, reason: str) -> str:
    what = code_of(call)
    if len(what) > SHOWN_CHARACTERS:
        # Nobody allows what they have not seen whole without being told so.
        left_out = len(what) - SHOWN_CHARACTERS
        what = f"{what[:SHOWN_CHARACTERS]}\n… and {left_out} more characters that are not shown"
    return f"cellwright: {words_of(call)}\n{reason}\n\n{what}".rstrip()


# The notebook as Markdown: its headings as they are, of each other cell what it is about.


LINE_CHARACTERS = 100


def outline(cells: Iterable[Cell], path: str = "") -> str:
    """One line a cell, with its id and how often it has run."""
    lines = [_line(cell) for cell in cells]
    head = f"# {path}" if path else "# Notebook"
    return "\n".join([head, "", *(lines or ["(no cells)"]), ""])


def _line(cell: Cell) -> str:
    first = next((line.strip() for line in cell.source.splitlines() if line.strip()), "(empty)")
    about = first if len(first) <= LINE_CHARACTERS else f"{first[: LINE_CHARACTERS - 1]}…"
    if cell.cell_type == "markdown" and about.startswith("#"):
        return f"\n#{about} <!-- {cell.id} -->\n"
    count = "" if cell.execution_count is None else f" [{cell.execution_count}]"
    failed = any(isinstance(output, ErrorOutput) for output in cell.outputs)
    shown = f"`{about.replace('`', chr(39))}`" if cell.cell_type == "code" else about
    return f"- {cell.id} {cell.cell_type}{count}: {shown}{' — failed' if failed else ''}"


# What came of a call, in the protocol's words.


def call_result(message: ToolMessage, notices: Iterable[str] = ()) -> dict[str, Any]:
    """The result of a call: what a model of ours would be given, pictures as pictures.

    Args:
        message: Of the call.
        notices: What else the client should know, such as a file that was not saved.
    """
    content = [_content(part) for part in message.parts]
    content += [{"type": "text", "text": notice} for notice in notices if notice]
    return {"content": content or [{"type": "text", "text": "Done."}], "isError": message.is_error}


def _content(part: Part) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"type": "image", "data": part.data, "mimeType": part.mime}
    return {"type": "text", "text": part.text}


# The tools of a notebook, as a client is told of them.


OPEN_WORLD: tuple[Risk, ...] = ("execute", "install")
"""Code may reach whatever the kernel's machine can reach."""


def tools_of(room: Workroom) -> Registry:
    """What a run that begins now would offer."""
    added = tuple(ToolSource(source.name, source.components()) for source in room.sources)
    if room.kernel is not None:
        offer = ToolOffer()
        offer.renew(room.kernel, room.notebook, added)
        return offer.registry
    standard = ToolSource("standard", standard_tools(room.notebook), is_standard=True)
    return Registry(within_caps([standard, *added]).components)


def tool_list(registry: Registry) -> list[dict[str, Any]]:
    """All tools, in the order in which they are offered."""
    found = [(manifest, registry.find(manifest.name)) for manifest in registry.manifests]
    return [_tool(manifest, component) for manifest, component in found if component is not None]


def _tool(manifest: Manifest, component: Component) -> dict[str, Any]:
    return {
        "name": manifest.name,
        "title": manifest.name.replace("_", " ").capitalize(),
        "description": manifest.description,
        "inputSchema": dict(manifest.parameters),
        "annotations": _annotations(component, manifest.parameters),
    }


def _annotations(component: Component, parameters: Mapping[str, Any]) -> dict[str, Any]:
    risk = _greatest_risk(component, parameters)
    return {
        "readOnlyHint": risk == "read",
        "destructiveHint": risk not in ("read", "edit"),
        "openWorldHint": risk in OPEN_WORLD,
    }


def _greatest_risk(component: Component, parameters: Mapping[str, Any]) -> Risk:
    """The risk with every switch on: an edit that also runs the cell runs code."""
    properties = parameters.get("properties", {})
    switches = {
        name: True for name, schema in properties.items() if schema.get("type") == "boolean"
    }
    return max((component.risk, component.risk_for(**switches)), key=RISKS.index)


log = logging.getLogger(__name__)
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Of the protocol, the newest last. Clients of 2026-07-28 fall back to one of them."""
NOTEBOOK_URI = "cellwright://notebook"
HEARTBEAT_SECONDS = 5.0
"""A client that hears nothing of a long cell may give it up."""
PROGRESS_SECONDS = 0.5
PROGRESS_CHARACTERS = 200
NAME_CHARACTERS = 60
RpcResult = Mapping[str, Any]
Handler = Callable[["McpServerSession", Mapping[str, Any]], RpcResult]


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


class McpServerSession:
    """Takes messages from any thread; answers come from threads of their own.

    Args:
        room: Where its calls work.
        heartbeat_seconds: So often a call that goes on gives a sign of life.
    """

    def __init__(self, room: Workroom, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._heartbeat_seconds = heartbeat_seconds
        self.runs = SessionRuns(room)
        self._room = room
        self._calls: dict[RequestId, OutsideCall] = {}
        self._numbers = itertools.count(1)
        self._asked: dict[RequestId, Response | None] = {}
        self._answered = threading.Condition()

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
                WorkerThread(self._answer, message, send, ended, name="mcp-request").start()
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

    def _initialize(self, params: Mapping[str, Any]) -> RpcResult:
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
        self.runs.facts = ClientFacts(name, version)
        self.runs.approver = ElicitingApprover(self._ask) if asks else None

    def _ping(self, params: Mapping[str, Any]) -> RpcResult:
        return {}

    def _list_tools(self, params: Mapping[str, Any]) -> RpcResult:
        return {"tools": tool_list(tools_of(self._room))}

    def _list_resources(self, params: Mapping[str, Any]) -> RpcResult:
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

    def _list_templates(self, params: Mapping[str, Any]) -> RpcResult:
        return {"resourceTemplates": []}

    def _read_resource(self, params: Mapping[str, Any]) -> RpcResult:
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

    def _outcome(self, call: OutsideCall, line: CallLine) -> RpcResult:
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
        current.on_decided = self._look_again
        try:
            current.line.send(json_rpc.request(number, method, params))
            with self._answered:
                while (answer := self._asked[number]) is None:
                    if current.is_decided:
                        return None
                    stop.wait_on(self._answered)
                return answer.result
        finally:
            if self._asked.pop(number) is None:
                told = {"requestId": number}
                current.line.send(json_rpc.notification("notifications/cancelled", told))

    def _look_again(self) -> None:
        with self._answered:
            self._answered.notify_all()

    def _take(self, message: Response) -> None:
        with self._answered:
            if message.id in self._asked:
                self._asked[message.id] = message
                self._answered.notify_all()


HANDLERS: Mapping[str, Handler] = {
    "initialize": McpServerSession._initialize,
    "ping": McpServerSession._ping,
    "tools/list": McpServerSession._list_tools,
    "resources/list": McpServerSession._list_resources,
    "resources/templates/list": McpServerSession._list_templates,
    "resources/read": McpServerSession._read_resource,
}
SLOW = ("tools/call", "tools/list", "resources/list", "resources/read")
"""What may wait for a kernel, a tab or a file."""
