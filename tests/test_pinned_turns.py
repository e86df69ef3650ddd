"""A long chat with a pinned turn, against a service that shows what it was sent: row 002-60."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, Request, text
from fakes import FakeKernel
from scripted_model import ScriptedLM, says

from cellwright.context.pins import PinnedTurn
from cellwright.context.turns import opening_of, total_tokens
from cellwright.errors import LMContextError
from cellwright.llm import Capabilities
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import Event, HistoryCompacted, Notice, RunFinished
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Parameters,
    SystemMessage,
    TextPart,
    UserMessage,
    text_of,
)
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.resuming import is_behind, resumed, with_notes
from cellwright.store.blocks import BlockStore
from cellwright.store.chats import ChatStore
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

PINNED = "The table of customers is called kunden_stamm."
WORDS = " ".join(f"w{number:03}" for number in range(480))


def reacting(request: Request) -> Any:
    """Answers a question at length; the one that is pinned in few words."""
    asked = str(request.messages[-1]["content"])
    return text("Noted: kunden_stamm." if PINNED in asked else f"On {asked[:11]} {WORDS}")


class SmallLM(OpenAILM):
    """A model with a small window, so that turns need not be as long as people's are."""

    def capabilities(self, model: str) -> Capabilities:
        return replace(super().capabilities(model), context_tokens=16_000)


@dataclass
class Talk:
    """A chat that goes on with a service."""

    service: FakeService
    model: SmallLM
    chats: ChatStore
    conversation: Conversation
    chat: str

    def ask(self, prompt: str, supersedes: str = "") -> list[Event]:
        """Ask as a lane does; what was told."""
        if is_behind(self.conversation, self.chats, self.chat) or supersedes:
            self.go_on(supersedes)
        question = RunRequest(prompt, Parameters("gpt"))
        with with_notes(self.conversation, self.chats, self.chat):
            told = list(self.conversation.ask(question, self.model))
        self.chats.add_run(self.chat, self.conversation.last_run_id, supersedes)
        return told

    def go_on(self, without: str = "") -> None:
        """As after a restart."""
        self.conversation = resumed(self.conversation.place, self.chats, self.chat, without)

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The messages of the last request."""
        return list(self.service.requests[-1].messages)


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    database = open_database(tmp_path / "runs.sqlite")
    chats = ChatStore(database)
    chat = chats.create().chat_id
    place = RunContext(FakeKernel(), RunStore(database), Redactor({}), "panel")
    place = replace(place, chat_id=chat, blocks=BlockStore(database))
    with FakeService(reacting) as service:
        yield Talk(service, SmallLM(service.settings()), chats, Conversation(place), chat)
    database.close()


def compacted(events: list[Event]) -> bool:
    return any(isinstance(event, HistoryCompacted) for event in events)


def count_of(talk: Talk, words: str) -> int:
    return json.dumps(talk.sent).count(words)


def test_002_60_a_pin_of_turn_2_is_sent_after_40_long_turns_and_not_when_it_was_let_go(
    talk: Talk,
) -> None:
    talk.ask("Question 1?")
    talk.ask(PINNED)
    pinned = talk.conversation.last_run_id
    before = talk.sent
    talk.chats.pins.pin(talk.chat, pinned)
    talk.ask("Question 3?")
    assert talk.sent[: len(before)] == before, "nothing changes while the turn is still there"
    steps = [compacted(talk.ask(f"Question {number}?")) for number in range(4, 27)]
    talk.go_on()
    steps += [compacted(talk.ask(f"Question {number}?")) for number in range(27, 42)]
    assert 2 <= sum(steps) <= 6
    talk.ask("What was kunden_stamm again?")
    system, question, answer, *rest = talk.sent
    assert system["role"] == "system"
    assert f"[pinned turn, run {pinned}]\n{PINNED}" in question["content"]
    assert answer == {"role": "assistant", "content": "Noted: kunden_stamm."}
    assert PINNED not in json.dumps(rest)
    assert f"- asked: {PINNED}" not in question["content"]
    assert "- asked: Question 1?" in question["content"]
    talk.chats.pins.unpin(talk.chat, pinned)
    there = talk.sent
    while not compacted(talk.ask("And more?")):
        assert talk.sent[: len(there)] == there
    assert "[pinned turn" not in json.dumps(talk.sent)


def test_002_60_a_pin_of_what_was_left_out_comes_back_with_the_next_question_and_is_recorded(
    talk: Talk,
) -> None:
    talk.ask(PINNED)
    pinned = talk.conversation.last_run_id
    number = 0
    while not compacted(talk.ask(f"Question {number}?")):
        number += 1
    assert "[pinned turn" not in json.dumps(talk.sent)
    talk.chats.pins.pin(talk.chat, pinned)
    told = talk.ask("And now?")
    assert count_of(talk, PINNED) == 1
    (found,) = [event for event in told if isinstance(event, HistoryCompacted)]
    assert found.tokens_after > 0
    assert [event.code for event in told if isinstance(event, Notice)] == ["pinned_back"]
    record = talk.conversation.place.store.record(talk.conversation.last_run_id)
    assert record.messages[: record.earlier_messages] == found.messages
    talk.go_on()
    assert not compacted(talk.ask("And then?"))
    assert count_of(talk, PINNED) == 1
    # recalled beside a question it would stand there twice
    talk.ask("What is the table of customers called, kunden_stamm?")
    assert count_of(talk, PINNED) == 1


def test_002_60_a_pin_counts_no_more_where_its_turn_is_asked_again(talk: Talk) -> None:
    talk.ask("Question 1?")
    talk.ask(PINNED)
    pinned = talk.conversation.last_run_id
    talk.chats.pins.pin(talk.chat, pinned)
    assert not compacted(talk.ask("Something else.", supersedes=pinned))
    assert PINNED not in json.dumps(talk.sent)
    assert not compacted(talk.ask("Question 3?"))
    assert PINNED not in json.dumps(talk.sent)
    assert talk.chats.get(talk.chat).pins == ()


def test_002_60_a_request_that_the_service_refuses_is_sent_shorter_with_what_is_pinned(
    talk: Talk,
) -> None:
    said: list[Message] = [SystemMessage("Work.")]
    for number in range(60):
        question = UserMessage((TextPart(f"Question {number}? {'word ' * 60}"),))
        said += [question, AssistantMessage(f"Answer {number}.")]
    talk.conversation.resume(tuple(said))
    asked, answer = text_of(said[5]).strip(), said[6]
    assert isinstance(answer, AssistantMessage)
    pinned = PinnedTurn("a-run", asked, answer, opening_of(said[5]))
    talk.conversation.earlier.pinned = (pinned,)
    model = ScriptedLM([LMContextError("too long"), says("Done.")])
    told = list(talk.conversation.ask(RunRequest("And now?", Parameters("scripted")), model))
    assert isinstance(told[-1], RunFinished)
    assert told[-1].status == "completed"
    first, second = (prompt.messages for prompt in model.prompts)
    assert total_tokens(second) < 0.7 * total_tokens(first)
    assert f"[pinned turn, run a-run]\n{asked}" in text_of(second[1])
    assert second[2] == answer
    assert "- asked: Question 0?" in text_of(second[1])
