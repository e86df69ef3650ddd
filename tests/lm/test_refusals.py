"""What providers refuse, each in its own words.

The words are those that users of the providers quote in public repositories, read 2026-11-28.
"""

from __future__ import annotations

from typing import Any

import pytest
from asking import ask, prompt_of, serving
from fake_service import chunk, raw_sse, status, text

from cellwright.errors import (
    LMAccessError,
    LMContextError,
    LMError,
    LMNotFoundError,
    LMQuotaError,
    LMRateLimitError,
    LMRequestError,
    LMServerError,
    LMStreamError,
)
from cellwright.llm.faults import Endpoint, context_tokens_in, from_status, from_stream
from cellwright.providers import PROVIDERS
from cellwright.record.events import ModelRetrying

GROQ_BILLING = (
    "Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing"
)
GROQ_LIMIT = (
    "Rate limit reached for model `openai/gpt-oss-120b` in organization `org_x` service tier "
    "`on_demand` on tokens per minute (TPM): Limit 8000, Used 4839, Requested 6372. Please try "
    f"again in 24.08s. {GROQ_BILLING}"
)
TOO_LARGE = (
    "Request too large for gpt-6-luna in organization org-x on tokens per min (TPM): Limit 30000, "
    "Requested 36000. The input or output tokens must be reduced in order to run successfully."
)
FIREWORKS_SUSPENDED = (
    "Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay "
    "past invoices."
)
BROKEN_CALL = {
    "message": "Failed to call a function. Please adjust your prompt.",
    "type": "invalid_request_error",
    "code": "tool_use_failed",
}
REFUSALS: tuple[tuple[str, int, Any, type[LMError]], ...] = (
    ("Groq", 429, {"error": {"message": GROQ_LIMIT, "code": "rate_limit_exceeded"}},
     LMRateLimitError),
    ("Groq", 400, {"error": {"message": "The model `x` has been decommissioned.",
                             "code": "model_decommissioned"}}, LMNotFoundError),
    ("Groq", 400, {"error": BROKEN_CALL}, LMStreamError),
    ("OpenAI", 429, {"error": {"message": TOO_LARGE, "code": "rate_limit_exceeded"}},
     LMContextError),
    ("OpenAI", 429, {"error": {"message": "You exceeded your current quota, please check your plan "
                               "and billing details.", "code": "insufficient_quota"}},
     LMQuotaError),
    ("Anthropic", 400, {"error": {"message": "input length and `max_tokens` exceed context limit: "
                                  "188240 + 21333 > 200000"}}, LMContextError),
    ("Anthropic", 529, {"error": {"type": "overloaded_error", "message": "Overloaded"}},
     LMServerError),
    ("xAI", 400, {"code": "invalid-argument", "error": "Incorrect API key provided: xa***yz."},
     LMAccessError),
    ("xAI", 403, {"code": "permission-denied", "error": "Your newly created team doesn't have any "
                  "credits or licenses yet."}, LMQuotaError),
    ("Azure OpenAI", 404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment "
                                     "for this resource does not exist."}}, LMNotFoundError),
    ("Azure OpenAI", 400, {"error": {"code": "content_filter", "message": "The response was "
                                     "filtered."}}, LMRequestError),
    ("Mistral", 400, {"object": "error", "message": "Invalid model: x", "type": "invalid_model",
                      "code": "1500"}, LMNotFoundError),
    ("DeepSeek", 400, {"error": {"message": "Model Not Exist"}}, LMNotFoundError),
    ("DeepSeek", 402, {"error": {"message": "Insufficient Balance"}}, LMQuotaError),
    ("Moonshot", 400, {"error": {"message": "Invalid request: Your request exceeded model token "
                                 "limit: 262144 (requested: 274613)"}}, LMContextError),
    ("Zhipu", 429, {"error": {"code": "1113", "message": "Insufficient balance or no resource "
                              "package. Please recharge."}}, LMQuotaError),
    ("Zhipu", 400, {"error": {"code": "1211", "message": "Unknown Model, please check the model "
                              "code."}}, LMNotFoundError),
    ("Zhipu", 400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}},
     LMContextError),
    ("DashScope", 400, {"error": {"message": "Range of input length should be [1, 30720]"}},
     LMContextError),
    ("Fireworks AI", 412, {"error": {"message": FIREWORKS_SUSPENDED}}, LMQuotaError),
    ("NVIDIA", 404, {"status": 404, "detail": "Function not found for account"}, LMNotFoundError),
    ("NVIDIA", 410, {"status": 410, "detail": "The model 'x' has reached its end of life."},
     LMNotFoundError),
    ("OpenRouter", 400, {"error": {"message": "a/b is not a valid model ID", "code": 400}},
     LMNotFoundError),
    ("OpenRouter", 403, {"error": {"message": "openai/gpt-4o requires moderation on OpenAI. Your "
                                   'input was flagged for "harassment".', "code": 403}},
     LMRequestError),
)  # fmt: skip


