"""Google's Gemini API, against a service that refuses what the real one refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from asking import RUN_CELL, Asked, ask, prompt_of, reply_of, serving, with_results
from fake_gemini import GeminiApi, fault, listed, too_many
from fake_providers import calls, says, thinks
from fake_service import FakeService, json_body, raw_sse, text

from cellwright.errors import (
    LMAccessError,
    LMContextError,
    LMNotFoundError,
    LMQuotaError,
    LMRateLimitError,
    LMServerError,
    LMStreamError,
    LMToolsUnsupportedError,
)
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.llm.capabilities import Learned, is_listed, list_models
from cellwright.llm.gemini import UNSIGNED, gemini_parameters
from cellwright.llm.openai import OpenAILM
from cellwright.llm.provider_items import NO_ITEMS
from cellwright.providers import (
    PROVIDERS,
    find_provider,
    models_path,
    usual_api,
)
from cellwright.record.events import ModelRetrying, Notice, ReasoningDelta, TextDelta
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Prompt,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

PICTURE = ImagePart("image/png", "aGk=", "a plot")
HARD = [thinks("Let me look."), says("I look."), calls("run_cell", {"code": "1"})]
ENOUGH = [thinks("Enough."), says("It is 1.")]
ROW = next(p for p in PROVIDERS if p.api == "gemini")
VERTEX = next(p for p in PROVIDERS if p.gemini_models)
OLD = "gemini-2.5-flash"


def asked_through(provider: Any, prompt: Prompt, **settings: Any) -> Asked:
    with serving(provider, **{"api": "gemini", **settings}) as (_, lm):
        return ask(lm, prompt)


def named(prompt: Prompt, model: str) -> Prompt:
    return replace(prompt, parameters=replace(prompt.parameters, model=model))


def kinds_of(body: Any) -> list[list[str]]:
    """What each part is; with a star where it is signed."""
    return [
        [
            next(n for n in part if n not in ("thought", "thoughtSignature"))
            + "*" * ("thoughtSignature" in part)
            for part in content["parts"]
        ]
        for content in body["contents"]
    ]


@pytest.mark.parametrize("size", [0, 1, 7, 4096])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_reply_streams_whatever_its_pieces_are(size: int, line_end: str) -> None:
    provider = GeminiApi([HARD], chunk_bytes=size, line_end=line_end)
    asked = asked_through(provider, prompt_of("go", tools=(RUN_CELL,)))
    reply = reply_of(asked)
    assert provider.refusals == []
    assert reply.message.text == "I look."
    assert reply.message.tool_calls == (ToolCall("fc12", "run_cell", '{"code": "1"}'),)
    assert reply.message.reasoning == "Let me look."
    assert "".join(event.text for event in asked.all(TextDelta)) == "I look."
    assert "".join(event.text for event in asked.all(ReasoningDelta)) == "Let me look."
    assert reply.finish_reason == "tool_calls"
    assert (reply.usage.reasoning_tokens, reply.usage.completion_tokens) == (64, 74)
    assert not reply.usage.estimated
    assert (reply.model, reply.request_id) == ("fake-model", "reply_1")
    assert provider.paths == ["/v1/models/fake-model:streamGenerateContent?alt=sse"]


def test_the_key_stands_in_its_header_alone() -> None:
    provider = GeminiApi([ENOUGH])
    asked_through(provider, prompt_of("hi"), api_key="AIzaSecretSecret")
    (head,) = provider.heads
    assert head["x-goog-api-key"] == "AIzaSecretSecret"
    assert "authorization" not in head
    assert "AIza" not in provider.paths[0]


def test_signatures_go_back_with_the_parts_that_they_came_with() -> None:
    second = [thinks("So."), calls("run_cell", {"code": "2"}), calls("run_cell", {"code": "3"})]
    provider = GeminiApi([HARD, second, ENOUGH, ENOUGH], chunk_bytes=1)
    replies = []
    with serving(provider, api="gemini") as (_, lm):
        said: list[Message] = [SystemMessage("Be brief."), UserMessage((TextPart("go"),))]
        for question in ("", "", "And now?", ""):
            replies.append(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))))
            said += with_results(replies[-1].message)
            said += [UserMessage((TextPart(question),))] if question else []
    assert provider.refusals == []
    assert kinds_of(provider.taken[-1]) == [
        ["text"],
        ["text", "functionCall*"],
        ["functionResponse"],
        ["functionCall*", "functionCall"],
        ["functionResponse", "functionResponse"],
        ["text", "text*"],
        ["text"],
    ]
    assert provider.taken[-1]["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert [reply.usage.cached_tokens > 0 for reply in replies] == [False, True, True, True]


@pytest.mark.parametrize("gives_ids", [True, False])
def test_a_result_has_the_id_of_its_call_where_that_had_one(gives_ids: bool) -> None:
    provider = GeminiApi([HARD, ENOUGH], gives_ids=gives_ids)
    with serving(provider, api="gemini") as (_, lm):
        prompt = prompt_of("go", tools=(RUN_CELL,))
        message = reply_of(ask(lm, prompt)).message
        ask(lm, prompt_of(*prompt.messages, *with_results(message), tools=(RUN_CELL,)))
    assert provider.refusals == []
    response = provider.taken[-1]["contents"][-1]["parts"][0]["functionResponse"]
    assert ("id" in response) == gives_ids
    assert message.tool_calls[0].id, "for us each call has one"


def replied(*parts: dict[str, Any]) -> Any:
    """A stream with a part in each piece."""
    pieces = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
    return raw_sse([*pieces, {"candidates": [{"finishReason": "STOP"}]}], done=False)


SIGNED_PIECES: list[dict[str, Any]] = [
    {"text": "Hm.", "thought": True},
    {"thought": True, "thoughtSignature": "c2lnbmVkMQ=="},
    {"text": "It "},
    {"text": "is "},
    {"text": "1.", "thoughtSignature": "c2lnbmVkMg=="},
    {"text": " Or"},
    {"text": " 2."},
]


@pytest.mark.parametrize("is_changed", [False, True])
def test_what_is_signed_keeps_its_place_and_its_words(is_changed: bool) -> None:
    with serving([replied(*SIGNED_PIECES), replied({"text": "Yes."})], api="gemini") as served:
        service, lm = served
        message = reply_of(ask(lm)).message
        assert (message.reasoning, message.text) == ("Hm.", "It is 1. Or 2.")
        if is_changed:
            message = replace(message, text="It is 1.")
        ask(lm, prompt_of("hi", message, "Sure?"))
    parts = service.requests[-1].body["contents"][1]["parts"]
    thought = {"text": "", "thought": True, "thoughtSignature": "c2lnbmVkMQ=="}
    whole = [
        {"text": "It is "},
        {"text": "1.", "thoughtSignature": "c2lnbmVkMg=="},
        {"text": " Or 2."},
    ]
    assert parts == [thought, *([{"text": "It is 1."}] if is_changed else whole)]


def test_another_model_is_not_sent_what_this_one_signed() -> None:
    provider = GeminiApi([HARD, ENOUGH])
    with serving(provider, api="gemini") as (_, lm):
        prompt = prompt_of("go", tools=(RUN_CELL,))
        said = (*prompt.messages, *with_results(reply_of(ask(lm, prompt)).message))
        (signature,) = provider.signatures
        ask(lm, named(Prompt(said, prompt.tools, prompt.parameters), "gemini-3.1-pro"))
    assert provider.refusals == []
    assert signature not in json.dumps(provider.taken[-1])
    assert provider.taken[-1]["contents"][1]["parts"][1]["thoughtSignature"] == UNSIGNED


def test_signatures_that_are_refused_are_left_out_and_said() -> None:
    provider = GeminiApi([HARD, ENOUGH])
    with serving(provider, api="gemini") as (_, lm):
        prompt = prompt_of("go", tools=(RUN_CELL,))
        said = (*prompt.messages, *with_results(reply_of(ask(lm, prompt)).message))
        provider.signatures.clear()
        asked = ask(lm, Prompt(said, prompt.tools, prompt.parameters))
    assert [notice.code for notice in asked.all(Notice)] == ["items_refused"]
    assert reply_of(asked).message.text == "It is 1."


def test_a_signature_is_kept_apart_from_what_is_searched_for_secrets() -> None:
    items = reply_of(asked_through(GeminiApi([HARD]), prompt_of("go"))).message.provider_items
    assert items is not None
    assert items.api == "gemini"
    assert [item["type"] for item in items.items] == ["text", "functionCall"]
    assert set(items.items[1]["thoughtSignature"]) == {"base64"}
    assert "args" not in items.items[1], "the message says it itself"


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
EVERYTHING: dict[str, Any] = {
    "reasoning_effort": "low",
    "tool_choice": {"type": "function", "function": {"name": "run_cell"}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
    "service_tier": "flex",
    "stop": "END",
    "top_p": 0.9,
    "top_k": 40,
    "seed": 7,
}
ALL_KINDS = (
    SystemMessage("Be brief."),
    UserMessage((TextPart("See"), PICTURE)),
    AssistantMessage("I run it.", (ToolCall("functions.run:0", "run_cell", "{broken"),)),
    ToolMessage("functions.run:0", "run_cell", (TextPart("A plot."), PICTURE), is_error=True),
    AssistantMessage("", (ToolCall("c2", "run_cell", '{"timeout": NaN}'),)),
    ToolMessage("c2", "run_cell", (TextPart(""),)),
)


def test_all_that_can_be_asked_is_said_in_the_form_of_the_api() -> None:
    prompt = prompt_of(
        *ALL_KINDS, tools=(RUN_CELL,), max_output_tokens=99, temperature=0.5, extra=EVERYTHING
    )
    provider = GeminiApi([ENOUGH])
    reply = reply_of(asked_through(provider, prompt))
    assert provider.refusals == []
    assert (reply.dropped_parameters, reply.limit_tokens) == ((), 99)
    body = provider.taken[0]
    assert body["generationConfig"] == {
        **{"temperature": 0.5, "maxOutputTokens": 99, "stopSequences": ["END"], "seed": 7},
        **{"topP": 0.9, "topK": 40, "responseMimeType": "application/json"},
        "responseJsonSchema": SCHEMA,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
    }
    assert body["serviceTier"] == "flex"
    assert body["toolConfig"]["functionCallingConfig"] == {
        "mode": "ANY",
        "allowedFunctionNames": ["run_cell"],
    }
    (declared,) = body["tools"][0]["functionDeclarations"]
    assert declared["parametersJsonSchema"]["required"] == ["code"]
    assert kinds_of(body) == [
        ["text", "inlineData"],
        ["text", "functionCall*"],
        ["functionResponse"],
        ["functionCall*"],
        ["functionResponse"],
    ]
    result = body["contents"][2]["parts"][0]["functionResponse"]
    assert result["response"] == {"error": "A plot."}
    assert result["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]
    assert "unreadable_arguments" in body["contents"][1]["parts"][1]["functionCall"]["args"]


def test_an_older_model_is_asked_as_it_wants_it() -> None:
    """It thinks up to a budget, and sees pictures behind a result, not within."""
    provider = GeminiApi([ENOUGH])
    prompt = prompt_of(*ALL_KINDS, tools=(RUN_CELL,), extra={"reasoning_effort": "medium"})
    asked_through(provider, named(prompt, OLD))
    assert provider.refusals == []
    body = provider.taken[0]
    thinking = {"includeThoughts": True, "thinkingBudget": 8192}
    assert body["generationConfig"]["thinkingConfig"] == thinking
    assert kinds_of(body)[1:3] == [
        ["text", "functionCall"],
        ["functionResponse", "text", "inlineData"],
    ]


@pytest.mark.parametrize("model", ["fake-model", "models/fake-model", "google/fake-model"])
def test_a_model_may_be_named_as_lists_and_vertex_do(model: str) -> None:
    provider = GeminiApi([ENOUGH])
    asked_through(provider, named(prompt_of("hi"), model))
    assert provider.paths == ["/v1/models/fake-model:streamGenerateContent?alt=sse"]


def test_a_picture_of_another_kind_is_sent_by_its_caption() -> None:
    drawing = ImagePart("image/svg+xml", "aGk=", "a drawing")
    provider = GeminiApi([ENOUGH])
    asked_through(provider, prompt_of(UserMessage((drawing, PICTURE))))
    assert kinds_of(provider.taken[0]) == [["text", "inlineData"]]
    assert "a drawing" in provider.taken[0]["contents"][0]["parts"][0]["text"]


def test_a_conversation_whose_beginning_is_gone_still_begins_with_the_person() -> None:
    provider = GeminiApi([ENOUGH])
    call = AssistantMessage("", (ToolCall("c", "run_cell", "{}"),))
    asked_through(provider, prompt_of(*with_results(call), tools=(RUN_CELL,)))
    assert provider.refusals == []
    assert [c["role"] for c in provider.taken[0]["contents"]] == ["user", "model", "user"]


@pytest.mark.parametrize(
    ("asked_for", "dropped"),
    [
        ({"extra": {"reasoning_effort": "minimal"}}, ("reasoning_effort",)),
        ({"extra": {"reasoning_effort": "max"}}, ("reasoning_effort",)),
        ({"extra": {"candidateCount": 2}}, ("candidateCount",)),
        ({"extra": {"logit_bias": {}}}, ("logit_bias",)),
        ({"extra": {"generationConfig": {"topX": 2}}}, ()),
        ({"extra": {"generationConfig": {"thinkingConfig": {"thinkingLevel": "NONE"}}}}, ()),
        ({"extra": {"verbosity": "low", "parallel_tool_calls": False}},
         ("parallel_tool_calls", "verbosity")),
        ({"max_output_tokens": 900_000}, ("max_tokens",)),
        ({"extra": {"reasoning_effort": "high"}}, ()),
        ({"extra": {"tool_choice": "required"}}, ()),
        ({"extra": {"service_tier": "default"}}, ()),
        ({"extra": {"response_format": {"type": "json_object"}}}, ()),
        ({"extra": {"response_format": {"type": "text"}}}, ("response_format",)),
    ],
)  # fmt: skip
def test_what_is_refused_is_left_out_once_and_said(
    asked_for: dict[str, Any], dropped: tuple[str, ...]
) -> None:
    provider = GeminiApi([ENOUGH, ENOUGH])
    prompt = prompt_of("hi", tools=(RUN_CELL,), **asked_for)
    with serving(provider, api="gemini") as (_, lm):
        first, second = ask(lm, prompt), ask(lm, prompt)
    assert len(provider.refusals) <= 1, provider.refusals
    notices = [notice.code for notice in first.all(Notice)]
    assert notices == ["parameter_dropped"] * len(provider.refusals)
    assert reply_of(first).dropped_parameters == dropped
    assert second.all(Notice) == []


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Budget 0 is invalid. This model only works in thinking mode.", "thinkingConfig"),
        ("Thinking is not enabled for models/gemma-3.", "thinkingConfig"),
        ("temperature is deprecated and not supported for this model", "temperature"),
        ("Unknown name \"service_tier\": Cannot find field.", "serviceTier"),
        ("Function calling with a response mime type: 'application/json' is unsupported",
         "responseMimeType"),
        ("The prompt is odd.", ""),
        ("The stream was stopped, which is not supported.", ""),
    ],
)  # fmt: skip
def test_a_refusal_says_what_it_is_about(words: str, name: str) -> None:
    format_ = EVERYTHING["response_format"]
    extra = {"reasoning_effort": "low", "service_tier": "flex", "response_format": format_}
    extra["top_p"] = 0.5
    provider = GeminiApi([ENOUGH])
    answers: list[Any] = [fault(400, "INVALID_ARGUMENT", words), provider]
    with serving(answers, api="gemini") as (_, lm):
        asked = Asked()
        try:
            ask(lm, prompt_of("hi", temperature=0.5, extra=extra), into=asked)
        except Exception:
            assert not name
        refused = lm.capabilities("fake-model").refused_parameters
    assert refused == ({name} if name else set())
    is_formatted = name != "responseMimeType"
    for body in provider.taken:
        assert ("responseJsonSchema" in body["generationConfig"]) == is_formatted


@pytest.mark.parametrize(
    ("reason", "finish", "truncated"),
    [("MAX_TOKENS", "length", True), ("STOP", "stop", False)],
)
def test_why_a_reply_ends_is_told_as_by_chat_completions(
    reason: str, finish: str, truncated: bool
) -> None:
    provider = GeminiApi([ENOUGH], ending={"finishReason": reason})
    reply = reply_of(asked_through(provider, prompt_of("hi")))
    assert (reply.finish_reason, reply.truncated) == (finish, truncated)


def test_a_call_that_was_cut_is_not_run() -> None:
    provider = GeminiApi([HARD], ending={"finishReason": "MAX_TOKENS"})
    reply = reply_of(asked_through(provider, prompt_of("go", tools=(RUN_CELL,))))
    assert (reply.finish_reason, reply.is_cut) == ("length", True)


@pytest.mark.parametrize(
    "reason",
    ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "NEW_REASON"],
)
def test_a_reply_that_is_withheld_is_a_refusal_with_its_reason(reason: str) -> None:
    provider = GeminiApi([[]], ending={"finishReason": reason})
    reply = reply_of(asked_through(provider, prompt_of("hi")))
    assert reply.finish_reason == "content_filter"
    assert reason in reply.message.refusal
    assert NativeAdapter().parse_reply(reply, ()).problem == "refused"


@pytest.mark.parametrize("streams", [True, False])
def test_a_prompt_that_is_blocked_is_a_refusal_with_its_reason(streams: bool) -> None:
    body = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 9},
    }
    answer = raw_sse([body], done=False) if streams else json_body(body)
    reply = reply_of(asked_through([answer], prompt_of("hi")))
    assert "PROHIBITED_CONTENT" in reply.message.refusal
    assert NativeAdapter().parse_reply(reply, ()).problem == "refused"


def broken_off(reason: str = "MALFORMED_FUNCTION_CALL") -> Any:
    candidate = {"finishReason": reason, "finishMessage": "print(default_api."}
    return raw_sse([{"candidates": [candidate]}], done=False)


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER"])
def test_a_call_that_cannot_be_read_is_asked_for_once_more(reason: str) -> None:
    asked = asked_through([broken_off(reason), GeminiApi([ENOUGH])], prompt_of("hi"))
    assert (reply_of(asked).message.text, reply_of(asked).attempts) == ("It is 1.", 2)
    (retry,) = asked.all(ModelRetrying)
    assert reason in retry.reason


def test_a_call_that_cannot_be_read_twice_ends_truthfully() -> None:
    with serving([broken_off()] * 4, api="gemini") as (service, lm):
        with pytest.raises(LMStreamError, match="MALFORMED_FUNCTION_CALL") as caught:
            ask(lm)
        assert len(service.requests) == 2
    assert caught.value.detail == "print(default_api."


def test_a_reply_that_is_not_streamed_is_read() -> None:
    whole = json_body(GeminiApi([HARD]).reply_to({"contents": []}))
    reply = reply_of(asked_through([whole], prompt_of("hi", tools=(RUN_CELL,))))
    assert reply.message.text == "I look."
    assert [call.arguments for call in reply.message.tool_calls] == ['{"code": "1"}']
    assert reply.usage.completion_tokens == 74


INVALID_KEY = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    "reason": "API_KEY_INVALID",
    "domain": "googleapis.com",
}


@pytest.mark.parametrize(
    ("answer", "kind", "tries"),
    [
        (fault(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
               INVALID_KEY), LMAccessError, 1),
        (fault(403, "PERMISSION_DENIED", "No access."), LMAccessError, 1),
        (fault(404, "NOT_FOUND", "models/x is not found for API version v1beta"),
         LMNotFoundError, 1),
        (fault(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum "
               "number of tokens allowed (1048576)."), LMContextError, 1),
        (fault(400, "INVALID_ARGUMENT", "Function calling is not enabled for models/gemma-3"),
         LMToolsUnsupportedError, 1),
        (too_many("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "0.02s"),
         LMRateLimitError, 4),
        (too_many("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "600s"),
         LMRateLimitError, 1),
        (too_many("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "36s"), LMQuotaError, 1),
        (too_many("GenerateRequestsPerProject"), LMQuotaError, 1),
        (fault(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
         LMServerError, 4),
        (raw_sse([{"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}],
                 done=False), LMServerError, 4),
        (raw_sse([{"candidates": [{"content": {"parts": [{"text": "It"}]}}]}], done=False),
         LMStreamError, 2),
    ],
)  # fmt: skip
def test_failures_are_those_of_our_tree_and_tried_again_as_elsewhere(
    answer: Any, kind: type[Exception], tries: int
) -> None:
    with serving([answer] * 4, api="gemini") as (service, lm):
        with pytest.raises(kind) as caught:
            ask(lm)
        assert type(caught.value) is kind
        assert len(service.requests) == tries


def test_the_compatibility_layer_waits_for_a_quota_of_a_minute_too() -> None:
    """There an error comes as a list of one."""
    limited = too_many("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "0.02s")

    def in_list(request: Any) -> Any:
        wire = limited(request)
        body = b"".join(piece for piece in wire.pieces if isinstance(piece, bytes))
        return json_body([json.loads(body)], status=429)(request)

    asked = asked_through([in_list, text("Yes.")], prompt_of("hi"), api="chat")
    assert reply_of(asked).attempts == 2


def test_the_window_is_learned_from_the_refusal_of_a_long_prompt() -> None:
    words = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)"
    with serving([fault(400, "INVALID_ARGUMENT", words)], api="gemini") as (_, lm):
        with pytest.raises(LMContextError):
            ask(lm)
        assert lm.capabilities("fake-model").context_tokens == 1_048_576


def test_the_models_that_write_are_listed_with_their_windows() -> None:
    with FakeService(models=listed("gemini-a", "gemini-b")) as service:
        settings = service.settings(api="gemini", api_key="AIzaSecret")
        assert list_models(settings) == ("gemini-a", "gemini-b")
        assert Learned(settings).capabilities("gemini-b").context_tokens == 1_048_576
    head = service.other_requests[0].headers
    assert head["x-goog-api-key"] == "AIzaSecret"
    assert "authorization" not in head
    assert is_listed("models/gemini-a", ("gemini-a",)), "as the compatibility layer names it"


def test_the_window_of_a_model_behind_a_gateway_is_asked_for() -> None:
    with serving(GeminiApi([ENOUGH]), api="gemini", models=listed("fake-model")) as (_, lm):
        lm.learn_window("fake-model")
        assert lm.capabilities("fake-model").context_tokens == 1_048_576


def test_the_service_is_known_by_its_host() -> None:
    assert usual_api(ROW.base_url, ROW.model) == "gemini"
    assert find_provider(ROW.base_url) is ROW


def test_other_models_at_vertex_are_asked_through_chat_completions() -> None:
    url = "https://aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/openapi"
    assert find_provider(url) is VERTEX
    assert usual_api(url, "meta/llama-4") == "chat"
    assert usual_api(url, "google/gemini-3.8-flash") == "gemini"
    assert models_path(ROW.base_url).endswith("/v1beta/models?pageSize=1000")
    assert models_path(url) == "/models"


@pytest.mark.parametrize(
    ("row", "ending", "api", "path"),
    [
        (ROW, "/openai", "auto", "/v1/models/fake-model:streamGenerateContent?alt=sse"),
        (ROW, "", "auto", "/v1/models/fake-model:streamGenerateContent?alt=sse"),
        (ROW, "/openai", "chat", "/v1/openai/chat/completions"),
        (VERTEX, "/endpoints/openapi", "gemini",
         "/v1/publishers/google/models/fake-model:streamGenerateContent?alt=sse"),
        (VERTEX, "/endpoints/openapi", "auto", "/v1/endpoints/openapi/chat/completions"),
    ],
)  # fmt: skip
def test_it_is_asked_below_the_address_that_people_have_set(
    monkeypatch: pytest.MonkeyPatch, row: Any, ending: str, api: str, path: str
) -> None:
    """What is set is the address of the compatibility layer, which still can be wished for."""
    candidate = {"content": {"parts": [{"text": "Yes."}]}, "finishReason": "STOP"}
    spoken = raw_sse([{"candidates": [candidate]}], done=False)
    with FakeService([text("Yes.") if "chat" in path else spoken]) as service:
        monkeypatch.setattr("cellwright.providers.find_provider", lambda url: row)
        base_url = f"{service.base_url}{ending}"
        lm = OpenAILM(service.settings(base_url=base_url, api=api, api_key="AIzaSecret"))
        assert reply_of(ask(lm)).message.text == "Yes."
        lm.close()
        (asked,) = service.requests
    assert asked.path == path
    is_key = row is ROW and "chat" not in path
    assert asked.headers.get("x-goog-api-key") == ("AIzaSecret" if is_key else None)
    assert asked.headers.get("authorization") == (None if is_key else "Bearer AIzaSecret")


def test_a_request_without_wishes_shows_what_is_thought_and_no_more() -> None:
    body = gemini_parameters(prompt_of("hi"), vision=True, reader=NO_ITEMS)
    assert body == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    }


def test_each_request_goes_on_where_the_one_before_ended() -> None:
    """What a prompt cache needs."""
    provider = GeminiApi([HARD, ENOUGH])
    with serving(provider, api="gemini") as (_, lm):
        said: list[Message] = [UserMessage((TextPart("go"),))]
        said += with_results(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message)
        ask(lm, prompt_of(*said, tools=(RUN_CELL,)))
    first, second = (json.dumps(body["contents"]) for body in provider.taken)
    assert second.startswith(first[:-1])
