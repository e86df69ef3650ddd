"""The text filters that a chat has chosen, from its settings to the request and the record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, text
from fakes import FakeKernel
from recorded_runs import record_of, started
from scripted_model import ScriptedLM, says

from cellwright.exports.sampling import run_of, sample_of
from cellwright.llm import LM
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import Event, Notice, RunStarted
from cellwright.record.messages import Parameters, TextPart, UserMessage, text_of
from cellwright.record.run_record import RunRecord
from cellwright.record.values import from_dict, to_dict
from cellwright.session.conversation import Conversation, said_so_far
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import replay, rerun
from cellwright.session.services import ModelService
from cellwright.store.chat_rows import filters_of, with_filters
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

PASTED = "one\r\n\r\n\r\n\r\ntwo"
PLAIN = "one\n\ntwo"
NO_BLANK_LINES = ("line_ends", "terminal_colours")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


def place_of(database: Database, chat_id: str = "") -> RunContext:
    return RunContext(FakeKernel(), RunStore(database), Redactor({}), "cli", chat_id=chat_id)


def ask(conversation: Conversation, lm: LM, **options: Any) -> tuple[list[Event], RunRecord]:
    question = RunRequest(PASTED, Parameters("m"), mode="auto", **options)
    events = list(conversation.ask(question, lm))
    return events, conversation.place.store.record(conversation.last_run_id)


def asked(lm: ScriptedLM) -> str:
    """The person's words in the newest request."""
    return "".join(text_of(m) for m in lm.prompts[-1].messages if isinstance(m, UserMessage))


def test_002_47_the_requests_of_two_chats_differ_where_one_has_a_filter_off(
    database: Database,
) -> None:
    chats = ChatStore(database)
    usual, other = chats.create(), chats.create()
    other = chats.keep_settings(other.chat_id, with_filters({}, NO_BLANK_LINES))
    with FakeService([text("Yes."), text("Yes.")]) as service:
        for chat in (usual, other):
            conversation = Conversation(place_of(database, chat.chat_id))
            lm = OpenAILM(service.settings())
            ask(conversation, lm, text_filters=filters_of(chat.settings))
        first, second = (json.dumps(request.messages) for request in service.requests)
    inside = [json.dumps(words)[1:-1] for words in (PLAIN, PASTED.replace("\r\n", "\n"))]
    assert first != second
    assert first.replace(inside[0], inside[1]) == second


@pytest.mark.parametrize("names", [None, (), NO_BLANK_LINES])
def test_002_47_the_choice_is_recorded_and_used_when_the_run_is_asked_again(
    database: Database, names: tuple[str, ...] | None
) -> None:
    first = ScriptedLM([says("Yes.")])
    events, record = ask(Conversation(place_of(database)), first, text_filters=names)
    assert [e.text_filters for e in events if isinstance(e, RunStarted)] == [names]
    assert record.text_filters == names
    assert run_of(sample_of(record, "sample")).text_filters == names
    assert {"\r" in text_of(m) for m in record.messages} == {True, False}, "kept as it was"
    again, place = ScriptedLM([says("Yes.")]), place_of(database)
    list(rerun(record, place, ModelService(again, "other")))
    assert again.prompts[0].messages == first.prompts[0].messages
    list(replay(record, place))
    replayed = RunStore(database)
    assert replayed.record(replayed.list(1)[0].run_id).text_filters == names


def test_002_47_a_choice_counts_for_all_that_was_said_and_can_be_taken_back(
    database: Database,
) -> None:
    conversation = Conversation(place_of(database))
    lm = ScriptedLM([says("Yes."), says("Yes."), says("Yes.")])
    ask(conversation, lm)
    assert (asked(lm).count(PLAIN), asked(lm).count(PASTED)) == (1, 0)
    ask(conversation, lm, text_filters=())
    assert (asked(lm).count(PLAIN), asked(lm).count(PASTED)) == (0, 2)
    ask(conversation, lm)
    assert (asked(lm).count(PLAIN), asked(lm).count(PASTED)) == (3, 0)


def test_002_47_names_of_another_version_are_left_out_and_told(database: Database) -> None:
    lm = ScriptedLM([says("Yes.")])
    names = ("of_tomorrow", "line_ends", "of_yesterday")
    events, record = ask(Conversation(place_of(database)), lm, text_filters=names)
    assert record.status == "completed"
    assert PASTED.replace("\r\n", "\n") in asked(lm)
    (told,) = [e for e in events if isinstance(e, Notice)]
    assert (told.code, told.level) == ("text_filter_left_out", "warning")
    assert told.text == (
        "There is no text filter 'of_tomorrow', 'of_yesterday' in this version; it is left out."
    )
    assert record.text_filters == names, "the newer version uses them again"


@pytest.mark.parametrize(("names", "words"), [(None, PLAIN), ((), PASTED)])
def test_002_47_tools_are_told_what_the_model_is_told(
    names: tuple[str, ...] | None, words: str
) -> None:
    (said,) = said_so_far((UserMessage((TextPart(PASTED),)),), names)
    assert text_of(said) == words


def test_002_47_a_record_from_before_has_no_choice() -> None:
    old = to_dict(started())
    del old["text_filters"]
    assert from_dict(RunStarted, old).text_filters is None
    record = record_of([from_dict(RunStarted, old)])
    assert record.text_filters is None
    assert "text_filters" not in sample_of(record, "sample").run
    off = sample_of(replace(record, text_filters=()), "sample")
    assert off.run["text_filters"] == []
