"""Kernels forked for our own client: nothing stands between, and nothing is waited for in vain.

The provisioner does the same for any Jupyter program, by way of jupyter_client's manager; here
there is neither a kernelspec to find nor a manager to make, which costs more than the fork.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.errors import KernelError
from cellwright.kernels.forking import FileLimits, ForkedProcess, KernelStart, Recipe
from cellwright.kernels.fresh import NO_HISTORY, SOCKET_PATH_LIMIT, FreshKernel, client_of
from cellwright.kernels.provisioner import (
    MODULES,
    READY_SECONDS,
    check_folder,
    check_system,
    recipe_of,
    warmed_processes,
)

CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
END_SECONDS = 2.0


class ForkedKernelProcess:
    """A forked kernel and the folder with its sockets; ``fresh.OwnProcess``."""

    way = "forked"

    def __init__(self, process: ForkedProcess, folder: str, connection: Mapping[str, Any]) -> None:
        self._process = process
        self._folder = folder
        self._connection = connection

    @property
    def exit_code(self) -> int | None:
        """How it ended: negative for a signal."""
        return self._process.returncode

    def client(self) -> Any:
        """A new connection."""
        return client_of(self._connection)

    def is_alive(self) -> bool:
        """Whether it is there."""
        return self._process.poll() is None

    def interrupt_kernel(self) -> None:
        """Interrupt what runs, what it started too."""
        self._signal(signal.SIGINT)

    def end(self, *, now: bool = False) -> None:
        """End it and what it started, at once in any case; a second call does nothing."""
        self._signal(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _signal(self, number: int) -> None:
        # Asked first: once it has ended its number may be somebody else's.
        if self.is_alive():
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, number)


@dataclass(frozen=True)
class Forks:
    """Forks kernels of one interpreter.

    Args:
        interpreter: The program with its options.
        modules: What the warmed process imports before it forks.
    """

    interpreter: tuple[str, ...] = (sys.executable,)
    modules: tuple[str, ...] = MODULES

    def warm_up(self, env: Mapping[str, str]) -> None:
        """Warm a process for kernels with this environment; returns when that is done.

        Raises:
            KernelError: Nothing can be forked from it.
        """
        check_system()
        warmed_processes.get(self._recipe(env))

    def start(
        self,
        cwd: str | os.PathLike[str],
        env: Mapping[str, str],
        limits: FileLimits | None = None,
        place: str | None = None,
    ) -> FreshKernel:
        """Fork a kernel and wait until it answers.

        Args:
            cwd: Its folder.
            env: Its environment.
            limits: Which files it can open; all by default.
            place: Where the folder with its sockets is made; among temporary files by default.

        Raises:
            KernelError: It cannot be forked, or it does not answer.
        """
        check_system()
        folder = tempfile.mkdtemp(prefix="cw-", dir=place)
        process: ForkedProcess | None = None
        try:
            connection = _connection(folder)
            file = Path(folder, "kernel.json")
            file.write_text(json.dumps(connection), encoding="utf-8")
            arguments = ("-f", str(file), NO_HISTORY)
            process = self._forked(arguments, os.path.abspath(cwd), env, limits)
            return FreshKernel.opened(ForkedKernelProcess(process, folder, connection))
        except BaseException:
            if process is not None:
                process.abandon()
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _recipe(self, env: Mapping[str, str]) -> Recipe:
        return recipe_of(self.interpreter, self.modules, env)

    def _forked(
        self,
        arguments: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        limits: FileLimits | None,
    ) -> ForkedProcess:
        environment = {**env, "JPY_PARENT_PID": str(os.getpid())}
        recipe = self._recipe(environment)
        with open(os.devnull, "r+b", buffering=0) as nothing:
            streams = (nothing.fileno(), nothing.fileno(), nothing.fileno())
            given = limits or FileLimits()
            start = KernelStart(tuple(arguments), environment, cwd, streams, limits=given)
            for _ in range(2):
                warmed = warmed_processes.get(recipe)
                check_folder(cwd, warmed.names)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    process = warmed.fork(start)
                    if _is_born(process):
                        return process
        raise KernelError("The warmed process ended before the kernel was there.")


def _is_born(process: ForkedProcess) -> bool:
    """Wait until it can be connected to; whether it ever was there."""
    process.wait_to_be_ready(READY_SECONDS)
    if process.error is not None:
        process.wait(END_SECONDS)
        raise process.error
    if process.poll() is None and not process.is_ready:
        process.abandon()
        raise KernelError(f"The forked kernel was not there within {READY_SECONDS:.0f} s.")
    return process.is_ready


def _connection(folder: str) -> dict[str, Any]:
    """How to reach a kernel: by sockets in a folder that only this person can open."""
    if len(folder) >= SOCKET_PATH_LIMIT:
        raise KernelError(f"The folder for its sockets has too long a name: {folder!r}.")
    ports = {f"{name}_port": number for number, name in enumerate(CHANNELS, start=1)}
    return {
        **ports,
        "transport": "ipc",
        "ip": os.path.join(folder, "kernel.json-ipc"),
        "key": secrets.token_hex(16),
        "signature_scheme": "hmac-sha256",
        "kernel_name": "",
    }
