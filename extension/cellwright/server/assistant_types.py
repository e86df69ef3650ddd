"""What the routes of assistants take and answer, for the OpenAPI description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cellwright.assistants.places import PlaceName


@dataclass(frozen=True)
class AssistantSummary:
    """An assistant that can be chosen."""

    name: str
    description: str
    model: str
    scenes: tuple[str, ...]
    is_public: bool
    is_default: bool
    """It answers here where no other is chosen."""
    place: PlaceName


@dataclass(frozen=True)
class UnusableAssistant:
    """An assistant that does not answer, because its file cannot be read."""

    name: str
    problem: str
    """What asking it is answered with."""
    file: str
    """As it is shown; empty for guests."""


@dataclass(frozen=True)
class WritablePlace:
    """A place where an assistant's file can be made."""

    place: PlaceName
    folder: str
    """As it is shown."""


@dataclass(frozen=True)
class AssistantSummaries:
    """The assistants of a notebook, and what is wrong with the files of others."""

    assistants: tuple[AssistantSummary, ...]
    problems: tuple[str, ...]
    places: tuple[WritablePlace, ...]
    """The nearest first; none for guests."""
    unusable: tuple[UnusableAssistant, ...] = ()


@dataclass(frozen=True)
class SceneDetails:
    """A scene of an assistant."""

    label: str
    prompt: str
    when: dict[str, Any] | None
    """When it is chosen; null: its label says it."""


@dataclass(frozen=True)
class AssistantDetails:
    """All that an assistant's file says."""

    name: str
    description: str
    instructions: str
    model: str
    temperature: float | None
    tools: tuple[str, ...] | None
    """Null: all."""
    adapter: str
    library: tuple[str, ...] | None
    """Null: all."""
    is_public: bool
    is_default: bool
    """The file says that it answers where no other is chosen."""
    disable_memory: bool
    memory_for_guests: bool
    disable_default_prompt: bool
    disable_web_browsing: bool
    scenes: tuple[SceneDetails, ...]
    place: PlaceName
    file: str
    """As it is shown."""
    version: str
    """Changes whenever the file does."""


@dataclass(frozen=True)
class AssistantFields:
    """Fields of an assistant; one with its default is taken out of the file."""

    name: str = ""
    description: str = ""
    instructions: str = ""
    model: str = ""
    temperature: float | None = None
    tools: tuple[str, ...] | None = None
    adapter: str = ""
    library: tuple[str, ...] | None = None
    is_public: bool = False
    is_default: bool = False
    disable_memory: bool = False
    memory_for_guests: bool = False
    disable_default_prompt: bool = False
    disable_web_browsing: bool = False
    scenes: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class NewAssistant(AssistantFields):
    """An assistant to be made."""

    place: str = ""
    """One of those that ``GET assistants`` names."""


@dataclass(frozen=True)
class AssistantChange(AssistantFields):
    """What is to be otherwise; what is missing stays. Another name renames it."""

    version: str = ""
    """Of the file that was seen."""
