"""What a verb returns: one value, shown as Markdown in a cell, as text in a terminal, as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellwright.commands import COMPLETED
from cellwright.commands.terminal import one_line, table
from cellwright.text.cleaning import as_text

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Result:
    """A text, rows under headings, or both; the text stands above the rows."""

    text: str = ""
    headings: tuple[str, ...] = ()
    """One in angle brackets, ``<seconds>``, aligns to the right."""
    rows: Sequence[tuple[str, ...]] = ()
    items: Sequence[Any] = ()
    """The values that the rows were made of: what the result holds in Python."""
    document: Any = None
    """What ``--json`` prints; None: the text."""
    plain: str = ""
    """What a terminal or a pipe gets instead, where the rows or the text are no good there."""
    exit_code: int = COMPLETED

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __bool__(self) -> bool:
        return True

    def to_dataframe(self) -> pandas.DataFrame:
        """The items with their numbers as they are."""
        import pandas

        return pandas.DataFrame([vars(item) for item in self.items])

    def to_terminal(self) -> str:
        """The text for a terminal: the last column is cut to its width."""
        return self._format([name.upper() for name in self.headings], is_cut=True)

    def __repr__(self) -> str:
        return self._format(self.headings, is_cut=False)

    def _repr_markdown_(self) -> str:
        text = self.text or ("" if self.rows else self.plain)
        parts = [as_text(text).replace("\n", "  \n")] if text else []
        if self.rows:
            names = tuple(name.strip("<>") for name in self.headings)
            lines = [names, tuple("---" for _ in names)]
            lines += [tuple(as_text(one_line(cell)) for cell in row) for row in self.rows]
            parts.append("\n".join(f"| {' | '.join(row)} |" for row in lines))
        return "\n\n".join(parts)

    def _format(self, headings: Sequence[str], *, is_cut: bool) -> str:
        if self.plain:
            return self.plain
        rows = [tuple(map(one_line, row)) for row in self.rows]
        shown = table(headings, rows, is_cut=is_cut) if rows else ""
        return "\n\n".join(filter(None, [self.text, shown]))
