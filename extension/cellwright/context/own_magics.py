"""Cells that asked the agent, told apart from the person's own."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["without_own_magics"]

OWN_MAGIC = re.compile(r"\s*(?:[^\n#'\"]*=\s*)?%%?(?:agent\b|(?:re)?load_ext\s+cellwright)")


def without_own_magics(sources: Iterable[str]) -> list[str]:
    """The sources that do not ask the agent or load its magics.

    What the agent ran for a question is recorded by itself; run again, the question would be
    asked again.
    """
    return [source for source in sources if not OWN_MAGIC.match(source)]
