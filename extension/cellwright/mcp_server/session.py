"""One client: what it asks is answered, what it calls is done, what it is asked comes back."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cellwright.agent.policy import RISKS, ApprovalAnswer
from cellwright.mcp_server import ClientFacts, Workroom
from cellwright.mcp_server.outside_agent import (
    IDLE_SECONDS,
    CallQuestion,
    OutsideCall,
    SessionRuns,
)
from cellwright.record.asked_calls import ASKED_ALONE, code_of, words_of
from cellwright.record.events import ToolStarted
from cellwright.record.messages import ImagePart, Manifest, Part, ToolMessage
from cellwright.record.outputs import Cell, ErrorOutput
from cellwright.tools import Component, Risk
from cellwright.tools.registry import Registry, ToolSource, within_caps
from cellwright.tools.standard import ToolOffer, standard_tools

# The person in front of the client is asked whether a call may run.


SHOWN_CHARACTERS = 4_000
YES, ALL, NO = "yes", "all like this", "no"
ALL_MEANS = "'all like this' does not ask about this tool again in this session."
REASON = {"type": "string", "title": "Why not", "description": "For the agent."}


class ElicitingApprover:
    """``policy.Approver`` over a client that can ask.

    Args:
        ask: Puts a question to the client and waits for its answer; None: there was none.
    """

    def __init__(self, ask: Callable[[CallQuestion], Mapping[str, Any] | None]) -> None:
        self._ask = ask

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """What the person says.

        Raises:
            RunCancelled: The call was cancelled meanwhile.
        """
        said = self._ask(CallQuestion(_shown(call, reason), _schema(call)))
        if said is None:
            return ApprovalAnswer(False, "batch", "The client could not ask.")
        content = said.get("content")
        fields = content if isinstance(content, dict) else {}
        answer = fields.get("answer") if said.get("action") == "accept" else NO
        if answer in (YES, ALL):
            return ApprovalAnswer(True, for_session=answer == ALL)
        return ApprovalAnswer(False, reason=str(fields.get("reason") or ""))


def _schema(call: ToolStarted) -> dict[str, Any]:
    """JSON Schema of the answer's fields: for all only where that counts for more than the call."""
    answer: dict[str, Any] = {"type": "string", "title": "Run it?", "enum": [YES, NO]}
    if call.risk not in ASKED_ALONE:
        answer |= {"description": ALL_MEANS, "enum": [YES, ALL, NO]}
    properties = {"answer": answer, "reason": REASON}
    return {"type": "object", "properties": properties, "required": ["answer"]}


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


NOTEBOOK_URI = "cellwright://notebook"


class McpServerSession:
    """What one client works in: its calls, its runs and what it may look at.

    Every method may wait for a kernel, a tab or a file.

    Args:
        room: Where its calls work.
        idle_seconds: After so long without a call a run ends.
    """

    def __init__(self, room: Workroom, idle_seconds: float = IDLE_SECONDS) -> None:
        self.runs = SessionRuns(room, idle_seconds)
        self._room = room
        self._calls: set[OutsideCall] = set()
        self._asking: dict[str, OutsideCall] = {}

    @property
    def is_busy(self) -> bool:
        """Whether any call goes on."""
        return bool(self._calls)

    def begin(
        self, name: str, arguments: Mapping[str, Any], facts: ClientFacts, *, asks: bool
    ) -> OutsideCall:
        """Make a call in its turn.

        Args:
            name: The tool's.
            arguments: Its arguments.
            facts: Who calls.
            asks: Whether the client can put questions.
        """
        self.runs.facts = facts
        self.runs.approver = ElicitingApprover(self._ask) if asks else None
        call = self.runs.call(name, arguments)
        self._calls.add(call)
        return call

    def take_result(self, call: OutsideCall) -> dict[str, Any]:
        """What came of a call that was answered, as the protocol has it."""
        self._calls.discard(call)
        assert call.message is not None
        notices = self._room.take_problems()
        if call.was_not_asked:
            notices = (*notices, self._room.how_to_allow())
        return call_result(call.message, notices)

    def cancel(self, call: OutsideCall) -> None:
        """Nobody waits for a call any more."""
        self._calls.discard(call)
        self.runs.cancel(call)

    def park(self, call: OutsideCall) -> str:
        """A name by which the client comes back to a call with an answer."""
        name = secrets.token_urlsafe(24)
        self._asking[name] = call
        return name

    def resume(self, name: str) -> OutsideCall | None:
        """The call of that name, once; None: there is none."""
        return self._asking.pop(name, None)

    def list_tools(self) -> list[dict[str, Any]]:
        """The tools, as the protocol has them."""
        return tool_list(tools_of(self._room))

    def list_resources(self) -> list[dict[str, Any]]:
        """The notebook, where there is one."""
        if self._room.notebook is None:
            return []
        found = {
            "uri": NOTEBOOK_URI,
            "name": "notebook",
            "title": "The notebook in outline",
            "description": "Every cell in a line: its id, its kind, what it is about.",
            "mimeType": "text/markdown",
        }
        return [found]

    def read_resource(self, uri: str) -> str | None:
        """The notebook in outline; None: there is no such resource."""
        notebook = self._room.notebook
        if uri != NOTEBOOK_URI or notebook is None:
            return None
        return self._room.redactor.text(outline(notebook.cells(), notebook.path))

    def close(self) -> None:
        """End the run in order."""
        self.runs.close()
        self._room.close()

    def _ask(self, question: CallQuestion) -> Mapping[str, Any] | None:
        current = self.runs.current
        return None if current is None else current.ask(question, self.runs.stop)
