"""A command's terminal: its result on stdout, everything else on stderr, and Ctrl-C."""

from __future__ import annotations

import contextlib
import getpass
import json
import shutil
import signal
import sys
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, TextIO

from cellwright.record.values import safe_json
from cellwright.stopping import Stop
from cellwright.text.cleaning import plain_text

WIDE = ("F", "W")


class Console:
    """The streams of one call of the command line.

    Args:
        inp: Where the person answers.
        out: For the result.
        err: For progress, questions and complaints.
    """

    def __init__(self, inp: TextIO, out: TextIO, err: TextIO) -> None:
        self._inp = inp
        self._out = out
        self._err = err
        self.as_json = False
        """The result is one JSON document."""
        self.is_quiet = False
        """No progress is shown."""

    @property
    def is_interactive(self) -> bool:
        """Whether a person can be asked."""
        return self._inp.isatty() and self._err.isatty()

    def result(self, document: Any, text: str) -> None:
        """The command's result: a document where JSON is wanted, else words."""
        if not self.as_json:
            self._write(self._out, text)
            return
        # A terminal in another encoding shows what it cannot hold as JSON's own escapes.
        is_utf8 = (self._out.encoding or "").lower().replace("-", "") == "utf8"
        written = json.dumps(safe_json(document), ensure_ascii=not is_utf8, indent=2)
        self._write(self._out, written)

    def note(self, text: str) -> None:
        """A line of progress; not shown when quiet."""
        if not self.is_quiet:
            self._write(self._err, text)

    def complain(self, text: str) -> None:
        """A line that is shown in any case."""
        self._write(self._err, text)

    def ask(self, question: str) -> str:
        """What the person types; empty at the end of the input."""
        self._err.write(question)
        self._err.flush()
        return self._inp.readline().strip()

    def read_answer(self, question: str, *, is_secret: bool) -> str | None:
        """The line that the user types, as it is; None: the input has ended.

        Args:
            question: What is asked.
            is_secret: What is typed is not shown, where a terminal can do that.
        """
        if is_secret and self._inp is sys.stdin:
            try:
                return getpass.getpass(question, stream=self._err)
            except EOFError:
                return None
        self._err.write(question)
        self._err.flush()
        line = self._inp.readline()
        return line.rstrip("\r\n") if line else None

    def read_all(self) -> str:
        """Everything that comes in on stdin."""
        return self._inp.read()

    @staticmethod
    def _write(stream: TextIO, text: str) -> None:
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        stream.flush()


def one_line(text: str) -> str:
    """The text as one line that does nothing to a terminal."""
    return " ".join(plain_text(text).split())


def cut(text: str, width: int) -> str:
    """The start of a line that fits into so many columns of a terminal."""
    if _columns(text) <= width:
        return text
    kept = ""
    for character in text:
        if _columns(kept + character) >= width:
            break
        kept += character
    return f"{kept}…"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, is_cut: bool = True) -> str:
    """Rows under headers; a header in angle brackets, ``<seconds>``, aligns to the right.

    Args:
        headers: One for each column.
        rows: The cells.
        is_cut: The last column is cut to the width of the terminal.
    """
    names = [header.strip("<>") for header in headers]
    lines = [names, *rows]
    widths = [max(_columns(line[at]) for line in lines) for at in range(len(names))]
    if is_cut:
        room = shutil.get_terminal_size((120, 24)).columns - sum(widths[:-1]) - 2 * len(widths[:-1])
        widths[-1] = min(widths[-1], max(room, 20))
    right = [header.startswith("<") for header in headers]
    return "\n".join(_row(line, widths, right) for line in lines)


def _row(line: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for text, width, to_right in zip(line, widths, right, strict=True):
        shown = cut(text, width)
        blanks = " " * (width - _columns(shown))
        cells.append(blanks + shown if to_right else shown + blanks)
    return "  ".join(cells).rstrip()


def _columns(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(character) in WIDE for character in text)
    return len(text) + wide


# Ctrl-C as a request to stop: the run ends in order and is recorded as cancelled.


SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stopping(stop: Stop) -> Iterator[None]:
    """While it lasts, Ctrl-C and a polite kill set ``stop``; a second one interrupts at once.

    Only the main thread is told of signals; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While it lasts, Ctrl-C interrupts at once: waiting for a line of input goes on otherwise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
