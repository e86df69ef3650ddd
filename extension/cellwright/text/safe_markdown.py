"""Model-written Markdown as Markdown that makes a browser fetch nothing and run nothing.

JupyterLab's own renderer loads remote pictures, styles and media from Markdown, so model text is
rewritten before it is handed over. Fenced code is put in a plain form that every renderer reads
alike: at the margin, blank lines around it, closed. Outside code there is no HTML, no picture
except inline PNG, JPEG, GIF and WebP, no reference definition, and links show where they lead.
What this does not do: judge what the text says.
"""

from __future__ import annotations

import html
import re
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from cellwright.text.cleaning import ESCAPES, without_lone_surrogates

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


CONTROLS = re.compile(
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
    return CONTROLS.sub("", ESCAPES.sub("", without_lone_surrogates(unified)))


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
