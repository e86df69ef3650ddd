"""Fields in the three ways to write them: what is written is read back, byte for byte."""

from __future__ import annotations

import enum
from typing import Any, Literal

import pytest
from field_adapters import ADAPTERS, CODE, QA
from hypothesis import example, given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager
from pydantic import BaseModel

from cellwright.adapters.chat_fields import ChatFields
from cellwright.adapters.fences import fenced, fences, only_fence
from cellwright.adapters.field_adapter import FieldAdapter
from cellwright.adapters.field_values import validated
from cellwright.adapters.json_fields import JsonFields, response_format
from cellwright.adapters.parse_errors import AdapterParseError
from cellwright.adapters.sections import quoted, read_sections, unquoted, write_sections
from cellwright.adapters.tags import cdata, read_body
from cellwright.adapters.xml_fields import XmlFields
from cellwright.signatures import MISSING, Code, Field, Signature

NASTY = [
    "",
    "\n",
    "    indented = 1\n    b = 2",
    "x = 1\r\n\ty = 2\x0b\u2028z",
    "print('[[ ## answer ## ]]')\n[[ ## completed ## ]]\n",
    "```python\nx\n```",
    "text\n````\nnever closed",
    "~~~\n[[ ## code ## ]]",
    "```verbatim\ninside\n```",
    "a<b and c & d",
    "</code><answer>&lt;",
    "<![CDATA[ x ]]> ]]>",
    '{"code": "x"}',
    "\\n \\u0041 'q' \"d\"",
]
PIECES = st.sampled_from(
    [*NASTY, "[[ ## code ## ]]", "```", "~~~", "</answer>", "]]>", "&amp;", " ", "\n", "\t"]
)
CHARACTERS = st.characters(exclude_categories=["Cs"])
CODE_TEXT = st.lists(PIECES | st.text(CHARACTERS, max_size=12), max_size=6).map("".join)
INSTANCES = [cls() for cls in ADAPTERS]


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Point(BaseModel):
    x: int
    y: int = 0


def one(kind: Any, default: Any = MISSING) -> Signature:
    return Signature((Field("value", "output", kind, default=default),), "Do.")


def read(adapter: FieldAdapter, kind: Any, text: str) -> Any:
    return adapter.parse(one(kind), adapter.write_outputs({"value": text}, one(kind)))["value"]


@pytest.mark.parametrize("adapter", INSTANCES)
@given(code=CODE_TEXT, answer=CODE_TEXT)
@example(code=NASTY[2], answer=NASTY[4])
@example(code="```", answer="x")
def test_004_20_code_and_text_survive_byte_for_byte(
    adapter: FieldAdapter, code: str, answer: str
) -> None:
    values = {"code": Code(code), "answer": answer}
    written = adapter.format_assistant_message_content(CODE, values)
    assert adapter.parse(CODE, written) == values


@pytest.mark.parametrize("adapter", INSTANCES)
@pytest.mark.parametrize("code", NASTY)
def test_004_20_nasty_code_survives(adapter: FieldAdapter, code: str) -> None:
    values = {"code": Code(code), "answer": code}
    written = adapter.format_assistant_message_content(CODE, values)
    assert adapter.parse(CODE, written) == values


def chat(text: str) -> dict[str, Any]:
    return ChatFields().parse(CODE, text)


def test_004_20a_the_first_line_keeps_its_indentation() -> None:
    """dspy strips it, and the code does not compile any more."""
    code = chat("[[ ## code ## ]]\n    a = 1\n    b = 2\n\n[[ ## answer ## ]]\nx")["code"]
    assert code == "    a = 1\n    b = 2"
    compile(TransformerManager().transform_cell(code), "cell", "exec")


def test_004_20b_a_header_in_the_middle_of_a_line_is_a_header() -> None:
    found = chat("[[ ## code ## ]]\nx = 1 [[ ## answer ## ]] done[[ ## completed ## ]]")
    assert (found["code"].rstrip(), found["answer"]) == ("x = 1", "done")


def test_004_20c_an_indented_header_leaves_nothing_behind() -> None:
    found = chat("  [[ ## code ## ]]\nx = 1\n  [[ ## answer ## ]]\n  yes\n  [[ ## completed ## ]]")
    assert found == {"code": "x = 1", "answer": "  yes"}


