"""Which components a server offers, and what is said of those that it does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from component_samples import component

from cellwright.server.component_runs import Catalogue, installed, listed
from cellwright.tools.registry import ToolSource

MODULE = '''
from cellwright.tools import Component

class Hello(Component):
    """Greets."""

    name = "hello"

    def tool_eval(self) -> str:
        """Greet."""
        return "hello"

def twice(word: str) -> str:
    """Say it twice.

    Args:
        word: What.
    """
    return word * 2

BOTH = [Hello, twice]
NOTHING = 3

class Needs(Component):
    name = "needs"

    def __init__(self, value):
        pass
'''


class Package:
    """A distribution with entry points, as an installer leaves it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        (folder / f"{name}.py").write_text(MODULE)
        self._info = folder / f"{name}-1.0.dist-info"
        self._info.mkdir()
        (self._info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")

    def offer(self, **points: str) -> None:
        """Offer components under these names."""
        lines = [f"{name} = {self.name}:{value}" for name, value in points.items()]
        text = "\n".join(["[cellwright.components]", *lines, ""])
        (self._info / "entry_points.txt").write_text(text)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Package(tmp_path, "greeting")
    sys.modules.pop("greeting", None)


def names(found: Catalogue) -> list[str]:
    return [item.name for item in found.listed]


def nothing() -> None:
    """Do nothing."""


def sample(**attributes: Any) -> Any:
    return component(nothing, **attributes)


def test_a_server_has_a_component_to_try_the_route_with() -> None:
    assert "word_count" in names(installed())


def test_a_package_offers_classes_functions_and_lists_of_them(package: Package) -> None:
    package.offer(a="Hello", b="BOTH")
    found = installed()
    assert names(found)[1:] == ["hello", "twice"]
    assert {item.source for item in found.listed} == {"cellwright", "greeting"}
    assert found.reports == (
        "'greeting' and 'greeting' both have 'hello' in version 'v1'; that of 'greeting' is "
        "offered.",
    )


def test_the_settings_name_components_by_their_module() -> None:
    found = installed(["server.hand_components:TOOLS"])
    assert "shout" in names(found)
    assert found.reports == ()
    assert {item.source for item in found.listed} == {"cellwright", "settings"}


def test_what_cannot_be_loaded_is_reported_and_stands_in_nobodys_way(package: Package) -> None:
    package.offer(a="Gone", b="NOTHING", c="Needs", d="Hello")
    found = installed(["no_such_module:x"])
    assert names(found) == ["word_count", "hello"]
    first, fourth, second, third = found.reports
    assert first.startswith("'greeting:Gone' of 'greeting' cannot be loaded: AttributeError")
    assert "'b' of 'greeting' is not offered: 3 is no function." in second
    assert "Needs cannot be made" in third
    assert "'no_such_module:x' of 'settings' cannot be loaded: ModuleNotFoundError" in fourth


def test_000_32_a_component_may_be_there_in_several_versions() -> None:
    found = listed([ToolSource("a", (sample(version="v1"), sample(version="v2")))])
    assert found.versions("sample") == ("v1", "v2")
    assert found.find("sample", "v2") is found.listed[1]
    assert found.find("sample", "v3") is None


def test_000_01_of_two_with_one_name_the_first_is_offered_and_both_are_named() -> None:
    found = listed([ToolSource("a", (sample(),)), ToolSource("b", (sample(),))])
    assert [item.source for item in found.listed] == ["a"]
    assert found.reports == (
        "'a' and 'b' both have 'sample' in version 'v1'; that of 'a' is offered.",
    )


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"name": ""}, "has no name"),
        ({"name": "run_cell"}, "'run_cell' is a name of the agent's own"),
        ({"name": "_sys_name"}, "'_sys_name' is a name of the agent's own"),
        ({"manifests": [{"name": "x", "description": ""}]}, "it has no description"),
    ],
    ids=["nameless", "taken", "system", "manifest"],
)
def test_what_nobody_could_call_is_reported(attributes: dict[str, Any], why: str) -> None:
    found = listed([ToolSource("a", (sample(**attributes),))])
    assert found.listed == ()
    assert why in found.reports[0]


def test_x_13_of_a_package_at_most_64_are_offered_and_the_others_named() -> None:
    many = tuple(sample(name=f"t{number}") for number in range(66))
    found = listed([ToolSource("much", many)])
    assert len(found.listed) == 64
    assert found.reports == ("2 tools of 'much' not offered, a source may have 64: 't64', 't65'.",)


def test_a_long_name_is_shortened_in_the_address() -> None:
    (item,) = listed([ToolSource("a", (sample(name="n" * 80),))]).listed
    assert len(item.name) == 64
