"""What scores a sample. Each check is a value in a file beside this one; here they are listed.

A check that crashes is an error, not a failure: its score has no value.

What this does not protect against: checks run in the kernel in which the agent's code ran, which
may have changed what Python's own functions do. Restart-and-run-all is no defence either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.bench.dseval_check import DsevalQuestion, find_dseval
from cellwright.bench.figure_check import Figure, find_figure
from cellwright.bench.judge_check import Judge, find_judge
from cellwright.bench.kernel_checks import (
    Assertion,
    NamespaceIntact,
    Solution,
    Variable,
    find_assertion,
    find_namespace,
    find_solution,
    find_variable,
)
from cellwright.bench.scenes import (
    BrokenSampleError,
    CellFailedError,
    CheckError,
    Found,
    Scene,
    found_wrong,
)
from cellwright.bench.text_checks import (
    Answer,
    File,
    Stdout,
    find_answer,
    find_file,
    find_stdout,
)
from cellwright.bench.thumb_check import Thumb, find_thumb
from cellwright.exports.sample import Score


@dataclass(frozen=True)
class RestartAndRunAll:
    """The notebook, run anew from top to bottom, passes the other checks as well."""

    kind: Literal["restart_and_run_all"] = field(default="restart_and_run_all", init=False)
    score_name = "restart_and_run_all"


Check = (
    Answer
    | Assertion
    | DsevalQuestion
    | Figure
    | File
    | Judge
    | NamespaceIntact
    | RestartAndRunAll
    | Solution
    | Stdout
    | Thumb
    | Variable
)
FINDERS: dict[type[Any], Callable[[Any, Scene], Found]] = {
    Answer: find_answer,
    Assertion: find_assertion,
    DsevalQuestion: find_dseval,
    Figure: find_figure,
    File: find_file,
    Judge: find_judge,
    NamespaceIntact: find_namespace,
    Solution: find_solution,
    Stdout: find_stdout,
    Thumb: find_thumb,
    Variable: find_variable,
}
OPINIONS = (Judge, Thumb)
"""What would say the same, or something else, of a notebook that is run anew."""
BY_RECORD = (Answer, Judge, Stdout, Thumb)
"""Look at the record alone."""


def needs_run(checks: tuple[Check, ...]) -> bool:
    """Whether some of them can only be made in a kernel in which the cells have run."""
    return any(not isinstance(check, BY_RECORD) for check in checks)


def score_all(checks: tuple[Check, ...], scene: Scene) -> tuple[Score, ...]:
    """Make all checks, in order."""
    apart = (RestartAndRunAll, *OPINIONS)
    others = tuple(check for check in checks if not isinstance(check, apart))
    return tuple(score(check, scene, others) for check in checks)


def score(check: Check, scene: Scene, others: tuple[Check, ...] = ()) -> Score:
    """Make one check.

    Args:
        check: The check.
        scene: The sample after its run.
        others: What restart-and-run-all repeats.

    Raises:
        BrokenSampleError: The sample itself is wrong.
    """
    try:
        found = _found(check, scene, others)
    except BrokenSampleError:
        raise
    except CellFailedError as error:
        found = found_wrong(str(error))
    except Exception as error:  # whatever keeps a check from being made is its error, not a failure
        why = f"{type(error).__name__}: {error}"
        return Score(check.score_name, None, passed=False, error=why)
    return Score(check.score_name, found.value, found.passed, found.explanation)


def _found(check: Check, scene: Scene, others: tuple[Check, ...]) -> Found:
    if isinstance(check, RestartAndRunAll):
        return _restarted(scene, others)
    return FINDERS[type(check)](check, scene)


def _restarted(scene: Scene, others: tuple[Check, ...]) -> Found:
    with scene.anew(with_cells=True) as fresh:
        scores = score_all(others, fresh)
    broken = [found for found in scores if found.value is None]
    if broken:
        raise CheckError(f"run anew, {broken[0].name}: {broken[0].error}")
    failed = [found for found in scores if not found.passed]
    why = f"run anew, {failed[0].name} fails: {failed[0].explanation}" if failed else ""
    return found_wrong(why)