def test_004_20d_only_fields_are_headers() -> None:
    code = "s = '''\n[[ ## word ## ]]\n'''"
    assert chat(f"[[ ## code ## ]]\n{code}\n\n[[ ## answer ## ]]\nx")["code"] == code


def test_004_20d_between_fences_nothing_is_a_header() -> None:
    code = "s = '''\n[[ ## answer ## ]]\n'''"
    found = chat(f"[[ ## code ## ]]\n```python\n{code}\n```\n\n[[ ## answer ## ]]\nx")
    assert found == {"code": code, "answer": "x"}


def test_004_20e_fences_are_taken_off_program_text_and_left_on_text() -> None:
    block = "```python\n  x = 1\n```"
    found = chat(f"[[ ## code ## ]]\nHere:\n{block}\n\n[[ ## answer ## ]]\n{block}")
    assert found == {"code": "  x = 1", "answer": block}


def test_004_20_the_first_of_two_wins_or_the_last_where_asked() -> None:
    text = "[[ ## code ## ]]\n1\n[[ ## code ## ]]\n2\n[[ ## answer ## ]]\nx"
    assert chat(text)["code"] == "1"
    adapter = ChatFields()
    adapter.last_wins = True
    assert adapter.parse(CODE, text)["code"] == "2"


def test_004_20_words_before_the_first_header_are_no_field() -> None:
    assert chat("Sure!\n[[ ## code ## ]]\n1\n[[ ## answer ## ]]\nx")["code"] == "1"


@pytest.mark.parametrize("adapter", INSTANCES)
def test_004_20_all_complaints_are_told_at_once(adapter: FieldAdapter) -> None:
    signature = Signature.parse("-> a: int, b: float, c")
    written = adapter.write_outputs({"b": "much", "c": "fine"}, signature)
    with pytest.raises(AdapterParseError) as caught:
        adapter.parse(signature, written)
    assert "'a' is missing" in str(caught.value)
    assert "'b' must be float, not 'much'" in str(caught.value)
    assert caught.value.parsed_result == {"c": "fine"}
    assert caught.value.lm_response == written
    assert caught.value.adapter_name == type(adapter).__name__


@pytest.mark.parametrize("adapter", INSTANCES)
def test_004_20_a_reply_without_any_field_says_what_is_wanted(adapter: FieldAdapter) -> None:
    with pytest.raises(AdapterParseError, match="Reply with"):
        adapter.parse(QA, "I do not know.")


@pytest.mark.parametrize("adapter", INSTANCES)
@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (Field("value", "output", str, default="d"), "d"),
        (Field("value", "output", str | None), None),
        (Field("value", "output", int, default=0), 0),
    ],
)
def test_004_21_a_missing_output_has_its_default(
    adapter: FieldAdapter, field: Field, expected: Any
) -> None:
    signature = Signature((field, Field("other", "output")))
    written = adapter.write_outputs({"other": "x"}, signature)
    assert adapter.parse(signature, written) == {"value": expected, "other": "x"}


def test_004_21_a_default_factory_is_called() -> None:
    from pydantic.fields import FieldInfo

    class Other:
        instructions = ""
        input_fields: dict[str, Any] = {}
        output_fields = {
            "a": FieldInfo(annotation=str),
            "b": FieldInfo(annotation=list[int], default_factory=list),
        }

    assert ChatFields().parse(Other(), "[[ ## a ## ]]\nx") == {"a": "x", "b": []}


@pytest.mark.parametrize("adapter", INSTANCES)
def test_004_21_no_text_at_all_may_leave_optional_outputs_out(adapter: FieldAdapter) -> None:
    if not isinstance(adapter, JsonFields):
        assert adapter.parse(one(str, "d"), "Nothing.") == {"value": "d"}


