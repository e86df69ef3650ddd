"""Which service is used when environment, administrator and person have each said something."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from cellwright.errors import SetupError
from cellwright.llm.keys import KeyPlaces
from cellwright.providers import OPENAI, shown_url
from cellwright.server.configuration import Cellwright
from cellwright.server.service_choice import (
    ServiceChange,
    ServiceChoice,
    ServiceChooser,
)
from cellwright.settings import Settings

KEY = "-".join(["sk", "proj", "0123456789abcdef"])
OTHER_KEY = "-".join(["sk", "other", "0123456789abcdef"])
LOCAL = "http://127.0.0.1:8000/v1"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def chooser(home: Path, environ: Mapping[str, str] | None = None, **traits: Any) -> ServiceChooser:
    configuration = Cellwright(config=Config({"Cellwright": {"home": str(home), **traits}}))
    keys = KeyPlaces(home / "service.json", lambda: None)
    return ServiceChooser(configuration, environ or {}, keys)


def service_of(found: ServiceChooser) -> tuple[str, str, str]:
    service = found.settings().service
    return service.base_url, service.model, service.api_key


def test_where_nothing_is_set_nothing_is_chosen(home: Path) -> None:
    assert chooser(home).choice() == ServiceChoice("", "", "")
    assert service_of(chooser(home)) == ("", "", "")


def test_a_key_of_the_environment_is_for_the_official_service(home: Path) -> None:
    found = chooser(home, {"OPENAI_API_KEY": KEY})
    assert service_of(found) == (OPENAI.base_url, OPENAI.model, KEY)
    assert found.choice().key_source == "environment"
    assert found.settings().source["api_key"] == "environment"


def test_a_key_that_is_given_is_for_the_official_service_where_no_other_is_set(home: Path) -> None:
    found = chooser(home)
    found.change(ServiceChange(api_key=f' "{KEY}"\n'))
    assert service_of(found) == (OPENAI.base_url, OPENAI.model, KEY)
    assert found.choice().key_source == "file"


def test_what_the_person_chooses_stays(home: Path) -> None:
    chooser(home).change(ServiceChange("qwen", "http://127.0.0.1:8000/v1/chat/completions", KEY))
    assert service_of(chooser(home)) == (LOCAL, "qwen", KEY)


def test_a_key_is_not_sent_to_an_address_it_was_not_given_for(home: Path) -> None:
    found = chooser(home)
    found.change(ServiceChange("m", LOCAL, KEY))
    found.change(ServiceChange(base_url="https://evil.example/v1"))
    assert service_of(found) == ("https://evil.example/v1", "m", "")
    found.change(ServiceChange(base_url=LOCAL))
    assert service_of(found) == (LOCAL, "m", KEY)


def test_a_key_of_the_environment_is_not_sent_to_another_address_either(home: Path) -> None:
    found = chooser(home, {"OPENAI_API_KEY": KEY})
    found.change(ServiceChange("m", LOCAL))
    assert service_of(found) == (LOCAL, "m", "")
    (warning,) = found.choice().warnings
    assert "Model settings" in warning
    assert LOCAL in warning
    assert KEY not in warning
    found.change(ServiceChange(api_key=OTHER_KEY))
    assert service_of(found) == (LOCAL, "m", OTHER_KEY)


def test_the_environment_wins_and_says_so(home: Path) -> None:
    chooser(home).change(ServiceChange("mine", LOCAL, OTHER_KEY))
    environ = {"CELLWRIGHT_BASE_URL": "https://api.example.com/v1", "CELLWRIGHT_MODEL": "theirs"}
    found = chooser(home, environ)
    assert service_of(found) == ("https://api.example.com/v1", "theirs", "")
    text = " ".join(found.choice().warnings)
    assert f"the address 'https://api.example.com/v1'; it wins over {LOCAL!r}" in text
    assert "the model 'theirs'; it wins over 'mine'" in text
    assert "CELLWRIGHT_" not in text, "whoever uses the panel may not know of variables"


def test_a_key_that_was_given_is_used_at_an_address_of_the_environment(home: Path) -> None:
    found = chooser(home, {"CELLWRIGHT_BASE_URL": LOCAL, "CELLWRIGHT_MODEL": "m"})
    found.change(ServiceChange(api_key=KEY))
    assert service_of(found) == (LOCAL, "m", KEY)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (ServiceChange(model="other"), "The model was set when this server was started"),
        (ServiceChange(base_url="https://other.example/v1"), "The endpoint was set when"),
        (ServiceChange(api_key=OTHER_KEY), "The key for http://[^ ]* was set when this server"),
        (ServiceChange(api_key=""), "The key for http://[^ ]* was set when this server"),
    ],
)
def test_what_the_environment_has_set_cannot_be_chosen(
    home: Path, change: ServiceChange, words: str
) -> None:
    environ = {
        "CELLWRIGHT_BASE_URL": LOCAL,
        "CELLWRIGHT_MODEL": "m",
        "CELLWRIGHT_API_KEY": KEY,
    }
    found = chooser(home, environ)
    with pytest.raises(SetupError, match=words) as error:
        found.change(change)
    assert KEY not in str(error.value)
    assert "CELLWRIGHT_" not in str(error.value), "the panel shows it to whoever saves"
    found.change(ServiceChange("m", LOCAL, KEY))
    assert service_of(found) == (LOCAL, "m", KEY)


@pytest.mark.parametrize(
    "url",
    [
        "api.example.com",
        "ftp://x",
        "http://host:port",
        "http://[x",
        "http://",
        "https:///v1",
        "https://me:word@x/v1",
        "https://x/v1?key=1",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(home: Path, url: str) -> None:
    with pytest.raises(SetupError):
        chooser(home).change(ServiceChange(base_url=url))


def test_an_address_can_be_taken_back(home: Path) -> None:
    found = chooser(home)
    found.change(ServiceChange("m", LOCAL))
    found.change(ServiceChange("", ""))
    assert service_of(found) == ("", "", "")


def test_an_address_in_the_file_that_cannot_be_used_is_told(home: Path) -> None:
    found = chooser(home)
    found.keys.choose(base_url="nonsense")
    assert service_of(found)[0] == ""
    assert "'nonsense'" in found.choice().warnings[0]


def test_a_file_that_cannot_be_used_is_told(home: Path) -> None:
    home.mkdir()
    (home / "service.json").write_text("{")
    (warning,) = chooser(home).choice().warnings
    assert "is not JSON" in warning


def test_an_environment_that_cannot_be_used_is_told_and_stops_runs(home: Path) -> None:
    found = chooser(home, {"CELLWRIGHT_MODE": "yolo"})
    assert "'yolo'" in found.choice().warnings[0]
    assert found.unchecked_settings().mode == "ask"
    with pytest.raises(SetupError, match="yolo"):
        found.settings()


def test_a_key_that_looks_like_one_of_another_service_is_told(home: Path) -> None:
    key = "-".join(["sk", "ant", "0123456789"])
    found = chooser(home, {"OPENAI_API_KEY": key})
    assert "Anthropic" in found.choice().warnings[0]


@pytest.mark.parametrize("url", ["http://host:port/v1", "http://[x/v1", "https:///v1"])
def test_an_address_of_the_environment_that_cannot_be_meant_is_told(home: Path, url: str) -> None:
    found = chooser(home, {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY, "CELLWRIGHT_MODEL": "m"})
    assert any("names no host" in warning for warning in found.choice().warnings)
    with pytest.raises(SetupError, match="names no host"):
        found.settings()
    with pytest.raises(SetupError):
        found.change(ServiceChange(api_key=OTHER_KEY))


class TestPolicy:
    def test_an_endpoint_outside_cannot_be_chosen(self, home: Path) -> None:
        found = chooser(home, endpoints=["https://api.example.com"])
        with pytest.raises(SetupError, match="not allowed"):
            found.change(ServiceChange(base_url=LOCAL))
        found.change(ServiceChange(base_url="https://api.example.com/v1", model="m"))
        assert service_of(found)[0] == "https://api.example.com/v1"

    def test_a_key_is_not_kept_for_an_endpoint_outside(self, home: Path) -> None:
        found = chooser(home, endpoints=[LOCAL])
        with pytest.raises(SetupError, match="not allowed"):
            found.change(ServiceChange(api_key=KEY))

    def test_an_endpoint_that_was_set_before_or_outside_is_not_used(self, home: Path) -> None:
        found = chooser(home, {"OPENAI_API_KEY": KEY}, endpoints=[LOCAL])
        with pytest.raises(SetupError, match="not allowed"):
            found.settings()
        assert "not allowed" in found.choice().warnings[0]

    def test_an_ollama_outside_is_not_looked_for(self, home: Path) -> None:
        assert chooser(home, endpoints=["https://a.example"]).settings().ollama_url == ""
        ollama = "http://127.0.0.1:11434"
        assert chooser(home, endpoints=[ollama]).settings().ollama_url == ollama
        assert chooser(home, {"CELLWRIGHT_OLLAMA": "off"}).settings().ollama_url == ""

    def test_a_model_outside_is_neither_chosen_nor_used(self, home: Path) -> None:
        chooser(home).change(ServiceChange("other", LOCAL))
        found = chooser(home, models=["qwen*"])
        with pytest.raises(SetupError, match="'other'"):
            found.settings()
        with pytest.raises(SetupError, match="'another'"):
            found.change(ServiceChange(model="another"))
        found.change(ServiceChange(model="qwen3"))
        assert service_of(found)[1] == "qwen3"

    def test_where_the_usual_model_is_not_allowed_one_that_is_takes_its_place(
        self, home: Path
    ) -> None:
        environ = {"OPENAI_API_KEY": KEY}
        assert service_of(chooser(home, environ, models=["o*", "o9"]))[1] == "o9"
        assert service_of(chooser(home, environ, models=["o*"]))[1] == ""
        assert service_of(chooser(home, environ, models=["gpt*", "o9"]))[1] == OPENAI.model

    def test_a_mode_that_is_not_allowed_gives_way_to_the_most_careful_one(self, home: Path) -> None:
        assert chooser(home, modes=["auto", "plan"]).settings().mode == "plan"
        assert chooser(home, modes=["auto", "ask"]).settings().mode == "ask"
        found = chooser(home, {"CELLWRIGHT_MODE": "auto"}, modes=["edits"])
        assert found.settings().mode == "edits"

    def test_limits_and_home_are_the_administrators(self, home: Path) -> None:
        settings = chooser(home, {"CELLWRIGHT_HOME": "elsewhere"}, token_limit=7).settings()
        assert settings.limits.token_limit == 7
        assert settings.home == home

    def test_without_one_the_home_is_that_of_the_environment(self) -> None:
        found = ServiceChooser(Cellwright(), {"CELLWRIGHT_HOME": "~/elsewhere"})
        assert found.home() == Path.home() / "elsewhere"
        assert ServiceChooser(Cellwright(), {}).home() == Settings().home


def test_nothing_that_holds_a_key_shows_it() -> None:
    assert KEY not in repr(ServiceChoice("m", LOCAL, KEY))
    assert KEY not in repr(ServiceChange(api_key=KEY))


def test_an_address_is_shown_without_what_may_be_secret_in_it() -> None:
    assert shown_url("https://me:word@host:1/v1?key=1#x") == "https://host:1/v1"
    assert shown_url("") == shown_url("http://[x") == ""
