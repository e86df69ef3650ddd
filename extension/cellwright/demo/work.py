"""What a plan works on, and how its findings are put into words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.transcript import CellFailure
from cellwright.demo.wishes import PromptWish, Task
from cellwright.llm.signatures import Field

TABLE_TASKS: tuple[Task, ...] = ("question", "plot", "clean", "profile")
"""Who gets the name the person gave, the first that was asked for."""


@dataclass(frozen=True)
class Work:
    """A wish, the table it is about, and the tools there are."""

    wish: PromptWish
    frame: TableColumns
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


def no_result(error: CellFailure | None) -> str:
    """What is said when a cell did not bring what it was to bring."""
    why = f": {error.name}: {error.message}" if error is not None else ""
    return f"The cell did not give me a result I can read{why}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# Typed results, as far as an answer in words holds them.


LEFT_IN = re.compile(r"\b(?:is|are) in `(\w+)`")
BOLD = re.compile(r"\*\*(.+?)\*\*")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
EXACT = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
TABLES = ("DataFrame",)
PLOTTED = "The plot shows "


@dataclass(frozen=True)
class TypedResults:
    """What an answer gives of the results that are wanted."""

    values: Mapping[str, Any]
    missing: tuple[Field, ...] = ()


def results_in(answer: str, wanted: tuple[Field, ...], told: Sequence[str] = ()) -> TypedResults:
    """The wanted results that the answer holds.

    A text is the answer's first sentence, a number the first one that it stresses, or its last
    line; a table is the variable that the answer names.

    Args:
        answer: In words.
        wanted: The results.
        told: What the kernel said, in which numbers are not rounded.
    """
    values: dict[str, Any] = {}
    missing = []
    for field in wanted:
        value = _value(answer, field, told)
        if value is None:
            missing.append(field)
        else:
            values[field.name] = value
    return TypedResults(values, tuple(missing))


def _value(answer: str, field: Field, told: Sequence[str]) -> Any:
    if field.type_name == "Figure" and PLOTTED in answer:
        return "figure"  # as every plot of ours is called
    if field.is_live:
        named = LEFT_IN.findall(answer) if field.type_name in TABLES else []
        return named[-1] if named else None
    if field.annotation is str:
        first = next((line for line in answer.splitlines() if line.strip()), "")
        return first.replace("**", "").replace("`", "").strip() or None
    if field.annotation in (int, float):
        return _number(answer, field.annotation, told)
    return None


def _number(answer: str, kind: type, told: Sequence[str]) -> Any:
    stressed = [text for bold in BOLD.findall(answer) for text in NUMBER.findall(bold)]
    plain = NUMBER.findall(answer.strip().rpartition("\n")[2]) if not stressed else []
    found = next(iter([*stressed, *plain]), "")
    exact = [text for text in EXACT.findall("\n".join(told)) if number(text) == found]
    try:
        return kind((exact[-1] if exact else found).replace(",", ""))
    except ValueError:
        return None
