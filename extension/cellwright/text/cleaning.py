"""Terminal text and HTML as plain text: what a person would see of them, for a model to read.

The full text stays in the record; only what a model is given is cleaned.
"""

from __future__ import annotations

import html
import re
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from itertools import groupby
from typing import Any
from urllib.parse import quote, urlsplit

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
PARSER: Any = import_module("re._parser")
"""Python's own, of which type checkers know nothing; it names the kinds of parts, too."""
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


def is_quick(pattern: str) -> bool:
    """Whether it is a regular expression that repeats nothing which can match in several ways.

    Others take for ever on some texts. Many repeats one behind the other can take long, too.
    """
    try:
        return not _varies(PARSER.parse(pattern), is_repeated=False)
    except (re.error, OverflowError, RecursionError):
        return False


def _varies(part: Any, *, is_repeated: bool) -> bool:
    """Whether a part of a parsed pattern refers back, or is repeated and can match as it likes."""
    kind = part[0] if len(part) else None
    if kind is PARSER.MAX_REPEAT or kind is PARSER.MIN_REPEAT:
        least, most, repeated = part[1]
        if is_repeated and least != most:
            return True
        return _varies(repeated, is_repeated=is_repeated or most > 1)
    if kind is PARSER.GROUPREF or (kind is PARSER.BRANCH and is_repeated):
        return True
    inner = (each for each in part if hasattr(each, "__len__"))
    return any(_varies(each, is_repeated=is_repeated) for each in inner)


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


# Model-written Markdown as Markdown that makes a browser fetch nothing and run nothing.
#
# JupyterLab's own renderer loads remote pictures, styles and media from Markdown, so model text is
# rewritten before it is handed over. Fenced code is put in a plain form that every renderer reads
# alike: at the margin, blank lines around it, closed. Outside code there is no HTML, no picture
# except inline PNG, JPEG, GIF and WebP, no reference definition, and links show where they lead.
# What this does not do: judge what the text says.


# Addresses that model text may show: only schemes that open on a click, spelled in plain ASCII.


WEB = ("http", "https")
HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.?")
MAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+")
INVISIBLE = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")
URL_LIMIT = 2_000
KEPT = "/:@!'+,;=%~-._"


@dataclass(frozen=True)
class SafeLink:
    """An address that can be shown and clicked."""

    href: str
    """Only ASCII; no blanks, brackets or quotes."""
    host: str
    """The host as it is looked up, so that a look-alike letter shows."""


def safe_link(address: str) -> SafeLink | None:
    """The address made plain, or None when it must not be a link.

    Web addresses and plain mail addresses pass. Everything else (``javascript:``, ``data:``,
    ``file:``, paths) does not: a path would open something on the person's own server.
    """
    cleaned = INVISIBLE.sub("", html.unescape(address))
    if len(cleaned) > URL_LIMIT:
        return None
    scheme, _, rest = cleaned.partition(":")
    if scheme.lower() == "mailto":
        return SafeLink(f"mailto:{rest}", rest) if MAIL.fullmatch(rest) else None
    return _web(cleaned) if scheme.lower() in WEB and rest.startswith("//") else None


def host_of(address: str) -> str:
    """What to call the place an address leads to, in ASCII letters."""
    link = safe_link(address)
    if link is not None:
        return link.host
    scheme = html.unescape(address).partition(":")[0].lower()
    return scheme if scheme in ("data", "javascript", "file") else "a file"


def _web(address: str) -> SafeLink | None:
    try:
        parts = urlsplit(address)
        # A name or password before the host only serves to mislead.
        host = (parts.hostname or "").encode("idna").decode("ascii").lower()
        port = f":{parts.port}" if parts.port is not None else ""
    except (UnicodeError, ValueError):
        return None
    if not HOST.fullmatch(host):
        return None
    query = f"?{quote(parts.query, safe=KEPT + '?&')}" if parts.query else ""
    fragment = f"#{quote(parts.fragment, safe=KEPT + '?&')}" if parts.fragment else ""
    path = quote(parts.path, safe=KEPT)
    href = f"{parts.scheme}://{host}{port}{path}{query}{fragment}"
    # A renderer would read "&copy" in an address as a sign.
    return SafeLink(href.replace("&", "&amp;"), host)


