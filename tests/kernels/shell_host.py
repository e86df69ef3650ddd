"""Lives in a real kernel and runs a ShellKernel inside its cells, as the magic does."""

from __future__ import annotations

import json
import threading
from typing import Any

from IPython.core.getipython import get_ipython

from cellwright.errors import CellwrightError, RunCancelled
from cellwright.kernels import CellRequest
from cellwright.kernels.shell import ShellKernel
from cellwright.kernels.tap import ShellOptions
from cellwright.record.events import CellOutput
from cellwright.record.outputs import StreamOutput
from cellwright.record.values import from_dict, to_dict
from cellwright.stopping import Stop

kernel: ShellKernel | None = None


def renew(**options: Any) -> None:
    """Begin anew with other options."""
    global kernel
    if kernel is not None:
        kernel.close()
    kernel = ShellKernel(get_ipython(), ShellOptions(**options))


def execute(text: str, stop_after: float | None = None) -> None:
    """Run a cell; what came of it goes into the payload of the calling cell's reply."""
    request = from_dict(CellRequest, json.loads(text))
    stop, captured = Stop(), list[CellOutput]()

    def keep(output: CellOutput) -> CellOutput:
        # a stream's empty text says that it has ended
        if not isinstance(output.message, StreamOutput) or output.message.text:
            captured.append(output)
        return output

    if stop_after is not None:
        threading.Timer(stop_after, stop.set).start()
    assert kernel is not None
    running = kernel.execute(request, stop, keep)
    yielded: list[Any] = []
    ended: dict[str, Any] = {}
    try:
        while True:
            yielded.append(next(running))
    except StopIteration as finished:
        ended["execution"] = to_dict(finished.value)
    except RunCancelled as error:
        ended["cancelled"] = error.reason
    _reply({"captured": to_dict(captured), "yielded": to_dict(yielded), **ended})


def hide(kind: str) -> None:
    """Keep one kind of output from the calling cell."""
    renew(show=lambda message: message.kind != kind)


def fail_to_record() -> None:
    """Run a cell whose outputs cannot be recorded."""

    def sink(output: Any) -> Any:
        raise OSError("disk full")

    assert kernel is not None
    code = "import time\nfor n in range(100): print(n, flush=True); time.sleep(0.1)"
    try:
        list(kernel.execute(CellRequest("c", code), Stop(), sink))
    except OSError as error:
        _reply({"raised": f"{type(error).__name__}: {error}"})


def in_a_thread(code: str, stop_after: float) -> None:
    """Run a cell in a thread, as a subshell does."""
    text = json.dumps({"cell_id": "c", "code": code})
    thread = threading.Thread(target=execute, args=(text, stop_after))
    thread.start()
    thread.join()


def describe() -> None:
    """What the kernel says of itself."""
    assert kernel is not None
    kernel.interrupt()
    _reply({"described": to_dict(kernel.describe()), "alive": kernel.is_alive()})


def interrupt_after(seconds: float) -> None:
    """Interrupt the cell that runs then, from another thread."""
    assert kernel is not None
    threading.Timer(seconds, kernel.interrupt).start()


def probe(function: str, arguments: str) -> None:
    """Ask the probe."""
    assert kernel is not None
    try:
        _reply({"value": kernel.probe(function, json.loads(arguments))})
    except CellwrightError as error:
        _reply({"error": type(error).__name__, "message": error.message})


def _reply(value: dict[str, Any]) -> None:
    shell: Any = get_ipython()
    shell.payload_manager.write_payload({"source": "shell_host", "text": json.dumps(value)})
