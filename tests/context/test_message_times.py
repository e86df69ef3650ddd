"""Requirement 002-46: when a question was sent, told only where the person wants that."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from fakes import FakeKernel
from scripted_model import ScriptedLM, says

from cellwright.context.assemble import TurnState, time_sent, user_message
from cellwright.context.normalise import normalise
from cellwright.context.roles import message_as
from cellwright.context.turns import question_of
from cellwright.errors import SetupError
from cellwright.record.messages import (
    AssistantMessage,
    Parameters,
    SystemMessage,
    TextPart,
    text_of,
)
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import from_env
from cellwright.store.runs import RunMemory
from cellwright.text.redaction import Redactor

MOMENT = datetime(2026, 11, 22, 9, 30, 5, 999, timezone(timedelta(hours=1)))
SENT = "question sent at "


def test_002_46_times_are_told_only_where_it_is_said() -> None:
    assert from_env({}).message_times is False
    assert from_env({"CELLWRIGHT_MESSAGE_TIMES": " Yes "}).message_times is True
    assert from_env({"CELLWRIGHT_MESSAGE_TIMES": "no"}).message_times is False
    with pytest.raises(SetupError, match="CELLWRIGHT_MESSAGE_TIMES is 'maybe'"):
        from_env({"CELLWRIGHT_MESSAGE_TIMES": "maybe"})


def test_002_46_a_time_has_its_zone_and_stands_at_the_end() -> None:
    sent = time_sent(MOMENT)
    assert datetime.fromisoformat(sent) == MOMENT.replace(microsecond=0)
    assert datetime.fromisoformat(time_sent()).utcoffset() is not None
    told = user_message("hi", state=TurnState(sent_at=sent))
    assert text_of(told) == f"hi\n\n<notebook-state>\n{SENT}{sent}\n</notebook-state>"
    assert question_of(told) == "hi"
    assert normalise(normalise([told])) == normalise([told])


def test_002_46_only_the_persons_questions_have_a_time_and_it_stays_as_it_was() -> None:
    place = RunContext(FakeKernel({}), RunMemory(), Redactor({}), "bench")
    conversation, model = Conversation(place), ScriptedLM([says("One."), says("Two.")])
    for number, sent in enumerate(("2026-11-22 09:30:05+01:00", "")):
        conversation.notes.append(message_as("user_later", (TextPart("a note"),)))
        question = RunRequest(f"Question {number}?", Parameters("m"), sent_at=sent)
        assert list(conversation.ask(question, model))
    times = [message for message in conversation.messages if SENT in text_of(message)]
    assert [question_of(message) for message in times] == ["Question 0?"]
    assert not any(isinstance(m, (SystemMessage, AssistantMessage)) for m in times)
    first, second = (prompt.messages for prompt in model.prompts)
    assert second[: len(first)] == first, "what was sent once is never rewritten"
    assert place.store.record(conversation.last_run_id).prompt == "Question 1?"
