"""The files of a benchmark in AgentBench's layout: ``AGENT/TASK/runs.jsonl`` and its siblings.

A line is written whole and flushed, so that a process that is killed loses only samples that were
under way; a torn last line is ignored when the file is read, and goes when one is appended. Two
processes may append.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from cellwright.errors import SetupError
from cellwright.exports.agentbench import (
    STATUSES,
    history,
    line_with,
    stamp,
    stored_in,
    text_of_line,
)
from cellwright.exports.sample import CANARY, SampleRecord, name_of, pack, parse_messages, unpack
from cellwright.record.messages import SystemMessage
from cellwright.record.values import safe_json

# Several threads and processes append lines to one file, and each line must stay whole.
# One lock for all files: a line is written in far less time than it takes to make one.
LOCK = threading.Lock()


def append_line(path: Path, text: str) -> None:
    """Append a line, in the place of whatever torn line somebody who was killed has left.

    Args:
        path: The file; it and its folder come into being.
        text: The line with its line break.
    """
    with LOCK, _open_locked(path) as file:
        _drop_torn_line(file)
        size, left = file.seek(0, 2), memoryview(text.encode("utf-8", "replace"))
        try:
            while left:
                left = left[file.write(left) :]
        except OSError:
            file.truncate(size)  # a full disk may have taken a part of it
            raise


@contextlib.contextmanager
def _open_locked(path: Path) -> Iterator[Any]:
    """A file to append to, which no other process of ours writes or replaces meanwhile."""
    is_last = False
    while not is_last:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+", buffering=0) as file, _only_writer(file):
            # Who waited for the lock may have it of a file that was replaced by then.
            with contextlib.suppress(FileNotFoundError):
                is_last = os.path.samestat(os.fstat(file.fileno()), path.stat())
            if is_last:
                yield file


def _drop_torn_line(file: Any) -> None:
    """Take off a last line that has no end: its writer was killed, or some editor left it so."""
    end, tail = file.seek(0, 2), b""
    while len(tail) < end and b"\n" not in tail:
        file.seek(max(0, end - len(tail) - TAIL_BYTES))
        tail = file.read(end - len(tail) - file.tell()) + tail
    torn = tail.rpartition(b"\n")[2]
    if not torn:
        return
    if _object_in(torn.decode("utf-8", "replace")) is None:
        file.truncate(end - len(torn))
    else:
        file.write(b"\n")


TAIL_BYTES = 65_536


@contextlib.contextmanager
def _only_writer(file: Any) -> Iterator[None]:
    """Keep other processes from writing meanwhile, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows: appending one line in one write has to do
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


# What the samples of a folder share, said once: ``shared.jsonl`` beside ``runs.jsonl``.


SHARED_FILE = "shared.jsonl"


class SharedValues:
    """Values by name, kept in a file; a name is the hash of its value.

    Args:
        folder: Where the file is.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / SHARED_FILE
        self._lock = threading.Lock()
        self._values: dict[str, Any] | None = None

    def keep(self, value: Any) -> str:
        """Keep a value; its name. It is in the file when this returns."""
        name = name_of(value)
        with self._lock:
            values = self._read()
            if name not in values:
                line = json.dumps({"id": name, "value": value}, ensure_ascii=False)
                append_line(self._path, line + "\n")
                values[name] = value
        return name

    def take(self, name: str) -> Any:
        """The value of a name.

        Raises:
            SetupError: It is not in the file.
        """
        with self._lock:
            if name not in self._read():
                self._values = None  # another process may have added it
            if name not in self._read():
                raise SetupError(
                    f"{str(self._path)!r} does not have {name!r}, which a sample names.",
                    hint="Keep the files of a results folder together.",
                )
            return self._read()[name]

    def _read(self) -> dict[str, Any]:
        if self._values is None or (self._values and not self._path.exists()):
            self._values = {}
            if self._path.exists():
                with self._path.open("rb") as file:
                    self._values = values_in(file)
        return self._values


def values_in(file: Iterable[bytes]) -> dict[str, Any]:
    """The values of a file's lines, by name; a torn line is left out."""
    found = {}
    for text in file:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            line = json.loads(text)
            found[str(line["id"])] = line["value"]
    return found


UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]+")


@dataclass(frozen=True)
class Failure:
    """A sample that could not be run: the infrastructure failed, not the agent."""

    index: int | str
    epoch: int
    error: str
    """AgentBench's word: ``START_FAILED``, ``AGENT_FAILED``, ``NETWORK_ERROR`` …"""
    info: str
    attempts: int = 1
    cost_dollars: float = 0.0
    """What the model's replies in all of them cost."""


