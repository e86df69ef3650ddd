"""What a model says makes the panel fetch nothing and lead nowhere (attacks A9 to A13)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from conftest import find_free_port
from fake_service import (
    Answer,
    FakeService,
    Request,
    Wire,
    call_delta,
    chunk,
    raw_sse,
    text,
)
from lab import LabPage, LabServer, running_lab
from notebook_page import NotebookPage
from playwright.sync_api import ConsoleMessage, Dialog, Page, expect
from playwright.sync_api import Request as PageRequest
from sink import PAYLOADS, Sink

pytestmark = pytest.mark.browser

PIECE = 7
"""So few characters at once come from the model, so that the panel draws unfinished markup too."""
AT_ONCE = 10
"""So many come in one answer, each before a call of a tool, before it is looked what they did."""

TURN_MILLISECONDS = 60_000
ACTIVE = (
    "script, iframe, object, embed, link, style, base, meta, form, video, audio, source, svg, "
    "[style], [id], [name], [title], [srcset], [background], [action], [formaction], "
    "img:not([src^='data:image/']), "
    "a:not([target='_blank'][rel='noopener noreferrer'][href^='http'], [href^='mailto:'])"
)
STRANGE = """selector => Array.from(document.querySelectorAll('.cw-md')).flatMap(root =>
    Array.from(root.querySelectorAll('*'))
        .filter(element => element.matches(selector)
            || element.getAttributeNames().some(name => /^(on|data-)/.test(name)))
        .map(element => element.outerHTML.slice(0, 200)))"""


DRAWN = "document.querySelectorAll('.cw-md').length"


class Watched:
    """What happens in a page besides what it is there for."""

    def __init__(self, page: Page, server: LabServer, notebook: str) -> None:
        self.events: list[str] = []
        self._server = server
        self._address = f"{server.url}/lab/tree/{notebook}"
        page.on("request", self._asked)
        page.on("dialog", self._asked_the_person)
        page.on("popup", lambda popup: self.events.append(f"popup {popup.url}"))
        page.on("framenavigated", lambda frame: self._went(frame.url))
        page.on("pageerror", lambda error: self.events.append(f"error {error}"))
        page.on("console", self._said)

    def _went(self, address: str) -> None:
        if address != self._address:  # JupyterLab names the open notebook, now or later
            self.events.append(f"navigated {address}")

    def _asked(self, request: PageRequest) -> None:
        own = (self._server.url, self._server.url.replace("http", "ws", 1), "data:", "blob:")
        if not request.url.startswith(own):
            self.events.append(f"request {request.url}")

    def _asked_the_person(self, dialog: Dialog) -> None:
        self.events.append(f"dialog {dialog.message}")
        dialog.accept()  # while it is open the page stands still

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.events.append(f"console {message.text} {message.location.get('url', '')}")


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink().running() as sink:
        yield sink


@pytest.fixture(scope="module")
def service(sink: Sink) -> Iterator[FakeService]:
    def answer(request: Request) -> Wire:
        return _payload_asked_for(request, sink)(request)

    with FakeService(answer) as service:
        yield service


@pytest.fixture(scope="module")
def scripted_server(
    service: FakeService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LabServer]:
    root = tmp_path_factory.mktemp("sink")
    settings = {
        "CELLWRIGHT_BASE_URL": service.base_url,
        "CELLWRIGHT_API_KEY": "x",
        "CELLWRIGHT_MODEL": "scripted",
        "CELLWRIGHT_HOME": str(root / "home"),
    }
    with running_lab(root, find_free_port(), settings, forks_kernels=True) as server:
        yield server


@pytest.fixture
def lab(page: NotebookPage) -> LabPage:
    return page.lab


def _payload_asked_for(request: Request, sink: Sink) -> Answer:
    """The next of the payloads that were asked for: all but the last come with a call."""
    asked = re.findall(r"payloads (\d+) to (\d+)\b", json.dumps(request.messages))
    first, last = map(int, asked[-1])
    number = first + sum(message["role"] == "tool" for message in request.messages)
    payload = PAYLOADS[number].replace("evil.test", sink.host)
    pieces = [payload[at : at + PIECE] for at in range(0, len(payload), PIECE)]
    if number == last:
        return text(pieces=pieces)
    # not the same one each time: that would be taken for going in circles
    arguments = json.dumps({"pattern": f"x{number}"})
    call = call_delta(id=f"call_{number}", name="list_variables", arguments=arguments)
    said = [chunk({"content": piece}) for piece in pieces]
    return raw_sse([*said, chunk(call), chunk({}, "tool_calls")])


def _ask(page: Page, first: int, last: int) -> None:
    """Ask for these payloads, and wait for the end of the answer."""
    panel = page.locator("#cellwright-panel")
    panel.get_by_role("textbox", name="Prompt").fill(f"payloads {first} to {last}")
    panel.get_by_role("textbox", name="Prompt").press("Enter")
    ended = panel.get_by_role("article").get_by_role("button", name="Copy answer")
    expect(ended).to_have_count(1, timeout=TURN_MILLISECONDS)


def _open_panel(lab: LabPage, name: str) -> None:
    lab.show(lab.server.write_notebook(name, ["1"]))
    lab.execute("cellwright:open")
    panel = lab.page.locator("#cellwright-panel")
    panel.get_by_role("textbox", name="Prompt").wait_for()
    expect(panel.get_by_text(name).first).to_be_visible()
    expect(panel.get_by_role("article")).to_have_count(0)


def test_the_sink_counts_what_a_page_fetches(lab: LabPage, sink: Sink) -> None:
    """Without this, a sink that hears nothing would prove nothing."""
    _open_panel(lab, "control.ipynb")
    lab.page.evaluate(
        """host => new Promise(resolve => {
            const image = new Image();
            image.onload = image.onerror = resolve;
            image.src = `http://${host}/control.png`;
        })""",
        sink.host,
    )
    assert sink.hits == ["/control.png"]
    sink.hits.clear()


def test_no_payload_makes_the_page_fetch_run_or_go_anywhere(lab: LabPage, sink: Sink) -> None:
    _open_panel(lab, "sink.ipynb")
    watched = Watched(lab.page, lab.server, "sink.ipynb")
    panel = lab.page.locator("#cellwright-panel")
    for first in range(0, len(PAYLOADS), AT_ONCE):
        asked = PAYLOADS[first : first + AT_ONCE]
        lab.execute("cellwright:new-chat")
        expect(panel.get_by_role("article")).to_have_count(0)
        _ask(lab.page, first, first + len(asked) - 1)
        assert lab.page.evaluate(DRAWN) == len(asked), "all were drawn"
        assert lab.page.evaluate(STRANGE, ACTIVE) == [], asked
        assert (sink.hits, watched.events) == ([], []), asked
    lab.screenshot("sink")


def test_what_is_kept_from_loading_says_where_it_was(lab: LabPage, sink: Sink) -> None:
    _open_panel(lab, "blocked.ipynb")
    number = PAYLOADS.index("![x](http://evil.test/x.png)")
    _ask(lab.page, number, number)
    answer = lab.page.locator("#cellwright-panel").get_by_role("article").last
    expect(answer.get_by_text("Image blocked: 127.0.0.1")).to_be_visible()
    expect(answer.get_by_role("button", name="Copy address")).to_be_visible()
    assert sink.hits == []


def test_a_payload_that_is_opened_again_still_does_nothing(lab: LabPage, sink: Sink) -> None:
    _open_panel(lab, "again.ipynb")
    number = PAYLOADS.index("<img src=http://evil.test/x.png onerror=alert(1)>")
    _ask(lab.page, number, number)
    watched = Watched(lab.page, lab.server, "again.ipynb")
    lab.page.reload()
    lab.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
    watched.events.clear()  # the page itself was loaded again
    lab.execute("cellwright:open")
    answer = lab.page.locator("#cellwright-panel").get_by_role("article").last
    expect(answer.get_by_text("onerror=alert(1)")).to_be_visible()
    assert lab.page.evaluate(STRANGE, ACTIVE) == []
    assert (sink.hits, watched.events) == ([], [])