# One line of model-written Markdown, rewritten so that no renderer can load anything from it.
#
# Whatever is not recognised is spelled with character references, so the text stays readable and
# means nothing to a Markdown parser, however it splits the line.


TARGET = (
    r"\(\s*(?P<url><[^<>]*>|[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]" + TARGET)
IMAGE = re.compile(r"!\[(?P<text>[^\[\]]*)\]" + TARGET)
PLAIN_BRACKETS = re.compile(r"\[[^\[\]<\\!]*\](?![(\[:])")
AUTOLINK = re.compile(r"<(?P<url>https?://[^\s<>]*)>", re.IGNORECASE)
BARE_LINK = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'`|()\[\]]*[^\s<>\"'`|()\[\].,;:!?*_]", re.IGNORECASE
)
BACKTICKS = re.compile(r"`+")
TILDES = re.compile(r"~+")
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")
EMBEDDED = re.compile(rf"(!\[\w*\]\({PICTURE.pattern}\))")
MATH = re.compile(
    r"\$\$(?P<display>[^$]+)\$\$"
    r"|\$(?P<inline>(?![\s$])(?:[^$\\]|\\.)+?(?<!\s))\$(?![\d$])"  # "$5 and $10" is money
)
ESCAPED_MATH = re.compile(r"\\\((?P<inline>.{1,2000}?)\\\)|\\\[(?P<display>.{1,2000}?)\\\]")
MISREAD = re.compile(r"<[A-Za-z/!?]|!\[|\]\(|\\(?:begin|end|\\|\[|\()")
ACTIVE_MACRO = re.compile(
    r"\\(?=(?:href|url|class|style|cssId|data|require|csname|mmlToken|includegraphics|html[A-Z]\w*)"
    r"(?![a-zA-Z]))"
)
DOUBLE_BRACKET = re.compile(r"(\\\\)([\[\]()])")
ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")
MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~$&]")
SPECIAL = re.compile(r"[\\`<$\[\]!]|~{3,}|https?://|www\.", re.IGNORECASE)
LINE_LIMIT = 20_000
"""A longer line is not looked into; pictures in it are kept."""


def safe_inline(line: str) -> str:
    """The line as Markdown that loads nothing and holds no HTML."""
    if len(line) <= LINE_LIMIT:
        return "".join(_pieces(line))
    parts = EMBEDDED.split(line)  # every other one is a picture
    return "".join(part if at % 2 else as_text(part) for at, part in enumerate(parts))


def as_text(text: str) -> str:
    """Any text as Markdown that shows just that text."""
    return MARKUP.sub(lambda match: f"&#{ord(match[0])};", text)


def safe_math(source: str) -> str:
    """TeX without macros that act, and harmless too where it is read as Markdown."""
    plain = ACTIVE_MACRO.sub("", source).replace("<", r"\lt ").replace("`", "'")
    found = ENVIRONMENT.findall(plain)
    begun = sorted(name for which, name in found if which == "begin")
    if begun != sorted(name for which, name in found if which == "end"):
        plain = plain.replace(r"\begin", "begin").replace(r"\end", "end")
    for active in ("![", "](", "][", "]:"):
        plain = plain.replace(active, f"{active[0]} {active[1]}")
    # Two backslashes and a bracket begin a formula for some, and a last one would hide its end.
    plain = DOUBLE_BRACKET.sub(r"\1 \2", plain)
    return f"{plain} " if plain.endswith("\\") else plain


def _pieces(line: str) -> list[str]:
    pieces: list[str] = []
    position = 0
    while position < len(line):
        found = SPECIAL.search(line, position)
        if found is None:
            pieces.append(line[position:])
            break
        pieces.append(line[position : found.start()])
        reader = READERS.get(found[0][0], _bare_link)
        piece, position = reader(line, found.start())
        pieces.append(piece)
    return pieces


def _backslash(line: str, at: int) -> tuple[str, int]:
    math = ESCAPED_MATH.match(line, at)
    if math is not None:
        return _formula(math["inline"], math["display"]), math.end()
    following = line[at + 1 : at + 2]
    if following and following in string.punctuation:
        return f"&#{ord(following)};", at + 2
    return "&#92;", at + 1


