"""What a run holds, as HTML that loads and runs nothing: Markdown, code, terminal text, outputs.

Links and pictures are shown as text with their address: a report loads nothing and leads nowhere.
"""

from __future__ import annotations

import base64
import functools
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from cellwright.record.content import Content, drawn_contents
from cellwright.record.mime_bundles import bundle_text
from cellwright.record.outputs import DisplayData, ErrorOutput, Output, StreamOutput
from cellwright.record.values import safe_text

if TYPE_CHECKING:
    import mistune

# Terminal colours as classed spans; every other escape sequence goes.


ESCAPE = re.compile(
    "\x1b(?:"
    r"\[(?P<sgr>[0-9;:]{0,64})m"
    r"|\[[0-?]{0,64}[ -/]{0,8}[@-~]?"
    "|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\|\\Z)?"
    "|[ -/]{0,8}[0-~]?)"
)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028\u2029"
    "\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "grey")
CUBE_START, GREYS_START = 16, 232


def visible(text: str) -> str:
    """The text with characters that hide or reorder others shown by their number."""
    return HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def ansi_html(text: str) -> str:
    """Terminal text as HTML: colours and bold kept, nothing else."""
    return "".join(_pieces(text.replace("\r\n", "\n")))


def _pieces(text: str) -> Iterator[str]:
    style: dict[str, str] = {}
    end = 0
    for match in ESCAPE.finditer(text):
        yield _ansi_span(text[end : match.start()], style)
        if match["sgr"] is not None:
            style = _styled(style, match["sgr"])
        end = match.end()
    yield _ansi_span(text[end:], style)


def _ansi_span(text: str, style: dict[str, str]) -> str:
    if not text:
        return ""
    escaped = html.escape(visible(text.replace("\r", "\n")))
    classes = " ".join(f"ansi-{name}" for name in style.values())
    return f'<span class="{classes}">{escaped}</span>' if classes else escaped


def _styled(style: dict[str, str], codes: str) -> dict[str, str]:
    changed = dict(style)
    numbers = [int(code) if code else 0 for code in re.split("[;:]", codes) if len(code) < 5]
    while numbers:
        code = numbers.pop(0)
        if code in (38, 48):
            colour = _extended(numbers)
            if code == 38:
                changed["colour"] = colour
        else:
            _apply(changed, code)
    return changed


def _apply(style: dict[str, str], code: int) -> None:
    if code == 0:
        style.clear()
    elif code == 1:
        style["weight"] = "bold"
    elif code == 22:
        style.pop("weight", None)
    elif code == 39:
        style.pop("colour", None)
    elif 30 <= code <= 37 or 90 <= code <= 97:
        style["colour"] = COLOURS[code % 10]


def _extended(numbers: list[int]) -> str:
    """The nearest plain colour to one of 256, or of 16 million; takes its numbers off the list."""
    mode = numbers.pop(0) if numbers else 0
    if mode == 2:
        red, green, blue = [*numbers[:3], 0, 0, 0][:3]
        del numbers[:3]
        return _nearest(red, green, blue)
    index = numbers.pop(0) if numbers else 0
    if index < CUBE_START:
        return COLOURS[index % 8]
    if index >= GREYS_START:
        return "grey"
    index -= CUBE_START
    return _nearest(index // 36 * 51, index // 6 % 6 * 51, index % 6 * 51)


def _nearest(red: int, green: int, blue: int) -> str:
    high, low = max(red, green, blue), min(red, green, blue)
    if high - low < 40:
        return "grey"
    middle = (high + low) / 2
    bits = (red > middle) + 2 * (green > middle) + 4 * (blue > middle)
    return COLOURS[bits]


# Code as HTML with classes for its colours.


HIGHLIGHT_LIMIT_CHARACTERS = 200_000


def highlighted(code: str, language: str = "python") -> str:
    """The code as HTML; plain where its language is not known or it is very long."""
    text = visible(code.replace("\r\n", "\n"))
    if len(text) > HIGHLIGHT_LIMIT_CHARACTERS:
        return html.escape(text)
    # Pygments publishes no type information; IPython brings it along.
    try:
        from pygments import highlight  # type: ignore[import-untyped]
        from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]
        from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
        from pygments.util import ClassNotFound  # type: ignore[import-untyped]
    except ImportError:
        return html.escape(text)
    name = "ipython3" if language in ("python", "python3", "py") else language.lower()
    try:
        lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return html.escape(text)
    return str(highlight(text, lexer, HtmlFormatter(nowrap=True, classprefix="c-"))).rstrip("\n")


