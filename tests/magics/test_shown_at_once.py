"""A tool's progress is shown when it is said, and once."""

from __future__ import annotations

import threading

from cellwright.record.events import Event, Notice, ToolProgress
from cellwright_magics.display import ShownAtOnce

HALF, DONE = ToolProgress("c1", "half", 0.5), ToolProgress("c1", "done", 1.0)


def test_what_was_shown_before_its_turn_is_not_shown_again() -> None:
    shown: list[Event] = []
    showing = ShownAtOnce(shown.append)
    showing.at_once(HALF)
    assert shown == [HALF]
    showing.at_once(DONE)
    for event in (HALF, DONE, Notice("info", "Hm.")):
        showing.show(event)
    assert shown == [HALF, DONE, Notice("info", "Hm.")]


def test_what_another_thread_says_is_shown_in_its_turn() -> None:
    shown: list[Event] = []
    showing = ShownAtOnce(shown.append)
    thread = threading.Thread(target=showing.at_once, args=(HALF,))
    thread.start()
    thread.join()
    assert shown == []
    showing.show(HALF)
    assert shown == [HALF]
