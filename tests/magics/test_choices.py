"""Which setting counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cellwright.errors import SetupError
from cellwright.record.messages import Parameters
from cellwright.settings import Limits, Settings
from cellwright_magics.arguments import (
    AgentOptions,
    CellSettings,
    Configured,
    cell_settings,
)
from cellwright_magics.session import fill_request

CELL = CellSettings("cell", 4, 40.0)
CONFIGURED = Configured("config", "auto", 5, 50.0, 500, 5.0, 55.0)
OPTIONS = AgentOptions(
    model="option",
    mode="edits",
    max_steps=3,
    max_seconds=30.0,
    max_tokens=300,
    budget=3.0,
    timeout=33.0,
    temperature=0.3,
)
SETTINGS = Settings(mode="auto", limits=Limits(9, 90.0, 900, 9.0, 99.0))


def test_an_option_counts_most() -> None:
    chosen = fill_request(OPTIONS, CELL, CONFIGURED, SETTINGS)
    assert chosen.parameters == Parameters("option", 0.3)
    assert (chosen.usual_model, chosen.mode) == ("cell", "edits")
    assert chosen.limits == Limits(3, 30.0, 300, 3.0, 33.0)


def test_then_the_cell_then_the_configuration() -> None:
    chosen = fill_request(AgentOptions(), CELL, CONFIGURED, SETTINGS)
    assert (chosen.usual_model, chosen.mode) == ("cell", "auto")
    assert chosen.limits == Limits(4, 50.0, 500, 5.0, 40.0)
    chosen = fill_request(AgentOptions(), CellSettings(), CONFIGURED, SETTINGS)
    assert (chosen.usual_model, chosen.limits.step_limit) == ("config", 5)


def test_then_the_environment_and_the_defaults() -> None:
    chosen = fill_request(AgentOptions(), CellSettings(), Configured(), SETTINGS)
    assert (chosen.usual_model, chosen.mode, chosen.limits) == ("", "auto", SETTINGS.limits)


def test_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SetupError, match="'fast'"):
        fill_request(AgentOptions(), CellSettings(), replace(Configured(), mode="fast"), Settings())


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, CellSettings()),
        ({"cellwright": "x"}, CellSettings()),
        ({"cellwright": {"model": "m", "max_steps": 2}}, CellSettings("m", 2)),
        ({"cellwright": {"timeout_seconds": 1.5}}, CellSettings(timeout_seconds=1.5)),
        (
            {"cellwright": {"mode": "auto", "base_url": "http://evil.test", "api_key": "x"}},
            CellSettings(ignored=("api_key", "base_url", "mode")),
        ),
        (
            {"cellwright": {"model": 3, "max_steps": True, "timeout_seconds": -1}},
            CellSettings(ignored=("max_steps", "model", "timeout_seconds")),
        ),
        ({"cellwright": {"model": "m", "run": "r", "step": 1}}, CellSettings()),
    ],
)
def test_a_notebook_may_choose_a_model_and_limits_and_nothing_else(
    metadata: dict[str, object], expected: CellSettings
) -> None:
    assert cell_settings(metadata) == expected


def test_002_46_the_configuration_says_more_of_times_than_the_environment() -> None:
    for configured, settings, tells in (
        (None, False, False),
        (None, True, True),
        (False, True, False),
        (True, False, True),
    ):
        chosen = fill_request(
            AgentOptions(),
            CellSettings(),
            Configured(message_times=configured),
            Settings(message_times=settings),
        )
        assert chosen.tells_time is tells
