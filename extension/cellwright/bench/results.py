"""The files of a benchmark in AgentBench's layout: ``AGENT/TASK/runs.jsonl`` and its siblings.

A line is written whole and flushed, so that a process that is killed loses only samples that were
under way; a torn last line is ignored when the file is read. Two processes may append.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.bench.sample import SampleRecord
from cellwright.bench.task import SampleIndex, SampleStatus, Task, TaskOutput
from cellwright.errors import SetupError
from cellwright.exports.agentbench import history
from cellwright.lm.openai_format import messages_from_openai
from cellwright.outputs import safe_json

__all__ = [
    "Failure",
    "ResultFiles",
    "folder_name",
    "line_of",
    "overall_of",
    "read_lines",
    "summed_by",
    "validation",
]

KNOWN = frozenset(status.value for status in SampleStatus) - {"cancelled"}
UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]+")


@dataclass(frozen=True)
class Failure:
    """A sample that could not be run: the infrastructure failed, not the agent."""

    index: SampleIndex
    epoch: int
    error: str
    """AgentBench's word: ``START_FAILED``, ``AGENT_FAILED``, ``NETWORK_ERROR`` …"""
    info: str
    attempts: int = 1


class ResultFiles:
    """The folder of one agent at one task.

    Args:
        root: The folder of the benchmark.
        agent: The agent's name.
        task: The task's name.
    """

    def __init__(self, root: Path, agent: str, task: str) -> None:
        self.folder = root / folder_name(agent) / folder_name(task)
        self._lock = threading.Lock()

    @property
    def runs(self) -> Path:
        """Samples that were run, one a line."""
        return self.folder / "runs.jsonl"

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
        self._append(self.runs, line_of(record))

    def add_failure(self, failure: Failure) -> None:
        """Append a sample that could not be run."""
        line = {
            "index": failure.index,
            "error": failure.error,
            "info": failure.info,
            "output": None,
            "time": _stamp(time.time()),
            "cellwright": {"epoch": failure.epoch, "attempts": failure.attempts},
        }
        self._append(self.errors, line)

    def samples(self) -> Iterator[SampleRecord]:
        """The samples so far, one at a time; of one that is there twice the last counts."""
        places: dict[str, int] = {}
        for number, line in enumerate(read_lines(self.runs)):
            places[_full(line)["id"]] = number
        wanted = set(places.values())
        for number, line in enumerate(read_lines(self.runs)):
            if number in wanted:
                yield SampleRecord.from_dict(_full(line))

    def rewrite(self, samples: Iterable[SampleRecord]) -> None:
        """Put these samples in the place of those so far, which are kept as ``runs.old.jsonl``.

        All or nothing: until the last of them is written, the file stays as it is.
        """
        draft = self.runs.with_suffix(".part")
        with draft.open("w", encoding="utf-8", errors="replace") as file:
            for sample in samples:
                file.write(_as_line(line_of(sample)))
        self.runs.replace(self.folder / "runs.old.jsonl")
        draft.replace(self.runs)

    def finished(self) -> set[str]:
        """The ids of the samples so far."""
        return {_full(line)["id"] for line in read_lines(self.runs)}

    def sum_up(self, custom: Mapping[str, Any]) -> None:
        """Write ``overall.json``, whole or not at all."""
        last = {_name(line, n): _known(line) for n, line in enumerate(read_lines(self.runs))}
        document = overall_of(list(last.values()), custom)
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.overall.with_suffix(".part")
        draft.write_text(json.dumps(safe_json(document), indent=2), encoding="utf-8")
        draft.replace(self.overall)

    def _append(self, path: Path, line: Mapping[str, Any]) -> None:
        text = _as_line(line)
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, path.open("ab+") as file, _only_writer(file):
            if _is_torn(file):
                text = "\n" + text
            file.write(text.encode("utf-8", "replace"))


def folder_name(name: str) -> str:
    """A name that is safe as a folder's."""
    return UNSAFE.sub("_", name).strip(".") or "_"


def line_of(record: SampleRecord) -> dict[str, Any]:
    """A sample as a line of ``runs.jsonl``: what a reader of AgentBench knows, then the rest."""
    status, result = record.status, record.result
    if status not in KNOWN:
        status, result = "unknown", {"reason": record.status, "result": record.result}
    turns = history(messages_from_openai(record.messages))
    output = {"index": record.task.index, "status": status, "result": result, "history": turns}
    return {
        "index": record.task.index,
        "error": None,
        "info": None,
        "output": {**output, "cellwright": record.to_dict()},
        "time": _stamp(record.time.started_at + record.time.seconds),
    }


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; none where there is no file, and no torn line."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            with contextlib.suppress(ValueError):
                line = json.loads(text)
                if isinstance(line, dict):
                    yield line


def overall_of(outputs: Sequence[Mapping[str, Any]], custom: Mapping[str, Any]) -> dict[str, Any]:
    """What ``overall.json`` holds."""
    return {"total": len(outputs), "validation": validation(outputs), "custom": dict(custom)}


def validation(outputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts and shares by status, and lengths of the histories; of no samples, zeros."""
    total = len(outputs)
    counts = Counter(str(output.get("status")) for output in outputs)
    names = dict.fromkeys([*sorted(KNOWN), *sorted(counts)])
    lengths = [len(output.get("history") or ()) for output in outputs]
    return {
        **{name: counts[name] / total if total else 0.0 for name in names},
        "average_history_length": sum(lengths) / total if total else 0.0,
        "max_history_length": max(lengths, default=0),
        "min_history_length": min(lengths, default=0),
        "counts": {name: counts[name] for name in names},
    }


def summed_by(task: Task, outputs: Sequence[TaskOutput]) -> dict[str, Any]:
    """The task's own sum; what goes wrong in it must not lose the samples."""
    try:
        custom = task.calculate_overall(list(outputs))
    except Exception as error:  # the task's own code; its failure is told in the file
        return {"error": f"calculate_overall failed: {error!r}"}
    given: Any = custom
    return given if isinstance(given, dict) else {"result": given}


def _as_line(line: Mapping[str, Any]) -> str:
    return json.dumps(safe_json(line), ensure_ascii=False, separators=(",", ":")) + "\n"


def _name(line: Mapping[str, Any], number: int) -> Any:
    """What tells a line from others: its sample's id, or its place where there is none."""
    return ((line.get("output") or {}).get("cellwright") or {}).get("id", number)


def _full(line: Mapping[str, Any]) -> Mapping[str, Any]:
    found = (line.get("output") or {}).get("cellwright")
    if not isinstance(found, Mapping) or "id" not in found:
        raise SetupError(
            f"The sample {line.get('index')!r} was not recorded by cellwright.",
            hint="Its full record is missing, so it can be read but not scored or compared.",
        )
    return found


def _known(line: Mapping[str, Any]) -> dict[str, Any]:
    """Of a line what is summed up; the rest is let go of at once, it may be large."""
    output = line.get("output") or {}
    return {"status": output.get("status"), "history": [None] * len(output.get("history") or ())}


def _stamp(moment: float) -> dict[str, Any]:
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
    return {"timestamp": int(moment * 1000), "str": text}


def _is_torn(file: Any) -> bool:
    """Whether the last line has no end: its writer was killed."""
    if file.seek(0, 2) == 0:
        return False
    file.seek(-1, 2)
    return bool(file.read(1) != b"\n")


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
        file.flush()
        fcntl.flock(file, fcntl.LOCK_UN)
