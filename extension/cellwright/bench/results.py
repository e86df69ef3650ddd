"""The files of a benchmark in AgentBench's layout: ``AGENT/TASK/runs.jsonl`` and its siblings.

A line is written whole and flushed, so that a process that is killed loses only samples that were
under way; a torn last line is ignored when the file is read. Two processes may append.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.bench.appending import append_line
from cellwright.bench.shared_values import SharedValues
from cellwright.bench.task import SampleIndex, SampleStatus, Task, TaskOutput
from cellwright.exports.agentbench import history, line_with, stamp, stored_in, text_of_line
from cellwright.exports.sample import SampleRecord
from cellwright.exports.sample_messages import parse_messages
from cellwright.exports.sample_packing import pack, unpack
from cellwright.record.messages import SystemMessage
from cellwright.record.outputs import safe_json

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
        self._shared = SharedValues(self.folder)

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
        append_line(self.runs, self._line(record))

    def add_failure(self, failure: Failure) -> None:
        """Append a sample that could not be run."""
        line = {
            "index": failure.index,
            "error": failure.error,
            "info": failure.info,
            "output": None,
            "time": stamp(time.time()),
            "cellwright": {"epoch": failure.epoch, "attempts": failure.attempts},
        }
        append_line(self.errors, text_of_line(line))

    def samples(self) -> Iterator[SampleRecord]:
        """The samples so far, one at a time; of one that is there twice the last counts."""
        return samples_in(self.runs)

    def rewrite(self, samples: Iterable[SampleRecord]) -> None:
        """Put these samples in the place of those so far, which are kept as ``runs.old.jsonl``.

        All or nothing: until the last of them is written, the file stays as it is.
        """
        draft = self.runs.with_suffix(".part")
        with draft.open("w", encoding="utf-8", errors="replace") as file:
            for sample in samples:
                file.write(self._line(sample))
        self.runs.replace(self.folder / "runs.old.jsonl")
        draft.replace(self.runs)

    def finished(self) -> set[str]:
        """The ids of the samples so far."""
        return {stored_in(line)["id"] for line in read_lines(self.runs)}

    def sum_up(self, custom: Mapping[str, Any]) -> None:
        """Write ``overall.json``, whole or not at all."""
        last = {_name(line, n): _known(line) for n, line in enumerate(read_lines(self.runs))}
        document = overall_of(list(last.values()), custom)
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


def _name(line: Mapping[str, Any], number: int) -> Any:
    """What tells a line from others: its sample's id, or its place where there is none."""
    return ((line.get("output") or {}).get("cellwright") or {}).get("id", number)


def _known(line: Mapping[str, Any]) -> dict[str, Any]:
    """Of a line what is summed up; the rest is let go of at once, it may be large."""
    output = line.get("output") or {}
    return {"status": output.get("status"), "history": [None] * len(output.get("history") or ())}
