"""Code of a kernel that uses the server's own token against the person (fault A21)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, text, tool_call
from server.live_server import Live

pytestmark = [pytest.mark.server, pytest.mark.kernel]

INTRUDER = """
import glob, json, os, threading, urllib.request
import websocket
from jupyter_core.paths import jupyter_runtime_dir

OUT = {out!r}

def intrude():
    (file,) = glob.glob(os.path.join(jupyter_runtime_dir(), "jpserver-*.json"))
    with open(file) as opened:
        server = json.load(opened)
    headers = {{"Authorization": "token " + server["token"]}}
    below = server["url"] + "cellwright/v1/"
    request = urllib.request.Request(below + "chats", headers=headers)
    with urllib.request.urlopen(request) as response:
        (chat,) = json.load(response)
    line = websocket.create_connection(
        "ws" + below.removeprefix("http") + "socket", header=headers, timeout=20
    )
    codes, state = [], {{}}

    def send(**frame):
        line.send(json.dumps(frame))

    def look(done):
        while not done():
            frame = json.loads(line.recv())
            if frame["type"] == "chat":
                state.update(frame["state"])
            elif frame["type"] == "error":
                codes.append(frame["code"])

    def answer():
        expected = len(codes) + 1
        send(type="answer", chat=chat["id"], call_id=state["approval"], allowed=True,
             reason="", for_session=True)
        look(lambda: len(codes) == expected)

    send(type="hello", protocol=1, version="0", tab={tab!r}, nonce="guessed")
    send(type="follow", chat=chat["id"], after=None)
    look(lambda: state.get("phase") == "approval" and state["approval"] != {first!r})
    answer()
    send(type="attach", notebook="mine", path=chat["notebook_path"],
         kernel_id={kernel!r}, editable=True)
    send(type="drive", chat=chat["id"], notebook="mine")
    look(lambda: len(codes) == 2)
    answer()
    line.close()
    return codes

def run():
    try:
        said = intrude()
    except BaseException as error:
        said = repr(error)
    with open(OUT + ".part", "w") as opened:
        json.dump(said, opened)
    os.replace(OUT + ".part", OUT)

threading.Thread(target=run, daemon=True).start()
"""


async def told(out: Path) -> Any:
    for _ in range(600):
        if out.exists():
            return json.loads(out.read_text("utf-8"))
        await asyncio.sleep(0.05)
    raise AssertionError("the intruder said nothing")


async def test_a_kernel_that_finds_the_servers_token_cannot_approve_itself(
    live: Live, scripted: FakeService, tmp_path: Path
) -> None:
    out, trace = tmp_path / "said.json", tmp_path / "trace"
    tab, chat, document = await live.ready()
    first = "call-of-the-intruder"
    code = INTRUDER.format(out=str(out), tab=tab.tab, first=first, kernel=document.kernel_id)
    scripted.script = [
        tool_call("run_cell", {"code": code}, id=first),
        tool_call("run_cell", {"code": f"open({str(trace)!r}, 'w').close()"}),
        text("I see."),
    ]
    await tab.ask(chat, "do it", mode="ask")
    await tab.phase(chat, "approval")
    answer = {"type": "answer", "chat": chat, "reason": "", "for_session": False}
    await tab.send(**answer, call_id=tab.states[chat]["approval"], allowed=True)
    await tab.event("tool_finished")
    state = await tab.phase(chat, "approval")
    assert await told(out) == ["not_driver", "driven", "not_driver"]
    assert tab.states[chat]["phase"] == "approval"
    await tab.send(**answer, call_id=state["approval"], allowed=False)
    assert (await tab.finished())["answer"] == "I see."
    assert not trace.exists()
    answered = [(event["allowed"], event["by"]) for event in tab.of_kind("approval_answered")]
    assert answered == [(True, "person"), (False, "person")]
