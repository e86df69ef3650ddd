"""The tools beside the standard ones, as the panel lists them."""

from __future__ import annotations

from pathlib import Path

import pytest
from server_client import Client

from cellwright.server.application import Application

pytestmark = pytest.mark.server


async def test_tools_are_listed_and_none_is_started(
    client: Client, shared: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shared.root is not None  # and not where the process happens to be
    (shared.root / ".mcp.json").write_text(
        '{"mcpServers": {"files": {"command": "none"}}}', "utf-8"
    )
    listed = (await client.call("GET", "tools")).json["tools"]
    own = [tool for tool in listed if tool["kind"] == "python"]
    assert own
    assert all(tool["enabled"] and not tool["problem"] for tool in own)
    (files,) = [tool for tool in listed if tool["kind"] == "mcp"]
    assert (files["name"], files["enabled"]) == ("files", False)
    assert "%agent tool connect files" in files["problem"]


async def test_002_02_files_beside_the_notebook_are_listed_for_it(
    client: Client, jp_root_dir: Path
) -> None:
    (jp_root_dir / "work").mkdir()
    for folder, command in ((jp_root_dir, "far"), (jp_root_dir / "work", "near")):
        text = f'{{"mcpServers": {{"files": {{"command": "{command}"}}}}}}'
        (folder / ".mcp.json").write_text(text, "utf-8")

    async def problem(notebook: str) -> str:
        listed = (await client.call("GET", f"tools?notebook={notebook}")).json["tools"]
        (found,) = [tool["problem"] for tool in listed if tool["kind"] == "mcp"]
        return str(found)

    assert "runs 'near'" in await problem("work/a.ipynb")
    assert "runs 'far'" in await problem("a.ipynb")
    assert "runs 'far'" in await problem("../../etc/a.ipynb")
