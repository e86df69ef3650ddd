"""Many small messages at once: none may be lost on the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kernels.lanes import Ran, run

from cellwright.kernels import CellRequest, Kernel
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.stopping import Stop
from cellwright.text_cleaning import clean

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform == 'win32'")]

THEIR_LIMIT = "get_ipython().kernel.iopub_socket.io_thread.socket.sndhwm"
PRINTS = 3_000
"""More than the sockets of both ends hold unless they are told to: a thousand each."""


def test_no_line_of_a_flood_of_flushed_prints_is_lost(tmp_path: Path) -> None:
    """K10."""
    with start_kernel() as kernel:
        assert flood(kernel, tmp_path / "printed") == "".join(f"{n}\n" for n in range(PRINTS))
        # Our end held them; where that is too slow the kernel's end has to.
        assert run(kernel, THEIR_LIMIT).plain == ["0"]


def flood(kernel: FreshKernel, pipe: Path) -> str:
    """What is read of a flood of prints once all of it is printed; until then nobody reads."""
    os.mkfifo(pipe)
    code = f"for n in range({PRINTS}): print(n, flush=True)\nopen({str(pipe)!r}, 'w').close()"
    running = kernel.execute(CellRequest("flood", code), Stop(), lambda output: output)
    messages = [next(running)]
    pipe.read_bytes()
    return Ran(messages + list(running)).text


FOUR_MEGABYTES = 4_000_000
HOSTILE = {
    "\b": "",
    "\r": "",
    "\r\n": "",
    "\x1b": "",
    "\x1b[K": "",
    "\x1b[1A": "",
    "a\u0301": "a\u0301",
    "x": "x",
    "ab\b": "a",
}


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_four_megabytes_of_hostile_text_end_like_any_output(kernel: Kernel, unit: str) -> None:
    count = FOUR_MEGABYTES // len(unit)
    ran = run(kernel, f"for _ in range(100): print({unit!r} * {count // 100}, end='', flush=True)")
    assert ran.execution.status == "ok"
    shown = clean(ran.text)
    assert set(shown.replace("\n", "")) <= set(HOSTILE[unit] + "b")
    assert run(kernel, "print('next')").text == "next\n"
