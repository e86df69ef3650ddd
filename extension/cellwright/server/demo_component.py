"""A component that is always there, so that the route can be tried: it counts words.

It shows what a component can do: it says one thing after another, tells how far it is, and says
some of it to the person and some to the model alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from cellwright.tools import Component, Risk, ToolContext, ToolYield

COMMON_LIMIT = 20
LINES_SHOWN = 200


class WordCount(Component):
    """Counts the words of a text."""

    name: ClassVar[str] = "word_count"
    version: ClassVar[str] = "v1"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return "count the words of a text"

    def tool_eval(self, context: ToolContext, text: str, most: int = 5) -> Iterator[ToolYield]:
        """Count the words of a text, line by line.

        Args:
            text: Any text.
            most: How many of its most frequent words are named.
        """
        lines = text.splitlines()
        found: Counter[str] = Counter()
        for number, line in enumerate(lines, 1):
            context.stop.check()
            words = line.casefold().split()
            found.update(words)
            if number <= LINES_SHOWN:
                context.notify(f"line {number} of {len(lines)}", number / len(lines))
                yield self.create_output(text=f"line {number}: {len(words)} words\n")
        yield self.create_output(text=f"{found.total()} words in all")
        common = found.most_common(min(max(most, 0), COMMON_LIMIT))
        chart = {"type": "bar", "data": [{"word": word, "count": count} for word, count in common]}
        yield self.create_output("chart", chart, visible_scope="user")
        yield self.create_output("json", {"data": dict(common)}, visible_scope="llm")
