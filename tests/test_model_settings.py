"""What a person knows of models: read from a file, and used before the service says anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cellwright.errors import LMContextError, SetupError
from cellwright.llm import Capabilities
from cellwright.llm.capabilities import Learned
from cellwright.settings import ModelSettings, ServiceSettings, Settings, from_env, settings_of

WANTED = {"system_position": "last", "system_notes": "in_place"}


def read(folder: Path, table: object) -> Settings:
    path = folder / "models.json"
    path.write_text(table if isinstance(table, str) else json.dumps(table))
    return from_env({"CELLWRIGHT_MODELS": str(path)})


def test_x_15_where_the_system_message_stands_can_be_set_for_a_model(tmp_path: Path) -> None:
    models = read(tmp_path, {"qwen*": {**WANTED, "context_tokens": 32_768}}).models
    learned = Learned(ServiceSettings(), models=models)
    able = learned.capabilities("hub/qwen3.5-32b")
    assert able == Capabilities(
        vision=True, system_position="last", system_notes="in_place", context_tokens=32_768
    )
    assert learned.capabilities("gpt-5.6") == Capabilities(vision=True)
    learned.from_refusal("qwen3", LMContextError("", detail="maximum context length 8192"), (),
                         pictures=False)  # fmt: skip
    told = learned.capabilities("qwen3")
    assert (told.system_position, told.context_tokens) == ("last", 8_192)


def test_a_name_counts_more_than_a_pattern_and_the_first_pattern_that_fits() -> None:
    models = {
        "q*": ModelSettings(context_tokens=1),
        "qwen*": ModelSettings(context_tokens=2),
        "qwen3": ModelSettings(context_tokens=3),
    }
    assert settings_of("qwen3", models).context_tokens == 3
    assert settings_of("hub/qwen3", models).context_tokens == 3
    assert settings_of("qwen2", models).context_tokens == 1
    assert settings_of("llama", models) == ModelSettings()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("not json", "Expecting value"),
        ([1], "cannot be used"),
        ({"m": 1}, "'m' is not an object"),
        ({"m": {"colour": "red"}}, "'m' has 'colour'; known are system_position"),
        ({"m": {"system_position": "middle"}}, """'middle' and not "first" or "last\""""),
        ({"m": {"system_notes": 1}}, """1 and not "head" or "in_place\""""),
        ({"m": {"alternates": 1}}, "1 and not true or false"),
        ({"m": {"context_tokens": True}}, "True and not a number above zero"),
    ],
)
def test_a_table_that_cannot_be_used_is_named(tmp_path: Path, table: object, words: str) -> None:
    with pytest.raises(SetupError) as caught:
        read(tmp_path, table)
    assert "models.json" in caught.value.message
    assert words in caught.value.message
    assert "in_place" in caught.value.hint


def test_a_table_that_is_not_there_is_named() -> None:
    with pytest.raises(SetupError, match="'nowhere.json'"):
        from_env({"CELLWRIGHT_MODELS": "nowhere.json"})


def test_pictures_and_the_api_are_set_for_a_model(tmp_path: Path) -> None:
    models = read(tmp_path, {"blind*": {"vision": False}, "new*": {"api": "responses"}}).models
    learned = Learned(ServiceSettings(), models=models)
    assert not learned.capabilities("blind-1").vision
    assert learned.capabilities("other").vision
    assert learned.capabilities("new-1").api == "responses"
    for wrong in ({"vision": "yes"}, {"api": "soap"}, {"verbosity": 3}):
        with pytest.raises(SetupError, match="CELLWRIGHT_MODELS"):
            read(tmp_path, {"x": wrong})
