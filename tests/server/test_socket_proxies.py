"""Pages behind proxies: below a prefix, one that holds text back, one without WebSockets (S30)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from fake_service import FakeService, text, tool_call
from server.live_proxy import Proxy
from server.live_server import Live
from server.live_tab import Document, TabClient
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

pytestmark = [pytest.mark.server, pytest.mark.kernel]
HELD_SECONDS = 0.3
COUNTING = (
    "import time\nfor number in range(6):\n    print(number, flush=True)\n    time.sleep(0.2)"
)


class Page:
    """A browser that knows the server by the proxy's address alone.

    Args:
        live: The server.
        base_url: Below which it is.
        proxy: In front of it.
    """

    def __init__(self, live: Live, base_url: str, proxy: Proxy) -> None:
        self._live = live
        self._place = f"127.0.0.1:{proxy.port}{base_url}cellwright/v1"
        self.headers = {
            "Authorization": f"token {live.serverapp.identity_provider.token}",
            "Origin": f"http://127.0.0.1:{proxy.port}",
        }

    async def get(self, path: str) -> Any:
        request = HTTPRequest(f"http://{self._place}/{path}", headers=self.headers)
        return json.loads((await AsyncHTTPClient().fetch(request)).body)

    async def connect(self) -> Any:
        return await websocket_connect(
            HTTPRequest(f"ws://{self._place}/socket", headers=self.headers)
        )

    async def tab(self) -> TabClient:
        client = TabClient(await self.connect())
        self._live.tabs.append(client)
        await client.hello()
        return client


async def counted(live: Live, scripted: FakeService, page: Page) -> TabClient:
    """A tab at the end of a run that printed six lines."""
    scripted.script = [tool_call("run_cell", {"code": COUNTING}), text("Counted.")]
    chat = await live.chat("work.ipynb")
    tab = await page.tab()
    document = await tab.open(Document("work.ipynb", await live.kernel()))
    await tab.follow(chat)
    await tab.ask(chat, "count")
    assert (await tab.finished())["answer"] == "Counted."
    (cell_id,) = document.outputs
    assert document.text(cell_id) == "0\n1\n2\n3\n4\n5\n"
    assert [sequence for _, sequence in tab.numbers] == list(range(1, len(tab.numbers) + 1))
    return tab


async def test_below_a_prefix_and_behind_a_proxy_everything_works(
    live: Live, scripted: FakeService, jp_base_url: str, jp_http_port: int
) -> None:
    async with Proxy(jp_http_port) as proxy:
        page = Page(live, jp_base_url, proxy)
        assert (await page.get("health"))["enabled"]
        await counted(live, scripted, page)


async def test_a_proxy_that_holds_text_back_loses_nothing_and_the_page_can_tell(
    live: Live, scripted: FakeService, jp_base_url: str, jp_http_port: int
) -> None:
    async with Proxy(jp_http_port, holds_seconds=HELD_SECONDS) as proxy:
        tab = await counted(live, scripted, Page(live, jp_base_url, proxy))
        batches = [
            [item["time"] for item in frame["items"]]
            for frame in tab.frames
            if frame["type"] == "events"
        ]
        times = [time for batch in batches for time in batch]
        assert times == sorted(times)
        assert times[-1] - times[0] > 1
        began = time.monotonic()
        await tab.send(type="ping", at=1)
        await tab.wait("pong")
        assert time.monotonic() - began >= HELD_SECONDS


async def test_where_websockets_are_stopped_requests_work_and_the_refusal_comes_at_once(
    live: Live, jp_base_url: str, jp_http_port: int
) -> None:
    async with Proxy(jp_http_port, drops=("upgrade", "connection")) as proxy:
        page = Page(live, jp_base_url, proxy)
        began = time.monotonic()
        with pytest.raises(HTTPClientError) as refused:
            await page.connect()
        assert refused.value.code == 400
        assert time.monotonic() - began < 5
        assert (await page.get("service"))["is_demo"]
