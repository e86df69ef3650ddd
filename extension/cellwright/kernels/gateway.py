"""Kernels of our own behind a Jupyter Kernel Gateway, or any server with Jupyter's kernel API.

They run where the gateway is: with its rights, in a folder there that is made for each and goes
with it. Files are sent to that folder and fetched from it.

What this does not protect against: whoever has the gateway's token can run code there.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import importlib
import io
import json
import shutil
import urllib.error
import urllib.request
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cellwright.errors import KernelError, KernelNotReadyError
from cellwright.installation import missing_extra
from cellwright.kernels.fresh import HELD_BACK, PASSED_ON, FreshKernel
from cellwright.kernels.json_channels import BROKEN_HINT, JsonClient
from cellwright.stopping import Stop, WorkerThread

CARRY_SECONDS = 120.0
CARRY_LIMIT_BYTES = 64_000_000
SETTLE = """
import atexit, base64, io, os, re, shutil, tempfile, zipfile
for name, value in list(os.environ.items()):
    plain = re.fullmatch(passed_on, name) and not re.search(held_back, name)
    if name not in named and (not plain or re.search("://[^/\\s]*@", value)):
        del os.environ[name]
os.environ.update(given)
found = tempfile.mkdtemp(prefix="cw-bench-")
atexit.register(shutil.rmtree, found, ignore_errors=True)
zipfile.ZipFile(io.BytesIO(base64.b64decode(packed))).extractall(found)
os.chdir(found)
"""
PACK = """
import base64, io, os, zipfile
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
    for root, _, names in os.walk(folder):
        for path in (os.path.join(root, name) for name in names):
            if os.path.isfile(path):
                archive.write(path, os.path.relpath(path, folder))
