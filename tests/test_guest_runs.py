"""Runs in which nobody can be asked are a guest's, unless the environment says otherwise."""

from __future__ import annotations

import pytest

from cellwright.errors import SetupError
from cellwright.settings import from_env


@pytest.mark.parametrize(
    ("said", "is_headless", "is_guest"),
    [
        ("", False, False),
        ("", True, True),
        ("no", True, False),
        (" No ", True, False),
        ("yes", False, True),
        ("yes", True, True),
    ],
)
def test_002_05_headless_runs_are_a_guests_unless_it_is_said(
    said: str, is_headless: bool, is_guest: bool
) -> None:
    settings = from_env({"CELLWRIGHT_GUEST": said})
    assert settings.is_guest(is_headless=is_headless) is is_guest


def test_002_05_another_word_is_told() -> None:
    with pytest.raises(SetupError, match="'perhaps'"):
        from_env({"CELLWRIGHT_GUEST": "perhaps"})
