"""Model-written Markdown as HTML: a small part of Markdown, and nothing but what is listed here.

Headings, paragraphs, lists, quotes, tables, rules, fenced code; bold, italic, struck, code. Links
and pictures are shown as text with their address: a report loads nothing and leads nowhere.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from cellwright.exports.ansi import visible
from cellwright.exports.html_code import highlighted
from cellwright.exports.html_sanitiser import PICTURE

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([\w+#.-]{0,20})")
HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*")
RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})")
BULLET = re.compile(r"(\s{0,12})(?:[-*+]|\d{1,9}[.)])\s+(.*)")
NUMBERED = re.compile(r"\s{0,12}\d{1,9}[.)]\s")
QUOTE = re.compile(r" {0,3}> ?(.*)")
TABLE_RULE = re.compile(r" {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
CELL_BREAK = re.compile(r"(?<!\\)\|")
INLINE = re.compile(
    r"(?P<ticks>`{1,8})(?P<code>[^`](?:.{0,4000}?[^`])?)(?P=ticks)(?!`)"
    r"|(?P<image>!?)\[(?P<label>[^\[\]\n]{0,400})\]\((?P<target>[^()\s]{0,40000000})"
    r"(?:\s+\"[^\"]{0,200}\")?\)"
    r"|\*\*(?P<bold>[^*\s](?:[^*]{0,2000}[^*\s])?)\*\*"
    r"|(?<![\w*])[*](?P<star>[^*\s](?:[^*]{0,2000}[^*\s])?)[*](?![\w*])"
    r"|(?<![\w_])_(?P<under>[^_\s](?:[^_]{0,2000}[^_\s])?)_(?![\w_])"
    r"|~~(?P<struck>[^~\s](?:[^~]{0,2000}[^~\s])?)~~"
    r"|\\(?P<escaped>[\\`*_{}\[\]()#+.!|~<>-])"
)
QUOTE_DEPTH = 5
LINE_LIMIT = 20_000


def markdown_html(text: str, depth: int = 0) -> str:
    """The text as HTML that loads nothing, runs nothing and links to nothing."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return "\n".join(_blocks(lines, depth))


class _Kind(NamedTuple):
    """One kind of block."""

    begins: Callable[[list[str], int], bool]
    """Whether a block of this kind begins at a line."""
    goes_on: Callable[[list[str], int, int], bool]
    """Whether the block that began at a line still holds another."""
    drawn: Callable[[list[str], int], str]
    """The block as HTML."""


def _blocks(lines: list[str], depth: int) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        kind = _kind_at(lines, at, depth)
        end = at + 1
        while end < len(lines) and kind.goes_on(lines, at, end):
            end += 1
        yield kind.drawn(lines[at:end], depth)
        at = end


def _kind_at(lines: list[str], at: int, depth: int) -> _Kind:
    found = next((kind for kind in KINDS if kind.begins(lines, at)), PARAGRAPH)
    return PARAGRAPH if found is QUOTATION and depth >= QUOTE_DEPTH else found


def _fence_goes_on(lines: list[str], start: int, at: int) -> bool:
    return at - 1 == start or not _closes(lines[start], lines[at - 1])


def _closes(opening: str, line: str) -> bool:
    fence = FENCE.match(opening)
    ticks = line.strip()
    return fence is not None and ticks.startswith(fence[1]) and not ticks.strip(fence[1][0])


def _fence(lines: list[str], depth: int) -> str:
    opening = FENCE.match(lines[0])
    language = opening[2] if opening else ""
    body = lines[1:-1] if len(lines) > 1 and _closes(lines[0], lines[-1]) else lines[1:]
    return f'<pre class="code">{highlighted(chr(10).join(body), language or "text")}</pre>'


def _heading(lines: list[str], depth: int) -> str:
    heading = HEADING.fullmatch(lines[0])
    marks, text = heading.groups() if heading else ("", lines[0])
    level = min(6, len(marks) + 2)
    return f"<h{level}>{_inline(text)}</h{level}>"


def _quotation(lines: list[str], depth: int) -> str:
    inner = "\n".join(QUOTE.sub(r"\1", line, count=1) for line in lines)
    return f"<blockquote>{markdown_html(inner, depth + 1)}</blockquote>"


def _other(level: tuple[int, str]) -> tuple[int, str]:
    """The same indent with the other kind of list: an item of it ends the list."""
    return level[0], "ul" if level[1] == "ol" else "ol"


