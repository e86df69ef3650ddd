"""Outside proof for the Gemini API: the types and the client of Google's own SDK.

The product does not need it; where it is not installed, nothing is proven here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pydantic
import pytest
from asking import RUN_CELL, ask, prompt_of, serving
from fake_gemini import GeminiApi, fault, listed, too_many
from fake_providers import calls, says, thinks
from fake_service import FakeService
from google_description import problems as described
from google_description import reply_problems

from cellwright.llm.gemini import BROKEN, FINISHED
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

genai = pytest.importorskip("google.genai", minversion="3.0")
errors, types = genai.errors, genai.types

SCRIPT = [
    [thinks("Hm."), says("I look."), calls("run_cell", {"code": "1"})],
    [thinks("So."), calls("run_cell", {"code": "2"}), calls("run_cell", {"code": "3"})],
    [thinks(), says("It is 1.")],
]
SCHEMA = {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
FORCED = {"type": "function", "function": {"name": "run_cell"}}
ASKED: list[dict[str, Any]] = [
    {},
    {"max_output_tokens": 99, "temperature": 0.5, "extra": {"reasoning_effort": "low"}},
    {"extra": {"stop": ["END"], "service_tier": "flex", "tool_choice": "none", "top_p": 0.5}},
    {"extra": {"response_format": {"type": "json_schema", "json_schema": SCHEMA}, "seed": 7}},
    {"extra": {"tool_choice": FORCED, "top_k": 4, "presence_penalty": 0.5, "labels": {"a": "b"}}},
]


LISTS = {
    "contents": types.Content,
    "tools": types.Tool,
    "safetySettings": types.SafetySetting,
}
ONES = {
    "systemInstruction": types.Content,
    "toolConfig": types.ToolConfig,
    "generationConfig": types.GenerationConfig,
    "serviceTier": types.ServiceTier,
    "labels": dict[str, str],
}


def problems_of(body: dict[str, Any]) -> list[str]:
    """What of a request does not fit the published types, none of which takes a field more."""
    found = [f"{name} is not known" for name in body if name not in {**LISTS, **ONES}]
    fields = [(n, kind, item) for n, kind in LISTS.items() for item in body.get(n, ())]
    fields += [(n, kind, body[n]) for n, kind in ONES.items() if n in body]
    for name, kind, value in fields:
        try:
            pydantic.TypeAdapter(kind).validate_json(json.dumps(value))
        except pydantic.ValidationError as error:
            found.append(f"{name}: {error}")
    return found


@pytest.mark.parametrize("model", ["fake-model", "gemini-2.5-flash"])
@pytest.mark.parametrize("asked", ASKED)
def test_requests_fit_the_types_of_the_sdk(asked: dict[str, Any], model: str) -> None:
    picture = ImagePart("image/png", "aGk=", "a plot")
    said: list[Message] = [
        SystemMessage("Be brief."),
        UserMessage((TextPart("See"), picture)),
        AssistantMessage("I run.", (ToolCall("functions.run:0", "run_cell", "{broken"),)),
        ToolMessage("functions.run:0", "run_cell", (TextPart("A plot."), picture), is_error=True),
    ]
    provider = GeminiApi(SCRIPT, chunk_bytes=7)
    with serving(provider, api="gemini") as (_, lm):
        for _ in SCRIPT:
            prompt = prompt_of(*said, tools=(RUN_CELL,), **asked)
            parameters = replace(prompt.parameters, model=model)
            reply = ask(lm, replace(prompt, parameters=parameters)).reply
            assert reply is not None
            said.append(reply.message)
            for call in reply.message.tool_calls:
                said.append(ToolMessage(call.id, call.name, (TextPart("1"),)))
    assert provider.refusals == []
    assert len(provider.taken) == len(SCRIPT)
    assert [wrong for body in provider.taken for wrong in problems_of(body)] == []


def test_types_and_description_find_what_is_wrong() -> None:
    good: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert problems_of(good) == []
    assert described("/v1beta/models/m:generateContent", good) == []
    wrong: list[dict[str, Any]] = [
        {"temperature": 0.5},
        {"generationConfig": {"topX": 1}},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": "low"}}},
        {"contents": [{"role": "user", "parts": [{"txt": "hi"}]}]},
        {"contents": [{"parts": [{"functionCall": {"name": "f", "arguments": {}}}]}]},
        {"tools": [{"functionDeclarations": [{"name": "f", "schema": {}}]}]},
        {"toolConfig": {"functionCallingConfig": {"allowedFunctionNames": "f"}}},
    ]
    for bad in wrong:
        assert problems_of(good | bad) != [], bad
        assert described("/v1beta/models/m:generateContent", good | bad) != [], bad


def test_the_ends_of_replies_that_we_know_are_published() -> None:
    """All but one, which the SDK alone has."""
    for reason in {*FINISHED, *BROKEN} - {"MISSING_THOUGHT_SIGNATURE"}:
        assert reply_problems({"candidates": [{"finishReason": reason}]}) == []
    assert reply_problems({"candidates": [{"finishReason": "DONE"}]}) != []


@contextmanager
def client_of(service: FakeService) -> Iterator[Any]:
    options = types.HttpOptions(
        base_url=service.base_url.removesuffix("/v1"),
        api_version="v1",
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    client = genai.Client(api_key="AIzaKey", vertexai=False, http_options=options)
    try:
        yield client
    finally:
        client.close()


TOOL = types.FunctionDeclaration(
    name="run_cell",
    description="Run code.",
    parameters_json_schema={"type": "object", "properties": {"code": {"type": "string"}}},
)


@pytest.mark.parametrize("size", [0, 1, 7])
def test_the_client_of_the_sdk_talks_with_the_simulator(size: int) -> None:
    """Whoever wrote the client and the rules of the API agrees with what is refused here."""
    provider = GeminiApi(SCRIPT, chunk_bytes=size)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[TOOL])],
        thinking_config=types.ThinkingConfig(
            include_thoughts=True, thinking_level=types.ThinkingLevel.LOW
        ),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        system_instruction="Be brief.",
    )
    said = [types.Content(role="user", parts=[types.Part(text="go")])]
    with FakeService(provider) as service, client_of(service) as client:
        for _ in SCRIPT:
            parts: list[Any] = []
            for chunk in client.models.generate_content_stream(
                model="gemini-3.8-flash", contents=said, config=config
            ):
                last = chunk
                content = chunk.candidates[0].content
                parts += (content.parts or []) if content else []
            said.append(types.Content(role="model", parts=parts))
            made = [part.function_call for part in parts if part.function_call]
            results = [
                types.Part(
                    function_response=types.FunctionResponse(
                        id=call.id, name=call.name, response={"output": "1"}
                    )
                )
                for call in made
            ]
            if results:
                said.append(types.Content(role="user", parts=results))
    assert provider.refusals == []
    assert last.candidates[0].finish_reason == types.FinishReason.STOP
    assert "".join(p.text for p in parts if p.text and not p.thought) == "It is 1."
    assert last.usage_metadata.thoughts_token_count == 64
    assert last.usage_metadata.cached_content_token_count > 0


MINIMAL = types.ThinkingConfig(thinking_level=types.ThinkingLevel.MINIMAL)


@pytest.mark.parametrize(
    ("contents", "config", "words"),
    [
        ([("model", "hi")], {}, "prefill"),
        ([("user", "hi")], {"candidate_count": 2}, "candidates"),
        ([("user", "hi")], {"thinking_config": MINIMAL}, "MINIMAL"),
        ([("user", "hi"), ("model", "call")], {}, "number of function response"),
        ([("user", "hi"), ("model", "call"), ("user", "result")], {}, "missing a thought_sig"),
    ],
)
def test_the_client_of_the_sdk_is_refused_as_we_are(
    contents: list[tuple[str, str]], config: dict[str, Any], words: str
) -> None:
    parts = {
        "hi": {"text": "hi"},
        "call": {"function_call": {"name": "run_cell", "args": {}}},
        "result": {"function_response": {"name": "run_cell", "response": {"output": "1"}}},
    }
    said = [{"role": role, "parts": [parts[part]]} for role, part in contents]
    with (
        FakeService(GeminiApi(SCRIPT)) as service,
        client_of(service) as client,
        pytest.raises(errors.ClientError, match=words),
    ):
        client.models.generate_content(model="gemini-3.8-flash", contents=said, config=config)


def test_the_client_of_the_sdk_knows_the_errors_and_the_list() -> None:
    answers = [too_many("GenerateRequestsPerDay", "3s"), fault(503, "UNAVAILABLE", "Overloaded")]
    with FakeService(answers, models=listed("gemini-a")) as service, client_of(service) as client:
        for status, name in ((429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE")):
            with pytest.raises(errors.APIError) as caught:
                client.models.generate_content(model="m", contents="hi")
            assert (caught.value.code, caught.value.status) == (status, name)
        models = list(client.models.list())
    assert [model.name for model in models] == ["models/gemini-a", "models/embedding-2"]
    assert models[0].input_token_limit == 1_048_576
