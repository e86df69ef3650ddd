"""What recorded runs and samples are turned into: one sibling file a format.

Exports hold what is in the record, run once more through the redactor they are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from cellwright.installation import EXPORTS, list_entry_points

FORMATS = ("ipynb", "html", "agentbench", "inspect", "atif", "openai", "otel", "csv", "parquet")
"""Names of all formats, for who only asks for them; ``exports.formats`` writes them."""
RECORD = "record"
"""A run as a record of its own, event by event; the store writes it, and ``doctor --repair`` reads
it back."""

T = TypeVar("T")


class FormatNames:
    """The names that ``--to`` takes: ours, then those of plug-ins, looked up only where needed.

    Args:
        own: Ours, as the command calls them.
    """

    def __init__(self, *own: str) -> None:
        self._own = own

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._of_plugins()

    def __iter__(self) -> Iterator[str]:
        return iter((*self._own, *self._of_plugins()))

    def _of_plugins(self) -> list[str]:
        return [point.name for point in list_entry_points(EXPORTS)]


class SecretsFilter(Protocol):
    """Takes secrets out of a value; ``redaction.Redactor`` is one."""

    def event(self, event: T) -> T:
        """The same value without its secrets."""
        ...
