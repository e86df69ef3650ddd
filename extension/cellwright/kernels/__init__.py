"""Where code runs: one protocol over the user's own shell and over a kernel client.

What this does not protect against: code runs with the rights of the person who started the
kernel. It can read and delete files, use the network, read environment variables (keys too),
start processes and change or end the kernel. The permission mode decides *whether* code runs;
nothing here limits *what* it does once it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cellwright.record.cells import Execution
from cellwright.record.events import CellOutput
from cellwright.stopping import Stop

OutputSink = Callable[[CellOutput], CellOutput]
"""Sees each output when it is captured, before it is shown; returns it redacted and recorded.

It may hold back the end of a stream's text, which could be half of a secret; a stream's empty text
says that the stream has ended. What it returns is empty where all of it is held back.
"""


class PendingInput(Protocol):
    """A question of a running cell (``input``, ``getpass``) that waits for the person."""

    def value(self) -> str | None:
        """What they typed; None: nothing yet. Asked again and again, so it answers at once.

        ``"\\x04"`` ends the input: the cell gets an ``EOFError``.
        """
        ...

    def close(self) -> None:
        """It was answered, or the cell ended and nobody waits for it any more."""
        ...


InputAsker = Callable[[str, bool], PendingInput]
"""Puts a question to the person and returns at once: its text, and whether it is a password."""


@dataclass(frozen=True)
class CellRequest:
    """A cell to run."""

    cell_id: str
    code: str
    timeout_seconds: float | None = 120.0
    """None: no limit."""
    output_limit_bytes: int = 10_000_000
    """Past this the middle of the output is dropped; past ten times this the cell is stopped."""
    message_id: str = ""
    """Id of the request that carries it, where one does; empty: any."""


@dataclass(frozen=True)
class KernelDescription:
    """Which kernel this is."""

    language: str
    version: str
    implementation: str
    cwd: str
    process_id: int | None = None


class Kernel(Protocol):
    """A live kernel."""

    @property
    def session(self) -> str:
        """Names the life of the kernel: another one after a restart. Empty: ours, or not known."""
        ...

    def wait_until_free(self, stop: Stop) -> None:
        """Return when nobody else's cell runs, however long it takes.

        Raises:
            RunCancelled: ``stop`` was set.
            KernelError: The kernel died or does not answer.
        """
        ...

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell; yield its outputs as soon as the caller can have them.

        ``on_output`` is called at capture, from any thread, with coalesced outputs (at most some
        twenty a second for streams); what it returns is what is yielded. An output of an earlier
        cell that comes late carries that cell's id. An exception in the cell is not an error
        here: it is in ``Execution.error``.

        Raises:
            RunCancelled: ``stop`` was set or the person interrupted; the cell was interrupted
                first and what it had sent went through ``on_output``.
            KernelDiedError: The kernel's process is gone.
            KernelNotReadyError: The kernel does not answer.
        """
        ...

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The JSON answer of a function of ``cellwright.probe``, run silently in the kernel.

        Raises:
            ToolError: The function refused, for instance for an unknown variable.
            KernelError: The kernel cannot answer.
        """
        ...

    def describe(self) -> KernelDescription:
        """Language, version and folder."""
        ...

    def is_alive(self) -> bool:
        """Whether the process is there."""
        ...

    def interrupt(self) -> None:
        """Interrupt what is running, only when it is ours."""
        ...