# HTML from outputs, cut down to tables, lists and plain formatting.
#
# Nothing of the input is copied as it is: allowed elements are written anew, text is escaped,
# everything else is left out. What is left loads nothing, runs nothing and names nothing.


INLINE_TAGS = frozenset(
    {"b", "strong", "i", "em", "u", "s", "del", "ins", "code", "kbd", "samp"}
) | {*("var", "sub", "sup", "small", "mark", "span")}
BLOCKS = frozenset({"p", "div", "pre", "blockquote", "ul", "ol", "li", "dl", "dt", "dd"}) | {
    *("h1", "h2", "h3", "h4", "h5", "h6", "details", "summary", "section")
}
TABLES = frozenset({"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"})
ALLOWED = INLINE_TAGS | BLOCKS | TABLES
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


TAG_START = re.compile(r"<[A-Za-z/!?]")


def sanitised(text: str) -> str:
    """The harmless part of a piece of HTML, well formed; empty when nothing can be seen of it."""
    writer = _HtmlWriter()
    writer.feed(_ended(text[:SIZE_LIMIT_CHARACTERS]))
    writer.close()
    return writer.result()


def _ended(text: str) -> str:
    """The text without what does not end in it, for each of which the parser reads all the rest."""
    text = text.replace("<![", "<!?[")  # a comment as well, up to its ``>``
    unclosed = TAG_START.search(text, text.rfind(">") + 1)
    text = text[: unclosed.start()] if unclosed else text
    closed = text.rfind("-->") + 1
    return text[:closed] + text[closed:].replace("<!--", "&lt;!--")


