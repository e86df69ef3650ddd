"""The adapter a conversation begins with: set by the person, kept while it works, replayed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fake_service import Answer, FakeService, error, text

from cellwright.errors import SetupError
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.openai import OpenAILM
from cellwright.record.messages import Parameters, ToolCall
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import compare, replay
from cellwright.settings import from_env
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = pytest.mark.usefixtures("forked_kernels")

CHAT = ChatAdapter()
QUESTION = RunRequest("Do it.", Parameters("m"), mode="auto", adapter="chat")


def test_the_adapter_is_set_by_the_environment() -> None:
    assert from_env({}).adapter == "native"
    assert from_env({"CELLWRIGHT_ADAPTER": " json "}).adapter == "json"
    with pytest.raises(SetupError, match=r"CELLWRIGHT_ADAPTER is 'yaml'.*native, chat, json, xml"):
        from_env({"CELLWRIGHT_ADAPTER": "yaml"})


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    started = start_kernel(cwd=str(tmp_path_factory.mktemp("adapters")))
    yield started
    started.close()


@pytest.fixture
def place(kernel: FreshKernel, tmp_path: Path) -> Iterator[RunContext]:
    database = open_database(tmp_path / "runs.sqlite")
    yield RunContext(kernel, RunStore(database), Redactor({}), "cli")
    database.close()


def ask(
    conversation: Conversation, script: Sequence[Answer], question: RunRequest = QUESTION
) -> tuple[RunRecord, list[str]]:
    with FakeService(script) as service:
        list(conversation.ask(question, OpenAILM(service.settings())))
        asked = [str(request.messages[0]["content"]) for request in service.requests]
    return conversation.place.store.record(conversation.last_run_id), asked


def run(code: str) -> Answer:
    return text(CHAT.write_reply("I run it.", [ToolCall("", "run_cell", f'{{"code": "{code}"}}')]))


@pytest.mark.kernel
def test_004_23_a_run_in_words_is_replayed_without_them(place: RunContext) -> None:
    script = [text("Garbage {"), run("x = 6 * 7"), run("x"), text(CHAT.write_reply("**42**", []))]
    record, asked = ask(Conversation(place), script)
    assert (record.status, record.answer) == ("completed", "**42**")
    assert all("How to reply" in system for system in asked)
    assert [step.finish_reason for step in record.steps] == ["unreadable", "stop", "stop", "stop"]
    replayed = Conversation(place)
    list(replay(record, replace(place, lane="replay")))
    assert isinstance(place.store, RunStore)
    newest = place.store.list()[0].run_id
    again = place.store.record(newest)
    assert again.source_run == record.run_id
    assert (again.status, again.answer) == ("completed", "**42**")
    assert compare(record, again) == ()
    assert replayed.last_run_id == ""


@pytest.mark.kernel
def test_004_23_what_worked_is_kept_for_the_next_question(place: RunContext) -> None:
    conversation = Conversation(place)
    native = replace(QUESTION, adapter="native")
    refusal = error(400, "m does not support tools", code=None)
    said = text(CHAT.write_reply("Fine.", []))
    record, asked = ask(conversation, [refusal, said], native)
    assert (record.status, record.answer) == ("completed", "Fine.")
    assert ["How to reply" in system for system in asked] == [False, True]
    record, asked = ask(conversation, [said], native)
    assert record.answer == "Fine."
    assert ["How to reply" in system for system in asked] == [True]


@pytest.mark.kernel
def test_004_23_after_a_failure_the_next_question_begins_anew(place: RunContext) -> None:
    conversation = Conversation(place)
    record, _ = ask(conversation, [text("No {")] * 3)
    assert (record.status, record.cause) == ("agent validation failed", "unreadable_reply")
    assert len(record.steps) == 3
    assert record.usage.completion_tokens > 0
    record, _ = ask(conversation, [text(CHAT.write_reply("Fine.", []))])
    assert record.answer == "Fine."
