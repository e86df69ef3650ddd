"""One text of a JSON object, shown while the object still comes."""

from __future__ import annotations

import json
import re

ESCAPE = re.compile(
    r"\\(?:u(?![0-9a-fA-F]{4})[0-9a-fA-F]{0,3})?\Z|\\u[dD][89abAB]..(?:\\u?.{0,3})?\Z"
)
"""The end of a text that an escape goes on after."""
END = re.compile(r'(?<!\\)(?:\\\\)*"')


class StringField:
    """Hands on the value of the first field of that name.

    Args:
        name: The field, whose value is text.
    """

    def __init__(self, name: str) -> None:
        self._opening = re.compile(rf'"{re.escape(name)}"\s*:\s*"')
        self._text = ""
        self._start = -1
        self._shown = 0
        self._done = False

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        if self._done:
            return ""
        self._text += text
        if self._start < 0:
            opening = self._opening.search(self._text)
            if opening is None:
                return ""
            self._start = opening.end()
        value = self._text[self._start :]
        end = END.search(value)
        self._done = end is not None
        raw = value[: end.end() - 1] if end is not None else ESCAPE.sub("", value)
        return self._new(raw)

    def finish(self) -> str:
        """Nothing is held back that is whole."""
        return ""

    def _new(self, raw: str) -> str:
        try:
            whole = str(json.loads(f'"{raw}"', strict=False))
        except ValueError:
            return ""
        shown, self._shown = whole[self._shown :], len(whole)
        return shown
