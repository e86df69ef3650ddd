"""Tools that live in the kernel, called through it: the same in the magic and in the panel.

A call is a cell: the person sees what was called, its outputs are drawn and recorded like any
other, and the notebook can be run again without the agent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from cellwright.errors import ActionRefusedError, KernelError, ToolError
from cellwright.kernels import Kernel
from cellwright.record.content import OUTPUT_MIME, ComponentOutput, Content, Scope
from cellwright.record.events import CellAdded
from cellwright.record.messages import ImagePart, Manifest, Part, TextPart, sum_by_model
from cellwright.record.outputs import DisplayData, ExecuteResult
from cellwright.record.values import from_dict
from cellwright.tools import Component, Risk, ToolContext, ToolYield, facts_of
from cellwright.tools.cell_running import CellCall, SeenCells, run_cell
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.registry import ToolSource

SOURCE = "kernel"
TELLING = ("output", "made")
"""Forms of calls in which a tool can take what the run hands over."""
CONVERTED = "from cellwright.tools.functions import converted as _converted\n"
MADE = "from cellwright.tools.functions import tool as _tool\n"


class KernelTool(Component):
    """A function of the live kernel.

    ``kernel_tool`` makes one.
    """

    live: ClassVar[LiveRow]
    risk: ClassVar[Risk] = "execute"

    def __init__(self) -> None:
        self._seen = SeenCells()

    def tool_manifests(self) -> tuple[Manifest, ...]:
        """As the kernel told it."""
        live = self.live
        return (Manifest(live.name, live.description, live.parameters or {"type": "object"}),)

    def label(self, **arguments: object) -> str:
        """The call as it is written."""
        return self.code_for(**arguments).splitlines()[-1]

    def code_for(self, **arguments: object) -> str:
        """The cell that the call is."""
        return call_code(self.live, arguments)

    def begin(self, context: ToolContext | None, /, **arguments: Any) -> Any:
        """Run the call's cell."""
        if context is None:
            raise ToolError(f"{self.name!r} runs in a kernel.", hint="Let the agent call it.")
        return self._called(context, call_code(self.live, arguments))

    def _called(self, context: ToolContext, code: str) -> Iterator[ToolYield]:
        if self.live.form in TELLING:
            context.kernel.wait_until_free(context.stop)
            with contextlib.suppress(KernelError, ToolError):
                # A kernel that cannot be told runs the call all the same.
                context.kernel.probe("hand_over", {"facts": facts_of(context)})
        yield from run_call(context, self._seen, code)


def run_call(context: ToolContext, seen: SeenCells, code: str) -> Iterator[ToolYield]:
    """Run the cell that a call is, and read what tools in it said of themselves."""
    cell_id = context.new_cell_id()
    yield CellAdded(cell_id, code, call_id=context.call_id)
    seen.note(cell_id, code)
    ran = yield from run_cell(context, seen, cell_id, code)
    yield _read(ran, context)


def kernel_tool(live: LiveRow) -> KernelTool:
    """The tool that a row of the kernel's registry describes."""
    body = {"name": live.name, "risk": live.risk, "version": live.version, "live": live}
    made: KernelTool = type(live.name, (KernelTool,), body)()
    return made