def _is_table(lines: list[str], at: int) -> bool:
    return (
        "|" in lines[at]
        and at + 1 < len(lines)
        and "|" in lines[at + 1]
        and TABLE_RULE.fullmatch(lines[at + 1]) is not None
    )


def _table(lines: list[str], depth: int) -> str:
    head, rows = _row(lines[0], "th"), [_row(line, "td") for line in lines[2:]]
    body = f"<tbody>{''.join(rows)}</tbody>" if rows else ""
    return f'<div class="table"><table><thead>{head}</thead>{body}</table></div>'


def _row(line: str, tag: str) -> str:
    cells = CELL_BREAK.split(line.strip().removeprefix("|").removesuffix("|"))
    return f"<tr>{''.join(f'<{tag}>{_inline(cell.strip())}</{tag}>' for cell in cells)}</tr>"


def _paragraph(lines: list[str], depth: int) -> str:
    return f"<p>{'<br>'.join(_inline(line.strip()) for line in lines)}</p>"


def _paragraph_goes_on(lines: list[str], start: int, at: int) -> bool:
    return bool(lines[at].strip()) and not any(kind.begins(lines, at) for kind in KINDS)


def _list(lines: list[str], depth: int) -> str:
    """Nested lists; how far an item is indented says what it belongs to."""
    pieces: list[str] = []
    levels: list[tuple[int, str]] = []
    for line in lines:
        item = BULLET.fullmatch(line)
        if item is None:
            pieces.append(f"<br>{_inline(line.strip())}")
            continue
        indent, kind = len(item[1]), "ol" if NUMBERED.match(line) else "ul"
        while levels and (indent < levels[-1][0] or (indent, kind) == _other(levels[-1])):
            pieces.append(f"</li></{levels.pop()[1]}>")
        if not levels or indent > levels[-1][0] + 1:
            levels.append((indent, kind))
            pieces.append(f"<{kind}>")
        else:
            pieces.append("</li>")
        pieces.append(f"<li>{_inline(item[2])}")
    while levels:
        pieces.append(f"</li></{levels.pop()[1]}>")
    return "".join(pieces)


def _inline(line: str) -> str:
    if len(line) > LINE_LIMIT and not PICTURE.search(line):
        return _text(line)
    pieces, end = [], 0
    for match in INLINE.finditer(line):
        pieces += [_text(line[end : match.start()]), _span(match)]
        end = match.end()
    return "".join([*pieces, _text(line[end:])])


def _span(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return f"<code>{_text(match['code'].strip())}</code>"
    if match["target"] is not None:
        return _linked(match)
    if match["escaped"] is not None:
        return _text(match["escaped"])
    for name, tag in (("bold", "strong"), ("star", "em"), ("under", "em"), ("struck", "s")):
        if match[name] is not None:
            return f"<{tag}>{_inline(match[name])}</{tag}>"
    raise AssertionError(match)


def _linked(match: re.Match[str]) -> str:
    label, target = match["label"], match["target"]
    if not match["image"]:
        return f'{_text(label)} <span class="address">{_text(target)}</span>'
    if PICTURE.fullmatch(target):
        return f'<img src="{html.escape(target)}" alt="{_text(label)}">'
    return f'<span class="blocked">picture not loaded: {_text(label)} {_text(target[:200])}</span>'


def _text(text: str) -> str:
    return html.escape(visible(text))


FENCED = _Kind(lambda lines, at: FENCE.match(lines[at]) is not None, _fence_goes_on, _fence)
HEADED = _Kind(
    lambda lines, at: HEADING.fullmatch(lines[at]) is not None, lambda *_: False, _heading
)
RULED = _Kind(
    lambda lines, at: RULE.fullmatch(lines[at]) is not None, lambda *_: False, lambda *_: "<hr>"
)
LISTED = _Kind(
    lambda lines, at: BULLET.fullmatch(lines[at]) is not None,
    lambda lines, _, at: bool(BULLET.fullmatch(lines[at])) or lines[at].startswith("  "),
    _list,
)
QUOTATION = _Kind(
    lambda lines, at: QUOTE.fullmatch(lines[at]) is not None,
    lambda lines, _, at: QUOTE.fullmatch(lines[at]) is not None,
    _quotation,
)
TABULAR = _Kind(_is_table, lambda lines, _, at: "|" in lines[at], _table)
PARAGRAPH = _Kind(lambda *_: True, _paragraph_goes_on, _paragraph)
KINDS = (FENCED, HEADED, RULED, LISTED, QUOTATION, TABULAR)
