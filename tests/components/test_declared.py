"""Manifests written by hand and made of ``meta`` (requirements 000-04, 000-41 to 000-43, X-08)."""

from __future__ import annotations

import json
from typing import Any

import pydantic
import pytest
from component_samples import OnlyRun, component, context_with
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from cellwright.errors import SetupError
from cellwright.llm.adapters.native import BadArgumentsError, read_arguments
from cellwright.llm.signatures import Field, Signature
from cellwright.record.content import ComponentOutput
from cellwright.record.messages import ToolCall
from cellwright.tools import Component
from cellwright.tools.manifest import manifest_complaints, manifest_of
from cellwright.tools.registry import Registry

IMAGE = {"type": "string", "description": "A picture."}


def written(*names: str, **changes: Any) -> dict[str, Any]:
    properties = {name: IMAGE for name in names}
    schema = {"type": "object", "properties": properties, "required": list(names), **changes}
    return {"name": "sample", "description": "Look at it.", "parameters": schema}


def refused(made: Component) -> str:
    with pytest.raises(SetupError) as caught:
        made.tool_manifests()
    return str(caught.value)


def test_000_42_a_manifest_is_taken_in_openais_wrapping_too() -> None:
    plain = manifest_of(written("a"))
    assert manifest_of({"type": "function", "function": written("a")}) == plain
    assert manifest_of(plain) is plain


def test_000_42_required_may_be_null_and_properties_missing() -> None:
    made = manifest_of({"name": "f", "description": "F.", "parameters": {"required": None}})
    assert made.parameters == {"type": "object", "properties": {}}
    assert list(manifest_complaints(made)) == []


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"type": "array"}, "its parameters are no object"),
        ({"properties": {"a": {"type": "int", "description": "A."}}}, "no JSON Schema"),
        ({"properties": {"a": {"type": "string"}}}, "'a' has no description"),
        ({"properties": {"a": {"description": "A."}}}, "'a' has no type"),
        ({"properties": {"_sys_uid": IMAGE}}, "'_sys_uid' is reserved"),
    ],
)
def test_000_42_what_is_wrong_with_a_schema_is_said(
    parameters: dict[str, Any], complaint: str
) -> None:
    made = manifest_of({"name": "f", "description": "F.", "parameters": parameters})
    assert complaint in "; ".join(manifest_complaints(made))


def test_000_42_a_manifest_needs_a_name_and_a_description() -> None:
    with pytest.raises(SetupError, match="has no name"):
        manifest_of({"description": "F."})
    with pytest.raises(SetupError, match="has no name"):
        manifest_of("f")
    assert list(manifest_complaints(manifest_of({"name": "f"}))) == ["it has no description"]


def test_000_42_a_name_of_65_characters_is_shortened_to_the_same_one_always() -> None:
    names = {manifest_of({"name": "n" * 65}).name for _ in range(2)}
    assert len(names) == 1
    assert len(names.pop()) <= 64


def test_000_43_a_manifest_fits_tool_eval_both_ways() -> None:
    assert component(lambda a: a, manifests=[written("a")]).tool_manifests()[0].name == "sample"
    extra = refused(component(lambda a: a, manifests=[written("a", "b")]))
    assert "tool_eval has no parameter 'b'" in extra
    assert "the manifest has no 'b'" in refused(
        component(lambda a, b=1: a, manifests=[written("a")])
    )
    optional = written("a", required=[])
    assert "'a' is not required" in refused(component(lambda a: a, manifests=[optional]))


def typed(
    word: str, count: int = 3, share: float = 0.5, tags: list[str] | None = None, odd: Any = None
) -> None:
    """Say it."""


class Odd:
    """No type for JSON."""


def for_python(a: Odd) -> None:
    """Take it."""


def test_000_43_types_and_defaults_are_those_of_tool_eval() -> None:
    properties = {
        "word": {"type": "string", "description": "W."},
        "count": {"type": "integer", "default": 3, "description": "C."},
        "share": {"type": "integer", "description": "S."},
        "tags": {"type": "array", "description": "T."},
        "odd": {"type": "object", "description": "O."},
    }
    fits = written(properties=properties, required=["word"])
    assert component(typed, manifests=[fits]).tool_manifests()
    other = {**properties, "word": {"type": "integer", "description": "W."}}
    other["count"] = {"type": "integer", "default": 4, "description": "C."}
    complaint = refused(component(typed, manifests=[written(properties=other, required=["word"])]))
    assert "the type of 'word' is 'integer', and 'string' in tool_eval" in complaint
    assert "the default of 'count' is 4, and 3 in tool_eval" in complaint
    assert component(for_python, manifests=[written("a")]).tool_manifests()


def test_000_40_overriding_with_wrong_parameters_fails_at_registration() -> None:
    with pytest.raises(SetupError, match="'sample' cannot be offered .*no parameter 'renamed'"):
        Registry([component(lambda a: a, manifests=[written("renamed")])])


