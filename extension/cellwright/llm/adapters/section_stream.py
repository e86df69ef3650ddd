"""One section of a reply, shown while the reply still comes."""

from __future__ import annotations

import re
from collections.abc import Callable

HEADER = re.compile(r"\[\[ ?## ?(?P<name>[^\[\]#\n]+?) ?## ?\]\]")
BEGUN = re.compile(r"\s*(?:\[(?:\[(?: ?#{0,2}[^\[\]#\n]{0,40}#{0,2} ?\]?)?)?)?\Z")
"""The end of a text that may become a header, and the space before it."""
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


class SectionText:
    """Hands on the text under one header; what may become a header waits.

    Args:
        is_name: Which headers count.
        wanted: The section that is shown.
        before: The section that text before any header belongs to; None: the wanted one.
    """

    def __init__(
        self, is_name: Callable[[str], bool], wanted: str, *, before: str | None = None
    ) -> None:
        self._is_name = is_name
        self._wanted = wanted
        self._section = wanted if before is None else before
        self._held = ""
        self._line = ""
        """The line that goes on, as far as it is known."""
        self._fence = ""
        """The run that has to close before a header counts again."""
        self._started = False

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        self._held += text
        shown = ""
        while match := HEADER.search(self._held):
            before, after = self._held[: match.start()], self._held[match.end() :]
            self._follow_fences(before)
            if self._is_name(match["name"]) and not self._fence:
                shown += self._wanted_part(before.rstrip())
                self._section, self._started = match["name"], False
            else:
                self._follow_fences(match[0])
                shown += self._wanted_part(before + match[0])
            self._held = after
        begun = BEGUN.search(self._held)
        safe = begun.start() if begun is not None else len(self._held)
        self._follow_fences(self._held[:safe])
        shown += self._wanted_part(self._held[:safe])
        self._held = self._held[safe:]
        return shown

    def finish(self) -> str:
        """What was held back, once the reply is whole."""
        shown, self._held = self._wanted_part(self._held.rstrip()), ""
        return shown

    def _wanted_part(self, text: str) -> str:
        if self._section != self._wanted:
            return ""
        shown = text if self._started else text.lstrip()
        self._started = self._started or bool(shown)
        return shown

    def _follow_fences(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            found = FENCE.match(line)
            if not found:
                continue
            if not self._fence:
                self._fence = found[1]
            elif found[1].startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
