"""Tool calls in the shapes services send them in, over a real socket."""

from __future__ import annotations

from typing import Any

import pytest
from asking import RUN_CELL, answer_to, prompt_of
from fake_service import (
    Answer,
    call_delta,
    chunk,
    raw_sse,
    text,
    tool_call,
    tool_calls,
)

from cellwright.llm.adapters.native import NativeAdapter
from cellwright.record.messages import AssistantMessage, Reply, TextPart, ToolCall, ToolMessage


def streamed(*deltas: dict[str, Any], finish: str | None = "tool_calls") -> Answer:
    """A stream of these deltas."""
    return raw_sse([*(chunk(delta) for delta in deltas), chunk({}, finish)])


def calls_of(reply: Reply) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in reply.message.tool_calls]


def test_arguments_sent_as_an_object_are_taken_as_json_text() -> None:
    """M3"""
    call = {"index": 0, "id": "c", "function": {"name": "run_cell", "arguments": {"code": "1"}}}
    reply = answer_to([streamed({"tool_calls": [call]})])
    (parsed,) = NativeAdapter().parse_reply(reply, (RUN_CELL,)).calls
    assert parsed.arguments == {"code": "1"}


def test_parallel_calls_come_in_the_order_given() -> None:
    """M6"""
    reply = answer_to([tool_calls([("a", {"n": 1}), ("b", {"n": 2}), ("c", {"n": 3})])])
    assert [name for name, _ in calls_of(reply)] == ["a", "b", "c"]


def test_calls_that_all_have_index_0_are_told_apart_by_their_ids() -> None:
    """M7"""
    reply = answer_to(
        [
            streamed(
                call_delta(0, id="x", name="run_cell", arguments='{"code": "1"}'),
                call_delta(0, id="y", name="run_cell", arguments='{"code": '),
                call_delta(0, arguments='"2"}'),
            )
        ]
    )
    assert calls_of(reply) == [("run_cell", '{"code": "1"}'), ("run_cell", '{"code": "2"}')]


def test_calls_that_all_have_index_0_are_told_apart_by_their_names() -> None:
    """M7"""
    reply = answer_to(
        [streamed(call_delta(0, name="a", arguments="{}"), call_delta(0, name="b", arguments="{}"))]
    )
    assert calls_of(reply) == [("a", "{}"), ("b", "{}")]


def test_calls_without_an_index_are_taken_by_their_position() -> None:
    """M8"""
    first = call_delta(None, id="x", name="a", arguments='{"n": 1}')["tool_calls"]
    second = call_delta(None, id="y", name="a", arguments='{"n": 2}')["tool_calls"]
    reply = answer_to([streamed({"tool_calls": first + second})])
    assert calls_of(reply) == [("a", '{"n": 1}'), ("a", '{"n": 2}')]


@pytest.mark.parametrize("missing", [None, ""])
def test_a_call_without_an_id_gets_one(missing: str | None) -> None:
    """M9"""
    reply = answer_to([streamed(call_delta(0, id=missing, name="a", arguments="{}"))])
    (call,) = reply.message.tool_calls
    assert call.id.startswith("call_")
    assert len(call.id) > len("call_")


def test_calls_with_the_same_id_get_ids_of_their_own() -> None:
    """M10"""
    reply = answer_to(
        [
            streamed(
                call_delta(0, id="x", name="a", arguments="{}"),
                call_delta(1, id="x", name="b", arguments="{}"),
            )
        ]
    )
    first, second = reply.message.tool_calls
    assert (first.id, first.name, second.name) == ("x", "a", "b")
    assert second.id != "x"


def test_an_id_used_in_an_earlier_turn_is_replaced() -> None:
    """M10"""
    earlier = AssistantMessage("", (ToolCall("call_1", "a", "{}"),))
    result = ToolMessage("call_1", "a", (TextPart("done"),))
    reply = answer_to([tool_call("a", {})], prompt_of("go", earlier, result))
    assert reply.message.tool_calls[0].id != "call_1"


def test_an_id_and_a_name_repeated_in_every_piece_are_one_call() -> None:
    """M7, M9: as llama.cpp's Python server sends them"""
    pieces = ['{"co', 'de": "', '1"}', ""]
    deltas = [call_delta(0, id="x", name="run_cell", arguments=piece) for piece in pieces]
    assert calls_of(answer_to([streamed(*deltas)])) == [("run_cell", '{"code": "1"}')]


def test_the_older_function_call_is_a_call() -> None:
    """M8, M9"""
    reply = answer_to(
        [
            streamed(
                {"function_call": {"name": "a", "arguments": '{"n"'}},
                {"function_call": {"arguments": ": 1}"}},
                finish="function_call",
            )
        ]
    )
    assert calls_of(reply) == [("a", '{"n": 1}')]
    assert reply.finish_reason == "tool_calls"


def test_calls_count_even_if_the_reason_to_finish_is_stop() -> None:
    """M11"""
    reply = answer_to([tool_call("run_cell", {"code": "1"}, finish="stop")])
    assert len(NativeAdapter().parse_reply(reply, (RUN_CELL,)).calls) == 1


def test_the_reason_tool_calls_without_any_is_an_empty_reply() -> None:
    """M12"""
    reply = answer_to([text("", finish="tool_calls")])
    assert NativeAdapter().parse_reply(reply, ()).problem == "empty"


def test_text_cut_at_the_length_limit_is_kept_and_marked() -> None:
    """M13"""
    reply = answer_to([text("Half an ans", finish="length")])
    assert (reply.message.text, reply.truncated) == ("Half an ans", True)


def test_calls_cut_at_the_length_limit_are_never_run() -> None:
    """M14: not even one whose arguments happen to be whole"""
    calls = [("run_cell", '{"code": "1"}'), ("run_cell", '{"code": "import sh')]
    reply = answer_to([tool_calls(calls, finish="length")])
    parsed = NativeAdapter().parse_reply(reply, (RUN_CELL,)).calls
    assert all("cut off" in call.error and not call.arguments for call in parsed)
    assert len(parsed) == 2
