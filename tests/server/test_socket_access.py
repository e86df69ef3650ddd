"""Who may connect to the socket, and what is said to a page that does not fit (A1, A2, A6, S29)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from server.live_server import Live
from server.live_tab import TabClient, has_errors
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

import cellwright

pytestmark = pytest.mark.server
Fetch = Callable[..., Awaitable[Any]]


class NoExecute(Authorizer):
    """Lets everybody look and nobody act."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action == "read"


EXTENSION = {"jpserver_extensions": {"cellwright": True}}
REFUSING = {"ServerApp": {**EXTENSION, "authorizer_class": NoExecute}}
SWITCHED_OFF = {"ServerApp": EXTENSION, "Cellwright": {"enabled": False}}
CAPPED = {"ServerApp": EXTENSION, "Cellwright": {"modes": ["plan", "ask"], "models": ["good-*"]}}


async def status_of(connecting: Awaitable[Any]) -> int:
    with pytest.raises(HTTPClientError) as error:
        await connecting
    return int(error.value.code)


class Door:
    """The socket's address, for requests that say exactly what a test wants."""

    def __init__(self, jp_http_port: int, jp_base_url: str, token: str) -> None:
        self.origin = f"http://127.0.0.1:{jp_http_port}"
        self.url = f"ws://127.0.0.1:{jp_http_port}{jp_base_url}cellwright/v1/socket"
        self.token = token

    async def knock(self, **headers: str) -> Any:
        return await websocket_connect(HTTPRequest(self.url, headers=headers))


@pytest.fixture
def door(jp_http_port: int, jp_base_url: str, jp_serverapp: Any, http_server_client: Any) -> Door:
    return Door(jp_http_port, jp_base_url, jp_serverapp.identity_provider.token)


async def test_strangers_are_refused(door: Door) -> None:
    assert await status_of(door.knock()) == 403
    assert await status_of(door.knock(Authorization="token wrong")) == 403


async def test_the_token_lets_in(door: Door) -> None:
    connection = await door.knock(Authorization=f"token {door.token}")
    client = TabClient(connection)
    welcome = await client.hello()
    assert (welcome["type"], welcome["version"]) == ("welcome", cellwright.__version__)
    await client.close()


async def test_a_name_that_was_bound_to_this_address_is_refused(door: Door) -> None:
    headers = {"Authorization": f"token {door.token}", "Host": "evil.example:8888"}
    assert await status_of(door.knock(**headers)) == 403


async def test_a_page_of_another_site_is_refused_with_the_persons_cookie(
    door: Door, jp_fetch: Fetch
) -> None:
    response = await jp_fetch("api", "status")
    cookies = [
        header.partition(";")[0]
        for header in response.headers.get_list("Set-Cookie")
        if header.startswith("username-")
    ]
    assert cookies
    cookie = "; ".join(cookies)
    assert await status_of(door.knock(Cookie=cookie, Origin="http://evil.example")) == 403
    connection = await door.knock(Cookie=cookie, Origin=door.origin)
    client = TabClient(connection)
    assert (await client.hello())["type"] == "welcome"
    await client.close()


@pytest.mark.parametrize("jp_server_config", [REFUSING])
async def test_a_person_who_may_only_look_is_refused(jp_ws_fetch: Fetch) -> None:
    assert await status_of(jp_ws_fetch("cellwright", "v1", "socket")) == 403


@pytest.mark.parametrize("jp_server_config", [SWITCHED_OFF])
async def test_nobody_connects_where_it_is_switched_off(jp_ws_fetch: Fetch) -> None:
    assert await status_of(jp_ws_fetch("cellwright", "v1", "socket")) == 403


@pytest.mark.parametrize("jp_server_config", [CAPPED])
async def test_what_an_administrator_forbids_is_refused_for_every_question(live: Live) -> None:
    tab, chat = await live.tab(), await live.chat()
    for wish in ({"mode": "auto"}, {"mode": "ask", "model": "bad-model"}):
        refused = await tab.ask(chat, "hello", **wish)
        assert (refused["type"], refused["code"]) == ("error", "not_allowed")
    await tab.send(type="ask", request="r", chat=chat, prompt="p", mode="god")
    await tab.until(lambda: len(tab.errors()) == 3)
    assert tab.errors()[2] == "bad_frame"
    assert live.application.chats.run_ids(chat) == ()


async def test_a_frame_that_is_wrong_does_not_cost_the_connection(live: Live) -> None:
    tab = await live.tab()
    for text in ("nonsense", "[]", '{"type":"dance"}', '{"type":"stop"}'):
        await tab._connection.write_message(text)
    await tab.until(lambda: len(tab.errors()) == 4)
    assert tab.errors() == ["bad_frame", "bad_frame", "unknown_frame", "bad_frame"]
    await tab.send(type="ping", at=3)
    assert (await tab.wait("pong"))["at"] == 3


async def test_a_page_says_hello_first_and_once(live: Live) -> None:
    tab = TabClient(await live.socket())
    live.tabs.append(tab)
    await tab.send(type="follow", chat="c", after=None)
    await tab.until(tab.errors)
    await tab.hello()
    await tab.hello()
    await tab.until(lambda: len(tab.errors()) == 2)
    assert tab.errors() == ["no_hello", "bad_frame"]


async def test_a_page_of_another_version_is_told(live: Live) -> None:
    tab = TabClient(await live.socket())
    live.tabs.append(tab)
    await tab.send(type="hello", protocol=99, version="9", tab="t", nonce="n")
    welcome = await tab.wait("welcome")
    assert welcome["protocol"] == 1
    await tab.send(type="stop", chat="c")
    refused = await tab.wait("error")
    assert refused["code"] == "wrong_version"
    assert "99" in refused["message"]


async def test_a_chat_that_is_not_there_or_of_somebody_else_is_not_found(live: Live) -> None:
    tab = await live.tab()
    foreign = (await live.load()).chats.create(owner="somebody else").chat_id
    for number, chat in enumerate(("unknown", foreign), start=1):
        await tab.send(type="follow", chat=chat, after=None)
        await tab.until(partial(has_errors, tab, number))
    assert tab.errors() == ["not_found", "not_found"]


async def test_an_empty_prompt_is_refused(live: Live) -> None:
    tab, chat = await live.tab(), await live.chat()
    assert (await tab.ask(chat, "  "))["code"] == "empty"
