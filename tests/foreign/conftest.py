"""The servers as fixtures; each is started once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Shell
from foreign.servers import (
    BIN,
    PYTHON_WINDOW,
    WINDOW,
    Server,
    has_llama_cpp_python,
    read_templates,
    serve_litellm,
    serve_llama,
    serve_llama_cpp_python,
)


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    """Skip where there is nothing to test against."""
    if not (BIN / "litellm").exists():
        pytest.skip("make test-foreign installs the servers")


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where servers write."""
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="session")
def llama(logs: Path, installed: None) -> Iterator[Server]:
    """llama.cpp as the model comes: its template knows no tools."""
    with serve_llama(logs, "llama", WINDOW) as server:
        yield server


@pytest.fixture(scope="session")
def tools_llama(logs: Path, installed: None) -> Iterator[Server]:
    """llama.cpp with a template that has tools, written for a model of the same markup."""
    template = read_templates()["Qwen-Qwen2.5-7B-Instruct"]
    with serve_llama(logs, "tools_llama", WINDOW, template) as server:
        yield server


@pytest.fixture(scope="session")
def small_llama(logs: Path, installed: None) -> Iterator[Server]:
    """llama.cpp with a window that holds no run."""
    with serve_llama(logs, "small_llama", 512) as server:
        yield server


@pytest.fixture(scope="session")
def python_llama(logs: Path, installed: None) -> Iterator[Server]:
    """llama-cpp-python's own server with the model as it comes."""
    if not has_llama_cpp_python():
        pytest.skip("llama-cpp-python has no wheel, and could not be built without a compiler")
    with serve_llama_cpp_python(logs, "python_llama", PYTHON_WINDOW) as server:
        yield server


@pytest.fixture(scope="session")
def litellm(logs: Path, llama: Server) -> Iterator[Server]:
    """The proxy in front of llama.cpp without tools."""
    with serve_litellm(logs, "litellm", llama, WINDOW) as server:
        yield server


@pytest.fixture(scope="session")
def litellm_python(logs: Path, python_llama: Server) -> Iterator[Server]:
    """The proxy in front of llama-cpp-python."""
    with serve_litellm(logs, "litellm_python", python_llama, PYTHON_WINDOW) as server:
        yield server


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder, a record of its own and no service."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Shell(folder, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})
