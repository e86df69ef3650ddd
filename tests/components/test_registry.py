"""The tools of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fakes import FakeNotebook

from cellwright.errors import SetupError
from cellwright.record.content import text
from cellwright.text.truncation import estimate_tokens
from cellwright.tools import Component, ToolContext, ToolYield
from cellwright.tools.registry import Registry
from cellwright.tools.standard import Submit, standard_tools


def named(tool_name: str) -> Component:
    class Named(Component):
        name = tool_name

        def tool_eval(self, context: ToolContext) -> Iterator[ToolYield]:
            """Do nothing."""
            yield text("")

    return Named()


def test_the_standard_tools_are_at_most_ten_and_cost_under_1500_tokens() -> None:
    registry = Registry(standard_tools(FakeNotebook()))
    sent = [{"type": "function", "function": vars(manifest)} for manifest in registry.manifests]
    assert len(sent) <= 10
    assert estimate_tokens(json.dumps(sent)) <= 1_500


def test_the_standard_tools_come_in_one_order_and_are_the_same_bytes_each_time() -> None:
    one, other = (Registry(standard_tools(FakeNotebook())) for _ in range(2))
    assert one.manifests == other.manifests
    assert one.names() == (
        "run_cell",
        "add_cell",
        "edit_cell",
        "arrange_cell",
        "read_notebook",
        "read_output",
        "list_variables",
        "inspect_variable",
        "install_package",
        "submit",
    )


def test_without_a_notebook_its_tools_are_left_out() -> None:
    names = Registry(standard_tools(None)).names()
    assert not {"edit_cell", "arrange_cell", "read_notebook"} & set(names)


def test_every_standard_tool_has_words_for_people() -> None:
    for tool in standard_tools(FakeNotebook()):
        assert tool.label()
        assert tool.risk_for() == tool.risk
        assert isinstance(tool.code_for(), str)


def test_a_tool_is_found_by_name() -> None:
    tool = Submit()
    registry = Registry([tool])
    assert registry.find("submit") is tool
    assert registry.find("nothing") is None


def test_an_unknown_tool_is_answered_with_the_nearest_and_all_names() -> None:
    registry = Registry(standard_tools(None))
    assert "There is no tool 'run_cel'. Did you mean 'run_cell'?" in registry.unknown("run_cel")
    assert "Did you mean" not in registry.unknown("zzz")
    assert "submit" in registry.unknown("zzz")


def test_two_tools_of_one_name_are_both_named() -> None:
    with pytest.raises(SetupError, match=r"Submit and .*Named are both named 'submit'"):
        Registry([Submit(), named("submit")])


def test_a_tool_without_a_manifest_is_refused_by_name() -> None:
    class Bare(Component):
        name = "bare"

        def tool_eval(self, context: ToolContext, x: int) -> Iterator[ToolYield]:
            yield text("")

    with pytest.raises(SetupError, match="The tool 'bare' cannot be offered"):
        Registry([Bare()])


def test_002_70_many_tools_are_warned_about_and_too_many_refused() -> None:
    assert Registry([named(f"t{n}") for n in range(40)]).warning == ""
    assert "41 tools are offered" in Registry([named(f"t{n}") for n in range(41)]).warning
    for count in (127, 128):
        assert len(Registry([named(f"t{n}") for n in range(count)]).manifests) == count
    with pytest.raises(SetupError, match="There are 129 tools; at most 128"):
        Registry([named(f"t{n}") for n in range(129)])


def test_a_tools_plain_label_is_its_name_in_words() -> None:
    assert named("look_up").label() == "look up"
