"""The options of ``cellwright bench``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

__all__ = ["add_actions"]

Add = Callable[[Any, str, str, str], argparse.ArgumentParser]
"""Adds a command: sub-parsers, name, module, text."""
MODULE = "benchmarking"


def add_actions(actions: Any, add: Add) -> None:
    """Add ``run``, ``resume``, ``rescore`` and ``compare``."""
    _add_run(add(actions, "run", MODULE, "Run a suite: fresh kernels, every sample recorded."))
    resume = add(actions, "resume", MODULE, "Run what an interrupted benchmark has not run.")
    resume.add_argument("folder", metavar="FOLDER", help="what `bench run` wrote")
    _add_workers(resume)
    rescore = add(actions, "rescore", MODULE, "Make the checks again; no model is asked.")
    rescore.add_argument("folder", metavar="FOLDER", help="what `bench run` wrote")
    rescore.add_argument("--check", metavar="FILE", help="Python with check(sample), used instead")
    compare = add(actions, "compare", MODULE, "Hold two results together, sample by sample.")
    compare.add_argument("first", metavar="A", help="FOLDER, or FOLDER/AGENT/TASK")
    compare.add_argument("second", metavar="B", help="the one that may be better")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="humaneval, ds1000 or a folder of YAML")
    parser.add_argument("--data", metavar="FILE", help="the data of a public suite")
    parser.add_argument(
        "-m", "--model", metavar="MODEL", action="append", default=[], help="repeat for several"
    )
    parser.add_argument(
        "--agent",
        metavar="AGENT",
        action="append",
        default=[],
        help="oracle, noop, answers:FILE or replay:FILE, instead of a model",
    )
    parser.add_argument("--epochs", metavar="N", type=_count, default=1, help="each sample N times")
    parser.add_argument("--limit", metavar="N", type=_count, help="only the first N samples")
    parser.add_argument(
        "--only", metavar="ID", action="append", default=[], help="only this sample; repeatable"
    )
    parser.add_argument("--python", metavar="PATH", help="interpreter of the task kernels")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where to (runs/TIME)")
    _add_workers(parser)


def _add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-j", "--jobs", metavar="N", type=_count, default=2, help="at a time (2)")
    parser.add_argument(
        "--retries",
        metavar="N",
        type=int,
        default=2,
        help="new starts of a sample whose service or kernel failed (2)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


_count.__name__ = "positive number"
