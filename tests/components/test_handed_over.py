"""What a run hands over to a tool whose call is a cell (requirements 000-10, 000-13, 000-34)."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from component_samples import component, context_with, said
from fakes import FakeKernel, make_context

from cellwright.errors import SetupError, ToolError
from cellwright.kernels import CellRequest, probe
from cellwright.record.messages import AssistantMessage, SystemMessage, TextPart, UserMessage
from cellwright.stopping import Stop
from cellwright.tools import (
    HISTORY_CHARACTERS,
    HISTORY_MESSAGES,
    HereKernel,
    ToolContext,
    facts_of,
    hand_over,
    progress_display,
    taken_facts,
)
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.live_tools import kernel_tool

SAID = (
    SystemMessage("Ours."),
    UserMessage((TextPart("Hi"),)),
    AssistantMessage("Hello." * 1_000),
)


@pytest.fixture(autouse=True)
def nothing_waits() -> Any:
    """What one test hands over is not for the next."""
    yield
    taken_facts()


def test_000_13_the_first_tool_of_the_cell_takes_what_was_handed_over() -> None:
    context = context_with(
        prompt="how many?",
        run_id="run1",
        tool_name="sample",
        variables={"odd": {1, 2}},
        history=SAID,
        used_tools=("look",),
        sees_images=True,
    )
    hand_over(json.loads(json.dumps(facts_of(context))))
    found: list[ToolContext] = []
    takes = component(lambda ctx=None: found.append(ctx))
    takes.evaluate_merged()
    takes.evaluate_merged()
    taken, nothing = found
    assert nothing is None
    assert (taken.prompt, taken.run_id, taken.tool_name) == ("how many?", "run1", "sample")
    assert (taken.used_tools, taken.sees_images) == (("look",), True)
    assert taken.variables == {"odd": [1, 2]}
    assert taken.history == (SAID[1], AssistantMessage(SAID[2].text[:HISTORY_CHARACTERS]))
    assert taken.new_cell_id() != taken.new_cell_id()
    assert taken.current_time


def test_000_13_of_a_long_history_the_last_messages_are_handed_over() -> None:
    history = tuple(AssistantMessage(str(number)) for number in range(100))
    turns = facts_of(context_with(history=history))["history"]
    assert len(turns) == HISTORY_MESSAGES
    assert turns[-1] == {"role": "assistant", "content": "99"}


def test_a_long_text_is_left_whole_for_whoever_runs_the_cell() -> None:
    hand_over(facts_of(make_context()))
    (whole,) = said(component(lambda: "word " * 20_000))
    assert len(whole) == 100_000


def test_without_a_kernel_and_a_run_there_is_no_context() -> None:
    assert taken_facts() is None
    with pytest.raises(SetupError, match="needs the context of a run"):
        component(lambda ctx: ctx).evaluate_merged()


def test_a_tool_of_a_cell_cannot_run_cells() -> None:
    hand_over(facts_of(make_context()))

    def runs(ctx: ToolContext) -> Any:
        return list(ctx.kernel.execute(CellRequest("c", "x"), Stop(), lambda output: output))

    assert said(component(lambda: None)) == []
    hand_over(facts_of(make_context()))
    with pytest.raises(ToolError, match="in the kernel already"):
        list(component(runs).evaluate())


def test_the_kernel_we_are_in_answers_for_itself() -> None:
    here = HereKernel()
    here.wait_until_free(Stop())
    here.interrupt()
    assert here.is_alive()
    assert (here.session, here.describe().language) == ("", "python")
    with pytest.raises(ToolError, match="in the kernel already"):
        here.probe("packages", {})


def test_000_34_progress_in_a_cell_is_shown_about_ten_times_a_second(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    show = progress_display(lambda: now[0])
    for number in range(11):
        now[0] = number * 0.0625
        show("loading", number / 10)
    show("too soon", None)
    now[0] += 1
    show("done", None)
    assert capsys.readouterr().out.count("loading") == 6


def test_000_10_a_call_that_can_take_a_context_is_told_before_its_cell_runs() -> None:
    told: list[Any] = []
    kernel = FakeKernel(probes={"hand_over": lambda facts: told.append(facts)})
    context = context_with(kernel=kernel, prompt="q")
    for form in ("output", "made", "call"):
        row = LiveRow("f", "f", "F.", {"type": "object", "properties": {}}, form)
        list(kernel_tool(row).evaluate(context))
    assert [facts["prompt"] for facts in told] == ["q", "q"]
    assert len(kernel.requests) == 3


def test_a_kernel_that_cannot_be_told_runs_the_call_all_the_same() -> None:
    kernel = FakeKernel()
    row = LiveRow("f", "f", "F.", {"type": "object", "properties": {}}, "output")
    list(kernel_tool(row).evaluate(context_with(kernel=kernel)))
    assert [request.code for request in kernel.requests] == ["f.evaluate_merged()"]


def test_a_probe_hands_over_where_tools_can_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_of(context_with(prompt="q"))
    assert probe.answer("hand_over", {"facts": facts}, object()) == {"value": True}
    assert (taken_facts() or {})["prompt"] == "q"
    monkeypatch.delitem(sys.modules, "cellwright.tools")
    assert probe.answer("hand_over", {"facts": facts}, object()) == {"value": False}
