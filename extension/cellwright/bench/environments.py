"""Where a sample runs: a folder of its own, and a fresh kernel of any interpreter.

A kernel behind a gateway has a folder of its own where it runs; the files go there and come back.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from cellwright.bench import tampering
from cellwright.bench.isolation import (
    Box,
    IsolatedProcess,
    Isolation,
    check_isolation,
    package_folders,
)
from cellwright.bench.scenes import CellFailedError, CheckError, JudgeReply, ask_kernel
from cellwright.bench.suites import Item
from cellwright.errors import (
    KernelDiedError,
    KernelError,
    KernelNotReadyError,
    RunCancelled,
    SetupError,
)
from cellwright.exports.sample import SampleCell
from cellwright.kernels import CellRequest, KernelDescription, OutputSink
from cellwright.kernels.forking import file_limits
from cellwright.kernels.forks import Forks
from cellwright.kernels.fresh import (
    NOT_ASKED,
    FreshKernel,
    KernelProcess,
    LateKernel,
    open_kernel,
    select_environment,
)
from cellwright.kernels.provisioner import MODULES, parse_command, warmed_processes
from cellwright.kernels.warmed import limit_files
from cellwright.record.events import CellOutput
from cellwright.record.outputs import Execution, OutputMessage, fold, to_nbformat
from cellwright.stopping import Stop

# The kernel of a sample, started when something has to run in it: many a sample needs none.


class SampleKernel(LateKernel[FreshKernel]):
    """A fresh kernel that one sample works in.

    Args:
        start: Starts it.
        cwd: Its folder.
    """

    runs_elsewhere = False
    """A sample waits for its cells."""

    def __init__(self, start: Callable[[], FreshKernel], cwd: str) -> None:
        super().__init__(start, cwd)
        self._description: KernelDescription | None = None
        self.began_as: KernelDescription | None = None
        """What it was before anything ran in it; None: it was not started, or did not say."""

    def started(self) -> FreshKernel:
        """The kernel itself, asked what it is where it is started now: no agent's code answers."""
        is_new = self._kernel is None
        kernel = super().started()
        if is_new:
            with contextlib.suppress(KernelError):
                self.began_as = kernel.describe()
        return kernel

    @property
    def way(self) -> str:
        """How it was started: ``started``, ``forked`` or ``gateway``; empty: not at all."""
        return self._kernel.process.way if self._kernel is not None else ""

    def wait_until_free(self, stop: Stop) -> None:
        """Return at once: nobody else has cells in it."""
        stop.check()

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of the probe; what is the same for all samples is not asked, it takes long."""
        if function in NOT_ASKED:
            return NOT_ASKED[function]
        return super().probe(function, arguments)

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell, after which the folder may be another one.

        Raises:
            KernelDiedError: It did not start, died, or does not answer within the cell's limit.
            RunCancelled: Somebody pressed Stop.
        """
        self._description = None
        self._end_if_silent(request.timeout_seconds, stop)
        began = time.monotonic()
        try:
            return (yield from super().execute(request, stop, on_output))
        except RunCancelled:
            stop.check()
            # Nobody else interrupts a sample's kernel; its code must not take it out of the total.
            return Execution(
                "interrupted", time.monotonic() - began, note="The code interrupted itself"
            )
        except KernelNotReadyError as error:
            # Code that breaks the kernel's own threads can keep it from ever saying that it begins.
            self.end()
            raise KernelDiedError(f"{error} It was ended.") from error

    def _end_if_silent(self, seconds: float | None, stop: Stop) -> None:
        """End a kernel that is busy between two cells, and stays so.

        A person's kernel is waited for, as the person may have a cell in it; nobody has in this.
        """
        if self._kernel is None:
            return
        seconds = seconds or SETUP_SECONDS
        try:
            self._kernel.wait_until_ready(seconds, stop)
        except KernelNotReadyError as error:
            self.end()
            message = f"The kernel did not answer for {seconds:g} s and was ended."
            raise KernelDiedError(message) from error

    def describe(self) -> KernelDescription:
        """Language, version and folder; no version before it was started."""
        if self._kernel is None:
            return super().describe()
        if self._description is None:
            # A record that says which process it was would be another one each time.
            self._description = replace(self._kernel.describe(), process_id=None)
        return self._description

    def fetch_files(self, folder: Path) -> None:
        """Bring what the kernel left in its folder to ours, where that is another one.

        Raises:
            KernelError: They cannot be fetched.
        """
        if self._kernel is not None:
            self._kernel.fetch_files(folder)

    def end(self) -> None:
        """End it at once: nobody will look at it any more."""
        if self._kernel is not None:
            self._kernel.close(now=True)


