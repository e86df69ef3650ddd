"""Task kernels in an environment of their own: any interpreter that has ipykernel."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cellwright.errors import SetupError

__all__ = ["kernel_of"]

OURS = "python3"
THEIRS = "cellwright-bench"
JUPYTER_PATH = "JUPYTER_PATH"


@contextlib.contextmanager
def kernel_of(python: str) -> Iterator[str]:
    """The name of a kernel that this interpreter runs, for as long as the ``with`` lasts.

    Args:
        python: Path of the interpreter; empty: the usual kernel.

    Raises:
        SetupError: It cannot start a kernel.
    """
    if not python:
        yield OURS
        return
    _check(python)
    with tempfile.TemporaryDirectory(prefix="cw-kernel-") as folder:
        place = Path(folder) / "kernels" / THEIRS
        place.mkdir(parents=True)
        argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": THEIRS, "language": "python"}
        (place / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        before = os.environ.get(JUPYTER_PATH, "")
        os.environ[JUPYTER_PATH] = os.pathsep.join(filter(None, [folder, before]))
        try:
            yield THEIRS
        finally:
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
