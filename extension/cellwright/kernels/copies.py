"""Copies of a live kernel: second kernels that begin with its variables and go their own way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cellwright.errors import KernelError
from cellwright.kernels import carrying
from cellwright.kernels.awakening import programs_of
from cellwright.kernels.fresh import FreshKernel, client_of
from cellwright.record.outputs import Execution, OutputMessage
from cellwright.record.values import to_dict
from cellwright.stopping import Stop

AskSnapshots = Callable[[str, Mapping[str, Any]], Any]
"""Asks the kernel for a function of ``kernels.snapshots``, with its arguments."""


class CopyProcess:
    """The process of a copy: an ``OwnProcess``.

    Args:
        ask: Reaches the kernel that is copied.
        snapshot_id: Which of its snapshots is copied; empty: the kernel as it is now.
        is_sandboxed: It cannot change the world outside either: ``kernels.sandbox``.

    Raises:
        KernelError: It cannot be copied; the message names what stands in the way.
    """

    way = "copied"

    def __init__(
        self, ask: AskSnapshots, snapshot_id: str = "", *, is_sandboxed: bool = False
    ) -> None:
        self._ask = ask
        self._folder = Path(tempfile.mkdtemp(prefix="cw-"))
        self._connection_file = self._folder / "kernel.json"
        self.copy_id = ""
        try:
            given = {
                "snapshot_id": snapshot_id,
                "connection_file": str(self._connection_file),
                "is_sandboxed": is_sandboxed,
            }
            answer = ask("fork_copy", given)
            check_copied(answer)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self.copy_id, self._process_id = str(answer["id"]), int(answer["process_id"])

    def client(self) -> Any:
        """A new connection; its channels are not started."""
        return client_of(json.loads(self._connection_file.read_text(encoding="utf-8")))

    def is_alive(self) -> bool:
        """Whether the process is there."""
        try:
            state = Path(f"/proc/{self._process_id}/stat").read_text(encoding="utf-8")
        except OSError:
            return False
        return state.rpartition(")")[2].split()[0] not in "ZX"

    @property
    def memory_bytes(self) -> int:
        """What it holds, shared with the kernel or not; 0: it is gone."""
        return process_memory_bytes(self._process_id)

    def interrupt_kernel(self) -> None:
        """Interrupt what runs."""
        with suppress(ProcessLookupError):
            os.kill(self._process_id, signal.SIGINT)

    @property
    def result_folder(self) -> Path:
        """Where a sandboxed copy can write what its kernel can read; it goes with the copy."""
        return self._folder / "result"

    def adopt(self, label: str, run_id: str) -> str:
        """Make a snapshot of what the copy has offered, and end the copy; the snapshot's id.

        Raises:
            KernelError: The kernel is gone, or nothing was offered.
        """
        given = {"copy_id": self.copy_id, "label": label, "run_id": run_id}
        answer = self._ask("adopt", given)
        check_copied(answer)
        self.copy_id = ""
        return str(answer["id"])

    def end(self, *, now: bool = False) -> None:
        """End it; what it had in memory is gone."""
        if self.copy_id:
            copy_id, self.copy_id = self.copy_id, ""
            try:
                self._ask("end_copy", {"copy_id": copy_id})
            except KernelError:
                # A cell of the user's runs, perhaps for hours: the copy gives its memory back now.
                now = True
            if now and self.is_alive():
                for number in (self._process_id, *programs_of(self._process_id)):
                    with suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)


def check_copied(answer: Mapping[str, Any]) -> None:
    """Return where a kernel was copied.

    Raises:
        KernelError: It was not.
    """
    found = answer.get("obstacles")
    if found:
        raise KernelError(
            f"This kernel cannot be copied: {'; '.join(map(str, found))}.",
            hint="End what stands in the way, or ask without branches.",
        )
    if "refused" in answer:
        raise KernelError(f"This kernel cannot be copied: {answer['refused']}.")


def process_memory_bytes(process_id: int) -> int:
    """What a process holds, shared with others or not; 0: it is gone."""
    try:
        pages = Path(f"/proc/{process_id}/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def available_memory_bytes() -> int:
    """What programs can still get on this machine."""
    told = Path("/proc/meminfo").read_text(encoding="ascii")
    free = next(line.split()[1] for line in told.splitlines() if line.startswith("MemAvailable:"))
    return int(free) * 1024


class CopiedKernel(FreshKernel):
    """A copy of a live kernel; ``close`` ends it, and so does leaving a ``with``."""

    life = ""
    """The ``session`` of the kernel that it was copied of, whose life it goes on with."""
    state_before = ""
    """The run that began in the state that it begins in; empty: it is not known."""

    @property
    def session(self) -> str:
        """That of the kernel that it was copied of: what ran there has run here."""
        return self.life

    def begin_carrying(self) -> None:
        """In a sandboxed copy: note how all is, so that what a cell changes can be carried."""
        self.ask_snapshots("begin_carrying", {})

    def pack(self) -> tuple[str, ...]:
        """In a sandboxed copy: write what has changed since; what stands in the way."""
        assert isinstance(self.process, CopyProcess)
        folder = str(self.process.result_folder)
        return tuple(self.ask_snapshots("pack", {"folder": folder}).get("obstacles", ()))

    def adopt(self, label: str, run_id: str) -> str:
        """Hand its state to the kernel that it was copied of, and end.

        Args:
            label: What the state is, for people.
            run_id: The run that made it.

        Returns:
            Id of a snapshot there; going back to it makes the state the kernel's.

        Raises:
            KernelError: It cannot be done; the message names what stands in the way.
        """
        assert isinstance(self.process, CopyProcess)
        check_copied(self.ask_snapshots("offer", {}))
        snapshot = self.process.adopt(label, run_id)
        self.close(now=True)
        return snapshot


class CarriedResult:
    """What a cell came to in a sandboxed copy, on disk until it is put in place or not wanted.

    Args:
        ask: Reaches the kernel that was copied.
        code: The cell.
    """

    def __init__(self, ask: AskSnapshots, code: str) -> None:
        self._ask, self._code = ask, code
        folder = tempfile.mkdtemp(prefix="cw-")
        self._packed = Path(folder, "result")
        # It goes with this process, too.
        self._delete = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @classmethod
    def of(
        cls,
        copy: CopiedKernel,
        ask: AskSnapshots,
        code: str,
        shown: Sequence[OutputMessage],
        execution: Execution,
    ) -> CarriedResult:
        """What a copy has packed, which may end now; with what the cell showed."""
        assert isinstance(copy.process, CopyProcess)
        result = cls(ask, code)
        try:
            copy.process.result_folder.rename(result._packed)
            told = json.dumps({"messages": to_dict(shown), "figures": list(execution.figures)})
            (result._packed / carrying.SHOWN).write_text(told, encoding="utf-8")
        except BaseException:
            result.close()
            raise
        return result

    def arm(self) -> None:
        """Let it take the place of the cell when that is run next; nothing has changed yet.

        Raises:
            KernelError: It cannot; the message says why.
        """
        answer = self._ask("arm", {"folder": str(self._packed), "code": self._code})
        if "refused" in answer:
            raise KernelError(f"The result cannot be kept: {answer['refused']}.")

    def close(self) -> None:
        """Delete it."""
        self._delete()


def open_copy(
    ask: AskSnapshots,
    life: str = "",
    stop: Stop | None = None,
    snapshot_id: str = "",
    *,
    is_sandboxed: bool = False,
) -> CopiedKernel:
    """A copy of the kernel as it is now, or as it was.

    Args:
        ask: Reaches the kernel.
        life: Its ``session``.
        stop: Ends the wait for the copy.
        snapshot_id: Which of its snapshots is copied; empty: the kernel as it is now.
        is_sandboxed: It cannot change the world outside either: ``kernels.sandbox``.

    Raises:
        KernelError: It cannot be copied, or the copy does not answer.
        RunCancelled: Somebody asked to stop.
    """
    process = CopyProcess(ask, snapshot_id, is_sandboxed=is_sandboxed)
    try:
        kernel = CopiedKernel.opened(process, stop=stop)
    except BaseException:
        process.end(now=True)
        raise
    kernel.life = life
    return kernel
