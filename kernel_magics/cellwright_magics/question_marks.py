"""Keeps ``%agent which month was best?`` a prompt.

IPython takes a line that ends with a question mark for a call for help on its last word.
"""

from __future__ import annotations

import re

LINE = re.compile(
    r"(?P<before>\s*(?:[^\n#'\"=]*=\s*)?)%agent[ \t]+(?P<prompt>\S[^\n]*\?)[ \t]*(?P<end>\n?)"
)
LONG_QUOTES = ("'''", '"""')


def keep_question_marks(lines: list[str]) -> list[str]:
    """The lines of a cell, with prompts that end so spelled as the call they stand for."""
    if not lines or lines[0].lstrip().startswith("%%"):
        return lines
    if not any("%agent" in line for line in lines):
        return lines
    return [line if _in_string(lines[:at]) else _kept(line) for at, line in enumerate(lines)]


def _kept(line: str) -> str:
    match = LINE.fullmatch(line)
    if match is None or not match["prompt"].strip("? \t"):
        return line
    call = f"get_ipython().run_line_magic('agent', {match['prompt']!r})"
    return f"{match['before']}{call}{match['end']}"


def _in_string(before: list[str]) -> bool:
    text = "".join(before)
    return any(text.count(quotes) % 2 for quotes in LONG_QUOTES)
