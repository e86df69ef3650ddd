"""What a model is given of a cell's outputs, decided once, when they are made.

The text never changes afterwards, so that the provider's prompt cache keeps hitting; what was
cut stays readable by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from cellwright.record.attachments import human_size
from cellwright.record.cells import Execution, FileChange
from cellwright.record.messages import ImagePart, Part, TextPart
from cellwright.record.mime_text import bundle_text
from cellwright.record.outputs import ErrorOutput, ExecuteResult, Output, StreamOutput
from cellwright.record.pictures import picture_in, sendable
from cellwright.text.cleaning import REPEATS_SHOWN, clean
from cellwright.text.truncation import Shortened, page_lines, shorten, token_count
from cellwright.tools.tracebacks import MESSAGE_CHARACTERS, summarise_error

CHANGED_LIMIT = 12
FILES_LIMIT = 8
VALUE_CHARACTERS = 80
SMALL_RESULT_CHARACTERS = 1_600
ELIDED = re.compile(r"(?:^|\s)\.{2,3}(?:\s|$)", re.MULTILINE)
"""Dots on their own: pandas and numpy left something out."""
NO_NEWS_TYPES = frozenset({"module"})
STATUS_WORDS = {
    "timeout": (
        "[{note}. What it printed until then is above; variables set until then remain. "
        "Pass a larger timeout_seconds, or do less at once.]"
    ),
    "interrupted": "[{note}. Variables set until then remain. Do not run it again unasked.]",
    "died": "[{note}. All variables are lost. Tell the person; do not run the same code again.]",
    "aborted": "[{note}. The cell did not run.]",
}
STATUS_NOTES = {
    "timeout": "stopped: the cell took longer than its limit",
    "interrupted": "interrupted by the person",
    "died": "the kernel died",
    "aborted": "aborted by the kernel",
}


class SummaryLimits(Protocol):
    """How much a model is given."""

    @property
    def output_tokens(self) -> int:
        """Of one output."""
        ...

    @property
    def step_tokens(self) -> int:
        """Of all outputs of one call."""
        ...

    @property
    def images(self) -> int:
        """Pictures of one call."""
        ...


@dataclass(frozen=True)
class CutText:
    """A text of which the model was given a part."""

    name: str
    """What ``read_output`` calls it."""
    text: str


@dataclass(frozen=True)
class Summary:
    """What a model is given, and the full text of what was cut."""

    parts: tuple[Part, ...]
    cut: tuple[CutText, ...] = ()


def summarise(
    outputs: Sequence[Output],
    execution: Execution | None,
    limits: SummaryLimits,
    *,
    sees_images: bool = False,
    name: str = "",
) -> Summary:
    """The outputs of one cell and how it ended, for a model.

    Args:
        outputs: Folded outputs, in their final state.
        execution: How the cell ended; None for a cell that is only looked at.
        limits: How much of it is given.
        sees_images: Pictures are sent as pictures; otherwise only named.
        name: What ``read_output`` will call the full text.
    """
    shown = _texts(outputs, execution.result_summary if execution else "")
    body = _body(shown, limits, name)
    errors = _errors(outputs, execution)
    pictures = _pictures(outputs, limits.images) if sees_images else _Pictures()
    nothing = "" if body.text or errors else "(no output)"
    drawn = [] if sees_images else _figures(execution)
    told = [*map(summarise_error, errors), pictures.note, *drawn, *_ending(execution)]
    lines = [nothing, body.text, *told]
    text = "\n".join(line for line in lines if line)
    parts: tuple[Part, ...] = (TextPart(text), *pictures.sent)
    long_message = any(len(error.evalue) > MESSAGE_CHARACTERS for error in errors)
    if not name or not (body.was_cut or long_message):
        return Summary(parts)
    full = "\n".join([*shown, *map(_full_error, errors)])
    return Summary(parts, (CutText(name, full),))


def changes_line(execution: Execution) -> str:
    """Variables and files a cell made, changed or removed, in at most two lines."""
    changed = [v for v in execution.changed if v.type not in NO_NEWS_TYPES]
    words = [f"{v.name} {v.type} {_short(v.text)}".rstrip() for v in changed]
    lines = [
        f"changed: {_list(words, CHANGED_LIMIT)}" if words else "",
        f"removed: {_list(list(execution.removed), CHANGED_LIMIT)}" if execution.removed else "",
        f"files: {_list(_file_words(execution.files), FILES_LIMIT)}" if execution.files else "",
    ]
    return "\n".join(line for line in lines if line)


def _texts(outputs: Sequence[Output], result_summary: str) -> list[str]:
    """Each output but errors as its cleaned text; runs of equal ones as one."""
    texts = [_text(output, result_summary) for output in outputs]
    shown: list[str] = []
    for text, run in groupby(text for text in texts if text):
        count = sum(1 for _ in run)
        many = count >= REPEATS_SHOWN
        shown += [f"{text} (repeated {count}×)"] if many else [text] * count
    return shown


def _text(output: Output, result_summary: str) -> str:
    if isinstance(output, ErrorOutput):
        return ""
    if isinstance(output, StreamOutput):
        text = clean(output.text).strip("\n")
        return f"[stderr] {text}" if text and output.name == "stderr" else text
    text = bundle_text(output.data).rstrip()
    if isinstance(output, ExecuteResult) and result_summary and not _is_small(text):
        return clean(result_summary).rstrip()
    return text


def _is_small(text: str) -> bool:
    """Whether a value is shown whole in few words: then its values say more than a summary."""
    return 0 < len(text) <= SMALL_RESULT_CHARACTERS and not ELIDED.search(text)


def _body(shown: list[str], limits: SummaryLimits, name: str) -> Shortened:
    pieces: list[str] = []
    was_cut = False
    line = 1
    for text in shown:
        short = shorten(text, limits.output_tokens, name, line)
        pieces.append(short.text)
        was_cut = was_cut or short.was_cut
        line += len(page_lines(text))
    body = "\n".join(pieces)
    if token_count(body) <= limits.step_tokens:
        return Shortened(body, was_cut)
    return shorten("\n".join(shown), limits.step_tokens, name)


def _errors(outputs: Sequence[Output], execution: Execution | None) -> list[ErrorOutput]:
    found = [output for output in outputs if isinstance(output, ErrorOutput)]
    if not found and execution is not None and execution.error is not None:
        found = [execution.error]
    return found


def _full_error(error: ErrorOutput) -> str:
    return clean("\n".join([f"{error.ename}: {error.evalue}", *error.traceback]))


def _ending(execution: Execution | None) -> list[str]:
    if execution is None:
        return []
    note = clean(execution.note).strip().rstrip(".")
    words = STATUS_WORDS.get(execution.status)
    if words is not None:
        note = words.format(note=note or STATUS_NOTES[execution.status])
    elif note:
        note = f"[{note}]"
    return [note, changes_line(execution)]


@dataclass(frozen=True)
class _Pictures:
    sent: tuple[ImagePart, ...] = ()
    note: str = ""


def _pictures(outputs: Sequence[Output], limit: int) -> _Pictures:
    found = [
        picture
        for output in outputs
        if not isinstance(output, (StreamOutput, ErrorOutput))
        and (picture := picture_in(output.data)) is not None
    ]
    sent = tuple(part for picture in found[:limit] if (part := sendable(picture)) is not None)
    left = len(found) - len(sent)
    return _Pictures(sent, f"[{left} of {len(found)} pictures not sent to you]" if left else "")


def _figures(execution: Execution | None) -> list[str]:
    figures = execution.figures if execution is not None else ()
    return [f"[figure, which you cannot see: {clean(text)}]" for text in figures]


def _file_words(files: Iterable[FileChange]) -> list[str]:
    return [
        f"{file.change} {file.path}"
        + (f" ({human_size(file.size_bytes)})" if file.change != "deleted" else "")
        for file in files
    ]


def _short(text: str) -> str:
    line = " ".join(clean(text).split())
    return line if len(line) <= VALUE_CHARACTERS else f"{line[: VALUE_CHARACTERS - 1]}…"


def _list(words: list[str], limit: int) -> str:
    more = f"; … {len(words) - limit} more" if len(words) > limit else ""
    return "; ".join(words[:limit]) + more
