"""Events pass one place: redacted, recorded, told to whoever listens, applied, shown."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from key_shapes import MadeUp, made_up_keys, made_up_values

from cellwright.agent.publishing import Publisher
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import (
    CellAdded,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelReplied,
    ModelRetrying,
    ModelSilent,
    Notice,
    ReasoningDelta,
    RunFinished,
    TextDelta,
    ToolStarted,
)
from cellwright.record.messages import AssistantMessage, Usage
from cellwright.record.outputs import DisplayData, DisplayUpdate, Execution, StreamOutput
from cellwright.record.run_record import RecordedEvent
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

KNOWN = "swordfish-swordfish"
REDACTOR = Redactor({"SERVICE_TOKEN": KNOWN})


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
    publisher.output(CellOutput("c", StreamOutput("stdout", "1\n")))
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
            publisher.publish(TextDelta(f"{name}{number} "), TextDelta("and "))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [item.sequence for item in listener.heard] == list(range(1, 201))


def test_cells_that_run_are_ended_with_a_run_whose_thread_does_not_react(store: RunStore) -> None:
    listener, notebook = Listener(), MemoryNotebook()
    publisher = Publisher(store.start(), REDACTOR, notebook, listener)
    for cell in ("quick", "slow"):
        publisher.publish(CellAdded(cell, "1"), CellStarted(cell))
    publisher.publish(CellFinished("quick", Execution("ok", 0.1)))
    publisher.end(RunFinished("cancelled", reason="Let go."))
    late = CellOutput("slow", StreamOutput("stdout", f"late {KNOWN}\n"))
    assert "swordfish" not in repr(publisher.publish(late)), "what nobody hears is redacted, too"
    record = store.record(publisher.run_id)
    ends = [(e.cell_id, e.execution and e.execution.status) for e in record.executions]
    assert ends == [("quick", "ok"), ("slow", "interrupted")]
    assert record.executions[1].execution is not None
    assert record.executions[1].execution.note == "Let go."
    assert record.status == "cancelled"
    assert tuple(listener.heard) == store.events(publisher.run_id), "nothing after the end"
    assert isinstance(listener.events[-1], RunFinished)


def test_a_forked_child_waits_for_no_thread_of_its_parent(store: RunStore) -> None:
    """A cell may fork while another thread of ours is recording; the child has that lock."""
    inside, leave = threading.Event(), threading.Event()

    def hold(recorded: tuple[RecordedEvent, ...]) -> None:
        inside.set()
        leave.wait(30)

    publisher = Publisher(store.start(), REDACTOR, None, hold)
    thread = threading.Thread(target=publisher.publish, args=(TextDelta("a. "),))
    thread.start()
    assert inside.wait(10)
    child = os.fork()
    if child == 0:
        (shown,) = publisher.publish(Notice("info", f"of the child {KNOWN}"))
        os._exit(0 if isinstance(shown, Notice) and KNOWN not in shown.text else 1)
    until = time.monotonic() + 10
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < until:
        time.sleep(0.01)
    leave.set()
    thread.join()
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)


def test_what_the_record_has_to_say_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    database = open_database(tmp_path / "file" / "runs.sqlite")
    listener = Listener()
    shown = Publisher(RunStore(database).start(), REDACTOR, None, listener).publish(TextDelta("a "))
    assert listener.events == list(shown)
    assert isinstance(listener.events[-1], Notice)
    assert [item.sequence for item in listener.heard] == [1, 2]
    database.close()


SECRETS = [*made_up_keys(), *made_up_values(), MadeUp("known", KNOWN, f"it is {KNOWN}, see?")]


class PlainJournal:
    """Keeps what was recorded; as quick as a list."""

    run_id = "a run"

    def __init__(self) -> None:
        self.kept: list[RecordedEvent] = []

    def record(self, *events: Event) -> tuple[RecordedEvent, ...]:
        numbered = enumerate(events, len(self.kept) + 1)
        recorded = tuple(
            RecordedEvent(self.run_id, number, 0.0, event) for number, event in numbered
        )
        self.kept += recorded
        return recorded

    def take_notices(self) -> tuple[Notice, ...]:
        return ()


def text_of(event: Event) -> str:
    if isinstance(event, CellOutput):
        assert isinstance(event.message, StreamOutput)
        return event.message.text
    return event.text if isinstance(event, TextDelta | ReasoningDelta) else ""


def delta(piece: str) -> Event:
    return TextDelta(piece)


def thought(piece: str) -> Event:
    return ReasoningDelta(piece)


def printed(piece: str) -> Event:
    return CellOutput("c", StreamOutput("stdout", piece))


def complained(piece: str) -> Event:
    return CellOutput("c", StreamOutput("stderr", piece))


ENDINGS: list[tuple[Callable[[str], Event], Event]] = [
    (delta, ModelReplied(AssistantMessage("x"), "stop", Usage(), "m")),
    (thought, RunFinished("cancelled", cause="stopped")),
    (printed, CellFinished("c", Execution("ok", 0.1))),
    (complained, RunFinished("task error", cause="internal")),
]


@pytest.mark.parametrize("made_up", SECRETS, ids=[item.name for item in SECRETS])
def test_a_secret_cut_anywhere_is_neither_recorded_nor_told(made_up: MadeUp) -> None:
    """13.8: every format, cut at every character, in every kind of text that comes in pieces."""
    whole = REDACTOR.text(made_up.text)
    assert made_up.secret not in whole
    for cut in range(1, len(made_up.text)):
        makes, ending = ENDINGS[cut % len(ENDINGS)]
        journal, listener = PlainJournal(), Listener()
        publisher = Publisher(journal, REDACTOR, None, listener)
        shown = [
            *publisher.publish(makes(made_up.text[:cut])),
            *publisher.publish(makes(made_up.text[cut:])),
            *publisher.publish(ending),
        ]
        assert "".join(map(text_of, shown)) == whole, (cut, ending)
        assert listener.events == shown
        assert journal.kept == listener.heard


@pytest.mark.parametrize("made_up", SECRETS[::3], ids=[item.name for item in SECRETS[::3]])
def test_a_secret_that_comes_letter_by_letter_is_in_no_file(
    store: RunStore, tmp_path: Path, made_up: MadeUp
) -> None:
    publisher = Publisher(store.start(), REDACTOR, None, Listener())
    for at in range(0, len(made_up.text), 3):
        publisher.publish(TextDelta(made_up.text[at : at + 3]))
        publisher.output(CellOutput("c", StreamOutput("stdout", made_up.text[at : at + 3])))
    publisher.output(CellOutput("c", StreamOutput("stdout", "")))
    publisher.publish(RunFinished("completed"))
    events = [item.event for item in store.events(publisher.run_id)]
    for kind in (TextDelta, CellOutput):
        said = "".join(text_of(event) for event in events if isinstance(event, kind))
        assert said == REDACTOR.text(made_up.text)
    for file in tmp_path.iterdir():
        assert made_up.secret.encode() not in file.read_bytes()


def test_what_is_held_back_comes_before_what_ends_it(store: RunStore) -> None:
    publisher = Publisher(store.start(), REDACTOR, None)
    assert publisher.publish(TextDelta("use gh")) == (TextDelta("use "),)
    called = ToolStarted("c1", "run_cell", {})
    assert publisher.publish(called) == (TextDelta("gh"), called)


def test_a_reply_that_is_void_leaves_nothing_behind(store: RunStore) -> None:
    publisher = Publisher(store.start(), REDACTOR, None)
    publisher.publish(TextDelta("use gh"), ModelRetrying(1, 0.1, "cut off"))
    assert publisher.publish(TextDelta("p_ or so ")) == (TextDelta("p_ or so "),)


def test_streams_of_one_cell_do_not_mix(store: RunStore) -> None:
    publisher, halves = Publisher(store.start(), REDACTOR, None), (KNOWN[:9], KNOWN[9:])
    for half in halves:
        publisher.publish(printed(half), complained("warning\n"))
    publisher.publish(CellFinished("c", Execution("ok", 0.1)))
    events = [item.event for item in store.events(publisher.run_id)]
    assert not any(half in repr(events) for half in halves)
    assert "«redacted:service_token:" in repr(events)


@pytest.mark.parametrize("page", ["{}", "<pre>{}</pre>\n", "<p>a <b>{}</b></p>"])
def test_a_display_that_grows_does_not_show_the_beginning_of_a_secret(
    store: RunStore, page: str
) -> None:
    publisher = Publisher(store.start(), REDACTOR, None)
    mime = "text/plain" if page == "{}" else "text/html"
    said = f"token {KNOWN}"
    publisher.publish(CellOutput("c", DisplayData({mime: page.format("")}, display_id="d")))
    for size in range(1, len(said) + 1):
        publisher.publish(CellOutput("c", DisplayUpdate("d", {mime: page.format(said[:size])})))
    publisher.publish(CellFinished("c", Execution("ok", 0.1)))
    events = [item.event for item in store.events(publisher.run_id)]
    assert "sword" not in repr(events)
    last = [event for event in events if isinstance(event, CellOutput)][-1].message
    assert isinstance(last, DisplayUpdate)
    assert last.data[mime] == page.format(REDACTOR.text(said))


def test_the_end_of_a_display_that_is_held_back_comes_with_the_end_of_its_cell(
    store: RunStore,
) -> None:
    publisher = Publisher(store.start(), REDACTOR, None)
    (cut,) = publisher.publish(CellOutput("c", DisplayData({"text/plain": "use gh"}, {}, "d")))
    assert cut == CellOutput("c", DisplayData({"text/plain": "use "}, {}, "d"))
    ended = CellFinished("c", Execution("ok", 0.1))
    whole = CellOutput("c", DisplayUpdate("d", {"text/plain": "use gh"}))
    assert publisher.publish(ended) == (whole, ended)


def test_what_is_held_back_is_all_that_a_sudden_end_costs(store: RunStore) -> None:
    """Whatever was shown had been recorded: a killed process loses no more than an open end."""
    seen: list[tuple[str, str]] = []

    def listener(recorded: tuple[RecordedEvent, ...]) -> None:
        events = [item.event for item in store.events(publisher.run_id)]
        seen.append(("".join(map(text_of, events)), "".join(text_of(r.event) for r in recorded)))

    publisher = Publisher(store.start(), REDACTOR, None, listener)
    for piece in ("The ", "key is ", KNOWN[:5], KNOWN[5:], " and so ", "on"):
        publisher.publish(TextDelta(piece))
    assert all(kept.endswith(told) for kept, told in seen)
    assert seen[-1][0] == REDACTOR.text(f"The key is {KNOWN} and so on")


@pytest.mark.parametrize("listener", [None, Listener()], ids=["alone", "with a listener"])
def test_what_the_record_has_to_say_is_in_the_record_itself(
    listener: Listener | None, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    database = open_database(tmp_path / "file" / "runs.sqlite")
    store = RunStore(database)
    journal = store.start()
    publisher = Publisher(journal, REDACTOR, None, listener)
    publisher.publish(TextDelta("one. "))
    publisher.publish(TextDelta("two. "))
    kinds = [item.event.kind for item in store.events(journal.run_id)]
    assert kinds == ["text_delta", "notice", "text_delta"], "said once, where it came up"
    assert "runs.sqlite" in " ".join(store.record(journal.run_id).notices)
    database.close()
