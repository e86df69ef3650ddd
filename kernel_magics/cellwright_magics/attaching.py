"""``%agent attach``: files and outputs that wait for the next question (requirements 002-27)."""

from __future__ import annotations

import base64
import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.context.assemble import Quoted
from cellwright.errors import SetupError
from cellwright.record.attachments import attach, human_size
from cellwright.text.safe_markdown import plain_text
from cellwright_magics.reports import Advice

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

NOTHING = "Nothing is attached. %agent attach FILE… or %agent attach output N attaches something."
PICTURES = {"image/png": ".png", "image/jpeg": ".jpg"}


class Attached:
    """What waits for the next question of one shell."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.quotes: list[Quoted] = []
        self._labels: list[str] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def add_files(self, names: Sequence[str]) -> None:
        """Let files wait.

        Raises:
            SetupError: Some cannot be read; none of them waits.
        """
        for found in attach(tuple(names), Path.cwd()):
            self.files.append(str(Path.cwd() / found.name))
            self._labels.append(f"{found.name} ({human_size(found.size_bytes)})")

    def add_output(self, count: int, text: str, pictures: Sequence[tuple[str, bytes]]) -> None:
        """Let what a cell showed wait.

        Args:
            count: The cell's number.
            text: What it showed in words.
            pictures: Its pictures, each with how its file's name ends.
        """
        for place, (ending, data) in enumerate(pictures, start=1):
            path = self._own_folder() / f"output-{count}-{place}{ending}"
            path.write_bytes(data)
            self.files.append(str(path))
        if text.strip():
            self.quotes.append(Quoted(f"output of cell [{count}]", text))
        number = len(pictures)
        shown = f" and {number} picture{'' if number == 1 else 's'}" if number else ""
        self._labels.append(f"output of [{count}]: {len(text):,} characters{shown}")

    def clear(self) -> None:
        """Let nothing wait; pictures stay as long as the shell, for what was asked about them."""
        for waiting in (self.files, self.quotes, self._labels):
            waiting.clear()

    def close(self) -> None:
        """Remove the pictures."""
        self.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def told(self) -> str:
        """What waits, in words."""
        if not self._labels:
            return NOTHING
        return "The next question takes along: " + "; ".join(self._labels) + "."

    def _own_folder(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="cellwright-")
        return Path(self._folder.name)


def attach_command(
    words: Sequence[str], attached: Attached, shell: InteractiveShell, notebook: Path | None
) -> Advice:
    """Do what ``%agent attach …`` says.

    Args:
        words: What stands after ``%agent``.
        attached: What waits; changed.
        shell: Whose outputs there are.
        notebook: The notebook's file, which has the pictures; None: not known.

    Raises:
        SetupError: A file cannot be read, or the cell showed nothing.
    """
    match list(words):
        case ["attach", "clear"]:
            attached.clear()
        case ["attach", "output", number]:
            count = int(number.strip("[]"))
            text = "\n".join(filter(None, _texts(shell, count)))
            pictures = list(_pictures(notebook, count))
            if not text.strip() and not pictures:
                raise SetupError(
                    f"Cell [{count}] showed nothing that is known here.",
                    hint="Pictures are taken from the notebook's file: save it first.",
                )
            attached.add_output(count, text, pictures)
        case ["attach", *names]:
            attached.add_files([name.rstrip(",") for name in names])
    return Advice(attached.told)


def _texts(shell: InteractiveShell, count: int) -> Iterator[str]:
    """What a cell of this kernel printed, gave and failed with."""
    history: Any = shell.history_manager
    for output in getattr(history, "outputs", {}).get(count, ()):
        bundle = output.bundle
        stream = bundle.get("stream")
        yield plain_text("".join(stream) if stream else str(bundle.get("text/plain", "")))
    failed = getattr(history, "exceptions", {}).get(count)
    if failed:
        yield plain_text("\n".join(failed["traceback"]))


def _pictures(notebook: Path | None, count: int) -> Iterator[tuple[str, bytes]]:
    """The pictures that a cell showed, as the notebook's file has them."""
    if notebook is None:
        return
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return  # it is being saved just now, or is no notebook yet
    shown = [cell.get("outputs", ()) for cell in cells if cell.get("execution_count") == count]
    for output in itertools.chain.from_iterable(shown):
        data = output.get("data", {})
        mime = next((kind for kind in PICTURES if kind in data), "")
        if mime:
            yield PICTURES[mime], base64.b64decode("".join(data[mime]))
