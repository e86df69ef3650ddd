"""Chats of the panel outlive pages, lines and servers, in a real JupyterLab."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from pathlib import Path

import pytest
from fake_service import text
from lab import LabPage
from notebook_page import NotebookPage, count_until, is_counted
from panel_page import PANEL, Line, PanelPage, Script, call, slowly
from playwright.sync_api import Locator, expect
from seen_page import violations

pytestmark = pytest.mark.browser


@pytest.fixture
def panel(own_page: NotebookPage) -> NotebookPage:
    return own_page


def notebook(panel: NotebookPage, name: str, *sources: str) -> str:
    return panel.lab.server.write_notebook(f"{name}.ipynb", list(sources or ("x = 1",)))


def test_chats_are_listed_searched_renamed_exported_resumed_and_deleted(page: NotebookPage) -> None:
    page.write(text("Penguins swim."), text("Whales sing."), text("They do."))
    page.start("x = 1", mode="")
    page.answer("About penguins")
    page.button("New chat").click()
    expect(page.turns).to_have_count(0)
    page.answer("About whales")
    page.button("Chats").click()
    here = page.root.locator(".cw-sessions-part").filter(has_text="This notebook")
    expect(here.get_by_role("listitem")).to_have_count(2)

    search = page.root.get_by_role("searchbox")
    expect(search).to_be_focused()
    search.fill("swim")
    expect(here.get_by_role("listitem")).to_have_count(1)
    expect(here).to_contain_text("penguins")
    row = here.get_by_role("listitem")
    row.get_by_role("button", name=re.compile("^More for")).click()
    page.root.get_by_role("menuitem", name="Rename").click()
    title = page.root.get_by_role("textbox", name="Title")
    title.fill("Birds of the south")
    title.press("Enter")
    expect(row).to_contain_text("Birds of the south")

    for name, suffix, holds in (
        ("Export as Markdown", ".md", "Penguins swim."),
        ("Export as notebook", ".ipynb", "Penguins swim."),
        ("Export as web page", ".html", "Penguins swim."),
    ):
        row.get_by_role("button", name=re.compile("^More for")).click()
        with page.lab.page.expect_download() as download:
            page.root.get_by_role("menuitem", name=name).click()
        assert download.value.suggested_filename == f"Birds of the south{suffix}"
        assert holds in Path(download.value.path()).read_text("utf-8")

    row.get_by_role("button", name=re.compile("^Birds of the south")).click()
    expect(page.last).to_contain_text("Penguins swim.")
    page.answer("Do they?")
    assert "About penguins" in page.script.last()
    assert "whales" not in page.script.last()

    page.lab.execute("cellwright:sessions")
    row = here.get_by_role("listitem").filter(has_text="whales")
    row.get_by_role("button", name=re.compile("^More for")).click()
    page.root.get_by_role("menuitem", name="Delete").click()
    page.button("Delete").click()
    expect(here.get_by_role("listitem")).to_have_count(1)
    page.lab.page.keyboard.press("Escape")
    expect(page.root.get_by_role("heading", name="Birds of the south")).to_be_visible()


def running(page: NotebookPage, what: str) -> list[str]:
    """Ids of what the server has running: ``kernels``, or those of ``sessions``."""
    server = page.lab.server
    address = f"{server.url}/api/{what}?token={server.token}"
    with urllib.request.urlopen(address, timeout=20) as answer:
        return sorted((item.get("kernel") or item)["id"] for item in json.load(answer))


def test_a_chat_of_a_closed_notebook_opens_it_before_anything_runs(page: NotebookPage) -> None:
    """Fault 13.2: one works in a notebook, closes it, and goes on with its chat in the list."""
    page.write(
        call("run_cell", code="total = 40"), text("Counted."), call("run_cell", code="total + 2"),
        text("It is 42."),
    )  # fmt: skip
    first = page.start("x = 1")
    page.answer("Count.")
    page.lab.save()
    page.close_all()
    page.start("y = 2")
    page.lab.execute("cellwright:sessions")
    row = page.root.get_by_role("listitem").filter(has_text="Count.")
    row.get_by_role("button", name=re.compile("^Count")).first.click()
    expect(page.last).to_contain_text("Counted.")
    banner = page.root.get_by_role("status").filter(has_text=f"{first}, is not open")
    expect(banner).to_be_visible()
    before = running(page, "kernels")

    page.ask("Add two.")
    expect(page.prompt).to_have_value("Add two.")  # refused, and nothing of it is lost
    expect(banner).to_have_count(1)
    assert page.turns.count() == 1
    assert running(page, "kernels") == before

    # the file is away for a while, and the person is told
    file = page.lab.server.folder / first
    file.rename(file.with_suffix(".away"))
    page.button("Open notebook").click()
    told = page.lab.page.get_by_role("dialog")
    expect(told).to_contain_text(f"Cannot open {first}")
    page.lab.page.keyboard.press("Escape")
    expect(told).to_have_count(0)
    file.with_suffix(".away").rename(file)

    page.button("Open notebook").click()
    page.lab.page.wait_for_function(
        "path => window.jupyterapp.shell.currentWidget?.context?.path === path", arg=first
    )
    page.lab.wait_idle()
    expect(banner).to_have_count(0)
    expect(page.prompt).to_have_value("Add two.")
    page.prompt.press("Enter")
    page.wait_for_answer(2)
    expect(page.last).to_contain_text("It is 42.")
    assert "total + 2" in page.sources()[-1]
    assert running(page, "kernels") == running(page, "sessions")


def load_without_notebooks(page: NotebookPage, chat: str) -> Locator:
    """Load the page anew with nothing open, and list the chats: the line of one of them."""
    server = page.lab.server
    page.lab.page.goto(f"{server.url}/lab?token={server.token}&reset")
    page.lab.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
    page.show()
    page.lab.execute("cellwright:sessions")
    row = page.root.get_by_role("listitem").filter(has_text=chat)
    return row.get_by_role("button", name=re.compile(f"^{chat}")).first


def test_an_approval_whose_tab_is_gone_leads_to_its_notebook_and_is_answered_there(
    page: NotebookPage,
) -> None:
    """Fault 13.1: the page was loaded again, and the notebook is not open in it any more."""
    page.write(call("run_cell", code="total = 40"), text("Counted."))
    page.start("x = 1", mode="Ask")
    page.ask("Count the approvals.")
    approval = page.root.get_by_role("group", name="Approval:")
    expect(approval).to_be_visible()
    row = load_without_notebooks(page, "Count the approvals")
    expect(row).to_contain_text("Waits for you")
    row.click()
    expect(approval).to_contain_text("is gone")
    approve = page.button("Approve", within=approval)
    expect(approve).to_have_attribute("aria-disabled", "true")
    page.button("Open notebook", within=approval).click()
    expect(approve).to_have_attribute("aria-disabled", "false")
    approve.click()
    page.wait_for_answer(1)
    expect(page.last).to_contain_text("Counted.")
    assert page.sources() == ["x = 1", "total = 40"]


def test_ask_again_waits_for_the_notebook_that_is_closed(page: NotebookPage) -> None:
    """Fault 13.2, for what is asked in the place of something else."""
    page.write(text("The first."), text("The second."))
    page.start("x = 1")
    page.answer("Say which it is.")
    page.lab.save()
    load_without_notebooks(page, "Say which it is").click()
    expect(page.last).to_contain_text("The first.")
    # Until the page knows that the notebook is closed the server refuses, and the text comes back.
    expect(page.button("Open notebook")).to_be_visible()
    again = page.root.get_by_role("button", name="Ask again:").last
    again.click()
    note = page.last.get_by_role("status").filter(has_text="is not open")
    expect(note).to_be_visible()
    assert len(page.script.requests) == 1
    page.button("Open notebook", within=note).click()
    expect(page.last).to_contain_text("The second.")
    expect(note).to_have_count(0)
    assert len(page.script.requests) == 2


def test_chats_without_a_notebook_start_no_kernel_that_nobody_sees(page: NotebookPage) -> None:
    """Fault 13.2: talk needs no kernel, and one that runs code is listed as running."""
    page.close_all()
    before = running(page, "kernels")
    page.write(*(text(f"Answer {number}.") for number in range(4)))
    for number in range(4):
        page.button("New chat").click()
        page.answer(f"Question {number}?")
    assert running(page, "kernels") == before
    page.write(call("run_cell", code="6 * 7"), text("It is 42."))
    page.show("Auto")
    page.answer("Work it out.")
    (kernel,) = set(running(page, "kernels")) - set(before)
    assert kernel in running(page, "sessions")
    page.lab.execute("running:show-panel")
    panel = page.lab.page.locator("#jp-running-sessions")
    expect(panel.get_by_text("cellwright chat").first).to_be_visible()


def test_a_tab_that_is_loaded_again_or_closed_finds_everything_once(
    panel: NotebookPage, script: Script
) -> None:
    """Faults S12 and S14."""
    script.write(
        text("Said before."),
        call("run_cell", code=count_until("counted"), title="Count"),
        text("Counted to the end."),
    )
    panel.open(notebook(panel, "again"), mode="Auto")
    panel.answer("Say something.")
    panel.ask("Count.")
    output = panel.cell(1).locator(".jp-OutputArea-output")
    expect(output).to_contain_text("2")
    panel.reload()
    expect(panel.root.locator(".cw-prompt-text")).to_have_text(["Say something.", "Count."])
    expect(output).to_contain_text("4")

    second = PanelPage(LabPage(panel.lab.page.context.new_page(), panel.lab.server))
    second.lab.page.goto(f"{panel.lab.server.url}/lab/workspaces/two/tree/again.ipynb")
    second.lab.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
    second.show()
    expect(second.root.get_by_text("another tab")).to_be_visible()
    expect(second.button("Take over")).to_be_visible()
    second.lab.page.close()

    panel.go_on("counted")
    panel.wait_for_answer(2)
    panel.lab.save()
    panel.reload()
    panel.wait_for_answer(2)
    assert panel.root.inner_text().count("Said before.") == 1
    assert panel.root.inner_text().count("Counted to the end.") == 1
    assert panel.cards.count() == 1
    first, counted = panel.lab.cells()
    assert is_counted(counted)
    assert counted["execution_count"] is not None
    assert first["source"] == "x = 1"


def test_a_line_that_is_cut_for_five_seconds_doubles_and_loses_nothing(
    lone_page: NotebookPage, script: Script
) -> None:
    """Fault S15."""
    words = " ".join(f"w{number}" for number in range(80))
    script.write(slowly(words, 8))
    page = lone_page.lab.page
    with Line(lone_page.lab.server).running() as line:
        panel = PanelPage(LabPage(page, line.server))
        panel.open(notebook(lone_page, "offline"))
        panel.ask()
        expect(panel.last).to_contain_text("w5")
        page.context.set_offline(True)
        line.cut()
        began = time.monotonic()
        expect(panel.root.get_by_text("Connection lost.")).to_be_visible()
        page.wait_for_timeout(max(0, 5 - time.monotonic() + began) * 1000)
        line.mend()
        page.context.set_offline(False)
        panel.wait_for_answer()
        expect(panel.root.get_by_text("Connection lost.")).to_have_count(0)
        assert panel.last.locator(".cw-md").inner_text().split() == words.split()
        page.goto("about:blank")


def test_a_prompt_is_edited_and_asked_anew_and_a_branch_goes_its_own_way(
    page: NotebookPage,
) -> None:
    page.write(
        text("Penguins swim."), text("Yes."), text("Seals swim too."), text("In the branch.")
    )
    page.start("x = 1", mode="")
    page.answer("About penguins")
    page.answer("Do they?")
    first = page.turns.first
    first.hover()
    edit = page.button("Edit this prompt and ask it anew", within=first)
    edit.focus()
    page.lab.page.keyboard.press("Enter")
    field = page.root.get_by_role("textbox", name="Changed prompt")
    expect(field).to_be_focused()
    field.fill("About seals")
    field.press("Enter")
    expect(page.root).to_contain_text("Seals swim too.")
    line = page.root.get_by_role("button", name=re.compile("^2 replaced prompts"))
    expect(line).to_have_attribute("aria-expanded", "false")
    expect(page.turns).to_have_count(1)
    assert "penguins" not in page.script.last().lower()

    line.press("Enter")
    expect(page.turns).to_have_count(3)
    replaced = page.root.get_by_role("region", name="Replaced prompts")
    expect(replaced).to_contain_text("Penguins swim.")
    page.button("More for this answer", within=replaced.get_by_role("article").first).click()
    page.root.get_by_role("menuitem", name=re.compile("^Branch from here")).press("Enter")
    expect(page.turns).to_have_count(1)
    expect(page.root).to_contain_text("About penguins (branch)")
    page.answer("And now?")
    assert "Penguins swim." in page.script.last()
    assert "seals" not in page.script.last().lower()


def test_002_60_a_pin_and_002_47_a_filter_that_is_off_outlive_the_page(
    panel: NotebookPage,
) -> None:
    panel.write(text("All masses are in **kg**."), text("It has three columns."))
    panel.open(notebook(panel, "pinned"))
    panel.answer("Which unit do the masses have? All that follows is in it.")
    panel.answer("How many columns are there?")
    mark = panel.root.get_by_role("img", name="Pinned")
    pin = panel.button("Pin", within=panel.turns.first)
    panel.turns.first.locator(".cw-prompt-text").hover()
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    panel.choose("Instructions for this chat")
    filters = panel.root.get_by_role("group", name="Before your words are sent")
    filters.get_by_role("checkbox", name="Terminal colours are taken out").uncheck()
    expect(mark).to_have_css("opacity", "1")
    panel.picture("pinned-turn-and-filters")
    assert violations(panel.lab, PANEL, only_colours=False) == []
    panel.button("Save").click()
    expect(filters).to_have_count(0)

    panel.reload()
    expect(mark).to_have_count(1)
    panel.choose("Instructions for this chat")
    expect(filters.get_by_role("checkbox", checked=True)).to_have_count(2)
    expect(filters.get_by_role("checkbox", name="Terminal colours")).not_to_be_checked()
    panel.button("Cancel").click()
    panel.root.get_by_role("button", name=re.compile("^Context")).click()
    pinned = panel.root.get_by_role("region", name="1 turn pinned")
    expect(panel.root.get_by_role("table", name="What it holds")).to_be_visible()
    panel.picture("pinned-meter")
    assert violations(panel.lab, PANEL, only_colours=False) == []
    pinned.get_by_role("button", name=re.compile("^Unpin Which unit")).press("Enter")
    expect(pinned).to_have_count(0)
    expect(mark).to_have_count(0)

    panel.reload()
    panel.wait_for_answer(2)
    expect(pin).to_have_attribute("aria-pressed", "false")
