"""The parts that keep a shell's own cell and a nested one apart."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cellwright.kernels.drain import Drain
from cellwright.kernels.shell import NestedLoop, calling_cell_kept, interrupt_thread


class Result:
    """IPython's, as far as it is asked."""

    error_in_exec: BaseException | None = None


# The loop


def test_a_coroutine_runs_where_a_loop_runs_already() -> None:
    nested = NestedLoop()

    async def inner() -> str:
        await asyncio.sleep(0)
        return "inner"

    async def outer() -> tuple[str, bool]:
        found = nested.run(inner())
        return found, asyncio.get_running_loop().is_running()

    assert asyncio.run(outer()) == ("inner", True)
    nested.close()


def test_the_loop_lasts_until_it_is_closed() -> None:
    nested = NestedLoop()

    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    first = nested.run(loop())
    assert nested.run(loop()) is first
    nested.close()
    nested.close()
    assert first.is_closed()
    assert nested.run(loop()) is not first
    nested.close()


def test_closing_cancels_what_is_left() -> None:
    nested = NestedLoop()
    ended: list[str] = []

    async def background() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    async def start() -> asyncio.Task[None]:
        task = asyncio.create_task(background())
        await asyncio.sleep(0)
        return task

    task = nested.run(start())
    nested.close()
    assert ended == ["cancelled"]
    assert task.cancelled()


def interrupted_after(seconds: float, nested: NestedLoop, coroutine: Any) -> Any:
    timer = threading.Timer(seconds, interrupt_thread, [threading.main_thread()])
    timer.start()
    try:
        return nested.run(coroutine)
    finally:
        timer.join()


async def cell(result: Result, *, catches: bool) -> Result:
    """What IPython makes of a cell: it catches everything, cancellation too."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        if not catches:
            raise
    return result


def test_an_interrupt_ends_a_cell_that_awaits() -> None:
    nested, result = NestedLoop(), Result()
    started = time.monotonic()
    assert interrupted_after(0.2, nested, cell(result, catches=True)) is result
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert time.monotonic() - started < 3
    nested.close()


def test_an_interrupt_that_nothing_catches_comes_out() -> None:
    nested = NestedLoop()
    with pytest.raises(KeyboardInterrupt):
        interrupted_after(0.2, nested, cell(Result(), catches=False))
    nested.close()


def test_a_cell_that_does_not_react_to_cancelling_is_left() -> None:
    nested = NestedLoop()
    free = asyncio.Event()

    async def stubborn() -> None:
        while not free.is_set():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted_after(0.2, nested, stubborn())
    assert time.monotonic() - started < 3
    free.set()
    nested.close()


# Interrupts


def test_a_thread_is_interrupted_between_its_instructions() -> None:
    caught: list[str] = []
    begun = threading.Event()

    def work() -> None:
        try:
            begun.set()
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            caught.append("interrupted")

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    interrupt_thread(thread)
    thread.join(5)
    assert caught == ["interrupted"]


def test_a_process_that_leads_its_group_interrupts_its_children_too() -> None:
    code = (
        "import subprocess, threading\n"
        "from cellwright.kernels.shell import interrupt_thread\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "threading.Timer(0.3, interrupt_thread, [threading.main_thread()]).start()\n"
        "try:\n    child.wait()\n"
        "except KeyboardInterrupt:\n    child.wait(10)\n    print('ended')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=30,
    )
    assert done.stdout == "ended\n"


def test_a_thread_that_was_not_started_is_left_alone() -> None:
    thread = threading.Thread(target=print)
    interrupt_thread(thread)
    assert not thread.is_alive()


# The drain


class Piped:
    """A stream with ipykernel's pipe behind it, read by nobody but the test."""

    def __init__(self) -> None:
        self._fid, self.write_end = os.pipe()
        self.flushed = 0

    def flush(self) -> None:
        self.flushed += 1

    def close(self) -> None:
        os.close(self._fid)
        os.close(self.write_end)


@pytest.fixture
def piped() -> Iterator[Piped]:
    stream = Piped()
    yield stream
    stream.close()


def drain_of(stream: Any) -> Drain:
    """A drain for this standard output; pytest puts its own there between the phases."""
    stdout, sys.stdout = sys.stdout, stream
    try:
        return Drain()
    finally:
        sys.stdout = stdout


def took(drain: Drain) -> float:
    started = time.monotonic()
    drain.finish()
    return time.monotonic() - started


def test_a_cell_without_children_does_not_wait(piped: Piped) -> None:
    # others use the machine too: what it does not wait for is seen by the quickest of a few
    assert min(took(drain_of(piped)) for _ in range(5)) < 0.02
    assert piped.flushed == 5


def test_a_cell_with_children_waits_for_their_last_words(piped: Piped) -> None:
    drain = drain_of(piped)
    subprocess.run(["true"], check=True)
    assert 0.025 < took(drain) < 0.5


def test_what_lies_in_the_pipe_is_waited_for_until_it_is_read(piped: Piped) -> None:
    drain = drain_of(piped)
    os.write(piped.write_end, b"late")
    reader = threading.Timer(0.2, os.read, [piped._fid, 10])
    reader.start()
    assert 0.2 < took(drain) < 1
    reader.join()


def test_closed_streams_and_pipes_are_no_obstacle() -> None:
    """K19."""

    class Closed:
        _fid = 10_000

        def flush(self) -> None:
            raise ValueError("I/O operation on closed file")

    assert took(drain_of(Closed())) < 0.5


# The calling cell


class Hook:
    """A displayhook."""

    _ = __ = ___ = ""
    prompt_count = 4
    exec_result = "mine"

    def quiet(self) -> bool:
        return True

    @staticmethod
    def semicolon_at_end_of_expression(code: str) -> bool:
        if "unfinished" in code:
            raise SyntaxError
        return code.endswith(";")


class Shell:
    """An IPython shell, as far as it is asked."""

    def __init__(self, loop_runner: Any) -> None:
        self.displayhook = Hook()
        self.loop_runner = loop_runner
        self.user_ns: dict[str, Any] = {"_": "mine", "_oh": {4: "mine"}, "_4": "mine"}
        self.user_ns_hidden: dict[str, Any] = {"_": "mine"}


def _trio_runner() -> None: ...


def test_what_belongs_to_the_calling_cell_is_as_it_was() -> None:
    shell: Any = Shell(print)
    before = {**shell.user_ns, "_oh": {4: "mine"}}
    with calling_cell_kept(shell, "code;", len):
        assert shell.loop_runner is len
        assert shell.displayhook.quiet()
        shell.displayhook.exec_result = "ours"
        shell.user_ns |= {"_": "ours", "__": "ours", "_4": "ours"}
        shell.user_ns["_oh"][4] = "ours"
    assert shell.user_ns == before
    assert shell.loop_runner is print
    assert shell.displayhook.exec_result == "mine"


def test_the_persons_other_kind_of_loop_is_kept() -> None:
    shell: Any = Shell(_trio_runner)
    with calling_cell_kept(shell, "code", len):
        assert shell.loop_runner is _trio_runner


def test_code_that_cannot_be_read_has_no_semicolon() -> None:
    shell: Any = Shell(print)
    with calling_cell_kept(shell, "unfinished", len):
        assert not shell.displayhook.quiet()
        with calling_cell_kept(shell, "code;", len):
            assert shell.displayhook.quiet()
        assert not shell.displayhook.quiet()
    assert shell.displayhook.quiet()
