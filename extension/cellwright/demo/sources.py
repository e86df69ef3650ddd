"""Which data a turn is about: a named variable, a named file, or a table that is there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cellwright.demo.lexicon import say
from cellwright.demo.steps import CannotGoOnError, DemoCall, Steps, run_code
from cellwright.demo.transcript import DemoConversation, DemoExchange, failure, listed

ENDINGS = "csv|tsv|txt|xlsx?|jsonl?|ndjson|parquet"
FILE = re.compile(
    rf"""["'`]([^"'`\n]+\.(?:{ENDINGS}))["'`]"""
    rf"|((?:[A-Za-z]:)?[\w./\\~:@%+-]+\.(?:{ENDINGS}))(?![A-Za-z0-9])",
    re.I,
)
USED_FILE = re.compile(rf"\b(?:use|using)\s+(?:the\s+)?(?:file\s+)?(?:{FILE.pattern})", re.I)
MENTIONED = re.compile(r"(?<![\w@.])@([^\W\d]\w*)")
FRAME_LINE = re.compile(r"^@?([^\W\d]\w*): \S*DataFrame\b", re.M)
GONE = re.compile(r"^gone: (.*)$", re.M)
ATTACHED = re.compile(r"^(\S.*?) \(([\d.,]+) (bytes|kB|MB|GB|TB)(?:, ([^()]*))?\)$", re.M)
UNIT_MEGABYTES = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3, "TB": 1e6}
LARGE_MEGABYTES = 500.0
WORD = re.compile(r"[^\W\d]\w*")
LIST_FILES = """\
from pathlib import Path

kinds = (".csv", ".tsv", ".parquet", ".feather", ".xls", ".xlsx")
print("data files:", sorted(p.name for p in Path().iterdir() if p.suffix.lower() in kinds)[:20])
del kinds"""
LIST_FRAMES = """\
import pandas as pd

print(
    "\\n".join(
        f"{name}: DataFrame {value.shape}"
        for name, value in list(globals().items())
        if isinstance(value, pd.DataFrame) and not name.startswith("_")
    )
)"""


@dataclass(frozen=True)
class Source:
    """Where the data is: in a variable, or in a file that is yet to be read."""

    variable: str = ""
    path: str = ""
    is_large: bool = False
    """Too large to be read whole."""
    kind: str = ""
    """What an attached file is said to be, where that is neither UTF-8 text nor a table."""


def find_source(conversation: DemoConversation, tools: frozenset[str]) -> Steps[Source]:
    """The data the prompt is about; asks the kernel when the messages do not tell.

    Raises:
        CannotGoOnError: There is none.
    """
    known = _known_frames(conversation)
    source = _named(conversation, known)
    if source is not None:
        return source
    if not known:
        known = yield from _frames_in_kernel(tools)
    if not known:
        return (yield from _file_here(tools))
    words = WORD.findall(conversation.prompt)
    named = [name for name in known if name in words]
    used = [name for name in _used(conversation.earlier) if name in known]
    return Source(variable=[*named, *used, *reversed(known)][0])


def file_names(text: str) -> list[str]:
    """Data files named in ``text``, in order."""
    return list(dict.fromkeys(quoted or bare for quoted, bare in FILE.findall(text)))


def with_quoted_files(conversation: DemoConversation) -> str:
    """The prompt with quotes around names of several words, where a list showed such a file."""
    prompt = conversation.prompt
    shown = [str(name) for name, *_ in ATTACHED.findall(conversation.files)]
    for exchange in conversation.earlier:
        shown += listed(exchange.result, "data files")
    for name in sorted({name for name in shown if " " in name}, key=len, reverse=True):
        prompt = re.sub(rf"""(?<![\w"'`]){re.escape(name)}(?![\w"'`])""", f'"{name}"', prompt)
    return prompt


def _named(conversation: DemoConversation, known: list[str]) -> Source | None:
    """What the prompt or its attachments name."""
    frames = FRAME_LINE.findall(conversation.variables)
    # At the very start of a prompt @name may name an assistant.
    mentioned = [
        found[1]
        for found in MENTIONED.finditer(conversation.prompt)
        if found[1] in known or found.start() > 0
    ]
    if frames or mentioned:
        return Source(variable=[*frames, *mentioned][0])
    path = _path(conversation)
    if not path:
        return None
    loaded = _loaded(conversation.earlier, path)
    later = conversation.states[1:]
    gone = {name for state in later for line in GONE.findall(state) for name in line.split(", ")}
    if loaded and loaded not in gone and not any(s.startswith("new kernel") for s in later):
        return Source(variable=loaded, path=path)
    return _file(conversation, path)


def _file(conversation: DemoConversation, path: str) -> Source:
    for name, size, unit, kind in ATTACHED.findall(conversation.files):
        if name == path:
            megabytes = float(size.replace(",", "")) * UNIT_MEGABYTES[unit]
            return Source(path=path, is_large=megabytes > LARGE_MEGABYTES, kind=kind)
    return Source(path=path)


def _path(conversation: DemoConversation) -> str:
    attached = [str(name) for name, *_ in ATTACHED.findall(conversation.files)]
    said = file_names(conversation.prompt)
    for name in said:
        for path in attached:
            if re.split(r"[/\\]", path)[-1] == re.split(r"[/\\]", name)[-1]:
                return path
    return next(iter([*said, *attached]), "")


def _known_frames(conversation: DemoConversation) -> list[str]:
    """DataFrames the notebook's states speak of, the newest last."""
    known: dict[str, None] = {}
    for state in conversation.states:
        if state.startswith("new kernel"):
            known.clear()
        for name in FRAME_LINE.findall(state):
            known.pop(name, None)
            known[name] = None
        for line in GONE.findall(state):
            for name in line.split(", "):
                known.pop(name, None)
    return list(known)


def _frames_in_kernel(tools: frozenset[str]) -> Steps[list[str]]:
    text = say("source_frames")
    if "list_variables" in tools:
        result = yield DemoCall(text, "list_variables", {})
        lines = [line for line in result.splitlines() if "DataFrame" in line]
        found = [WORD.findall(re.sub(r'"name"|DataFrame', " ", line)) for line in lines]
        return [words[0] for words in found if words]
    done = yield from run_code(text, LIST_FRAMES)
    return FRAME_LINE.findall(done.text)


def _file_here(tools: frozenset[str]) -> Steps[Source]:
    """The one data file beside the notebook.

    Raises:
        CannotGoOnError: There is none, or more than one.
    """
    if "run_cell" not in tools:
        raise CannotGoOnError(say("source_none"))
    done = yield from run_code(say("source_files"), LIST_FILES)
    files = listed(done.text, "data files")
    if len(files) == 1:
        return Source(path=files[0])
    if files:
        names = ", ".join(f"`{name}`" for name in files)
        raise CannotGoOnError(say("source_several", names=names))
    raise CannotGoOnError(say("source_none"))


def _loaded(earlier: tuple[DemoExchange, ...], path: str) -> str:
    """The variable an earlier turn read ``path`` into."""
    read = re.compile(rf"^(\w+) = pd\.read_\w+\(['\"]{re.escape(path)}['\"]", re.M)
    codes = [str(each.arguments.get("code", "")) for each in earlier if not failure(each.result)]
    found = [match[1] for code in codes for match in read.finditer(code)]
    return found[-1] if found else ""


def _used(earlier: tuple[DemoExchange, ...]) -> list[str]:
    """Frames that earlier turns looked at, the newest first."""
    codes = [str(exchange.arguments.get("code", "")) for exchange in reversed(earlier)]
    return [name for code in codes for name in re.findall(r"^(\w+)\.info\(", code, re.M)]