CASTS: list[tuple[Any, str, Any]] = [
    (str, "5", "5"),
    (int, "5", 5),
    (int, " 5 ", 5),
    (float, "1e3", 1000.0),
    (bool, "true", True),
    (bool, "False", False),
    (list[int], "[1, 2]", [1, 2]),
    (list[str], "['a', 'b']", ["a", "b"]),
    (dict[str, int], '```json\n{"a": 1}\n```', {"a": 1}),
    (Literal["low", "high"], '"low"', "low"),
    (Literal["low", "high"], "Literal['high']", "high"),
    (Literal[1, 2], "2", 2),
    (Colour, "b", Colour.BLUE),
    (Colour, "RED", Colour.RED),
    (Colour, "Colour.RED", Colour.RED),
    (Point, '{"x": 1}', Point(x=1)),
    (list[Point], '[{"x": 1, "y": 2}]', [Point(x=1, y=2)]),
    (int | None, "null", None),
    (int | None, "3", 3),
    (str | None, "5", "5"),
    (str | None, "None", None),
    (tuple[int, str], '[1, "a"]', (1, "a")),
    (Any, "free", "free"),
]


@pytest.mark.parametrize("adapter", [ChatFields(), XmlFields()])
@pytest.mark.parametrize(("kind", "text", "expected"), CASTS)
def test_004_22_text_becomes_what_the_field_says(
    adapter: FieldAdapter, kind: Any, text: str, expected: Any
) -> None:
    assert read(adapter, kind, text) == expected


@pytest.mark.parametrize(
    ("kind", "text", "culprit"),
    [
        (int, "three", "'value' must be int, not 'three'"),
        (int, "", "'value' must be int"),
        (list[int], "[1, 2", "'value' must be list[int]"),
        (list[int], "[1, 'x']", "1: Input should be a valid integer"),
        (Literal["low"], "middle", "'value' must be one of 'low', not 'middle'"),
        (Colour, "GREEN", "must be one of 'r', 'b'"),
        (Point, '{"y": 1}', "x: Field required"),
        (list[int], "[" * 3_000, "must be list[int]"),
    ],
)
def test_004_22_what_does_not_fit_names_its_field(kind: Any, text: str, culprit: str) -> None:
    with pytest.raises(AdapterParseError) as caught:
        read(ChatFields(), kind, text)
    assert culprit in str(caught.value)


@pytest.mark.parametrize("adapter", INSTANCES)
@pytest.mark.parametrize("value", [Colour.RED, Point(x=1, y=2), ["a"], 1.5, True, None, {"k": [1]}])
def test_004_22_values_are_written_so_that_they_are_read_back(
    adapter: FieldAdapter, value: Any
) -> None:
    kind = type(value) if value is not None else int | None
    signature = one(kind)
    written = adapter.format_assistant_message_content(signature, {"value": value})
    assert adapter.parse(signature, written) == {"value": value}


def test_004_22_sets_and_live_objects_are_written_as_what_json_knows() -> None:
    import pandas

    signature = Signature.parse("s: set[int], df: DataFrame -> a")
    table = pandas.DataFrame({"price": [1.0, 2.0]})
    written = ChatFields().format_user_message_content(signature, {"s": {1}, "df": table})
    assert "[1]" in written
    assert "price" in written
    assert "DataFrame" in written


def test_004_24_an_object_is_found_alone_in_a_fence_and_among_words() -> None:
    plain = '{"answer": "yes", "score": 1, "extra": {}}'
    for text in (plain, f"```json\n{plain}\n```", f"Well, {{so}}: {plain} That is it."):
        assert JsonFields().parse(QA, text) == {"answer": "yes", "score": 1.0}
    assert JsonFields().parse(QA, "{'answer': 'yes', 'score': None or 1}".replace("None or ", ""))


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "yes", "score": 0.',
        '{"answer": "yes',
        '{"answer": "yes", "score": 1',
        '{"other": {"answer": "inner", "score": 1}, "answer": "cu',
        "[1, 2]",
        '{"other": 1}',
        "{" * 5_000,
        '{"answer": ' + "[" * 200_000,
    ],
)
def test_004_24_an_object_that_was_cut_off_is_not_completed(text: str) -> None:
    with pytest.raises(AdapterParseError, match="JSON object"):
        JsonFields().parse(QA, text)


