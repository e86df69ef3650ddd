"""Lists and advice that a command hands back: Markdown in a notebook, lines in a terminal."""

from __future__ import annotations

from typing import Any

from cellwright.record.events import Notice
from cellwright.record.run_record import RunRecord
from cellwright.store.runs import RunStorage
from cellwright.text.safe_markdown import as_text


class TextTable:
    """Rows under headings."""

    headings: tuple[str, ...] = ()
    empty = "Nothing."

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table as text."""
        raise NotImplementedError

    def __repr__(self) -> str:
        rows = self.rows()
        if not rows:
            return self.empty
        table = [self.headings, *rows]
        widths = [max(len(row[column]) for row in table) for column in range(len(self.headings))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in table]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_markdown_(self) -> str:
        rows = self.rows()
        if not rows:
            return self.empty
        lines = [self.headings, tuple("---" for _ in self.headings)]
        lines += [tuple(as_text(cell) for cell in row) for row in rows]
        return "\n".join(f"| {' | '.join(row)} |" for row in lines)


class Advice:
    """A text to read."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.text, "text/markdown": as_text(self.text).replace("\n", "  \n")}


def unsaved_notice(storage: RunStorage) -> Notice:
    """That a run is not on disk, and how to write what is in memory to a file."""
    command = f"Write it to a file: %agent export {storage.run_id} --to record -o FILE"
    action = command if storage.in_memory else ""
    return Notice("warning", storage.problem, action, "not_on_disk")


def undo_advice(record: RunRecord) -> Advice:
    """What undo can do here: nothing to the namespace, so what changed and how to get back."""
    ended = [ran.execution for ran in record.executions if ran.execution is not None]
    names = dict.fromkeys(v.name for execution in ended for v in execution.changed)
    files = dict.fromkeys(file.path for execution in ended for file in execution.files)
    touched = ", ".join([*names, *files]) or "nothing that was noticed"
    count = len(record.start_executed)
    if not count:
        before = "Nothing had been run before it, so a restart is all it takes."
    else:
        cells = "1 cell" if count == 1 else f"{count} cells"
        before = (
            f"Then run the next cell: it holds the {cells} that had been run before it. "
            "They run again in full, files they write included."
        )
    return Advice(
        f"Run {record.run_id} changed: {touched}. That cannot be put back here.\n"
        f"To get to where it started, restart the kernel. {before}"
    )
