"""One JupyterLab and one Chromium for all browser tests, a fresh page for each."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import find_free_port
from lab import ACTION_MILLISECONDS, LabPage, LabServer, running_lab
from playwright.sync_api import Browser, expect, sync_playwright

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""``.ci/ensure-chromium`` looks for the same."""

EXPECTED_MILLISECONDS = 20_000
"""How long what a test expects may take: other tests want the processor too."""


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    with running_lab(tmp_path_factory.mktemp("lab"), find_free_port()) as server:
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


@pytest.fixture
def lab(
    browser: Browser, lab_server: LabServer, request: pytest.FixtureRequest
) -> Iterator[LabPage]:
    """A page of JupyterLab; its picture is kept when the test fails."""
    with _page(browser, lab_server, request) as page:
        yield page


@pytest.fixture
def lab_without_key(
    browser: Browser,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[LabPage]:
    """A page of a JupyterLab of its own, where the demo model answers."""
    for name in ("CELLWRIGHT_BASE_URL", "CELLWRIGHT_API_KEY", "CELLWRIGHT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    root = tmp_path / "lab"
    root.mkdir()
    with (
        running_lab(root, find_free_port()) as server,
        _page(browser, server, request) as page,
    ):
        yield page


@contextmanager
def _page(browser: Browser, server: LabServer, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(ACTION_MILLISECONDS)
    page = LabPage(context.new_page(), server)
    failed_before = request.session.testsfailed
    yield page
    if request.session.testsfailed > failed_before:
        page.screenshot(f"failed-{request.node.name}")
    context.close()
