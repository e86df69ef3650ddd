"""Kernels that are kept apart from the rest of the machine: by bubblewrap, Docker or Podman.

Such a kernel sees the system's programs and libraries, its interpreter and the folder of its
sample; not your files, other processes or, unless it is allowed to, a network. Its sockets are
files, so it needs no network to be reached.

What this does not protect against: a fault of the kernel of the operating system, or of the program
that keeps it apart; and what it uses up: see the limits of a sample.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.bench.suites import Needs, Suite
from cellwright.errors import KernelError, SetupError
from cellwright.kernels.forking import FileLimits
from cellwright.kernels.fresh import SOCKET_PATH_LIMIT, KernelProcess

BWRAP = "bwrap"
PROGRAMS = (BWRAP, "docker", "podman")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt")
STORES = ("/nix/store", "/gnu/store")
HOME = "/tmp"
TRY_SECONDS = 120.0
ASK_PACKAGES = "import json, site, sys; print(json.dumps([sys.prefix, site.getuserbase()]))"
ASK_INTERPRETER = """
import json, os, sys
program = os.path.realpath(sys.executable)
names = [sys.executable, program]
folders = [sys.prefix, sys.base_prefix, *map(os.path.dirname, names), *sys.path]
print(json.dumps([f for f in folders if os.path.isdir(f) and f != '/']))
"""


@dataclass(frozen=True)
class Isolation:
    """How kernels are kept apart; with no program they are not."""

    program: str = ""
    """One of ``PROGRAMS``."""
    image: str = ""
    """Of containers, where a sample names none."""
    has_network: bool = False


@dataclass(frozen=True)
class Box:
    """What one kernel sees and is."""

    folder: Path
    """The sample's, in which it starts."""
    environ: Mapping[str, str]
    """For a container, which has none of ours."""
    needs: Needs = field(default_factory=Needs)
    beside: tuple[Path, ...] = ()
    """Other folders that it may read and write; the first is the one that the sample is about."""
    hidden: tuple[str, ...] = ()
    """Files and folders that it must not see, wherever they are."""
    private: str | None = None
    """A folder for its sockets and temporary files."""
    writable: tuple[str, ...] = ()
    """Where it may write besides, where it sees all."""
    shared: tuple[str, ...] = ()
    """The same, but for what of its interpreter's is there."""

    def limits(self, python: str) -> FileLimits:
        """Which files a kernel of this interpreter can open, where it sees all."""
        own = (str(self.folder), *map(str, self.beside), *filter(None, [self.private]))
        kept = [os.path.realpath(folder) for folder in interpreter_folders(python)]
        shared = (path for place in self.shared for path in _beside(place, kept))
        return FileLimits(self.hidden, (*own, *self.writable, *shared))


def _beside(place: str, kept: Sequence[str]) -> Iterator[str]:
    """A folder, or what is in it beside that which holds one of the kept folders."""
    heads = {
        os.path.join(place, *Path(folder).relative_to(place).parts[:1])
        for folder in kept
        if Path(folder).is_relative_to(place)
    }
    if not heads:
        yield place
    elif place not in heads:
        with os.scandir(place) as entries:
            # Where a link leads to may be anywhere.
            yield from [e.path for e in entries if not e.is_symlink() and e.path not in heads]


class IsolatedProcess(KernelProcess):
    """A kernel's process behind such a program.

    Args:
        kernel_name: Name of an installed kernel.
        isolation: How it is kept apart.
        box: What it sees.
        python: Its interpreter.
    """

    def __init__(self, kernel_name: str, isolation: Isolation, box: Box, python: str) -> None:
        super().__init__(kernel_name, python, box.private)
        self.way = isolation.program
        self._isolation, self._box = isolation, box
        self._container = f"cellwright-{secrets.token_hex(8)}"
        if os.name != "posix" or len(self._folder) >= SOCKET_PATH_LIMIT:
            raise KernelError(f"Its sockets cannot be files in {self._folder!r}.")

    def command(self, argv: list[str]) -> list[str]:
        """The kernel's command behind the program, which gets no signals for it."""
        spec: Any = self._manager.kernel_spec
        spec.interrupt_mode = "message"
        if self._isolation.program == BWRAP:
            return [*wrap(self._box, self._isolation, argv[0], self._folder), *argv]
        python = self._box.needs.python or "python3"
        return [*self._run_container(), python, *argv[1:]]

    def start(self, cwd: str, env: Mapping[str, str]) -> None:
        """Start it; a container's program has our environment, which says where its daemon is.

        Raises:
            KernelError: No kernel of this name is installed.
        """
        super().start(cwd, env if self._isolation.program == BWRAP else os.environ)

    def end(self, *, now: bool = False) -> None:
        """End it, and the container, which would go on without its client."""
        super().end(now=now)
        if self._isolation.program != BWRAP:
            words = [self._isolation.program, "rm", "-f", self._container]
            subprocess.run(words, capture_output=True, check=False)

    def _run_container(self) -> Iterator[str]:
        box, isolation = self._box, self._isolation
        yield from (isolation.program, "run", "--rm", "--name", self._container)
        yield from ("--user", f"{os.getuid()}:{os.getgid()}", "--cap-drop", "ALL")
        if isolation.program == "podman" and os.getuid():
            # Else it is another user's number outside, whose folders these are not.
            yield from ("--userns", "keep-id")
        yield from () if _has_network(box, isolation) else ("--network", "none")
        for folder in (self._folder, str(box.folder), *map(str, box.beside)):
            yield from ("-v", f"{folder}:{folder}")
        if box.needs.workdir:
            yield from ("-v", f"{_subject(box)}:{box.needs.workdir}")
        for name, value in {"HOME": HOME, **box.environ}.items():
            yield from ("-e", f"{name}={value}")
        yield from ("-w", str(box.folder), box.needs.image or isolation.image)