Start = Callable[..., FreshKernel]
"""Starts a kernel in a folder, with an environment; here with what it may see as well."""


def start_usual(cwd: Path, env: Mapping[str, str], box: Box | None = None) -> FreshKernel:
    """Start the usual kernel.

    Raises:
        KernelError: It did not start.
    """
    return TaskKernels().start(cwd, env, box)


def _start_limited(box: Box, env: Mapping[str, str], python: str) -> FreshKernel:
    """Start a kernel that can open what it may.

    Raises:
        KernelError: It did not start.
    """
    limits = box.limits(python or _usual_python())
    process = KernelProcess(OURS, python, box.private)
    warmed_processes.warm_apart()

    def start() -> FreshKernel:
        limit_files(limits.hidden, limits.writable)
        file_limits.set(limits)
        return open_kernel(process, box.folder, env)

    # What a thread cannot open the programs that it starts cannot, and the thread ends here.
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(start).result()


FIXED = {"PYTHONHASHSEED": "0"}
"""Sets have one order, and values can be compared between two kernels."""
IPYTHON_FOLDER = "IPYTHONDIR"
"""Start-up files in it run in each kernel, and an agent could write some: each has one of its own.
"""
OWN_FOLDERS = {"TMPDIR": "", "JUPYTER_RUNTIME_DIR": "jupyter", "NUMBA_CACHE_DIR": "numba"}
"""Where a kernel that sees all writes what the others must not read, or run."""
SHARED_FOLDERS = ("/dev", "/tmp", "/var/tmp")
"""Code writes there by these names; nothing of a sample is there."""
CHECK = "check"
"""The id of cells that are nobody's: they look at what the agent did."""
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
        hidden: Files and folders that a kernel here cannot open, where the system can do that.
        writable: Where a kernel here can write, besides its own folders and temporary ones.
        is_apart: The kernels are kept apart from the rest of the machine.
    """

    environ: Mapping[str, str]
    start: Start = start_usual
    is_local: bool = True
    judge: Callable[[str, Stop], JudgeReply] | None = None
    environment_names: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    is_apart: bool = False

    @contextlib.contextmanager
    def open(
        self, item: Item, stop: Stop, folder: Path | None = None, beside: tuple[Path, ...] = ()
    ) -> Iterator[Room]:
        """A room with the item's files and setup; gone with the ``with``.

        Args:
            item: The sample.
            stop: Ends what runs in it.
            folder: Its folder; None: a new one.
            beside: Folders that its kernel sees as well, where it does not see all.

        Raises:
            KernelError: The kernel did not start.
            SetupFailedError: A setup cell failed.
        """
        with _folder(folder) as place:
            for name, path in item.files.items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place / name)
            also = contextlib.ExitStack()
            kernel = SampleKernel(lambda: self._begun(place, item, beside, also), str(place))
            try:
                room = Room(kernel, place, stop, also)
                for number, code in enumerate(item.setup, start=1):
                    cell = room.run(code, SETUP_SECONDS, f"setup-{number}")
                    if cell.status != "ok":
                        raise SetupFailedError(f"Setup cell {number} failed: {cell.error}")
                yield room
            finally:
                kernel.end()
                also.close()

    def _begun(
        self, place: Path, item: Item, beside: tuple[Path, ...], also: contextlib.ExitStack
    ) -> FreshKernel:
        if not self.is_local:
            kernel = self.start(place, {**FIXED, **self.environ})
        else:
            made = tempfile.TemporaryDirectory(
                prefix="cw-", dir=own_samples_folder(), ignore_cleanup_errors=True
            )
            private = also.enter_context(made)
            kernel = self.start(
                place, self._environment(private), self._box(place, item, beside, private)
            )
        limit = item.limits.memory_limit_bytes
        if limit is not None:
            try:
                kernel.limit_memory(limit)
            except BaseException:
                kernel.close(now=True)
                raise
        return kernel

    def _environment(self, private: str) -> dict[str, str]:
        env = kernel_environment(self.environ, self.environment_names)
        own = {IPYTHON_FOLDER: "ipython", **({} if self.is_apart else OWN_FOLDERS)}
        named = (*self.environ, *self.environment_names)
        return env | {n: os.path.join(private, f) for n, f in own.items() if n not in named}

    def _box(self, place: Path, item: Item, beside: tuple[Path, ...], private: str) -> Box:
        from jupyter_core.paths import jupyter_runtime_dir

        # Whoever reads a kernel's file there, of a notebook or a server, can run code in it.
        hidden = (*self.hidden, str(samples_folder()), jupyter_runtime_dir())
        closed = list(map(Path, map(os.path.realpath, hidden)))
        shared = {os.path.realpath(path) for path in (*SHARED_FOLDERS, tempfile.gettempdir())}
        shared = {path for path in shared if not any(map(Path(path).is_relative_to, closed))}
        given = {**FIXED, **self.environ}
        also = (self.writable, tuple(sorted(shared)))
        return Box(place, given, item.needs, beside, hidden, private, *also)


def samples_folder() -> Path:
    """Where the folders of samples are, in all benchmarks of this user; no kernel can open it.

    Raises:
        OSError: There can be none.
    """
    place = tempfile.gettempdir()
    if place == "/tmp" and os.access("/var/tmp", os.W_OK):
        place = "/var/tmp"  # beside a hidden folder nothing can be made, and code likes /tmp
    user = os.getuid() if os.name == "posix" else "user"
    folder = Path(os.path.realpath(place), f"cw-{user}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.name == "posix" and (folder.is_symlink() or folder.stat().st_uid != user):
        raise PermissionError(f"{str(folder)!r} is another user's; set TMPDIR to a folder of yours")
    return folder


LOCK = "lock"


def own_samples_folder() -> Path:
    """Where the folders of this process's samples are; no kernel can open it.

    Raises:
        OSError: There can be none.
    """
    own = _locked_folder(samples_folder())
    if not own.is_dir():  # somebody cleaned up
        _locked_folder.cache_clear()
        own = _locked_folder(samples_folder())
    return own


@functools.cache
def _locked_folder(place: Path) -> Path:
    """A folder that is this process's own, once those are removed that killed processes left.

    Its lock tells that a process lives, in whatever container. Where the system has no such locks,
    folders that are left behind stay.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return place
    for left in place.iterdir():
        if left.name.startswith("."):
            continue  # it is being made
        with contextlib.suppress(OSError), (left / LOCK).open("r+b") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its process lives
            for found in left.iterdir():
                if found.name != LOCK:
                    _remove(found)
            _remove(left)
    made = Path(tempfile.mkdtemp(prefix=".", dir=place))
    lock = (made / LOCK).open("wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    own = made.rename(place / made.name.removeprefix("."))
    atexit.register(_remove_at_exit, own, lock, os.getpid())
    return own


def _remove_at_exit(own: Path, lock: BinaryIO, process: int) -> None:
    """Remove the folder with the process that made it, and not with one that it forked."""
    if os.getpid() == process:
        _remove(own)
        lock.close()


@contextlib.contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    # The model is told of it: a short name that says nothing of a benchmark.
    made = tempfile.mkdtemp(prefix="s-", dir=own_samples_folder())
    try:
        yield Path(made)
    finally:
        _remove(Path(made))


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:  # an agent made folders in folders, a thousand deep
        subprocess.run(["rm", "-rf", "--", str(folder)], capture_output=True, check=False)


class Room:
    """A kernel in a folder.

    Args:
        kernel: The kernel.
        folder: Its folder, or ours that goes with it where it runs elsewhere.
        stop: Ends what runs in it.
        also: Is closed with it.
    """

    def __init__(
        self,
        kernel: SampleKernel,
        folder: Path,
        stop: Stop,
        also: contextlib.ExitStack | None = None,
    ) -> None:
        self.kernel = kernel
        self._folder = folder
        self.stop = stop
        self.also = also or contextlib.ExitStack()
        self.works: Mapping[str, str] | None = None
        """What the kernel's own works were before the agent's code ran; None: nobody looked."""
        self.broken = ""
        """Why nothing more can be run in it; each try would be waited for in vain."""

    def note_works(self) -> None:
        """Remember what the kernel's own works are now.

        Raises:
            SetupFailedError: A fresh kernel cannot even tell.
        """
        try:
            self.works = self._look()
        except CheckError as error:
            said = str(error).strip(": ")
            hint = " Allow more with --max-memory." if "MemoryError" in said else ""
            raise SetupFailedError(f"A fresh kernel cannot be looked at: {said}.{hint}") from error

    def list_changed_works(self) -> tuple[str, ...]:
        """What was changed of them since."""
        if self.works is None or not self.kernel.is_alive():
            return ()
        try:
            now = self._look()
        except (CheckError, KernelError, ValueError):
            return ("the kernel does not say",)
        kept = {name: now.get(name) for name in self.works}
        strange = (tampering.ADDED, tampering.SHADOW)
        more = [name for name in now if name.startswith(strange) and name not in self.works]
        return (*(name for name in kept if kept[name] != self.works[name]), *more)

    def _look(self) -> Mapping[str, str]:
        found: Mapping[str, str] = ask_kernel(self, (tampering,), "look", {})
        return found

    @property
    def folder(self) -> Path:
        """The kernel's folder as it is now."""
        self.kernel.fetch_files(self._folder)
        return self._folder

    def run(self, code: str, timeout_seconds: float, cell_id: str = CHECK) -> SampleCell:
        """Run a cell to its end.

        Raises:
            KernelError: The kernel died or does not answer.
            RunCancelled: Somebody pressed Stop.
        """
        if self.broken:
            raise KernelError(self.broken)
        try:
            return self._run(code, timeout_seconds, cell_id)
        except KernelError as error:
            self.broken = str(error)
            raise

    def _run(self, code: str, timeout_seconds: float, cell_id: str) -> SampleCell:
        messages: list[OutputMessage] = []

        def keep(output: CellOutput) -> CellOutput:
            messages.append(output.message)
            return output

        # A check says what is expected, and other samples' kernels can listen to this one.
        request = CellRequest(cell_id, code, timeout_seconds, is_secret=cell_id == CHECK)
        running = self.kernel.execute(request, self.stop, keep)
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


ENTER = """
(lambda os, sys: (
    sys.path.__setitem__(slice(None), [p if p not in ('', '.') else os.getcwd() for p in sys.path]),
    os.chdir({!r}),
))(__import__('os'), __import__('sys'))
"""
"""Into the agent's folder, whose files are data there: modules come from the sample's own files."""


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
        self._clean: Room | None = None

    @property
    def folder(self) -> Path:
        """The sample's folder, with what the cells left in it."""
        return self._room.folder

    @property
    def reference(self) -> tuple[str, ...]:
        """Cells that solve it."""
        return self._item.reference

    def clean(self) -> RoomScene:
        """The same in a kernel that the agent never touched."""
        if self._clean is None or self._clean.broken:
            # Where kernels do not see all, this one sees the agent's folder, too.
            beside = (self._room.folder,) if self._rooms.is_local else ()
            opened = self._rooms.open(self._item, self._room.stop, beside=beside)
            self._clean = self._room.also.enter_context(opened)
            place = str(self.folder) if self._rooms.is_local else self._room.kernel.describe().cwd
            self._clean.run(ENTER.format(place), CELL_SECONDS)
        return RoomScene(self._clean, self._rooms, self._item, self.answer, ())

    def tampering(self) -> tuple[str, ...]:
        """What the agent's code changed of the kernel's own works."""
        return self._room.list_changed_works()

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
            room.note_works()
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


# Task kernels of any interpreter that has ipykernel: forked where that is safe, or started.


OURS = "python3"
PYTHONS = ("python", "python3", f"python3.{sys.version_info[1]}")
"""In a kernelspec they mean the interpreter that reads it."""


@dataclass(frozen=True)
class InterpreterChoice:
    """Which kernels the tasks run in."""

    python: str = ""
    """Path of the interpreter; empty: that of the usual kernel."""
    is_forked: bool = True
    """Fork them from a process that has imported ``modules``, where that is safe."""
    modules: tuple[str, ...] = MODULES
    isolation: Isolation = Isolation()


@dataclass(frozen=True)
class TaskKernels:
    """Starts kernels of one kind."""

    python: str = ""
    """Their interpreter; empty: that of the usual kernel."""
    isolation: Isolation = Isolation()
    forks: Forks | None = None
    notice: str = ""
    """Why they are not forked though they were to be."""

    def packages(self) -> tuple[str, ...]:
        """Where packages are installed for them."""
        return package_folders(self.python or _usual_python())

    def start(self, cwd: Path, env: Mapping[str, str], box: Box | None = None) -> FreshKernel:
        """Start one; forked, where neither the sample nor its folder stands against it.

        Raises:
            KernelError: It did not start.
        """
        box = box or Box(cwd, env)
        python = box.needs.python or self.python
        if self.isolation.program:
            python = python or _usual_python()
            process = IsolatedProcess(OURS, self.isolation, box, python)
            return open_kernel(process, cwd, env)
        if self.forks is not None and python == self.python:
            with contextlib.suppress(KernelError, OSError):
                limits = box.limits(python or _usual_python())
                return self.forks.start(cwd, env, limits, box.private)
        return _start_limited(box, env, python)


@contextlib.contextmanager
def kernels_of(choice: InterpreterChoice, env: Mapping[str, str]) -> Iterator[TaskKernels]:
    """Kernels as they were chosen, for as long as the ``with`` lasts.

    Args:
        choice: Which.
        env: Their environment; what is warmed depends on it.

    Raises:
        SetupError: The interpreter cannot start a kernel.
    """
    python = absolute_interpreter(choice.python)
    if python:
        _check(python)
    if choice.isolation.program:
        check_isolation(choice.isolation, python or _usual_python())
    kernels = TaskKernels(python, choice.isolation)
    if choice.is_forked and not choice.isolation.program:
        try:
            forks = Forks(_interpreter(python), choice.modules)
            forks.warm_up(env)
        except KernelError as error:
            kernels = replace(kernels, notice=f"Kernels are started, not forked: {error}")
        else:
            kernels = replace(kernels, forks=forks)
    yield kernels


def absolute_interpreter(python: str) -> str:
    """The same program from any folder; a link stays one, it tells the environment."""
    return os.path.abspath(shutil.which(python) or python) if python else ""


def _interpreter(python: str) -> tuple[str, ...]:
    """The interpreter and its options, as the kernelspec has them."""
    if python:
        return (python,)
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        argv = list(KernelSpecManager().get_kernel_spec(OURS).argv)
    except NoSuchKernel:
        raise KernelError(f"There is no kernel named {OURS!r}.") from None
    argv[0] = sys.executable if argv[0] in PYTHONS else argv[0]
    return parse_command(argv)[0]


def _usual_python() -> str:
    """The program that the usual kernel runs in."""
    return _interpreter("")[0]


def _check(python: str) -> None:
    try:
        done = subprocess.run(
            [python, "-c", "import ipykernel"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        complaint = str(error)
    else:
        complaint = done.stderr.strip()[-200:] or "no reason given" if done.returncode else ""
    if complaint:
        raise SetupError(
            f"The interpreter {python!r} cannot start a kernel: {complaint}.",
            hint="Install ipykernel in its environment.",
        )
