"""What stands between one pair of tags, shown while the reply still comes."""

from __future__ import annotations

import re

OPEN_CDATA, CLOSE_CDATA = "<![CDATA[", "]]>"
UNSURE = re.compile(r"\s*(?:<[^<>]*|\]{1,2}>?)?\s*\Z")
"""The end of a text that may become a tag or the end of a CDATA section."""


class TagText:
    """Hands on the text of one element; what may become a tag waits.

    Args:
        tag: The element.
        until: Where the part of the reply ends that is looked at; empty: nowhere.
    """

    def __init__(self, tag: str, until: str = "") -> None:
        self._element = re.compile(rf"<{tag}>(?P<body>.*?)(?:(?P<end></{tag}>)|\Z)", re.DOTALL)
        self._until = until
        self._text = ""
        self._shown = 0

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        self._text += text
        seen = self._text.partition(self._until)[0] if self._until else self._text
        whole = "".join(_visible(found) for found in self._element.finditer(seen))
        shown, self._shown = whole[self._shown :], max(self._shown, len(whole))
        return shown

    def finish(self) -> str:
        """Nothing is held back that is whole."""
        return ""


def _visible(found: re.Match[str]) -> str:
    body = found["body"].lstrip()
    if not found["end"]:
        if OPEN_CDATA.startswith(body):
            return ""
        body = UNSURE.sub("", body)
    body = body.rstrip()
    if body.startswith(OPEN_CDATA):
        return body.removeprefix(OPEN_CDATA).removesuffix(CLOSE_CDATA).rstrip()
    return body
