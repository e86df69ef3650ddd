"""What the routes of the memory take and answer."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.knowledge.memory import Action, Scope


@dataclass(frozen=True)
class KeptMemory:
    """One fact or wish that is kept."""

    id: str
    text: str
    scope: Scope
    folder: str
    """Name of the folder it is kept for; empty: it counts everywhere."""
    created_at: float
    updated_at: float
    source_run: str


@dataclass(frozen=True)
class Proposed:
    """A change that waits for the person's word."""

    id: str
    action: Action
    text: str
    scope: Scope
    memory_id: str
    reason: str
    source_run: str
    created_at: float


@dataclass(frozen=True)
class MemoryList:
    """What is kept, and what is proposed."""

    memories: tuple[KeptMemory, ...]
    proposals: tuple[Proposed, ...]
    is_on: bool


@dataclass(frozen=True)
class MemorySetting:
    """Whether the person wants a memory; what is kept stays."""

    is_on: bool = False


@dataclass(frozen=True)
class NewMemory:
    """A text to keep."""

    text: str = ""
    scope: Scope = "user"
    notebook: str = ""
    """Whose folder it is for; empty: the folder that the server starts from."""


@dataclass(frozen=True)
class MemoryChange:
    """Another text."""

    text: str = ""


@dataclass(frozen=True)
class Decision:
    """What the person says of a proposal."""

    accept: bool = False


@dataclass(frozen=True)
class Decided:
    """What is kept because of it; null: nothing."""

    memory: KeptMemory | None
