"""``submit``: the model hands in its answer and the run ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from cellwright.record.content import text
from cellwright.tools import Component, Risk, ToolContext, ToolYield


class Submit(Component):
    """Ends the run with an answer."""

    name: ClassVar[str] = "submit"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return "hand in the answer"

    def tool_eval(self, context: ToolContext, answer: str) -> Iterator[ToolYield]:
        """Hand in the final answer and end the run.

        Args:
            answer: Short Markdown for the person.
        """
        yield replace(text(answer), final=True)
