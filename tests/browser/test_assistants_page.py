"""Assistants written, chosen, changed and deleted in the page, over a real server.

The pictures lie in ``test-output/screenshots``; they are looked at, not compared.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from lab import LabPage
from panel_page import PanelPage
from playwright.sync_api import Locator, expect
from seen_page import look

pytestmark = pytest.mark.browser

PAGE = "#cellwright-keeping"
REMARK = "# kept by hand\n"


@pytest.fixture
def panel(lab: LabPage) -> PanelPage:
    """The panel beside a notebook in a folder of its own."""
    folder = lab.server.folder / "survey"
    folder.mkdir()
    panel = PanelPage(lab)
    panel.open(lab.server.write_notebook("survey/birds.ipynb", ["birds = 3"]), "Plan")
    return panel


def test_002_01_an_assistant_is_written_chosen_changed_and_deleted_in_the_page(
    lab: LabPage, panel: PanelPage
) -> None:
    page = lab.page.locator(PAGE)
    expect(panel.root.get_by_role("button", name="Assistant")).to_have_count(0)
    panel.button("More").click()
    panel.root.get_by_role("menuitem", name="Assistants").click()
    expect(page.get_by_text("There is none yet.")).to_be_visible()
    file = lab.server.folder / "survey/.cellwright/assistants/reviewer.toml"
    write_one(lab, page, file)
    ask_it(panel)
    change_it_while_its_file_changes(lab, panel, page, file)
    delete_it(panel, page, file)


def write_one(lab: LabPage, page: Locator, file: Path) -> None:
    page.get_by_role("button", name="New assistant").click()
    name = page.get_by_role("textbox", name="Name")
    expect(name).to_be_focused()
    lab.page.keyboard.press("Control+Enter")
    expect(page.get_by_text("This is needed.")).to_be_visible()
    expect(name).to_be_focused()
    lab.page.keyboard.type("reviewer")
    page.get_by_role("textbox", name="What it does").fill("Looks for mistakes in data")
    page.get_by_role("textbox", name="Instructions").fill("Check units first.\nChange nothing.")
    tools = page.get_by_role("group", name="Tools")
    tools.get_by_role("radio", name="Only these").check()
    for tool in ("read_*", "list_variables"):
        tools.get_by_role("combobox").fill(tool)
        lab.page.keyboard.press("Enter")
    page.get_by_role("checkbox", name="Remembers across chats").uncheck()
    page.get_by_role("button", name="Add a scene").click()
    lab.page.keyboard.type("plot")
    page.get_by_role("textbox", name="What it is told then").fill("Name the axes.")
    look(lab, PAGE, "assistants-form")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="reviewer")).to_be_focused()
    look(lab, PAGE, "assistants-list")
    assert tomllib.loads(file.read_text("utf-8")) == {
        "description": "Looks for mistakes in data",
        "instructions": "Check units first.\nChange nothing.",
        "tools": ["read_*", "list_variables"],
        "disable_memory": True,
        "scenes": [{"label": "plot", "prompt": "Name the axes."}],
    }


def ask_it(panel: PanelPage) -> None:
    panel.root.get_by_role("button", name="Assistant: none").click()
    panel.root.get_by_role("menuitemradio", name="reviewer").click()
    panel.answer("What is in this notebook?")
    expect(panel.last.get_by_title("Assistant: reviewer")).to_be_visible()


def change_it_while_its_file_changes(
    lab: LabPage, panel: PanelPage, page: Locator, file: Path
) -> None:
    panel.root.get_by_role("button", name="Assistant: reviewer").click()
    panel.root.get_by_role("menuitem", name="Edit reviewer …").click()
    description = page.get_by_role("textbox", name="What it does")
    expect(description).to_have_value("Looks for mistakes in data")
    page.get_by_role("textbox", name="Name").fill("critic")
    description.fill("Looks twice")
    text = file.read_text("utf-8").replace("mistakes in data", "gaps")
    file.write_text(REMARK + text, "utf-8")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("changed meanwhile")
    page.get_by_role("button", name="Load it again").click()
    expect(page.get_by_text("Looks for gaps")).to_be_visible()
    look(lab, PAGE, "assistants-conflict")
    description.press("Enter")
    expect(page.get_by_role("button", name="critic")).to_be_focused()
    [written] = list(file.parent.glob("*.toml"))
    text = written.read_text("utf-8")
    assert text.startswith(REMARK)
    assert tomllib.loads(text)["description"] == "Looks twice"
    expect(panel.root.get_by_role("button", name="Assistant: critic")).to_be_visible()


def delete_it(panel: PanelPage, page: Locator, file: Path) -> None:
    page.get_by_role("button", name="critic").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Keep")).to_be_focused()
    question = page.get_by_role("group", name='Delete "critic"')
    question.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("There is none yet.")).to_be_visible()
    assert list(file.parent.glob("*.toml")) == []
    expect(panel.root.get_by_role("button", name="Assistant")).to_have_count(0)
    expect(panel.last.get_by_title("Assistant: reviewer")).to_be_visible()
