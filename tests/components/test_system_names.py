"""Names of the system (requirements 000-12)."""

from __future__ import annotations

import pytest

from cellwright.errors import SetupError
from cellwright.tools.evaluation import SETTABLE, SYSTEM_NAMES, check_settable

UNKNOWN = ("_sys_gateway_endpoint", "_sys_appbuiler_token")
"""Names of the other framework that stand for nothing here."""


@pytest.mark.parametrize("name", sorted(set(SYSTEM_NAMES) - SETTABLE) + list(UNKNOWN))
def test_000_12_what_the_system_sets_a_person_may_not(name: str) -> None:
    with pytest.raises(SetupError, match=f"{name!r} is set by the system"):
        check_settable(name)


@pytest.mark.parametrize("name", [*sorted(SETTABLE), "region", "_private"])
def test_000_12_files_instructions_and_variables_may_be_set(name: str) -> None:
    check_settable(name)


def test_000_13_all_22_names_are_known() -> None:
    assert len({*SYSTEM_NAMES, *UNKNOWN}) == 22
