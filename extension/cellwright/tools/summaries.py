"""What a model is given of a cell's outputs, decided once, when they are made.

The text never changes afterwards, so that the provider's prompt cache keeps hitting; what was
cut stays readable by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from cellwright.record.attachments import human_size
from cellwright.record.messages import ImagePart, Part, TextPart
from cellwright.record.mime_bundles import bundle_text, picture_in, sendable
from cellwright.record.outputs import (
    ErrorOutput,
    ExecuteResult,
    Execution,
    FileChange,
    Output,
    StreamOutput,
)
from cellwright.text.cleaning import REPEATS_SHOWN, clean
from cellwright.text.truncation import Shortened, fits, page_lines, shorten

# An exception as a model reads it: the message whole, the person's lines, libraries in brief.
#
# Reads what IPython and plain Python print; the text of an unknown shape is kept, cut.


MESSAGE_CHARACTERS = 2_000
LINE_CHARACTERS = 180
CONTEXT_LINES = 2
FRAME_LIMIT = 6
RAW_LINE_LIMIT = 12

IN_NAME = r"(?:,? in (?P<name>.*))?$"
HEADERS = (
    re.compile(r"^\s*(?P<file>(?:Cell In ?|Input In )\[\d+\]), line (?P<line>\d+)" + IN_NAME),
    re.compile(r"^\s*(?P<file>Input In \[\d+\]), in (?P<name>.*)$"),
    re.compile(r'^\s*(?:\| )*File "(?P<file>.+)", line (?P<line>\d+)' + IN_NAME),
    re.compile(r"^\s*File (?P<file>.+?):(?P<line>\d+)" + IN_NAME),
)
HEADING = re.compile(r"^(-{10,}|\S+ +Traceback \(most recent call last\)|Traceback \(most.*):?$")
CHAINED = re.compile(r"^(The above exception was the direct|During handling of the above)")
SKIPPING = re.compile(r"^\s*\[\.\.\. skipping")
NUMBERED = re.compile(r"^(?P<arrow>-+>)?\s*(?P<number>\d+)(?: (?P<code>.*))?$")
NO_SOURCE = "'Could not get source, probably due dynamically evaluated source code.'"
LIBRARY = re.compile(
    r"site-packages|dist-packages|[/\\]lib[/\\]python\d|[/\\]python[\d.]+[/\\]lib[/\\]"
    r"|[/\\]Lib[/\\]|^<frozen|^<__array_function__|^<decorator-gen|\.(?:pyx|pxi)$|^lib/python"
)
PACKAGE = re.compile(r"^.*(?:site-packages|dist-packages|[/\\]python\d[\d.]*)[/\\]")
OWN = re.compile(r"[/\\]cellwright[/\\]\w+(?:[/\\]\w+)?\.py$")
GROUP_RULE = re.compile(r"^\+?-+$")
SYNTAX_PLACE = re.compile(r" \((?:<.*>|\d+\.py), line \d+\)$")


@dataclass(eq=False)
class TracebackPlace:
    """One place of a traceback."""

    file: str
    line: str
    name: str
    body: list[str] = field(default_factory=list)

    @property
    def is_library(self) -> bool:
        """Whether the person did not write it."""
        return bool(LIBRARY.search(self.file))

    @property
    def place(self) -> str:
        """The place in one short line."""
        if self.file.startswith(("Cell In", "Input In")):
            place = f"{self.file}, line {self.line}" if self.line else self.file
        else:
            place = f"{PACKAGE.sub('', self.file)}:{self.line}"
        name = self.name.partition("(")[0]
        return f"{place} in {name}" if name and not name.startswith("<") else place


@dataclass(eq=False)
class Segment:
    """One exception of a chain."""

    frames: list[TracebackPlace] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """Lines outside frames: the message and its notes."""


def summarise_error(error: ErrorOutput) -> str:
    """The exception in few lines; its message is cut past 2,000 characters only."""
    segments = _segments(error)
    headline = _headline(error)
    notes = _notes(segments[-1].text, error) if segments[-1].frames else []
    lines = [headline, *notes, *_frames(segments[-1].frames)]
    if not any(segment.frames for segment in segments):
        lines += _raw(segments[-1].text, headline)
    lines += [cause for segment in segments[:-1] if (cause := _cause(segment, headline))]
    return "\n".join(lines)


def _headline(error: ErrorOutput) -> str:
    message = clean(error.evalue)
    if GROUP_RULE.match(message):
        # Of an exception group IPython reports the last line of its drawing.
        message = _group_message(error)
    if error.ename in ("SyntaxError", "IndentationError", "TabError"):
        message = SYNTAX_PLACE.sub("", message)
    if len(message) > MESSAGE_CHARACTERS:
        rest = len(message) - MESSAGE_CHARACTERS
        message = f"{message[:MESSAGE_CHARACTERS]} [… {rest:,} more characters of the message …]"
    return f"{error.ename}: {message}" if message else error.ename


def _group_message(error: ErrorOutput) -> str:
    found = re.search(rf"\| {re.escape(error.ename)}: (.*)", clean("\n".join(error.traceback)))
    return found[1] if found else ""


def _segments(error: ErrorOutput) -> list[Segment]:
    segments = [Segment()]
    frame: TracebackPlace | None = None
    for line in clean("\n".join(error.traceback)).split("\n"):
        header = _header(line)
        if CHAINED.match(line):
            segments.append(Segment())
            frame = None
        elif header is not None:
            frame = header
            segments[-1].frames += [] if OWN.search(frame.file) else [frame]
        elif not line.strip() or HEADING.match(line) or SKIPPING.match(line):
            frame = None
        elif frame is not None and not line.startswith(f"{error.ename}:"):
            frame.body.append(line)
        else:
            frame = None
            segments[-1].text.append(line)
    return [segment for segment in segments if segment.frames or segment.text] or segments[-1:]


def _header(line: str) -> TracebackPlace | None:
    for pattern in HEADERS:
        match = pattern.match(line)
        if match:
            found = match.groupdict(default="")
            return TracebackPlace(found["file"], found.get("line", ""), found["name"])
    return None


def _notes(text: list[str], error: ErrorOutput) -> list[str]:
    """What stands after the message: notes added to the exception."""
    said = set(f"{error.ename}: {clean(error.evalue)}".split("\n"))
    notes = [line for line in text if line not in said and not line.startswith(error.ename)]
    return [_cut(line) for line in notes[:CONTEXT_LINES]]


def _frames(frames: list[TracebackPlace]) -> list[str]:
    lines: list[str] = []
    libraries: list[TracebackPlace] = []
    for frame in _outer_and_inner(frames):
        if isinstance(frame, TracebackPlace) and frame.is_library:
            libraries.append(frame)
            continue
        lines += _library_line(libraries)
        libraries = []
        lines += [frame] if isinstance(frame, str) else [frame.place, *_list_lines(frame)]
    return lines + _library_line(libraries)


def _outer_and_inner(frames: list[TracebackPlace]) -> list[TracebackPlace | str]:
    """The frames; of more than six of the person's own, the first two and the last four."""
    own = [frame for frame in frames if not frame.is_library]
    if len(own) <= FRAME_LIMIT:
        return list(frames)
    first, last = frames.index(own[2]), frames.index(own[-4])
    return [*frames[:first], f"(… {last - first} more frames …)", *frames[last:]]


