"""Full texts that were cut for the model, kept so that it can read on."""

from __future__ import annotations

import collections

KEPT_CHARACTERS = 20_000_000


class Shelf:
    """Texts by name, the oldest dropped first.

    Args:
        kept_characters: How much is kept in all.
    """

    def __init__(self, kept_characters: int = KEPT_CHARACTERS) -> None:
        self._kept_characters = kept_characters
        self._texts: collections.OrderedDict[str, str] = collections.OrderedDict()

    def keep(self, name: str, text: str) -> None:
        """Keep a text under a name the model can ask for."""
        self._texts[name] = text
        self._texts.move_to_end(name)
        while len(self._texts) > 1 and self._size() > self._kept_characters:
            self._texts.popitem(last=False)

    def get(self, name: str) -> str | None:
        """The text, or None."""
        return self._texts.get(name)

    def names(self) -> tuple[str, ...]:
        """All names, oldest first."""
        return tuple(self._texts)

    def _size(self) -> int:
        return sum(len(text) for text in self._texts.values())
