"""Tools of a recorded run that are not here now, for its replay.

A call that was a cell runs that cell once more, so that what it shows can be compared; any other
is answered with the result that was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cellwright.components import Component, Risk, ToolContext
from cellwright.components.cell_running import SeenCells
from cellwright.components.live_tools import run_call
from cellwright.content import ComponentOutput, Content
from cellwright.errors import ToolError
from cellwright.prompts import Manifest

__all__ = ["PastCall", "RecordedTool", "recorded_tool"]


@dataclass(frozen=True)
class PastCall:
    """What is known of one call."""

    source: str = ""
    """The cell that it was; empty: it was none."""
    text: str = ""
    """What the model was told."""
    is_error: bool = False


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
        return ComponentOutput((Content("text", {"info": call.text}, is_error=call.is_error),))


def recorded_tool(manifest: Manifest, calls: Mapping[str, PastCall]) -> RecordedTool:
    """The tool that a record describes.

    Args:
        manifest: What the model was told of it.
        calls: Its calls by id.
    """
    body = {"name": manifest.name, "manifest": manifest, "calls": dict(calls)}
    made: RecordedTool = type(manifest.name, (RecordedTool,), body)()
    return made
