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
ESCAPED = r"(?P<escape>!!?|%)(?P<text>(?:\\\n|[^\n])*)"
LINE = re.compile(
    r"(?P<indent>[ \t]*)(?:"
    + ESCAPED
    + r"|(?P<call>[/,;])(?P<function>[\w.]+)(?P<arguments>[^\n]*)"
    + r"|(?P<help>\?{1,2}[^\n]*|%{0,2}[\w.*]+\?{1,2}[ \t]*(?=\n|$)))"
)
ASSIGNS = re.compile(r"(?<![=!<>:+\-*/%&|^@~])=(?!=)")
ASSIGNED = re.compile(r"(?:[ \t]|\\\n)*" + ESCAPED)
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


def without_texts(code: str) -> str:
    """Code without its strings and comments."""
    return "".join(
        piece for piece in PIECE.findall(code) if len(piece) == 1 or piece[0] not in "\"'#"
    )


def _written_out(text: str) -> Iterator[str]:
    place, depth, starts_line, is_assigned = 0, 0, True, False
    while place < len(text):
        found = LINE.match(text, place) if starts_line else None
        if found is not None:
            yield found["indent"] + _call(found)
            place, starts_line = found.end(), False
            continue
        is_assigned = is_assigned and not starts_line
        piece = PIECE.match(text, place)
        assert piece is not None, "the last way matches any character"
        part, place = piece.group(), piece.end()
        # IPython reads what stands behind the first equals sign of a line, outside brackets.
        sign = None if is_assigned or depth else ASSIGNS.search(part)
        if sign is not None and part[0] not in "\"'#":
            is_assigned, end = True, piece.start() + sign.end()
            escaped = ASSIGNED.match(text, end)
            if escaped is not None:
                part, place = part[: sign.end()] + _call(escaped), escaped.end()
        depth = max(0, depth + (part in "([{") - (part in ")]}"))
        starts_line = part == "\n" and depth == 0
        yield part


def _call(found: re.Match[str]) -> str:
    parts = found.groupdict()
    if parts.get("help") is not None:
        return "pass"
    if parts.get("call") is not None:
        given = found["arguments"].strip()
        return f"{found['function']}({given if found['call'] == '/' else repr(given)})"
    text = found["text"].replace("\\\n", " ")
    if found["escape"] != "%":
        way = "getoutput" if found.re is ASSIGNED or found["escape"] == "!!" else "system"
        return f"get_ipython().{way}({text!r})"
    words = LINE_MAGIC.match(text)
    name, rest = words.groups() if words is not None else ("", "")
    return f"get_ipython().run_line_magic({name.lstrip('%')!r}, {rest!r})"
