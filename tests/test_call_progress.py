"""What a tool says while it works (requirements 000-34)."""

from __future__ import annotations

from cellwright.agent.publishing import Publisher
from cellwright.agent.tool_calls import CallProgress
from cellwright.record.events import Event, Notice, ToolProgress
from cellwright.record.run_record import RecordedEvent
from cellwright.text.redaction import Redactor


class ListJournal:
    """Keeps events in a list, and has something to tell of itself once."""

    run_id = "run"

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.notices: tuple[Notice, ...] = (Notice("warning", "The record is full."),)

    def record(self, *events: Event) -> tuple[RecordedEvent, ...]:
        """Keep them."""
        self.events.extend(events)
        return tuple(RecordedEvent("run", 1, 0.0, event) for event in events)

    def take_notices(self) -> tuple[Notice, ...]:
        """One, once."""
        notices, self.notices = self.notices, ()
        return notices


class Watched:
    """A call's progress, by a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.journal = ListJournal()
        self.shown: list[ToolProgress] = []
        publisher = Publisher(self.journal, Redactor({"TOKEN": "hunter2-hunter2"}), None)
        self.progress = CallProgress("c1", publisher, self.shown.append, lambda: self.now)

    def say(self, text: str, after_seconds: float = 0.0) -> None:
        """The tool says something a moment later."""
        self.now += after_seconds
        self.progress.note(text, None)

    @property
    def texts(self) -> list[str]:
        """What was shown."""
        return [event.text for event in self.shown]


def test_000_34_a_tool_is_heard_at_once_and_without_its_secrets() -> None:
    watched = Watched()
    watched.say("key hunter2-hunter2")
    assert watched.texts == ["key «redacted:token:" + watched.texts[0][-5:]]
    assert watched.journal.events[0] == watched.shown[0]
    progress, notice = watched.progress.take()
    assert progress is watched.shown[0]
    assert isinstance(notice, Notice)
    assert list(watched.progress.take()) == []


def test_000_34_a_tool_that_says_much_is_heard_ten_times_a_second_and_last_of_all() -> None:
    watched = Watched()
    for number in range(1_000):
        watched.say(f"{number}", 0.001)
    assert 9 <= len(watched.shown) <= 11
    list(watched.progress.take())
    assert watched.texts[-1] == "999"
    assert len(watched.journal.events) == len(watched.shown) + 1


def test_000_34_what_is_said_after_the_end_is_not_heard() -> None:
    watched = Watched()
    watched.progress.close()
    watched.say("too late")
    assert list(watched.progress.take()) == []
    assert watched.journal.events == []


def test_000_34_nobody_has_to_watch() -> None:
    journal = ListJournal()
    progress = CallProgress("c1", Publisher(journal, Redactor({}), None))
    progress.note("half", 0.5)
    assert journal.events[0] == ToolProgress("c1", "half", 0.5)
