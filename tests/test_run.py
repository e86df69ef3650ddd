"""The object a magic hands back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cellwright.record.messages import Parameters, SystemMessage, Usage
from cellwright.record.outputs import (
    Cell,
    DisplayData,
    ErrorOutput,
    ExecuteResult,
    Execution,
    StreamOutput,
)
from cellwright.record.run_record import RecordedCell, RecordedExecution, RecordedStep, RunRecord
from cellwright.session.run import Run

ERROR = ErrorOutput("KeyError", "'x'", ("KeyError: 'x'",))
CELLS = (
    RecordedCell(
        Cell("a", "code", "d['x']", (StreamOutput("stdout", "hi\n"), ERROR)),
        "agent",
        Execution("error", 0.5, ERROR),
    ),
    RecordedCell(
        Cell("b", "code", "x = 1\nx", (ExecuteResult({"text/plain": "1"}), DisplayData({}))),
        "agent",
        Execution("ok", 0.25),
    ),
    RecordedCell(Cell("c", "markdown", "# Note"), "agent"),
    RecordedCell(Cell("d", "code", "y = 2"), "user", Execution("ok", 0.1)),
)
RECORD = RunRecord(
    "20261121-093015-ab12cd",
    "completed",
    "What is *x*?\nPlease.",
    Parameters("m"),
    answer="One.",
    messages=(SystemMessage("You work."),),
    cells=CELLS,
    steps=(RecordedStep(1, "m", "stop", Usage(), None, 1.0, 1),),
    usage=Usage(4_000, 1_210, 3_900),
    cost_dollars=0.01234,
    duration_seconds=12.44,
)


def test_it_tells_what_the_record_holds() -> None:
    run = Run(RECORD)
    assert (run.id, run.status, run.answer) == (RECORD.run_id, "completed", "One.")
    assert (run.messages, run.cells, run.usage) == (RECORD.messages, CELLS, RECORD.usage)
    assert (run.cost, run.duration) == (0.01234, 12.44)


FRAME = "\x1b[36mCell\x1b[39m \x1b[32mIn[2]\x1b[39m\x1b[32m, line {}\x1b[39m\n----> x"


@pytest.mark.parametrize(
    ("source", "line", "done"),
    [
        ("a = 1\nb = (\n    2\n)\n1 / 0\nc = 3", 5, "a = 1\nb = (\n    2\n)"),
        ("1 / 0", 1, ""),
        ("a = 1\nfor n in range(3):\n    b = n\n    1 / n", 4, "a = 1"),
        ("def f():\n    1 / 0\na = 1\nf()", 4, "def f():\n    1 / 0\na = 1"),
        ("!ls\n1 / 0", 2, ""),
        ("a = 1; 1 / 0", 1, ""),
    ],
)
def test_its_code_is_what_ran_as_far_as_it_came(source: str, line: int, done: str) -> None:
    error = ErrorOutput("ZeroDivisionError", "", ("---", FRAME.format(line), "File x, line 1"))
    ran = (
        RecordedExecution("a", source, "agent", execution=Execution("error", 0.1, error)),
        RecordedExecution("b", "x = 1\nx", "agent", execution=Execution("ok", 0.1)),
        RecordedExecution("c", "while True: pass", "agent"),
        RecordedExecution("d", "y = 2", "user", execution=Execution("ok", 0.1)),
    )
    code = Run(replace(RECORD, executions=ran)).code
    assert code == "\n\n".join(filter(None, [done, "x = 1\nx", "y = 2"]))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {},
            "✓ completed · 1 step · 4 cells · 5,210 tokens (3,900 cached, 98%) · $0.0123 · 12.4 s",
        ),
        (
            {"usage": Usage(1, 2, estimated=True), "cost_dollars": None, "cells": CELLS[:1]},
            "✓ completed · 1 step · 1 cell · ~3 tokens · 12.4 s",
        ),
        (
            {"status": "cancelled", "usage": Usage(), "cost_dollars": 0.0, "steps": ()},
            "■ cancelled · 0 steps · 4 cells · 0 tokens · $0.0000 · 12.4 s",
        ),
        (
            {"status": "running", "usage": Usage(), "cost_dollars": None},
            "… running · 1 step · 4 cells · 0 tokens · 12.4 s",
        ),
        (
            {"status": "task error", "usage": Usage(), "cost_dollars": None},
            "✗ task error · 1 step · 4 cells · 0 tokens · 12.4 s",
        ),
    ],
)
def test_one_line_sums_it_up(changes: dict[str, object], line: str) -> None:
    run = Run(replace(RECORD, **changes))  # type: ignore[arg-type]
    assert run.summary() == line
    assert repr(run) == f"<Run {run.id} {line}>"


def test_it_shows_itself_with_its_prompt_and_why_it_ended() -> None:
    shown = Run(replace(RECORD, reason="It <took> too long."))._repr_mimebundle_()
    assert shown["text/markdown"].startswith(
        "**Run** `20261121-093015-ab12cd` What is &#42;x&#42;? Please.  \n✓ completed"
    )
    assert shown["text/markdown"].endswith("\n\nIt &#60;took&#62; too long.")
    assert shown["text/plain"].startswith("<Run 20261121-093015-ab12cd ✓ completed")


def test_a_long_prompt_is_cut() -> None:
    shown = Run(replace(RECORD, prompt="word " * 100))._repr_mimebundle_(include=None)
    assert f"{('word ' * 100)[:119]}…" in shown["text/markdown"]


def test_its_cells_as_a_table() -> None:
    table = Run(RECORD).to_dataframe()
    assert list(table["status"]) == ["error", "ok", "", "ok"]
    assert list(table["error"]) == ["KeyError: 'x'", "", "", ""]
    assert list(table["output"]) == ["hi\n", "1", "", ""]
    assert list(table["origin"]) == ["agent", "agent", "agent", "user"]
    assert table["seconds"][1] == 0.25
    assert Run(replace(RECORD, cells=())).to_dataframe().empty
