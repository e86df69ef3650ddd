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
