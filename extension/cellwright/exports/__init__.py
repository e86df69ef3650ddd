"""What a recorded run is turned into: one sibling file a format, each with an ``export``.

Exports hold what is in the record, run once more through the redactor they are given.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

__all__ = ["Export", "SecretsFilter"]

T = TypeVar("T")
Record_contra = TypeVar("Record_contra", contravariant=True)


class SecretsFilter(Protocol):
    """Takes secrets out of a value; ``redaction.Redactor`` is one."""

    def event(self, event: T) -> T:
        """The same value without its secrets."""
        ...


class Export(Protocol[Record_contra]):
    """A format: a run's record as the text of a file."""

    def __call__(self, record: Record_contra, redactor: SecretsFilter | None = None) -> str:
        """The file's text; ``redactor`` takes out what is known as secret by now."""
        ...
