"""Bugs of the component contract's first implementation (requirements 7.2), that we do not have."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from typing import Any

import pytest
from component_samples import component
from fakes import FakeNotebook, make_context
from jsonschema import Draft202012Validator

from cellwright.errors import ToolError
from cellwright.llm.openai_format import tool_to_openai
from cellwright.record.content import (
    ComponentOutput,
    Content,
    Metrics,
    content,
    content_schema,
    for_model,
)
from cellwright.record.events import CellAdded
from cellwright.record.messages import ModelUsage, TextPart, Usage
from cellwright.record.values import from_dict, to_dict
from cellwright.tools import Component, ToolContext
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


class Weather(Component):
    """As its author writes it: with the contract's ``**kwargs``, or without."""

    name = "weather"

    def tool_eval(self, city: str, days: int = 1) -> Iterator[str]:
        """Tell the weather.

        Args:
            city: Where.
            days: For how long.
        """
        yield f"{city}: "
        yield f"sun for {days}"


class Loud(Weather):
    """Extends another."""

    name = "loud"

    def tool_eval(  # type: ignore[override]  # a context may come first
        self, context: ToolContext, city: str
    ) -> Iterator[Any]:
        """Shout.

        Args:
            city: Where.
        """
        yield CellAdded("new", "1")
        yield from super().tool_eval(city=city.upper())


def test_000_40_manifests_are_made_of_the_code_as_data_of_their_own() -> None:
    (manifest,) = Weather().manifests
    assert manifest["name"] == "weather"
    assert manifest["parameters"]["required"] == ["city"]
    manifest["parameters"]["title"] = "changed, as the checker does"
    assert "title" not in Weather().manifests[0]["parameters"]
    assert Weather.manifests == ()

    class Own(Weather):
        manifests = (manifest,)

    assert Own().manifests == (manifest,)


def test_000_07_tool_eval_takes_a_tools_own_arguments_and_yields_outputs() -> None:
    weather: Any = Weather()
    said = list(weather.tool_eval("Ulm", days=2, _sys_traceid="t", model_configs={}))
    assert [output.content[0].text.info for output in said] == ["Ulm: ", "sun for 2"]
    assert list(inspect.signature(Weather().tool_eval).parameters) == ["city", "days", "kwargs"]
    assert inspect.getdoc(Weather().tool_eval) == inspect.getdoc(Weather.tool_eval)
    with pytest.raises(ToolError, match="there is no 'cty'"):
        list(weather.tool_eval(cty="Ulm"))
    assert list(tool(lambda: 7, name="seven", description="Seven.").tool_eval())[0].content


def test_000_07_a_notebook_changes_as_in_a_run_and_a_subclass_calls_its_parent() -> None:
    book = FakeNotebook()
    said = list(Loud().tool_eval(context=make_context(notebook=book), city="Ulm"))
    assert [output.content[0].text["info"] for output in said] == ["ULM: ", "sun for 1"]
    assert [cell.id for cell in book.cells()] == ["new"]


def test_000_04_run_arun_and_batch_are_those_of_the_contract() -> None:
    weather = Weather(made_with="more than it was asked for")
    whole = weather.run(Message("Ulm"), temperature=0.1, days=3)
    assert whole.content == "Ulm: sun for 3"
    stream = weather.run("Ulm", stream=True).content
    assert [output.content[0].text.info for output in stream] == ["Ulm: ", "sun for 1"]
    assert asyncio.run(weather.arun({"city": "Ulm"})).content == "Ulm: sun for 1"
    both = weather.batch("Ulm", "Bonn", stream=False)
    assert [each.content for each in both] == ["Ulm: sun for 1", "Bonn: sun for 1"]
    assert [m.content for m in asyncio.run(weather.abatch("Ulm"))] == ["Ulm: sun for 1"]


def test_000_24_outputs_and_messages_are_dumped_as_the_contracts_schemas_have_them() -> None:
    usage = (ModelUsage("m", Usage(prompt_tokens=3, completion_tokens=2)),)
    table = Content("json", {"data": {"a": 1}}, usage=usage, metrics=Metrics(duration_seconds=0.5))
    dumped = ComponentOutput((table, Content("image", {"base64": "AA"}))).model_dump()
    first, picture = dumped["content"]
    assert dumped["role"] == "tool"
    assert first["text"] == {"data": '{"a": 1}'}
    assert first["usage"]["total_tokens"] == 5
    assert first["metrics"]["total_time(s)"] == 0.5
    assert picture["text"] == {"filename": "", "url": "", "base64": "AA"}
    with pytest.raises(AttributeError, match="no field 'info'"):
        _ = table.text.info  # type: ignore[attr-defined]
    message = Message({"rows": 1}, name="m")
    assert Message.model_validate(message.model_dump()) == message
