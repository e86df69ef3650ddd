"""Figures that README and docs give, as a test reads them."""

from __future__ import annotations

import re

from source_tree import PROJECT

__all__ = ["ALLOWED", "documented"]

ALLOWED = 0.2
"""A figure may be off by so much before the page has to be written anew."""


def documented(page: str, pattern: str) -> float:
    """The number that a pattern's group finds on a page."""
    text = (PROJECT / page).read_text("utf-8")
    found = re.search(pattern, text)
    assert found is not None, f"{page} says nothing like {pattern!r}"
    return float(found[1].replace(",", ""))
