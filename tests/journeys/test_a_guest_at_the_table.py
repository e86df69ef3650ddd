"""Two people at one server: its owner works, and a guest opens the same notebook beside her."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_service import text
from lab import VIEWPORT, LabServer
from notebook_page import NotebookPage, loaded_page
from panel_page import Script, call, scripted_lab
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

TESTS = str(Path(__file__).resolve().parents[1])
PEOPLE = {
    "ServerApp": {"identity_provider_class": "server.named_people.NamedPeople"},
    "Cellwright": {"owners": ["ada"]},
}
SECRET = "the merger is in May"
TITLE = "Quarterly figures"
SEND = """async ([frames, tab]) => {
    const address = new URL('cellwright/v1/socket', window.location.origin);
    address.protocol = 'ws:';
    const socket = new WebSocket(address);
    const told = [];
    await new Promise((resolve, reject) => {
        socket.onerror = reject;
        socket.onopen = () => {
            const hello = { type: 'hello', protocol: 1, version: '0', tab, nonce: tab };
            [hello, ...frames, { type: 'ping', at: 1 }]
                .forEach(frame => socket.send(JSON.stringify(frame)));
        };
        socket.onmessage = ({ data }) => {
            const frame = JSON.parse(data);
            told.push(frame);
            if (frame.type === 'pong') resolve();
        };
        socket.onclose = () => resolve();
    });
    socket.close();
    return told;
}"""
"""What a guest with the developer tools open sends over a line of their own."""
FETCH = """async ([method, path, body]) => {
    const answer = await fetch(`/cellwright/v1/${path}`, {
        method,
        headers: { 'X-XSRFToken': /_xsrf=([^;]*)/.exec(document.cookie)?.[1] ?? '' },
        body: body === null ? undefined : JSON.stringify(body)
    });
    return [answer.status, await answer.text()];
}"""


@pytest.fixture
def server(tmp_path: Path, script: Script) -> Iterator[LabServer]:
    """A JupyterLab of Ada's, to which others may come."""
    config = tmp_path / "config"
    config.mkdir()
    (config / "jupyter_server_config.json").write_text(json.dumps(PEOPLE), "utf-8")
    with scripted_lab(tmp_path, script, PYTHONPATH=TESTS) as server:
        yield server


@contextmanager
def seated(
    browser: Browser, server: LabServer, script: Script, person: str
) -> Iterator[NotebookPage]:
    """A person's browser, with the panel open."""
    with browser.new_context(viewport=VIEWPORT) as context:
        context.add_cookies([{"name": "person", "value": person, "url": server.url}])
        with loaded_page(context, server, script) as page:
            yield page


def ask_as_ada(server: LabServer, path: str) -> Any:
    """What a route tells the owner."""
    with urllib.request.urlopen(f"{server.url}/cellwright/v1/{path}", timeout=30) as answer:
        return json.load(answer)


def test_a_guest_works_beside_the_owner_and_touches_nothing_of_hers(
    browser: Browser, server: LabServer, script: Script
) -> None:
    script.write(
        call("run_cell", code="total = 40 + 2\ntotal", title="Add it up"),
        text("It is 42."),
        call("run_cell", code="total += 1\ntotal", title="One more"),
    )
    with (
        seated(browser, server, script, "ada") as ada,
        seated(browser, server, script, "eve") as eve,
    ):
        book = ada.start(f"# {SECRET}", mode="Auto")
        ada.answer(f"Add up what we know: {SECRET}.")
        ada.lab.save()
        ada.root.get_by_title("Rename", exact=True).click()
        ada.root.get_by_role("textbox", name="Title").fill(TITLE)
        ada.lab.page.keyboard.press("Enter")
        ada.show("Ask")
        ada.ask("And one more?")
        expect(ada.button("Approve")).to_be_visible()
        before = owned(server)

        sit_down_and_look(eve, book)
        ask_in_vain(eve, script)
        reach_for_what_is_hers(eve, before)

        # all of the owner's is as it was, and her answer counts
        assert owned(server) == before
        expect(ada.root.get_by_text(TITLE)).to_be_visible()
        expect(ada.turns).to_have_count(2)
        ada.lab.screenshot("journey-guest-owner")
        script.answers = [text("It is 43.")]
        ada.button("Approve").click()
        ada.wait_for_answer(2)
        expect(ada.last).to_contain_text("It is 43.")
        assert ada.sources() == [f"# {SECRET}", "total = 40 + 2\ntotal", "total += 1\ntotal"]


