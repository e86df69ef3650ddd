"""HumanEval: complete a function so that its tests pass. The data is the person's own copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellwright.bench.checks import Solution
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.bench.suites.json_lines import read_json_lines

NEEDED = ("task_id", "prompt", "entry_point", "canonical_solution", "test")
REQUEST = (
    "Complete this Python function. Define it in the notebook, under its name, and try it.\n\n"
    "```python\n{prompt}```"
)
PROGRAM = """\
if {name!r} not in globals():
    exec(cellwright_answer)
{test}
check({name})
"""
SECONDS = 30.0


def load(data: Path) -> Suite:
    """The suite of a ``HumanEval.jsonl.gz``.

    Raises:
        SetupError: The file cannot be read.
    """
    items = tuple(_item(row) for row in read_json_lines(data, NEEDED))
    return checked_suite(Suite("humaneval", items, source=str(data), hidden=(data,)))


def _item(row: dict[str, Any]) -> Item:
    program = PROGRAM.format(name=row["entry_point"], test=row["test"])
    return Item(
        index=str(row["task_id"]),
        prompt=REQUEST.format(prompt=row["prompt"]),
        group="HumanEval",
        checks=(Solution(program, shares_variables=True, timeout_seconds=SECONDS),),
        reference=(row["prompt"] + row["canonical_solution"],),
        prefix=row["prompt"],
    )
