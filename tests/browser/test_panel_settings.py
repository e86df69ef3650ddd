"""The panel of a real JupyterLab comes by icon, chord and keyboard, goes with one setting, and
works without a key."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fake_service import MODEL, FakeService, text
from lab import LabPage
from notebook_page import NotebookPage
from panel_page import PANEL, PanelPage, Script, call
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LEAST_PIXELS = 320


@pytest.fixture
def panel(own_page: NotebookPage) -> NotebookPage:
    return own_page


def notebook(panel: PanelPage, name: str, *sources: str) -> str:
    return panel.lab.server.write_notebook(f"{name}.ipynb", list(sources or ("x = 1",)))


def test_it_opens_by_icon_command_and_chord_and_works_by_keyboard_alone(
    panel: NotebookPage, script: Script
) -> None:
    script.write(call("run_cell", code="y = 2", title="Set y"), text("It is set."))
    lab, page = panel.lab, panel.lab.page
    lab.open(notebook(panel, "keys"))
    expect(panel.root).to_be_hidden()
    icon = page.locator(".jp-SideBar.jp-mod-right [data-id='cellwright-panel']")
    icon.click()
    expect(panel.prompt).to_be_visible()
    assert panel.root.evaluate("panel => panel.clientWidth") >= LEAST_PIXELS
    icon.click()
    expect(panel.root).to_be_hidden()
    lab.execute("cellwright:open")
    expect(panel.prompt).to_be_focused()
    panel.cell(0).locator(".cm-content").click()
    page.keyboard.press("Alt+Shift+L")
    expect(panel.prompt).to_be_focused()

    page.keyboard.type("Set y")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("to two.")
    expect(panel.prompt).to_have_value("Set y\nto two.")
    page.keyboard.press("Enter")
    expect(panel.prompt).to_have_value("")
    approve = panel.button("Approve")
    expect(approve).to_have_attribute("aria-disabled", "false")
    for _ in range(40):
        if approve.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Shift+Tab")
    expect(approve).to_be_focused()
    page.keyboard.press("Control+Enter")
    panel.wait_for_answer()
    assert panel.sources() == ["x = 1", "y = 2"]
    undo = panel.root.get_by_role("button", name=re.compile("^Undo run"))
    undo.focus()
    page.keyboard.press("Enter")
    assert panel.sources() == ["x = 1"]
    page.keyboard.press("Alt+Shift+L")
    expect(panel.prompt).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(f"document.querySelector('{PANEL}').contains(document.activeElement)")


@pytest.fixture
def _no_settings_left(panel: NotebookPage) -> Iterator[None]:
    yield
    save = "window.jupyterapp.serviceManager.settings.save('cellwright:plugin', '{}')"
    panel.lab.page.evaluate(save)


@pytest.mark.usefixtures("_no_settings_left")
def test_one_setting_takes_all_of_it_away_and_brings_it_back(
    panel: NotebookPage, script: Script
) -> None:
    script.write(call("run_cell", code="1 / 0"), text("Failed."))
    panel.open(notebook(panel, "off"), mode="Auto")
    panel.answer()
    lab, page = panel.lab, panel.lab.page
    fix = panel.cell(1).get_by_role("button", name="Fix with agent")
    expect(fix).to_be_visible()
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    set_enabled(lab, enabled=False)
    expect(panel.root).to_have_count(0)
    expect(page.locator("[data-id='cellwright-panel']")).to_have_count(0)
    expect(fix).to_have_count(0)
    expect(page.locator("[class^='cw-'], [class*=' cw-']")).to_have_count(0)
    left = [command for command in lab.commands() if command.startswith("cellwright:")]
    assert left == []
    panel.cell(1).locator(".jp-InputPrompt").click(button="right")
    menu = page.get_by_role("menu")
    expect(menu.get_by_text("Agent")).to_have_count(0)
    page.keyboard.press("Escape")
    assert [url for url in sockets if "cellwright" in url] == []
    set_enabled(lab, enabled=True)
    panel.show()
    panel.wait_for_answer(1)
    expect(fix).to_be_visible()


def set_enabled(lab: LabPage, *, enabled: bool) -> None:
    """By the settings editor, as a person does."""
    lab.execute("settingeditor:open", {"query": "Use cellwright"})
    lab.page.get_by_role("checkbox", name="Use cellwright").set_checked(enabled)
    known = "enabled => window.jupyterapp.commands.hasCommand('cellwright:open') === enabled"
    lab.page.wait_for_function(known, arg=enabled)
    lab.execute("application:close")


DEMO_DATA = "month,city,revenue\n2026-01,Oslo,120\n2026-01,Rome,90\n2026-02,Oslo,140\n"


def test_without_a_key_the_demo_answers_says_so_and_a_card_takes_a_key(
    lab_without_key: LabPage,
) -> None:
    panel = PanelPage(lab_without_key)
    panel.open(notebook(panel, "demo"), mode="Auto")
    card = panel.root.get_by_role("region", name="Model", exact=True)
    expect(card).to_contain_text("The demo model answers.")
    (panel.lab.server.folder / "sales.csv").write_text(DEMO_DATA, "utf-8")
    panel.answer("Load sales.csv and show what is in it.")
    assert len(panel.sources()) > 1
    panel.button("New chat").click()
    panel.button("Use your own model").click()
    script = Script([text("A model of your own.")])
    with FakeService(script) as service:
        form = panel.root.get_by_role("form", name="Model settings")
        form.get_by_label("Provider").select_option(label="Another address …")
        form.get_by_label("Address").fill(service.base_url)
        form.get_by_label("Key").fill("k" * 12)
        form.get_by_label("Model", exact=True).fill(MODEL)
        panel.button("Save", within=form).click()
        expect(form.locator(".cw-check.cw-mod-ok")).to_be_visible()
        expect(form.get_by_label("Key")).to_have_value("")
        panel.button("Ask something", within=form).click()
        expect(card).to_have_count(0)
        panel.answer("Who are you?")
        expect(panel.last).to_contain_text("A model of your own.")
        assert script.requests[-1].headers["authorization"].endswith("k" * 12)