def call_code(live: LiveRow, arguments: Mapping[str, Any]) -> str:
    """The call as Python, with the arguments as literals: none of them can become code."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    if live.converts:
        given = f"**_converted({live.expression}, {dict(arguments)!r})"
    call = f"{live.expression}({given})"
    written = {
        "call": call,
        "await": f"await {call}",
        "each": f"for _part in {call}:\n    display(_part)",
        "async each": f"async for _part in {call}:\n    display(_part)",
        "output": f"{live.expression}.evaluate_merged({given})",
        "made": f"{MADE}_tool({live.expression}).evaluate_merged({given})",
    }[live.form]
    return f"{CONVERTED}{written}" if live.converts else written


@dataclass(frozen=True)
class Discovery:
    """The tools that a kernel has now."""

    source: ToolSource
    problems: tuple[str, ...] = ()
    """Why others cannot be offered, one sentence each."""
    rows: tuple[LiveRow, ...] = ()
    """What the kernel said of those that can."""


def discovered(kernel: Kernel) -> Discovery:
    """The tools of a live kernel; none where it cannot tell."""
    rows: list[Any] = []
    with contextlib.suppress(KernelError, ToolError):
        rows = kernel.probe("live_tools", {}) or []
    found = [from_dict(LiveRow, row) for row in rows]
    usable = tuple(row for row in found if not row.problem)
    tools = tuple(kernel_tool(row) for row in usable)
    problems = tuple(f"{row.name!r} is not offered: {row.problem}" for row in found if row.problem)
    return Discovery(ToolSource(SOURCE, tools), problems, usable)


def _read(ran: CellCall, context: ToolContext) -> ComponentOutput:
    """What the model reads of the cell, and what tools in it said of themselves."""
    said = [whole for output in ran.outputs if (whole := _whole(output)) is not None]
    contents = [item for whole in said for item in whole.content]
    failed = any(item.is_error for item in contents)
    result = ran.result
    if failed:
        marked = tuple(replace(item, is_error=True) for item in result.content)
        result = replace(result, content=marked)
    pictures = [item for item in contents if _is_picture_to_read(item, context)]
    usage = [*(u for whole in said for u in whole.usage), *(u for c in contents for u in c.usage)]
    return replace(result, content=(*result.content, *pictures), usage=sum_by_model(usage))


def _whole(output: object) -> ComponentOutput | None:
    """The output that a tool in the kernel made, where it is one."""
    if not isinstance(output, (DisplayData, ExecuteResult)) or OUTPUT_MIME not in output.data:
        return None
    try:
        whole: ComponentOutput = from_dict(ComponentOutput, output.data[OUTPUT_MIME])
    except (ValueError, ToolError):
        return None  # of a newer version: its text is there all the same
    return whole


def _is_picture_to_read(item: Content, context: ToolContext) -> bool:
    is_picture = item.type == "image" and bool(item.text.get("base64"))
    return is_picture and context.sees_images and item.visible_scope != "user"


# Tools of a recorded run that are not here now, or must not be called again, for its replay.
#
# A call that was a cell runs that cell once more, so that what it shows can be compared; any other
# is answered with the result that was recorded: a replay calls no service.


@dataclass(frozen=True)
class PastCall:
    """What is known of one call."""

    source: str = ""
    """The cell that it was; empty: it was none."""
    parts: tuple[Part, ...] = ()
    """What the model was told and shown."""
    is_error: bool = False
    was_refused: bool = False
    was_last: bool = False
    """It ended the run."""
    contents: tuple[Content, ...] = ()
    """What the person was shown, where the text does not say it all."""

    @property
    def output(self) -> ComponentOutput:
        """The same as was recorded."""
        told = tuple(map(self._content, self.parts))
        drawn = tuple(replace(content, visible_scope="user") for content in self.contents)
        return ComponentOutput((*told, *drawn), final=self.was_last)

    def _content(self, part: Part) -> Content:
        if isinstance(part, ImagePart):
            fields = {"mime_type": part.mime, "base64": part.data, "filename": part.caption}
            return Content("image", fields, visible_scope="llm")
        scope: Scope = "llm" if self.contents else "all"
        return Content("text", {"info": part.text}, visible_scope=scope, is_error=self.is_error)


class RecordedTool(Component):
    """A tool as a record knows it: its manifest and what its calls came to.

    ``recorded_tool`` makes one.
    """

    manifest: ClassVar[Manifest]
    calls: ClassVar[Mapping[str, PastCall]]
    risk: ClassVar[Risk] = "execute"

    @property
    def has_cells(self) -> bool:
        """Whether its calls can be run again."""
        return all(call.source for call in self.calls.values())

    def tool_manifests(self) -> tuple[Manifest, ...]:
        """As the recorded run's model was told."""
        return (self.manifest,)

    def begin(self, context: ToolContext | None, /, **arguments: Any) -> Any:
        """Do what the call of this id did."""
        call = self.calls.get(context.call_id) if context is not None else None
        if context is None or call is None:
            raise ToolError(f"The record holds no such call of {self.name!r}.")
        if call.source:
            return run_call(context, SeenCells(), call.source)
        if call.was_refused:
            words = [part.text for part in call.parts if isinstance(part, TextPart)]
            raise ActionRefusedError("\n".join(words))
        return call.output


def recorded_tool(manifest: Manifest, calls: Mapping[str, PastCall]) -> RecordedTool:
    """The tool that a record describes.

    Args:
        manifest: What the model was told of it.
        calls: Its calls by id.
    """
    past = dict(calls)
    risk: Risk = "execute" if any(call.source for call in past.values()) else "read"
    body = {"name": manifest.name, "manifest": manifest, "calls": past, "risk": risk}
    made: RecordedTool = type(manifest.name, (RecordedTool,), body)()
    return made
