"""Values within values in the XML form: tags within tags, JSON where a model writes that."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

import pytest
from field_adapters import CODE_TEXT, NASTY, Colour, one
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel
from typing_extensions import TypedDict

from cellwright.llm.adapters.signature_adapter import AdapterParseError
from cellwright.llm.adapters.tags import Element, read_element, write_value
from cellwright.llm.adapters.xml import XMLAdapter
from cellwright.llm.signatures import Code, Signature

XML = XMLAdapter()


class Label(BaseModel):
    """A value with text."""

    text: str
    colour: Colour = Colour.RED


class Size(TypedDict):
    """A dictionary with known keys."""

    width: int
    note: str | None


class Gone(TypedDict):
    """A dictionary with a key that says nothing."""

    gone: None


class Rows(RootModel[list[int]]):
    """A list by another name."""


class Order(BaseModel):
    """A value with all kinds of parts."""

    name: str = Field(alias="order name")
    item: list[str] = []
    labels: list[Label] = []
    size: Size | None = None
    counts: dict[str, list[int]] = {}
    state: Literal["new", "paid"] = "new"
    choice: Label | list[int] | str = ""
    mixed: int | str = 0
    open: Any = None
    entry: dict = {}  # type: ignore[type-arg]  # one that says nothing of its values
    when: datetime.date | None = None
    code: Code | None = None
    rows: Rows = Rows([])
    maybe: list[str] | None = None
    within: list[Order] = []


TEXT = st.sampled_from(NASTY) | CODE_TEXT
NOTES = st.none() | st.sampled_from(["null", "None"]) | TEXT
LABELS = st.builds(Label, text=TEXT, colour=st.sampled_from(Colour))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
ORDERS = st.fixed_dictionaries(
    {
        "order name": TEXT,
        "item": st.lists(TEXT, max_size=2),
        "labels": st.lists(LABELS, max_size=2),
        "size": st.none() | st.fixed_dictionaries({"width": st.integers(), "note": NOTES}),
        "counts": st.dictionaries(TEXT, st.lists(st.integers(), max_size=2), max_size=2),
        "state": st.sampled_from(["new", "paid"]),
        "choice": LABELS | st.lists(st.integers(), max_size=2) | TEXT,
        "mixed": st.integers() | TEXT,
        "open": JSON_VALUES,
        "entry": st.dictionaries(TEXT, JSON_VALUES, max_size=2),
        "when": st.none() | st.dates(),
        "code": st.none() | TEXT.map(Code),
        "rows": st.lists(st.integers(), max_size=2),
        "maybe": st.none() | st.lists(TEXT, max_size=2),
    }
)


@given(ORDERS, st.lists(ORDERS, max_size=1))
def test_004_22_parts_are_read_back_as_they_were_written(
    fields: dict[str, Any], within: list[dict[str, Any]]
) -> None:
    signature = one(Order)
    value = Order(**fields, within=[Order(**each) for each in within])
    written = XML.format_assistant_message_content(signature, {"value": value})
    assert XML.parse(signature, written) == {"value": value}


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        (list[str], "<item>a < b && c</item><item>\n  x\n</item>", ["a < b && c", "  x"]),
        (list[str], "<item>See <b>this</b></item>", ["See <b>this</b>"]),
        (list[str], "<item><![CDATA[</item>]]></item>", ["</item>"]),
        (list[str], "one", ["one"]),
        (list[str], " ", []),
        (list[str], "['a', 'b']", ["a", "b"]),
        (list[str], '```json\n["a"]\n```', ["a"]),
        (set[int], "<item>1</item><item>1</item>", {1}),
        (list[list[int]], "<item><item>1</item></item><item />", [[1], []]),
        (list[Label], "<text>one</text>", [Label(text="one")]),
        (list[Label], '[{"text": "one"}]', [Label(text="one")]),
        (dict[str, tuple[int, str]], "<a><item>1</item><item>b</item></a>", {"a": (1, "b")}),
        (dict[str, tuple[int, str]], '<a>[1, "b"]</a>', {"a": (1, "b")}),
        (Label, "<text>one</text>\n<colour>BLUE</colour>", Label(text="one", colour=Colour.BLUE)),
        (Label, '{"text": "<b>"}', Label(text="<b>")),
        (dict[str, int], "<a>1</a><entry key='b c'>2</entry>", {"a": 1, "b c": 2}),
        (dict[str, int], "", {}),
        (dict[str, list[int]], "<a>1</a><a>2</a><b>3</b>", {"a": [1, 2], "b": [3]}),
        (dict[int, str], '<entry key="7">x</entry>', {7: "x"}),
        (dict, "<year>2023</year><name>x</name>", {"year": 2023, "name": "x"}),
        (dict, "<a>1</a><a>x</a><b><item>2</item></b>", {"a": [1, "x"], "b": [2]}),
        (dict[str, Any], "<a><b>1</b></a>", {"a": {"b": 1}}),
        (Size, "<width>3</width><note />", {"width": 3, "note": None}),
        (Annotated[list[int], "many"], "<item>3</item>", [3]),
        (Label | None, "", None),
        (list[int] | None, "<item>3</item>", [3]),
        (list[str] | None, "one", ["one"]),
        (str | list[str], "<item>a</item>", ["a"]),
        (Order, "<order_name>x</order_name>", None),
        (Rows | None, "[1, 2]", Rows([1, 2])),
        (dict[str, str | None], "<a><br> x</a><b>null</b>", {"a": "<br> x", "b": None}),
        (dict[str, Code | None], "<a>\n  x = 1\n</a><b />", {"a": Code("  x = 1"), "b": None}),
        (
            dict[str, int | tuple[int, int]],
            "<a>1</a><b><item>1</item><item>2</item></b>",
            {"a": 1, "b": (1, 2)},
        ),
    ],
)
def test_004_22_tags_within_tags_become_what_the_field_says(
    kind: Any, body: str, expected: Any
) -> None:
    if kind is Order:
        with pytest.raises(AdapterParseError, match="order name: Field required"):
            XML.parse(one(kind), f"<value>{body}</value>")
    else:
        assert XML.parse(one(kind), f"<value>{body}</value>") == {"value": expected}


def test_004_22_a_field_is_read_by_its_name_and_by_its_alias() -> None:
    for tag in ("<name>x</name>", '<entry key="order name">x</entry>'):
        found = XML.parse(one(Order), f"<value>{tag}</value>")["value"]
        assert found.name == "x"


@pytest.mark.parametrize(
    ("kind", "body", "complaint"),
    [
        (list[str], "<item>a</item><item>b", "'value' has a <item> that is never closed"),
        (list[str], "<item>a</item> and more", "'value' has text between its tags"),
        (list[str], '["a", "b', "'value' must be list"),
        (list[int], "<item>1</item><item>x</item>", "'value.1' must be int, not 'x'"),
        (Label, "<text>a</text><text>b</text>", "'value.text' is there 2 times"),
        (Label, "<colour>r</colour>", "text: Field required"),
        (Label | int, "<colour>r</colour>", "text: Field required"),
        (Label | int, "words", "'value' must be Label | int"),
        (
            list[dict[str, Any]],
            "<item>" * 2_000 + "</item>" * 2_000,
            "'value' is nested too deeply",
        ),
    ],
)
def test_004_22_parts_that_are_not_whole_or_do_not_fit_are_refused(
    kind: Any, body: str, complaint: str
) -> None:
    with pytest.raises(AdapterParseError) as caught:
        XML.parse(one(kind), f"<value>{body}</value>")
    assert complaint in str(caught.value)


def test_004_22_what_was_cut_is_missing_however_many_parts_are_whole() -> None:
    with pytest.raises(AdapterParseError, match="Reply with"):
        XML.parse(one(list[str]), "<value><item>a</item><item>b</item>")


def test_004_25_a_text_that_holds_its_own_end_tag_is_refused_and_read_where_it_is_escaped() -> None:
    signature = Signature.parse("-> a, b")
    written = XML.format_assistant_message_content(signature, {"a": "x </a> & y", "b": "z"})
    assert "x &lt;/a> &amp; y" in written
    assert XML.parse(signature, written) == {"a": "x </a> & y", "b": "z"}
    with pytest.raises(AdapterParseError, match="Failed to parse XML: the text of <a> holds </a>"):
        XML.parse(signature, "<a>x </a> & y</a><b>z</b>")
    assert XML.parse(signature, "<a>x <a>inner</a> y</a><b />") == {
        "a": "x <a>inner</a> y",
        "b": "",
    }


def test_004_22_a_name_may_stand_within_a_value_of_the_same_name() -> None:
    class Answer(BaseModel):
        answer: str
        sources: list[str]

    signature = Signature.parse("-> sources: list[str]").append(one(Answer).parts[0])
    text = (
        "I write <value> now.\n<value><answer>yes</answer><sources>a</sources></value>\n"
        "<sources><item>b</item></sources><sources><item>c</item></sources>"
    )
    assert XML.parse(signature, text) == {
        "value": Answer(answer="yes", sources=["a"]),
        "sources": ["b"],
    }


def test_004_29_the_structure_of_a_value_is_shown_with_the_schema_of_its_parts() -> None:
    shown = XML.format_field_structure(one(Order))
    assert '<counts><entry key="NAME"><item>...</item></entry></counts>' in shown
    assert "<size><width>...</width><note>...</note></size>" in shown
    assert "<within><item>...</item></within></value>" in shown
    assert "<choice><text>...</text><colour>...</colour></choice>" in shown
    assert "The parts of `value`, each in its tags, adhere to the JSON schema {" in shown
    assert '"order name"' not in shown
    assert "{value}" in XML.format_field_structure(one(str))


def test_004_22_a_list_of_programs_is_written_between_fences() -> None:
    """Such a list has a form of its own: a block for each."""
    block = "```python\nx = a < b\n```"
    assert XML.parse(one(list[Code]), f"<value>\n{block}\n{block}\n</value>") == {
        "value": ["x = a < b", "x = a < b"]
    }


def test_004_22_a_value_that_does_not_have_its_type_is_written_all_the_same() -> None:
    """As a demo may have it."""
    assert write_value("v", {"a": "x", "b": None}, dict[str, int]) == (
        '<v><entry key="a">x</entry><entry key="b">null</entry></v>'
    )
    assert write_value("v", {"more": [1]}, Label) == "<v><more>[1]</more></v>"
    assert write_value("v", {"gone": "x"}, Gone) == "<v><gone>x</gone></v>"
    signature = one(list[str])
    assert XML.format_assistant_message_content(signature, {}, "Not there.") == (
        "<value>\nNot there.\n</value>"
    )


def test_004_22_an_element_without_text_is_nothing_or_all_that_is_empty() -> None:
    empty = Element("v", "", "", 0, 0)
    assert read_element(empty, "v", list[str] | None) is None
    assert read_element(empty, "v", list[str] | dict[str, int]) == []
