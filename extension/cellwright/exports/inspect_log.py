"""Samples as an ``.eval`` log of Inspect: a zip of JSON files, which ``inspect view`` opens.

It is written with the standard library alone and one sample at a time. Layout and names are those
of version 2 of Inspect's log format.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports.inspect_sample import (
    RECORD,
    eval_sample,
    eval_summary,
    moment,
    score_names,
    usage_of,
)
from cellwright.exports.sample import SampleRecord
from cellwright.record.outputs import safe_json

JSON = dict[str, Any]
VERSION = 2


@dataclass
class _Sum:
    """What the head of the log says of all samples."""

    first: SampleRecord | None = None
    names: dict[int | str, None] = field(default_factory=dict)
    """In order, each once."""
    epochs: int = 1
    ended_at: float = 0.0
    started_at: float = 0.0
    usage: dict[str, int] = field(default_factory=dict)
    values: dict[str, list[float]] = field(default_factory=dict)
    """Of each score, the values that are known."""
    unscored: dict[str, int] = field(default_factory=dict)
    summaries: list[JSON] = field(default_factory=list)

    def add(self, sample: SampleRecord, made: Mapping[str, Any]) -> None:
        started, ended = sample.time.started_at, sample.time.started_at + sample.time.seconds
        if self.first is None:
            self.first, self.started_at = sample, started
        self.started_at, self.ended_at = min(self.started_at, started), max(self.ended_at, ended)
        self.epochs = max(self.epochs, sample.task.epoch)
        self.names[made["id"]] = None
        for name, count in sample.usage.items():
            if not isinstance(count, bool) and isinstance(count, int):
                self.usage[name] = self.usage.get(name, 0) + count
        for name, score in score_names(sample).items():
            self.values.setdefault(name, [])
            if score.value is None:
                self.unscored[name] = self.unscored.get(name, 0) + 1
            else:
                self.values[name].append(score.value)
        self.summaries.append(eval_summary(made))


def write(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    """Write a log; the path. All samples are of one agent at one suite."""
    found, taken = _Sum(), set()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in samples:
            made = eval_sample(sample)
            if _member(made) in taken:
                # Inspect has one name for the indices 1 and "1".
                made["id"] = sample.id
            taken.add(_member(made))
            found.add(sample, made)
            archive.writestr(_member(made), _text(made))
        head = _head(found)
        start = {name: head[name] for name in ("version", "eval", "plan")}
        archive.writestr("_journal/start.json", _text(start))
        archive.writestr("summaries.json", _text(found.summaries))
        archive.writestr("header.json", _text(head))
    return (path,)


def read(path: Path) -> Iterator[SampleRecord]:
    """The samples of a log that ``write`` made, whoever has written it again since.

    Raises:
        SetupError: It is no log, or holds samples of another writer.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.startswith("samples/"):
                    yield _sample(json.loads(archive.read(name)), path)
    except (OSError, zipfile.BadZipFile) as error:
        raise SetupError(
            f"{str(path)!r} cannot be read: {error}.", hint="Name an .eval file."
        ) from error


def _sample(made: Mapping[str, Any], path: Path) -> SampleRecord:
    record = (made.get("store") or {}).get(RECORD)
    if record is None:
        raise SetupError(
            f"The sample {made.get('id')!r} of {str(path)!r} was not recorded by cellwright.",
            hint="Only logs that cellwright wrote can be read back.",
        )
    return SampleRecord.from_dict(record)


def _member(made: Mapping[str, Any]) -> str:
    return f"samples/{made['id']}_epoch_{made['epoch']}.json"


def _text(value: Any) -> str:
    # NaN, as a score that could not be made has it, is written as the word, as Inspect does.
    return json.dumps(value, ensure_ascii=True)


def _head(found: _Sum) -> JSON:
    sample = found.first or SampleRecord("")
    model = str(sample.model.get("model") or sample.agent or "none")
    made: JSON = {
        "version": VERSION,
        "status": "success",
        "eval": _spec(found, sample, model),
        "plan": {"name": "plan", "steps": [{"solver": "cellwright", "params": {}}], "config": {}},
        "results": {
            "total_samples": len(found.summaries),
            "completed_samples": len(found.summaries),
            "scores": [_scored(name, found) for name in found.values],
        },
        "stats": {
            "started_at": moment(found.started_at),
            "completed_at": moment(found.ended_at),
            "model_usage": {model: usage_of(found.usage)},
        },
    }
    plain: JSON = safe_json(made)
    return plain


def _spec(found: _Sum, sample: SampleRecord, model: str) -> JSON:
    task = sample.suite or sample.task.name or "run"
    return {
        "run_id": sample.run_id or sample.id,
        "eval_id": sample.run_id or sample.id,
        "created": moment(found.started_at),
        "task": task,
        "task_id": task,
        "task_version": 0,
        "solver": "cellwright",
        "dataset": {
            "name": task,
            "samples": len(found.names),
            "sample_ids": list(found.names),
            "shuffled": False,
        },
        "model": model,
        "config": {"epochs": found.epochs},
        "packages": {"cellwright": str(sample.env.get("version", ""))},
        "metadata": {"agent": sample.agent},
    }


def _scored(name: str, found: _Sum) -> JSON:
    values = found.values[name]
    mean = sum(values) / len(values) if values else 0.0
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(values),
        "unscored_samples": found.unscored.get(name, 0),
        "metrics": {"mean": {"name": "mean", "value": mean}},
    }