def test_004_24_json_values_are_checked_too() -> None:
    signature = Signature.parse("-> n: int, k: Literal['a'], c: Code, codes: list[Code]")
    good = '{"n": 1, "k": "a", "c": "  x", "codes": ["y"]}'
    found = JsonFields().parse(signature, good)
    assert found == {"n": 1, "k": "a", "c": "  x", "codes": ["y"]}
    with pytest.raises(AdapterParseError, match="'n' must be int"):
        JsonFields().parse(signature, good.replace("1", "[]"))
    with pytest.raises(AdapterParseError, match="'c' must be"):
        JsonFields().parse(signature, good.replace('"  x"', "3"))


def test_004_24_the_schema_asks_for_all_fields_and_no_others() -> None:
    signature = Signature(
        (Field("p", "output", Point), Field("code", "output", Code), Field("n", "output", int))
    )
    made = response_format(signature)["json_schema"]
    assert made["strict"] is True
    nested = response_format(Signature.parse("-> x").append(Field("l", "output", list[Point])))
    point = nested["json_schema"]["schema"]["$defs"]["Point"]
    assert (point["required"], point["additionalProperties"]) == (["x", "y"], False)
    assert made["name"] == "p_code_n"
    assert made["schema"]["required"] == ["p", "code", "n"]
    assert made["schema"]["additionalProperties"] is False
    assert made["schema"]["properties"]["p"]["required"] == ["x", "y"]
    assert made["schema"]["properties"]["code"] == {"type": "string"}
    assert response_format(signature) == response_format(signature)


@pytest.mark.parametrize("kind", ["dict", "dict[str, int]", "list[dict]"])
def test_004_24_an_open_dictionary_asks_for_any_object(kind: str) -> None:
    assert response_format(Signature.parse(f"-> d: {kind}")) == {"type": "json_object"}


def test_004_24_a_live_object_goes_by_its_name() -> None:
    made = response_format(Signature.parse("-> best: DataFrame"))["json_schema"]["schema"]
    assert made["properties"] == {"best": {"type": "string"}}
    assert ChatFields().parse(
        Signature.parse("-> best: DataFrame"), "[[ ## best ## ]]\n top\n"
    ) == {"best": "top"}
    assert JsonFields().parse(Signature.parse("-> best: DataFrame"), '{"best": "top"}') == {
        "best": "top"
    }


@pytest.mark.parametrize("code", ["a<b and c & d", "x = '</answer>'", "if a < b: pass\n", "&lt;"])
def test_004_25_program_text_needs_no_escaping(code: str) -> None:
    """An XML parser refuses it; so do dspy's adapters."""
    found = XmlFields().parse(CODE, f"<code>\n{code}\n</code>\n<answer>x</answer>")
    assert found == {"code": code, "answer": "x"}


def test_004_25_an_end_tag_inside_a_string_does_not_end_the_value() -> None:
    code = "s = '</code> x'\nt = 1"
    found = XmlFields().parse(CODE, f"<code>\n{code}\n</code>\n\n<answer>x</answer> bye")
    assert found["code"] == code


def test_004_25_escaped_text_is_read_and_loose_text_is_left() -> None:
    assert read_body("a &lt; b &amp;&amp; c") == "a < b && c"
    assert read_body("a &lt; b & c") == "a &lt; b & c"
    assert read_body("a &lt; b", raw=True) == "a &lt; b"
    assert read_body("<![CDATA[x]]> y") == "<![CDATA[x]]> y"
    assert read_body("<![CDATA[x]]> <![CDATA[y]]>") == "<![CDATA[x]]> <![CDATA[y]]>"


def test_004_25_an_element_that_is_never_closed_is_missing() -> None:
    with pytest.raises(AdapterParseError, match="'answer' is missing"):
        XmlFields().parse(CODE, "<answer>cut <code>x</code>")


@given(CODE_TEXT)
def test_004_25_cdata_is_read_back(text: str) -> None:
    assert read_body(f"\n{cdata(text)}\n") == text


def test_004_31_several_fences_are_several_programs() -> None:
    signature = Signature.parse("-> cells: list[Code], one: Code")
    blocks = "```python\nx = 1\n```\nthen\n```\ny = 2\n```"
    found = ChatFields().parse(signature, f"[[ ## cells ## ]]\n{blocks}\n[[ ## one ## ]]\n{blocks}")
    assert found == {"cells": ["x = 1", "y = 2"], "one": "x = 1\n\ny = 2"}
    assert all(type(cell) is Code for cell in found["cells"])


