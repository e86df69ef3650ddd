"""Where a run ends, row by row: rounds, repetition, tools, length and the month's budget."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from dataclasses import replace

import pytest
from fake_service import FakeService, Request, Wire, error, tool_call
from fake_service import text as answer
from fakes import FakeKernel, make_context
from scripted_model import Answer, calls, says
from test_agent import Harness

from cellwright.agent.loop import run
from cellwright.agent.policy import Policy
from cellwright.agent.tool_calls import CallerParts, ToolCaller
from cellwright.demo.transcript import read_conversation
from cellwright.llm.budget import OUT_OF_STEPS, LimitReached, RunBudget
from cellwright.llm.openai import OpenAILM
from cellwright.record.content import text
from cellwright.record.events import RunFinished, ToolFinished
from cellwright.record.messages import (
    AssistantMessage,
    Parameters,
    Prompt,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.settings import Limits, ServiceSettings
from cellwright.stopping import Stop
from cellwright.tools import Component, ToolContext, ToolYield
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.notebook import RunCell
from cellwright.tools.registry import Registry, ToolSource, within_caps

NOTE = "Notice: 9 of 12 steps are used, 3 are left."


def rounds(count: int) -> list[Answer]:
    return [calls(("echo", {"word": str(number)}), start=number) for number in range(count)]


def told(harness: Harness) -> list[str]:
    results = [m for m in harness.history.messages if isinstance(m, ToolMessage)]
    said = [part.text for m in results for part in m.parts if isinstance(part, TextPart)]
    return [words for words in said if words.startswith("Notice: ")]


def test_x_14_there_are_twelve_rounds_and_then_a_summary_without_tools() -> None:
    harness = Harness([*rounds(12), says("What I did.")])
    finished = harness.run()
    assert (finished.status, finished.cause) == ("task limit reached", "step_limit")
    assert finished.answer == "What I did."
    assert [bool(prompt.tools) for prompt in harness.lm.prompts] == [True] * 12 + [False]


def test_a_cell_has_no_more_time_than_is_left_of_the_run() -> None:
    kernel, limits = FakeKernel(), Limits(wall_seconds=30)
    asked = [calls(("run_cell", {"code": "x", "timeout_seconds": 600})), says("done")]
    harness = Harness(asked, limits=limits)
    tools = ToolCaller(
        Registry([RunCell(SeenCells())]),
        Policy("auto", harness.person),
        replace(make_context(kernel), on_output=harness.parts.publisher.output),
        CallerParts(harness.parts.publisher, harness.parts.budget),
    )
    harness.parts = replace(harness.parts, tools=tools)
    assert harness.run().status == "completed"
    (request,) = kernel.requests
    assert request.timeout_seconds is not None
    assert 20 < request.timeout_seconds <= 30


def test_x_14_at_three_quarters_the_model_is_told_how_many_are_left_once() -> None:
    harness = Harness([*rounds(12), says("End.")])
    harness.run()
    (note,) = told(harness)
    assert note.startswith(NOTE)
    nine, ten = harness.lm.prompts[8], harness.lm.prompts[9]
    assert NOTE not in repr(nine.messages)
    last = ten.messages[-1]
    assert isinstance(last, ToolMessage), "words of ours behind a result some templates refuse"
    assert text_of(last).partition("</tool-result>\n")[2].startswith(NOTE), "and it is no data"
    assert ten.messages[: len(nine.messages)] == nine.messages


def test_what_asks_for_the_summary_stands_with_the_last_result() -> None:
    """A template that wants the model to speak after a result refuses the person's turn there."""

    def template(request: Request) -> Wire:
        roles = [message["role"] for message in request.body["messages"]]
        if ("tool", "user") in zip(roles, roles[1:], strict=False):
            return error(400, "After a tool result the assistant speaks.")(request)
        if request.body.get("tools"):
            return tool_call("echo", {"word": str(len(roles))})(request)
        assert OUT_OF_STEPS in request.body["messages"][-1]["content"]
        return answer("What I did.")(request)

    with FakeService(template) as service:
        harness = Harness([], limits=Limits(step_limit=3))
        parts = replace(harness.parts, lm=OpenAILM(service.settings()))
        events = list(run(parts, harness.history))
    assert isinstance(events[-1], RunFinished)
    assert (events[-1].cause, events[-1].answer) == ("step_limit", "What I did.")
    assert len(service.requests) == 4
    last = harness.history.messages[-2]
    assert isinstance(last, ToolMessage)
    sent = service.requests[-1].body["messages"][-1]["content"]
    assert sent.partition("</tool-result>")[2].strip() == OUT_OF_STEPS, "and it is no data"


@pytest.mark.parametrize(("limit", "steps"), [(3, ()), (4, (3,)), (8, (6,)), (10, (8,))])
def test_x_14_short_runs_are_told_nothing(limit: int, steps: tuple[int, ...]) -> None:
    budget = RunBudget(Limits(step_limit=limit))
    noted = []
    for step in range(1, limit + 1):
        budget.add(says("x"))
        if budget.note():
            noted.append(step)
    assert tuple(noted) == steps


