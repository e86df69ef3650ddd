"""``cellwright mcp`` as clients start it, driven by the SDK's own client."""

from __future__ import annotations

import asyncio
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from command_line import COMMAND, Shell, sources

from cellwright.commands.mcp import NotebookOnDisk
from cellwright.exports.notebook import sample_notebook
from cellwright.exports.sampling import sample_of
from cellwright.mcp_server.bridge import serve, writer
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

sdk = pytest.importorskip("mcp")
types = pytest.importorskip("mcp_types")  # the SDK's first line has none

CODE = """\
import subprocess, sys
subprocess.run([sys.executable, "-c", "print('{{}}')"], check=True)
sales = [3, 4]
sum(sales)"""


def shell_in(folder: Path) -> Shell:
    (folder / "work").mkdir()
    settings = {"CELLWRIGHT_HOME": str(folder / "home"), "CELLWRIGHT_OLLAMA": "off"}
    return Shell(folder / "work", settings)


def client_of(shell: Shell, *options: str, **more: Any) -> Any:
    parameters = sdk.StdioServerParameters(
        command=str(COMMAND),
        args=["mcp", *options],
        env={**os.environ, **shell.environ},
        cwd=str(shell.folder),
    )
    info = types.Implementation(name="Test agent", version="3.0")
    return sdk.Client(parameters, client_info=info, **more)


@pytest.mark.kernel
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_an_agent_works_in_a_notebook_file_and_the_run_is_recorded_and_replayed(
    tmp_path: Path, mode: str
) -> None:
    shell = shell_in(tmp_path)

    async def work() -> list[Any]:
        options = ("--notebook", "sales.ipynb", "--mode", "auto")
        async with client_of(shell, *options, mode=mode) as client:
            spoken = client.protocol_version
            assert spoken == ("2025-11-25" if mode == "legacy" else mode)
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "run_cell" in names
            assert not (shell.folder / "sales.ipynb").exists()
            results = [
                await client.call_tool("add_cell", {"source": "# Sales"}),
                await client.call_tool("run_cell", {"code": CODE}),
                await client.call_tool("run_cell", {"code": "1/0"}),
                await client.call_tool("list_variables", {}),
                await client.call_tool("undo_change", {}),
                await client.call_tool("submit", {"answer": "The sum is **7**."}),
            ]
            outline = await client.read_resource("cellwright://notebook")
            assert "## Sales" in outline.contents[0].text
            return results

    added, ran, failed, listed, _, _ = asyncio.run(work())
    assert not added.is_error
    assert "7" in ran.content[1].text
    assert failed.is_error
    assert "sales.ipynb" not in failed.content[-1].text, "it was saved between the cells"
    assert "sales: list" in listed.content[0].text
    assert sources(shell.folder / "sales.ipynb") == ["# Sales", CODE]
    cells = json.loads((shell.folder / "sales.ipynb").read_text())["cells"]
    assert cells[1]["metadata"]["cellwright"]["origin"] == "agent"
    assert cells[1]["outputs"][-1]["data"]["text/plain"] == ["7"]
    database = open_database(Path(shell.environ["CELLWRIGHT_HOME"]) / "runs.sqlite")
    try:
        store = RunStore(database)
        record = store.record(store.resolve("last"))
    finally:
        database.close()
    assert (record.status, record.lane) == ("completed", "mcp")
    assert record.answer == "The sum is **7**."
    assert [call.name for call in record.calls][-2:] == ["undo_change", "submit"]
    exported = str(sample_notebook(sample_of(record, "one", whole=True)))
    assert "sales = [3, 4]" in exported
    replayed = shell.run("replay", "last", "-q")
    assert (replayed.code, "no differences" in replayed.out + replayed.err) == (0, True)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_person_in_front_of_the_client_is_asked_and_may_refuse(tmp_path: Path, mode: str) -> None:
    shell = shell_in(tmp_path)
    asked: list[str] = []

    async def decline(_: Any, params: Any) -> Any:
        asked.append(params.message)
        return types.ElicitResult(action="decline")

    async def work() -> Any:
        async with client_of(shell, "--mode", "plan", mode=mode) as client:
            planned = await client.call_tool("add_cell", {"source": "x"})
        async with client_of(shell, elicitation_callback=decline, mode=mode) as client:
            return planned, await client.call_tool("add_cell", {"source": "x"})

    planned, refused = asyncio.run(work())
    assert "--mode plan" in planned.content[-1].text
    assert refused.content[0].text == "Refused by the person."
    assert asked == ["cellwright: add a markdown cell: x\nIt changes cells.\n\nx"]


@pytest.mark.kernel
def test_the_memory_and_the_library_are_those_of_whoever_started_it(tmp_path: Path) -> None:
    shell = shell_in(tmp_path)
    (shell.folder / "guide.md").write_text("# Revenue\n\nRevenue is net of returns.\n", "utf-8")
    assert shell.run("memory", "add", "Our fiscal year starts in April").code == 0
    assert shell.run("library", "add", "guide.md").code == 0
    fact = "Amounts are in euros"

    async def accept(_: Any, __: Any) -> Any:
        return types.ElicitResult(action="accept", content={"answer": "yes"})

    async def work(shell: Shell) -> list[Any]:
        async with client_of(shell, elicitation_callback=accept) as client:
            return [
                await client.call_tool("recall", {}),
                await client.call_tool("remember", {"text": fact}),
                await client.call_tool("search_library", {"query": "revenue returns"}),
            ]

    recalled, remembered, found = asyncio.run(work(shell))
    assert "fiscal year starts in April" in recalled.content[0].text
    assert not remembered.is_error
    assert fact in shell.run("memory").out
    assert "net of returns" in found.content[0].text
    guest = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_GUEST": "yes"})
    recalled, remembered, found = asyncio.run(work(guest))
    assert recalled.is_error
    assert remembered.is_error
    assert "net of returns" not in str(found.content)


def test_lines_are_messages_and_a_client_that_has_gone_is_not_told() -> None:
    took: list[bytes] = []
    serve(io.BytesIO(b'{"a": 1}\n\n  \n{"b": 2}'), took.append)
    assert took == [b'{"a": 1}\n', b'{"b": 2}']
    out = io.BytesIO()
    send = writer(out)
    send({"text": "a\u2028b"})
    assert out.getvalue() == b'{"text":"a\\u2028b"}\n'
    out.close()
    send({"text": "nobody reads it"})


def test_a_file_that_is_no_notebook_is_told_in_one_line(tmp_path: Path) -> None:
    shell = shell_in(tmp_path)
    (shell.folder / "bad.ipynb").write_text("{}")
    done = shell.run("mcp", "--notebook", "bad.ipynb")
    assert done.code == 2
    assert done.out == ""
    assert "is no notebook" in done.err


def test_a_notebook_in_memory_has_no_file() -> None:
    assert NotebookOnDisk(None).path == ""