def _dollar(line: str, at: int) -> tuple[str, int]:
    math = MATH.match(line, at)
    if math is None:
        return "&#36;", at + 1  # money
    return _formula(math["inline"], math["display"]), math.end()


def _formula(inline: str | None, display: str | None) -> str:
    return f"${safe_math(inline)}$" if inline is not None else f"$${safe_math(display or '')}$$"


def _inline_code(line: str, at: int) -> tuple[str, int]:
    opening = BACKTICKS.match(line, at)
    assert opening is not None
    for closing in BACKTICKS.finditer(line, opening.end()):
        if len(closing[0]) == len(opening[0]):
            code = line[opening.end() : closing.start()]
            return _span(opening[0], code), closing.end()
    return as_text(opening[0]), opening.end()


def _span(ticks: str, code: str) -> str:
    # A table splits a line into cells before it looks for code, so code that would be markup
    # outside is spelled out.
    if MISREAD.search(code):
        return f"<code>{as_text(code.strip())}</code>"
    return f"{ticks}{code}{ticks}"


def _tildes(line: str, at: int) -> tuple[str, int]:
    found = TILDES.match(line, at)
    assert found is not None
    return as_text(found[0]), found.end()


def _angle(line: str, at: int) -> tuple[str, int]:
    link = AUTOLINK.match(line, at)
    if link is None:
        return "&lt;", at + 1
    return _address(link["url"]), link.end()


def _bare_link(line: str, at: int) -> tuple[str, int]:
    found = BARE_LINK.match(line, at)
    if found is None:
        return line[at], at + 1
    address = found[0]
    if address.lower().startswith("www."):
        address = f"http://{address}"
    return _address(address), found.end()


def _address(address: str) -> str:
    link = safe_link(address)
    return link.href if link is not None else as_text(address).replace(":", "&#58;")


def _bracket(line: str, at: int) -> tuple[str, int]:
    link = LINK.match(line, at)
    if link is not None:
        return _link(link["text"], link["url"].strip("<>")), link.end()
    plain = PLAIN_BRACKETS.match(line, at)
    if plain is not None:
        return f"[{safe_inline(plain[0][1:-1])}]", plain.end()
    return "&#91;", at + 1


def _closing(line: str, at: int) -> tuple[str, int]:
    # Its opening one may be in a formula, which not every renderer knows.
    return ("&#93;" if line[at + 1 : at + 2] in ("(", "[", ":") else "]"), at + 1


def _link(text: str, address: str) -> str:
    shown, link = safe_inline(text), safe_link(address)
    if link is None:
        return f"{shown} (link removed: {host_of(address)})"
    host = as_text(link.host)
    return f"[{shown or host}]({link.href}) ({host})"


def _exclamation(line: str, at: int) -> tuple[str, int]:
    image = IMAGE.match(line, at)
    if image is not None:
        return _image(image["text"], image["url"].strip("<>")), image.end()
    # What follows may become a link, which after a plain "!" would be a picture.
    return ("&#33;" if line[at + 1 : at + 2] in ("[", "<") else "!"), at + 1


def _image(text: str, address: str) -> str:
    if PICTURE.fullmatch(address):
        return f"![{as_text(text)}]({address})"
    words = as_text(html.unescape(text).strip() or "picture")
    return f"*{words} (not loaded: {host_of(address)})*"


READERS: dict[str, Callable[[str, int], tuple[str, int]]] = {
    "\\": _backslash,
    "`": _inline_code,
    "<": _angle,
    "$": _dollar,
    "[": _bracket,
    "]": _closing,
    "!": _exclamation,
    "~": _tildes,
}


