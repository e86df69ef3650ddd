"""One line of model-written Markdown, rewritten so that no renderer can load anything from it.

Whatever is not recognised is spelled with character references, so the text stays readable and
means nothing to a Markdown parser, however it splits the line.
"""

from __future__ import annotations

import html
import re
import string
from collections.abc import Callable

from cellwright.text.safe_links import host_of, safe_link

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


def _code(line: str, at: int) -> tuple[str, int]:
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
    "`": _code,
    "<": _angle,
    "$": _dollar,
    "[": _bracket,
    "]": _closing,
    "!": _exclamation,
    "~": _tildes,
}
