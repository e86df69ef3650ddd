"""Whatever a tool returns or yields, as contents (requirements 000-16, table 1d)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from component_samples import (
    Figureless,
    Png,
    component,
    context_with,
    generator,
    pieces,
    read,
    said,
    slowly,
)

from cellwright.record.content import Content, for_model
from cellwright.record.messages import ImagePart, TextPart
from cellwright.tools import Component
from cellwright.tools.evaluation import values_of
from cellwright.tools.message import as_output, bundle


def returning() -> Generator[str, None, Any]:
    yield "a"
    return {"b": 1}  # noqa: B901 (a tool may do both)


@pytest.mark.parametrize(
    ("evaluate", "expected"),
    [
        (generator, ["a", "b"]),
        (returning, ["a", '{"b":1}']),
        (lambda: pieces("x", "y"), ["x", "y"]),
        (lambda: slowly("late"), ["late"]),
        (lambda: "plain", ["plain"]),
        (lambda: None, []),
        (lambda: 3.5, ["3.5"]),
        (lambda: [1, {"a": None}], ['[1,{"a":null}]']),
        (lambda: Figureless(), ["<nothing rich>"]),
        (lambda: Content("code", {"code": "x"}), ["```\nx\n```"]),
        (lambda: [Content("text", {"info": "a"}), "b"], ["a|b"]),
    ],
)
def test_000_16_whatever_a_tool_returns_or_yields_becomes_contents(
    evaluate: Any, expected: list[str]
) -> None:
    assert said(component(evaluate)) == expected


def test_000_16_a_table_is_drawn_for_the_person_and_summed_up_for_the_model() -> None:
    pandas = pytest.importorskip("pandas")
    output = as_output(pandas.DataFrame({"price": [1.0, 2.0]}))
    drawn, summary = output.content
    assert (drawn.visible_scope, summary.visible_scope) == ("user", "llm")
    assert "<table" in drawn.text["mime"]["text/html"]
    assert "price" in read(output)
    assert "<table" not in read(output)
    assert "<table" in output._repr_mimebundle_()["text/html"]


def test_000_16_a_figure_is_a_picture_for_the_person_and_words_for_the_model() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    axes = figure.add_subplot(title="Sales")
    axes.plot([1, 2])
    blind = as_output(figure)
    assert [item.type for item in blind.content] == ["image", "text"]
    assert read(blind).startswith("Figure ")
    assert "Sales" in read(blind)
    assert for_model(blind.content) == (TextPart(read(blind)),)


def test_000_16_a_picture_goes_to_a_model_that_sees() -> None:
    sees = said(component(Png), context_with(sees_images=True))
    assert sees[0].startswith("image/png|[image/png 2x1] ")
    assert bundle(Png()).keys() == {"image/png"}


def test_000_16_a_broken_figure_is_still_told_of() -> None:
    class Figure:
        __module__ = "matplotlib.figure"
        axes: tuple[Any, ...] = ()

        def savefig(self, *_: object, **__: object) -> None:
            raise RuntimeError("no canvas")

    assert "Figure" in read(as_output(Figure()))


def test_values_that_only_look_like_streams_are_values() -> None:
    assert list(values_of([1, 2])) == [[1, 2]]
    assert isinstance(for_model(as_output(Png()).content)[0], TextPart)
    assert not isinstance(for_model(as_output(Png()).content)[0], ImagePart)


def test_a_list_may_hold_rich_values_among_others() -> None:
    made = Component().create_output
    mixed = [made(text="a"), Figureless(), Content("text", {"info": "b"})]
    assert read(as_output(mixed)) == "a|<nothing rich>|b"
    assert read(as_output({1, 2})) == "{1, 2}"
    assert read(as_output({"f": Figureless()})) == "dict of 1: 'f': <Figureless object>"
    assert read(as_output(Png)) == repr(Png)


class Tupled:
    """Hands metadata over with its bundle."""

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"text/markdown": "**bold**", "image/png": None}, {"meta": 1}

    def __repr__(self) -> str:
        return "<Tupled>"


def test_a_bundle_with_metadata_is_a_bundle() -> None:
    assert bundle(Tupled()) == {"text/markdown": "**bold**"}
    drawn, summary = as_output(Tupled()).content
    assert drawn.text["mime"] == {"text/markdown": "**bold**"}
    assert summary.visible_scope == "llm"
