"""A jupyter_client kernel provisioner that forks kernels from a warmed process.

A kernelspec asks for it by name, in its ``metadata``:

    "kernel_provisioner": {"provisioner_name": "cellwright-fork", "config": {"modules": [...]}}

Where forking is not safe the kernel is started as usual, and ``fallback_reason`` says why.
``docs/how-to/kernels.md`` lists what a forked kernel has in common with a normal one, and what not.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Int, List, Unicode

from cellwright.errors import KernelError
from cellwright.kernels.forking import (
    ForkedProcess,
    KernelStart,
    Recipe,
    WarmedProcesses,
    file_limits,
)
from cellwright.kernels.installing import prepare_code

READY_SECONDS = 30.0
MODULES = (
    *("numpy", "pandas", "pandas.io.formats.html", "pandas.io.formats.string"),
    *("matplotlib", "matplotlib.pyplot", "matplotlib.backends.backend_agg"),
)
LAUNCHERS = ("ipykernel_launcher", "ipykernel")
READ_BY_IMPORTS = ("HOME", "LANG", "LANGUAGE", "PATH", "TZ", "VIRTUAL_ENV")
READ_BY_IMPORTS_PREFIXES = (
    *("ARROW_", "BLIS_", "COVERAGE_", "CUDA_", "GOTO_", "KMP_", "LC_", "LD_", "MALLOC_", "MKL_"),
    *("MPL", "NPY_", "NUMBA_", "NUMEXPR_", "NUMPY_", "OMP_", "OPENBLAS_", "PANDAS_", "PYTHON"),
    *("TF_", "TORCH_", "XDG_"),
)
READ_LATER = ("NUMBA_CACHE_DIR",)
"""Kernels may have folders of their own, and come from one process all the same."""
SPOKEN_FOR = {"cwd", "env", "stdin", "stdout", "stderr", "kernel_id", "extra_arguments"}
"""Options of a start that mean the same for a fork."""

warmed_processes = WarmedProcesses()


class ForkProvisioner(LocalProvisioner):
    """Forks kernels; everything after the launch is as with a local process."""

    modules = List(
        Unicode(), [*MODULES], help="What the warmed process imports before it forks."
    ).tag(config=True)
    environment_names = List(
        Unicode(), help="More environment variables that warmed modules read as they are imported."
    ).tag(config=True)
    memory_limit_bytes = Int(
        0, min=0, help="Limit of a kernel's address space; 0: none. Linux only."
    ).tag(config=True)

    process: Any = None
    fallback_reason = ""
    """Why the kernel was not forked; empty when it was."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Fork a kernel, or start it as usual."""
        try:
            await self._fork(cmd, kwargs)
        except KernelError as error:
            self.fallback_reason = str(error)
            self.log.warning("The kernel is started as usual, not forked. %s", error)
            found = await super().launch_kernel(cmd, **kwargs)
            self._limit_memory()
            return found
        self.fallback_reason = ""
        return self.connection_info

    async def wait(self) -> int | None:
        """Wait until the process has ended."""
        if isinstance(self.process, ForkedProcess):
            await self.process.wait_until_ended()
        return await super().wait()

    async def get_provisioner_info(self) -> dict[str, Any]:
        """What is known of the kernel's process."""
        found: dict[str, Any] = await super().get_provisioner_info()
        forked = isinstance(self.process, ForkedProcess)
        return {**found, "forked": forked, "fallback_reason": self.fallback_reason}

    async def _fork(self, command: Sequence[str], options: Mapping[str, Any]) -> None:
        check_system()
        check_options(options)
        interpreter, arguments = parse_command(command)
        environment = {**options["env"], "JPY_PARENT_PID": str(os.getpid())}
        cwd = os.path.abspath(options.get("cwd") or os.getcwd())
        recipe = recipe_of(interpreter, self.modules, environment, self.environment_names)
        with _standard_streams(options) as streams:
            start = KernelStart(
                arguments, environment, cwd, streams, self.memory_limit_bytes, file_limits.get()
            )
            process = await self._asked(recipe, start)
        self.process, self.pid, self.pgid, self.cwd = process, process.pid, process.pid, cwd

    async def _asked(self, recipe: Recipe, start: KernelStart) -> ForkedProcess:
        for _ in range(2):
            warmed = warmed_processes.ready(recipe)
            if warmed is None or warmed.refusal:
                warmed = await asyncio.to_thread(warmed_processes.get, recipe)
                self._tell(warmed.missing, warmed.left_out)
            check_folder(start.cwd, warmed.names)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                process = warmed.fork(start)
                if await _is_born(process):
                    return process
        raise KernelError("The warmed process ended before the kernel was there.")

    def _tell(self, missing: Sequence[str], left_out: Sequence[str]) -> None:
        if missing and tuple(self.modules) != MODULES:
            self.log.warning("Not there to be warmed: %s.", ", ".join(missing))
        if left_out:
            names = ", ".join(left_out)
            self.log.warning("Not warmed, they look for a shell as they are imported: %s.", names)

    def _limit_memory(self) -> None:
        if self.memory_limit_bytes and sys.platform == "linux":
            import resource

            limits = (self.memory_limit_bytes, self.memory_limit_bytes)
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(self.process.pid, resource.RLIMIT_AS, limits)
        elif self.memory_limit_bytes:
            self.log.warning("Memory is limited on Linux only.")


