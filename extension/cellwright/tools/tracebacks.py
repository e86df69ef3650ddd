"""An exception as a model reads it: the message whole, the person's lines, libraries in brief.

Reads what IPython and plain Python print; the text of an unknown shape is kept, cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cellwright.record.outputs import ErrorOutput
from cellwright.text.cleaning import clean

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
class Frame:
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

    frames: list[Frame] = field(default_factory=list)
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
    frame: Frame | None = None
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


def _header(line: str) -> Frame | None:
    for pattern in HEADERS:
        match = pattern.match(line)
        if match:
            found = match.groupdict(default="")
            return Frame(found["file"], found.get("line", ""), found["name"])
    return None


def _notes(text: list[str], error: ErrorOutput) -> list[str]:
    """What stands after the message: notes added to the exception."""
    said = set(f"{error.ename}: {clean(error.evalue)}".split("\n"))
    notes = [line for line in text if line not in said and not line.startswith(error.ename)]
    return [_cut(line) for line in notes[:CONTEXT_LINES]]


def _frames(frames: list[Frame]) -> list[str]:
    lines: list[str] = []
    libraries: list[Frame] = []
    for frame in _outer_and_inner(frames):
        if isinstance(frame, Frame) and frame.is_library:
            libraries.append(frame)
            continue
        lines += _library_line(libraries)
        libraries = []
        lines += [frame] if isinstance(frame, str) else [frame.place, *_body(frame)]
    return lines + _library_line(libraries)


def _outer_and_inner(frames: list[Frame]) -> list[Frame | str]:
    """The frames; of more than six of the person's own, the first two and the last four."""
    own = [frame for frame in frames if not frame.is_library]
    if len(own) <= FRAME_LIMIT:
        return list(frames)
    first, last = frames.index(own[2]), frames.index(own[-4])
    return [*frames[:first], f"(… {last - first} more frames …)", *frames[last:]]


def _library_line(frames: list[Frame]) -> list[str]:
    if not frames:
        return []
    last = frames[-1].place
    return [_cut(f"({last})" if len(frames) == 1 else f"({len(frames)} library frames to {last})")]


def _body(frame: Frame) -> list[str]:
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
