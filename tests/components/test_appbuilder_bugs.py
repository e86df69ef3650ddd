"""Bugs of the component contract's first implementation (requirements 7.2), that we do not have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from component_samples import component
from jsonschema import Draft202012Validator

from cellwright.llm.openai_format import tool_to_openai
from cellwright.record.content import ComponentOutput, Content, content, content_schema, for_model
from cellwright.record.messages import TextPart
from cellwright.record.values import from_dict, to_dict
from cellwright.tools import Component
from cellwright.tools.checking import check_tool
from cellwright.tools.functions import tool
from cellwright.tools.message import Message
from cellwright.tools.registry import Registry


def test_000_03_two_messages_do_not_share_their_id() -> None:
    assert len({Message("x").id for _ in range(10)}) == 10


def test_000_24_a_content_without_text_is_refused_and_no_class_stands_in_for_it() -> None:
    with pytest.raises(TypeError):
        Content("text")  # type: ignore[call-arg]
    made = Component().create_output()
    assert isinstance(made.content[0], Content)
    assert made.content[0].text == {"info": ""}


@pytest.mark.parametrize("order", [("type", "text"), ("text", "type")])
def test_000_24_the_order_of_type_and_text_in_json_does_not_matter(order: tuple[str, ...]) -> None:
    given = {"type": "code", "text": {"code": "x"}}
    read = from_dict(Content, json.loads(json.dumps({key: given[key] for key in order})))
    assert read == Content("code", {"code": "x"})


def test_000_24_an_unknown_type_is_a_warning_and_no_type_error() -> None:
    with pytest.warns(UserWarning, match="'hologram'"):
        made = Component().create_output("hologram", {"beam": 1})
    assert made.content[0].type == "json"


@pytest.mark.parametrize("data", [{"a": 1}, '{"a": 1}', [1, 2], {"data": {"a": 1}}])
def test_000_24_json_takes_a_dict_as_well_as_text(data: Any) -> None:
    made = content("json", data)
    Draft202012Validator(content_schema()).validate(to_dict(made))


def test_000_44_a_manifest_holds_no_python_type_names() -> None:
    def book(count: int, name: str | None = None, tags: list[str] | None = None, *_: Any) -> None:
        """Book it."""

    (manifest,) = tool(book).tool_manifests()
    Draft202012Validator.check_schema(dict(manifest.parameters))
    kinds = {name: each["type"] for name, each in manifest.parameters["properties"].items()}
    assert kinds == {"count": "integer", "name": "string", "tags": "array"}
    assert manifest.parameters["required"] == ["count"]


def test_000_45_a_component_can_be_handed_to_others_as_a_function_and_as_an_openai_tool() -> None:
    def twice(number: int) -> int:
        """Double it."""
        return number * 2

    made = tool(twice)
    assert made(4) == 8
    (manifest,) = made.tool_manifests()
    assert tool_to_openai(manifest)["function"]["name"] == "twice"
    assert component(lambda: [1, 2])().content is not None


def test_000_40_nothing_is_run_to_find_out_whether_it_is_a_tool() -> None:
    ran: list[str] = []

    class Eager(Component):
        name = "eager"

        def tool_eval(self) -> str:
            """Do it at once, as no generator."""
            ran.append("eager")
            return "done"

    Registry([Eager()])
    check_tool(Eager())
    tool(lambda: ran.append("function"), name="quiet").tool_manifests()
    assert ran == []


def test_000_22_no_content_is_dropped_but_the_first() -> None:
    made = [content("files", {"filename": f"{letter}.csv"}) for letter in "abc"]
    parts = for_model(ComponentOutput(tuple(made)).content)
    assert [part.text for part in parts if isinstance(part, TextPart)] == [
        *("a.csv", "b.csv", "c.csv"),
    ]


def test_000_27_no_default_is_shared_between_outputs() -> None:
    one, other = (Component().create_output(text="x").content[0] for _ in range(2))
    assert one.raw_data is not other.raw_data
    assert ComponentOutput(()).metadata is not ComponentOutput(()).metadata


def test_000_16_a_wrong_content_is_a_tool_error_that_names_the_field_and_no_assertion() -> None:
    from cellwright.errors import ToolError

    def draws() -> Iterator[ComponentOutput]:
        yield Component().create_output("image", {"filename": "plot"})

    with pytest.raises(ToolError, match="has none of 'base64', 'url', 'file_id'"):
        list(component(draws).evaluate())
    assert Component().create_output("image", {"url": "p.png"}).content[0].type == "image"
