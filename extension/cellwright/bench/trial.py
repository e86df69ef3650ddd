"""A sample that was just written, tried once: its checks hold, and not of themselves."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from cellwright.bench.agents import DONE, open_agent
from cellwright.bench.environments import (
    InterpreterChoice,
    Rooms,
    SetupFailedError,
    kernel_environment,
    kernels_of,
)
from cellwright.bench.runner import InfrastructureError, Job, Laboratory, attempt, rescored
from cellwright.bench.suites import Item, Suite
from cellwright.bench.suites.folder import read_item
from cellwright.errors import KernelError, SetupError
from cellwright.exports.sample import SampleCell, SampleRecord, Score
from cellwright.stopping import Stop


@contextlib.contextmanager
def open_trials(python: str = "", *, is_forked: bool = False) -> Iterator[Laboratory]:
    """What samples are tried in.

    Args:
        python: The interpreter of the kernels; empty: ours.
        is_forked: Fork the kernels, which pays where there are many.

    Raises:
        SetupError: It cannot start a kernel.
    """
    choice = InterpreterChoice(python or sys.executable, is_forked)
    with kernels_of(choice, kernel_environment({})) as kernels:
        yield Laboratory(Rooms({}, kernels.start))


def try_sample(
    path: Path, laboratory: Laboratory | None = None, *, with_oracle: bool = False
) -> str:
    """Run a sample with nothing, and with its reference; why that was not possible, or nothing.

    Args:
        path: Its file; it is removed where the sample is refused.
        laboratory: What it is tried in; None: one of its own.
        with_oracle: The reference runs as the oracle runs it, who may not do everything.

    Raises:
        SetupError: Its checks pass when nothing is done, or fail after its reference.
    """
    item = read_item(path)
    suite = Suite(path.parent.name or "suite", (item,))
    try:
        with open_trials() if laboratory is None else nullcontext(laboratory) as place:
            nothing = attempt(Job(suite, item, open_agent("noop")), place, Stop())
            if with_oracle:
                solved = attempt(Job(suite, item, open_agent("oracle")), place, Stop())
            else:
                solved = _with_reference(nothing, item, place.rooms_of(suite))
    except (InfrastructureError, KernelError, SetupFailedError) as error:
        return f"It could not be tried: {error}"
    if nothing.passed:
        path.unlink()
        raise SetupError(
            "The check passes when nothing is done.",
            hint="Say what is true only when the sample is solved.",
        )
    if not solved.passed:
        path.unlink()
        raise SetupError(
            f"The check does not hold when the sample's own code runs: {_why(solved.scores)}.",
            hint="Ask for what is so after the run's cells, in a fresh kernel.",
        )
    return ""


def _with_reference(sample: SampleRecord, item: Item, rooms: Rooms) -> SampleRecord:
    cells = (SampleCell(f"cell-{n}", "agent", code) for n, code in enumerate(item.reference, 1))
    given = replace(sample, cells=tuple(cells), result=item.reference_answer or DONE)
    return rescored(given, item, rooms, Stop())


def _why(scores: tuple[Score, ...]) -> str:
    failed = next(score for score in scores if not score.passed)
    return (failed.explanation or failed.error).rstrip(".")
