"""Completion after ``%agent``, asked as a front end asks it."""

from __future__ import annotations

import pytest
from fake_service import text
from magics.live_kernel import LiveKernel

pytestmark = pytest.mark.kernel


def offered(kernel: LiveKernel, code: str) -> list[str]:
    """The line as it would be with each offer taken."""
    reply = kernel.client.complete(code, len(code), reply=True, timeout=20)["content"]
    head = code[: reply["cursor_start"]]
    return [head + match for match in reply["matches"]]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%agent --max-s", ["%agent --max-seconds", "%agent --max-steps"]),
        ("%%agent --q", ["%%agent --quiet"]),
        ("run = %agent --tem", ["run = %agent --temperature"]),
        ("%agent --mode a", ["%agent --mode ask", "%agent --mode auto"]),
        ("%agent -q --mode e", ["%agent -q --mode edits"]),
        ("%agent ru", ["%agent runs"]),
        ("%agent do", ["%agent doctor"]),
        ("%agent ch", ["%agent chat", "%agent chats"]),
        ("%agent chat --mo", ["%agent chat --mode", "%agent chat --model"]),
        ("%agent chat --mode pl", ["%agent chat --mode plan"]),
        ("%agent runs --w", ["%agent runs --widget"]),
        ("%agent export last --to h", ["%agent export last --to html"]),
        ("%agent export last --t", ["%agent export last --to"]),
        ("%agent save-sample last --ch", ["%agent save-sample last --check"]),
        ("%agent show la", ["%agent show last"]),
        ("%agent -m cellwright-d", ["%agent -m cellwright-demo"]),
        ("%agent -m fake", ["%agent -m fake-model"]),
        ("%agent context s", ["%agent context summary"]),
        ("%agent context summary c", ["%agent context summary clear"]),
        ("%agent memory o", ["%agent memory off", "%agent memory on"]),
    ],
)
def test_options_values_and_sub_commands_are_offered(
    fresh: LiveKernel, code: str, expected: list[str]
) -> None:
    assert sorted(offered(fresh, code)) == expected


def test_runs_are_offered(fresh: LiveKernel) -> None:
    fresh.run("%agent hello", [text("Hi.")], answers=[])
    run_id = fresh.last_run.run_id
    assert f"%agent show {run_id}" in offered(fresh, f"%agent show {run_id[:4]}")


def test_the_body_of_a_cell_and_other_lines_are_left_alone(fresh: LiveKernel) -> None:
    fresh.run("maximum = 1")
    assert "%%agent\nmaximum" in offered(fresh, "%%agent\nmaxi")
    assert offered(fresh, "%agent zzz") == []
    assert "maximum" in offered(fresh, "maxi")
