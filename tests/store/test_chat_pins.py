"""Which turns of a chat are pinned: row 002-60."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from recorded_runs import replied, started, user

from cellwright.context.pins import PINNED_TOKENS
from cellwright.errors import SetupError
from cellwright.record.events import ModelAsked, RunFinished
from cellwright.record.messages import AssistantMessage
from cellwright.store.chats import PINS_LIMIT, ChatStore, PinsFullError
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.migrations import MIGRATIONS
from cellwright.store.runs import RunStore


@pytest.fixture
def chats(database: Database) -> ChatStore:
    seconds = count(1_000)
    return ChatStore(database, lambda: float(next(seconds)))


def ask(chats: ChatStore, database: Database, chat: str, prompt: str, answer: str = "Yes.") -> str:
    """A run of a chat; its id."""
    journal = RunStore(database).start(
        started(prompt),
        ModelAsked(1, (user(prompt),)),
        replied(AssistantMessage(answer)),
        RunFinished("completed", answer),
    )
    chats.add_run(chat, journal.run_id)
    return journal.run_id


def test_002_60_pins_are_kept_in_their_order_once_each_and_for_their_chat(
    chats: ChatStore, database: Database, tmp_path: Path
) -> None:
    chat, other = chats.create().chat_id, chats.create().chat_id
    first, second = (ask(chats, database, chat, word) for word in ("first", "second"))
    elsewhere = ask(chats, database, other, "elsewhere")
    for run in (second, first, second):
        chats.pins.pin(chat, run)
    chats.pins.pin(other, elsewhere)
    assert chats.get(chat).pins == chats.pins.of(chat) == (second, first)
    assert [found.pins for found in chats.list()] == [(elsewhere,), (second, first)]
    turns = chats.pins.turns(chat, second)
    assert [turn.asked for turn in turns] == ["first", "second"]
    assert chats.pins.turns(chat, second, turns)[0] is turns[0]
    reopened = open_database(tmp_path / "runs.sqlite")
    assert ChatStore(reopened).get(chat).pins == (second, first)
    reopened.close()
    chats.pins.unpin(chat, second)
    chats.pins.unpin(chat, second)
    assert chats.get(chat).pins == (first,)
    assert chats.pins.of_all(()) == {}


def test_002_60_only_runs_that_count_can_be_pinned_and_are_told(
    chats: ChatStore, database: Database
) -> None:
    chat = chats.create().chat_id
    first, second = (ask(chats, database, chat, word) for word in ("first", "second"))
    chats.pins.pin(chat, first)
    chats.pins.pin(chat, second)
    third = RunStore(database).start(started("in its place")).run_id
    chats.add_run(chat, third, supersedes=second)
    assert chats.get(chat).pins == (first,)
    for run in (second, "none"):
        with pytest.raises(SetupError, match=r"has no run .*See %agent runs"):
            chats.pins.pin(chat, run)
    # what is asked in the place of a run does not have its words, nor those that followed
    assert [turn.run_id for turn in chats.pins.turns(chat, first)] == [first]
    assert chats.pins.turns(chat, "") == ()
    assert chats.pins.turns("none", first) == ()


def test_002_60_too_much_and_too_many_are_refused_with_what_to_do(
    chats: ChatStore, database: Database
) -> None:
    chat = chats.create().chat_id
    long = ask(chats, database, chat, "long", "word " * PINNED_TOKENS)
    with pytest.raises(PinsFullError, match=r"about 7,5\d\d tokens; at most 6,000 .*Have its gist"):
        chats.pins.pin(chat, long)
    halves = [ask(chats, database, chat, "half", "word " * 2_600) for _ in range(2)]
    chats.pins.pin(chat, halves[0])
    refused = r"about 3,2\d\d tokens, 6,5\d\d with what is pinned already; at most 6,000 can be "
    with pytest.raises(PinsFullError, match=refused + "pinned. Unpin something"):
        chats.pins.pin(chat, halves[1])
    chats.pins.unpin(chat, halves[0])
    for number in range(PINS_LIMIT):
        chats.pins.pin(chat, ask(chats, database, chat, f"{number}"))
    with pytest.raises(PinsFullError, match="20 turns are pinned already. Unpin something"):
        chats.pins.pin(chat, ask(chats, database, chat, "one more"))
    assert len(chats.pins.of(chat)) == PINS_LIMIT


def test_002_60_a_branch_has_the_pins_of_the_runs_it_takes(
    chats: ChatStore, database: Database
) -> None:
    chat = chats.create().chat_id
    runs = [ask(chats, database, chat, word) for word in ("first", "second", "third")]
    for run in (runs[2], runs[1], runs[0]):
        chats.pins.pin(chat, run)
    branch = chats.branch(chat, runs[1])
    assert branch.pins == (runs[1], runs[0])
    chats.pins.unpin(branch.chat_id, runs[0])
    assert chats.get(chat).pins == (runs[2], runs[1], runs[0])


def test_002_60_pins_go_with_their_chat_and_with_their_run(
    chats: ChatStore, database: Database
) -> None:
    chat, other = chats.create().chat_id, chats.create().chat_id
    run, gone = (ask(chats, database, chat, word) for word in ("first", "second"))
    chats.pins.pin(chat, run)
    chats.pins.pin(chat, gone)
    RunStore(database).delete(gone)
    assert chats.pins.of(chat) == (run,)
    chats.delete(chat)
    assert database.read("SELECT * FROM chat_pins") == []
    assert chats.get(other).pins == ()


def test_002_60_a_pinned_run_of_which_nothing_was_written_is_stepped_over(
    chats: ChatStore, database: Database
) -> None:
    chat = chats.create().chat_id
    chats.add_run(chat, "lost")
    run = ask(chats, database, chat, "first")
    row = (chat, "lost", 1.0)
    database.write(Statement("INSERT INTO chat_pins VALUES (?, ?, ?)", row))
    assert chats.pins.turns(chat, run) == ()
    chats.pins.pin(chat, run)
    assert [turn.asked for turn in chats.pins.turns(chat, run)] == ["first"]


def test_002_60_a_record_from_before_has_no_pins_and_takes_some(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    before = tuple(step for step in MIGRATIONS if step.__name__ < "m013")
    old = open_database(path, OpenOptions(migrations=before))
    row = ("c", 1.0, 1.0)
    old.write(Statement("INSERT INTO chats (chat_id, created_at, updated_at) VALUES (?,?,?)", row))
    old.close()
    new = open_database(path)
    chats = ChatStore(new)
    run = ask(chats, new, "c", "first")
    assert chats.get("c").pins == ()
    chats.pins.pin("c", run)
    assert chats.get("c").pins == (run,)
    new.close()
    assert [file.name for file in tmp_path.glob("old.sqlite*backup*")] == []
