"""Whoever runs a command on their own account is its owner; a guest is who is said to be one."""

from __future__ import annotations

import pytest

from cellwright.errors import SetupError
from cellwright.settings import from_env


@pytest.mark.parametrize(
    ("said", "is_guest"), [("", False), ("no", False), (" No ", False), ("yes", True)]
)
def test_002_05_runs_are_the_owners_unless_it_is_said(said: str, is_guest: bool) -> None:
    assert from_env({"CELLWRIGHT_GUEST": said}).is_guest is is_guest


def test_002_05_another_word_is_told() -> None:
    with pytest.raises(SetupError, match="'perhaps'"):
        from_env({"CELLWRIGHT_GUEST": "perhaps"})
