"""What an administrator sets, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from traitlets import TraitError
from traitlets.config import Config

from cellwright.errors import SetupError
from cellwright.server.configuration import Cellwright
from cellwright.settings import MODES, Limits


def configured(**traits: Any) -> Cellwright:
    return Cellwright(config=Config({"Cellwright": traits}))


def test_without_settings_everything_is_allowed() -> None:
    configuration = configured()
    assert configuration.is_enabled
    assert configuration.allowed_modes == MODES
    for mode in MODES:
        configuration.check_mode(mode)
    configuration.check_model("any")
    configuration.check_endpoint("https://any.example/v1")
    assert configuration.limits(Limits()) == Limits()
    assert configuration.home_folder(Path("here")) == Path("here")


@pytest.mark.parametrize(
    ("word", "enabled"), [("1", False), ("true", False), ("on", False), ("", True), (" No ", True)]
)
def test_the_environment_switches_it_off(
    word: str, enabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_DISABLED", word)
    assert configured().is_enabled is enabled
    assert configured(enabled=False).is_enabled is False


def test_a_mode_that_is_not_allowed_is_refused_with_those_that_are() -> None:
    configuration = configured(modes=["ask", "plan"])
    configuration.check_mode("plan")
    with pytest.raises(SetupError, match=r"'auto'.*plan, ask"):
        configuration.check_mode("auto")


@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-5-mini", "local/qwen"])
def test_models_are_allowed_by_name_and_pattern(model: str) -> None:
    configured(models=["gpt-5*", "local/qwen"]).check_model(model)


@pytest.mark.parametrize("model", ["gpt-4.1", "GPT-5", "local/qwen2", "xgpt-5"])
def test_other_models_are_refused(model: str) -> None:
    with pytest.raises(SetupError, match="not allowed"):
        configured(models=["gpt-5*", "local/qwen"]).check_model(model)


def test_no_model_is_the_one_that_was_checked_before() -> None:
    configured(models=["gpt-5"]).check_model("")


def test_the_first_model_without_a_pattern_can_be_asked_by_name() -> None:
    assert configured(models=["gpt-5*", "gpt-5.6", "other"]).named_model == "gpt-5.6"
    assert configured(models=["gpt-5*"]).named_model == ""


ALLOWED = ["https://api.example.com", "http://127.0.0.1:8000/v1/"]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://api.example.com/v1",
        "https://API.example.com:443/v1/deeper",
        "https://api.example.com.",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:8000/v1/x",
    ],
)
def test_endpoints_below_an_allowed_address_are_used(url: str) -> None:
    configured(endpoints=ALLOWED).check_endpoint(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com.evil.example/v1",
        "https://api.example.comevil",
        "https://evil.example/api.example.com",
        "https://api.example.com@evil.example/v1",
        "https://evil@api.example.com/v1",
        "https://api.example.com\\@evil.example/",
        "https://evil.example#https://api.example.com",
        "https://evil.example?https://api.example.com",
        "http://api.example.com/v1",
        "https://api.example.com:8443/v1",
        "http://127.0.0.1:8000/v2",
        "http://127.0.0.1:8000/v11",
        "http://127.0.0.1:8000/v1/../v2",
        "http://127.0.0.1:8000/v1/%2e%2e/v2",
        "http://127.0.0.1:8001/v1",
        "http://127.0.0.1:port/v1",
        "ftp://api.example.com",
        "nonsense",
    ],
)
def test_endpoints_that_only_look_allowed_are_refused(url: str) -> None:
    with pytest.raises(SetupError, match="not allowed"):
        configured(endpoints=ALLOWED).check_endpoint(url)


@pytest.mark.parametrize(
    "traits",
    [
        {"modes": []},
        {"modes": ["everything"]},
        {"endpoints": ["api.example.com"]},
        {"endpoints": ["https://user@api.example.com"]},
        {"endpoints": ["http://host:port"]},
        {"step_limit": 0},
        {"wall_seconds": -1.0},
        {"cost_limit_dollars": -0.5},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(traits: dict[str, Any]) -> None:
    with pytest.raises(TraitError):
        configured(**traits)


def test_limits_that_are_set_replace_the_others() -> None:
    limits = configured(step_limit=3, cost_limit_dollars=0.5).limits(Limits(token_limit=9))
    assert limits == Limits(step_limit=3, cost_limit_dollars=0.5, token_limit=9)


def test_the_home_folder_may_begin_with_a_tilde() -> None:
    assert configured(home="~/record").home_folder(Path("x")) == Path.home() / "record"