@given(CODE_TEXT)
def test_fences_give_back_what_they_hold(text: str) -> None:
    block = only_fence(fenced(text, "python"))
    assert block is not None
    assert (block.content, block.info) == (text, "python")
    assert len(list(fences(f"before\n{fenced(text)}\nafter"))) == 1


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), CODE_TEXT), min_size=1))
def test_sections_give_back_what_they_hold(pairs: list[tuple[str, str]]) -> None:
    written = write_sections([*((name, quoted(text)) for name, text in pairs), ("end", "")])
    found = read_sections(written, {"a", "b", "end"}.__contains__)
    assert [(s.name, unquoted(s.text), s.is_closed) for s in found] == [
        *((name, text, True) for name, text in pairs),
        ("end", "", False),
    ]


def test_text_without_headers_is_one_section() -> None:
    assert read_sections("  \n", lambda name: True) == ()
    (section,) = read_sections("hello", lambda name: True)
    assert (section.name, section.text) == ("", "hello")


class Own:
    """A class pydantic knows nothing of."""

    def __repr__(self) -> str:
        return "<own>"


def test_004_22_rules_say_what_a_value_must_look_like() -> None:
    signature = Signature.parse(
        "-> a: bool, b: int, c: float, d: list[int], e: Literal['x'], f: DataFrame, g: Code, h"
    )
    shown = ChatFields().format_field_structure(signature)
    for rule in (
        "{a}   (must be true or false)",
        "{b}   (must be one whole number and nothing else)",
        "{c}   (must be one number and nothing else)",
        '{d}   (must be JSON that fits {"items": {"type": "integer"}, "type": "array"})',
        "{e}   (must be one of: x)",
        "{f}   (must be the name of a variable that holds a DataFrame)",
        "{g}\n",
        "{h}\n",
    ):
        assert rule in shown


def test_004_22_a_class_of_the_persons_own_is_written_as_a_summary() -> None:
    signature = Signature((Field("own", "input", Own), Field("a", "output", Own)))
    assert "<own>" in ChatFields().format_user_message_content(signature, {"own": Own()})
    assert "(must" not in ChatFields().format_field_structure(signature)
    properties = response_format(signature)["json_schema"]["schema"]["properties"]
    assert properties == {"a": {"type": "string"}}
    with pytest.raises(AdapterParseError, match="'a' must be Own, which text cannot say"):
        ChatFields().parse(signature, "[[ ## a ## ]]\nx")


def test_004_22_descriptions_are_shown_and_placeholders_are_not() -> None:
    signature = Signature((Field("a", "output", str, "What is left."), Field("b", "output")))
    shown = ChatFields().format_field_description(signature)
    assert "1. `a` (str): What is left.\n2. `b` (str)" in shown


def test_004_24_json_in_which_an_enum_stands() -> None:
    signature = one(Colour)
    assert JsonFields().parse(signature, '{"value": "b"}') == {"value": Colour.BLUE}
    assert response_format(signature)["type"] == "json_schema"


def test_004_24_python_spelling_of_another_object_is_no_reply() -> None:
    with pytest.raises(AdapterParseError, match="no JSON object"):
        JsonFields().parse(QA, "{'other': 1}")


def test_004_22_values_with_a_form_of_their_own_are_written_in_it() -> None:
    class Program:
        def format(self) -> str:
            return "x = 1"

    signature = Signature.parse("p, l: list, e -> a")
    written = ChatFields().format_user_message_content(
        signature, {"p": Program(), "l": [Program(), Colour.RED, Point(x=1)], "e": Colour.BLUE}
    )
    assert "[[ ## p ## ]]\nx = 1" in written
    assert '["x = 1", "r", {"x": 1, "y": 0}]' in written
    assert "[[ ## e ## ]]\nb" in written


def test_004_22_a_value_that_is_an_enum_already_is_taken() -> None:
    assert validated(Colour.RED, "value", Colour) is Colour.RED
    assert validated("RED", "value", Colour) is Colour.RED
