"""``%agent pin`` and ``%agent unpin``: row 002-60."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_service import text
from magics.live_kernel import LiveKernel
from recorded_runs import replied, started, user

from cellwright.commands.results import Result
from cellwright.errors import SetupError
from cellwright.record.events import COMPACT_PROMPT, ModelAsked, RunFinished
from cellwright.record.messages import AssistantMessage
from cellwright.store.chats import ChatStore
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright_magics.commands import Offers
from cellwright_magics.context_commands import pin_command


@pytest.fixture
def chats(tmp_path: Path) -> Iterator[ChatStore]:
    database = open_database(tmp_path / "runs.sqlite")
    yield ChatStore(database)
    database.close()


def asked(chats: ChatStore, chat: str, *prompts: str) -> list[str]:
    """Runs of a chat; their ids."""
    runs = []
    for prompt in prompts:
        answer = replied(AssistantMessage("Yes."))
        events = (started(prompt), ModelAsked(1, (user(prompt),)), answer)
        store = chats.pins.runs
        assert isinstance(store, RunStore)
        runs.append(store.start(*events, RunFinished("completed", "Yes.")).run_id)
        chats.add_run(chat, runs[-1])
    return runs


def test_002_60_a_turn_is_pinned_by_its_number_its_run_or_as_the_last(chats: ChatStore) -> None:
    chat = chats.create().chat_id
    runs = asked(chats, chat, "first", "second", COMPACT_PROMPT, "third", COMPACT_PROMPT)

    def told(line: str) -> str:
        return repr(pin_command(line.split(), chats, chat))

    assert "Nothing is pinned. %agent pin keeps the last turn" in told("pin list")
    assert told("pin").startswith("Turn 3 is pinned: its question and answer stay")
    assert told("pin 1").startswith("Turn 1 is pinned")
    assert told(f"pin {runs[1]}").startswith("Turn 2 is pinned")
    assert chats.pins.of(chat) == (runs[3], runs[0], runs[1])
    table = pin_command(["pin", "list"], chats, chat)
    assert isinstance(table, Result)
    assert [(row[0], row[1], row[3]) for row in table.rows] == [
        ("1", runs[0], "first"),
        ("2", runs[1], "second"),
        ("3", runs[3], "third"),
    ]
    assert told("unpin 2").startswith("Turn 2 is not pinned. It goes with the next turns")
    assert chats.get(chat).pins == (runs[3], runs[0])
    assert told("unpin all") == "2 turns are not pinned any more."
    told("pin last")
    assert told("unpin all") == "1 turn is not pinned any more."


def test_002_60_what_cannot_be_pinned_is_told_with_what_to_do(chats: ChatStore) -> None:
    chat = chats.create().chat_id
    for nowhere in ("", "none"):
        with pytest.raises(SetupError, match=r"no chat here yet. Ask something, or go on"):
            pin_command(["pin"], chats, nowhere)
    with pytest.raises(SetupError, match="Nothing was asked in this chat yet"):
        pin_command(["pin"], chats, chat)
    assert repr(pin_command(["pin", "list"], chats, chat)).startswith("Nothing is pinned")
    runs = asked(chats, chat, "first", "second")
    for name in ("0", "3", "abc123"):
        with pytest.raises(SetupError, match=rf"There is no turn '?{name}"):
            pin_command(["pin", name], chats, chat)
    day = runs[0][:8]
    with pytest.raises(SetupError, match=f"'{day}' fits 2 ids"):
        pin_command(["unpin", day], chats, chat)


def test_002_60_completion_offers_what_can_be_pinned() -> None:
    offers = Offers(lambda: ["20261122-101500-ab12cd"], tuple)
    assert list(offers.after(["pin"], line=True)) == ["last", "20261122-101500-ab12cd", "list"]
    assert list(offers.after(["unpin"], line=True)) == ["last", "20261122-101500-ab12cd", "all"]


@pytest.mark.kernel
def test_002_60_pins_in_a_real_kernel(fresh: LiveKernel) -> None:
    long = "An answer. " * 400
    nothing = fresh.run("%agent pin", answers=[])
    fresh.run("%agent The unit is kg.", [text("Noted.")], answers=[])
    fresh.run("%agent Tell me more", [text(long)], answers=[])
    pinned = fresh.run("%agent pin 1", answers=[]).results[0]
    listed = fresh.run("%agent pin list", answers=[]).results[0]
    fresh.run("%agent compact", answers=[])
    context = fresh.run("%agent context", answers=[]).results[0]
    fresh.run("%agent Go on", [text("Yes.")], answers=[])
    first, second = fresh.service.requests[-1].messages[1:3]
    assert "There is no chat here yet." in nothing.stderr
    assert "Turn 1 is pinned" in pinned
    assert "The unit is kg." in listed
    assert "pinned" in context
    assert "]\nThe unit is kg." in first["content"]
    assert second["content"] == "Noted."
