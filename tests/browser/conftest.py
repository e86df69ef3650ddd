"""One Chromium and as few JupyterLabs as can be for all browser tests."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import find_free_port
from lab import ACTION_MILLISECONDS, VIEWPORT, LabPage, LabServer, running_lab
from notebook_page import CLOSE_ALL, NotebookPage, loaded_page, paint_cells
from panel_page import Script, scripted_lab
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""``.ci/ensure-chromium`` looks for the same."""

EXPECTED_MILLISECONDS = 30_000
"""How long what a test expects may take: other tests want the processor too."""

MODEL = "gpt-5-scripted"
"""A name that says that the model sees pictures."""

PRICES = {"gpt-5": {"prompt": 1.25, "completion": 10, "cached": 0.125}}


NOTHING_SET = dict.fromkeys(
    (
        *("CELLWRIGHT_API_KEY", "CELLWRIGHT_BASE_URL", "CELLWRIGHT_MODEL"),
        *("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ),
    "",
)


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A JupyterLab in which nothing is set."""
    with running_lab(tmp_path_factory.mktemp("lab"), find_free_port(), NOTHING_SET) as server:
        yield server


@pytest.fixture(scope="session")
def script() -> Script:
    """What the model of the scripted JupyterLabs says; each test writes its own."""
    return Script()


@pytest.fixture(scope="session")
def scripted_server(
    tmp_path_factory: pytest.TempPathFactory, script: Script
) -> Iterator[LabServer]:
    """A JupyterLab whose model says what tests write."""
    root = tmp_path_factory.mktemp("scripted")
    prices = root / "prices.json"
    prices.write_text(json.dumps(PRICES), "utf-8")
    with scripted_lab(
        root, script, CELLWRIGHT_MODEL=MODEL, CELLWRIGHT_PRICES=str(prices)
    ) as server:
        yield server


@pytest.fixture(scope="session")
def painting_server(
    tmp_path_factory: pytest.TempPathFactory, script: Script
) -> Iterator[LabServer]:
    """The same, with cells painted under ``%%agent``."""
    root = tmp_path_factory.mktemp("painting")
    paint_cells(root)
    with scripted_lab(root, script) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=EXPECTED_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(),
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield browser
        browser.close()


def chromium() -> str:
    """The first Chromium on the path, else the one that ``make test`` downloaded."""
    found = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    downloaded = sorted(Path(sys.prefix, "browsers").glob("chromium-*/chrome-*/chrome"))
    if not found and not downloaded:
        pytest.fail("no Chromium: run .ci/ensure-chromium")
    return found or str(downloaded[-1])


class Contexts:
    """One for each server, so that only the first page of it loads all of JupyterLab's code."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: dict[str, BrowserContext] = {}

    def of(self, server: LabServer) -> BrowserContext:
        """What pages of this server share."""
        if server.url not in self._contexts:
            self._contexts[server.url] = self._browser.new_context(viewport=VIEWPORT)
        return self._contexts[server.url]

    def close(self) -> None:
        """Close them all, with their pages."""
        for context in self._contexts.values():
            context.close()


@pytest.fixture(scope="session")
def contexts(browser: Browser) -> Iterator[Contexts]:
    contexts = Contexts(browser)
    yield contexts
    contexts.close()


@pytest.fixture
def lab(
    contexts: Contexts, lab_server: LabServer, request: pytest.FixtureRequest
) -> Iterator[LabPage]:
    """A page of JupyterLab; its picture is kept when the test fails."""
    with _page(contexts.of(lab_server), lab_server, request) as page:
        yield page


@pytest.fixture(scope="module")
def shared_page(
    contexts: Contexts, scripted_server: LabServer, script: Script
) -> Iterator[NotebookPage]:
    """A page with the panel for all tests of a module: loading one takes long."""
    with loaded_page(contexts.of(scripted_server), scripted_server, script) as page:
        yield page


@pytest.fixture
def page(shared_page: NotebookPage, request: pytest.FixtureRequest) -> Iterator[NotebookPage]:
    """The module's page, which has no document open and asks for none."""
    with _pictured(shared_page.lab, request):
        shared_page.write()
        yield shared_page
    shared_page.close_all()


@pytest.fixture
def own_page(
    contexts: Contexts, scripted_server: LabServer, script: Script, request: pytest.FixtureRequest
) -> Iterator[NotebookPage]:
    """A page of its own, for tests that load it again or change its settings."""
    script.write()
    with _page(contexts.of(scripted_server), scripted_server, request) as page:
        yield NotebookPage(page, script)


@pytest.fixture
def lone_page(
    browser: Browser, scripted_server: LabServer, script: Script, request: pytest.FixtureRequest
) -> Iterator[NotebookPage]:
    """A page that shares nothing with others, for a test that cuts its line."""
    script.write()
    with (
        browser.new_context(viewport=VIEWPORT) as context,
        _page(context, scripted_server, request) as page,
    ):
        yield NotebookPage(page, script)


@pytest.fixture
def lab_without_key(
    browser: Browser, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[LabPage]:
    """A page of a JupyterLab of its own, for a key that is set in it."""
    home = {"CELLWRIGHT_HOME": str(tmp_path / "home")}
    with (
        running_lab(tmp_path, find_free_port(), {**NOTHING_SET, **home}) as server,
        browser.new_context(viewport=VIEWPORT) as context,
        _page(context, server, request) as page,
    ):
        yield page


@contextmanager
def _page(
    context: BrowserContext, server: LabServer, request: pytest.FixtureRequest
) -> Iterator[LabPage]:
    page = LabPage(context.new_page(), server)
    page.page.set_default_timeout(ACTION_MILLISECONDS)
    with _pictured(page, request):
        yield page
    if page.page.evaluate("'jupyterapp' in window"):
        page.page.evaluate(CLOSE_ALL)  # a kernel that nobody needs takes its share
    page.page.close()


@contextmanager
def _pictured(page: LabPage, request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep a picture of the page when the test fails; a second try begins without its signals."""
    for signal in page.server.folder.iterdir():
        if signal.is_file() and not signal.suffix:
            signal.unlink()  # else code that waits for it goes on at once
    failed_before = request.session.testsfailed
    yield
    if request.session.testsfailed > failed_before:
        page.screenshot(f"failed-{request.node.name}")
