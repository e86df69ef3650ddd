"""Temperatures as services take them (requirements 000-05, X-12)."""

from __future__ import annotations

import json

import pytest
from asking import ask, prompt_of, serving
from fake_service import error, text
from scripted_model import ScriptedLM, says

from cellwright.bench.agents import model_agent
from cellwright.bench.environments import Rooms
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites import Item, Suite
from cellwright.llm.openai_format import (
    ChatForm,
    body_bytes,
    parameters_of,
    usable_parameters,
    usable_temperature,
)
from cellwright.record.messages import Parameters
from cellwright.stopping import Stop

INFINITY = float("inf")


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        (None, None),
        (0, 0),
        (0.0, 0.0),
        (1e-10, 1e-10),
        (1.5, 1.5),
        (-0.5, 0.0),
        (9, 2.0),
        (INFINITY, 2.0),
        (-INFINITY, 0.0),
        (float("nan"), None),
    ],
)
def test_000_05_and_x_12_a_temperature_is_kept_within_what_can_be_sent(
    wanted: float | None, sent: float | None
) -> None:
    assert usable_temperature(wanted) == sent
    body = parameters_of(prompt_of("hi", temperature=wanted), ChatForm())
    assert body.get("temperature") == sent
    assert json.loads(body_bytes(body)).get("temperature") == sent


def test_000_05_zero_is_sent_and_none_is_left_out() -> None:
    assert parameters_of(prompt_of("hi", temperature=0), ChatForm())["temperature"] == 0
    assert "temperature" not in parameters_of(prompt_of("hi"), ChatForm())


def test_x_12_parameters_that_can_be_sent_stay_the_same_object() -> None:
    for parameters in (Parameters("m"), Parameters("m", 0.3)):
        assert usable_parameters(parameters) is parameters
    assert usable_parameters(Parameters("m", -1, 9)) == Parameters("m", 0.0, 9)


def test_x_12_a_model_that_takes_no_temperature_is_asked_without_and_it_is_recorded() -> None:
    refusal = error(400, "Unsupported value: temperature does not support 0.2", param="temperature")
    with serving([refusal, text("Hi."), text("Hi.")]) as (service, lm):
        first = ask(lm, prompt_of("hi", temperature=0.2)).reply
        again = ask(lm, prompt_of("hi", temperature=0.2)).reply
    assert first is not None
    assert again is not None
    assert first.dropped_parameters == again.dropped_parameters == ("temperature",)
    assert ["temperature" in request.body for request in service.requests] == [True, False, False]


def test_x_12_a_benchmark_leaves_the_temperature_to_the_provider() -> None:
    item = Item(1, "x")
    job = Job(Suite("s", (item,)), item, model_agent(ScriptedLM([says("Hi.")]), "m"))
    sample = attempt(job, Laboratory(Rooms({})), Stop())
    assert sample.model["model"] == "m"
    assert "temperature" not in sample.model
