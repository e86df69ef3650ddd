"""Where a sample runs: a folder of its own, a fresh kernel in it, its setup done.

A kernel behind a gateway has a folder of its own where it runs; the files go there and come back.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.bench.late_kernel import SampleKernel
from cellwright.bench.scenes import CellFailedError, CheckError, JudgeReply
from cellwright.bench.suites import Item
from cellwright.errors import KernelError
from cellwright.exports.sample import SampleCell
from cellwright.kernels import CellRequest
from cellwright.kernels.environment import select_environment
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.record.cells import Execution
from cellwright.record.events import CellOutput
from cellwright.record.outputs import OutputMessage, fold, to_nbformat
from cellwright.stopping import Stop

Start = Callable[[Path, Mapping[str, str]], FreshKernel]
"""Starts a kernel in a folder, with an environment."""
FIXED = {"PYTHONHASHSEED": "0"}
"""Sets have one order, and values can be compared between two kernels."""
SETUP_SECONDS = 600.0
CELL_SECONDS = 300.0


class SetupFailedError(Exception):
    """A setup cell failed: the sample cannot be run."""


def kernel_environment(
    environ: Mapping[str, str], environment_names: Iterable[str] = ()
) -> dict[str, str]:
    """The environment of task kernels: what is passed on of ours, then ``environ``."""
    return {**select_environment(named=environment_names), **FIXED, **environ}


@dataclass(frozen=True)
class Rooms:
    """How rooms are made.

    Args:
        environ: For the kernels, on top of what is passed on of ours.
        start: Starts a kernel.
        is_local: The kernels run here: they get of our environment, and see the folders we make.
        judge: A model for checks that ask one.
        environment_names: Variables of ours that are passed on whatever they are called.
    """

    environ: Mapping[str, str]
    start: Start = start_kernel
    is_local: bool = True
    judge: Callable[[str, Stop], JudgeReply] | None = None
    environment_names: tuple[str, ...] = ()

    @contextlib.contextmanager
    def open(self, item: Item, stop: Stop, folder: Path | None = None) -> Iterator[Room]:
        """A room with the item's files and setup; gone with the ``with``.

        Raises:
            KernelError: The kernel did not start.
            SetupFailedError: A setup cell failed.
        """
        with _folder(folder) as place:
            for name, path in item.files.items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place / name)
            kernel = SampleKernel(lambda: self._begun(place, item), str(place))
            try:
                room = Room(kernel, place, stop)
                for number, code in enumerate(item.setup, start=1):
                    cell = room.run(code, SETUP_SECONDS, f"setup-{number}")
                    if cell.status != "ok":
                        raise SetupFailedError(f"Setup cell {number} failed: {cell.error}")
                yield room
            finally:
                kernel.end()

    def _begun(self, place: Path, item: Item) -> FreshKernel:
        given = {**FIXED, **self.environ}
        if self.is_local:
            given = kernel_environment(self.environ, self.environment_names)
        kernel = self.start(place, given)
        limit = item.limits.memory_limit_bytes
        if limit is not None:
            try:
                kernel.limit_memory(limit)
            except BaseException:
                kernel.close(now=True)
                raise
        return kernel


@contextlib.contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="cw-bench-", ignore_cleanup_errors=True) as made:
        yield Path(made)


class Room:
    """A kernel in a folder."""

    def __init__(self, kernel: SampleKernel, folder: Path, stop: Stop) -> None:
        self.kernel = kernel
        self._folder = folder
        self.stop = stop

    @property
    def folder(self) -> Path:
        """The kernel's folder as it is now."""
        self.kernel.fetch_files(self._folder)
        return self._folder

    def run(self, code: str, timeout_seconds: float, cell_id: str = "check") -> SampleCell:
        """Run a cell to its end.

        Raises:
            KernelError: The kernel died or does not answer.
            RunCancelled: Somebody pressed Stop.
        """
        messages: list[OutputMessage] = []

        def keep(output: CellOutput) -> CellOutput:
            messages.append(output.message)
            return output

        running = self.kernel.execute(CellRequest(cell_id, code, timeout_seconds), self.stop, keep)
        done = _last(running)
        if done.status == "died":
            raise KernelError(f"The kernel died: {done.note}")
        return SampleCell(
            cell_id,
            "setup" if cell_id.startswith("setup") else "check",
            code,
            done.status,
            done.execution_count,
            tuple(to_nbformat(output) for output in fold(messages)),
            f"{done.error.ename}: {done.error.evalue}" if done.error is not None else "",
            done.duration_seconds,
        )


def _last(running: Generator[CellOutput, None, Execution]) -> Execution:
    while True:
        try:
            next(running)
        except StopIteration as ended:
            done: Execution = ended.value
            return done


class RoomScene:
    """A sample after its run, in the room it ran in; ``checks.Scene``."""

    def __init__(
        self, room: Room, rooms: Rooms, item: Item, answer: str, cells: tuple[SampleCell, ...]
    ) -> None:
        self._room = room
        self._rooms = rooms
        self._item = item
        self.answer = answer
        self.cells = cells

    @property
    def folder(self) -> Path:
        """The sample's folder, with what the cells left in it."""
        return self._room.folder

    def run(self, code: str, timeout_seconds: float) -> SampleCell:
        """Run code in the kernel."""
        return self._room.run(code, timeout_seconds)

    def judged(self, question: str) -> JudgeReply:
        """What the model that judges says.

        Raises:
            CheckError: There is none, or it failed.
        """
        if self._rooms.judge is None:
            raise CheckError("no model judges; name one with --judge MODEL")
        return self._rooms.judge(question, self._room.stop)

    @contextlib.contextmanager
    def anew(self, *, with_cells: bool) -> Iterator[RoomScene]:
        """The same in a fresh kernel and folder."""
        with self._rooms.open(self._item, self._room.stop) as room:
            ran: list[SampleCell] = []
            for cell in _notebook(self.cells) if with_cells else ():
                again = room.run(cell.source, CELL_SECONDS, cell.id)
                ran.append(replace(again, origin=cell.origin))
                if again.status != "ok":
                    raise CellFailedError(f"run anew, a cell fails: {again.error}")
            yield RoomScene(room, self._rooms, self._item, self.answer, tuple(ran))


def _notebook(cells: tuple[SampleCell, ...]) -> tuple[SampleCell, ...]:
    """The cells as they stand in the end, each with its last source."""
    return tuple({cell.id: cell for cell in cells if cell.is_kept}.values())