def test_x_14_a_run_that_ends_with_that_round_is_told_nothing() -> None:
    script = [*rounds(2), calls(("submit", {"answer": "42"}), start=2)]
    harness = Harness(script, limits=Limits(step_limit=4))
    assert harness.run().status == "completed"
    assert told(harness) == []


def test_x_14_going_in_circles_ends_the_run_before_the_rounds_do() -> None:
    script: list[Answer] = [calls(("echo", {"word": "a"}), start=n) for n in range(9)]
    finished = Harness(script).run()
    assert (finished.status, finished.cause) == ("task limit reached", "repeated_calls")


def test_x_14_the_note_is_no_new_question_to_the_demo_model() -> None:
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "plot it"},
        {"role": "assistant", "tool_calls": [_call()]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
        {"role": "user", "content": NOTE},
    ]
    assert read_conversation(messages).prompt == "plot it"
    other: list[dict[str, object]] = [*messages[:-1], {"role": "user", "content": "and now?"}]
    assert read_conversation(other).prompt == "and now?"


def _call() -> dict[str, object]:
    return {"id": "c", "function": {"name": "run_cell", "arguments": "{}"}}


class Spent:
    """A budget that is used up after so many questions."""

    def __init__(self, free: int) -> None:
        self.free = free

    def reached(self) -> LimitReached | None:
        self.free -= 1
        return LimitReached("month_budget", "It is used up.") if self.free < 0 else None


@pytest.mark.parametrize("free", [0, 1])
def test_002_81_a_budget_of_all_runs_stops_before_the_next_call(free: int) -> None:
    harness = Harness(rounds(2))
    harness.parts.budget.spending = Spent(free)
    finished = harness.run()
    assert (finished.status, finished.cause) == ("task limit reached", "month_budget")
    assert finished.reason == "It is used up."
    assert len(harness.lm.prompts) == free


class Nothing(Component):
    def tool_eval(self, context: ToolContext) -> Iterator[ToolYield]:
        """Do nothing."""
        yield text("done")


def numbered(number: int) -> Component:
    name = f"tool_{number:03}"
    made: Component = type("Numbered", (Nothing,), {"name": name})()
    return made


@pytest.mark.parametrize(("count", "offered"), [(127, 127), (128, 128), (129, 128)])
def test_002_70_a_request_has_at_most_128_tools_and_their_order_is_stable(
    count: int, offered: int
) -> None:
    tools = tuple(numbered(number) for number in range(count))
    # two sources of others, since each may have 64, and all together 100
    sources = [
        ToolSource("a", tools[40:100]),
        ToolSource("b", tools[100:]),
        ToolSource("own", tools[:40], is_standard=True),
    ]
    offer = within_caps(sources)
    names = Registry(offer.components).names()
    assert list(names) == [tool.name for tool in tools[:offered]]
    assert bool(offer.reports) == (count > offered)
    assert Registry(within_caps(sources).components).names() == names


@pytest.mark.parametrize(
    ("base_url", "name"),
    [("https://api.openai.com/v1", "max_completion_tokens"), ("http://box:1/v1", "max_tokens")],
)
def test_002_72_the_service_decides_how_the_length_is_called(base_url: str, name: str) -> None:
    lm = OpenAILM(ServiceSettings(base_url, "no-key", "m"))
    prompt = Prompt((UserMessage(()),), (), Parameters("m", max_output_tokens=77))
    body = lm._request(prompt).body.decode()
    assert f'"{name}":77' in body.replace(" ", "")
    plain = Prompt((UserMessage(()),), (), Parameters("m"))
    assert "tokens" not in lm._request(plain).body.decode(), "code cells are long: no limit of ours"


def test_002_72_a_call_that_was_cut_off_is_never_run() -> None:
    cut = AssistantMessage("", (ToolCall("call_0", "echo", '{"word": "a"}'),))
    reply = replace(says(""), message=cut, finish_reason="length", truncated=True)
    harness = Harness([reply, says("I stop.")])
    harness.run()
    (result,) = harness.of(ToolFinished)
    assert (result.status, "echo a" in text_of(result.message)) == ("error", False)


def test_002_71_a_model_that_refuses_a_temperature_is_asked_without_it() -> None:
    refusal = error(400, "Unsupported value: 'temperature'.", param="temperature")
    prompt = Prompt((UserMessage((TextPart("Hi"),)),), (), Parameters("m", 0.7))
    with FakeService([refusal, answer("ok"), answer("ok")]) as service:
        lm = OpenAILM(service.settings())
        collections.deque(lm.stream(prompt, Stop()), maxlen=0)
        collections.deque(lm.stream(prompt, Stop()), maxlen=0)
        lm.close()
        sent = [request.body.get("temperature") for request in service.requests]
    assert sent == [0.7, None, None]
