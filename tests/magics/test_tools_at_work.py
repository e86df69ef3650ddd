"""A function of a cell, called by the agent in the same kernel."""

from __future__ import annotations

import pytest
from fake_service import text, tool_call
from magics.live_kernel import LiveKernel

pytestmark = pytest.mark.kernel

CELL = '''
from cellwright_magics.tools import agent_tool

@agent_tool
def revenue(region: str) -> float:
    """Revenue of a region.

    Args:
        region: Which one.
    """
    return {"north": 12.5}[region]
'''


def test_a_function_of_a_cell_is_called_by_the_agent(fresh: LiveKernel) -> None:
    fresh.run(CELL)
    script = [tool_call("revenue", {"region": "north"}), text("It is 12.5.")]
    fresh.run("%%agent --mode auto\nHow much?", script, answers=[])
    sent = fresh.service.requests
    assert "revenue" in str(sent[0].body["tools"])
    assert "12.5" in str(sent[1].messages[-1]["content"])
    assert fresh.last_run.executions[0].source == "revenue(region='north')"


def test_tools_are_offered_listed_and_taken_back_by_the_magic(fresh: LiveKernel) -> None:
    fresh.run("def double(n: int) -> int:\n    'Double it.'\n    return 2 * n")
    assert "The agent can call double(n)." in fresh.run("%agent tool add double").results[0]
    assert "double: Double it." in fresh.run("%agent tool list").results[0]
    assert "! Docstring" in fresh.run("%agent tool check double").results[0]
    fresh.run("%agent tool remove double")
    assert "double" not in fresh.run("%agent tool list").results[0]
    fresh.run("%agent hello", [text("hi")], answers=[])
    assert "double" not in str(fresh.service.requests[0].body["tools"])


TOLD = '''
from cellwright.tools import Component, ToolContext
from cellwright_magics.tools import agent_tool

@agent_tool(risk="read")
def told(ctx: ToolContext) -> object:
    """Say what it was told."""
    ctx.notify("looking it up", 0.5)
    words = f"{ctx.prompt} {ctx.variables} {ctx.model_configs['temperature']}"
    usage = {"model": "other", "prompt_tokens": 90_000, "completion_tokens": 1}
    return Component().create_output(text=words, usage=usage)
'''


def test_000_12_to_14_a_tool_of_a_cell_is_told_of_the_run_and_its_tokens_count(
    fresh: LiveKernel,
) -> None:
    fresh.run(TOLD)
    script = [tool_call("told", {}), text("Done.")]
    line = "%agent --mode auto --temperature 0 --var region=north How much?"
    shown = fresh.run(line, script, answers=[])
    read = str(fresh.service.requests[1].messages[-1]["content"])
    assert "How much? {'region': 'north'} 0.0" in read
    assert "looking it up" not in read
    assert any("looking it up 50%" in str(data) for data in shown.displays)
    assert fresh.last_run.usage.prompt_tokens > 90_000
    assert fresh.last_run.calls[0].usage[0].model == "other"


def test_000_12_a_name_of_the_system_cannot_be_set(fresh: LiveKernel) -> None:
    shown = fresh.run("%agent --var _sys_traceid=x hello", [], answers=[])
    assert "'_sys_traceid' is set by the system" in shown.stdout + str(shown.messages)


def test_a_run_with_a_tool_of_the_magic_is_replayed_without_a_difference(
    fresh: LiveKernel,
) -> None:
    fresh.run("def treble(n: int) -> int:\n    'Three times.'\n    return 3 * n", answers=[])
    fresh.run("%agent tool add treble", answers=[])
    script = [tool_call("treble", {"n": 2}), text("It is 6.")]
    fresh.run("%%agent --mode auto\nTreble 2.", script, answers=[])
    run_id = fresh.last_run.run_id
    fresh.run("replayed = %agent replay last", answers=[])
    assert fresh.run("replayed").results == ["1 cell, no differences."]
    again = "replayed.run.record"
    assert fresh.value(f"({again}.source_run, {again}.executions[0].source)") == repr(
        (run_id, "treble(n=2)")
    )
