"""``%agent context``, ``compact``, ``later``, ``system``, ``prompt``: rows 002-21 to 002-26."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_service import text
from fakes import FakeKernel
from magics.live_kernel import LiveKernel
from magics.typed_lines import command
from scripted_model import ScriptedLM, says

from cellwright.commands.results import Result
from cellwright.context.roles import NOTHING_TO_ANSWER
from cellwright.context.window import summary_of
from cellwright.errors import SetupError
from cellwright.record.messages import (
    Parameters,
    Price,
    SystemMessage,
    TextPart,
    UserMessage,
    text_of,
)
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright_magics.chats import ChatPrompt, OwnWords
from cellwright_magics.context_commands import context_command, tabulate_context

SECRET = "-".join(["open", "sesame", "open"])


@pytest.fixture
def conversation(tmp_path: Path) -> Iterator[Conversation]:
    database = open_database(tmp_path / "runs.sqlite")
    yield Conversation(
        RunContext(FakeKernel(), RunStore(database), Redactor({"x": SECRET}), "magic")
    )
    database.close()


def ask(conversation: Conversation, prompt: str, answer: str = "Done.") -> ScriptedLM:
    model = ScriptedLM([says(answer)])
    for _ in conversation.ask(RunRequest(prompt, Parameters("scripted")), model):
        pass
    return model


def run(conversation: Conversation, line: str, body: str | None = None) -> str:
    told = context_command(command(f"/{line}", body), conversation, OwnWords(conversation))
    assert isinstance(told, Result)
    return told.text


def test_002_21_a_note_for_later_asks_nobody_and_goes_with_the_next_question(
    conversation: Conversation,
) -> None:
    assert "next question" in run(conversation, "later The file of May is new.")
    assert conversation.messages == ()
    model = ask(conversation, "What is new?")
    sent = text_of(model.prompts[0].messages[-1])
    assert sent.startswith("The file of May is new.\nWhat is new?")
    assert (
        UserMessage((TextPart("The file of May is new."),), "user_later") in conversation.messages
    )


def test_002_23_an_instruction_stands_in_the_one_system_message(
    conversation: Conversation,
) -> None:
    ask(conversation, "Hello")
    run(conversation, f"system Be brief, {SECRET}.")
    model = ask(conversation, "And now?")
    head, *rest = model.prompts[0].messages
    assert "\n\nBe brief, «redacted:x:" in text_of(head)
    assert not any(isinstance(message, SystemMessage) for message in rest)


def test_x_26_what_a_person_put_in_is_marked_in_the_record(conversation: Conversation) -> None:
    run(conversation, "system Be brief.")
    ask(conversation, "Hello")
    record = conversation.place.store.record(conversation.last_run_id)
    origins = [m.origin for m in record.messages if isinstance(m, SystemMessage)]
    assert origins == ["", "user"]


def test_002_26_the_conversations_own_words_are_kept_shown_and_cleared(
    conversation: Conversation,
) -> None:
    own = OwnWords(conversation)
    assert isinstance(context_command(command("/prompt Be a poet."), conversation, own), Result)
    assert own.prompt == ChatPrompt("Be a poet.", adds=False)
    context_command(command("/prompt --append Rhyme."), conversation, own)
    assert own.prompt == ChatPrompt("Rhyme.", adds=True)
    assert repr(context_command(command("/prompt"), conversation, own)) == "Rhyme."
    context_command(command("/prompt clear"), conversation, own)
    assert own.prompt == ChatPrompt()
    assert "no words of its own" in repr(context_command(command("/prompt"), conversation, own))
    with pytest.raises(SetupError, match=r"1100 characters. Use at most 1024"):
        context_command(command("/prompt " + "x" * 1_100), conversation, own)


def test_002_26_instructions_and_notes_may_stand_below_the_line(
    conversation: Conversation,
) -> None:
    own = OwnWords(conversation)
    context_command(command("/prompt --append", "Two\nlines.\n"), conversation, own)
    assert own.prompt == ChatPrompt("Two\nlines.", adds=True)
    context_command(command("/later", "One.\n\nTwo.\n"), conversation, own)
    assert text_of(conversation.notes[0]) == "One.\n\nTwo."


def test_002_48_an_empty_question_is_nothing_to_answer(conversation: Conversation) -> None:
    with pytest.raises(SetupError, match=NOTHING_TO_ANSWER):
        ask(conversation, "  ")
    assert conversation.last_run_id == ""


def test_the_table_says_what_is_in_the_context_and_what_it_costs(
    conversation: Conversation,
) -> None:
    empty = context_command(command("/context"), conversation, OwnWords(conversation))
    assert repr(empty) == "Nothing was said in this conversation yet."
    ask(conversation, "Hello there")
    table = context_command(command("/context"), conversation, OwnWords(conversation))
    assert isinstance(table, Result)
    names = [row[0] for row in table.rows]
    assert names[:2] == ["instructions", "tools"]
    assert {"questions", "answers", "all"} <= set(names)
    assert "of 60,000 at most" in repr(table)
    tokens = sum(part.tokens for part in table)
    priced = tabulate_context(table.items, 2.0, Price(10.0, 20.0, 1.0))
    assert sum(part.tokens for part in priced) == 2 * tokens
    assert f"${2 * tokens / 100_000:.4f} a request" in repr(priced)
    assert "when cached" in repr(tabulate_context(table.items, 1.0, Price(10.0, 20.0)))
    small = repr(tabulate_context(table.items, 1.0, None, 4_096))
    assert "of 3,072 at most, the model's window is 4,096" in small


def test_a_conversation_is_made_shorter_and_its_summary_read_and_changed(
    conversation: Conversation,
) -> None:
    with pytest.raises(SetupError, match="Nothing was said"):
        run(conversation, "compact")
    for number in range(6):
        ask(conversation, f"Question {number}? " + "words " * 300, "An answer. " * 300)
    assert "no summary" in run(conversation, "context summary")
    assert "shorter: about" in run(conversation, "compact")
    shown = run(conversation, "context summary")
    assert shown.startswith("- asked: Question 0?")
    assert run(conversation, f"context summary Never use {SECRET}.").startswith("Never use «redact")
    last = conversation.place.store.record(conversation.last_run_id)
    assert (last.prompt, last.status) == ("/summary", "completed")
    assert summary_of(last.messages).words.startswith("Never use «redact")
    model = ask(conversation, "Go on.")
    assert "Never use «redact" in text_of(model.prompts[0].messages[1])
    assert "Question 0?" in text_of(model.prompts[0].messages[1])
    assert "Never" not in run(conversation, "context summary clear")
    assert run(conversation, "context summary", "Only this.\n") == "Only this."
    assert run(conversation, "context summary", "\n") == "Only this."


def test_there_is_nothing_to_gain_in_a_short_conversation(conversation: Conversation) -> None:
    ask(conversation, "Hello")
    with pytest.raises(SetupError, match="nothing to make shorter"):
        run(conversation, "compact")


@pytest.mark.kernel
def test_002_20_to_26_in_a_real_kernel(fresh: LiveKernel) -> None:
    fresh.run("%agent /later The unit is kg.", answers=[])
    fresh.run("%agent /prompt Answer in one word.", answers=[])
    fresh.run("%agent Hello", [text("Hi.")], answers=[])
    first = fresh.service.requests[-1].messages
    shown = fresh.run("%agent context", answers=[]).results[0]
    fresh.run("%%agent context summary\nThe unit is kg, always.", answers=[])
    fresh.run("%config AgentMagics.message_times = True")
    fresh.run("%agent And now?", [text("Yes.")], answers=[])
    second = fresh.service.requests[-1].messages
    assert "Answer in one word." in first[0]["content"]
    assert first[1]["content"].startswith("The unit is kg.\nHello")
    third = fresh.run("%%agent prompt\nAnswer in\ntwo words.", answers=[]).results[0]
    assert "Noted." in third
    assert fresh.run("%agent prompt", answers=[]).results == ["Answer in\ntwo words."]
    assert "instructions" in shown
    assert "The unit is kg, always." in second[1]["content"]
    assert "question sent at 20" in second[-1]["content"]
    assert "question sent at" not in str(second[:-1])


@pytest.mark.kernel
def test_002_47_a_notebooks_chat_has_its_own_filters(fresh: LiveKernel) -> None:
    def newest() -> str:
        return str(fresh.service.requests[-1].messages[-1]["content"])

    fresh.run("%agent filters blank_lines off", answers=[])
    fresh.run("%%agent\none\n\n\n\ntwo", [text("Yes.")], answers=[])
    assert "one\n\n\n\ntwo" in newest()
    shown = fresh.run("%agent filters", answers=[]).results[0]
    assert "blank_lines       off" in shown
    fresh.run("%agent filters reset", answers=[])
    fresh.run("%%agent\nthree\n\n\n\nfour", [text("Yes.")], answers=[])
    assert "three\n\nfour" in newest()
    fresh.run("%agent filters off", answers=[])
    fresh.run("%agent reset", answers=[])
    assert "off" not in fresh.run("%agent filters", answers=[]).results[0]