class ResultFiles:
    """The folder of one agent at one task.

    Args:
        root: The folder of the benchmark.
        agent: The agent's name.
        task: The task's name.
    """

    def __init__(self, root: Path, agent: str, task: str) -> None:
        self.folder = root / folder_name(agent) / folder_name(task)
        self._shared = SharedValues(self.folder)

    @property
    def runs(self) -> Path:
        """Samples that were run, one a line."""
        return self.folder / "runs.jsonl"

    @property
    def attempts(self) -> Path:
        """All attempts at samples that are attempted several times, one a line."""
        return self.folder / "attempts.jsonl"

    @property
    def errors(self) -> Path:
        """Samples that could not be run, one a line."""
        return self.folder / "error.jsonl"

    @property
    def overall(self) -> Path:
        """The sum, written at the end."""
        return self.folder / "overall.json"

    def add(self, record: SampleRecord) -> None:
        """Append a sample."""
        append_line(self.runs, self._line(record))

    def add_attempt(self, record: SampleRecord) -> None:
        """Append one of several attempts at a sample."""
        append_line(self.attempts, self._line(record))

    def add_failure(self, failure: Failure) -> None:
        """Append a sample that could not be run."""
        line = {
            "index": failure.index,
            "error": failure.error,
            "info": failure.info,
            "output": None,
            "time": stamp(time.time()),
            "cellwright": {
                "epoch": failure.epoch,
                "attempts": failure.attempts,
                "cost_dollars": failure.cost_dollars,
            },
        }
        append_line(self.errors, text_of_line(line))

    def samples(self) -> Iterator[SampleRecord]:
        """The samples so far, one at a time; of one that is there twice the last counts."""
        return samples_in(self.runs)

    def list_attempts(self) -> Iterator[SampleRecord]:
        """The attempts so far, one at a time."""
        return samples_in(self.attempts)

    def rewrite(self, samples: Iterable[SampleRecord]) -> None:
        """Put these samples in the place of those so far, which are kept as ``runs.old.jsonl``.

        All or nothing: until the last of them is written, the file stays as it is. What others
        append meanwhile is kept.
        """
        draft = self.runs.with_suffix(".part")
        size = self.runs.stat().st_size
        with draft.open("w", encoding="utf-8", errors="replace") as file:
            for sample in samples:
                file.write(self._line(sample))
        with LOCK, _open_locked(self.runs) as runs:
            runs.seek(size)
            with draft.open("ab") as file:
                shutil.copyfileobj(runs, file)
            shutil.copyfile(self.runs, self.folder / "runs.old.jsonl")
            if os.name == "nt":  # where no open file can be replaced
                runs.close()
            draft.replace(self.runs)

    def finished(self) -> set[str]:
        """The ids of the samples so far."""
        return {stored_in(line)["id"] for line in read_lines(self.runs)}

    def sum_up(self, custom: Mapping[str, Any]) -> None:
        """Write ``overall.json``, whole or not at all."""
        last = {_name(line, n): _known(line) for n, line in enumerate(read_lines(self.runs))}
        # What did not pass is named with what was expected.
        document = {**overall_of(list(last.values()), custom), "canary": CANARY}
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.overall.with_suffix(".part")
        draft.write_text(json.dumps(safe_json(document), indent=2), encoding="utf-8")
        draft.replace(self.overall)

    def _line(self, record: SampleRecord) -> str:
        # The instructions are the same in all samples, and told once, in the shared values.
        said = [m for m in parse_messages(record.messages) if not isinstance(m, SystemMessage)]
        stored = pack(record, self._shared.keep)
        return text_of_line(line_with(record, stored, history(said)))


def samples_in(runs: Path) -> Iterator[SampleRecord]:
    """The samples of a ``runs.jsonl``, one at a time; of one that is there twice the last counts.

    Raises:
        SetupError: A line was not written by cellwright, or what it shares with others is missing.
    """
    places: dict[str, int] = {}
    for number, line in enumerate(read_lines(runs)):
        places[stored_in(line)["id"]] = number
    wanted, shared = set(places.values()), SharedValues(runs.parent)
    for number, line in enumerate(read_lines(runs)):
        if number in wanted:
            yield SampleRecord.from_dict(unpack(stored_in(line), shared.take))


def folder_name(name: str) -> str:
    """A name that is safe as a folder's."""
    return UNSAFE.sub("_", name).strip(".") or "_"


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; none where there is no file, and no torn line."""
    if not path.exists():
        return
    with _open_lines(path) as file:
        yield from (line for line in map(_object_in, file) if line is not None)


def list_damaged_lines(path: Path) -> list[int]:
    """Numbers of the lines that ``read_lines`` leaves out; not that of a torn last one."""
    if not path.exists():
        return []
    with _open_lines(path) as file:
        lines = enumerate(file, start=1)
        return [n for n, text in lines if text.endswith("\n") and _object_in(text) is None]


def _open_lines(path: Path) -> TextIO:
    return path.open(encoding="utf-8", errors="replace")


def _object_in(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def overall_of(outputs: Sequence[Mapping[str, Any]], custom: Mapping[str, Any]) -> dict[str, Any]:
    """What ``overall.json`` holds."""
    return {"total": len(outputs), "validation": validation(outputs), "custom": dict(custom)}


def validation(outputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts and shares by status, and lengths of the histories; of no samples, zeros."""
    total = len(outputs)
    counts = Counter(str(output.get("status")) for output in outputs)
    names = dict.fromkeys([*sorted(STATUSES), *sorted(counts)])
    lengths = [len(output.get("history") or ()) for output in outputs]
    return {
        **{name: counts[name] / total if total else 0.0 for name in names},
        "average_history_length": sum(lengths) / total if total else 0.0,
        "max_history_length": max(lengths, default=0),
        "min_history_length": min(lengths, default=0),
        "counts": {name: counts[name] for name in names},
    }


def _name(line: Mapping[str, Any], number: int) -> Any:
    """What tells a line from others: its sample's id, or its place where there is none."""
    return ((line.get("output") or {}).get("cellwright") or {}).get("id", number)


def _known(line: Mapping[str, Any]) -> dict[str, Any]:
    """Of a line what is summed up; the rest is let go of at once, it may be large."""
    output = line.get("output") or {}
    return {"status": output.get("status"), "history": [None] * len(output.get("history") or ())}
