"""Finds what a browser would act on in a piece of HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ["Inspector"]

ACTING = re.compile("script|style|link|base|iframe|object|embed|form|svg|math|video|audio|template")
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}")


class Inspector(HTMLParser):
    """What a browser could act on."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if ACTING.fullmatch(tag):
            self.wrong.append(tag)
        for name, value in attrs:
            pictured = tag == "img" and name == "src" and PICTURE.fullmatch(value or "")
            if not pictured and name not in ("alt", "class", "colspan", "rowspan"):
                self.wrong.append(f"{tag} {name}={value}")
