"""Conversations that we send, rendered by llama.cpp's server in each chat template that it ships.

They stand in the source of llama-cpp-python, which ``make test-foreign`` fetches.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from asking import RUN_CELL
from foreign.servers import MODEL, Server, read_templates, serve_llama

from cellwright.context.normalise import normalise
from cellwright.errors import LMRequestError
from cellwright.llm.adapters.chain import ADAPTERS
from cellwright.llm.capabilities import Learned
from cellwright.llm.faults import Endpoint, from_status
from cellwright.llm.openai_format import ChatForm, parameters_of
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Parameters,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.settings import ServiceSettings

TEMPLATES = read_templates()
TRIES = 5
"""Four things may be learned: whose turn it is, and three shapes of messages with calls."""
TAKES_NO_TOOLS = {
    "google-gemma-2-2b-it": "it takes neither calls nor results: a run uses the chat form",
}
SYSTEM = SystemMessage("You help.")
PLOT = ImagePart("image/png", "QUJD", "a plot")


def person(text: str) -> Message:
    return UserMessage((TextPart(text),))


def model(text: str, *call_ids: str) -> Message:
    arguments = json.dumps({"code": "1 + 1"})
    return AssistantMessage(text, tuple(ToolCall(name, "run_cell", arguments) for name in call_ids))


def result(call_id: str, *pictures: ImagePart) -> Message:
    return ToolMessage(call_id, "run_cell", (TextPart("2"), *pictures))


ADDED = (SYSTEM, person("Add."), model("", "call_1"), result("call_1"))
CONVERSATIONS: dict[str, tuple[Message, ...]] = {
    "a question": (SYSTEM, person("Add.")),
    "a result": ADDED,
    "two results": (
        *(SYSTEM, person("Add."), model("I add.", "call_1", "call_2")),
        *(result("call_1"), result("call_2")),
    ),
    "two rounds": (*ADDED, model("And more.", "call_2"), result("call_2")),
    "a second question": (*ADDED, model("It is 2."), person("And 2 + 2?")),
    "a question behind a result": (*ADDED, person("And 2 + 2?")),
    "an answer without its question": (SYSTEM, model("It is 2."), person("And 2 + 2?")),
    "a plot": (SYSTEM, person("Plot."), model("", "call_1"), result("call_1", PLOT)),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("template", TEMPLATES or ["none"])
def test_each_conversation_is_rendered_once_the_refusals_are_learned(
    logs: Path, template: str
) -> None:
    if not TEMPLATES:
        pytest.skip("make test-foreign fetches the source that has the templates")
    with serve_llama(logs, template, 512, TEMPLATES[template]) as server:
        for name, said in CONVERSATIONS.items():
            for form in ("native", "chat") if template in TAKES_NO_TOOLS else ("native",):
                refused = render(server, said, form)
                if form == "native" and template in TAKES_NO_TOOLS:
                    continue
                assert not refused, f"{name}, {form}: {refused}"


def render(server: Server, said: tuple[Message, ...], form: str) -> str:
    """Let a server render a conversation as a run would; how it refuses in the end, if it does."""
    learned = Learned(ServiceSettings(server.base_url, "none", MODEL))
    adapter, refused = ADAPTERS[form](), ""
    for _ in range(TRIES):
        known = learned.capabilities(MODEL)
        prompt = adapter.format_prompt(normalise(said, known), (RUN_CELL,), Parameters(MODEL))
        # Without the projector of a model that sees, llama.cpp takes no pictures at all.
        chat = ChatForm(vision=False, alternates=known.alternates, shapes=known.shapes)
        status, answer = post(server, parameters_of(prompt, chat))
        if status == 200:
            assert "Add." in answer or "Plot." in answer or "And 2 + 2?" in answer
            return ""
        error = from_status(status, answer, {}, Endpoint(server.base_url, MODEL))
        assert isinstance(error, LMRequestError), "it is no outage"
        refused = error.message
        learned.from_refusal(MODEL, error, (), pictures=False)
        if learned.capabilities(MODEL) == known:
            break
    return refused


def post(server: Server, body: dict[str, Any]) -> tuple[int, str]:
    """What the server makes of a request, without asking the model."""
    request = urllib.request.Request(
        server.base_url.removesuffix("/v1") + "/apply-template",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()