class _HtmlWriter(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._dropping: list[str] = []
        self._seen = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropping or tag in DROPPED:
            # Of two of a kind the end tag that comes first ends both.
            if tag in DROPPED and tag not in EMPTY and tag not in self._dropping:
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
        value = (attributes.get(name) or "").lstrip("0")
        if re.fullmatch("[0-9]{1,4}", value) and 1 < int(value) <= SPAN_LIMIT:
            kept += f' {name}="{value}"'
    return kept


# Markdown as HTML: what mistune reads, drawn by an allow-list of its tokens.
#
# HTML in a text is text, and a token of a kind that is not listed draws what is inside it.


TAGS = {
    "paragraph": "p",
    "block_quote": "blockquote",
    "list_item": "li",
    "table_row": "tr",
    "strong": "strong",
    "emphasis": "em",
    "strikethrough": "s",
}
"""Kinds of token that become one element with what is inside them."""
BLOCKS_INSIDE = ("block_quote",)
LOWEST_HEADING = 6
ADDRESS_CHARACTERS = 200


def markdown_html(text: str) -> str:
    """The text as HTML that loads nothing, runs nothing and links to nothing."""
    tokens, _ = _markdown_parser().parse(_with_even_rows(text))
    return _drawn(cast("list[dict[str, Any]]", tokens), "\n")


FENCE = re.compile(r" {0,3}(```|~~~)")
TABLE_RULE = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*")
CELL_END = re.compile(r"(?<!\\)\|")
ENDS_TABLE = re.compile(r" {0,3}(?:>|#{1,6}(?:\s|$)|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$))|\s*$")
LONGEST_ROW = 20_000


def _with_even_rows(text: str) -> str:
    """The text with table rows as long as their head, as GFM has it; mistune takes no others.

    Cells that are missing are empty, those that are too many are left out.
    """
    lines, columns, fence = text.split("\n"), 0, ""
    for place, line in enumerate(lines):
        found = FENCE.match(line)
        if found and fence in ("", found[1]):
            fence = "" if fence else found[1]
        if fence or ENDS_TABLE.match(line) or len(line) > LONGEST_ROW:
            columns = 0
        elif columns:
            lines[place] = _row_of((_cells_of(line) + [""] * columns)[:columns])
        elif place and "|" in line and TABLE_RULE.fullmatch(line):
            rule, head = _cells_of(line), _cells_of(lines[place - 1])
            if len(rule) == len(head):
                columns = len(rule)
                lines[place - 1 : place + 1] = [_row_of(head), _row_of(rule)]
    return "\n".join(lines)


def _row_of(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells_of(line: str) -> list[str]:
    whole = line.strip()
    inner = whole.removeprefix("|")
    if CELL_END.search(inner[-2:]) and inner.endswith("|"):
        inner = inner[:-1]
    return [cell.strip() for cell in CELL_END.split(inner)]


@functools.cache
def _markdown_parser() -> mistune.Markdown:
    import mistune

    return mistune.create_markdown(renderer=None, plugins=["strikethrough", "table", "task_lists"])


def _drawn(tokens: Iterable[Mapping[str, Any]], between: str = "") -> str:
    return between.join(filter(None, map(_token, tokens)))


def _token(token: Mapping[str, Any]) -> str:
    kind = token["type"]
    draw = DRAWN.get(kind)
    if draw is not None:
        return draw(token)
    inside = _inside(token, "\n" if kind in BLOCKS_INSIDE else "")
    tag = TAGS.get(kind)
    return f"<{tag}>{inside}</{tag}>" if tag is not None else inside


def _inside(token: Mapping[str, Any], between: str = "") -> str:
    children = token.get("children")
    return _text(token.get("raw", "")) if children is None else _drawn(children, between)


def _heading(token: Mapping[str, Any]) -> str:
    level = min(LOWEST_HEADING, token["attrs"]["level"] + 2)
    return f"<h{level}>{_inside(token)}</h{level}>"


def _code_block(token: Mapping[str, Any]) -> str:
    named = token.get("attrs", {}).get("info", "").strip("{}. ").split()
    code = token["raw"].removesuffix("\n")
    return f'<pre class="code">{highlighted(code, named[0] if named else "text")}</pre>'


def _list(token: Mapping[str, Any]) -> str:
    first = token["attrs"].get("start", 1)
    if not token["attrs"]["ordered"]:
        return f"<ul>{_inside(token)}</ul>"
    start = f' start="{int(first)}"' if first != 1 else ""
    return f"<ol{start}>{_inside(token)}</ol>"


def _task(token: Mapping[str, Any]) -> str:
    return f"<li>{'☑' if token['attrs']['checked'] else '☐'} {_inside(token)}</li>"


def _table_cell(token: Mapping[str, Any]) -> str:
    tag = "th" if token["attrs"]["head"] else "td"
    return f"<{tag}>{_inside(token)}</{tag}>"


def _link(token: Mapping[str, Any]) -> str:
    address = _text(unquote(token["attrs"]["url"]))
    inside = _inside(token)
    return inside if inside == address else f'{inside} <span class="address">{address}</span>'


def _image(token: Mapping[str, Any]) -> str:
    label, address = _words(token), token["attrs"]["url"]
    if PICTURE.fullmatch(address):
        return f'<img src="{html.escape(address)}" alt="{_text(label)}">'
    shown = _text(unquote(address)[:ADDRESS_CHARACTERS])
    return f'<span class="blocked">picture not loaded: {_text(label)} {shown}</span>'


def _words(token: Mapping[str, Any]) -> str:
    """The text in a token, for a place that holds no elements."""
    return str(token.get("raw", "")) + "".join(map(_words, token.get("children", ())))


def _text(text: str) -> str:
    return html.escape(visible(text))


DRAWN: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "blank_line": lambda _: "",
    "block_code": _code_block,
    "block_html": lambda token: f"<p>{_text(token['raw'].strip())}</p>",
    "codespan": lambda token: f"<code>{_text(token['raw'])}</code>",
    "heading": _heading,
    "image": _image,
    "inline_html": lambda token: _text(token["raw"]),
    "linebreak": lambda _: "<br>",
    "link": _link,
    "list": _list,
    "softbreak": lambda _: "\n",
    "table": lambda token: f'<div class="table"><table>{_inside(token)}</table></div>',
    "table_body": lambda token: f"<tbody>{_inside(token)}</tbody>" if token["children"] else "",
    "table_cell": _table_cell,
    "table_head": lambda token: f"<thead><tr>{_inside(token)}</tr></thead>",
    "task_list_item": _task,
    "text": lambda token: _text(html.unescape(token["raw"])),
    "thematic_break": lambda _: "<hr>",
}
"""The others, each with what it becomes."""


# Cell outputs as HTML that loads nothing and runs nothing.


PICTURE_MIMES = ("image/png", "image/jpeg", "image/gif", "image/webp")
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
TEXT_LIMIT_CHARACTERS = 100_000
SVG_LIMIT_CHARACTERS = 5_000_000


def output_html(output: Output) -> str:
    """One output, in the best form that is safe to show."""
    if isinstance(output, StreamOutput):
        return f'<pre class="stream {_stream_class(output.name)}">{_terminal(output.text)}</pre>'
    if isinstance(output, ErrorOutput):
        return _error(output)
    return f'<div class="result">{_bundle(output.data)}</div>'


def _stream_class(name: str) -> str:
    return "stderr" if name == "stderr" else "stdout"


def _error(output: ErrorOutput) -> str:
    head = ansi_html(f"{output.ename}: {output.evalue}"[:500])
    trace = _terminal("\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
    body = f"<summary>{head}</summary><pre>{trace}</pre>"
    return f'<details class="error">{body}</details>'


def _bundle(data: Mapping[str, Any]) -> str:
    for drawn in (_picture(data), _svg(data), _html(data), _markdown(data), _json(data)):
        if drawn:
            return drawn
    if "text/plain" in data and len(data) == 1:
        return f"<pre>{_terminal(_string(data['text/plain']))}</pre>"
    return f"<pre>{_terminal(bundle_text(data))}</pre>"


def _picture(data: Mapping[str, Any]) -> str:
    for mime in PICTURE_MIMES:
        encoded = re.sub(r"\s", "", _string(data.get(mime, "")))
        if BASE64.fullmatch(encoded):
            alternative = html.escape(_string(data.get("text/plain", "picture"))[:200])
            return f'<img src="data:{mime};base64,{encoded}" alt="{alternative}">'
    return ""


def _svg(data: Mapping[str, Any]) -> str:
    # As the source of an <img>, a browser runs no script in an SVG and loads nothing for it.
    source = safe_text(_string(data.get("image/svg+xml", "")))
    if not source or len(source) > SVG_LIMIT_CHARACTERS:
        return ""
    encoded = base64.b64encode(source.encode("utf-8")).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{encoded}" alt="drawing">'


def _html(data: Mapping[str, Any]) -> str:
    clean = sanitised(_string(data.get("text/html", "")))
    return f'<div class="table">{clean}</div>' if clean else ""


def _markdown(data: Mapping[str, Any]) -> str:
    text = _string(data.get("text/markdown", ""))
    return f'<div class="prose">{markdown_html(text)}</div>' if text else ""


def _json(data: Mapping[str, Any]) -> str:
    if "application/json" not in data:
        return ""
    text = json.dumps(data["application/json"], ensure_ascii=False, indent=2, default=str)
    return f"<pre>{_terminal(text)}</pre>"


def _terminal(text: str) -> str:
    if len(text) <= TEXT_LIMIT_CHARACTERS:
        return ansi_html(text)
    half = TEXT_LIMIT_CHARACTERS // 2
    left_out = f"{len(text) - 2 * half:,} characters left out"
    return (
        f'{ansi_html(text[:half])}<span class="blocked">{left_out}</span>{ansi_html(text[-half:])}'
    )


def _string(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "".join(str(part) for part in value)
    return str(value)


# What a tool said to the person, as HTML that loads and runs nothing.


def contents_html(contents: Iterable[Content]) -> str:
    """The contents that are for the person, drawn as the outputs of a cell are."""
    shown = [item for item in contents if not item.is_error]
    bundles = (
        {**drawn.rich, "text/markdown": drawn.markdown, "text/plain": drawn.plain}
        for drawn in drawn_contents(shown)
    )
    return "".join(
        output_html(DisplayData({mime: data for mime, data in bundle.items() if data}))
        for bundle in bundles
    )
