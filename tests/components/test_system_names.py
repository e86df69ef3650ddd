"""Names of the system (requirements 000-12)."""

from __future__ import annotations

import pytest

from cellwright.errors import SetupError
from cellwright.tools.evaluation import LEFT_OUT, SETTABLE, SYSTEM_NAMES, check_settable


@pytest.mark.parametrize("name", sorted(set(SYSTEM_NAMES) - SETTABLE) + list(LEFT_OUT))
def test_000_12_what_the_system_sets_a_person_may_not(name: str) -> None:
    with pytest.raises(SetupError, match=f"{name!r} is set by the system"):
        check_settable(name)


@pytest.mark.parametrize("name", [*sorted(SETTABLE), "region", "_private"])
def test_000_12_files_instructions_and_variables_may_be_set(name: str) -> None:
    check_settable(name)


def test_000_13_all_22_names_are_known() -> None:
    assert len({*SYSTEM_NAMES, *LEFT_OUT}) == 22
