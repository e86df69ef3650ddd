"""Which model ``auto`` means, and what is said where one cannot do what is needed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from fake_service import FakeService, error

from cellwright.errors import SetupError
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from cellwright.session.services import RequestWindow, choose_model, models_like, unseen_pictures
from cellwright.settings import ModelSettings, ServiceSettings, Settings, from_env

SETTINGS = Settings(
    ServiceSettings("http://box/v1", model="small"), vision_model="seeing", long_model="long"
)
PICTURE = ImagePart("image/png", "aGk=")
LONG = RequestWindow(size_bytes=100_001)
SEEN = RequestWindow(has_pictures=True)


@pytest.mark.parametrize(
    ("window", "model"),
    [
        (RequestWindow(), ""),
        (RequestWindow(size_bytes=100_000), ""),
        (LONG, "long"),
        (SEEN, "seeing"),
        (RequestWindow(has_pictures=True, size_bytes=500_000), "seeing"),
    ],
)
def test_002_50_auto_means_what_the_question_needs(window: RequestWindow, model: str) -> None:
    found = choose_model("auto", SETTINGS, window)
    assert found.model == model
    assert found.notice.startswith(model)


def test_002_50_a_model_that_was_named_is_never_switched() -> None:
    for window in (RequestWindow(), SEEN, LONG, RequestWindow(size_bytes=2_000_000)):
        assert choose_model("mine", SETTINGS, window).model == "mine"
        assert choose_model("", SETTINGS, window).model == ""


def test_002_50_the_set_model_is_kept_when_it_sees() -> None:
    seeing = replace(SETTINGS, models={"small": ModelSettings(vision=True)})
    assert choose_model("auto", seeing, SEEN).model == ""


def test_002_50_without_a_model_that_sees_the_person_is_told() -> None:
    blind = replace(SETTINGS, vision_model="", models={"small": ModelSettings(vision=False)})
    found = choose_model("auto", blind, SEEN)
    assert found.model == ""
    assert "CELLWRIGHT_VISION_MODEL" in found.action
    assert choose_model("auto", replace(SETTINGS, long_model=""), LONG).model == ""


def test_002_50_too_much_for_any_model_is_an_error() -> None:
    assert choose_model("auto", SETTINGS, RequestWindow(size_bytes=1_000_000)).model == "long"
    with pytest.raises(SetupError, match="1,000,001 bytes"):
        choose_model("auto", SETTINGS, RequestWindow(size_bytes=1_000_001))


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_002_50_a_picture_of_an_old_turn_is_in_the_window() -> None:
    old = UserMessage((TextPart("见"), PICTURE))
    said = (SystemMessage("x" * 999), old, AssistantMessage("ok"))
    assert RequestWindow.of("Hi", (), said) == RequestWindow(
        has_pictures=True, size_bytes=2 + 3 + 2
    )
    drawn = ToolMessage("c", "run_cell", (PICTURE,))
    assert RequestWindow.of("Hi", (), (drawn,)).has_pictures


def test_002_50_a_file_is_a_picture_by_what_is_in_it(tmp_path: Path) -> None:
    for name, data in {"uploaded": PNG, "words.png": b"words", "empty.png": b""}.items():
        (tmp_path / name).write_bytes(data)
    assert RequestWindow.of("Hi", [str(tmp_path / "uploaded")]).has_pictures
    os.mkfifo(tmp_path / "pipe.png")  # reading it would wait for ever
    for name in ("words.png", "empty.png", "missing.png", "pipe.png"):
        assert not RequestWindow.of("Hi", [str(tmp_path / name)]).has_pictures


def test_002_50_a_named_model_that_does_not_see_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    files = {"pictures/a.png": str(tmp_path / "a.png"), "b.csv": "b.csv"}
    told = unseen_pictures(files, sees=False, model="mine")
    assert told == "mine does not see pictures; of a.png it is told that they are there."
    assert unseen_pictures(files, sees=True, model="mine") == ""
    assert unseen_pictures({"b.csv": "b.csv"}, sees=False, model="mine") == ""


def test_002_51_names_close_to_a_mistyped_one_are_found() -> None:
    with FakeService(models=("gpt-5.6", "gpt-5.6-mini", "llama")) as service:
        settings = Settings(service.settings())
        assert models_like("gtp-5.6", settings, service.base_url)[0] == "gpt-5.6"
        assert models_like("zzz", settings, service.base_url) == ()
    with FakeService(models=error(500, "down")) as service:
        assert models_like("gpt", Settings(service.settings()), service.base_url) == ()


def test_the_models_for_pictures_and_long_talks_come_from_the_environment() -> None:
    env = {"CELLWRIGHT_VISION_MODEL": " sees ", "CELLWRIGHT_LONG_MODEL": "'long'"}
    found = from_env({**env, "CELLWRIGHT_OLLAMA": "off"})
    assert (found.vision_model, found.long_model) == ("sees", "long")
