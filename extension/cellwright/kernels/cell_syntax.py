"""A cell as Python: IPython's magics, shell lines and calls without brackets written out.

IPython has a transformer of its own. It reads the whole cell again for every line that it
changes, so that 450 short lines take it seconds, and here every cell is read before it runs. This
one passes over the text once. What it writes out is read and never run.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import dropwhile

FIRST_PROMPT = r"^[ \t]*(?:>>>|(?:\[(?:nav|ins)\] )?In \[\d+\]:|\.{3,}:)"
PROMPTED = re.compile(FIRST_PROMPT, re.MULTILINE)
PROMPT = re.compile(rf"(?:{FIRST_PROMPT}|^[ \t]*\.\.\.)[ \t]?", re.MULTILINE)
CELL_MAGIC = re.compile(r"[ \t]*%%(?!\w+\?)([\w!]+)[ \t]*(.*)\n?")
ASSIGNED = r"(?P<assigned>[\w.,*\[\]'\" \t]{1,200}=[ \t]*)?"
LINE = re.compile(
    r"(?P<indent>[ \t]*)(?:"
    + ASSIGNED
    + r"(?P<escape>!!?|%)(?P<text>(?:\\\n|[^\n])*)"
    + r"|(?P<call>[/,;])(?P<function>[\w.]+)(?P<arguments>[^\n]*)"
    + r"|(?P<help>\?{1,2}[^\n]*|%{0,2}[\w.*]+\?{1,2}[ \t]*(?=\n|$)))"
)
PIECE = re.compile(
    # A string that is never closed goes on to the end: looked for again and again it takes long.
    r"\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)|'''(?:\\.|[^\\])*?(?:'''|\Z)"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\#[^\n]*|\\\n|[^\"'\#\\\n()\[\]{}]+|[\s\S]",
    re.DOTALL,
)
LINE_MAGIC = re.compile(r"[ \t]*(\S+)[ \t]*([\s\S]*)")


def as_python(cell: str) -> str:
    """The cell with nothing in it but Python, if it was a cell that IPython understands."""
    # In IPython's order. Its versions differ in what they take for a prompt and in whose indent
    # they take away; a cell magic is read here where any of them runs one.
    text = "\n".join(dropwhile(lambda line: not line.strip(), cell.splitlines()))
    if PROMPTED.search(text):
        text = PROMPT.sub("", text)
    magic = CELL_MAGIC.match(text)
    if magic is not None:
        name, line = magic.groups()
        return f"get_ipython().run_cell_magic({name!r}, {line!r}, {text[magic.end() :]!r})"
    return "".join(_written_out(textwrap.dedent(text)))


def _written_out(text: str) -> Iterator[str]:
    place, depth, starts_line = 0, 0, True
    while place < len(text):
        found = LINE.match(text, place) if starts_line else None
        if found is not None:
            yield found["indent"] + _call(found)
            place, starts_line = found.end(), False
            continue
        piece = PIECE.match(text, place)
        assert piece is not None, "the last way matches any character"
        part = piece.group()
        depth = max(0, depth + (part in "([{") - (part in ")]}"))
        starts_line = part == "\n" and depth == 0
        place = piece.end()
        yield part


def _call(found: re.Match[str]) -> str:
    if found["help"] is not None:
        return "pass"
    if found["call"] is not None:
        given = found["arguments"].strip()
        return f"{found['function']}({given if found['call'] == '/' else repr(given)})"
    text, assigned = found["text"].replace("\\\n", " "), found["assigned"] or ""
    if found["escape"] != "%":
        way = "getoutput" if assigned or found["escape"] == "!!" else "system"
        return f"{assigned}get_ipython().{way}({text!r})"
    words = LINE_MAGIC.match(text)
    name, rest = words.groups() if words is not None else ("", "")
    return f"{assigned}get_ipython().run_line_magic({name.lstrip('%')!r}, {rest!r})"
