"""How what a component says gets to who called it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest
from server import hand_components as tools
from server.hand_place import Place

from cellwright.errors import StoreError
from cellwright.record.events import Event
from cellwright.server.component_envelopes import Envelope
from cellwright.server.component_runs import (
    GRACE_LOOKS,
    ROOM,
    ComponentHost,
    EnvelopeLine,
    HandCall,
    HandRun,
    until_ended,
)
from cellwright.server.configuration import Cellwright
from cellwright.server.routes import Refusal
from cellwright.store.database import open_database
from cellwright.store.runs import RunJournal, RunStore

pytestmark = pytest.mark.server
LOOK_SECONDS = 0.01


@pytest.fixture
def store() -> Iterator[RunStore]:
    database = open_database(None)
    yield RunStore(database)
    database.close()


@pytest.fixture
def place(store: RunStore) -> Place:
    return Place(store)


def made(place: Place, line: EnvelopeLine, component: type = tools.Mixed) -> HandRun:
    call = HandCall(component(), component.name, {}, "ask", is_streamed=True)  # type: ignore[attr-defined]
    return HandRun(call, place.surroundings, line.put)


async def test_000_31_what_is_said_comes_in_order_to_the_end(place: Place) -> None:
    line = EnvelopeLine(LOOK_SECONDS)
    run, host, ended = made(place, line), ComponentHost(Cellwright()), threading.Event()
    assert not host.is_busy
    host.start(run, line, ended.set)
    told = [envelope async for envelope in until_ended(run, line) if envelope is not None]
    assert [envelope.seq for envelope in told] == list(range(1, len(told) + 1))
    assert told[-1].is_completion
    while host.is_busy:
        await asyncio.sleep(0.001)
    assert ended.is_set()


async def test_a_component_that_does_not_return_is_given_up_after_a_stop(place: Place) -> None:
    line = EnvelopeLine(LOOK_SECONDS)
    run = made(place, line)
    run.run()
    waiting = EnvelopeLine(LOOK_SECONDS)
    looks: list[Envelope | None] = []
    async for envelope in until_ended(run, waiting):
        looks.append(envelope)
        if len(looks) == 2:
            run.stop.set("it took too long")
    assert looks[:-1] == [None] * (GRACE_LOOKS + 2)
    assert looks[-1] is not None
    assert looks[-1].status == "interrupt"


async def test_a_component_that_says_much_waits_for_who_reads_it(place: Place) -> None:
    line = EnvelopeLine(LOOK_SECONDS)
    run, host = made(place, line, tools.Endless), ComponentHost(Cellwright())
    host.start(run, line, lambda: None)
    deadline = time.monotonic() + 10
    while line._waiting.qsize() < ROOM and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert line._waiting.qsize() == ROOM
    line.close()
    await asyncio.get_running_loop().run_in_executor(None, host.close)
    assert not host.is_busy


class Full(RunStore):
    """Begins no run."""

    def __init__(self) -> None:
        """It has no database."""

    def start(self, *events: Event) -> RunJournal:
        """Fail."""
        raise StoreError("There is no room.")


async def test_a_call_that_cannot_be_recorded_ends_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    line = EnvelopeLine(LOOK_SECONDS)
    place = Place(Full())
    run, host = made(place, line), ComponentHost(Cellwright())
    host.start(run, line, lambda: None)
    assert [each async for each in until_ended(run, line) if each is not None] == []
    assert "There is no room." in caplog.text


async def test_a_server_that_stops_calls_nothing_more(place: Place) -> None:
    line = EnvelopeLine(LOOK_SECONDS)
    host, ended = ComponentHost(Cellwright()), threading.Event()
    host.close()
    with pytest.raises(Refusal) as caught:
        host.start(made(place, line), line, ended.set)
    assert (caught.value.status_code, caught.value.code) == (409, "busy")
    assert ended.is_set()
