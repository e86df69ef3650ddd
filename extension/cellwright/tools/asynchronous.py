"""Coroutines of users' tools, run to their end in a thread with a loop of its own.

The core is synchronous and its thread may have a running loop already (a notebook's has), which
cannot be entered a second time.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from cellwright.stopping import Stop

LOOK_SECONDS = 0.1
"""How often somebody who waits looks whether the run was stopped."""


@dataclass(frozen=True)
class _Ended:
    value: Any = None
    error: BaseException | None = None


def run_to_end(coroutine: Coroutine[Any, Any, Any], stop: Stop | None = None) -> Any:
    """The result of a coroutine.

    Raises:
        RunCancelled: Somebody stopped the run; the coroutine was cancelled first.
    """
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def main() -> Any:
        return await coroutine

    for _ in _driven(main, said, stop):
        raise AssertionError("a coroutine says nothing before its end")
    return said.get_nowait().value


def iterate(generator: AsyncIterator[Any], stop: Stop | None = None) -> Iterator[Any]:
    """What an async generator yields, as it comes.

    Raises:
        RunCancelled: Somebody stopped the run; the generator was cancelled first.
    """
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def main() -> None:
        async for item in generator:
            said.put(item)

    yield from _driven(main, said, stop)


def _driven(
    main: Callable[[], Coroutine[Any, Any, Any]],
    said: queue.SimpleQueue[Any],
    stop: Stop | None,
) -> Iterator[Any]:
    loop = asyncio.new_event_loop()
    task = loop.create_task(main())
    thread = threading.Thread(target=_drive, args=(loop, task, said), daemon=True)
    thread.start()
    try:
        while True:
            if stop is not None:
                stop.check()
            try:
                item = said.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
            if not isinstance(item, _Ended):
                yield item
            elif item.error is not None:
                raise item.error
            else:
                said.put(item)
                return
    finally:
        if thread.is_alive() and not loop.is_closed():
            _cancel(loop, task)


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    try:
        loop.call_soon_threadsafe(task.cancel)
    except RuntimeError:
        return  # it ended meanwhile


def _drive(
    loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any], said: queue.SimpleQueue[Any]
) -> None:
    asyncio.set_event_loop(loop)
    try:
        ended = _Ended(loop.run_until_complete(task))
    except BaseException as error:
        ended = _Ended(error=error)
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    said.put(ended)
