"""Kernels forked from a warmed process, for tests that do not ask how a kernel came to be.

A fork takes a tenth of the time of a start; ``tests/kernels`` shows that nothing else is different.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["FORKED_KERNELS", "kernels_forked", "without_forks"]

FORKED_KERNELS = Path(__file__).parent / "forked_kernels"
"""Where ``python3`` is a kernel that is forked from a process with pandas and matplotlib."""
NAME = "JUPYTER_PATH"


@contextmanager
def kernels_forked() -> Iterator[None]:
    """While it lasts, kernels that this process starts are forked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NAME, str(FORKED_KERNELS))
        yield


def without_forks() -> dict[str, str]:
    """Our environment for a child: a process that starts one kernel gains nothing by a fork."""
    return {name: value for name, value in os.environ.items() if name != NAME}
