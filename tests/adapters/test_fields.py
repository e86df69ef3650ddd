"""Fields in the three ways to write them: what is written is read back, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
from field_adapters import ADAPTERS, CODE, CODE_TEXT, NASTY, QA, Colour, Point, one
from hypothesis import example, given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter, response_format
from cellwright.llm.adapters.sections import (
    fences,
    only_fence,
    quoted,
    read_sections,
    unquoted,
    write_sections,
)
from cellwright.llm.adapters.signature_adapter import AdapterParseError, FieldAdapter
from cellwright.llm.adapters.tags import cdata, read_body
from cellwright.llm.adapters.xml import XMLAdapter
from cellwright.llm.signatures import Code, Field, Signature
from cellwright.text.cleaning import fenced

INSTANCES = [cls() for cls in ADAPTERS]


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
    return ChatAdapter().parse(CODE, text)


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
    adapter = ChatAdapter()
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


def test_004_24_an_object_is_found_alone_in_a_fence_and_among_words() -> None:
    plain = '{"answer": "yes", "score": 1, "extra": {}}'
    for text in (plain, f"```json\n{plain}\n```", f"Well, {{so}}: {plain} That is it."):
        assert JSONAdapter().parse(QA, text) == {"answer": "yes", "score": 1.0}
    assert JSONAdapter().parse(QA, "{'answer': 'yes', 'score': None or 1}".replace("None or ", ""))


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
        JSONAdapter().parse(QA, text)


def test_004_24_json_values_are_checked_too() -> None:
    signature = Signature.parse("-> n: int, k: Literal['a'], c: Code, codes: list[Code]")
    good = '{"n": 1, "k": "a", "c": "  x", "codes": ["y"]}'
    found = JSONAdapter().parse(signature, good)
    assert found == {"n": 1, "k": "a", "c": "  x", "codes": ["y"]}
    with pytest.raises(AdapterParseError, match="'n' must be int"):
        JSONAdapter().parse(signature, good.replace("1", "[]"))
    with pytest.raises(AdapterParseError, match="'c' must be"):
        JSONAdapter().parse(signature, good.replace('"  x"', "3"))


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
    assert ChatAdapter().parse(
        Signature.parse("-> best: DataFrame"), "[[ ## best ## ]]\n top\n"
    ) == {"best": "top"}
    assert JSONAdapter().parse(Signature.parse("-> best: DataFrame"), '{"best": "top"}') == {
        "best": "top"
    }


@pytest.mark.parametrize("code", ["a<b and c & d", "x = '</answer>'", "if a < b: pass\n", "&lt;"])
def test_004_25_program_text_needs_no_escaping(code: str) -> None:
    """An XML parser refuses it; so do dspy's adapters."""
    found = XMLAdapter().parse(CODE, f"<code>\n{code}\n</code>\n<answer>x</answer>")
    assert found == {"code": code, "answer": "x"}


def test_004_25_an_end_tag_inside_a_string_does_not_end_the_value() -> None:
    code = "s = '</code> x'\nt = 1"
    found = XMLAdapter().parse(CODE, f"<code>\n{code}\n</code>\n\n<answer>x</answer> bye")
    assert found["code"] == code


def test_004_25_escaped_text_is_read_and_loose_text_is_left() -> None:
    assert read_body("a &lt; b &amp;&amp; c") == "a < b && c"
    assert read_body("a &lt; b & c") == "a &lt; b & c"
    assert read_body("a &lt; b", raw=True) == "a &lt; b"
    assert read_body("<![CDATA[x]]> y") == "<![CDATA[x]]> y"
    assert read_body("<![CDATA[x]]> <![CDATA[y]]>") == "<![CDATA[x]]> <![CDATA[y]]>"


def test_004_25_an_element_that_is_never_closed_is_missing() -> None:
    with pytest.raises(AdapterParseError, match="'answer' is missing"):
        XMLAdapter().parse(CODE, "<answer>cut <code>x</code>")


@given(CODE_TEXT)
def test_004_25_cdata_is_read_back(text: str) -> None:
    assert read_body(f"\n{cdata(text)}\n") == text


def test_004_31_several_fences_are_several_programs() -> None:
    signature = Signature.parse("-> cells: list[Code], one: Code")
    blocks = "```python\nx = 1\n```\nthen\n```\ny = 2\n```"
    found = ChatAdapter().parse(
        signature, f"[[ ## cells ## ]]\n{blocks}\n[[ ## one ## ]]\n{blocks}"
    )
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


def test_004_24_json_in_which_an_enum_stands() -> None:
    signature = one(Colour)
    assert JSONAdapter().parse(signature, '{"value": "b"}') == {"value": Colour.BLUE}
    assert response_format(signature)["type"] == "json_schema"


def test_004_24_python_spelling_of_another_object_is_no_reply() -> None:
    with pytest.raises(AdapterParseError, match="no JSON object"):
        JSONAdapter().parse(QA, "{'other': 1}")
