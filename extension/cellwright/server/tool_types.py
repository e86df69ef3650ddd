"""What the route of tools answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ListedTool:
    """A tool beside the standard ones."""

    name: str
    kind: Literal["python", "mcp", "http", "openapi"]
    source: str
    description: str
    enabled: bool
    problem: str
    """Why it cannot be called; empty: it can."""


@dataclass(frozen=True)
class ToolList:
    """All of them."""

    tools: tuple[ListedTool, ...]
