"""Both kernels behind one protocol, and how the tests run cells in them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measured_children import measured_environment

from cellwright import errors
from cellwright.errors import RunCancelled
from cellwright.kernels import CellRequest, Kernel, KernelDescription, OutputSink
from cellwright.kernels.client import ClientKernel
from cellwright.kernels.fresh import FreshKernel, KernelProcess, start_kernel
from cellwright.record.events import CellOutput
from cellwright.record.outputs import (
    DisplayData,
    ErrorOutput,
    ExecuteResult,
    Execution,
    Output,
    OutputMessage,
    StreamOutput,
    fold,
)
from cellwright.record.values import from_dict, to_dict
from cellwright.stopping import Stop

HERE = Path(__file__).parent


def kernel_environment() -> dict[str, str]:
    """Ours, without what makes ipykernel leave file descriptors alone under pytest."""
    ours = measured_environment()
    return {name: value for name, value in ours.items() if name != "PYTEST_CURRENT_TEST"}


def wait_until_subscribed(client: Any) -> None:
    """Wait until what the kernel publishes reaches a new connection."""
    for _ in range(100):
        client.kernel_info()
        if client.iopub_channel.socket.poll(100):
            return
    raise AssertionError("the kernel does not answer")


def read(channel: Any, seconds: float) -> dict[str, Any]:
    """One message, without jupyter_client's own loop."""
    assert channel.socket.poll(seconds * 1000), "no message came"
    message: dict[str, Any] = channel.session.recv(channel.socket)[1]
    return message


class RemoteShellKernel:
    """A ShellKernel in another process: its protocol, spoken through cells that call it."""

    def __init__(self, host: FreshKernel) -> None:
        self.host = host
        self.client = host.process.client()
        self.client.start_channels(hb=False, stdin=False)
        wait_until_subscribed(self.client)
        self.wire: list[dict[str, Any]] = []
        """Type and content of what the last calling cell sent to its front end."""
        self.reply: dict[str, Any] = {}
        self.renew()

    def renew(self, **options: Any) -> None:
        folder = str(HERE)
        self.call(
            f"import sys; sys.path[:0] = [] if {folder!r} in sys.path else [{folder!r}]\n"
            f"import shell_host; shell_host.renew(**{options!r}); del sys, shell_host"
        )

    session = ""

    def wait_until_free(self, stop: Stop) -> None:
        stop.check()

    def execute(
        self,
        request: CellRequest,
        stop: Stop,
        on_output: OutputSink,
        *,
        stop_after: float | None = None,
    ) -> Generator[CellOutput, None, Execution]:
        stop.check()
        text = json.dumps(to_dict(request))
        answer = self.call(f"__import__('shell_host').execute({text!r}, {stop_after!r})", stop)
        assert answer is not None, self.wire
        assert answer["captured"] == answer["yielded"]
        for item in answer["yielded"]:
            yield on_output(from_dict(CellOutput, item))
        if "cancelled" in answer:
            raise RunCancelled(answer["cancelled"])
        ended: Execution = from_dict(Execution, answer["execution"])
        return ended

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        text = json.dumps(dict(arguments))
        answer = self.call(f"__import__('shell_host').probe({function!r}, {text!r})")
        assert answer is not None, self.wire
        if "error" in answer:
            raise getattr(errors, answer["error"])(answer["message"])
        return answer["value"]

    def describe(self) -> KernelDescription:
        return KernelDescription(**self.probe("describe_kernel", {}))

    def is_alive(self) -> bool:
        return self.host.is_alive()

    def interrupt(self) -> None:
        self.host.process.interrupt_kernel()

    def close(self) -> None:
        self.client.stop_channels()
        self.host.close()

    def call(self, code: str, stop: Stop | None = None) -> dict[str, Any] | None:
        """Run a calling cell; what the host left in its reply, if it did."""
        message_id = self.client.execute(code, allow_stdin=False, stop_on_error=False)
        self.wire, pressed, idle = [], False, False
        while not idle:
            if stop is not None and stop.is_set() and not pressed:
                pressed = True
                self.interrupt()
            if not self.client.iopub_channel.socket.poll(50):
                assert self.is_alive(), "the host died"
                continue
            message = read(self.client.iopub_channel, 1)
            if message["parent_header"].get("msg_id") != message_id:
                continue
            kind, content = message["msg_type"], message["content"]
            idle = kind == "status" and content["execution_state"] == "idle"
            self.wire.append({"type": kind, "content": content})
        return self._payload(message_id)

    def _payload(self, message_id: str) -> dict[str, Any] | None:
        while True:
            reply = read(self.client.shell_channel, 10)
            if reply["parent_header"].get("msg_id") == message_id:
                break
        self.reply = reply["content"]
        for payload in self.reply.get("payload", ()):
            if payload["source"] == "shell_host":
                found: dict[str, Any] = json.loads(payload["text"])
                return found
        return None

    def shown(self, kind: str) -> list[dict[str, Any]]:
        """Contents of one type that the last calling cell sent."""
        return [message["content"] for message in self.wire if message["type"] == kind]


