"""What a call would do, in words and whole: for a person who is asked, wherever they read it."""

from __future__ import annotations

import difflib
import json
import re

from cellwright.record.events import NamedCell, ToolStarted
from cellwright.text.cleaning import without_lone_surrogates

CODE_ARGUMENTS = ("code", "source")
ASKED_ALONE = ("install", "destroy")
"""Risks of calls that an answer for all does not cover."""
LINE_CHARACTERS = 60
DEEDS = {
    "run_cell": "run",
    "run_existing_cell": "run",
    "run_scratch": "run",
    "clear_outputs": "clear the outputs of",
    "edit_cell": "change",
    "add_cell": "insert",
    "arrange_cell": "move",
    "install_package": "install",
}
# What is drawn as nothing or reorders text: controls, line separators, and what Unicode calls
# Bidi_Control and Default_Ignorable_Code_Point. The same signs as in js/src/ui/spelled_out.ts.
HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
EMOJI = "\xa9\xae\u203c\u2049\u2122\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
JOINED = "\u0600-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
"""Letters of scripts that are written with joiners."""
# Signs that shape an emoji or join letters stay where they stand alone behind one of those. Behind
# other letters they would make two names that look alike.
SHAPED_OR_HIDDEN = re.compile(
    f"[{EMOJI}](?:\ufe0f\u200d?|\u200d)|(?![{HIDDEN}])[{JOINED}][\u200c\u200d]|([{HIDDEN}])"
)


def code_of(call: ToolStarted) -> str:
    """All that a call would put into the notebook, take out of it or do."""
    changed = _target(call)
    code = written_by(call)
    deed = deed_of(call)
    if changed is not None and call.name == "run_existing_cell":
        code = changed.source
    elif changed is not None and deed != "run":
        is_kept = deed in ("move", DEEDS["clear_outputs"])
        return "" if is_kept else _diff(spelled_out(changed.source), spelled_out(code))
    written = _written_argument(call)
    others = {name: value for name, value in call.arguments.items() if name != written}
    # Of a tool that is not ours, every argument may matter.
    is_told = not code or (others and call.name not in DEEDS)
    arguments = json.dumps(others, ensure_ascii=False, indent=2, default=repr) if is_told else ""
    return spelled_out("\n\n".join(filter(None, (code, arguments))))


def code_to_run(call: ToolStarted) -> str:
    """The Python that the kernel would run, whole; empty: none."""
    if call.name == "run_existing_cell":
        target = _target(call)
        return target.source if target is not None else ""
    is_run = call.name in ("run_cell", "run_scratch") or deed_of(call) == "change and run"
    return written_by(call) if is_run else ""


def language_of(call: ToolStarted) -> str:
    """What ``code_of`` is written in."""
    if call.cells and deed_of(call) in ("change", "change and run", "delete"):
        return "diff"
    kind = call.arguments.get("cell_type", "markdown") if call.name == "add_cell" else "code"
    return "markdown" if kind == "markdown" else "python"


def written_by(call: ToolStarted) -> str:
    """The code or text that a call writes; empty: none."""
    return str(call.arguments.get(_written_argument(call), ""))


def _written_argument(call: ToolStarted) -> str:
    """The argument that holds it; empty: none does."""
    given = call.arguments
    return next((name for name in CODE_ARGUMENTS if isinstance(given.get(name), str)), "")


def spelled_out(text: str) -> str:
    """A text in which nothing hides: signs that reorder or act are written as such."""
    # Python and editors take a carriage return for the end of a line.
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return SHAPED_OR_HIDDEN.sub(_escaped, without_lone_surrogates(unified))


def _escaped(found: re.Match[str]) -> str:
    """A hidden sign as Python writes it."""
    if found[1] is None:
        return found[0]
    code = ord(found[1])
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"


def deed_of(call: ToolStarted) -> str:
    """What a call does, as a question to the person has it."""
    deed = DEEDS.get(call.name, "run")
    if call.name == "edit_cell" and call.arguments.get("run"):
        return "change and run"
    is_deletion = call.name == "arrange_cell" and call.arguments.get("action") == "delete"
    return "delete" if is_deletion else deed


def words_of(call: ToolStarted) -> str:
    """What a call does to which cell: by its number and first line."""
    target = _target(call)
    followed = next((cell for cell in call.cells if cell is not target), None)
    if target is None and followed is None:
        return call.label or call.name
    words = [deed_of(call).capitalize(), _named(target), "below" if followed else ""]
    to_top = "to the top" if deed_of(call) == "move" and followed is None else ""
    return " ".join(filter(None, [*words, _named(followed), to_top]))


def _target(call: ToolStarted) -> NamedCell | None:
    """The cell that it changes."""
    wanted = call.arguments.get("cell_id")
    return next((cell for cell in call.cells if cell.cell_id == wanted), None)


def _named(cell: NamedCell | None) -> str:
    if cell is None:
        return ""
    line = next((line for line in cell.source.splitlines() if line.strip()), "")
    return f"cell {cell.name} ({_short(line)})" if line else f"cell {cell.name}"


def _diff(before: str, after: str) -> str:
    """All lines of a cell, with what goes and what comes."""
    # str.splitlines knows more ends of lines than Python does.
    old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    lines = list(difflib.unified_diff(old, new, n=len(old) + len(new), lineterm=""))
    # The first three name files and lines.
    return "\n".join(lines[3:] or [f" {line}" for line in new])


def _short(line: str) -> str:
    text = spelled_out(" ".join(line.split()))
    return text if len(text) <= LINE_CHARACTERS else f"{text[: LINE_CHARACTERS - 1]}…"
