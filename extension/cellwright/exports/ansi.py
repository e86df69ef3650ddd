"""Terminal colours as classed spans; every other escape sequence goes."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

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
        yield _span(text[end : match.start()], style)
        if match["sgr"] is not None:
            style = _styled(style, match["sgr"])
        end = match.end()
    yield _span(text[end:], style)


def _span(text: str, style: dict[str, str]) -> str:
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
