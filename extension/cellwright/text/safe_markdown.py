"""Model-written Markdown as Markdown that makes a browser fetch nothing and run nothing.

JupyterLab's own renderer loads remote pictures, styles and media from Markdown, so model text is
rewritten before it is handed over. Fenced code is put in a plain form that every renderer reads
alike: at the margin, blank lines around it, closed. Outside code there is no HTML, no picture
except inline PNG, JPEG, GIF and WebP, no reference definition, and links show where they lead.
What this does not do: judge what the text says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cellwright.text.cleaning import ESCAPES, without_lone_surrogates
from cellwright.text.safe_inline import safe_inline, safe_math

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
class _Writer:
    """The lines written so far."""

    lines: list[str] = field(default_factory=list)

    def block(self, text: str) -> None:
        """A block with a blank line on either side."""
        if self.lines and self.lines[-1].strip():
            self.lines.append("")
        self.lines += [*text.split("\n"), ""]


def _blocks(lines: list[str], depth: int) -> list[str]:
    writer = _Writer()
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


def _code(lines: list[str], position: int, fence: re.Match[str], writer: _Writer) -> int:
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


def _quote(lines: list[str], position: int, writer: _Writer, depth: int) -> int:
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


def _math(lines: list[str], position: int, writer: _Writer) -> int:
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
