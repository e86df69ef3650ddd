"""Terminal text as plain text: what would be left on the screen, for a model to read.

The full text stays in the record; only what a model is given is cleaned.
"""

from __future__ import annotations

import re
from itertools import groupby

__all__ = ["clean", "collapse_repeats", "without_lone_surrogates"]

ERASE_LINE = re.compile(r"\x1b\[[012]?K")
ESCAPES = re.compile(
    r"\x1b(?:"
    r"\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC: titles, links, clipboard
    r"|[PX^_][^\x1b]*(?:\x1b\\|$)"  # DCS and relatives
    r"|\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[ -/]*[0-~]"
    r"|$)"
)
ERASED = "\x18"
"""Stands for an erased line until carriage returns are settled."""
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
PIP_NOISE = "Requirement already satisfied:"
BLANK_LINES = re.compile(r"\n{4,}")
REPEATS_SHOWN = 3
"""Fewer equal lines than this are left as they are."""


def clean(text: str) -> str:
    """The text without escapes, overwritten progress bars, repeated lines and pip's noise."""
    if "\x1b" in text:
        text = ESCAPES.sub("", ERASE_LINE.sub(ERASED, text))
    lines = [_settled(line) for line in without_lone_surrogates(text).split("\n")]
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


def _settled(line: str) -> str:
    """A line as a terminal shows it after carriage returns, backspaces and erasures."""
    if "\r" in line or ERASED in line:
        line = _overwritten(line)
    if "\x08" in line:
        line = _backspaced(line)
    return CONTROLS.sub("", line)


def _overwritten(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        _, erased, written = part.rpartition(ERASED)
        if erased:
            shown = ""
        if written.strip("\x08") or erased:
            shown = written + shown[len(written) :]
    return shown.rstrip()


def _backspaced(line: str) -> str:
    shown: list[str] = []
    column = 0
    for character in line:
        if character == "\x08":
            column = max(0, column - 1)
        else:
            shown[column : column + 1] = [character]
            column += 1
    return "".join(shown).rstrip()
