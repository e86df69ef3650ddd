"""Many small messages at once: none may be lost on the way."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from kernels.lanes import Ran, kernel_environment, run

from cellwright.kernels import CellRequest, Kernel
from cellwright.kernels.forks import Forks
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.stopping import Stop
from cellwright.text.cleaning import clean

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
HOSTILE = {"\r\n": "", "\x1b": "", "a\u0301": "a\u0301"}
"""``tests/test_hostile_output.py`` has more, and times those who read it."""


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_four_megabytes_of_hostile_text_end_like_any_output(kernel: Kernel, unit: str) -> None:
    count = FOUR_MEGABYTES // len(unit)
    ran = run(kernel, f"for _ in range(100): print({unit!r} * {count // 100}, end='', flush=True)")
    assert ran.execution.status == "ok"
    shown = clean(ran.text)
    assert set(shown.replace("\n", "")) <= set(HOSTILE[unit])
    assert run(kernel, "print('next')").text == "next\n"


MANY_UPDATES = """
from IPython.display import display, update_display
display("start", display_id="d")
for n in range({updates}): update_display(f"value {{n}}", display_id="d")
print("last line")
"""


@pytest.mark.timeout(400)  # a machine that is lent to others needs minutes
@pytest.mark.parametrize(
    ("lane", "updates"), [("client", 20_000), ("shell", 5_000), ("forked", 5_000)]
)
def test_twenty_thousand_display_updates_leave_the_last_one_and_the_next_print(
    lane: str, updates: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """13.16: sockets hold a thousand each unless they are told to hold more."""
    with ExitStack() as around:
        if lane == "forked":
            forks = Forks()
            kernel: Kernel = around.enter_context(forks.start(tmp_path, kernel_environment()))
        else:
            kernel = request.getfixturevalue(lane)
        ran = run(kernel, MANY_UPDATES.format(updates=updates), timeout_seconds=300)
        assert ran.execution.note == ""
        assert (ran.plain, ran.text) == ([f"'value {updates - 1}'"], "last line\n")
        assert run(kernel, "print('next')").text == "next\n"


DROPS = """
session = get_ipython().kernel.session
before = session.send
def send(stream, message, *more, **named):
    kind = message["msg_type"] if isinstance(message, dict) else message
    content = message["content"] if isinstance(message, dict) else more[0]
    if kind == DROPPED and (kind != "status" or content["execution_state"] == "idle"):
        return None
    return before(stream, message, *more, **named)
session.send = send
"""


@pytest.mark.parametrize(
    ("dropped", "note"),
    [("update_display_data", "5 output messages were lost"), ("display_data", "1 output messages")],
)
def test_what_the_channel_drops_is_said_and_the_last_state_is_asked_for(
    fresh: FreshKernel, dropped: str, note: str
) -> None:
    """13.16: for whatever reason, as a gateway that limits the rate."""
    run(fresh, f"DROPPED = {dropped!r}\n{DROPS}")
    ran = run(fresh, MANY_UPDATES.format(updates=5))
    assert note in ran.execution.note
    assert (ran.plain, ran.text) == (["'value 4'"], "last line\n")
    assert run(fresh, "print('next')").text == "next\n"


SLOWLY = """
import queue, threading, time
session = get_ipython().kernel.session
before, waiting, is_slow = session.send, queue.Queue(), False
def send(stream, message, *more, **named):
    kind = message["msg_type"] if isinstance(message, dict) else message
    if is_slow and kind in ("update_display_data", "stream", "status"):
        return waiting.put((stream, message, more, named))
    return before(stream, message, *more, **named)
def carry():
    while True:
        stream, message, more, named = waiting.get()
        time.sleep(0.9)
        before(stream, message, *more, **named)
session.send = send
threading.Thread(target=carry, daemon=True).start()
"""
"""Outputs are still on their way seconds after the reply, as on a busy machine."""


def test_outputs_that_come_long_after_the_reply_are_late_and_not_lost(fresh: FreshKernel) -> None:
    """13.16."""
    run(fresh, SLOWLY)
    ran = run(fresh, f"is_slow = True\n{MANY_UPDATES.format(updates=5)}")
    assert ran.execution.note == ""
    assert (ran.plain, ran.text) == (["'value 4'"], "last line\n")
    assert run(fresh, "is_slow = False\nprint('next')").text == "next\n"


def test_a_cell_whose_idle_was_dropped_ends_with_its_reply(fresh: FreshKernel) -> None:
    """13.16."""
    run(fresh, f"DROPPED = 'status'\n{DROPS}")
    ran = run(fresh, MANY_UPDATES.format(updates=5))
    assert (ran.plain, ran.text) == (["'value 4'"], "last line\n")
