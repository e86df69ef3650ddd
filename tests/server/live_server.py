"""What tests of the live side share: tabs, chats, kernels and a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from fake_service import FakeService
from server.live_person import Person
from server.live_tab import Document, TabClient, code_cell

from cellwright.server.application import Application
from cellwright.server.table import SETTING

__all__ = ["Live", "live", "no_ollama", "scripted"]


class Live:
    """A running server, from the point of view of its pages."""

    def __init__(self, serverapp: Any, fetch: Any, ws_fetch: Any) -> None:
        self.serverapp, self._fetch, self._ws_fetch = serverapp, fetch, ws_fetch
        self.tabs: list[TabClient] = []
        self.kernels: list[str] = []
        self.people: list[Person] = []

    @property
    def application(self) -> Application:
        application: Application = self.serverapp.web_app.settings[SETTING]
        return application

    async def load(self) -> Application:
        await self._fetch("cellwright", "v1", "health")
        return self.application

    async def socket(self, **options: Any) -> Any:
        return await self._ws_fetch("cellwright", "v1", "socket", **options)

    async def tab(self, tab: str = "", nonce: str = "") -> TabClient:
        client = TabClient(await self.socket(), tab, nonce)
        self.tabs.append(client)
        await client.hello()
        return client

    async def chat(self, notebook_path: str = "") -> str:
        application = await self.load()
        return application.chats.create(notebook_path).chat_id

    async def kernel(self) -> str:
        kernel_id: str = await self.serverapp.kernel_manager.start_kernel()
        self.kernels.append(kernel_id)
        return kernel_id

    async def person(self, kernel_id: str) -> Person:
        """The person in front of that kernel."""
        person = await Person(self.serverapp.kernel_manager.get_kernel(kernel_id)).sit_down()
        self.people.append(person)
        return person

    async def ready(self, *cells: str, path: str = "work.ipynb") -> tuple[TabClient, str, Document]:
        """A tab that has a notebook open and follows its chat."""
        chat = await self.chat(path)
        tab = await self.tab()
        filled = [code_cell(f"own-{number}", source) for number, source in enumerate(cells)]
        document = await tab.open(Document(path, await self.kernel(), *filled))
        await tab.follow(chat)
        return tab, chat, document

    async def close(self) -> None:
        for tab in self.tabs:
            await tab.close()
        for person in self.people:
            person.leave()
        manager = self.serverapp.kernel_manager
        for kernel_id in self.kernels:
            if kernel_id in manager:
                # one that was killed is being started anew; it cannot be ended before it is there
                ready = asyncio.wrap_future(manager.get_kernel(kernel_id).ready)
                await asyncio.wait([ready], timeout=20)
                await manager.shutdown_kernel(kernel_id, now=True)


@pytest.fixture
def no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELLWRIGHT_OLLAMA", "off")


@pytest.fixture
def live(
    no_ollama: None,
    jp_serverapp: Any,
    jp_fetch: Callable[..., Awaitable[Any]],
    jp_ws_fetch: Callable[..., Awaitable[Any]],
    jp_asyncio_loop: asyncio.AbstractEventLoop,
) -> Iterator[Live]:
    live = Live(jp_serverapp, jp_fetch, jp_ws_fetch)
    yield live
    jp_asyncio_loop.run_until_complete(live.close())


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeService]:
    """A model that says what its script says; set ``service.script`` before asking."""
    with FakeService() as service:
        monkeypatch.setenv("CELLWRIGHT_BASE_URL", service.base_url)
        monkeypatch.setenv("CELLWRIGHT_API_KEY", "fake-key-of-the-tests")
        monkeypatch.setenv("CELLWRIGHT_MODEL", "fake-model")
        yield service
