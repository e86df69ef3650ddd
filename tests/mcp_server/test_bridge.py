from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from mcp_server.peers import request

from cellwright.errors import SetupError
from cellwright.mcp_server.bridge import Address, Bridge, address_of

TOKEN = "".join(["tok", "en-of-", "a-test"])
HELLO = json.dumps(request(1, "initialize", {})).encode()


def notification(method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params or {}}


def result(number: int, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": value}


class FakeRoute:
    """A server with the route, whose sessions are numbered; it forgets them when told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str, Any]] = []
        """Method, session, token and message of each request."""
        self.session = 0
        self.refusal: tuple[int, bytes] | None = None
        route = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                route.answer(self, json.loads(body))

            def do_DELETE(self) -> None:
                route.note(self, None)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/user/a/lab/tree/x.ipynb"

    def note(self, handler: BaseHTTPRequestHandler, message: Any) -> str:
        name = handler.headers.get("Mcp-Session-Id") or ""
        token = handler.headers.get("Authorization") or ""
        self.seen.append((f"{handler.command} {handler.path}", name, token, message))
        return name

    def answer(self, handler: BaseHTTPRequestHandler, message: Any) -> None:
        name = self.note(handler, message)
        if self.refusal is not None:
            self.say(handler, self.refusal[0], self.refusal[1])
        elif message.get("method") == "initialize":
            self.session += 1
            said = json.dumps(result(message["id"], {"server": self.session})).encode()
            self.say(handler, 200, said, session=str(self.session))
        elif name != str(self.session):
            lost = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Lost."}}
            self.say(handler, 404, json.dumps(lost).encode())
        elif message.get("method") == "tools/call":
            told = [notification("notifications/progress", {"progress": 1})]
            told.append(result(message["id"], {"content": []}))
            text = ": nothing yet\n\n" + "".join(f"data: {json.dumps(one)}\n\n" for one in told)
            self.say(handler, 200, text.encode(), kind="text/event-stream")
        else:
            self.say(handler, 202, b"")

    def say(
        self,
        handler: BaseHTTPRequestHandler,
        status: int,
        body: bytes,
        *,
        session: str = "",
        kind: str = "application/json",
    ) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        if session:
            handler.send_header("Mcp-Session-Id", session)
        handler.end_headers()
        handler.wfile.write(body)


@pytest.fixture
def route() -> Iterator[FakeRoute]:
    route = FakeRoute()
    yield route
    route.server.shutdown()
    route.server.server_close()


class Ends:
    """A bridge and what came back over it."""

    def __init__(self, address: Address) -> None:
        self.sent: list[Any] = []
        self.bridge = Bridge(address, self.sent.append)

    def until(self, look: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 5
        while not (found := look()):
            assert time.monotonic() < deadline, self.sent
            time.sleep(0.01)
        return found


@pytest.fixture
def ends(route: FakeRoute) -> Ends:
    return Ends(address_of(route.url, TOKEN, {"notebook": "a b.ipynb", "mode": ""}))


def test_messages_go_to_the_route_with_the_token_and_answers_come_back(
    route: FakeRoute, ends: Ends
) -> None:
    ends.bridge.receive(HELLO)
    assert ends.sent == [result(1, {"server": 1})]
    ends.bridge.receive(json.dumps(notification("notifications/initialized")).encode())
    ends.bridge.receive(json.dumps(request(2, "tools/call", {"name": "x"})).encode())
    ends.until(lambda: len(ends.sent) == 3)
    assert ends.sent[1]["params"] == {"progress": 1}
    assert ends.sent[2] == result(2, {"content": []})
    ends.bridge.close()
    assert [item[1] for item in route.seen] == ["", "1", "1", "1"]
    assert {item[2] for item in route.seen} == {f"token {TOKEN}"}
    assert route.seen[0][0] == "POST /user/a/cellwright/v2/mcp?notebook=a+b.ipynb"
    assert route.seen[-1][0].startswith("DELETE ")


def test_a_server_that_was_started_anew_gets_the_session_again(
    route: FakeRoute, ends: Ends
) -> None:
    ends.bridge.receive(HELLO)
    route.session = 7
    ends.bridge.receive(json.dumps(request(2, "tools/call", {})).encode())
    ends.until(lambda: len(ends.sent) == 3)
    assert ends.sent[-1] == result(2, {"content": []})
    assert route.session == 8


def test_a_session_that_never_began_is_not_begun_again(ends: Ends) -> None:
    ends.bridge.receive(json.dumps(request(2, "tools/call", {})).encode())
    ends.until(lambda: ends.sent)
    assert ends.sent[0]["error"]["message"] == "Lost."
    ends.bridge.close()


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (403, b'{"message": "Forbidden", "hint": ""}', "Forbidden Is the token right?"),
        (404, b'{"message": "There is no notebook.", "hint": "Look."}', "no notebook. Look."),
        (500, b"<html>", "The server answers 500 Internal Server Error."),
        (500, b"[1]", "The server answers 500"),
    ],
)
def test_what_the_server_refuses_is_told_in_its_words(
    route: FakeRoute, ends: Ends, status: int, body: bytes, words: str
) -> None:
    route.refusal = (status, body)
    ends.bridge.receive(HELLO)
    assert words in ends.sent[0]["error"]["message"]
    assert ends.sent[0]["id"] == 1
    ends.bridge.receive(json.dumps(notification("notifications/initialized")).encode())
    assert len(ends.sent) == 1


def test_a_server_that_is_not_there_is_named(free_port: int) -> None:
    ends = Ends(address_of(f"http://127.0.0.1:{free_port}/", "", {}))
    ends.bridge.receive(b"{")
    ends.bridge.receive(json.dumps(notification("notifications/initialized")).encode())
    ends.bridge.receive(HELLO)
    assert ends.sent[0]["error"]["code"] == -32700
    assert f"http://127.0.0.1:{free_port} cannot be reached" in ends.sent[1]["error"]["message"]
    ends.bridge.close()


def test_a_server_that_goes_while_the_session_lasts_is_no_trouble_at_the_end(
    route: FakeRoute, ends: Ends
) -> None:
    ends.bridge.receive(HELLO)
    route.server.shutdown()
    route.server.server_close()
    ends.bridge.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("127.0.0.1:8888", "is not a server's address"),
        ("http://127.0.0.1:8888/lab?token=abc", "has a token in it"),
        ("http://hub.example/user/a", "without encryption"),
    ],
)
def test_a_token_goes_only_where_it_may(url: str, words: str) -> None:
    with pytest.raises(SetupError, match=words):
        address_of(url, TOKEN, {})


def test_an_encrypted_address_keeps_its_path() -> None:
    address = address_of("https://hub.example/user/a/", TOKEN, {})
    assert address == Address("hub.example", None, True, "/user/a/cellwright/v2/mcp", TOKEN)
    assert address.shown == "https://hub.example"
    # what is encrypted is checked against the system's authorities, so nothing answers here
    ends = Ends(address_of("https://127.0.0.1:1/", TOKEN, {}))
    ends.bridge.receive(HELLO)
    assert "cannot be reached" in ends.sent[0]["error"]["message"]
