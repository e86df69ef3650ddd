"""Cells that asked the agent, told apart from the person's own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

OWN_CELL = re.compile(r"\s*%%agent\b")
OWN_LINE = re.compile(
    r"^[ \t]*(?:[^\n#'\"=]*=[ \t]*)?%(?:agent\b|(?:re)?load_ext[ \t]+cellwright).*\n?", re.MULTILINE
)
OWN_CALL = re.compile(r"^cell line \d+: get_ipython\(\)\.run_(?:line|cell)_magic\('agent'")


def is_own_error(text: str) -> bool:
    """Whether what a cell failed with is what the agent's magic said to the person."""
    return bool(OWN_CALL.match(text))


def without_own_magics(sources: Iterable[str]) -> list[str]:
    """The sources without what asks the agent or loads its magics; the rest of a cell stays.

    What the agent ran for a question is recorded by itself; run again, the question would be
    asked again.
    """
    kept = (OWN_LINE.sub("", source) for source in sources if not OWN_CELL.match(source))
    return [source for source in kept if source.strip()]


def seen_before(executed: list[str], log: list[str]) -> int:
    """How many of the person's first cells are in the log already, in the same order."""
    logged = iter(log)

    def is_logged(source: str) -> bool:
        return not without_own_magics([source]) or source in logged

    return sum(1 for _ in itertools.takewhile(is_logged, executed))
