"""HTML from outputs, cut down to tables, lists and plain formatting.

Nothing of the input is copied as it is: allowed elements are written anew, text is escaped,
everything else is left out. What is left loads nothing, runs nothing and names nothing.
"""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

from cellwright.exports.ansi import visible

INLINE = frozenset({"b", "strong", "i", "em", "u", "s", "del", "ins", "code", "kbd", "samp"}) | {
    *("var", "sub", "sup", "small", "mark", "span")
}
BLOCKS = frozenset({"p", "div", "pre", "blockquote", "ul", "ol", "li", "dl", "dt", "dd"}) | {
    *("h1", "h2", "h3", "h4", "h5", "h6", "details", "summary", "section")
}
TABLES = frozenset({"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"})
ALLOWED = INLINE | BLOCKS | TABLES
VOID = frozenset({"br", "hr", "img"})
EMPTY = frozenset({"embed", "frame", "input", "link", "meta", "param", "source", "track"})
"""Dropped elements that have no end tag, so that nothing after them is dropped with them."""
DROPPED = EMPTY | {
    *("applet", "audio", "button", "canvas", "frameset", "head", "iframe", "math", "noembed"),
    *("noframes", "noscript", "object", "option", "script", "select", "style", "svg"),
    *("template", "textarea", "title", "video", "xmp"),
}
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/\s]{1,40000000}={0,2}")
SPAN_LIMIT = 1_000
DEPTH_LIMIT = 60
SIZE_LIMIT_CHARACTERS = 1_000_000


def sanitised(text: str) -> str:
    """The harmless part of a piece of HTML, well formed; empty when nothing can be seen of it."""
    writer = _Writer()
    writer.feed(text[:SIZE_LIMIT_CHARACTERS])
    writer.close()
    return writer.result()


class _Writer(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._dropping: list[str] = []
        self._seen = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropping or tag in DROPPED:
            if tag in DROPPED and tag not in EMPTY:
                self._dropping.append(tag)
        elif tag in VOID:
            self._void(tag, dict(attrs))
        elif tag in ALLOWED and len(self._open) < DEPTH_LIMIT:
            self._open.append(tag)
            self._pieces.append(f"<{tag}{_attributes(tag, dict(attrs))}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # <br/> and <svg/>: only void elements close themselves in HTML, foreign ones do too.
        if tag not in DROPPED:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._dropping:
            if tag in self._dropping:
                del self._dropping[self._dropping.index(tag) :]
        elif tag in self._open:
            while True:
                last = self._open.pop()
                self._pieces.append(f"</{last}>")
                if last == tag:
                    break

    def handle_data(self, data: str) -> None:
        if self._dropping:
            return
        self._seen = self._seen or bool(data.strip())
        self._pieces.append(html.escape(visible(data)))

    def result(self) -> str:
        if not self._seen:
            return ""
        closing = "".join(f"</{tag}>" for tag in reversed(self._open))
        return "".join(self._pieces) + closing

    def _void(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag != "img":
            self._pieces.append(f"<{tag}>")
            return
        source = attributes.get("src") or ""
        alternative = html.escape(visible(attributes.get("alt") or ""))
        self._seen = True
        if PICTURE.fullmatch(source):
            self._pieces.append(f'<img src="{html.escape(source)}" alt="{alternative}">')
        else:
            self._pieces.append(f'<span class="blocked">picture not loaded {alternative}</span>')


def _attributes(tag: str, attributes: dict[str, str | None]) -> str:
    if tag not in ("td", "th"):
        return ""
    kept = ""
    for name in ("colspan", "rowspan"):
        value = attributes.get(name) or ""
        if value.isascii() and value.isdigit() and 1 < int(value[:6]) <= SPAN_LIMIT:
            kept += f' {name}="{int(value)}"'
    return kept
