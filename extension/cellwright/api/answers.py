"""What ``Session.ask`` gives back: the answer, the files that were made, the run behind them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.errors import RunFailedError
from cellwright.record.outputs import DisplayData, ExecuteResult, Output
from cellwright.record.run_record import RecordedCell, RunRecord
from cellwright.session.run import Run
from cellwright.text.cleaning import plain_text, safe_markdown
from cellwright.tools.structured_output import HandIn

TEXTS = frozenset({"text/plain", "text/html", "text/markdown", "text/latex"})
"""A result that has no other kind of content is a table or a text, which the answer speaks of."""


@dataclass(frozen=True)
class AnswerFile:
    """A file that a run made or changed, where it lies. Stability: stable."""

    name: str
    """Relative to the session's folder."""
    path: Path
    change: str
    """``created`` or ``modified``."""

    @property
    def size_bytes(self) -> int:
        """How large it is now."""
        return self.path.stat().st_size

    def read_bytes(self) -> bytes:
        """What is in it now.

        Raises:
            OSError: It cannot be read, or is not there any more.
        """
        return self.path.read_bytes()

    def read_text(self, encoding: str = "utf-8") -> str:
        """What is in it now, as text.

        Raises:
            OSError: It cannot be read, or is not there any more.
            UnicodeDecodeError: It is not text in this encoding.
        """
        return self.path.read_text(encoding)

    def save(self, target: str | Path) -> Path:
        """Copy it to another place; the copy's path.

        Args:
            target: A file, which is replaced, or a folder.

        Raises:
            OSError: It cannot be read, or nothing can be written there.
        """
        return Path(shutil.copy(self.path, Path(target).expanduser()))

    def __str__(self) -> str:
        return self.name


class Answer:
    """The answer to a question. Stability: stable.

    A run that failed or was stopped has an answer, too: look at ``status``, or let
    ``raise_for_status`` raise.

    Args:
        run: The run that ended.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        """The run: messages, cells, usage, cost, duration."""

    @property
    def text(self) -> str:
        """What the model answered, as Markdown; empty where it did not come to an answer."""
        return self.run.answer

    @property
    def status(self) -> str:
        """How the run ended: ``completed``, ``cancelled``, ``task error`` …"""
        return self.run.status

    @property
    def cells(self) -> tuple[RecordedCell, ...]:
        """The cells that ran, with source and outputs."""
        return self.run.cells

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What all cells showed, in order: streams, results, pictures, errors."""
        return tuple(output for cell in self.cells for output in cell.cell.outputs)

    @property
    def files(self) -> tuple[AnswerFile, ...]:
        """The files below the session's folder that the run made or changed, if they are there."""
        return files_of(self.run.record)

    @property
    def values(self) -> Mapping[str, Any]:
        """The results by name that a question with a signature asked for.

        Plain values are here as they are. Of a table or another object of the kernel it is the
        name of the variable that holds it. Empty where there was no signature, or no result.
        """
        for call in reversed(self.run.record.calls):
            if call.name == HandIn.name and call.status == "ok":
                return dict(call.arguments.get("values", {}))
        return {}

    def raise_for_status(self) -> Answer:
        """Give the answer back if its run completed.

        Raises:
            RunFailedError: It did not; the message says why.
        """
        if self.status == "completed":
            return self
        raise RunFailedError(self._ending())

    def show(self) -> None:
        """Show the answer, pictures and the names of files: drawn in a notebook, else printed."""
        if not _draws():
            print(self._lines())
            return
        from IPython.display import display

        for data, metadata in self._displayed():
            display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        display(self._repr_mimebundle_(), raw=True)  # type: ignore[no-untyped-call]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Answer {self.run.summary()} · run {self.run.id}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        text = "\n\n".join(
            filter(None, [safe_markdown(self.text), *map(safe_markdown, self._notes())])
        )
        return {"text/plain": self._lines(), "text/markdown": text}

    def _lines(self) -> str:
        count = sum(not TEXTS.issuperset(data) for data, _ in self._displayed())
        pictures = "1 picture" if count == 1 else f"{count} pictures"
        drawn = f"({pictures}: export(answer, 'html') shows what was drawn)" if count else ""
        return "\n\n".join(filter(None, [plain_text(self.text), drawn, *self._notes()]))

    def _ending(self) -> str:
        """How the run ended, and why."""
        ending = f"The run {self.run.id} ended with {self.status!r}."
        return f"{ending} {plain_text(self.run.record.reason_line)}".rstrip()

    def _notes(self) -> list[str]:
        """What has to be known beside the answer."""
        notes = list(map(plain_text, self.run.record.notices))
        if self.status != "completed":
            notes.append(self._ending())
        if self.files:
            notes.append(f"Files: {', '.join(plain_text(file.name) for file in self.files)}")
        return notes

    def _displayed(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """What cells displayed, and results that are more than text: plots above all."""
        return [
            (output.data, output.metadata)
            for output in self.outputs
            if isinstance(output, DisplayData)
            or (isinstance(output, ExecuteResult) and not TEXTS.issuperset(output.data))
        ]


def files_of(record: RunRecord) -> tuple[AnswerFile, ...]:
    """The files that a run made or changed, by the last that is known of each."""
    made: dict[Path, AnswerFile] = {}
    home = folder = Path(record.cwd)
    for ran in record.executions:
        if ran.execution is None:
            continue
        for file in ran.execution.files:
            path = folder / file.path
            before = made.pop(path, None)
            if file.change != "deleted":
                name = path.relative_to(home) if path.is_relative_to(home) else path
                change = before.change if before is not None else file.change
                made[path] = AnswerFile(str(name), path, change)
        # A cell's files are named from the folder in which it began, and it may end in another.
        folder = Path(ran.execution.cwd or folder)
    return tuple(file for path, file in made.items() if path.is_file())


def _draws() -> bool:
    """Whether a notebook shows what is displayed."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return hasattr(shell, "kernel")
