"""Kernels forked from a warmed process, as the third lane of the kernels' tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernels.lanes import kernel_environment, process_of

from cellwright.kernels.fresh import FreshKernel, start_kernel

COMMAND = (sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}")


def write_spec(folder: Path, name: str, command: tuple[str, ...] = COMMAND, **config: Any) -> None:
    """Write a kernelspec that asks for the provisioner, where JUPYTER_PATH finds it."""
    stanza = {"provisioner_name": "cellwright-fork", "config": config}
    spec = folder / "kernels" / name
    spec.mkdir(parents=True)
    content = {
        "argv": list(command),
        "display_name": name,
        "language": "python",
        "metadata": {"kernel_provisioner": stanza},
    }
    (spec / "kernel.json").write_text(json.dumps(content))


def start_forked(
    folder: Path, name: str = "forked", environment: Mapping[str, str] | None = None
) -> FreshKernel:
    """Start a kernel of such a kernelspec, forked or not."""
    return start_kernel(folder, {**kernel_environment(), **(environment or {})}, name)


def provisioner_of(kernel: FreshKernel) -> Any:
    """Whoever started its process."""
    return process_of(kernel)._manager.provisioner


def children_of(process_id: int) -> list[int]:
    """Processes that a process started and that are there."""
    path = Path(f"/proc/{process_id}/task/{process_id}/children")
    return [int(number) for number in path.read_text().split()]


def is_running(process_id: int) -> bool:
    """Whether a process is there and not a mere entry that waits to be reaped."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
