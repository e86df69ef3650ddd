"""What recorded runs and samples are turned into: one sibling file a format.

Exports hold what is in the record, run once more through the redactor they are given.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

FORMATS = ("ipynb", "html", "agentbench", "inspect", "openai", "otel", "csv", "parquet")
"""Names of all formats, for who only asks for them; ``exports.formats`` writes them."""
RECORD = "record"
"""A run as a record of its own, event by event; the store writes it, and ``doctor --repair`` reads
it back."""

T = TypeVar("T")


class SecretsFilter(Protocol):
    """Takes secrets out of a value; ``redaction.Redactor`` is one."""

    def event(self, event: T) -> T:
        """The same value without its secrets."""
        ...