def endpoint_of(name: str) -> Endpoint:
    provider = next(provider for provider in PROVIDERS if provider.name == name)
    return Endpoint(provider.base_url, "x", "0123456789")


@pytest.mark.parametrize(
    ("name", "code", "body", "kind"),
    REFUSALS,
    ids=[f"{name}-{code}-{kind.__name__}" for name, code, _, kind in REFUSALS],
)
def test_it_is_taken_for_what_it_is(name: str, code: int, body: Any, kind: type[LMError]) -> None:
    found = from_status(code, body, {}, endpoint_of(name))
    assert type(found) is kind, found.message
    assert found.status in (code, None)
    assert "There is no chat service" not in found.message


def test_a_limit_for_a_minute_is_no_empty_account_in_a_stream_either() -> None:
    found = from_stream({"error": {"message": GROQ_LIMIT}}, endpoint_of("Groq"))
    assert (type(found), found.retryable) == (LMServerError, True)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (TOO_LARGE, 30_000),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", 200_000),
        ("exceeded model token limit: 262144 (requested: 274613)", 262_144),
        ("Range of input length should be [1, 30720]", 30_720),
        ("This model's maximum prompt length is 131072 but", 131_072),
    ],
)
def test_the_window_is_read_where_a_provider_tells_it(text: str, tokens: int) -> None:
    assert context_tokens_in(text) == tokens


def test_the_key_of_the_provider_is_named() -> None:
    found = from_status(401, {"error": {"message": "invalid x-api-key"}}, {}, endpoint_of("xAI"))
    assert found.hint == "Check CELLWRIGHT_API_KEY or XAI_API_KEY."


def test_what_a_content_filter_refused_says_so() -> None:
    body = {"error": {"message": "Content Exists Risk", "code": "invalid_request_error"}}
    found = from_status(400, body, {}, endpoint_of("DeepSeek"))
    assert found.message.startswith("The content filter of api.deepseek.com:443 refused")
    assert found.hint


def test_a_router_is_quoted_with_what_the_provider_behind_it_said() -> None:
    raw = '{"error": {"message": "Unsupported parameter: seed", "param": "seed"}}'
    metadata = {"raw": raw, "provider_name": "P"}
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}}
    found = from_status(400, body, {}, endpoint_of("OpenRouter"))
    assert found.detail == "Provider returned error: Unsupported parameter: seed"


def test_a_list_of_problems_in_a_message_is_read() -> None:
    problem = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}
    body = {"object": "error", "message": {"detail": [problem]}, "code": None}
    found = from_status(422, body, {}, endpoint_of("Mistral"))
    assert isinstance(found, LMRequestError)
    assert (found.detail, found.parameter) == ("seed: Extra inputs", "seed")


def test_a_reply_that_costs_more_than_there_is_can_be_shortened() -> None:
    message = "This request requires more credits, or fewer max_tokens."
    found = from_status(402, {"error": {"message": message}}, {}, endpoint_of("OpenRouter"))
    assert "limit the length of a reply" in found.hint


def test_an_overloaded_service_is_asked_again_when_it_says() -> None:
    busy = status(529, {"error": {"message": "Overloaded"}}, {"retry-after": "0.2"})
    with serving([busy, text("Yes.")]) as (_, lm):
        asked = ask(lm)
    assert asked.reply is not None
    waits = [event.delay_seconds for event in asked.all(ModelRetrying)]
    assert (asked.reply.message.text, waits) == ("Yes.", [0.2])


def test_a_call_that_the_service_cannot_read_is_asked_for_once_more() -> None:
    broken = raw_sse([{"error": BROKEN_CALL}], done=False)
    with serving([broken, text("Yes.")]) as (service, lm):
        asked = ask(lm, prompt_of("go"))
    assert asked.reply is not None
    assert (asked.reply.message.text, len(service.requests)) == ("Yes.", 2)


@pytest.mark.parametrize(
    "reason",
    [
        "network_error",
        "insufficient_system_resource",
        "error",
        "abort",
        "function_call_filter: MALFORMED_FUNCTION_CALL",
    ],
)
def test_a_reply_that_the_service_broke_off_is_not_taken_for_whole(reason: str) -> None:
    broken = raw_sse([chunk({"content": "The total is"}), chunk({}, reason)])
    with serving([broken, text("The total is 42.")]) as (_, lm):
        asked = ask(lm)
    assert asked.reply is not None
    assert (asked.reply.message.text, asked.reply.attempts) == ("The total is 42.", 2)
    with serving([broken] * 9) as (_, lm), pytest.raises(LMError, match=reason) as raised:
        ask(lm)
    assert raised.value.detail == "The total is"
