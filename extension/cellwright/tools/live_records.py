"""Tools of a recorded run that are not here now, or must not be called again, for its replay.

A call that was a cell runs that cell once more, so that what it shows can be compared; any other
is answered with the result that was recorded: a replay calls no service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from cellwright.errors import ActionRefusedError, ToolError
from cellwright.record.content import ComponentOutput, Content, Scope
from cellwright.record.messages import ImagePart, Part, TextPart
from cellwright.record.prompts import Manifest
from cellwright.tools import Component, Risk, ToolContext
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.live_tools import run_call


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
