"""The panel of a JupyterLab page as a person uses it, and a model that says what a test wrote."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conftest import find_free_port
from fake_service import Answer, FakeService, Request, Wire, spaced, text, tool_call
from lab import LabPage, LabServer, running_lab
from playwright.sync_api import Locator, TimeoutError, expect

PANEL = "#cellwright-panel"
TURN_MILLISECONDS = 60_000

_ids = itertools.count()


@dataclass
class Script:
    """What the model says next, and what it was asked; each test writes its own."""

    answers: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> Wire:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else text("Nothing is left to say.")
        return answer(request)

    def write(self, *answers: Answer) -> None:
        """Forget all and say these."""
        self.answers, self.requests = list(answers), []

    def last(self) -> str:
        """All messages of the last request."""
        return json.dumps(self.requests[-1].messages)


def call(name: str, **arguments: Any) -> Answer:
    """A reply that asks for one tool, with an id of its own."""
    return tool_call(name, arguments, id=f"call_{next(_ids)}")


def slowly(words: str, seconds: float) -> Answer:
    """An answer that comes word by word within about so long."""
    pieces = [f"{word} " for word in words.split(" ")]
    return spaced(text(pieces=pieces), seconds / len(pieces))


@contextmanager
def scripted_lab(
    root: Path, script: Script, *, is_shared: bool = False, **changes: str
) -> Iterator[LabServer]:
    """A JupyterLab whose model says what the script has."""
    with FakeService(script) as service:
        settings: Mapping[str, str] = {
            "CELLWRIGHT_BASE_URL": service.base_url,
            "CELLWRIGHT_API_KEY": "x",
            "CELLWRIGHT_MODEL": "scripted",
            "CELLWRIGHT_HOME": str(root / "home"),
            **changes,
        }
        port = find_free_port()
        with running_lab(root, port, settings, is_shared=is_shared, forks_kernels=True) as server:
            yield server


@dataclass(frozen=True)
class PanelPage:
    """The panel in a page of JupyterLab."""

    lab: LabPage

    @property
    def root(self) -> Locator:
        """The whole panel."""
        return self.lab.page.locator(PANEL)

    @property
    def prompt(self) -> Locator:
        """The field that is typed into."""
        return self.root.get_by_role("textbox", name="Prompt")

    @property
    def turns(self) -> Locator:
        """Each prompt with what came of it."""
        return self.root.get_by_role("article")

    @property
    def last(self) -> Locator:
        """The last prompt with what came of it."""
        return self.turns.last

    @property
    def cards(self) -> Locator:
        """The cards of all calls that are shown."""
        return self.root.locator(".cw-card")

    @property
    def queue(self) -> Locator:
        """The prompts that wait."""
        return self.root.get_by_role("region", name="Waiting prompts").get_by_role("listitem")

    def button(self, name: str, *, within: Locator | None = None) -> Locator:
        """A button by its whole name."""
        return (within or self.root).get_by_role("button", name=name, exact=True)

    def open(self, notebook: str, mode: str = "") -> None:
        """Open a notebook and the panel beside it."""
        self.lab.open(notebook)
        self.show(mode)

    def show(self, mode: str = "") -> None:
        """Show the panel, in this mode."""
        self.lab.execute("cellwright:open")
        self.prompt.wait_for()
        if mode:
            self.root.get_by_role("button", name="Mode:").click()
            self.root.get_by_role("menuitemradio", name=re.compile(f"^{mode}")).click()

    def choose(self, name: str) -> None:
        """Choose from the menu "More".

        A page that is still loading gives the focus to its notebook, which closes the menu: a
        person would open it again.
        """
        item = self.root.get_by_role("menuitem", name=name)

        def open_and_click() -> None:
            if not item.is_visible():
                self.button("More").click()
            item.click(timeout=5_000)

        try:
            open_and_click()
        except TimeoutError:
            open_and_click()

    def ask(self, words: str = "Go.") -> None:
        """Type and send."""
        self.prompt.fill(words)
        self.prompt.press("Enter")

    def wait_for_answer(self, turns: int | None = None) -> None:
        """Wait for the end of the last answer, and for so many answers in all."""
        if turns is not None:
            expect(self.turns).to_have_count(turns, timeout=TURN_MILLISECONDS)
        ended = self.button("Copy answer", within=self.last)
        expect(ended).to_be_visible(timeout=TURN_MILLISECONDS)

    def answer(self, words: str = "Go.") -> None:
        """Ask and wait for the answer's end."""
        before = self.turns.count()
        self.ask(words)
        self.wait_for_answer(before + 1)

    def reload(self) -> None:
        """Load the page again, and find the panel as it was left."""
        self.lab.page.reload()
        self.lab.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
        self.show()

    def cell(self, index: int) -> Locator:
        """A cell of the open notebook."""
        return self.lab.page.locator(".jp-Notebook-cell").nth(index)

    def sources(self) -> list[str]:
        """The sources of the open notebook's cells."""
        return ["".join(cell["source"]) for cell in self.lab.cells()]

    @property
    def width(self) -> float:
        """How wide the panel is."""
        box = self.root.bounding_box()
        return 0 if box is None else box["width"]

    def widen(self, pixels: int) -> None:
        """Make the panel so wide, as dragging its edge does."""
        if abs(self.width - pixels) < 1:
            return
        handle = self.lab.page.locator(
            "#jp-main-split-panel > .lm-SplitPanel-handle:not(.lm-mod-hidden)"
        ).last
        handle.hover(position={"x": 1, "y": 300})  # once it has come to rest
        place, width = handle.bounding_box(), self.width
        assert place is not None
        mouse = self.lab.page.mouse
        x = place["x"] + place["width"] / 2
        mouse.move(x, 300)
        mouse.down()
        mouse.move(x + width - pixels, 300, steps=4)
        mouse.up()


class Line:
    """A line to a server that can be cut, as a network can."""

    def __init__(self, server: LabServer) -> None:
        self._port = int(server.url.rsplit(":", 1)[1])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._is_cut = False
        self._changing = threading.Lock()
        port = self._listener.getsockname()[1]
        self.server = replace(server, url=f"http://127.0.0.1:{port}")
        """The server at the other end, by the address of this line."""

    @contextmanager
    def running(self) -> Iterator[Line]:
        """Carry what comes until the end of the block."""
        self._start(self._accept)
        try:
            yield self
        finally:
            self._listener.shutdown(socket.SHUT_RDWR)
            self.cut()
            for thread in self._threads:
                thread.join(5)
            for end in (self._listener, *self._ends):
                end.close()

    def cut(self) -> None:
        """Break every connection and take no new one."""
        with self._changing:
            self._is_cut = True
            for end in self._ends:
                _shut(end)

    def mend(self) -> None:
        """Take connections again."""
        self._is_cut = False

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            with self._changing:  # else what is being connected would outlive a cut
                if self._is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._port))
                self._ends += [near, far]
            self._start(_carry, near, far)
            self._start(_carry, far, near)

    def _start(self, target: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    _shut(source)
    _shut(target)


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
