"""Where tools come from, and how many of each are offered (requirements 002-70, X-13)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cellwright.components import Component

__all__ = ["ASSISTANT_LIMIT", "REQUEST_LIMIT", "SOURCE_LIMIT", "Offer", "ToolSource", "within_caps"]

SOURCE_LIMIT = 64
ASSISTANT_LIMIT = 100
"""Of all sources that a person or an assistant added."""
REQUEST_LIMIT = 128
"""What providers take in one request."""


@dataclass(frozen=True)
class ToolSource:
    """Tools that come together: the standard ones, those of the live kernel, a server's."""

    name: str
    components: tuple[Component, ...]
    is_standard: bool = False
    """The agent cannot do without: these are never dropped for others."""


@dataclass(frozen=True)
class Offer:
    """What the model is offered, and what was left out."""

    components: tuple[Component, ...]
    reports: tuple[str, ...] = ()
    """One sentence for each cap that left something out."""


def within_caps(sources: Iterable[ToolSource]) -> Offer:
    """The tools of all sources within the caps, standard ones first; nothing goes in silence."""
    ordered = sorted(sources, key=lambda source: not source.is_standard)
    chosen: list[Component] = []
    added = 0
    reports: list[str] = []
    for source in ordered:
        room = {
            f"a source may have {SOURCE_LIMIT}": SOURCE_LIMIT,
            f"an assistant may have {ASSISTANT_LIMIT}": ASSISTANT_LIMIT - added,
            f"a request may have {REQUEST_LIMIT}": REQUEST_LIMIT - len(chosen),
        }
        if source.is_standard:
            room = {}
        reason, limit = min(room.items(), key=lambda item: item[1], default=("", REQUEST_LIMIT))
        kept, dropped = source.components[: max(0, limit)], source.components[max(0, limit) :]
        chosen += kept
        added += 0 if source.is_standard else len(kept)
        if dropped:
            reports.append(_report(source.name, dropped, reason))
    return Offer(tuple(chosen), tuple(reports))


def _report(source: str, dropped: tuple[Component, ...], reason: str) -> str:
    names = ", ".join(repr(component.name) for component in dropped[:5])
    more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
    what = "tool" if len(dropped) == 1 else "tools"
    return f"{len(dropped)} {what} of {source!r} not offered, {reason}: {names}{more}."
