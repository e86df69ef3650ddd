"""What waits in a chat for its next question: rows 002-20 to 002-30."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.context.roles import ROLES
from cellwright.errors import SetupError
from cellwright.record.messages import AssistantMessage, SystemMessage, TextPart, UserMessage
from cellwright.store.chats import EMPTY_CHAT_SECONDS, NOTES_LIMIT, ChatNotes, ChatStore
from cellwright.store.database import Database, open_database

MAY_WAIT = ("user_later", "system", "system_hide", "assistant")


class Clock:
    """Time that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_002_21_notes_wait_in_their_order_for_their_chat_alone(database: Database) -> None:
    notes = ChatNotes(database, Clock())
    kept = [
        notes.add("a", role, text)
        for role, text in (("user_later", "  数据是 2024 年的 "), ("system", "Be brief."))
    ]
    notes.add("b", "user_later", "elsewhere")
    assert notes.waiting("a") == tuple(kept)
    assert [note.message for note in kept] == [
        UserMessage((TextPart("数据是 2024 年的"),), "user_later"),
        SystemMessage("Be brief.", "system", "user"),
    ]
    notes.forget("a", [kept[0].note_id])
    assert [note.text for note in notes.waiting("a")] == ["Be brief."]
    assert [note.text for note in notes.waiting("b")] == ["elsewhere"]
    assert notes.waiting("none") == ()


@pytest.mark.parametrize("role", [*ROLES, "developer", ""])
def test_002_20_to_30_only_what_nobody_answers_at_once_can_wait(
    database: Database, role: str
) -> None:
    notes = ChatNotes(database)
    if role in MAY_WAIT:
        assert notes.add("a", role, "words").role == role
    else:
        with pytest.raises(SetupError, match=r"cannot wait as .*Use one of user_later"):
            notes.add("a", role, "words")
        assert notes.waiting("a") == ()


def test_002_25_an_answer_that_a_person_brings_stays_theirs(database: Database) -> None:
    brought = ChatNotes(database).add("a", "assistant", "It was the north.")
    assert brought.message == AssistantMessage("It was the north.", origin="user")


def test_002_21_an_empty_note_and_one_too_many_are_refused(database: Database) -> None:
    notes = ChatNotes(database)
    with pytest.raises(SetupError, match="no text in it"):
        notes.add("a", "user_later", " \n")
    for number in range(NOTES_LIMIT):
        notes.add("a", "user_later", str(number))
    with pytest.raises(SetupError, match="100 notes wait already. Ask something"):
        notes.add("a", "user_later", "one more")


def test_002_21_another_process_reads_what_waits(database: Database, tmp_path: Path) -> None:
    ChatNotes(database).add("a", "user_later", "from the kernel")
    other = open_database(tmp_path / "runs.sqlite")
    assert [note.text for note in ChatNotes(other).waiting("a")] == ["from the kernel"]
    other.close()


def test_002_21_a_chat_with_a_note_is_not_forgotten_and_a_deleted_one_takes_it_along(
    database: Database,
) -> None:
    clock = Clock()
    chats = ChatStore(database, clock)
    noted, empty = chats.create(), chats.create()
    chats.notes.add(noted.chat_id, "user_later", "remember this")
    clock.now += EMPTY_CHAT_SECONDS + 1
    chats.create()
    assert chats.find(empty.chat_id) is None
    assert chats.find(noted.chat_id) is not None
    chats.delete(noted.chat_id)
    assert chats.notes.waiting(noted.chat_id) == ()


def test_002_26_a_chats_instructions_say_whose_place_they_take(database: Database) -> None:
    chats = ChatStore(database)
    chat = chats.create().chat_id
    assert chats.instruct(chat, "Rhyme.", adds=True).prompt_adds is True
    assert chats.get(chat).prompt_adds is True
    assert chats.instruct(chat, "Be a poet.").prompt_adds is False
    assert chats.instruct(chat, "", adds=True).prompt_adds is False