found = base64.b64encode(buffer.getvalue()).decode() if buffer.tell() < limit else ""
"""


@dataclass(frozen=True)
class Gateway:
    """Where kernels are asked for.

    Raises:
        SetupError: websocket-client is missing.
    """

    url: str
    kernel_name: str = ""
    """Empty: the gateway's default."""
    token: str = field(default="", repr=False)
    timeout_seconds: float = 60.0
    environment_names: tuple[str, ...] = ()
    """Variables there that a kernel keeps beside those that all of them keep."""

    def __post_init__(self) -> None:
        # Not with the first sample: a benchmark of a thousand would fail a thousand times.
        try:
            importlib.import_module("websocket")
        except ImportError as error:
            text = "Kernels behind a gateway need websocket-client."
            raise missing_extra(text, "gateway") from error

    def start(self, cwd: Path, env: Mapping[str, str]) -> FreshKernel:
        """Start a kernel there, with the files of our folder in its own.

        Raises:
            KernelError: There is no gateway, or the kernel did not start.
        """
        process = GatewayProcess(self)
        try:
            kernel = GatewayKernel.opened(process)
            kernel.settle(cwd, env, self.environment_names)
        except BaseException:
            process.end(now=True)
            raise
        return kernel

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer to a request, as JSON; None: there is no such thing.

        Raises:
            KernelNotReadyError: The gateway cannot be reached, or refuses.
        """
        data = json.dumps(body).encode() if body is not None else None
        url = f"{self.url.rstrip('/')}/api/kernels{path}"
        request = urllib.request.Request(url, data, self.headers(), method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_seconds) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 404:
                    return None
            raise _unreachable(self.url, error) from error
        except (OSError, ValueError) as error:
            raise _unreachable(self.url, error) from error
        return json.loads(text) if text else {}

    def headers(self) -> dict[str, str]:
        """Of every request."""
        known = {"Authorization": f"token {self.token}"} if self.token else {}
        return {"Content-Type": "application/json", **known}


class GatewayProcess:
    """A kernel that a gateway runs; ``fresh.OwnProcess``.

    Raises:
        KernelNotReadyError: The gateway did not start one.
    """

    way = "gateway"
    exit_code: int | None = None

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        wanted = {"name": gateway.kernel_name} if gateway.kernel_name else {}
        found = gateway.ask("POST", "", wanted)
        if found is None:
            raise KernelNotReadyError(
                f"There are no kernels at {gateway.url!r}.", hint="Is it the address of a gateway?"
            )
        self.id = str(found["id"])
        self._is_ended = False

    def client(self) -> _WebSocketClient:
        """A new connection."""
        return _WebSocketClient(self._gateway, self.id)

    def is_alive(self) -> bool:
        """Whether the gateway knows it and says that it lives."""
        found = None if self._is_ended else self._gateway.ask("GET", f"/{self.id}")
        return found is not None and found.get("execution_state") != "dead"

    def interrupt_kernel(self) -> None:
        """Interrupt what runs."""
        self._gateway.ask("POST", f"/{self.id}/interrupt", {})

    def end(self, *, now: bool = False) -> None:
        """Have it ended; a second call does nothing."""
        if not self._is_ended:
            self._is_ended = True
            with contextlib.suppress(KernelError):  # a gateway that is gone has none any more
                self._gateway.ask("DELETE", f"/{self.id}")


class GatewayKernel(FreshKernel):
    """A kernel with a folder of its own, where the gateway is."""

    _folder = ""

    def settle(self, folder: Path, env: Mapping[str, str], named: tuple[str, ...] = ()) -> None:
        """Give it a folder with our files, and of its own environment what a kernel is given.

        Its process still has what the gateway gave it, in ``/proc/self/environ`` on Linux.

        Args:
            folder: Where our files are.
            env: What else stands in its environment.
            named: Variables that it keeps whatever they are called.

        Raises:
            KernelError: It refuses.
        """
        given = {
            "given": dict(env),
            "named": named,
            "packed": _packed(folder),
            "passed_on": PASSED_ON,
            "held_back": HELD_BACK,
        }
        self._folder = self._found(SETTLE, given)

    def fetch_files(self, folder: Path) -> None:
        """Bring the files of its folder into ours, and nothing but these."""
        text = self._found(PACK, {"folder": self._folder, "limit": CARRY_LIMIT_BYTES})
        if not text:
            raise KernelError(f"Its folder holds more than {CARRY_LIMIT_BYTES:,} bytes.")
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(text))) as archive:
            archive.extractall(folder)

    def _found(self, code: str, given: Mapping[str, Any]) -> Any:
        """What code leaves in ``found``; it leaves nothing else behind."""
        run = "(lambda space: (exec({!r}, space), space['found'])[1])({!r})"
        content = {
            "code": "",
            "silent": True,
            "store_history": False,
            "user_expressions": {"answer": run.format(code, dict(given))},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        reply = self._ask("execute_request", content, Stop(), within=CARRY_SECONDS)
        answer = reply.get("user_expressions", {}).get("answer", {})
        if answer.get("status") != "ok":
            raise KernelError(f"The kernel cannot have our files: {answer.get('evalue')!r}.")
        return ast.literal_eval(answer["data"]["text/plain"])


class _WebSocketClient(JsonClient):
    """Reads the gateway's WebSocket on a thread of its own."""

    def __init__(self, gateway: Gateway, kernel_id: str) -> None:
        import websocket

        super().__init__()
        base = gateway.url.rstrip("/").replace("http", "ws", 1)
        session = quote(self.session.name)
        url = f"{base}/api/kernels/{quote(kernel_id)}/channels?session_id={session}"
        headers = [f"{name}: {value}" for name, value in gateway.headers().items()]
        try:
            self._websocket = websocket.create_connection(
                url, timeout=gateway.timeout_seconds, header=headers
            )
        # Whatever sockets, TLS and HTTP may raise.
        except Exception as error:
            super().stop_channels()
            raise _unreachable(gateway.url, error) from error
        self._websocket.settimeout(None)
        self._reader = WorkerThread(self._read, name="gateway")
        self._reader.start()

    def transmit(self, text: str) -> None:
        """Send a text."""
        try:
            self._websocket.send(text)
        except Exception as error:
            self.lose()
            raise KernelNotReadyError(f"The gateway is gone: {error!r}.") from error

    def stop_channels(self) -> None:
        """Let go of the kernel."""
        self._websocket.close(timeout=1)
        self._reader.join(1)
        super().stop_channels()

    def _read(self) -> None:
        try:
            while text := self._websocket.recv():
                if isinstance(text, str):
                    self.deliver(text)
        # Whatever ended it, there is nothing more to read.
        except Exception:
            pass
        self.lose()


def _packed(folder: Path) -> str:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return base64.b64encode(buffer.getvalue()).decode()


def _unreachable(url: str, error: Exception) -> KernelNotReadyError:
    return KernelNotReadyError(f"The gateway {url!r} cannot be asked: {error}.", hint=BROKEN_HINT)
