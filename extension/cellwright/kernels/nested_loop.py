"""Top-level ``await`` in a cell that is run inside another cell.

The kernel's own event loop is busy with the calling cell and cannot be entered again. The code
gets a loop of its own, on the same thread, so that interrupts, figures and objects that belong to
the main thread work as in any cell. What does not work: awaiting tasks that belong to the kernel's
own loop.
"""

from __future__ import annotations

import asyncio
from asyncio import events
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

GRACE_SECONDS = 1.0
"""How long a cancelled cell may take to clean up."""


class NestedLoop:
    """An event loop that lives as long as the run, so that sessions and tasks last over cells."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run IPython's coroutine for one cell to its end; an interrupt cancels it."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        with _other_loop_set_aside():
            task = self._loop.create_task(coroutine)
            try:
                return self._loop.run_until_complete(task)
            except KeyboardInterrupt as error:
                interrupt = error.with_traceback(None)
            # Outside of the handler, or the cell's traceback would tell of both.
            return _cancelled(self._loop, task, interrupt)

    def close(self) -> None:
        """Cancel what is left and close the loop."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed():
            return
        with _other_loop_set_aside():
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=GRACE_SECONDS))
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _cancelled(
    loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any], interrupt: KeyboardInterrupt
) -> Any:
    """The result of a cell that was interrupted while it awaited something."""
    task.cancel()
    loop.run_until_complete(asyncio.wait([task], timeout=GRACE_SECONDS))
    if not task.done() or task.cancelled() or task.exception() is not None:
        raise interrupt
    result = task.result()
    # The traceback that was shown says CancelledError; whoever asks is told what it was.
    result.error_in_exec = interrupt
    return result


@contextmanager
def _other_loop_set_aside() -> Iterator[None]:
    """Hide the loop that runs on this thread; it stands still until we are done."""
    running = events._get_running_loop()
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(running)
