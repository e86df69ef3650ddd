"""The window inside runs: what is sent stays within it, and the record stays whole."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeKernel, Played
from scripted_model import Answer, ScriptedLM, calls, says

from cellwright.context.assemble import Quoted
from cellwright.context.blocks import MemoryBlocks, Recalled
from cellwright.context.roles import message_as
from cellwright.context.turns import is_summary, total_tokens
from cellwright.errors import LMContextError
from cellwright.llm import Capabilities
from cellwright.record.events import Event, HistoryCompacted, ModelAsked, Notice, RunFinished
from cellwright.record.messages import Parameters, TextPart, ToolMessage, UserMessage, text_of
from cellwright.record.outputs import StreamOutput
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

CELL = ("run_cell", {"code": "long(0)"})
LONG = "\n".join(f"line {number} of a long output" for number in range(200))


class SmallLM(ScriptedLM):
    """A scripted model with a small window."""

    def __init__(self, script: list[Answer], context_tokens: int) -> None:
        super().__init__(script)
        self._context_tokens = context_tokens

    def capabilities(self, model: str) -> Capabilities:
        return Capabilities(context_tokens=self._context_tokens)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[RunContext]:
    database = open_database(tmp_path / "runs.sqlite")
    played = Played((StreamOutput("stdout", LONG),))
    kernel = FakeKernel({f"long({number})": played for number in range(9)})
    yield RunContext(kernel, RunStore(database), Redactor({}), "bench")
    database.close()


def ask(conversation: Conversation, model: ScriptedLM, prompt: str = "Go on.") -> list[Event]:
    question = RunRequest(prompt, Parameters("scripted"), mode="auto")
    return list(conversation.ask(question, model))


def test_002_60_results_of_one_long_run_are_cut_before_they_are_too_much(place: RunContext) -> None:
    cells = [calls(("run_cell", {"code": f"long({n})"}), start=n) for n in range(9)]
    model = SmallLM([*cells, says("Done.")], 12_000)
    conversation = Conversation(place)
    events = ask(conversation, model)
    assert isinstance(events[-1], RunFinished)
    assert events[-1].status == "completed"
    assert max(total_tokens(prompt.messages) for prompt in model.prompts) <= 9_000
    notices = [event.code for event in events if isinstance(event, Notice)]
    assert "compacted" in notices
    assert any(isinstance(e, ModelAsked) and e.replaces_history for e in events)
    record = place.store.record(conversation.last_run_id)
    assert len([m for m in record.messages if m.role == "tool"]) == 9


def test_a_request_that_the_service_refuses_is_sent_shorter(place: RunContext) -> None:
    refused = LMContextError("too long")
    model = SmallLM([calls(CELL), calls(CELL, start=1), refused, says("Done.")], 100_000)
    events = ask(Conversation(place), model)
    assert isinstance(events[-1], RunFinished)
    assert events[-1].status == "completed"
    sizes = [total_tokens(prompt.messages) for prompt in model.prompts]
    assert sizes[-1] < sizes[-2]


def test_a_step_between_runs_is_recorded_with_its_summary_and_the_tools(place: RunContext) -> None:
    conversation = Conversation(place)
    summed: list[HistoryCompacted] = []
    for turn in range(12):
        model = SmallLM([calls(CELL, start=turn), says(f"Answer {turn}.")], 12_000)
        events = ask(conversation, model, f"Question {turn}?")
        found = [event for event in events if isinstance(event, HistoryCompacted)]
        if found:
            summed += found
            record = place.store.record(conversation.last_run_id)
            assert record.messages[: record.earlier_messages] == found[0].messages
            assert "Question" in text_of(record.messages[record.earlier_messages])
            assert record.tools
    assert summed
    assert summed[0].summary.startswith("- asked: Question 0?")
    assert summed[0].tokens_after < summed[0].tokens_before
    assert sum(is_summary(message) for message in conversation.messages) == 1


def test_002_63_an_old_turn_comes_back_beside_a_question_that_is_like_it_and_only_once(
    place: RunContext,
) -> None:
    conversation = Conversation(place)
    ask(conversation, SmallLM([says("Noted.")], 12_000), "The table is called kunden_stamm.")
    for turn in range(12):
        model = SmallLM([calls(CELL, start=turn), says(f"Answer {turn}.")], 12_000)
        ask(conversation, model, f"Part {turn} of it?")
    beside = []
    for _ in range(2):
        model = SmallLM([says("It is.")], 12_000)
        ask(conversation, model, "What was kunden_stamm again?")
        beside.append(text_of(model.prompts[0].messages[-1]))
    assert "<context>\nearlier in this chat, run " in beside[0]
    assert "asked: The table is called kunden_stamm." in beside[0]
    assert "earlier in this chat" not in beside[1]


class HalfBlindShelf(MemoryBlocks):
    """Finds by words what it has; looking by meaning failed."""

    def find(self, chat_id: str, query: str, without: Collection[str]) -> Recalled:
        return replace(super().find(chat_id, query, without), problem="Words alone were looked for")


def test_002_63_what_could_not_be_looked_for_is_told_and_ends_no_run(place: RunContext) -> None:
    conversation = Conversation(replace(place, blocks=HalfBlindShelf()))
    ask(conversation, SmallLM([says("Noted.")], 12_000), "The table is called kunden_stamm.")
    for turn in range(12):
        model = SmallLM([calls(CELL, start=turn), says(f"Answer {turn}.")], 12_000)
        ask(conversation, model, f"Part {turn} of it?")
    model = SmallLM([says("It is.")], 12_000)
    events = ask(conversation, model, "What was kunden_stamm again?")
    told = [e for e in events if isinstance(e, Notice) and e.code == "not_looked_up"]
    assert [(e.level, e.text) for e in told] == [("warning", "Words alone were looked for")]
    assert "asked: The table is called kunden_stamm." in text_of(model.prompts[0].messages[-1])
    assert isinstance(events[-1], RunFinished)
    assert events[-1].status == "completed"


def test_what_a_person_puts_beside_the_question_counts_for_the_window(place: RunContext) -> None:
    conversation = Conversation(place)
    for turn in range(4):
        ask(conversation, SmallLM([says("words " * 900)], 12_000), f"Question {turn}?")
    quote = Quoted("cell a", "x " * 12_000)
    question = RunRequest("Why?", Parameters("scripted"), context=(quote,))
    events = list(conversation.ask(question, SmallLM([says("So.")], 12_000)))
    assert any(isinstance(event, HistoryCompacted) for event in events)


def test_a_question_that_is_asked_as_it_was_sent_changes_nothing(place: RunContext) -> None:
    conversation = Conversation(place)
    conversation.resume(tuple(message_as("user", (TextPart("x" * 90_000),)) for _ in range(1)))
    message = UserMessage((TextPart("Again."),))
    question = RunRequest("Again.", Parameters("scripted"), message=message)
    model = SmallLM([says("Yes.")], 12_000)
    list(conversation.ask(question, model))
    assert total_tokens(model.prompts[0].messages) > 20_000


def test_002_53_a_result_without_its_call_is_left_out_and_the_person_is_told_once(
    place: RunContext,
) -> None:
    conversation = Conversation(place)
    orphan = ToolMessage("gone_1", "run_cell", (TextPart("seen"),))
    conversation.resume((message_as("user", (TextPart("Before."),)), orphan))
    model = ScriptedLM([says("One."), says("Two.")])
    told = [e.text for e in ask(conversation, model) if isinstance(e, Notice)]
    assert told == ["Results of tools whose calls are gone are left out for the model: gone_1."]
    assert not any(isinstance(message, ToolMessage) for message in model.prompts[0].messages)
    assert [e for e in ask(conversation, model) if isinstance(e, Notice)] == []
