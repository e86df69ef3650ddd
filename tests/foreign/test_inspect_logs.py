"""Inspect writes logs with its own mockllm, and we read them; what we wrote it reads."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from cellwright.bench.suites.inspect_logs import read_log, samples_of
from cellwright.errors import SetupError
from cellwright.exports.formats import export_samples

BIN = Path(sys.executable).parent
TASK = Path(__file__).with_name("inspect_task.py")
READ = """
import sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
print(sorted((sample.id, sample.scores["passed"].value) for sample in log.samples))
"""


def inspect(program: str, *arguments: str) -> str:
    environ = {name: value for name, value in os.environ.items() if name != "INSPECT_TELEMETRY"}
    command = [str(BIN / program), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_inspects_own_logs_are_read_and_ours_are_read_by_it(tmp_path: Path) -> None:
    for name in ("json", "eval"):
        inspect("python", str(TASK), name, str(tmp_path / name))
    (log,) = (tmp_path / "json").glob("*.json")
    (packed,) = (tmp_path / "eval").glob("*.eval")
    found = {sample.task.index: sample for sample in samples_of(read_log(log))}
    assert {name: sample.passed for name, sample in found.items()} == {
        "two": True,
        "many": True,
        "lost": False,
    }
    can_read = hasattr(zipfile, "ZIP_ZSTANDARD") or find_spec("zipfile_zstd") is not None
    if not can_read:
        with pytest.raises(SetupError, match="zstandard"):
            read_log(packed)
        folder = str(tmp_path / "read")
        inspect("inspect", "log", "convert", str(packed), "--to", "json", "--output-dir", folder)
        (packed,) = (tmp_path / "read").glob("*.json")
    again = read_log(packed)
    told = {sample.task.index: (sample.result, sample.passed) for sample in samples_of(again)}
    assert told == {name: (sample.result, sample.passed) for name, sample in found.items()}
    export_samples("inspect", {"m/sums": lambda: iter(found.values())}, tmp_path / "ours")
    (ours,) = (tmp_path / "ours").rglob("*.eval")
    read = inspect("python", "-c", READ, str(ours)).strip()
    assert read == "[('lost', 0.0), ('many', 1.0), ('two', 1.0)]"