def two(**changes: Any) -> Component:
    one, other = ({**written("word"), "name": name} for name in ("louder", "softer"))
    return component(
        lambda name, word: word.upper() if name == "louder" else word.lower(),
        manifests=[one, {**other, **changes}],
    )


def test_000_41_one_component_can_be_several_tools() -> None:
    made = two()
    registry = Registry([made])
    assert registry.names() == ("louder", "softer")
    assert registry.find("softer") is made
    said = made.evaluate_merged(context_with(tool_name="softer"), word="Hi")
    assert said.content[0].text["info"] == "hi"
    assert component(lambda name, **k: k, manifests=made.manifests).tool_manifests()


def test_000_41_two_manifests_of_one_name_are_refused() -> None:
    assert "the name 'louder' is there twice" in refused(two(name="louder"))


class Query(BaseModel):
    """What to look for."""

    words: str = pydantic.Field(description="Words.", json_schema_extra={"variable_name": "query"})
    limit: int = pydantic.Field(5, description="How many.")


class Clash(BaseModel):
    """Two of one name."""

    query: str = pydantic.Field(description="Q.")
    words: str = pydantic.Field(description="W.", json_schema_extra={"variable_name": "query"})


def test_000_04_a_pydantic_class_is_the_meta_and_names_its_variables() -> None:
    def search(words: str, limit: int = 5) -> str:
        """Search."""
        return f"{words} {limit}"

    made = component(search, meta=Query)
    (manifest,) = made.tool_manifests()
    Draft202012Validator.check_schema(dict(manifest.parameters))
    assert list(manifest.parameters["properties"]) == ["query", "limit"]
    assert manifest.parameters["required"] == ["query"]
    assert made.evaluate_merged(query="x").content[0].text["info"] == "x 5"


def test_000_04_two_fields_of_one_name_are_refused() -> None:
    assert "Two fields of 'Clash' are called 'query'" in refused(
        component(lambda query, words: None, meta=Clash)
    )


def test_000_04_a_signature_is_a_meta_too() -> None:
    meta = Signature.parse("question: str, count: int -> answer: str", "Answer it.")
    made = component(lambda question, count: f"{question}{count}", meta=meta)
    (manifest,) = made.tool_manifests()
    assert manifest.description == "Answer it."
    assert manifest.parameters["properties"]["count"]["type"] == "integer"
    assert manifest.parameters["required"] == ["question", "count"]


def test_000_04_a_field_without_a_description_is_named() -> None:
    class Bare(BaseModel):
        a: int

    assert "'a' has no description" in refused(component(lambda a: a, meta=Bare))


def test_x_08_a_choice_of_required_arguments_is_what_a_call_is_held_to() -> None:
    choice = {"anyOf": [{"required": ["img_name"]}, {"required": ["img_url"]}]}
    manifest = written("img_name", "img_url", required=None, **choice)
    made = component(lambda img_name="", img_url="": img_name or img_url, manifests=[manifest])
    (told,) = made.tool_manifests()
    assert read_arguments(ToolCall("c", "sample", '{"img_url": "u"}'), told.parameters)
    with pytest.raises(BadArgumentsError):
        read_arguments(ToolCall("c", "sample", "{}"), told.parameters)


class Place(BaseModel):
    """Where."""

    city: str
    inner: Place | None = None


class Trip(BaseModel):
    """From one place to another."""

    start: Place = pydantic.Field(description="Where it begins.")


def test_000_42_references_are_resolved_wherever_a_manifest_comes_from() -> None:
    place = {"type": "object", "properties": {"definitions": {"type": "string"}}}
    properties = {"start": {"$ref": "#/$defs/Place", "description": "Where."}}
    by_hand = written(properties=properties, required=["start"], **{"$defs": {"Place": place}})
    signature = Signature.parse("-> end: str", "Go.").prepend(Field("start", "input", Place, "S."))
    for given in ({"manifests": [by_hand]}, {"meta": Trip}, {"meta": signature}):
        (manifest,) = component(lambda start: start, **given).tool_manifests()
        text = json.dumps(manifest.parameters)
        assert "$ref" not in text
        assert "$defs" not in text
        assert manifest.parameters["properties"]["start"]["type"] == "object"


def test_000_42_a_reference_that_leads_nowhere_is_named() -> None:
    lost = written(properties={"a": {"$ref": "#/$defs/Lost", "description": "A."}}, required=["a"])
    assert "refer to '#/$defs/Lost'" in refused(component(lambda a: a, manifests=[lost]))


def test_000_01_a_component_without_a_name_is_refused() -> None:
    class Nameless(OnlyRun):
        name = ""

    with pytest.raises(SetupError, match=r"Nameless has no name"):
        Registry([Nameless()])


def test_000_21_an_assistants_output_ends_nothing() -> None:
    assert ComponentOutput((), "assistant").final is False


def test_000_40_a_component_of_run_alone_may_have_a_manifest_by_hand() -> None:
    class Told(OnlyRun):
        manifests = [written("message")]

    assert list(Told().tool_manifests()[0].parameters["properties"]) == ["message"]