def owned(server: LabServer) -> dict[str, Any]:
    """What the owner has: her chats with their runs, what was said, and her cells."""
    chats = ask_as_ada(server, "chats")
    runs = ask_as_ada(server, "runs")["runs"]
    (chat,) = chats
    ended = next(run["id"] for run in runs if run["status"] == "completed")
    return {
        "chats": chats,
        "runs": [(run["id"], run["status"]) for run in runs],
        "ended": ended,
        "cells": ask_as_ada(server, f"runs/{ended}/cells"),
        "said": ask_as_ada(server, f"chats/{chat['id']}/messages"),
    }


def sit_down_and_look(eve: NotebookPage, book: str) -> None:
    """The guest sees the notebook, which is a file, and nothing that was said."""
    eve.open_beside(book)
    expect(eve.cell(1)).to_contain_text("total = 40 + 2")
    eve.show()
    expect(eve.turns).to_have_count(0)
    for name in ("Approve", "Stop", "Take over"):
        expect(eve.button(name)).to_have_count(0)
    eve.button("Chats").click()
    eve.root.get_by_role("searchbox").wait_for()
    expect(eve.root.get_by_text(TITLE)).to_have_count(0)
    eve.lab.screenshot("journey-guest-chats")
    eve.button("Back to the chat").click()
    eve.lab.execute("cellwright:runs")
    pages = eve.lab.page.locator("#cellwright-runs")
    pages.get_by_role("tab", name=re.compile("^Recorded runs")).click()
    expect(pages.get_by_text("No run fits")).to_be_visible()
    eve.lab.screenshot("journey-guest-runs")
    eve.lab.execute("docmanager:open", {"path": book})


def ask_in_vain(eve: NotebookPage, script: Script) -> None:
    """What has to be approved is refused: nobody there may allow it."""
    waiting, script.answers = (
        script.answers,
        [
            call("run_cell", code="total = 0", title="Reset"),
            text("It was refused."),
        ],
    )
    eve.show("Ask")
    eve.answer("Set it to zero.")
    script.answers = waiting
    expect(eve.last).to_contain_text("It was refused.")
    expect(eve.button("Approve")).to_have_count(0)
    assert SECRET not in eve.root.inner_text()
    assert "Add up what we know" not in script.last()
    eve.lab.screenshot("journey-guest-refused")


def reach_for_what_is_hers(eve: NotebookPage, owned: dict[str, Any]) -> None:
    """Neither a route nor a frame of the guest's reaches the owner's chat, run or approval."""
    chat, ended = owned["chats"][0]["id"], owned["ended"]
    (cell, *_) = owned["cells"]["cells"] if "cells" in owned["cells"] else owned["cells"]
    page = eve.lab.page
    for method, path, body in (
        ("GET", f"chats/{chat}", None),
        ("GET", f"chats/{chat}/messages", None),
        ("GET", f"chats/{chat}/export?to=markdown", None),
        ("PATCH", f"chats/{chat}", {"title": "Eve was here"}),
        ("PUT", f"chats/{chat}/pins/{ended}", {}),
        ("DELETE", f"chats/{chat}", None),
        ("GET", f"runs/{ended}/cells", None),
        ("GET", f"runs/{ended}/sample", None),
        ("POST", f"runs/{ended}/fates", {"fates": {cell["cell_id"]: "discarded"}}),
    ):
        status, told = page.evaluate(FETCH, [method, path, body])
        assert status in (403, 404), (method, path, status)
        assert SECRET not in told
    frames = [
        {"type": "follow", "chat": chat},
        {"type": "stop", "chat": chat},
        {"type": "drive", "chat": chat, "notebook": ""},
        {"type": "answer", "chat": chat, "call_id": "call_2", "allowed": True},
        {"type": "ask", "request": "r", "chat": chat, "prompt": "x", "mode": "ask"},
        {"type": "compact", "request": "c", "chat": chat},
        {"type": "extend", "chat": chat, "seconds": 60},
        {"type": "queue", "chat": chat, "action": "resume"},
    ]
    told = page.evaluate(SEND, [frames, "eve-own-line"])
    errors = [frame for frame in told if frame["type"] == "error"]
    assert len(errors) == len(frames), told
    assert SECRET not in json.dumps(told)