SEEN_AS_NOTHING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"  # marks that hide or reorder text
)
EIGHT_BIT = {0x90: "\x1bP", 0x9B: "\x1b[", 0x9D: "\x1b]", 0x9E: "\x1b^", 0x9F: "\x1b_"}
FENCE = re.compile(
    r"(?P<before>\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?)(?P<ticks>`{3,}(?!.*`)|~{3,})(?P<info>.*)"
)
QUOTE = re.compile(r"\s{0,3}>\s?(?P<rest>.*)")
QUOTE_DEPTH = 5
MATH_LINES = 200
LANGUAGES = re.compile(
    "bash|c|console|cpp|css|csv|diff|go|html|ini|ipython|java|javascript|js|json|julia|latex|"
    "markdown|md|py|python|python3|r|rust|sh|shell|sql|text|toml|ts|typescript|xml|yaml"
)
"""What a block may be called; a renderer draws some other kinds, such as mermaid."""


def plain_text(text: str) -> str:
    """The text without terminal escapes, controls and marks that reorder it (attack A14)."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n").translate(EIGHT_BIT)
    return SEEN_AS_NOTHING.sub("", ESCAPES.sub("", without_lone_surrogates(unified)))


def safe_markdown(text: str) -> str:
    """The text as Markdown any notebook front end can render; works on unfinished text too."""
    return "\n".join(_blocks(plain_text(text).split("\n"), 0)).rstrip("\n")


def fenced(code: str, language: str = "") -> str:
    """Code as a fenced block that nothing in the code can close."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


@dataclass
class _MarkdownWriter:
    """The lines written so far."""

    lines: list[str] = field(default_factory=list)

    def block(self, text: str) -> None:
        """A block with a blank line on either side."""
        if self.lines and self.lines[-1].strip():
            self.lines.append("")
        self.lines += [*text.split("\n"), ""]


def _blocks(lines: list[str], depth: int) -> list[str]:
    writer = _MarkdownWriter()
    position = indent = 0
    while position < len(lines):
        line = lines[position]
        blank = len(line) - len(line.lstrip(" "))
        indent = indent if blank >= indent or not line.strip() else 0
        fence = FENCE.fullmatch(line)
        if fence is not None:
            indent = len(fence["before"])
            position = _code(lines, position, fence, writer)
        elif QUOTE.fullmatch(line):
            position = _quote(lines, position, writer, depth)
        elif _opens_math(line):
            position = _math(lines, position, writer)
        else:
            writer.lines.append(safe_inline(line[indent:]))
            position += 1
    return writer.lines


def _code(lines: list[str], position: int, fence: re.Match[str], writer: _MarkdownWriter) -> int:
    before, ticks = fence["before"], fence["ticks"]
    if before.strip():
        writer.lines.append(before)
    closing = re.compile(rf"\s*{re.escape(ticks[0])}{{{len(ticks)},}}\s*")
    end = position + 1
    while end < len(lines) and not closing.fullmatch(lines[end]):
        end += 1
    margin = re.compile(rf" {{0,{len(before)}}}")
    body = [margin.sub("", line, count=1) for line in lines[position + 1 : end]]
    named = (fence["info"].strip("{} \t").split() or [""])[0].lower()
    language = named if LANGUAGES.fullmatch(named) else "text" if named else ""
    writer.block(fenced("\n".join(body), language))
    return end + 1


def _quote(lines: list[str], position: int, writer: _MarkdownWriter, depth: int) -> int:
    inner = []
    while position < len(lines) and (found := QUOTE.fullmatch(lines[position])):
        inner.append(found["rest"])
        position += 1
    if depth >= QUOTE_DEPTH:
        inner = [line.lstrip("> \t") for line in inner]
    written = "\n".join(_blocks(inner, depth + 1)).rstrip("\n").split("\n")
    writer.block("\n".join(f"> {line}".rstrip() for line in written))
    return position


def _opens_math(line: str) -> bool:
    return line.strip() in ("$$", r"\[")


def _math(lines: list[str], position: int, writer: _MarkdownWriter) -> int:
    closing = {"$$": "$$", r"\[": r"\]"}[lines[position].strip()]
    end = position + 1
    last = min(len(lines), position + MATH_LINES)
    while end < last and lines[end].strip() not in (closing, ""):
        end += 1
    if end == last or lines[end].strip() != closing:
        writer.lines.append(safe_inline(lines[position]))
        return position + 1
    body = "\n".join(lines[position + 1 : end]).replace("$", "")
    writer.block(f"$$\n{safe_math(body)}\n$$")
    return end + 1
