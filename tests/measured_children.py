"""Which child processes take part in measuring coverage: those that a test asks it of.

Measuring children took 69 of the 163 processor seconds of ``tests/magics``, and most of them run
what other tests measure. Kernels of ``tests/kernels`` are the subject, so they are measured.
"""

from __future__ import annotations

import os

__all__ = ["leave_out_children", "measured_environment"]

NAME = "COVERAGE_PROCESS_CONFIG"
"""Makes coverage start in a Python process, by its ``patch = ["subprocess"]``."""
_kept: dict[str, str] = {}


def leave_out_children() -> None:
    """Let children that are started from now on not be measured."""
    if NAME in os.environ:
        _kept[NAME] = os.environ.pop(NAME)


def measured_environment() -> dict[str, str]:
    """Our environment for a child that is measured, where this process is."""
    return {**os.environ, **_kept}