def warm_up(
    python: str = sys.executable,
    modules: Sequence[str] = MODULES,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Warm a process before its first kernel is asked for; returns when that is done.

    Raises:
        KernelError: Nothing can be forked from it: kernels will be started as usual.
    """
    check_system()
    found = environment if environment is not None else os.environ
    warmed_processes.get(recipe_of((python,), modules, found))


def recipe_of(
    interpreter: Sequence[str],
    modules: Sequence[str],
    environment: Mapping[str, str],
    more_names: Sequence[str] = (),
) -> Recipe:
    """What a process has to be warmed with, for kernels of this kind."""
    names = {*READ_BY_IMPORTS, *more_names}
    folders = environment.get("PYTHONPATH", "")
    if folders and not all(map(os.path.isabs, folders.split(os.pathsep))):
        raise KernelError(f"PYTHONPATH is relative to a folder: {folders!r}.")
    kept = {
        name: value
        for name, value in environment.items()
        if name in names or (name.startswith(READ_BY_IMPORTS_PREFIXES) and name not in READ_LATER)
    }
    return Recipe(tuple(interpreter), tuple(modules), tuple(sorted(kept.items())), prepare_code())


def check_system() -> None:
    """Refuse systems on which a fork of a Python process is not safe, or cannot be watched."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        raise KernelError(f"Kernels are forked on Linux 5.3 and later only, not on {sys.platform}.")


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse a start that asks for what a fork cannot have."""
    unknown = {name for name in set(options) - SPOKEN_FOR if options[name]}
    if unknown:
        raise KernelError(f"A forked kernel cannot have {', '.join(sorted(unknown))!r}.")
    piped = [n for n in ("stdin", "stdout", "stderr") if options.get(n) == subprocess.PIPE]
    if piped:
        raise KernelError(f"A forked kernel cannot have a pipe as {piped[0]}.")


def parse_command(command: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a kernel's command into the interpreter with its options and the arguments."""
    place = next((i for i, part in enumerate(command) if part == "-m"), len(command))
    if tuple(command[place + 1 : place + 2]) not in [(name,) for name in LAUNCHERS]:
        raise KernelError(f"Its command does not start ipykernel: {' '.join(command)!r}.")
    return tuple(map(os.path.expanduser, command[:place])), tuple(command[place + 2 :])


def check_folder(folder: str, names: frozenset[str]) -> None:
    """Refuse a folder whose files would be imported instead of what was warmed."""
    for name in sorted(names):
        for file in (f"{name}.py", os.path.join(name, "__init__.py")):
            if os.path.exists(os.path.join(folder, file)):
                raise KernelError(f"{file!r} in its folder has the name of a warmed module.")
    if "matplotlib" in names and os.path.exists(os.path.join(folder, "matplotlibrc")):
        raise KernelError("The 'matplotlibrc' in its folder is read when matplotlib is imported.")


@contextlib.contextmanager
def _standard_streams(options: Mapping[str, Any]) -> Iterator[tuple[int, int, int]]:
    with open(os.devnull, "r+b", buffering=0) as nothing:
        found: list[int] = []
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            wanted = options.get(name)
            if wanted == subprocess.DEVNULL or (wanted is None and number == 0):
                wanted = nothing
            elif wanted == subprocess.STDOUT:
                wanted = found[1]
            elif wanted is None:
                wanted = number
            found.append(wanted if isinstance(wanted, int) else wanted.fileno())
        yield found[0], found[1], found[2]


async def _is_born(process: ForkedProcess) -> bool:
    """Wait until it can be connected to; whether it ever was there."""
    try:
        await process.wait_until_ready(READY_SECONDS)
    except BaseException:
        process.abandon()
        raise
    if process.error is not None:
        await process.wait_until_ended()
        raise process.error
    if not process.pid:
        process.abandon()  # it may only be late, and nobody will ask for it any more
    return bool(process.pid)
