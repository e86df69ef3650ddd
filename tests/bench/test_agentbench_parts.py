"""What a task of AgentBench finds in its own process, looked at in this one."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cellwright.bench.agentbench.checkout import CONFIGURATION, CheckoutFinder, open_task
from cellwright.bench.agentbench.containers import ContainerError, docker_modules
from cellwright.errors import SetupError

CONFIGS = """
class ConfigLoader:
    def load_from(self, path):
        return {tasks}
"""
TASK = """
from src.server.task import Task
from src.typings import SampleStatus


class Counting(Task):
    def __init__(self, **more):
        if more.get("fails"):
            raise RuntimeError("no data")
        super().__init__(name="counting", concurrency=1)

    def get_indices(self):
        return [0, 1]
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a service that says what it is told."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = server.accept()  # the look whether it is there
        connection.close()
        connection, _ = server.accept()
        with connection:
            connection.sendall(connection.recv(100))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1]
    server.close()


def test_a_service_stands_in_for_a_container(echo: int) -> None:
    client = docker_modules({"mysql": f"127.0.0.1:{echo}"})["docker"].from_env()
    assert client.ping()
    port = free_port()
    container = client.containers.run("library/mysql:8", ports={"3306/tcp": port})
    with closing(socket.create_connection(("127.0.0.1", port), 10)) as connection:
        connection.sendall(b"hello")
        assert connection.recv(100) == b"hello"
    container.stop()
    assert container.id == f"127.0.0.1:{echo}"


def test_a_container_without_a_service_is_refused() -> None:
    client = docker_modules({"mysql": f"127.0.0.1:{free_port()}"})["docker"].from_env()
    with pytest.raises(ContainerError, match="Docker runs it"):
        client.containers.run("ubuntu", ports={"1/tcp": 2})
    with pytest.raises(ContainerError, match="No service answers"):
        client.containers.run("mysql", ports={"3306/tcp": free_port()})
    with pytest.raises(ContainerError, match="no container 'mine'"):
        client.containers.get("mine")
    with pytest.raises(SetupError, match="names no service"):
        docker_modules({"mysql": "somewhere"})


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like a checkout; what it leaves in this process is taken back."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / CONFIGURATION).parent.mkdir(parents=True)
    (tmp_path / CONFIGURATION).touch()
    tasks = tmp_path / "src" / "server" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "counting.py").write_text(TASK, "utf-8")
    (tasks / "lacking.py").write_text("import nobody_has_this", "utf-8")
    module = "src.server.tasks.counting.Counting"
    known = {
        "counting-std": {"module": module},
        "failing": {"module": module, "parameters": {"fails": True}},
        "lacking": {"module": "src.server.tasks.lacking.Lacking"},
        "asking": {"module": module, "parameters": {"url": [], "far": {"at": address()}}},
        "contained": {"module": module, "docker": {"image": "an-image"}},
    }
    (tmp_path / "src" / "configs.py").write_text(CONFIGS.format(tasks=known), "utf-8")
    yield tmp_path
    for name in [name for name in sys.modules if name == "src" or name.startswith("src.")]:
        del sys.modules[name]


def address() -> str:
    return f"http://127.0.0.1:{free_port()}/sparql"


def test_a_task_of_a_checkout_is_made_with_our_contracts(checkout: Path) -> None:
    task = open_task("counting", checkout, {})
    assert task.get_indices() == [0, 1]
    assert open_task("contained", checkout, {}, is_prepared=True).name == "counting"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "no task 'nothing'"),
        ("failing", "RuntimeError: no data"),
        ("lacking", "'nobody_has_this', which is not installed"),
        ("asking", "needs the service at http://127.0.0.1"),
        ("contained", "made for the Docker image an-image"),
    ],
)
def test_what_a_task_lacks_is_said_before_anything_runs(
    checkout: Path, name: str, words: str
) -> None:
    with pytest.raises(SetupError, match=words):
        open_task(name, checkout, {})


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="is no checkout"):
        open_task("counting", tmp_path, {})
    assert open_task("virtual-task", None, {}).get_indices()


def test_only_the_names_of_agentbench_are_found(tmp_path: Path) -> None:
    finder = CheckoutFinder(tmp_path, {})
    package = finder.find_spec("src.typings", None)
    assert package is not None
    assert package.submodule_search_locations is not None
    assert finder.find_spec("json", None) is None
    assert finder.find_spec("src", None) is None
