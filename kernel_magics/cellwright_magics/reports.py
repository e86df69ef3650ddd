"""Lists and advice that a command hands back: Markdown in a notebook, lines in a terminal."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from cellwright.commands.doctor import DoctorCheck
from cellwright.record.events import Notice
from cellwright.record.run_record import RunRecord
from cellwright.store.runs import RunStorage, RunSummary
from cellwright.text.cleaning import as_text
from cellwright_magics.wording import one_line

PROMPT_CHARACTERS = 60
MARKS = {"ok": "✓", "warning": "⚠", "failed": "✗", "skipped": "·"}


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


class RunList(TextTable):
    """The newest runs."""

    headings = ("run", "status", "model", "tokens", "seconds", "started", "prompt")
    empty = "There is no run yet."

    def __init__(self, runs: Sequence[RunSummary], unwritten: Collection[str] = ()) -> None:
        self.runs = tuple(runs)
        self._unwritten = frozenset(unwritten)

    def __iter__(self) -> Iterator[RunSummary]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a run."""
        return [
            (
                run.run_id,
                f"{run.status}, not on disk" if run.run_id in self._unwritten else run.status,
                run.model,
                f"{run.usage.total_tokens:,}",
                f"{run.duration_seconds:.1f}",
                time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started_at)),
                one_line(run.prompt, PROMPT_CHARACTERS),
            )
            for run in self.runs
        ]


class CheckList(TextTable):
    """What doctor found."""

    headings = ("", "check", "found", "what to do")
    empty = "Nothing was checked."

    def __init__(self, checks: Sequence[DoctorCheck]) -> None:
        self.checks = tuple(checks)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a check."""
        return [
            (MARKS[check.status], check.name, check.text, check.action) for check in self.checks
        ]


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
