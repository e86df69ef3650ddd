"""Many small messages at once: none may be lost on the way."""

from __future__ import annotations

import pytest
from kernels.lanes import run

from cellwright.kernels.fresh import start_kernel

pytestmark = pytest.mark.kernel

PRINTS = 3_000
TIMES = 12
"""Before the limits on waiting messages were lifted, one flood in ten had holes."""


def test_no_line_of_a_flood_of_flushed_prints_is_lost() -> None:
    """K10."""
    with start_kernel() as kernel:
        code = f"for n in range({PRINTS}): print(n, flush=True)"
        texts = [run(kernel, code).text for _ in range(TIMES)]
    assert texts == ["".join(f"{n}\n" for n in range(PRINTS))] * TIMES
