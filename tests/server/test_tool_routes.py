"""The tools beside the standard ones, as the panel lists them."""

from __future__ import annotations

import asyncio
import logging
import socket
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

import pytest
from outside.test_mcp_sign_in import guarded
from server_client import Client

from cellwright.external.commands import order, parse
from cellwright.llm.keys import SignIns
from cellwright.server import tool_routes
from cellwright.server.application import Application
from cellwright.server.tool_routes import LANDING, open_tools

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


def sent_back(page: SplitResult) -> str:
    """What stands in the address that a sign-in page sends the browser to."""
    connection = HTTPConnection(page.netloc, timeout=20)
    connection.request("GET", f"{page.path}?{page.query}")
    found = connection.getresponse().headers["Location"]
    connection.close()
    return urlsplit(found).query


async def test_a_person_signs_in_from_the_page_and_comes_back_to_this_server(
    client: Client, shared: Application, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await client.log_in()

    async def state(answer: Any = None) -> Any:
        (found,) = (answer or await client.call("GET", "tools")).json["sign_ins"]
        return found

    with guarded() as address:
        tools = open_tools(shared, "")
        await asyncio.to_thread(order, parse(["connect", "desk", address, "--local"]), tools)
        assert await state() == {
            "name": "desk",
            "host": "127.0.0.1",
            "state": "wanted",
            "page": "",
            "problem": "",
        }
        here = f"http://127.0.0.1:{shared.server.port}{client.base_url}"
        asked = {"name": "desk", "origin": here}
        wrong = {**asked, "origin": "https://evil.example"}
        host = {"Host": urlsplit(here).netloc}
        assert (await client.call("POST", "tools/sign-in", wrong, headers=host)).status == 400
        readable = {**asked, "origin": "http://lab.example"}
        asked_there = {**host, "Origin": "http://lab.example"}
        refused = await client.call("POST", "tools/sign-in", readable, headers=asked_there)
        assert "not encrypted" in refused.json["message"]
        waiting = await state(await client.call("POST", "tools/sign-in", asked, headers=host))
        assert waiting["state"] == "waiting"
        page = urlsplit(waiting["page"])
        assert page.hostname == "localhost"
        back = parse_qs(page.query)["redirect_uri"][0]
        assert back == f"{here.rstrip('/')}/{LANDING}"
        # What the browser does: it is sent back by another site, with our cookie.
        given = await asyncio.to_thread(sent_back, page)
        from_elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        landing = "tools/sign-in/answer"
        forged = f"{landing}?code=theirs&state=wrong"
        answer = await client.call("GET", forged, who="cookie", headers=from_elsewhere)
        assert b"none that cellwright waits for" in answer.body
        assert (await client.call("GET", f"{landing}?{given}", who="stranger")).status in (302, 403)
        answer = await client.call(
            "GET", f"{landing}?{given}", who="cookie", headers=from_elsewhere
        )
        assert b"close this page" in answer.body
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        for _ in range(100):
            if (await state())["state"] == "done":
                break
            await asyncio.sleep(0.1)
        listed = (await client.call("GET", "tools")).json["tools"]
        assert {"desk__token", "desk__withdraw"} <= {tool["name"] for tool in listed}
        assert parse_qs(given)["code"][0] not in caplog.text
        assert SignIns(shared.chooser.home()).load(address)
        access = SignIns(shared.chooser.home()).load(address)["tokens"]["access_token"]
        assert access not in shared.redactor().text(f"x {access}")
        out = await state(await client.call("DELETE", "tools/sign-in?name=desk"))
        assert out["state"] == "wanted"
        assert "desk__token" not in str((await client.call("GET", "tools")).json["tools"])
        assert not SignIns(shared.chooser.home()).load(address)


async def test_a_sign_in_that_cannot_begin_says_why(client: Client, shared: Application) -> None:
    here = f"http://127.0.0.1:{shared.server.port}{client.base_url}"
    host = {"Host": urlsplit(here).netloc}
    with guarded("closed") as address:
        tools = open_tools(shared, "")
        await asyncio.to_thread(order, parse(["connect", "desk", address, "--local"]), tools)
        asked = {"name": "desk", "origin": here}
        answer = await client.call("POST", "tools/sign-in", asked, headers=host)
        assert answer.status == 400
        assert "register itself (404)" in answer.json["message"]
        assert "--client-id" in answer.json["hint"]
        (row,) = (await client.call("GET", "tools")).json["sign_ins"]
        assert row["state"] == "wanted"
        assert "register itself" in row["problem"]


async def test_a_sign_in_that_is_begun_anew_says_so_where_it_was_begun_before(
    client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_routes, "PAGE_SECONDS", 5.0)
    here = f"http://127.0.0.1:{shared.server.port}{client.base_url}"
    asked = {"name": "desk", "origin": here}
    host = {"Host": urlsplit(here).netloc}
    with guarded() as address:
        tools = open_tools(shared, "")
        await asyncio.to_thread(order, parse(["connect", "desk", address, "--local"]), tools)
    with socket.create_server(("127.0.0.1", urlsplit(address).port or 0)):  # it never answers
        before = asyncio.ensure_future(client.call("POST", "tools/sign-in", asked, headers=host))
        await asyncio.sleep(1)
        anew = await client.call("POST", "tools/sign-in", asked, headers=host)
        assert ((await before).status, anew.status) == (400, 400)
        assert "was begun anew" in (await before).json["message"]
        assert "not found in time" in anew.json["message"]
