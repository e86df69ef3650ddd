"""What a browser would load, unasked, to draw a Markdown cell: the addresses, in full.

JupyterLab draws a Markdown cell as soon as it stands in the notebook, and fetches its pictures,
styles, media and frames from wherever they are; an address can carry away what it was told. This
looks for every form that loads. Fenced code loads nothing and is left out where every renderer
takes it for code; elsewhere it is looked into, so that this may ask once too often.
``js/src/markdown/loads.ts`` does the same; one file of examples is held against both.

What this does not do: look at code cells and what they show.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import islice

FENCED_CODE = re.compile(
    r"(?:\A|(?<=\n\n))(```|~~~)(?:bash|c|console|cpp|css|diff|go|html|ini|java|javascript|js|json"
    r"|julia|markdown|md|py|python|r|ruby|rust|sh|shell|sql|text|toml|ts|txt|typescript|xml|yaml)?"
    r" *\n(?:(?!```|~~~).)*(?<=\n)\1 *(?=\n\n|\n?\Z)",
    re.DOTALL,
)
"""At the start of a line, between empty ones; in no language that an extension draws (mermaid)."""
SPANS_LINES = re.compile(
    r"\A(?:---|\+\+\+)|```|~~~|:::|\$\$|@@|<[A-Za-z!?/]|\\begin|\\\\?[\[(]"
    r"|\[(?![^\[\]\n]*\](?:[( \n]|\Z))|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
)
"""Begins what goes on over empty lines, for one renderer or another, and may take in a fence."""
LOCAL = re.compile(r"(?:attachment:|(?!//))[\w.~%+@,()'=#?/ -]*")
"""A path below the notebook's own server, or a picture that came along."""
PICTURE_DATA = re.compile(r"data:image/[a-z+.-]+;base64,[A-Za-z0-9+/=]*")
PLAIN_LINK = re.compile(r"(?<![!\\\]])\[[^\[\]\\`$<>!]*\]\([^()\s<>\\]*\)")
"""A link that no renderer can take for a picture."""
DESTINATION = re.compile(r"\]\(\s*(?:<([^<>\n]*)>|([^\s<>]*))")
DEFINITION = re.compile(r"\]:\s*(?:<([^<>\n]*)>|([^\s<>]+))")
TAG_START = re.compile(r"<(?=[A-Za-z])")
TAG_NAME = re.compile(r"<([^\s/>]{1,20})")
TAG_CHARACTERS = 2_000
TAG_LIMIT = 100
"""So many that load are told of; a text with more is refused or allowed because of these."""
ACTIVE_TAGS = re.compile(
    "applet|audio|base|bgsound|body|button|embed|form|frame|frameset|head|html|iframe|image|input|"
    "link|math|meta|noscript|object|picture|portal|script|source|style|svg|template|track|video|xml"
)
"""These count even without attributes."""
LOADING_TAGS = ("img", "table", "tbody", "td", "tfoot", "th", "thead", "tr")
LOADING_ATTRIBUTE = re.compile(
    r"[\s\"'/](src|srcset|lowsrc|background|poster|data|action|formaction|ping|xlink:href|style"
    r"|on\w+|data-[\w-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]*)",
    re.IGNORECASE,
)
STYLE = re.compile(r"(?!.*(?:url|image|src))[\w\s:;#%.,()!-]*", re.IGNORECASE | re.DOTALL)
STYLE_ADDRESS = re.compile(r"url\s*\(\s*[\"']?([^\"')]*)|@import\s*[\"']([^\"']*)", re.IGNORECASE)
WEB_ADDRESS = re.compile(r"(?:https?:)?//[^\s<>\"'`)\]}]+", re.IGNORECASE)
ACTIVE_MATH = re.compile(r"\\(?:style|includegraphics|require|mmlToken|html[A-Z]\w*)\b")
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def browser_loads(markdown: str) -> tuple[str, ...]:
    """What drawing this Markdown would fetch from elsewhere, each once.

    An address in full; where none can be read, the piece of text that could load.
    """
    text = _without_code(markdown)
    found = [*_pictures(text), *_tags(text), *_drawings(text)]
    return tuple(dict.fromkeys(_visible(html.unescape(piece)) for piece in found))


def _without_code(markdown: str) -> str:
    """The text without its fenced code; all of it where a renderer may see the fences otherwise."""
    text = FENCED_CODE.sub("", markdown)
    return markdown if SPANS_LINES.search(text) else text


def _visible(piece: str) -> str:
    """A piece on one line, with the signs spelled out that hide or reorder text."""
    line = " ".join(piece.split())
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def _is_local(address: str) -> bool:
    plain = address.strip()
    if plain.startswith("data:"):
        return PICTURE_DATA.fullmatch(plain) is not None
    return LOCAL.fullmatch(plain) is not None


def _pictures(text: str) -> Iterator[str]:
    """Where any picture may come from; a name may be defined anywhere in the text."""
    if "![" not in text:
        return
    rest = PLAIN_LINK.sub("", text)
    places = [match[1] or _closed(match[2] or "") for match in DESTINATION.finditer(rest)]
    places += [match[1] or match[2] or "" for match in DEFINITION.finditer(rest)]
    yield from (address for address in places if not _is_local(address))


def _closed(address: str) -> str:
    """An address up to the bracket that ends it."""
    depth = 0
    for at, sign in enumerate(address):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return address[:at]
    return address


def _tags(text: str) -> Iterator[str]:
    starts = [match.start() for match in TAG_START.finditer(text)]
    pieces = (text[at : at + TAG_CHARACTERS] for at in starts)
    for tag in islice(filter(_loads, map(_tag, pieces)), TAG_LIMIT):
        yield from _addresses(tag) or [f"{tag}>"]
    if starts or ACTIVE_MATH.search(text):
        yield from _style_addresses(text)


def _tag(piece: str) -> str:
    """A tag without the sign that ends it; all of the piece where its end is not clear."""
    tag = piece.partition(">")[0]
    is_open = tag.count('"') % 2 or tag.count("'") % 2
    return piece if is_open else tag


def _loads(tag: str) -> bool:
    """Whether a tag, without the sign that ends it, loads something or acts."""
    named = TAG_NAME.match(tag)
    name = named[1].lower() if named is not None else ""
    if ACTIVE_TAGS.fullmatch(name):
        return True
    if len(tag) == TAG_CHARACTERS:  # its end is not known
        return name in LOADING_TAGS
    return any(not _is_harmless(match[1], match[2]) for match in LOADING_ATTRIBUTE.finditer(tag))


def _is_harmless(name: str, quoted: str) -> bool:
    value = quoted.strip("\"'")
    if name.lower() == "src":
        return _is_local(value)
    return name.lower() == "style" and STYLE.fullmatch(value) is not None


def _addresses(tag: str) -> list[str]:
    plain = html.unescape(tag)
    return [*WEB_ADDRESS.findall(plain), *_style_addresses(plain)]


def _style_addresses(text: str) -> Iterator[str]:
    for match in STYLE_ADDRESS.finditer(html.unescape(text)):
        address = match[1] or match[2] or ""
        if not _is_local(address):
            yield address


def _drawings(text: str) -> Iterator[str]:
    """Drawings and formulas may have pictures and styles of their own."""
    if "mermaid" in text.lower() or ACTIVE_MATH.search(text):
        yield from WEB_ADDRESS.findall(text)
