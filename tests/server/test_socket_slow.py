"""A page that does not read, over a real connection: the run and the other pages go on."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from fake_service import FakeService, text, tool_call
from server.live_server import Live
from server.live_tab import TabClient

from cellwright.server.frames import PROTOCOL

pytestmark = [pytest.mark.server, pytest.mark.kernel]

PICTURES = 6
CELLS = 3
FLOOD = f"""
import secrets
from IPython.display import display
for _ in range({PICTURES}):
    display({{"application/json": {{"data": secrets.token_hex(500_000)}}}}, raw=True)
"""
"""Megabytes that are neither merged nor cut: more than sockets hold."""


async def stalled(live: Live, chat: str) -> Any:
    """A connection that follows a chat and of which nothing is read."""
    connection = await live.socket()
    hello = {"type": "hello", "protocol": PROTOCOL, "version": "0", "tab": "slow", "nonce": "slow"}
    for frame in (hello, {"type": "follow", "chat": chat, "after": None}):
        await connection.write_message(json.dumps(frame))
    return connection


async def test_a_page_that_does_not_read_holds_nobody_up_and_misses_nothing(
    live: Live, scripted: FakeService
) -> None:
    flood = tool_call("run_cell", {"code": FLOOD})
    scripted.script = [*(flood for _ in range(CELLS)), text("Shown.")]
    tab, chat, _ = await live.ready()
    slow = await stalled(live, chat)
    began = time.monotonic()
    await tab.ask(chat, "show it all")
    assert (await tab.finished())["answer"] == "Shown."
    seconds = time.monotonic() - began
    assert len(tab.of_kind("cell_output")) == PICTURES * CELLS
    late = TabClient(slow, "slow", "slow")
    live.tabs.append(late)
    await late.finished()
    assert late.numbers == tab.numbers
    assert seconds < 15
