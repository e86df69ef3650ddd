"""Terminal text and HTML as plain text: what a person would see of them, for a model to read.

The full text stays in the record; only what a model is given is cleaned.
"""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from itertools import groupby

ERASE_REST = re.compile(r"\x1b\[0?K")
ERASE_LINE = re.compile(r"\x1b\[[12]K")
ESCAPES = re.compile(
    r"\x1b(?:"
    r"\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC: titles, links, clipboard
    r"|[PX^_][^\x1b]*(?:\x1b\\|$)"  # DCS and relatives
    r"|\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[ -/]*[0-~]"
    r"|$)"
)
ERASED_REST, ERASED_LINE = "\udc00", "\udc01"
"""Stand for an erasure until carriage returns are settled; no text of a cell holds halves."""
CURSOR_MOVES = re.compile(f"[\r\b{ERASED_REST}{ERASED_LINE}]")
PIECES = re.compile(f"\r+|\b+|{ERASED_REST}+|{ERASED_LINE}+|[^\r\b{ERASED_REST}{ERASED_LINE}]+")
OVERTYPED = re.compile(f"[^\r\b{ERASED_REST}{ERASED_LINE}]\b(?=[^\r\b{ERASED_REST}{ERASED_LINE}])")
"""A character that the next one is written over; millions of them are gone at once."""
AT_START = re.compile("\r[\r\b]+")
CHARACTER_BYTES = 4
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
PIP_NOISE = "Requirement already satisfied:"
BLANK_LINES = re.compile(r"\n{4,}")
REPEATS_SHOWN = 3
"""Fewer equal lines than this are left as they are."""


def clean(text: str) -> str:
    """The text without escapes, overwritten progress bars, repeated lines and pip's noise."""
    text = without_lone_surrogates(text).replace("\r\n", "\n")
    if "\x1b" in text:
        text = ERASE_LINE.sub(ERASED_LINE, ERASE_REST.sub(ERASED_REST, text))
        text = ESCAPES.sub("", text)
    lines = [_settled(line) for line in text.split("\n")]
    kept = [line for line in lines if not line.startswith(PIP_NOISE)]
    return BLANK_LINES.sub("\n\n\n", "\n".join(collapse_repeats(kept)))


def collapse_repeats(lines: list[str]) -> list[str]:
    """Runs of equal lines as one line with their number."""
    collapsed: list[str] = []
    for line, run in groupby(lines):
        count = sum(1 for _ in run)
        if count < REPEATS_SHOWN or not line.strip():
            collapsed += [line] * count
        else:
            collapsed.append(f"{line} (repeated {count}×)")
    return collapsed


def without_lone_surrogates(text: str) -> str:
    """The text with split pairs joined and half pairs replaced, so that it can be encoded."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def overwrite(line: str) -> str:
    """One line as a terminal shows it after carriage returns, backspaces and erasures."""
    if not CURSOR_MOVES.search(line):
        return line
    line = OVERTYPED.sub("", AT_START.sub("\r", line))
    # Four bytes a character: writing over what is there copies what is written and no more,
    # whatever the length of the line.
    shown, column = bytearray(), 0
    for piece in PIECES.findall(line):
        if piece[0] == "\r":
            column = 0
        elif piece[0] == "\b":
            column = max(0, column - len(piece))
        elif piece[0] == ERASED_REST:
            del shown[CHARACTER_BYTES * column :]
        elif piece[0] == ERASED_LINE:
            shown, column = bytearray(), 0
        else:
            end = column + len(piece)
            written = piece.encode("utf-32-le", "surrogatepass")
            shown[CHARACTER_BYTES * column : CHARACTER_BYTES * end] = written
            column = end
    return shown.decode("utf-32-le", "surrogatepass")


def _settled(line: str) -> str:
    if CURSOR_MOVES.search(line):
        line = overwrite(line).rstrip()
    return CONTROLS.sub("", line)


# What a person reads in a piece of HTML, as text: tables row by row, no scripts, no styles.


ROW_LIMIT = 20
CELL_CHARACTERS = 60
SKIPPED = frozenset({"script", "style", "head", "template", "audio", "video", "svg", "iframe"})
NAMED = frozenset({"audio", "video", "iframe", "img", "canvas", "svg", "embed"})
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
LISTS = frozenset({"li", "ul", "ol"})
BLOCKS = (
    frozenset({"p", "div", "br", "table", "pre", "section", "summary", "hr"}) | LISTS | HEADINGS
)


def html_text(html: str) -> str:
    """The visible text of HTML; tables as rows with ``|``, at most twenty each."""
    reader = _HtmlReader()
    # Behind the last ">" no tag is whole, and the parser would look for its end at every "<".
    end = html.rfind(">") + 1
    reader.feed(html[:end])
    reader.close()
    reader.handle_data(unescape(html[end:]))
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


class _HtmlReader(HTMLParser):
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
