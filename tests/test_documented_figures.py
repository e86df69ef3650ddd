"""Figures in README and docs that do not depend on how fast a machine is, measured again."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from documented_figures import ALLOWED, documented
from source_tree import PROJECT


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark that docs/explanation/scale.md was written from."""
    monkeypatch.syspath_prepend(PROJECT / "benchmarks")
    return importlib.import_module("runner")


def written_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*.jsonl"))


def test_the_record_of_a_sample_is_as_large_as_docs_scale_says(runner: Any, tmp_path: Path) -> None:
    from cellwright.bench.environments import Rooms

    runner.run_ours(100, tmp_path, runner.How(Rooms({})))
    kilobytes = written_bytes(tmp_path) / 100 / 1000
    said = documented(
        "docs/explanation/scale.md", r"record of a sample without cells \| ([\d.]+) kB"
    )
    assert kilobytes == pytest.approx(said, rel=ALLOWED)


@pytest.mark.kernel
def test_the_record_of_ten_tool_turns_is_as_large_as_docs_scale_says(
    runner: Any, tmp_path: Path
) -> None:
    codes = tuple(f"x = {number}" for number in range(10))
    with runner.our_rooms(sys.executable, forked=True) as rooms:
        runner.run_ours(6, tmp_path, runner.How(rooms), codes)
    kilobytes = written_bytes(tmp_path) / 6 / 1000
    said = documented(
        "docs/explanation/scale.md", r"record of a sample with ten tool turns \| ([\d.]+) kB"
    )
    assert kilobytes == pytest.approx(said, rel=ALLOWED)
