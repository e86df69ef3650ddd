"""Tools as native function calls: reading what the model wrote."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from asking import RUN_CELL, prompt_of
from hypothesis import given
from hypothesis import strategies as st

from cellwright.llm.adapters import ParsedCall
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.record.messages import AssistantMessage, Manifest, Reply, ToolCall, Usage

ANYTHING = Manifest("anything", "Takes anything.", {"type": "object"})
DEEP = Manifest(
    "deep",
    "Takes a list.",
    {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"type": "integer"}}, "n": {"const": 1}},
    },
)
TOOLS = (RUN_CELL, ANYTHING, DEEP)


def reply_of(*calls: tuple[str, str], text: str = "", **fields: Any) -> Reply:
    made = tuple(ToolCall(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(calls))
    return Reply(AssistantMessage(text, made, **fields), "stop", Usage(), "big")


def parsed(arguments: str, name: str = "run_cell") -> ParsedCall:
    (call,) = NativeAdapter().parse_reply(reply_of((name, arguments)), TOOLS).calls
    return call


def test_a_prompt_is_sent_as_it_is() -> None:
    prompt = prompt_of("hi", tools=TOOLS)
    assert NativeAdapter().format_prompt(prompt.messages, prompt.tools, prompt.parameters) == prompt


def test_arguments_are_read() -> None:
    call = parsed('{"code": "x = 1\\n", "timeout": 2.5}')
    assert call.arguments == {"code": "x = 1\n", "timeout": 2.5}
    assert call.error == ""


@given(
    st.dictionaries(st.text(), st.integers() | st.text(st.characters(exclude_categories=["Cs"])))
)
def test_arguments_come_back_as_they_were_written(arguments: dict[str, Any]) -> None:
    if all(key.isprintable() for key in arguments):
        assert parsed(json.dumps(arguments), "anything").arguments == arguments


def test_arguments_encoded_twice_are_read_once_more() -> None:
    """M3"""
    assert parsed(json.dumps(json.dumps({"code": "1"}))).arguments == {"code": "1"}


def test_arguments_encoded_three_times_are_refused() -> None:
    """M3"""
    thrice = json.dumps(json.dumps(json.dumps({"code": "1"})))
    assert "not text" in parsed(thrice).error


def test_no_arguments_are_an_empty_object() -> None:
    assert parsed(" ", "anything") == ParsedCall(ToolCall("c0", "anything", " "), {})


@pytest.mark.parametrize(
    ("arguments", "position"),
    [('{"code": ', "character 8"), ('{"code": "import sh', "line 1, column 10"), ("{'a': 1}", "1")],
)
def test_broken_arguments_are_never_repaired(arguments: str, position: str) -> None:
    """M1"""
    call = parsed(arguments)
    assert position in call.error
    assert "'run_cell' are not valid JSON" in call.error
    assert call.arguments == {}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [("[1]", "a list"), ('"x"', "text"), ("null", "null"), ("5", "a number"), ("true", "true or")],
)
def test_arguments_that_are_no_object_are_refused(arguments: str, kind: str) -> None:
    """M2"""
    assert f"must be one JSON object, not {kind}" in parsed(arguments).error


@pytest.mark.parametrize("name", ["NaN", "Infinity"])
def test_numbers_that_json_does_not_have_are_refused(name: str) -> None:
    """M2"""
    assert f"hold {name}, which is not JSON" in parsed(f'{{"code": {name}}}').error


def test_arguments_that_go_too_deep_are_refused() -> None:
    """M2"""
    depth = 200_000
    assert "nested too deeply" in parsed('{"a": ' + "[" * depth + "]" * depth + "}").error


def test_a_missing_argument_is_named() -> None:
    """M5"""
    assert parsed("{}").error == (
        "The arguments of 'run_cell' do not fit: 'code' is a required property."
    )


def test_all_wrong_arguments_are_named_at_once() -> None:
    """M5"""
    call = parsed('{"code": 5, "timeout": "soon"}')
    assert "'code': 5 is not of type 'string'" in call.error
    assert "'timeout': 'soon' is not of type 'number'" in call.error


def test_the_place_of_a_wrong_item_is_named() -> None:
    """M5"""
    assert "'rows.1': 'b' is not of type 'integer'" in parsed('{"rows": [1, "b"]}', "deep").error


def test_rules_that_are_not_plain_are_left_to_the_library() -> None:
    """M5"""
    assert parsed('{"n": 1}', "deep").arguments == {"n": 1}
    assert "'n': 1 was expected" in parsed('{"n": 2}', "deep").error


def test_long_complaints_are_cut() -> None:
    """M5"""
    assert len(parsed(json.dumps({"code": ["x" * 10_000]})).error) < 400


def test_extra_arguments_are_dropped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """M5"""
    with caplog.at_level(logging.INFO):
        assert parsed('{"code": "1", "why": "because"}').arguments == {"code": "1"}
    assert "'why'" in caplog.text


def test_a_tool_that_takes_others_gets_them() -> None:
    """M5"""
    assert parsed('{"x": 1}', "anything").arguments == {"x": 1}


def test_the_arguments_of_an_unknown_tool_are_read_and_not_judged() -> None:
    """M4: the loop answers with the names there are"""
    assert parsed('{"x": 1}', "other") == ParsedCall(ToolCall("c0", "other", '{"x": 1}'), {"x": 1})


def test_half_surrogate_pairs_are_replaced_everywhere() -> None:
    """M23"""
    call = parsed('{"\\ud83d": ["\\ud83d", 1], "b": null}', "anything")
    mark = "\N{REPLACEMENT CHARACTER}"
    assert call.arguments == {mark: [mark, 1], "b": None}


def test_calls_of_a_reply_that_broke_off_are_not_run() -> None:
    """M14"""
    reply = Reply(reply_of(("run_cell", "{}")).message, "stop", Usage(), "big", truncated=True)
    assert "cut off" in NativeAdapter().parse_reply(reply, TOOLS).calls[0].error


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "run_cell", "arguments": {"code": "1"}}\n```',
        '```\n{"name": "run_cell", "parameters": {"code": "1"}}\n```',
        '<tool_call>\n{"name": "run_cell", "arguments": {"code": "1"}}\n</tool_call>',
        'So:\n<tool_call>{"name": "run_cell", "arguments": {}}',
        '{"name": "run_cell", "arguments": {"code": "1"}}',
        '{"type": "function", "function": {"name": "run_cell", "arguments": "{}"}}',
        '{"function": "run_cell", "args": {}}',
        '<function=run_cell>{"code": "1"}</function>',
    ],
)
def test_a_call_written_as_text_is_told(text: str) -> None:
    """M18"""
    found = NativeAdapter().parse_reply(reply_of(text=text), TOOLS)
    assert (found.problem, found.text) == ("tool call as text", text)


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 42.",
        '```json\n{"name": "Ada", "age": 36}\n```',
        '```json\n{"name": "run_cell"}\n```',
        "```json\n{broken}\n```",
        '{"month": "May"}',
        "<function=unknown>",
    ],
)
def test_an_answer_with_json_in_it_is_an_answer(text: str) -> None:
    """M18"""
    found = NativeAdapter().parse_reply(reply_of(text=text), TOOLS)
    assert (found.problem, found.text) == ("", text)


def test_without_tools_nothing_is_a_call() -> None:
    """M18"""
    text = '{"name": "run_cell", "arguments": {}}'
    assert NativeAdapter().parse_reply(reply_of(text=text), ()).problem == ""


def test_text_beside_calls_stays() -> None:
    found = NativeAdapter().parse_reply(
        reply_of(("run_cell", '{"code": "1"}'), text="I run it."), TOOLS
    )
    assert (found.text, found.problem) == ("I run it.", "")


def test_a_refusal_is_a_problem_with_the_words_of_the_model() -> None:
    """M15"""
    found = NativeAdapter().parse_reply(reply_of(refusal="I will not."), TOOLS)
    assert (found.problem, found.text) == ("refused", "I will not.")
