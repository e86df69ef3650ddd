"""JSON that Python reads and nothing can hold: refused by every route and frame, never a fault."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_runs import analysis_run
from server import hand_components as tools
from server.frame_cases import sample_frames
from server.live_server import Live
from server.live_tab import TabClient
from server_client import Client
from tornado.websocket import WebSocketClosedError

from cellwright.knowledge.memory import Whose
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.record.values import read_json
from cellwright.server import openapi_routes as openapi
from cellwright.server import socket
from cellwright.server.application import Application
from cellwright.server.table import load_all_routes

pytestmark = pytest.mark.server
CONFIG = {
    "ServerApp": {"jpserver_extensions": {"cellwright": True}},
    "Cellwright": {"endpoints": ["http://127.0.0.1:9/v1"], "components": [tools.SETTING]},
}
HOSTILE = {
    "half a pair": '"\\ud800"',
    "the other half": '"a\\uDFFFb"',
    "a huge integer": "9" * 400,
    "an integer of 65 bits": str(2**64),
    "more digits than Python reads": "9" * 5_000,
    "a huge number": "1e999",
    "not a number": "NaN",
    "minus infinity": "-Infinity",
    "deep": "[" * 100_000 + "]" * 100_000,
}
HALVES = st.text(st.characters(categories=["Cs", "Ll"]), min_size=1)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("form", ["{}", "[{}]", '{{"a": {{"b": {}}}}}'])
def test_13_12_what_nothing_can_hold_is_not_read(form: str, text: str) -> None:
    for written in (form.format(text), form.format(text).encode()):
        with pytest.raises(ValueError, match=r"."):
            read_json(written)


def test_13_12_bytes_with_half_a_pair_are_not_read() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        read_json('"\ud800"'.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match="pair"):
        read_json('{"\\ud800": 1}')


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
))  # fmt: skip
def test_13_12_all_other_json_is_read_as_it_is(value: Any) -> None:
    for is_ascii in (True, False):
        assert read_json(json.dumps(value, ensure_ascii=is_ascii)) == value
    assert read_json(json.dumps(value).encode()) == value


@given(HALVES)
def test_13_12_what_is_read_can_be_written(text: str) -> None:
    try:
        value = read_json(json.dumps(text))
    except ValueError:
        return
    assert value.encode().decode() == value


@pytest.mark.parametrize("jp_server_config", [CONFIG])
async def test_13_12_no_route_fails_over_hostile_json(client: Client, shared: Application) -> None:
    chat = shared.chats.create("a.ipynb").chat_id
    known = {
        "chat_id": chat,
        "message_id": "none",
        "run_id": shared.runs.start(*analysis_run()).run_id,
        "memory_id": MemoryKeeper(shared.database)
        .keep(Whose(), "I prefer polars")
        .memory.memory_id,
        "proposal_id": "none",
        "document_id": "0123456789ab",
        "name": "word_count",
        "version": "v1",
    }
    asked = 0
    for operation in openapi.operations(load_all_routes()):
        path = operation.path.removeprefix("/v1/")
        for name, value in known.items():
            path = path.replace(f"{{{name}}}", value)
        method = operation.method.upper()
        if method == "GET" or operation.described.takes_file:
            continue
        body = operation.described.body
        names = [*getattr(body, "__dataclass_fields__", {}), "other"]
        for name in names:
            for text in (*HOSTILE.values(), f'{{"k": {HOSTILE["half a pair"]}}}'):
                written = f'{{"{name}": {text}}}'.encode()
                answer = await client.call(method, path, written)
                asked += 1
                assert answer.status < 500, f"{operation.key} {written[:80]!r}"
                assert answer.status != 405, operation.key
                assert method == "DELETE" or answer.status >= 400, operation.key
    assert asked > 300


async def test_13_12_no_question_of_an_address_fails(client: Client, shared: Application) -> None:
    run = shared.runs.start(*analysis_run()).run_id
    chat = shared.chats.create("a.ipynb").chat_id
    shared.chats.add_run(chat, run)
    asked = 0
    for operation in openapi.operations(load_all_routes()):
        path = operation.path.removeprefix("/v1/").replace("{chat_id}", chat)
        path = path.replace("{run_id}", run)
        if operation.method.upper() != "GET" or "{" in path:
            continue
        for name in operation.described.query:
            for value in ("9" * 400, "-1", "NaN", "1e999", "%00", "%ED%A0%80", "%F0%9F", "a%0Ab"):
                answer = await client.call("GET", f"{path}?{name}={value}")
                assert answer.status < 500, f"{operation.key} {name}={value}"
                asked += 1
    assert asked > 50


async def test_13_12_no_frame_fails_over_hostile_json(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    chat, tab = await live.chat(), await live.tab()
    await tab.send(type="attach", notebook="n", path="a.ipynb")
    sent = 0
    for frame in sample_frames({"chat": chat, "notebook": "n", "kernel_id": "", "file": ""}):
        whole = json.dumps(frame)
        for value in leaves(frame):
            for text in HOSTILE.values():
                # Sent as text: this JSON cannot be written from a value.
                await tab._connection.write_message(whole.replace(json.dumps(value), text, 1))
                sent += 1
        await tab.handled()
    assert sent > 300
    assert set(tab.errors()) <= {"bad_frame", "not_found", "unknown_frame", "no_run", "gone",
        "not_driver", "no_notebook", "setup", "empty", "no_file", "nothing_to_gain"}  # fmt: skip
    assert not [record for record in caplog.records if record.exc_info]


def leaves(value: Any) -> list[Any]:
    """Every text and number of a frame but its type."""
    if isinstance(value, dict):
        return [leaf for name, inner in value.items() if name != "type" for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [] if isinstance(value, bool) or value is None else [value]


async def test_13_12_half_a_character_in_a_cell_does_not_blind_the_run(live: Live) -> None:
    tab, _, document = await live.ready()
    half = {"output_type": "stream", "name": "stdout", "text": "\ud83d", "n": 2**64, "x": math.nan}
    cell = {"id": "a", "cell_type": "code", "source": "print('\ud83d')", "outputs": [half]}
    await tab.send(type="changed", notebook=document.name, cells=[{"cell": cell, "after": ""}])
    await tab.send(type="reply", request="r", ok=True, cells=[cell])
    await tab.handled()
    assert not tab.errors()


async def test_13_12_a_large_frame_is_not_read_before_hello(live: Live) -> None:
    large = json.dumps({"type": "hello", "padding": "x" * socket.HELLO_LIMIT_BYTES})
    stranger = TabClient(await live.socket())
    live.tabs.append(stranger)
    await stranger._connection.write_message(large)
    await stranger.closed()
    with pytest.raises(WebSocketClosedError):
        await stranger.send(type="ping", at=1)
    tab = await live.tab()
    await tab._connection.write_message(json.dumps({"type": "ping", "at": 1, "x": large}))
    await tab.wait("pong")
    await tab.handled()
    assert not tab.errors()