def process_of(kernel: FreshKernel) -> KernelProcess:
    """The process that this machine runs for a kernel of our own."""
    assert isinstance(kernel.process, KernelProcess)
    return kernel.process


def start_client_lane(folder: Path) -> FreshKernel:
    return start_kernel(folder, kernel_environment())


def start_shell_lane(folder: Path) -> RemoteShellKernel:
    return RemoteShellKernel(start_kernel(folder, kernel_environment()))


def renew(kernel: Kernel, folder: Path) -> None:
    """Give the next test an empty namespace and a folder of its own."""
    code = (
        "get_ipython().run_line_magic('reset', '-f'); "
        f"__import__('os').chdir({str(folder)!r}); "
        "[f.cla() for f in ()]"
    )
    if isinstance(kernel, RemoteShellKernel):
        kernel.renew()
        kernel.call(code)
    elif isinstance(kernel, ClientKernel):
        list(kernel.execute(CellRequest("reset", code), Stop(), lambda output: output))


@dataclass
class Ran:
    """A cell that ran, or was stopped."""

    messages: list[CellOutput] = field(default_factory=list)
    ended: Execution | None = None
    cancelled: RunCancelled | None = None
    seconds: float = 0.0

    @property
    def execution(self) -> Execution:
        assert self.ended is not None, self.cancelled
        return self.ended

    @property
    def outputs(self) -> tuple[Output, ...]:
        return fold(self.raw)

    @property
    def raw(self) -> list[OutputMessage]:
        return [output.message for output in self.messages]

    @property
    def text(self) -> str:
        return "".join(o.text for o in self.outputs if isinstance(o, StreamOutput))

    @property
    def errors(self) -> list[ErrorOutput]:
        return [o for o in self.outputs if isinstance(o, ErrorOutput)]

    @property
    def plain(self) -> list[str]:
        """``text/plain`` of displays and results."""
        shown = [o for o in self.outputs if isinstance(o, DisplayData | ExecuteResult)]
        return [str(o.data.get("text/plain")) for o in shown]


def run(kernel: Kernel, code: str, *, stop: Stop | None = None, **request: Any) -> Ran:
    """Run one cell to its end."""
    ran, started = Ran(), time.monotonic()
    wanted = CellRequest(request.pop("cell_id", "cell"), code, **request)
    running = kernel.execute(wanted, stop or Stop(), lambda output: output)
    try:
        while True:
            ran.messages.append(next(running))
    except StopIteration as finished:
        ran.ended = finished.value
    except RunCancelled as error:
        ran.cancelled = error
    ran.seconds = time.monotonic() - started
    return ran


def in_time(seconds: float, attempt: Callable[[], Ran]) -> Ran:
    """What an attempt gives that takes less, or the third: others use the machine too."""
    for _ in range(2):
        ran = attempt()
        if ran.seconds < seconds:
            return ran
    return attempt()


def stopped_after(kernel: Kernel, code: str, seconds: float) -> Ran:
    """Run a cell and press Stop while it runs."""
    stop = Stop()
    timer = threading.Timer(seconds, stop.set)
    timer.start()
    try:
        return run(kernel, code, stop=stop)
    finally:
        timer.cancel()
