"""Events pass one place: redacted, recorded, told to whoever listens, applied, shown."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellwright.events import CellAdded, CellOutput, Event, ModelSilent, Notice, TextDelta
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.outputs import StreamOutput
from cellwright.publishing import Publisher
from cellwright.recording import RecordedEvent
from cellwright.redaction import Redactor
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

REDACTOR = Redactor({"SERVICE_TOKEN": "swordfish-swordfish"})


class Listener:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.heard: list[RecordedEvent] = []

    def __call__(self, recorded: tuple[RecordedEvent, ...]) -> None:
        self.heard += recorded

    @property
    def events(self) -> list[Event]:
        return [item.event for item in self.heard]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    database = open_database(tmp_path / "runs.sqlite")
    yield RunStore(database)
    database.close()


def test_whoever_listens_gets_events_as_they_are_recorded(store: RunStore) -> None:
    listener, journal = Listener(), store.start()
    publisher = Publisher(journal, REDACTOR, None, listener)
    publisher.publish(TextDelta("the token is swordfish-swordfish"), ModelSilent(5.0))
    publisher.output(CellOutput("c", StreamOutput("stdout", "1")))
    assert "swordfish" not in repr(listener.heard)
    assert [item.sequence for item in listener.heard] == [1, 0, 2]
    assert {item.run_id for item in listener.heard} == {journal.run_id}
    kept = [item for item in listener.heard if item.sequence]
    assert tuple(kept) == store.events(journal.run_id)


def test_events_are_told_before_the_notebook_changes(store: RunStore) -> None:
    book = MemoryNotebook()
    cells_when_told: list[int] = []

    def listener(recorded: tuple[RecordedEvent, ...]) -> None:
        cells_when_told.append(len(book.cells()))

    Publisher(store.start(), REDACTOR, book, listener).publish(CellAdded("a", "1"))
    assert cells_when_told == [0]
    assert len(book.cells()) == 1


def test_events_of_many_threads_are_told_in_the_order_of_the_record(store: RunStore) -> None:
    listener = Listener()
    publisher = Publisher(store.start(), REDACTOR, None, listener)

    def write(name: str) -> None:
        for number in range(25):
            publisher.publish(TextDelta(f"{name}{number}"), TextDelta("and"))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [item.sequence for item in listener.heard] == list(range(1, 201))


def test_what_the_record_has_to_say_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    database = open_database(tmp_path / "file" / "runs.sqlite")
    listener = Listener()
    shown = Publisher(RunStore(database).start(), REDACTOR, None, listener).publish(TextDelta("a"))
    assert listener.events == list(shown)
    assert isinstance(listener.events[-1], Notice)
    assert [item.sequence for item in listener.heard] == [1, 2]
    database.close()


@pytest.mark.parametrize("listener", [None, Listener()], ids=["alone", "with a listener"])
def test_what_the_record_has_to_say_is_in_the_record_itself(
    listener: Listener | None, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    database = open_database(tmp_path / "file" / "runs.sqlite")
    store = RunStore(database)
    journal = store.start()
    publisher = Publisher(journal, REDACTOR, None, listener)
    publisher.publish(TextDelta("a"))
    publisher.publish(TextDelta("b"))
    kinds = [item.event.kind for item in store.events(journal.run_id)]
    assert kinds == ["text_delta", "notice", "text_delta"], "said once, where it came up"
    assert "runs.sqlite" in " ".join(store.record(journal.run_id).notices)
    database.close()
