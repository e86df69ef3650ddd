"""A service whose template wants words in turn refuses once, and then gets them in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_answers import Request, Wire
from fake_service import FakeService, error, text
from fakes import FakeKernel

from cellwright.context.normalise import BROKEN_OFF
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import RunFinished
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Parameters,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

REFUSAL = "After the optional system message, conversation roles must alternate user/assistant"
OF_PERPLEXITY = "After the (optional) system message(s), user or tool message(s) should alternate"
"""… with assistant message(s): serac-labs/serac issue 53, 2026-02-01."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[RunContext]:
    database = open_database(tmp_path / "runs.sqlite")
    yield RunContext(FakeKernel(), RunStore(database), Redactor({}), "bench")
    database.close()


def strict(request: Request, words: str = REFUSAL) -> Wire:
    roles = [m["role"] for m in request.messages]
    in_turn = all(pair != ("tool", "user") for pair in zip(roles, roles[1:], strict=False))
    return text("Yes.")(request) if in_turn else error(400, words)(request)


@pytest.mark.parametrize("words", [REFUSAL, f"{OF_PERPLEXITY} with assistant message(s)."])
def test_x_17_a_template_that_wants_turns_is_learned_of_and_served(
    place: RunContext, words: str
) -> None:
    conversation = Conversation(place)
    broken_off = AssistantMessage(tool_calls=(ToolCall("a", "run_cell", "{}"),))
    conversation.resume((UserMessage((TextPart("Do it."),)), broken_off))
    with FakeService(lambda request: strict(request, words)) as service:
        model = OpenAILM(service.settings())
        for prompt in ("Go on.", "And now?"):
            question = RunRequest(prompt, Parameters("m"), service.base_url)
            ended = list(conversation.ask(question, model))[-1]
            assert isinstance(ended, RunFinished)
            assert (ended.status, ended.answer) == ("completed", "Yes.")
    assert len(service.requests) == 3
    said = [m["content"] for m in service.requests[-1].messages if m["role"] == "assistant"]
    assert BROKEN_OFF in said
    assert model.capabilities("m").alternates


def test_another_refusal_ends_the_run(place: RunContext) -> None:
    with FakeService([error(400, "no such thing")]) as service:
        question = RunRequest("Go.", Parameters("m"), service.base_url)
        ended = list(Conversation(place).ask(question, OpenAILM(service.settings())))[-1]
    assert isinstance(ended, RunFinished)
    assert ended.status == "task error"


def test_pictures_of_results_do_not_stand_right_behind_them_either(place: RunContext) -> None:
    """As the templates of Mistral Small and Ministral have it; llama.cpp answers with 500 then."""
    picture = ImagePart("image/png", "QUJD", "a plot")
    said = (
        UserMessage((TextPart("Plot it."),)),
        AssistantMessage(tool_calls=(ToolCall("a", "run_cell", "{}"),)),
        ToolMessage("a", "run_cell", (TextPart("done"), picture)),
        AssistantMessage("Here it is."),
    )
    conversation = Conversation(place)
    conversation.resume(said)
    with FakeService(strict) as service:
        model = OpenAILM(service.settings())
        question = RunRequest("And now?", Parameters("m"), service.base_url)
        ended = list(conversation.ask(question, model))[-1]
    assert isinstance(ended, RunFinished)
    assert (ended.status, ended.answer) == ("completed", "Yes.")
    assert "image_url" in service.requests[-1].raw.decode(), "it is sent all the same"
