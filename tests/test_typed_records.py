"""What a recorded prompt and a record tell of typed results and of tools that are gone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes import make_context
from hypothesis import given
from hypothesis import strategies as st

from cellwright.agent.policy import Policy
from cellwright.agent.typed_answers import TypedAnswers, offered, typed_answers_in, words_of
from cellwright.errors import ActionRefusedError, ToolError
from cellwright.llm.signatures import Field, Signature
from cellwright.record.content import Content
from cellwright.record.messages import ImagePart, Manifest, TextPart
from cellwright.tools import Component
from cellwright.tools.live_registry import LIVE, offer_again
from cellwright.tools.live_tools import PastCall, recorded_tool
from cellwright.tools.registry import Registry

TYPES = st.sampled_from(
    [
        "str",
        "int",
        "list[str]",
        "dict[str, int]",
        "Literal['x, y', 'z']",
        "Code",
        "int | None",
        "tuple[int, str]",
        "DataFrame",
        "bool",
    ]
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
PAST = {
    "a": PastCall(parts=(TextPart("12"),)),
    "b": PastCall(parts=(TextPart("It failed."),), is_error=True),
}
LOOK = Manifest("look", "Look.", {"type": "object"})


@given(st.lists(TYPES, min_size=1, max_size=4), WORDS)
def test_a_recorded_prompt_tells_which_results_it_asks_for(kinds: list[str], body: str) -> None:
    outputs = ", ".join(f"out_{number}: {kind}" for number, kind in enumerate(kinds))
    asked = TypedAnswers(Signature.parse(f"df, question -> {outputs}"), body)
    found = typed_answers_in(asked.prompt({}))
    assert found is not None
    assert found.outputs == asked.outputs
    if body.strip():
        assert found.body == body.strip()


def test_what_a_field_is_described_by_is_no_part_of_its_type() -> None:
    parts = (
        Field("a", "output", list[int], "the best, sorted, ones"),
        Field("b", "output", Signature.parse("-> t: DataFrame").outputs[0].annotation, "Rows."),
    )
    found = typed_answers_in(TypedAnswers(Signature(parts), "Go.").prompt({}))
    assert found is not None
    assert [(field.name, field.type_name) for field in found.outputs] == [
        ("a", "list[int]"),
        ("b", "DataFrame"),
    ]


@pytest.mark.parametrize(
    "change", [("str", "!"), ("hand_in", "submit"), ("Compute under", "x\nCompute under")]
)
def test_other_prompts_ask_for_none(change: tuple[str, str]) -> None:
    prompt = TypedAnswers(Signature.parse("-> a: str"), "Go.").prompt({})
    assert typed_answers_in(prompt) is not None
    assert typed_answers_in(prompt.replace(*change)) is None
    assert words_of(" Which? ") == "Which?"


def test_a_tool_of_a_record_gives_what_was_recorded_for_the_call() -> None:
    tool = recorded_tool(LOOK, PAST)
    assert tool.tool_manifests() == (LOOK,)
    assert not tool.has_cells
    assert recorded_tool(LOOK, {"a": PastCall("look()")}).has_cells
    with pytest.raises(ToolError, match="no such call of 'look'"):
        tool.begin(None)


def test_a_tool_of_a_record_shows_pictures_again_and_refuses_what_was_refused() -> None:
    drawn = Content("text", {"info": "Look."}, name="chart")
    past = {
        "a": PastCall(parts=(TextPart("12"), ImagePart("image/png", "aGk=")), contents=(drawn,)),
        "b": PastCall(parts=(TextPart("Refused."),), is_error=True, was_refused=True),
    }
    tool = recorded_tool(LOOK, past)
    output = tool.begin(replace(make_context(), call_id="a"))
    assert [(item.type, item.visible_scope) for item in output.content] == [
        ("text", "llm"),
        ("image", "llm"),
        ("text", "user"),
    ]
    with pytest.raises(ActionRefusedError, match="Refused."):
        tool.begin(replace(make_context(), call_id="b"))


def test_functions_that_are_here_are_offered_again_under_their_names() -> None:
    def double(n: int) -> int:
        """Twice as much."""
        return 2 * n

    LIVE.clear()
    offer_again({"double": double, "number": 3}, {"double": "Two times.", "number": "", "gone": ""})
    (row,) = LIVE.rows({"double": double})
    LIVE.clear()
    assert (row["name"], row["description"], row["problem"]) == ("double", "Two times.", "")


class Two(Component):
    """Two tools in one."""

    manifests = (LOOK, Manifest("see", "See.", {"type": "object"}))
    name = "two"


def test_spare_tools_stand_in_only_for_names_that_are_not_there() -> None:
    registry, policy = Registry([Two()]), Policy("auto")
    spare = [recorded_tool(Manifest(n, "", {"type": "object"}), PAST) for n in ("look", "gone")]
    found = offered(None, registry, policy, spare).registry
    assert found.names() == ("look", "see", "gone")
    assert isinstance(found.find("look"), Two)
    assert offered(None, registry, policy, spare[:1]).registry is registry
    typed = TypedAnswers(Signature.parse("-> a: str"))
    assert offered(typed, registry, policy, spare).registry.names() == (
        "look",
        "see",
        "gone",
        "hand_in",
    )
