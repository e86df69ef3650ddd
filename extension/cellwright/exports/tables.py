"""Samples as a table: a row each, its numbers in columns, and the whole record in the last one."""

from __future__ import annotations

import csv
import importlib
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.exports.sample import ReplyGiven, SampleRecord, trimmed
from cellwright.installation import missing_extra
from cellwright.record.run_record import list_checks
from cellwright.text.cleaning import without_lone_surrogates

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: dict[str, str] = {
    "id": "string",
    "run_id": "string",
    "suite": "string",
    "task": "string",
    "index": "string",
    "epoch": "int64",
    "group": "string",
    "family": "string",
    "agent": "string",
    "model": "string",
    "status": "string",
    "cause": "string",
    "passed": "bool",
    "score": "double",
    "steps": "int64",
    "cells": "int64",
    "retries": "int64",
    "prompt_tokens": "int64",
    "completion_tokens": "int64",
    "cost_dollars": "double",
    "started_at": "double",
    "seconds": "double",
    "input": "string",
    "answer": "string",
    "error": "string",
    "record": "string",
}
"""Columns and their types, as Arrow names them; ``score`` is the mean of the scores."""
BATCH_ROWS = 500
Row = dict[str, Any]


def frame_of(samples: Iterable[SampleRecord]) -> pd.DataFrame:
    """The samples as a DataFrame."""
    pandas: Any = importlib.import_module("pandas")
    frame: pd.DataFrame = pandas.DataFrame([_row(s) for s in samples], columns=list(COLUMNS))
    return frame


def samples_of_frame(frame: pd.DataFrame) -> Iterator[SampleRecord]:
    """The samples of a DataFrame that has their column ``record``."""
    for text in frame["record"]:
        yield _sample(str(text))


def write_csv(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    """Write a CSV file with a head; the path."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(COLUMNS))
        writer.writeheader()
        for sample in samples:
            row = _row(sample)
            writer.writerow({name: _cell(name, value) for name, value in row.items()})
    return (path,)


def read_csv(path: Path) -> Iterator[SampleRecord]:
    """The samples of a CSV file that ``write_csv`` made."""
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield _sample(row["record"])


def write_parquet(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    """Write a Parquet file; the path.

    Raises:
        SetupError: There is no pyarrow.
    """
    arrow, parquet = _arrow()
    types = {kind: arrow.type_for_alias(kind) for kind in set(COLUMNS.values())}
    schema = arrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    rows = (_row(sample) for sample in samples)
    with parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(rows, BATCH_ROWS)):
            writer.write_table(arrow.Table.from_pylist(batch, schema))
    return (path,)


def read_parquet(path: Path) -> Iterator[SampleRecord]:
    """The samples of a Parquet file that ``write_parquet`` made.

    Raises:
        SetupError: There is no pyarrow.
    """
    _, parquet = _arrow()
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=["record"]):
            for value in batch.column("record"):
                yield _sample(value.as_py())


def _arrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise missing_extra(
            "Parquet files need pyarrow, which is not installed; --to csv does not.", "parquet"
        ) from error


def _row(sample: SampleRecord) -> Row:
    known = [s.value for s in list_checks(sample.scores) if s.value is not None]
    answer = sample.result
    plain: Row = {
        "id": sample.id,
        "run_id": sample.run_id,
        "suite": sample.suite,
        "task": sample.task.name,
        "index": str(sample.task.index),
        "epoch": sample.task.epoch,
        "group": sample.task.group,
        "family": sample.task.family,
        "agent": sample.agent,
        "model": str(sample.model.get("model", "")),
        "status": sample.status,
        "cause": sample.cause,
        "passed": sample.passed,
        "score": sum(known) / len(known) if known else None,
        "steps": sum(isinstance(event, ReplyGiven) for event in sample.events),
        "cells": len(sample.cells),
        "retries": sample.retries,
        "prompt_tokens": int(sample.usage.get("prompt_tokens", 0)),
        "completion_tokens": int(sample.usage.get("completion_tokens", 0)),
        "cost_dollars": sample.cost_dollars,
        "started_at": sample.time.started_at,
        "seconds": sample.time.seconds,
        "input": sample.input,
        "answer": answer if isinstance(answer, str) else json.dumps(answer, default=str),
        "error": sample.error,
    }
    told = {name: _clean(value) for name, value in plain.items()}
    return {**told, "record": json.dumps(trimmed(sample), ensure_ascii=True)}


def _clean(value: Any) -> Any:
    return without_lone_surrogates(value) if isinstance(value, str) else value


def _cell(name: str, value: Any) -> Any:
    """Text that a spreadsheet does not take for a formula; the record is left as it is."""
    if name != "record" and isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t"):
        return "'" + value
    return value


def _sample(text: str) -> SampleRecord:
    return SampleRecord.from_dict(json.loads(text))
