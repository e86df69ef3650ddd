"""A kernel under jupyter_client's own manager, whose variables are taken back."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from kernels.lanes import kernel_environment

from cellwright.kernels.installing import (
    SNAPSHOTS,
    answer_expression,
    install_snapshots_code,
)

WAIT_SECONDS = 30.0


class SnapshotKernel:
    """A stock kernel that is asked for snapshots by silent requests, as the panel asks."""

    def __init__(self, folder: Path, manager: Any = None, **streams: Any) -> None:
        self.manager: Any = KernelManager() if manager is None else manager
        self.manager.start_kernel(cwd=str(folder), env=kernel_environment(), **streams)
        self.client: BlockingKernelClient = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=WAIT_SECONDS)
        self.install()

    @property
    def root(self) -> int:
        """The process that the manager started."""
        return int(self.manager.provisioner.process.pid)

    def install(self) -> None:
        self.client.execute_interactive(
            install_snapshots_code(), silent=True, store_history=False, timeout=WAIT_SECONDS
        )

    def run(self, code: str, watch: Callable[[str], object] = lambda text: None) -> str:
        """What a cell prints, which ``watch`` sees as it comes; it must not fail."""
        printed: list[str] = []

        def see(message: dict[str, Any]) -> None:
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])
                watch(printed[-1])

        reply = self.client.execute_interactive(code, output_hook=see, timeout=WAIT_SECONDS)
        assert reply["content"]["status"] == "ok", reply["content"].get("traceback")
        return "".join(printed).strip()

    def ask(self, function: str, **arguments: Any) -> Any:
        """The answer of a function of ``snapshots``."""
        reply = self.client.execute_interactive(
            "",
            silent=True,
            store_history=False,
            user_expressions={
                "answer": answer_expression(function, arguments, f"{SNAPSHOTS}.snapshots")
            },
            timeout=WAIT_SECONDS,
        )
        answer = reply["content"]["user_expressions"]["answer"]
        assert answer["status"] == "ok", answer
        found = json.loads(eval(answer["data"]["text/plain"], {"__builtins__": {}}))
        assert "failed" not in found, found
        return found["value"]

    def take(self, label: str = "before", **options: Any) -> str:
        """The id of a new snapshot."""
        taken = self.ask("take", label=label, **options)
        assert "id" in taken, taken
        return str(taken["id"])

    def go_back(self, snapshot_id: str, **options: Any) -> Any:
        """Go back, or forth."""
        return self.ask(
            "go_back",
            snapshot_id=snapshot_id,
            reply={"user_expressions": {"answer": None}},
            **options,
        )

    def processes(self) -> dict[int, str]:
        """What lives of its process group: number and name."""
        return processes_of(self.root)

    def close(self) -> None:
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel()


def processes_of(group: int) -> dict[int, str]:
    """The living processes of a group: number and name."""
    found = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{number}/stat").read_text()
            name, _, rest = stat.partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, _, process_group = rest.split()[:3]
        if int(process_group) == group and state != "Z":
            found[int(number)] = name
    return found


def wait_for(condition: Callable[[], Any], seconds: float = 10.0) -> bool:
    """Whether it comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
