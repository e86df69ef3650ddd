"""Cells and what came of running one, as values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.record.outputs import ErrorOutput, Output

CellType = Literal["code", "markdown", "raw"]
ExecutionStatus = Literal["ok", "error", "interrupted", "timeout", "died", "aborted"]


@dataclass(frozen=True)
class Cell:
    """One notebook cell, addressed by its nbformat id."""

    id: str
    cell_type: CellType
    source: str
    outputs: tuple[Output, ...] = ()
    execution_count: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VariableSummary:
    """A variable of the kernel in one line."""

    name: str
    type: str
    """The type's name, such as ``DataFrame``."""
    text: str
    """Shape, length or a short value, such as ``320 rows x 6 columns``."""


@dataclass(frozen=True)
class FileChange:
    """A file in the kernel's folder that a cell made, changed or removed."""

    path: str
    """Relative to the kernel's folder."""
    change: Literal["created", "modified", "deleted"]
    size_bytes: int = 0


@dataclass(frozen=True)
class Execution:
    """How running one cell ended."""

    status: ExecutionStatus
    duration_seconds: float
    error: ErrorOutput | None = None
    """Set when status is ``error``; taken from what the kernel showed, not from its reply."""
    execution_count: int | None = None
    result_summary: str = ""
    """A compact text for the live object of the last expression, when there is a better one
    than its ``text/plain`` (a DataFrame, an array, a model)."""
    changed: tuple[VariableSummary, ...] = ()
    """Variables that are new or point to another object than before."""
    removed: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()
    cwd: str = ""
    note: str = ""
    """What else the model and the person should know, such as ``stopped after 120 s``."""
    figures: tuple[str, ...] = ()
    """What each matplotlib figure it showed says, in words: title, axis labels, series."""
    cpu_seconds: float | None = None
    """What the kernel's processors worked meanwhile; None: it was not measured."""
    rss_bytes: int | None = None
    """Memory of the kernel after it; None: it was not measured."""
    waited_seconds: float = 0.0
    """How long it waited for the user to type; no part of ``duration_seconds``."""


PROVENANCE = "cellwright"
"""Key of a cell's metadata under which a notebook keeps who wrote it, with a hash of the source."""


def source_hash(source: str) -> str:
    """Sixteen hex digits that name a cell's source; an edit carries the one it expects."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]
