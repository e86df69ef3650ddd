"""What a model is asked with: set for all, for one, for a question; refused once, then left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asking import QUICK, RUN_CELL, ask, prompt_of, serving
from fake_service import FakeService, Request, error, text

from cellwright.errors import LMRequestError, SetupError
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import Notice
from cellwright.record.messages import Parameters, fill_parameters
from cellwright.settings import (
    PARAMETER_CHECKS,
    PARAMETER_OPTIONS,
    ModelSettings,
    from_env,
    read_models,
)
from cellwright.text.redaction import Redactor

VALUES: dict[str, Any] = {
    "reasoning_effort": "low",
    "verbosity": "high",
    "service_tier": "flex",
    "prompt_cache_key": "mine",
    "temperature": 0.5,
    "top_p": 0.9,
    "seed": 7,
    "max_output_tokens": 900,
    "extra_body": {"top_k": 40, "provider": {"sort": "price"}},
}
ON_THE_WIRE = {name: {name: value} for name, value in VALUES.items()} | {
    "max_output_tokens": {"max_tokens": 900},
    "extra_body": VALUES["extra_body"],
}
ON_RESPONSES = ON_THE_WIRE | {
    "seed": {"seed": None},
    "reasoning_effort": {"reasoning": {"summary": "auto", "effort": "low"}},
    "verbosity": {"text": {"verbosity": "high"}},
    "max_output_tokens": {"max_output_tokens": 900},
}


def test_every_parameter_is_tried_here() -> None:
    assert set(VALUES) == set(PARAMETER_CHECKS)
    assert {row.name for row in PARAMETER_OPTIONS} == set(VALUES) - {"prompt_cache_key"}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("by", ["environment", "row", "question"])
def test_each_is_sent_however_it_is_set(name: str, api: str, by: str, tmp_path: Any) -> None:
    given = {name: VALUES[name]}
    environ = {"CELLWRIGHT_PARAMETERS": json.dumps(given)} if by == "environment" else {}
    models = {}
    if by == "row":
        (tmp_path / "models.json").write_text(json.dumps({"*": given}))
        models = dict(read_models(str(tmp_path / "models.json")))
    prompt = prompt_of("hi", tools=(RUN_CELL,))
    if by == "question":
        parameters = fill_parameters(prompt.parameters, given)
        prompt = type(prompt)(prompt.messages, prompt.tools, parameters)
    with FakeService([error(400, "No.")]) as service:
        service.openai = name != "extra_body"
        environ |= {"CELLWRIGHT_BASE_URL": service.base_url, "CELLWRIGHT_API": api}
        lm = OpenAILM(from_env(environ).service, models=models, pace=QUICK)
        ask_and_fail(lm, prompt)
        lm.close()
    body = service.requests[0].body
    wanted = (ON_THE_WIRE if api == "chat" else ON_RESPONSES)[name]
    assert {key: body.get(key) for key in wanted} == wanted


def ask_and_fail(lm: OpenAILM, prompt: Any) -> None:
    with pytest.raises(LMRequestError):
        ask(lm, prompt)


def test_the_nearest_word_counts() -> None:
    parameters = Parameters("m", 0.1, 5, {"seed": 1})
    usual = {"temperature": 0.9, "max_output_tokens": 9, "seed": 2, "extra_body": {"seed": 3}}
    assert fill_parameters(parameters, usual) == parameters
    with FakeService([text("Yes.")]) as service:
        environ = {
            "CELLWRIGHT_BASE_URL": service.base_url,
            "CELLWRIGHT_PARAMETERS": '{"seed": 1, "top_p": 0.1}',
        }
        row = {"*": ModelSettings(seed=2)}
        lm = OpenAILM(from_env(environ).service, models=row, pace=QUICK)
        ask(lm, prompt_of("hi"))
        lm.close()
    body = service.requests[0].body
    assert (body["seed"], body["top_p"]) == (2, 0.1)


@pytest.mark.parametrize("name", ["reasoning_effort", "top_p", "seed", "service_tier", "top_k"])
def test_one_that_is_refused_is_left_out_once_and_said(name: str) -> None:
    """The words are Mistral's: mistralai/platform-docs-public issue 7, read 2026-11-23."""

    def strict(request: Request) -> Any:
        if name not in request.body:
            return text("Yes.")(request)
        problem = {"type": "extra_forbidden", "loc": ["body", name]}
        detail = [{**problem, "msg": "Extra inputs are not permitted", "input": 1}]
        return error(422, json.dumps({"detail": detail}))(request)

    extra = {"reasoning_effort": "low", "top_p": 0.5, "seed": 1, "service_tier": "a", "top_k": 3}
    with serving(strict) as (service, lm):
        service.openai = False
        first = ask(lm, prompt_of("hi", extra=extra))
        second = ask(lm, prompt_of("hi", extra=extra))
    notices = [event for event in first.events if isinstance(event, Notice)]
    assert [notice.code for notice in notices] == ["parameter_dropped"]
    assert name in notices[0].text
    assert not [event for event in second.events if isinstance(event, Notice)]
    assert len(service.requests) == 3
    assert first.reply is not None
    assert first.reply.dropped_parameters == (name,)


def test_headers_are_sent_and_those_that_are_secret_are_kept_nowhere() -> None:
    secret = "0123456789-abcdef-secret"
    headers = {"X-Team": "data", "X-Api-Key": secret, "Proxy-Authorization": f"Basic {secret}x"}
    with FakeService([text("Yes.")]) as service:
        environ = {
            "CELLWRIGHT_BASE_URL": service.base_url,
            "CELLWRIGHT_HEADERS": json.dumps(headers),
        }
        settings = from_env(environ)
        lm = OpenAILM(settings.service, pace=QUICK)
        ask(lm, prompt_of("hi"))
        lm.close()
    sent = service.requests[0].headers
    assert {name: sent[name.lower()] for name in headers} == headers
    assert secret not in repr(settings)
    redacted = Redactor.from_environment(environ).text(f"{headers} of data")
    assert secret not in redacted
    assert "'data'" in redacted


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PARAMETERS", "low", "it is not JSON"),
        ("PARAMETERS", "[]", "not an object"),
        ("PARAMETERS", '{"colour": 1}', "'colour'; known are reasoning_effort"),
        ("PARAMETERS", '{"seed": "x"}', "not a whole number"),
        ("PARAMETERS", '{"extra_body": {"model": "x"}}', "an object without model"),
        ("HEADERS", '{"X-Key": 1}', "the value of a header is a text"),
        ("HEADERS", '"secret"', "cannot be used"),
    ],
)
def test_what_cannot_be_sent_is_named(name: str, value: str, words: str) -> None:
    with pytest.raises(SetupError, match=words) as caught:
        from_env({f"CELLWRIGHT_{name}": value})
    assert name == "PARAMETERS" or "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        # Anthropic: RooCodeInc/Roo-Code issue 12162, read 2026-11-23.
        ("`temperature` is deprecated for this model.", "temperature"),
        # Mistral: editor-code-assistant/eca issue 231, read 2026-11-23.
        (
            '{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are '
            'not permitted","input":1}]}',
            "seed",
        ),
    ],
)
def test_refusals_in_the_words_of_providers_are_understood(words: str, name: str) -> None:
    def strict(request: Request) -> Any:
        return error(400, words) if name in request.body else text("Yes.")

    with serving(strict) as (_, lm):
        asked = ask(lm, prompt_of("hi", temperature=0.5, extra={"seed": 1}))
    assert asked.reply is not None
    assert asked.reply.dropped_parameters == (name,)
