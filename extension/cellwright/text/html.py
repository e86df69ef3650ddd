"""What a person reads in a piece of HTML, as text: tables row by row, no scripts, no styles."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser

ROW_LIMIT = 20
CELL_CHARACTERS = 60
SKIPPED = frozenset({"script", "style", "head", "template", "audio", "video", "svg", "iframe"})
NAMED = frozenset({"audio", "video", "iframe", "img", "canvas", "svg", "embed"})
VOID = frozenset({"img", "embed"})
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
LISTS = frozenset({"li", "ul", "ol"})
BLOCKS = (
    frozenset({"p", "div", "br", "table", "pre", "section", "summary", "hr"}) | LISTS | HEADINGS
)


def html_text(html: str) -> str:
    """The visible text of HTML; tables as rows with ``|``, at most twenty each."""
    reader = _Reader()
    # Behind the last ">" no tag is whole, and the parser would look for its end at every "<".
    end = html.rfind(">") + 1
    reader.feed(html[:end])
    reader.close()
    reader.handle_data(unescape(html[end:]))
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._skipped: list[str] = []
        self._row: list[str] | None = None
        self._rows = 0

    # Comments and declarations are skipped, to the end of the text where they are not closed. The
    # parser itself searches the rest of the text for each of them, and raises an AssertionError
    # for some that browsers accept.

    def parse_comment(self, i: int, report: bool = True) -> int:
        return self._behind("-->", i)

    def parse_html_declaration(self, i: int) -> int:
        return self._behind(">", i)

    def parse_pi(self, i: int) -> int:
        return self._behind(">", i)

    def _behind(self, mark: str, start: int) -> int:
        end = self.rawdata.find(mark, start)
        return len(self.rawdata) if end < 0 else end + len(mark)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipped:
            return
        if tag in NAMED:
            self._write(f"[{tag}]")
        if tag in SKIPPED:
            self._skipped.append(tag)
        elif tag == "table":
            self._rows = 0
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th") and self._row is not None:
            self._row.append("")
        if tag in BLOCKS:
            self._write("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
        elif tag == "tr" and self._row is not None:
            self._end_row(self._row)
        elif tag == "table" and self._rows > ROW_LIMIT:
            self._write(f"\n[… {self._rows - ROW_LIMIT} more rows …]\n")
        elif tag in BLOCKS:
            self._write("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._write(data)

    def _write(self, text: str) -> None:
        if self._row is None:
            self.pieces.append(text)
        elif self._row:
            self._row[-1] += text

    def _end_row(self, row: list[str]) -> None:
        self._row = None
        self._rows += 1
        if self._rows <= ROW_LIMIT:
            cells = (" ".join(cell.split())[:CELL_CHARACTERS] for cell in row)
            self.pieces.append("\n" + " | ".join(cells) + "\n")
