"""Interrupts that land between two events."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from cellwright.record.events import Event, Notice
from cellwright.stopping import drive

FIRST, SECOND, STOPPED = Notice("info", "1"), Notice("info", "2"), Notice("info", "stopped")


def run() -> Generator[Event, None, None]:
    try:
        yield FIRST
        yield SECOND
    except KeyboardInterrupt:
        yield STOPPED


class Shown:
    """Keeps events; interrupts while it shows some."""

    def __init__(self, *interrupting: Event) -> None:
        self.events: list[Event] = []
        self._interrupting = [*interrupting]

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if event in self._interrupting:
            self._interrupting.remove(event)
            raise KeyboardInterrupt


def test_every_event_is_shown() -> None:
    shown = Shown()
    drive(run(), shown)
    assert shown.events == [FIRST, SECOND]


def test_an_interrupt_while_one_is_shown_ends_the_run() -> None:
    shown = Shown(FIRST)
    drive(run(), shown)
    assert shown.events == [FIRST, STOPPED]


def test_a_second_interrupt_is_not_lost_on_a_run_that_has_ended() -> None:
    shown = Shown(FIRST, STOPPED)
    with pytest.raises(KeyboardInterrupt):
        drive(run(), shown)


def test_an_interrupt_before_the_run_began_is_passed_on() -> None:
    def interrupted() -> Generator[Event, None, None]:
        raise KeyboardInterrupt
        yield FIRST

    with pytest.raises(KeyboardInterrupt):
        drive(interrupted(), Shown())
