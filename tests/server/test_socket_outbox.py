"""What goes out to one tab: nothing twice, nothing missing, and never much in memory."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator

import pytest
from server.live_lines import CHAT, ListLine, ListSource, delta, sequences

from cellwright.server.frames import EventPlace, PageRequest, Pong
from cellwright.server.tab import Outbox

FLOOD = 200_000


@pytest.fixture
def source() -> ListSource:
    return ListSource(page_size=50)


@pytest.fixture
def line() -> Iterator[ListLine]:
    line = ListLine()
    yield line
    line.close()


@pytest.fixture
def outbox(line: ListLine, source: ListSource) -> Iterator[Outbox]:
    outbox = Outbox(line, source)
    yield outbox
    line.close()
    outbox.close()
    outbox.join(5)


def numbers(line: ListLine) -> list[tuple[str, int]]:
    return sequences(line.frames)


def test_a_new_tab_gets_the_whole_record_then_what_happens(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    source.record("a", 120)
    source.record("b", 3)
    outbox.follow(CHAT, None)
    line.wait_for("caught_up")
    outbox.event(CHAT, source.record("b", 2))
    line.wait_until_sent(5, "b")
    assert numbers(line) == [*(("a", n) for n in range(1, 121)), *(("b", n) for n in range(1, 6))]


def test_a_tab_that_comes_back_gets_what_came_after_its_place(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    source.record("a", 10)
    source.record("b", 10)
    source.record("c", 2)
    outbox.follow(CHAT, EventPlace("b", 7))
    line.wait_for("caught_up")
    assert numbers(line) == [("b", 8), ("b", 9), ("b", 10), ("c", 1), ("c", 2)]


def test_a_place_in_a_run_that_is_gone_means_everything(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    source.record("a", 2)
    outbox.follow(CHAT, EventPlace("deleted", 7))
    line.wait_for("caught_up")
    assert numbers(line) == [("a", 1), ("a", 2)]


def test_what_happens_while_the_record_is_read_comes_once(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    source.record("a", 2_000)
    outbox.follow(CHAT, None)
    for _ in range(200):
        outbox.event(CHAT, source.record("a", 5))
        time.sleep(0.0005)
    line.wait_until_sent(3_000)
    assert numbers(line) == [("a", n) for n in range(1, 3_001)]


def test_an_idle_line_sends_at_once_and_a_busy_one_in_batches(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    source.record("a", 1)
    outbox.follow(CHAT, None)
    line.wait_for("caught_up")
    taken = []
    for number in range(5):
        time.sleep(0.05)
        began = time.monotonic()
        outbox.event(CHAT, source.record("a", 1))
        line.wait_until_sent(2 + number)
        taken.append(time.monotonic() - began)
    assert min(taken) < 0.02
    before = len(line.texts)
    for _ in range(100):
        outbox.event(CHAT, source.record("a", 1))
        time.sleep(0.001)
    line.wait_until_sent(106)
    assert len(line.texts) - before < 20


def test_a_tab_that_does_not_read_holds_nobody_up_and_costs_little_memory() -> None:
    source, line = ListSource(), ListLine(held=True)
    outbox = Outbox(line, source)
    outbox.follow(CHAT, None)
    events = source.record("a", FLOOD)
    tracemalloc.start()
    began = time.monotonic()
    try:
        for event in events:
            outbox.event(CHAT, (event,))
        seconds = time.monotonic() - began
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seconds < 10
    assert most < 10_000_000
    line.release()
    try:
        assert line.wait_until_sent(FLOOD) == [("a", n) for n in range(1, FLOOD + 1)]
    finally:
        outbox.close()
        outbox.join(5)


def test_what_is_not_recorded_is_shown_and_not_repeated(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    source.record("a", 1)
    outbox.follow(CHAT, None)
    line.wait_for("caught_up")
    outbox.event(CHAT, [delta("a", 0), *source.record("a", 1)])
    line.wait_until_sent(2)
    assert numbers(line) == [("a", 1), ("a", 0), ("a", 2)]


def test_a_request_comes_after_all_that_happened_before_it(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    source.record("a", 400)
    outbox.follow(CHAT, None)
    outbox.event(CHAT, source.record("a", 5))
    outbox.request(CHAT, PageRequest("r1", CHAT, "n1", "cells"))
    line.wait_for("request")
    kinds = [frame["type"] for frame in line.frames]
    assert numbers(line)[-1] == ("a", 405)
    assert kinds.index("request") > max(i for i, kind in enumerate(kinds) if kind == "events")


def test_a_pong_does_not_wait_for_a_long_record(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    source.record("a", 20_000)
    outbox.follow(CHAT, None)
    outbox.send(Pong(1.0))
    line.wait_until_sent(20_000)
    kinds = [frame["type"] for frame in line.frames]
    assert kinds.index("pong") < len(kinds) // 2


def test_the_newest_state_replaces_one_that_waits(source: ListSource) -> None:
    line = ListLine(held=True)
    outbox = Outbox(line, source)
    outbox.follow(CHAT, None)
    for number in range(1_000):
        outbox.state(CHAT, f'{{"type":"chat","number":{number}}}')
    line.release()
    line.wait_for("caught_up")
    assert [frame["number"] for frame in line.of_type("chat")][-1] == 999
    assert len(line.of_type("chat")) <= 2
    outbox.close()
    outbox.join(5)


def test_a_chat_that_is_not_followed_is_not_sent(
    outbox: Outbox, line: ListLine, source: ListSource
) -> None:
    outbox.event(CHAT, source.record("a", 3))
    outbox.state(CHAT, '{"type":"chat"}')
    outbox.follow(CHAT, None)
    line.wait_for("caught_up")
    outbox.unfollow(CHAT)
    outbox.event(CHAT, source.record("a", 3))
    outbox.send(Pong(1.0))
    line.wait_for("pong")
    assert numbers(line) == [("a", 1), ("a", 2), ("a", 3)]
    assert not line.of_type("chat")


def test_a_line_that_is_closed_ends_the_sending(outbox: Outbox, line: ListLine) -> None:
    outbox.send(Pong(1.0))
    line.wait_for("pong")
    line.close()
    outbox.send(Pong(2.0))
    outbox.join(5)
    outbox.send(Pong(3.0))
    assert len(line.texts) == 1
