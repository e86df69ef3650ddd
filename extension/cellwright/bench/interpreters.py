"""Task kernels of any interpreter that has ipykernel: forked where that is safe, or started."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from cellwright.errors import KernelError, SetupError
from cellwright.kernels.forks import Forks
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.kernels.provisioner import MODULES, parse_command

OURS = "python3"
THEIRS = "cellwright-bench"
JUPYTER_PATH = "JUPYTER_PATH"
PYTHONS = ("python", "python3", f"python3.{sys.version_info[1]}")
"""In a kernelspec they mean the interpreter that reads it."""


@dataclass(frozen=True)
class KernelChoice:
    """Which kernels the tasks run in."""

    python: str = ""
    """Path of the interpreter; empty: that of the usual kernel."""
    is_forked: bool = True
    """Fork them from a process that has imported ``modules``, where that is safe."""
    modules: tuple[str, ...] = MODULES


@dataclass(frozen=True)
class TaskKernels:
    """Starts kernels of one kind."""

    name: str
    """Of the kernelspec."""
    forks: Forks | None = None
    notice: str = ""
    """Why they are not forked though they were to be."""

    def start(self, cwd: Path, env: Mapping[str, str]) -> FreshKernel:
        """Start one; forked, where the sample's folder does not stand against it.

        Raises:
            KernelError: It did not start.
        """
        if self.forks is not None:
            with contextlib.suppress(KernelError, OSError):
                return self.forks.start(cwd, env)
        return start_kernel(cwd, env, self.name)


@contextlib.contextmanager
def kernels_of(choice: KernelChoice, env: Mapping[str, str]) -> Iterator[TaskKernels]:
    """Kernels as they were chosen, for as long as the ``with`` lasts.

    Args:
        choice: Which.
        env: Their environment; what is warmed depends on it.

    Raises:
        SetupError: The interpreter cannot start a kernel.
    """
    with _named(choice.python) as name:
        kernels = TaskKernels(name)
        if choice.is_forked:
            try:
                forks = Forks(_interpreter(choice.python), choice.modules)
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
        return (absolute_interpreter(python),)
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        argv = list(KernelSpecManager().get_kernel_spec(OURS).argv)
    except NoSuchKernel:
        raise KernelError(f"There is no kernel named {OURS!r}.") from None
    argv[0] = sys.executable if argv[0] in PYTHONS else argv[0]
    return parse_command(argv)[0]


@contextlib.contextmanager
def _named(python: str) -> Iterator[str]:
    """The name of a kernelspec that this interpreter runs."""
    if not python:
        yield OURS
        return
    python = absolute_interpreter(python)
    _check(python)
    with tempfile.TemporaryDirectory(prefix="cw-kernel-") as folder, _on_path(folder):
        # A name of its own: kernels of two interpreters may be wanted at a time.
        name = f"{THEIRS}-{sha256(python.encode()).hexdigest()[:8]}"
        place = Path(folder) / "kernels" / name
        place.mkdir(parents=True)
        argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": name, "language": "python"}
        (place / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        yield name


@contextlib.contextmanager
def _on_path(folder: str) -> Iterator[None]:
    before = os.environ.get(JUPYTER_PATH)
    os.environ[JUPYTER_PATH] = os.pathsep.join(filter(None, [folder, before]))
    try:
        yield
    finally:
        if before is None:
            del os.environ[JUPYTER_PATH]
        else:
            os.environ[JUPYTER_PATH] = before


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
