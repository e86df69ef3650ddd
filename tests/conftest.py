"""What every test stands on: no network, no settings of the person's own, no shared folders."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from measured_children import leave_out_children
from quick_kernels import kernels_forked

from cellwright.providers import PROVIDERS

OWN_RUNS = ("browser", "foreign", "journeys", "packaging", "server")
"""Folders that a plain ``pytest`` leaves out: each is a run of its own in the Makefile.

Sync Playwright, pytest-jupyter and ordinary tests cannot share one process's event loop.
"""

# How long an example takes says more of what else the machine does than of the code.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Where nobody looks at a case that was found by chance, the same cases are tried every time.
settings.register_profile("ci", settings.get_profile("suite"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "suite")

MEMORY_FOLDER = Path("/dev/shm")
MEMORY_BYTES = 2 * 2**30
"""A whole run of the unit tests leaves half a gigabyte."""

FOREIGN_SETTINGS = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "OLLAMA_HOST", "PYTHONSTARTUP")
FOREIGN_PREFIXES = ("CELLWRIGHT_", "IPYTHON", "JPY_", "JUPYTER", "MPL", "OPENAI_", "XDG_")
CHECKOUTS = "CELLWRIGHT_FOREIGN"
"""Where checkouts of public projects are that tests may read."""
KEY_VARIABLES = {provider.key_variable for provider in PROVIDERS} - {""}


class NetworkBlockedError(OSError):
    """A test tried to reach something that is not this machine."""


class NetworkGuard:
    """Lets this process connect to its own machine only.

    An audit hook sees every socket of the process, whatever library opened it; it cannot be
    removed, only told to be quiet. It does not see ZeroMQ, nor what child processes do.
    """

    def __init__(self) -> None:
        self.active = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event in {"socket.connect", "socket.sendto"}:
            address = arguments[-1]
            host = address[0] if isinstance(address, tuple) else ""
        elif event == "socket.getaddrinfo":
            host = arguments[0]
        else:
            return
        if not is_this_machine(host):
            raise NetworkBlockedError(f"the tests may not reach {host!r}")


def is_this_machine(host: str | bytes | None) -> bool:
    """Tell loopback addresses, Unix sockets and this machine's own name from the rest."""
    name = host.decode() if isinstance(host, bytes) else host
    if not name or name in {"localhost", socket.gethostname()}:
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


guard = NetworkGuard()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--paid", action="store_true", help="also run the tests that cost money")


def pytest_configure(config: pytest.Config) -> None:
    keep_compiled()
    let_interrupts_in()
    # jsonschema would compile its grammar in each test process, for two seconds; nothing asks it
    modules: dict[str, Any] = sys.modules
    modules.setdefault("rfc3987_syntax", None)
    keep_files_in_memory()
    home = Path(tempfile.mkdtemp(prefix="cellwright-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    isolate_environment(home, fonts=Path(config.cache.mkdir("matplotlib")))
    sys.addaudithook(guard)
    guard.active = not config.getoption("--paid")


def keep_files_in_memory() -> None:
    """Put temporary files where nothing waits for a disk.

    Each event of a run is flushed before it is shown, which takes a disk 1 to 20 ms, and the tests
    record tens of thousands. Who chose a folder keeps it, and a container's folder that is small or
    runs no programs is not taken.
    """
    is_chosen = {"TMPDIR", "PYTEST_DEBUG_TEMPROOT"} & os.environ.keys()
    if is_chosen or not MEMORY_FOLDER.is_dir():
        return
    state = os.statvfs(MEMORY_FOLDER)
    is_small = state.f_bavail * state.f_frsize < MEMORY_BYTES
    if is_small or state.f_flag & os.ST_NOEXEC or not os.access(MEMORY_FOLDER, os.W_OK):
        return
    os.environ["TMPDIR"] = str(MEMORY_FOLDER)
    tempfile.tempdir = None  # it is looked up again


def keep_compiled() -> None:
    """Let compiled files be written: each of a thousand processes would compile what it imports."""
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def let_interrupts_in() -> None:
    """Let Ctrl-C interrupt, also where whoever started the suite ignores it (``make test &``).

    A child process inherits what is ignored, and Python then installs no handler of its own.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def isolate_environment(home: Path, fonts: Path) -> None:
    """Replace the person's folders and settings by empty ones, for child processes too."""
    for name in list(os.environ):
        foreign = name.upper() in FOREIGN_SETTINGS or name in KEY_VARIABLES
        foreign = foreign or name.startswith(FOREIGN_PREFIXES)
        if foreign and name != CHECKOUTS:
            del os.environ[name]
    folders = {
        "HOME": home,
        "USERPROFILE": home,
        "CELLWRIGHT_HOME": home / "cellwright",
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "jupyter-config",
        "JUPYTER_DATA_DIR": home / "jupyter-data",
        "JUPYTER_RUNTIME_DIR": home / "jupyter-runtime",
        # the list of fonts takes seconds to make and tells nothing about the person
        "MPLCONFIGDIR": fonts,
    }
    for name, folder in folders.items():
        folder.mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(folder)
    # The person's own keyring, where they have one.
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if collection_path.parent != Path(__file__).parent or collection_path.name not in OWN_RUNS:
        return None
    named = [Path(argument.partition("::")[0]).absolute() for argument in config.args]
    return not any(path.is_relative_to(collection_path) for path in named)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--paid"):
        return
    for item in items:
        if item.get_closest_marker("paid"):
            item.add_marker(pytest.mark.skip(reason="costs money: ask for it with --paid"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep thousands of tests and their modules out of every garbage collection.

    Shells and servers collect as they end; a quarter of a second each was for what stays anyway.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _children_left_out() -> None:
    leave_out_children()


@pytest.fixture(scope="session", autouse=True)
def _own_files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Keep what the tests wrote only where one failed: it may lie in memory."""
    yield
    if not request.session.testsfailed:
        shutil.rmtree(tmp_path_factory.getbasetemp(), ignore_errors=True)


_stores = count()


@pytest.fixture(autouse=True)
def _own_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test a store of its own; the folder is made by whoever uses it."""
    home = Path(os.environ["HOME"])
    monkeypatch.setenv("CELLWRIGHT_HOME", str(home / f"cellwright-{next(_stores)}"))


@pytest.fixture(scope="module")
def forked_kernels() -> Iterator[None]:
    """Kernels that the module's tests start in this process are forked."""
    with kernels_forked():
        yield


@pytest.fixture
def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    return find_free_port()


def find_free_port() -> int:
    """Ask the system for a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
