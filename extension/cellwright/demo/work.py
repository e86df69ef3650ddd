"""What a plan works on, and how its findings are put into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cellwright.demo.columns import Column, Frame
from cellwright.demo.reading import Failure
from cellwright.demo.vocabulary import Task
from cellwright.demo.wishes import Wish

TABLE_TASKS: tuple[Task, ...] = ("question", "plot", "clean", "profile")
"""Who gets the name the person gave, the first that was asked for."""


@dataclass(frozen=True)
class Work:
    """A wish, the table it is about, and the tools there are."""

    wish: Wish
    frame: Frame
    tools: frozenset[str]
    notes: tuple[str, ...] = ()
    """What had to be said while the table was made ready."""

    def target_of(self, task: Task) -> str:
        """The variable a task leaves its result in; empty when it may choose."""
        owner = next((name for name in TABLE_TASKS if name in self.wish.tasks), "")
        return self.wish.target if task == owner else ""


def number(text: str) -> str:
    """A number as people read it; any other text as it is."""
    try:
        value = float(text)
    except ValueError:
        return text
    if value != value or value in (float("inf"), float("-inf")):
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.4g}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def listing(columns: Iterable[Column]) -> str:
    """Column names in code style."""
    return ", ".join(f"`{column.name}`" for column in columns)


def no_result(error: Failure | None) -> str:
    """What is said when a cell did not bring what it was to bring."""
    why = f": {error.name}: {error.message}" if error is not None else ""
    return f"The cell did not give me a result I can read{why}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
