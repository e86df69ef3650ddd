"""Replies that were cut: the run says so, goes on where that helps, and runs nothing of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asking import QUICK
from fake_providers import OpenAIResponses, says, thinks
from fake_service import (
    FakeService,
    Script,
    call_delta,
    chunk,
    error,
    in_bytes,
    raw_sse,
    text,
    tool_call,
)
from fakes import FakeKernel

from cellwright.llm.openai import USUAL_LIMIT_TOKENS, OpenAILM
from cellwright.record.events import CellAdded, RunFinished, ToolFinished
from cellwright.record.messages import Parameters, text_of
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import replay
from cellwright.settings import ModelSettings, checked_api
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor


@pytest.fixture
def place(tmp_path: Path) -> Iterator[RunContext]:
    database = open_database(tmp_path / "runs.sqlite")
    yield RunContext(FakeKernel(), RunStore(database), Redactor({}), "bench")
    database.close()


def asked(
    place: RunContext,
    script: Script,
    parameters: Parameters | None = None,
    models: Mapping[str, ModelSettings] | None = None,
) -> tuple[RunRecord, FakeService]:
    """The record of a question to a server of this machine, which takes limits."""
    with (
        FakeService(script) as service,
        closing(OpenAILM(service.settings(), models=models or {}, pace=QUICK)) as lm,
    ):
        conversation = Conversation(place)
        question = RunRequest("Tell.", parameters or Parameters("fake-model"), mode="auto")
        for _ in conversation.ask(question, lm):
            pass
    return place.store.record(conversation.last_run_id), service


def counted(completion: int, prompt: int = 900, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


def test_an_answer_cut_at_the_limit_that_was_set_is_not_completed(place: RunContext) -> None:
    script = [text("First, the sum of", finish="length", usage=counted(200))]
    record, service = asked(place, script, Parameters("fake-model", max_output_tokens=200))
    assert (record.status, record.cause) == ("task limit reached", "truncated")
    assert record.answer == "First, the sum of"
    assert (
        record.reason
        == "The answer was cut at the limit of 200 tokens. Raise it with --max-output."
    )
    assert len(service.requests) == 1, "it would be cut again"


def test_the_usual_limit_is_a_limit_too(place: RunContext) -> None:
    script = [in_bytes(text("So", finish="length", usage=counted(USUAL_LIMIT_TOKENS)), 3)]
    record, _ = asked(place, script)
    assert (record.status, record.cause) == ("task limit reached", "truncated")
    assert "16,384 tokens" in record.reason


class TestALimitThatOnlyTheServiceKnows:
    """Nobody set one and the service takes none: it goes on once."""

    @staticmethod
    def without_limit(*answers: Any) -> Script:
        """Refuses the limit as a strict service does, then answers."""
        refusal = error(400, "Unsupported parameter: 'max_tokens'.", param="max_tokens")
        again = error(
            400, "Unsupported parameter: 'max_completion_tokens'.", param="max_completion_tokens"
        )
        return [refusal, again, *answers]

    def test_the_answer_goes_on_where_it_stopped(self, place: RunContext) -> None:
        halves = [text("The sum is ", finish="length"), text("21.")]
        record, service = asked(place, self.without_limit(*halves))
        assert (record.status, record.cause, record.reason) == ("completed", "", "")
        assert record.answer == "The sum is 21."
        assert "Go on exactly where it stopped" in service.requests[-1].last_text

    def test_it_goes_on_once(self, place: RunContext) -> None:
        halves = [
            text("The sum ", finish="length", usage=counted(512)),
            text("is", finish="length", usage=counted(512)),
        ]
        record, _ = asked(place, self.without_limit(*halves))
        assert (record.status, record.answer) == ("task limit reached", "The sum is")
        assert "512 tokens" in record.reason

    def test_a_full_window_is_called_so_and_nothing_goes_on(self, place: RunContext) -> None:
        half = text("The sum is", finish="length", usage=counted(1_096, prompt=3_000))
        models = {"fake-model": ModelSettings(context_tokens=4_096)}
        record, _ = asked(place, self.without_limit(half), models=models)
        assert record.cause == "truncated"
        assert "window of 4,096 tokens is full" in record.reason
        assert "--max-output" not in record.reason


def test_a_reply_that_ends_far_before_its_limit_may_have_filled_the_window(
    place: RunContext,
) -> None:
    record, _ = asked(place, [text("So", finish="length", usage=counted(300))])
    assert "cut after 300 tokens" in record.reason
    assert "window" in record.reason


@pytest.mark.parametrize("shown", [True, False], ids=["told", "only counted"])
def test_thinking_cut_at_the_limit_is_called_so(place: RunContext, *, shown: bool) -> None:
    hidden: dict[str, Any] = (
        {} if shown else {"completion_tokens_details": {"reasoning_tokens": 200}}
    )
    cut = text("", finish="length", usage=counted(200, **hidden), reasoning="Hm. " * shown)
    record, service = asked(place, [cut], Parameters("fake-model", max_output_tokens=200))
    assert (record.status, record.cause) == ("task limit reached", "truncated")
    assert "still thinking" in record.reason
    assert "200 tokens" in record.reason
    assert "--effort" in record.reason
    assert len(service.requests) == 1


def test_thinking_that_is_cut_inside_its_tag_is_no_answer(place: RunContext) -> None:
    cut = in_bytes(text("<think>First I add", finish="length", usage=counted(50)), 2)
    record, _ = asked(place, [cut], Parameters("fake-model", max_output_tokens=50))
    assert (record.answer, record.cause) == ("", "truncated")
    assert "still thinking" in record.reason


@pytest.mark.parametrize("ending", [{"reason": "max_output_tokens"}, None])
def test_an_incomplete_response_is_cut(place: RunContext, ending: Any) -> None:
    end = {"status": "incomplete", "incomplete_details": ending}
    provider = OpenAIResponses([[thinks("Hm."), says("The sum")]], ending=end)
    models = {"fake-model": ModelSettings(api="responses")}
    record, _ = asked(place, provider, Parameters("fake-model", max_output_tokens=9), models)
    assert (record.status, record.cause) == ("task limit reached", "truncated")
    assert record.answer == "The sum"


@pytest.mark.parametrize("word", ["max_tokens", "model_length", "MAX_TOKENS"])
def test_the_words_of_other_services_for_it(place: RunContext, word: str) -> None:
    record, _ = asked(place, [text("So", finish=word)])
    assert record.cause == "truncated"


def test_calls_that_were_cut_never_run_and_the_second_is_the_last(place: RunContext) -> None:
    cut = tool_call("run_cell", {"code": "1"}, finish="length", usage=counted(60))
    record, service = asked(place, [cut, cut], Parameters("fake-model", max_output_tokens=60))
    assert (record.status, record.cause) == ("task limit reached", "truncated")
    assert record.reason.startswith("A call of a tool was cut at the limit of 60 tokens")
    assert record.executions == ()
    assert "Send the call again in smaller pieces" in service.requests[1].last_text


@pytest.mark.parametrize("arguments", [True, False], ids=["in a call", "in words"])
def test_a_reply_that_repeats_itself_ends_the_run(place: RunContext, *, arguments: bool) -> None:
    begins = [chunk(call_delta(id="c", name="run_cell", arguments='{"code": "'))] * arguments
    said = call_delta(arguments="plot it; ") if arguments else {"content": "and then "}
    for_ever = raw_sse([*begins, *(chunk(said) for _ in range(500))], done=False)
    record, service = asked(place, [for_ever, for_ever])
    assert (record.status, record.cause) == ("task limit reached", "repetition")
    assert record.executions == ()
    assert len(service.requests) == 1 + arguments


def test_the_next_question_sees_what_there_is_and_a_replay_ends_alike(place: RunContext) -> None:
    limit = Parameters("fake-model", max_output_tokens=200)
    record, _ = asked(place, [text("The sum", finish="length", usage=counted(200))], limit)
    assert text_of(record.messages[-1]) == "The sum"
    ended = list(replay(record, replace(place, kernel=FakeKernel())))[-1]
    assert isinstance(ended, RunFinished)
    assert (ended.status, ended.cause) == ("task limit reached", "truncated")


@pytest.mark.parametrize("adapter", ["chat", "json", "xml"])
@pytest.mark.parametrize("cause", ["truncated", "repetition", "refused"])
def test_half_of_what_an_adapter_reads_ends_the_run_and_its_replay(
    place: RunContext, adapter: str, cause: str
) -> None:
    """As a small model does it: its JSON or its sections are cut, or come again and again."""
    half = {
        "chat": "[[ ## call run_cell ## ]]\n\n[[ ## argument code ## ]]\n```python\n",
        "json": '{"say": "I add them", "calls": [{"name": "run_cell", "arguments": {"code": "',
        "xml": "<call><name>run_cell</name><code>",
    }[adapter]
    pieces = [chunk({"content": half}), *(chunk({"content": "x = 1; "}) for _ in range(500))]
    answers = {
        "truncated": text(half + "x = 1", finish="length", usage=counted(64)),
        "repetition": raw_sse(pieces, done=False),
        "refused": text(half + "x = 1", finish="content_filter"),
    }
    with (
        FakeService([answers[cause]]) as service,
        closing(OpenAILM(service.settings(), pace=QUICK)) as lm,
    ):
        limit = Parameters("fake-model", max_output_tokens=64)
        question = RunRequest("Tell.", limit, mode="auto", adapter=adapter)
        conversation = Conversation(place)
        ends = [list(conversation.ask(question, lm))[-1]]
    record = place.store.record(conversation.last_run_id)
    assert record.executions == ()
    ends.append(list(replay(record, replace(place, kernel=FakeKernel())))[-1])
    for ended in ends:
        assert isinstance(ended, RunFinished)
        status = "completed" if cause == "refused" else "task limit reached"
        assert (ended.status, ended.cause) == (status, cause)
    assert len(service.requests) == 1


CODE = {"code": "x = 1"}
TEXT = json.dumps(CODE)
IN_WORDS = {"say": "", "calls": [{"tool": "run_cell", "arguments": CODE}]}
GEMINI_CALL = {"functionCall": {"name": "run_cell", "args": CODE}}
FILTERED: dict[str, list[dict[str, Any]]] = {
    "chat": [
        chunk(call_delta(id="c", name="run_cell", arguments=TEXT)),
        chunk({}, finish="content_filter"),
    ],
    "responses": [
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "function_call", "call_id": "c", "name": "run_cell"},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": TEXT},
        {
            "type": "response.incomplete",
            "response": {
                "object": "response",
                "status": "incomplete",
                "incomplete_details": {"reason": "content_filter"},
            },
        },
    ],
    "messages": [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "c", "name": "run_cell", "input": CODE},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "refusal"}},
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [GEMINI_CALL]}}]},
        {"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]},
    ],
    "json": [
        chunk({"content": json.dumps(IN_WORDS)}),
        chunk({}, finish="content_filter"),
    ],
}
"""By the API, or by the adapter for calls that are written in words."""


@pytest.mark.parametrize("form", FILTERED)
def test_a_call_in_a_reply_that_a_filter_ended_is_not_run(place: RunContext, form: str) -> None:
    settings, adapter = (
        (ModelSettings(), form) if form == "json" else (ModelSettings(api=checked_api(form)), "")
    )
    with FakeService([raw_sse(FILTERED[form])]) as service:
        service.openai = False
        models = {"fake-model": settings}
        with closing(OpenAILM(service.settings(), models=models, pace=QUICK)) as lm:
            question = RunRequest("Go.", Parameters("fake-model"), mode="auto", adapter=adapter)
            *events, ended = Conversation(place).ask(question, lm)
    assert isinstance(ended, RunFinished)
    assert (ended.status, ended.cause) == ("completed", "refused")
    assert "filter ended the reply" in ended.reason
    assert [event.status for event in events if isinstance(event, ToolFinished)] == ["error"]
    assert not any(isinstance(event, CellAdded) for event in events)
