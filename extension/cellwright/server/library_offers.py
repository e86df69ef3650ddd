"""Which library an uploaded file is offered to, and where in the projects that library is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cellwright.assistants import NO_ASSISTANT, Assistant, AssistantList
from cellwright.errors import SetupError
from cellwright.knowledge.library import Library
from cellwright.knowledge.library.reading import kind_of

OFFERED_KINDS = frozenset({"text", "notebook", "html", "pdf"})
"""What people read; tables and code are mostly there to be worked with."""


def is_offered(name: str) -> bool:
    """Whether a file of that name is what people put into libraries."""
    return kind_of(name) in OFFERED_KINDS


def library_for(assistant: Assistant, above: Iterable[Library]) -> str:
    """Name of the library that a document could go into; empty: there is none.

    Args:
        assistant: Who answers.
        above: The libraries of the projects that the notebook lies in, the nearest first.
    """
    for library in above:
        names_some = assistant.library is not None
        if assistant.may_read(library.name) if names_some else library.is_default:
            return library.name
    return ""


def chosen_assistant(name: str, listed: AssistantList) -> Assistant:
    """The assistant of that name, without one the default; nobody where it is gone."""
    return (listed.find(name) or NO_ASSISTANT) if name else listed.default


def library_named(name: str, above: Iterable[Library]) -> Library:
    """The nearest library of that name.

    Raises:
        SetupError: There is none.
    """
    for library in above:
        if library.name == name:
            return library
    raise SetupError(f"There is no library {name!r} here.", hint="Reload the page.")


def checked_kind(name: str) -> None:
    """Refuse an uploaded file that no library can read.

    Raises:
        SetupError: It is one.
    """
    if not kind_of(name):
        raise SetupError(
            f"{Path(name).name!r} is of a kind that the library cannot read.",
            hint="Use text, Markdown, notebooks, PDF, web pages, tables or code.",
        )
