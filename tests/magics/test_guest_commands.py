"""Row 002-05 and X-25: what a guest's magics may see and do."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeKernel
from magics.typed_lines import command
from scripted_model import ScriptedLM, says

from cellwright.commands import VerbContext
from cellwright.commands.calling import run_verb
from cellwright.commands.results import Result
from cellwright.errors import SetupError
from cellwright.record.messages import Parameters
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import Settings
from cellwright.store.chat_rows import GUEST_SECONDS
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright_magics.chats import Chats, owner_of

GUEST = Settings(user="eve", is_guest=True)


@pytest.fixture
def database(tmp_path: Path) -> Any:
    opened = open_database(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


def asked(database: Database, chats: Chats, prompt: str, *, is_guest: bool) -> Conversation:
    place = RunContext(FakeKernel(), RunStore(database), Redactor({}), "magic", user_id="eve")
    conversation = Conversation(replace(place, is_guest=is_guest))
    with chats.answering(conversation, None) as answering:
        question = RunRequest(prompt, Parameters("m"))
        assert [*answering.ask(question, ScriptedLM([says("Yes.")]))]
    return conversation


def test_002_05_a_guest_has_chats_of_their_own_for_a_day(database: Database) -> None:
    own, guests = Chats(), Chats()
    asked(database, own, "what is my salary", is_guest=False)
    conversation = asked(database, guests, "draw a cat", is_guest=True)
    store = ChatStore(database)
    chat = store.get(guests.current)
    assert chat.is_guest
    assert chat.expires_at == pytest.approx(chat.created_at + GUEST_SECONDS)
    listed = guests.run(["chats", "all"], database, None, owner_of(GUEST))
    assert isinstance(listed, Result)
    assert [each.title for each in listed] == ["draw a cat"]
    assert len(ChatStore(database).list(owner="")) == 1
    with pytest.raises(SetupError, match="There is no chat"):
        guests.run(["chats", "rename", own.current[:8], "Mine"], database, None, owner_of(GUEST))
    with pytest.raises(SetupError, match="There is no chat"):
        guests.resume(own.current[:8], conversation, None)
    guests.resume("last", conversation, None)
    assert guests.current == chat.chat_id


def test_002_05_an_owner_keeps_what_they_ask(database: Database) -> None:
    own = Chats()
    asked(database, own, "plot it", is_guest=False)
    assert ChatStore(database).get(own.current).expires_at == 0.0
    assert owner_of(Settings(user="eve")) == ""


def test_x_25_memory_and_library_are_not_for_guests(database: Database) -> None:
    for line, told in (("memory", r"The memory is .*CELLWRIGHT_GUEST"), ("library", "The library")):
        context = VerbContext((), GUEST, lambda: nullcontext(RunStore(database)))
        with pytest.raises(SetupError, match=told):
            run_verb(command(line).command, context)
