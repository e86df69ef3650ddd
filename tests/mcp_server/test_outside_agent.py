from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from cellwright.errors import RunCancelled
from cellwright.mcp_server.outside_agent import LIMIT, OutsideAgent, OutsideCall
from cellwright.record.messages import Manifest, Parameters, Prompt, Reply
from cellwright.stopping import Stop

TOOLS = (Manifest("run_cell", "Run.", {"type": "object"}),)


def reply_of(stream: Generator[Any, None, Reply]) -> Reply:
    while True:
        try:
            next(stream)
        except StopIteration as ended:
            reply: Reply = ended.value
            return reply


def asked(*, with_tools: bool = True) -> Prompt:
    return Prompt((), TOOLS if with_tools else (), Parameters("agent"))


def test_the_next_call_is_the_next_reply() -> None:
    agent = OutsideAgent(lambda: "agent/1")
    call = OutsideCall(1, "run_cell", {"code": "é"})
    assert agent.put(call)
    reply = reply_of(agent.stream(asked(), Stop()))
    assert (reply.message.tool_calls, reply.model) == ((call.call,), "agent/1")
    assert agent.current is call
    assert call.call.arguments == '{"code": "é"}'
    assert agent.capabilities("agent").vision


def test_a_run_without_a_call_for_long_has_ended() -> None:
    reply = reply_of(OutsideAgent(lambda: "a", idle_seconds=0.05).stream(asked(), Stop()))
    assert reply.message.text.startswith("The client called no further tool")


def test_a_last_turn_without_tools_is_not_waited_for() -> None:
    reply = reply_of(OutsideAgent(lambda: "a").stream(asked(with_tools=False), Stop()))
    assert reply.message.text == LIMIT


def test_a_stop_ends_the_waiting() -> None:
    stop = Stop()
    stop.set("stopped by a test")
    with pytest.raises(RunCancelled, match="stopped by a test"):
        reply_of(OutsideAgent(lambda: "a").stream(asked(), stop))


def test_nothing_is_called_after_the_end() -> None:
    agent = OutsideAgent(lambda: "a")
    agent.close()
    assert not agent.put(OutsideCall(1, "run_cell", {}))
    assert agent.next_call() is None
    agent.fail("nobody waits")


def test_a_cancelled_call_is_passed_over() -> None:
    agent = OutsideAgent(lambda: "a")
    first, second, third = (OutsideCall(n, "run_cell", {}) for n in range(3))
    for call in (first, second, third):
        agent.put(call)
    first.is_cancelled = second.is_cancelled = True
    assert agent.next_call() is third
    agent.put(first)
    assert reply_of(agent.stream(asked(), Stop())).message.tool_calls == (third.call,)


def test_the_first_answer_of_a_call_stays() -> None:
    call = OutsideCall(1, "run_cell", {})
    call.fail("one.")
    call.fail("two.")
    message = call.message
    assert message is not None
    assert message.is_error
    assert "one." in str(message.parts)
