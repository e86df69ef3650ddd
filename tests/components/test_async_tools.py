"""Async tools, run to their end from a core that is not async (requirements 000-02, 000-16)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator

import pytest
from component_samples import component, context_with, said, slowly

from cellwright.errors import RunCancelled, ToolError
from cellwright.stopping import Stop


def test_000_02_an_async_tool_can_be_called_inside_a_running_loop() -> None:
    async def main() -> list[str]:
        return said(component(lambda: slowly("inside")))

    assert asyncio.run(main()) == ["inside"]


def test_an_async_tool_stops_with_the_run() -> None:
    stop, cancelled = Stop(), threading.Event()

    async def forever() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    with pytest.raises(RunCancelled):
        list(component(forever).evaluate(context_with(stop=stop)))
    assert cancelled.wait(2)
    assert time.monotonic() - began < 2


def test_an_async_tools_exception_is_its_own() -> None:
    async def fails() -> None:
        raise ToolError("no")

    with pytest.raises(ToolError, match="no"):
        list(component(fails).evaluate())


def test_an_async_stream_that_is_left_is_cancelled() -> None:
    left = threading.Event()

    async def endless() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
                await asyncio.sleep(0.01)
        finally:
            left.set()

    stream = component(endless).evaluate()
    next(iter(stream))
    stream.close()  # type: ignore[attr-defined]
    assert left.wait(2)
