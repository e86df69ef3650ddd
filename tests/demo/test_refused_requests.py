"""Requests the demo server refuses, and what it says of them."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from demo_session import HELLO, ask, send

from cellwright.demo.server import DemoServer


@pytest.mark.parametrize(
    ("changes", "status", "words", "parameter"),
    [
        ({"model": "gpt-5.6"}, 404, "'gpt-5.6' does not exist", "model"),
        ({"model": None}, 400, "model parameter", "model"),
        ({"messages": []}, 400, "must be a list", "messages"),
        ({"messages": "hello"}, 400, "must be a list", "messages"),
        ({"messages": [{"role": "robot"}]}, 400, "messages[0] has no known role", "messages[0]"),
        ({"messages": ["hello"]}, 400, "messages[0] has no known role", "messages[0]"),
        ({"n": 2}, 400, "'n' is 2", "n"),
        ({"tools": [{"type": "function"}]}, 400, "needs a function with a name", "tools"),
        (
            {"response_format": {"type": "json_object"}},
            400,
            "Unsupported parameter: 'response_format'",
            "response_format",
        ),
        (
            {"tool_choice": {"type": "function", "function": {"name": "fly"}}},
            400,
            "'fly' is not among the tools",
            "tool_choice",
        ),
        (
            {"messages": [*HELLO, {"role": "tool", "tool_call_id": "call_1", "content": "1"}]},
            400,
            "must answer a tool call",
            "messages[1]",
        ),
    ],
)
def test_a_wrong_request_is_refused_with_the_culprits_name(
    server: DemoServer, changes: dict[str, Any], status: int, words: str, parameter: str
) -> None:
    found, body = ask(server, **changes)
    assert found == status
    assert words in body["error"]["message"]
    assert body["error"]["param"] == parameter
    assert body["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("after", [[], HELLO])
def test_tool_calls_without_an_answer_are_refused(server: DemoServer, after: list[Any]) -> None:
    call = {"id": "call_7", "type": "function", "function": {"name": "run_cell", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    status, body = ask(server, messages=[*HELLO, said, *after])
    assert status == 400
    assert "call_7" in body["error"]["message"]


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[]"])
def test_a_body_that_is_no_json_object_is_refused(server: DemoServer, body: bytes) -> None:
    status, answer = send(server, "POST", "/v1/chat/completions", body)
    assert status == 400
    assert "JSON" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/files"), ("POST", "/v1/responses"), ("POST", "/v1/models")]
)
def test_an_unknown_path_is_404(server: DemoServer, method: str, path: str) -> None:
    status, body = send(server, method, path, {} if method == "POST" else None)
    assert status == 404
    assert path in body["error"]["message"]


def test_an_unknown_method_is_answered_in_the_same_shape(server: DemoServer) -> None:
    status, body = send(server, "DELETE", "/v1/models")
    assert status == 501
    assert body["error"]["type"] == "server_error"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (b"", b"411"),
        (b"Content-Length: many\r\n", b"411"),
        (b"Content-Length: 99999999999\r\n", b"413"),
    ],
)
def test_a_request_without_a_usable_length_is_refused(
    server: DemoServer, headers: bytes, status: bytes
) -> None:
    port = int(server.base_url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n")
        assert status in connection.makefile("rb").readline()


def test_a_head_request_has_no_body(server: DemoServer) -> None:
    port = int(server.base_url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"HEAD /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
    assert b"501" in head
    assert body == b""
