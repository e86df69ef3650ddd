"""MCP as others wrote it in TypeScript: a server that uses everything, and the inspector."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from command_line import COMMAND, Shell, sources
from fakes import make_context
from foreign.servers import BIN

from cellwright.external import Definition
from cellwright.external.mcp_server import McpLoop, McpService
from cellwright.external.web import ProcessEnvironment

NODE_BIN = BIN.parent / "node_modules" / ".bin"
EVERYTHING = NODE_BIN / "mcp-server-everything"
INSPECTOR = NODE_BIN / "mcp-inspector"
CALL_SECONDS = 120


class Typist:
    """A person who agrees, types a name and leaves all else empty."""

    def __init__(self) -> None:
        self._lines = iter(["yes", "Ada"])
        self.asked: list[str] = []

    def __call__(self, prompt: str, password: bool) -> Typist:
        self.asked.append(prompt)
        return self

    def value(self) -> str:
        return next(self._lines, "")

    def close(self) -> None:
        pass


@pytest.fixture
def everything() -> Iterator[McpService]:
    if not EVERYTHING.exists():
        pytest.skip("make test-foreign installs the server")
    definition = Definition(
        "everything", "mcp", command=str(EVERYTHING), arguments=("stdio",), timeout_seconds=60
    )
    loop = McpLoop()
    yield McpService(definition, ProcessEnvironment(dict(os.environ)), loop)
    loop.close()


def called(service: McpService, name: str, typist: Typist | None, **arguments: Any) -> str:
    function = next(each for each in service.listing().functions if each.name == name)
    context = replace(make_context(), keyboard=typist)
    output = service.call(function, arguments, context)
    return "\n".join(str(item.text.get("info")) for item in output.content)


def test_a_server_of_others_asks_in_every_way_and_is_answered(everything: McpService) -> None:
    typist = Typist()
    answer = called(everything, "trigger-elicitation-request", typist)
    raw = json.loads(answer.partition("Raw result: ")[2])
    assert raw["action"] == "accept"
    assert raw["content"]["name"] == "Ada"
    assert raw["content"]["titledMultipleSelectEnum"] == ["fish-1"]
    assert "Tuna, Salmon, Trout" in "".join(typist.asked)
    assert "decline" in called(everything, "trigger-elicitation-request", None)


def test_the_resources_of_a_server_of_others_are_read(everything: McpService) -> None:
    listed = called(everything, "list_resources", None)
    address = "demo://resource/static/document/architecture.md"
    assert f"- {address} " in listed
    assert "demo://resource/dynamic/text/{" in listed
    assert "Architecture" in called(everything, "read_resource", None, uri=address)


def inspect(shell: Shell, *words: str) -> Any:
    # A program that the inspector starts is given no more of the environment than is named.
    home = f"CELLWRIGHT_HOME={shell.environ['CELLWRIGHT_HOME']}"
    served = [COMMAND, "mcp", "--mode", "auto", "--notebook", "work.ipynb"]
    done = subprocess.run(
        [
            str(INSPECTOR),
            "--cli",
            "--connect-timeout",
            "60000",
            *words,
            "-e",
            home,
            "--",
            *map(str, served),
        ],
        capture_output=True,
        text=True,
        cwd=shell.folder,
        env={**os.environ, **shell.environ},
        timeout=CALL_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.kernel
def test_the_inspector_lists_our_tools_and_calls_one(shell: Shell) -> None:
    if not INSPECTOR.exists():
        pytest.skip("make test-foreign installs the inspector")
    tools = inspect(shell, "--method", "tools/list")["tools"]
    assert {"run_cell", "use_notebook", "run_scratch"} <= {tool["name"] for tool in tools}
    call = ("--method", "tools/call", "--tool-name", "run_cell", "--tool-arg", "code=6*7")
    assert "42" in str(inspect(shell, *call))
    assert sources(shell.folder / "work.ipynb") == ["6*7"]
