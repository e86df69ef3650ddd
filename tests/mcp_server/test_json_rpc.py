from __future__ import annotations

from typing import Any

import pytest

from cellwright.mcp_server import json_rpc
from cellwright.mcp_server.json_rpc import Notification, Request, Response, RpcError


def test_a_message_with_a_method_and_an_id_is_a_request() -> None:
    assert json_rpc.read(b'{"jsonrpc":"2.0","id":"a","method":"ping"}') == Request("a", "ping")
    made = json_rpc.request(3, "tools/call", {"name": "run_cell"})
    assert json_rpc.parse(made) == Request(3, "tools/call", {"name": "run_cell"})


def test_a_message_without_an_id_is_told_and_not_answered() -> None:
    told = json_rpc.notification("notifications/progress", {"progress": 1})
    assert json_rpc.parse(told) == Notification("notifications/progress", {"progress": 1})
    assert json_rpc.notification("x") == {"jsonrpc": "2.0", "method": "x"}


def test_an_answer_is_a_result_or_the_words_of_an_error() -> None:
    assert json_rpc.parse(json_rpc.result(1, {"a": 1})) == Response(1, {"a": 1})
    failed = json_rpc.error(RpcError(-1, "No."), 1)
    assert json_rpc.parse(failed) == Response(1, None, "No.")
    assert json_rpc.parse({"jsonrpc": "2.0", "id": 1, "error": 7}) == Response(
        1, None, "It failed."
    )


@pytest.mark.parametrize(
    ("value", "code", "number"),
    [
        ([], json_rpc.INVALID_REQUEST, None),
        ({"id": 1, "method": "ping"}, json_rpc.INVALID_REQUEST, None),
        ({"jsonrpc": "2.0", "id": 1, "method": 7}, json_rpc.INVALID_REQUEST, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "a", "params": [1]}, json_rpc.INVALID_REQUEST, 1),
        ({"jsonrpc": "2.0", "id": True, "method": "a"}, json_rpc.INVALID_REQUEST, None),
        ({"jsonrpc": "2.0", "id": 1}, json_rpc.INVALID_REQUEST, None),
        ({"jsonrpc": "2.0", "result": {}}, json_rpc.INVALID_REQUEST, None),
    ],
)
def test_what_is_no_message_is_refused_with_its_id_where_it_has_one(
    value: Any, code: int, number: int | None
) -> None:
    with pytest.raises(RpcError) as caught:
        json_rpc.parse(value)
    assert (caught.value.code, caught.value.request) == (code, number)
    assert json_rpc.error(caught.value)["id"] == number


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", "[" * 100_000])
def test_a_line_that_is_no_json_is_a_parse_error(text: str | bytes) -> None:
    with pytest.raises(RpcError) as caught:
        json_rpc.read(text)
    assert caught.value.code == json_rpc.PARSE_ERROR
