"""``read_output``: what was cut of an output, page by page or by a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import ClassVar

from cellwright.errors import ToolError
from cellwright.record.content import text
from cellwright.text.truncation import CHARACTERS_PER_TOKEN, page_lines
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.background_cell import look_again

LINE_COUNT_LIMIT = 2_000
NAMES_SHOWN = 20
SLOW_PATTERN = re.compile(r"\([^()]*[+*{][^()]*\)[+*{]|\([^()]*\|[^()]*\)[+*{]|\\\d")
"""Groups repeated around repeats take forever on some texts; such a pattern is taken as text."""


class ReadOutput(Component):
    """Reads the full text of an output that was cut."""

    name: ClassVar[str] = "read_output"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"read on in the output of {arguments.get('name')}"

    def tool_eval(  # noqa: PLR0913 (what the model may say)
        self,
        context: ToolContext,
        name: str,
        start_line: int = 1,
        line_count: int = 200,
        pattern: str = "",
        wait_seconds: float = 0,
        interrupt: bool = False,
    ) -> Iterator[ToolYield]:
        """Read more of an output that was cut, or look again at a cell that still runs.

        Args:
            name: As the cut output says, or the running cell's id.
            start_line: First line to read.
            line_count: How many lines.
            pattern: Only lines that match this regular expression.
            wait_seconds: For a running cell: how long to wait for more.
            interrupt: End the running cell.
        """
        again = yield from look_again(context, name, wait_seconds, interrupt=interrupt)
        if again is not None:
            yield again
            return
        full = context.shelf.get(name)
        begun = context.patient.begun if context.patient is not None else ()
        if full is None and (wait_seconds or interrupt or name in begun):
            yield text(f"The cell {name!r} has ended; you were told what it showed.", scope="llm")
            return
        if full is None:
            raise ToolError(f"There is no cut output {name!r}.", hint=_known(context))
        room = context.limits.output_tokens * CHARACTERS_PER_TOKEN
        yield text(_page(page_lines(full), start_line, line_count, pattern, room), scope="llm")


def _known(context: ToolContext) -> str:
    names = context.shelf.names()[-NAMES_SHOWN:]
    return f"There are: {', '.join(names)}." if names else "Nothing has been cut so far."


def _page(lines: list[str], start: int, count: int, pattern: str, room: int) -> str:
    matches = _matcher(pattern)
    first = max(1, start)
    wanted = min(max(1, count), LINE_COUNT_LIMIT)
    page: list[str] = []
    last = first - 1
    for number, line in enumerate(lines[first - 1 :], first):
        if matches(line):
            room -= len(line) + 1
            if len(page) == wanted or (room < 0 and page):
                break
            page.append(f"{number}: {line}" if pattern else line)
        last = number
    if not page:
        what = f"match {pattern!r} from line {first} on" if pattern else f"from line {first} on"
        return f"No lines {what}; there are {len(lines)}."
    more = f"; go on with start_line={last + 1}" if last < len(lines) else ""
    return "\n".join([f"[lines {first} to {last} of {len(lines)}{more}]", *page])


def _matcher(pattern: str) -> Callable[[str], bool]:
    """A test for lines; a broken or dangerous expression is looked for as plain text."""
    if not pattern:
        return lambda line: True
    if not SLOW_PATTERN.search(pattern):
        try:
            expression = re.compile(pattern, re.IGNORECASE)
        except re.error:
            pass
        else:
            return lambda line: expression.search(line) is not None
    plain = pattern.casefold()
    return lambda line: plain in line.casefold()
