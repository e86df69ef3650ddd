"""``%agent tool`` and ``@agent_tool``: what a person offers of their kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from magics.typed_lines import answer_tool

from cellwright.errors import SetupError
from cellwright.external.source import Whereabouts, open_outside
from cellwright.settings import Settings
from cellwright.store.database import open_database
from cellwright.tools import Component
from cellwright.tools.live_registry import LIVE
from cellwright_magics.tools import agent_tool


def revenue(region: str) -> float:
    """Revenue of a region.

    Args:
        region: Which one.
    """
    return 1.0


def bare(word: str) -> str:
    return word


class Shout(Component):
    """A component of a cell."""

    name = "shout"

    def tool_eval(self, word: str) -> Iterator[str]:
        """Shout.

        Args:
            word: What.
        """
        yield word


class Needy(Shout):
    """Cannot be made."""

    def __init__(self, where: str) -> None:
        self.where = where


NAMESPACE: dict[str, Any] = {
    "revenue": revenue,
    "bare": bare,
    "shout": Shout(),
    "Shout": Shout,
    "Needy": Needy,
    "number": 3,
}


NO_SERVICES = "\nNo outside tools. 'tool discover URL' or 'tool connect NAME …' brings some."


@pytest.fixture(autouse=True)
def _nothing_offered() -> Iterator[None]:
    LIVE.clear()
    yield
    LIVE.clear()


def answer(line: str, namespace: dict[str, Any] = NAMESPACE) -> str:
    database, folder = open_database(None), Path("/no/such/folder")
    services = open_outside(database, Settings(home=folder), Whereabouts((folder,), folder))
    try:
        return answer_tool(line, namespace, services).removesuffix(NO_SERVICES)
    finally:
        services.close()
        database.close()


def test_a_function_is_offered_by_its_name_and_listed() -> None:
    assert answer("tool add revenue shout") == (
        "The agent can call revenue(region).\nThe agent can call shout(word) (Shout).\n"
        "  tool_eval takes neither a context nor **kwargs. Give it a parameter 'context', or "
        "**kwargs, where it needs what the system has."
    )
    assert answer("tool list") == "revenue: Revenue of a region.\nshout: Shout."
    assert answer("tool remove shout") == "The agent no longer has shout."
    assert answer("tool list") == "revenue: Revenue of a region."


def test_nothing_offered_is_told_with_what_to_do() -> None:
    assert "%agent tool add NAME" in answer("tool list")


def test_000_56_what_could_be_better_is_said_when_a_tool_is_offered() -> None:
    said = answer("tool add bare")
    assert "The agent can call bare(word)." in said
    assert "'word' has no description" in said


def test_000_56_a_tool_is_checked_without_being_offered() -> None:
    said = answer("tool check bare Shout shout")
    assert "bare:\n" in said
    assert "! Docstring" in said
    assert "Shout:\n" in said
    assert LIVE.expressions() == ()
    with pytest.raises(SetupError, match="Needy cannot be made"):
        answer("tool check Needy")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("tool add missing", "There is no 'missing' in this kernel"),
        ("tool add number", "3 is no function"),
        ("tool remove revenue", "'revenue' is no tool"),
    ],
)
def test_000_54_what_cannot_be_done_is_named(line: str, told: str) -> None:
    with pytest.raises(SetupError, match=told):
        answer(line)


def test_the_word_alone_lists_what_is_offered() -> None:
    assert answer("tool") == answer("tool list")


def test_a_decorated_function_stays_a_function() -> None:
    @agent_tool
    def twice(number: int) -> int:
        """Double it."""
        return number * 2

    @agent_tool(name="thrice", risk="read", description="Times three.")
    def triple(number: int) -> int:
        """Triple it."""
        return number * 3

    assert (twice(2), triple(2)) == (4, 6)
    rows = LIVE.rows({"twice": twice, "triple": triple})
    told = [(row["name"], row["risk"], row["description"]) for row in rows]
    assert told == [("twice", "execute", "Double it."), ("thrice", "read", "Times three.")]


def test_a_function_whose_variable_is_gone_is_listed_with_the_reason() -> None:
    agent_tool(bare)
    assert "not offered: There is no 'bare'" in answer("tool list", {})