def wrap(box: Box, isolation: Isolation, python: str, *folders: str) -> list[str]:
    """The command of bubblewrap for a box, up to the program that runs in it.

    Args:
        box: What is seen.
        isolation: Whether there may be a network.
        python: The interpreter, which is seen with its packages.
        folders: More that may be read and written.
    """
    words = [BWRAP, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += [] if _has_network(box, isolation) else ["--unshare-net"]
    words += ["--unsetenv", "JPY_PARENT_PID", "--setenv", "HOME", HOME]
    seen = [*_existing(SYSTEM), *_existing(STORES)]
    for place in seen:
        words += _show(place)
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    beyond = [*_beyond(interpreter_folders(python), seen)]
    own = [*folders, str(box.folder), *map(str, box.beside)]
    for place in beyond:
        words += ["--ro-bind", place, place]
    for place in filter(os.path.exists, box.hidden):
        if any(Path(place).is_relative_to(shown) for shown in (*seen, *beyond, *own)):
            is_folder = os.path.isdir(place)
            words += ["--tmpfs", place] if is_folder else ["--ro-bind", "/dev/null", place]
    for place in own:
        words += ["--bind", place, place]
    if box.needs.workdir:
        words += ["--bind", str(_subject(box)), box.needs.workdir]
    return [*words, "--chdir", str(box.folder), "--"]


def _subject(box: Box) -> Path:
    """The folder that the agent worked in."""
    return box.beside[0] if box.beside else box.folder


def _has_network(box: Box, isolation: Isolation) -> bool:
    return isolation.has_network and box.needs.network is not False


def _existing(places: Iterable[str]) -> Iterator[str]:
    return (place for place in places if os.path.exists(place))


def _show(place: str) -> list[str]:
    if os.path.islink(place):
        return ["--symlink", os.readlink(place), place]
    return ["--ro-bind", place, place]


def _beyond(folders: Iterable[str], seen: Iterable[str]) -> Iterator[str]:
    """Those that are in none of what is seen, nor in each other."""
    shown = list(seen)
    for folder in sorted(set(folders)):
        if not any(Path(folder).is_relative_to(place) for place in shown):
            shown.append(folder)
            yield folder


@functools.cache
def interpreter_folders(python: str) -> tuple[str, ...]:
    """Where an interpreter and its packages are."""
    return _ask_interpreter(python, ASK_INTERPRETER)


def package_folders(python: str) -> tuple[str, ...]:
    """Where an interpreter's packages are installed: in its environment, or for this user."""
    return _ask_interpreter(python, ASK_PACKAGES)


def _ask_interpreter(python: str, question: str) -> tuple[str, ...]:
    words = [python, "-c", question]
    found = subprocess.run(words, capture_output=True, text=True, cwd="/", check=True)
    return tuple(json.loads(found.stdout))


def check_isolation(isolation: Isolation, python: str) -> None:
    """Try whether kernels can be kept apart here.

    Args:
        isolation: How.
        python: The interpreter of the kernels.

    Raises:
        SetupError: They cannot.
    """
    if shutil.which(isolation.program) is None:
        name = "bubblewrap" if isolation.program == BWRAP else isolation.program
        raise SetupError(
            f"There is no program {isolation.program!r}.",
            hint=f"Install {name} with your system's packages.",
        )
    if isolation.program == BWRAP:
        words = [*wrap(Box(Path("/tmp"), {}), isolation, python), python, "-c", ""]
    elif isolation.image:
        run = ["run", "--rm", "--network", "none", isolation.image]
        words = [isolation.program, *run, "python3", "-c", "import ipykernel"]
    else:
        words = [isolation.program, "version"]
    try:
        tried = subprocess.run(
            words, capture_output=True, text=True, timeout=TRY_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"{isolation.program!r} does not answer: {error}.") from error
    if tried.returncode:
        raise SetupError(
            f"{isolation.program!r} cannot be used here: {tried.stderr.strip()[-300:]}.",
            hint="Leave --isolation out, or see docs/how-to/bench.md.",
        )


def check_needs(suite: Suite, isolation: Isolation) -> None:
    """Refuse samples that need what this way of running them does not provide.

    Raises:
        SetupError: There are some.
    """
    is_container = isolation.program not in ("", BWRAP)
    for item in suite.items:
        needs = item.needs
        if not isolation.program and (needs.image or needs.workdir or needs.network is False):
            need = "an image" if needs.image else needs.workdir or "a closed network"
            raise SetupError(
                f"The sample {item.index!r} needs {need}, which needs isolation.",
                hint="Add --isolation bwrap, docker or podman.",
            )
        if needs.image and not is_container and not needs.workdir:
            raise SetupError(
                f"The sample {item.index!r} needs the image {needs.image!r}.",
                hint="Add --isolation docker or podman.",
            )
        if is_container and not (needs.image or isolation.image):
            raise SetupError(
                f"The sample {item.index!r} names no image.", hint="Name one: --image IMAGE"
            )
        if needs.network and isolation.program and not isolation.has_network:
            raise SetupError(
                f"The sample {item.index!r} wants a network.", hint="Allow it: --network"
            )
