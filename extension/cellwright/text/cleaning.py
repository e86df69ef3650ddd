"""Terminal text as plain text: what would be left on the screen, for a model to read.

The full text stays in the record; only what a model is given is cleaned.
"""

from __future__ import annotations

import re
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
