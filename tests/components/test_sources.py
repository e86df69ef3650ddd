"""How many tools are offered (requirements 002-70, X-13)."""

from __future__ import annotations

from component_samples import component

from cellwright.tools import Component
from cellwright.tools.registry import ToolSource, distinct, within_caps


def tools(count: int, word: str = "t") -> tuple[Component, ...]:
    return tuple(component(lambda: None, name=f"{word}{n}") for n in range(count))


def test_x_13_few_tools_are_all_offered_and_the_standard_ones_first() -> None:
    standard = ToolSource("standard", tools(2, "s"), is_standard=True)
    offer = within_caps([ToolSource("kernel", tools(3)), standard])
    assert [tool.name for tool in offer.components] == ["s0", "s1", "t0", "t1", "t2"]
    assert offer.reports == ()


def test_x_13_a_source_has_at_most_64_and_what_is_left_out_is_named() -> None:
    offer = within_caps([ToolSource("kernel", tools(72))])
    assert len(offer.components) == 64
    assert offer.reports == (
        "8 tools of 'kernel' not offered, a source may have 64: 't64', 't65', 't66', 't67', "
        "'t68' and 3 more.",
    )


def test_x_13_an_assistant_has_at_most_100() -> None:
    offer = within_caps([ToolSource("a", tools(64, "a")), ToolSource("b", tools(40, "b"))])
    assert len(offer.components) == 100
    assert "4 tools of 'b' not offered, an assistant may have 100" in offer.reports[0]


def test_x_13_a_request_has_at_most_128() -> None:
    sources = [
        ToolSource("standard", tools(60, "s"), is_standard=True),
        ToolSource("a", tools(60, "a")),
        ToolSource("b", tools(20, "b")),
    ]
    offer = within_caps(sources)
    assert len(offer.components) == 128
    assert "a request may have 128" in offer.reports[0]
    late = within_caps([*sources, ToolSource("c", tools(1, "c"))])
    assert late.reports[1].startswith("1 tool of 'c'")


def test_x_13_a_component_that_is_several_tools_counts_as_many() -> None:
    manifests = [{"name": f"m{n}", "description": "A tool.", "parameters": {}} for n in range(40)]
    both = tuple(component(lambda name: None, name=f"c{n}", manifests=manifests) for n in (1, 2))
    offer = within_caps([ToolSource("kernel", (*both, *tools(3)))])
    assert offer.components == both[:1]
    assert "4 tools of 'kernel' not offered, a source may have 64: 'c2'" in offer.reports[0]


def test_x_13_what_has_no_manifest_counts_as_one() -> None:
    broken = component(lambda wrong: None, name="broken")
    assert within_caps([ToolSource("kernel", (broken,))]).components == (broken,)


def test_of_two_tools_of_one_name_the_first_sources_is_offered_and_it_is_told() -> None:
    standard = ToolSource("standard", tools(2), is_standard=True)
    live = ToolSource("kernel", tools(3))
    found = distinct([standard, live, ToolSource("memory", tools(4))])
    assert [len(source.components) for source in found.sources] == [2, 1, 1]
    assert found.sources[1].components == live.components[2:]
    assert found.reports == (
        "2 tools of 'kernel' not offered, another tool has the name: 't0', 't1'.",
        "3 tools of 'memory' not offered, another tool has the name: 't0', 't1', 't2'.",
    )
    assert distinct([standard]).reports == ()
