"""A check of one's own for samples that were recorded before: a Python file with ``check``.

What this does not protect against: the file's code runs in this process, with your rights.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord, Score

OwnCheck = Callable[[SampleRecord], Any]
"""Returns True or False, a number from 0 to 1, or a ``Score``; asserts instead, if it likes."""


def load_check(path: Path) -> OwnCheck:
    """The function ``check(sample)`` of a file.

    Raises:
        SetupError: There is none.
    """
    try:
        found = runpy.run_path(str(path)).get("check")
    except Exception as error:  # whatever the file's own code raises
        raise SetupError(f"{str(path)!r} cannot be run: {error!r}.", hint="Mend it.") from error
    if not callable(found):
        raise SetupError(
            f"{str(path)!r} has no function 'check'.", hint="Write: def check(sample): …"
        )
    check: OwnCheck = found
    return check


def scored_by(check: OwnCheck, sample: SampleRecord) -> SampleRecord:
    """The sample with this check's score and no other."""
    return replace(sample, scores=(_score(check, sample),))


def _score(check: OwnCheck, sample: SampleRecord) -> Score:
    try:
        found = check(sample)
        if isinstance(found, Score):
            return found
        value = 1.0 if found is None else float(found)
        return Score("check", value, passed=value >= 1.0)
    except AssertionError as error:
        return Score("check", 0.0, passed=False, explanation=str(error) or "an assertion failed")
    except Exception as error:  # a check that crashes is an error, not a failure
        return Score("check", None, passed=False, error=repr(error))
