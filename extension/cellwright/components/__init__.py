"""Tools the model may call: a name, a risk, a generated manifest and ``tool_eval``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from cellwright.content import ComponentOutput
from cellwright.events import CellEvent
from cellwright.kernels import Kernel, OutputSink
from cellwright.notebooks import Notebook
from cellwright.stopping import Stop

__all__ = ["Component", "OutputShelf", "Risk", "ToolContext", "ToolLimits", "ToolYield"]

Risk = Literal["read", "edit", "execute", "install", "destroy"]
"""``read`` never asks; ``edit`` changes cells; ``execute`` runs code; the others always ask."""

ToolYield = ComponentOutput | CellEvent


@dataclass(frozen=True)
class ToolLimits:
    """How much one call may take."""

    cell_timeout_seconds: float = 120.0
    output_tokens: int = 2_000
    """What the model is given of one output at most."""
    step_tokens: int = 6_000
    """What the model is given of one call at most."""
    images: int = 2
    """Pictures sent of one call at most."""


class OutputShelf(Protocol):
    """The full texts that were cut for the model, kept for ``read_output``."""

    def keep(self, name: str, text: str) -> None:
        """Keep a text under a name the model can ask for."""
        ...

    def get(self, name: str) -> str | None:
        """The text, or None."""
        ...

    def names(self) -> tuple[str, ...]:
        """All names, oldest first."""
        ...


@dataclass(frozen=True)
class ToolContext:
    """What a tool may use; never a key, never the model."""

    kernel: Kernel
    notebook: Notebook | None
    shelf: OutputShelf
    stop: Stop
    on_output: OutputSink
    """Handed to ``kernel.execute``: redacts and records each output at capture."""
    new_cell_id: Callable[[], str]
    call_id: str = ""
    limits: ToolLimits = field(default_factory=ToolLimits)
    sees_images: bool = False
    prompt: str = ""
    """What the person asked for."""
    kernel_session: str = ""
    """The kernel's ``session`` when the run began; empty: it is not looked at."""


class Component:
    """Base of all tools.

    A subclass sets ``name``, ``risk`` and ``version`` and writes ``tool_eval(self, context,
    **arguments)`` as a generator; its signature and Google docstring become the manifest.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = "v1"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """What a call with these arguments does, in words for people."""
        return self.name.replace("_", " ")

    def risk_for(self, **arguments: object) -> Risk:
        """The risk of a call with these arguments, before its code is looked at."""
        return self.risk

    def code_for(self, **arguments: object) -> str:
        """Code that a call with these arguments runs or writes; the policy reads it."""
        return ""

    tool_eval: Callable[..., Iterator[ToolYield]]