def _library_line(frames: list[TracebackPlace]) -> list[str]:
    if not frames:
        return []
    last = frames[-1].place
    return [_cut(f"({last})" if len(frames) == 1 else f"({len(frames)} library frames to {last})")]


def _list_lines(frame: TracebackPlace) -> list[str]:
    """The line that failed, with two lines before and after it."""
    parsed = [NUMBERED.match(line) for line in frame.body]
    arrows = [i for i, match in enumerate(parsed) if match and match["arrow"]]
    if not arrows:
        return [_cut(line) for line in frame.body[: 2 * CONTEXT_LINES + 1]]
    first, last = max(0, arrows[0] - CONTEXT_LINES), arrows[-1] + CONTEXT_LINES + 1
    near = [match for match in parsed[first:last] if match and match["code"] != NO_SOURCE]
    width = max((len(match["number"]) for match in near), default=0)
    return [
        _cut(f"{'>' if m['arrow'] else ' '} {m['number']:>{width}} {m['code'] or ''}".rstrip())
        for m in near
    ]


def _raw(text: list[str], headline: str) -> list[str]:
    lines = [_cut(line) for line in text if line.rstrip(": ") not in headline]
    if len(lines) <= RAW_LINE_LIMIT:
        return lines
    half = RAW_LINE_LIMIT // 2
    return [*lines[:half], f"(… {len(lines) - RAW_LINE_LIMIT} more lines …)", *lines[-half:]]


def _cause(segment: Segment, headline: str) -> str:
    """An earlier exception of the chain in one line; nothing when it says the same."""
    message = next((line for line in segment.text if line.strip()), "")
    if not message or message in headline:
        return ""
    own = [frame.place for frame in segment.frames if not frame.is_library]
    return _cut(f"after {message}" + (f" ({own[-1]})" if own else ""))


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= LINE_CHARACTERS else f"{line[: LINE_CHARACTERS - 1]}…"


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
class OutputSummary:
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
) -> OutputSummary:
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
        return OutputSummary(parts)
    full = "\n".join([*shown, *map(_full_error, errors)])
    return OutputSummary(parts, (CutText(name, full),))


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
    if fits(body, limits.step_tokens):
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
