"""The page of memory, library, usage and tools over a real server, in light and dark.

The pictures lie in ``test-output/screenshots``; they are looked at, not compared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lab import LabPage
from outside.test_mcp_sign_in import guarded
from panel_page import PanelPage
from playwright.sync_api import FilePayload, Locator, expect
from recorded_runs import analysis_run
from seen_page import look

from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = pytest.mark.browser

PAGE = "#cellwright-keeping"


@pytest.fixture
def root(lab: LabPage) -> Locator:
    """The page, over a notebook and a folder of notes, with a run on the record."""
    notes = lab.server.folder / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "prices.md").write_text("# Prices\n\nA penguin costs 12 euros in winter.\n", "utf-8")
    database = open_database(lab.server.home / "runs.sqlite")
    try:
        RunStore(database).start(*analysis_run())
    finally:
        database.close()
    lab.open(lab.server.write_notebook("keeping.ipynb", ["price = 12  # penguins in winter"]))
    return lab.page.locator(PAGE)


def seen(lab: LabPage, part: str) -> None:
    """Keep a picture for each theme, and find what cannot be read or used."""
    look(lab, PAGE, f"keeping-{part}")


def test_what_is_kept_is_seen_and_changed(lab: LabPage, root: Locator) -> None:
    lab.execute("cellwright:open")
    panel = lab.page.locator("#cellwright-panel")
    panel.get_by_role("button", name="More", exact=True).click()
    panel.get_by_role("menuitem", name="Memory, Library and Usage").click()
    remember_and_forget(lab, root)
    look_something_up(lab, root)
    root.get_by_role("tab", name="Usage").click()
    expect(root.get_by_role("img")).to_be_visible()
    root.get_by_role("textbox", name="Dollars a month").fill("5")
    root.get_by_role("button", name="Set").click()
    expect(root.get_by_text("of $5.00 in")).to_be_visible()
    seen(lab, "usage")
    root.get_by_role("textbox", name="Dollars a month").fill("")
    root.get_by_role("button", name="Set").click()
    expect(root.get_by_text("of $5.00 in")).to_have_count(0)
    root.get_by_role("tab", name="Tools").click()
    expect(root.get_by_text("Tools that were added")).to_be_visible()
    seen(lab, "tools")


def test_a_person_signs_in_to_an_mcp_server_with_two_clicks(lab: LabPage, root: Locator) -> None:
    """The sign-in page opens by the second click alone, and leads back to this server."""
    command = str(Path(sys.executable).with_name("cellwright"))
    home = {**os.environ, "CELLWRIGHT_HOME": str(lab.server.home)}
    with guarded() as address:
        connect = [command, "tool", "connect", "desk", address, "--local"]
        said = subprocess.run(connect, env=home, check=False, capture_output=True, text=True)
        assert "cellwright mcp login desk" in said.stdout
        lab.execute("cellwright:open")
        lab.page.locator("#cellwright-panel").get_by_role("button", name="More", exact=True).click()
        lab.page.get_by_role("menuitem", name="Memory, Library and Usage").click()
        root.get_by_role("tab", name="Tools").click()
        root.get_by_role("button", name="Sign in").click()
        link = root.get_by_role("link", name=re.compile("Open localhost:"))
        expect(link).to_be_visible()
        seen(lab, "sign-in")
        with lab.page.context.expect_page() as opened:
            link.click()
        expect(opened.value.get_by_text("You can close this page")).to_be_visible()
        assert opened.value.url.startswith(lab.server.url.rstrip("/"))
        opened.value.close()
        expect(root.get_by_text("You are signed in.")).to_be_visible()
        expect(root.get_by_role("row", name=re.compile("desk__token"))).to_be_visible()
        seen(lab, "signed-in")
        root.get_by_role("button", name="Sign out").click()
        expect(root.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
        expect(root.get_by_role("row", name=re.compile("desk__token"))).to_have_count(0)
        remove = [command, "tool", "remove", "desk"]
        subprocess.run(remove, env=home, check=True, capture_output=True)


def remember_and_forget(lab: LabPage, root: Locator) -> None:
    for fact in ("Prices are in euros.", "I like short answers."):
        root.get_by_role("textbox", name="New fact").fill(fact)
        root.get_by_role("button", name="Add", exact=True).click()
        expect(root.get_by_role("row").filter(has_text=fact)).to_be_visible()
    root.get_by_role("button", name='Change "I like short answers."').click()
    root.get_by_role("textbox", name="Fact", exact=True).fill("I like long answers.")
    lab.page.keyboard.press("Enter")
    expect(root.get_by_role("row").filter(has_text="I like long answers.")).to_be_visible()
    root.get_by_role("button", name='Forget "I like long answers."').click()
    seen(lab, "memory")
    root.get_by_role("button", name="Forget", exact=True).click()
    expect(root.get_by_text("I like long answers.")).to_have_count(0)


def look_something_up(lab: LabPage, root: Locator) -> None:
    root.get_by_role("tab", name="Library").click()
    for place in ("notes", "keeping.ipynb"):
        root.get_by_role("textbox", name="File, folder or address").fill(place)
        root.get_by_role("button", name="Add to the library").click()
    expect(root.get_by_role("row").filter(has_text="prices.md")).to_be_visible()
    expect(root.get_by_role("row").filter(has_text="keeping.ipynb")).to_be_visible()
    root.get_by_role("searchbox", name="Search the library").fill("penguin winter")
    hits = root.get_by_role("listitem")
    expect(hits.filter(has_text="A penguin costs 12 euros")).to_be_visible()
    seen(lab, "library")
    hits.filter(has_text="prices.md").get_by_role("button").first.click()
    expect(lab.page.locator(".lm-TabBar-tab.jp-mod-current", has_text="prices.md")).to_be_visible()
    lab.execute("cellwright:keeping", {"part": "library"})
    hits.filter(has_text="keeping.ipynb").get_by_role("button").first.click()
    expect(lab.page.locator(".jp-Notebook .jp-Cell.cw-mod-flash")).to_be_visible()
    lab.execute("cellwright:keeping", {"part": "usage"})


def test_002_90_a_document_is_asked_about_and_a_run_leads_back_to_its_chat(
    lab: LabPage, root: Locator
) -> None:
    lab.execute("cellwright:keeping", {"part": "library"})
    root.get_by_role("textbox", name="File, folder or address").fill("notes")
    root.get_by_role("button", name="Add to the library").click()
    expect(root.get_by_role("row").filter(has_text="prices.md")).to_be_visible()
    panel = PanelPage(lab)
    panel.show("Plan")
    panel.root.locator("input[type=file]").set_input_files(document("rules.md"))
    panel.button("Attach").focus()
    for key in ("Tab", "Enter"):
        lab.page.keyboard.press(key)
    expect(panel.root.get_by_text("rules.md went into the library.")).to_be_visible()
    expect(panel.prompt).to_be_focused()
    root.locator("input[type=file]").set_input_files([document("more.md"), document("odd.zip")])
    expect(root.get_by_role("alert")).to_contain_text("'odd.zip' is of a kind")
    for name in ("rules.md", "more.md"):
        expect(root.get_by_role("row").filter(has_text=name)).to_contain_text("Uploaded")
    panel.answer("What is in this notebook?")
    panel.button("More for this answer").click()
    panel.root.get_by_role("menuitem", name="Show run").click()
    runs = lab.page.locator("#cellwright-runs")
    runs.get_by_role("button", name="Show chat").click()
    expect(panel.prompt).to_be_focused()
    expect(panel.turns).to_have_count(1)
    runs.get_by_role("tab", name="Recorded runs").click()
    tokens = runs.get_by_role("columnheader", name="Tokens")
    tokens.get_by_role("button").press("Enter")
    expect(tokens).to_have_attribute("aria-sort", "descending")
    expect(runs.get_by_role("button", name="What is in this notebook?").first).to_be_visible()


def document(name: str) -> FilePayload:
    """A file that a person picks."""
    return {"name": name, "mimeType": "text/markdown", "buffer": f"# About {name}".encode()}
