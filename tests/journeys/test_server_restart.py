"""An hour with two notebooks in two tabs, in whose middle the server dies and comes back.

Nobody sees to anything beforehand: one chat waits for an approval, another runs a cell, a third
has been answered. Afterwards nothing that was shown is gone, nothing runs that nobody allowed,
and both notebooks go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_service import text
from lab import LabServer
from notebook_page import NotebookPage, count_until, opened_page
from panel_page import Script, call, scripted_lab
from playwright.sync_api import Browser, expect

from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
RESTARTED_MILLISECONDS = 60_000


@pytest.fixture
def mortal_server(tmp_path: Path, script: Script) -> Iterator[LabServer]:
    """A JupyterLab that this test alone uses, and kills."""
    with scripted_lab(tmp_path, script) as server:
        yield server


def statuses(server: LabServer) -> dict[str, str]:
    """How each run ended, by its question, as the record has it."""
    database = open_database(server.home / "runs.sqlite")
    try:
        return {run.prompt: run.status for run in RunStore(database).list(20)}
    finally:
        database.close()


def close_error_dialog(page: NotebookPage) -> None:
    """JupyterLab tells of the lost server in a dialog that stays."""
    dialog = page.lab.page.get_by_role("dialog")
    while dialog.count():
        dialog.first.get_by_role("button", name="Close").click()
        page.lab.page.wait_for_timeout(200)


def load_again(page: NotebookPage, name: str) -> None:
    """What a person does then, since JupyterLab gives a lost session no kernel: save and reload."""
    page.lab.save()
    page.reload()
    page.open_beside(name)
    page.lab.wait_idle()


def test_a_server_that_dies_in_the_middle_of_everything_loses_nothing(
    browser: Browser, mortal_server: LabServer, script: Script
) -> None:
    with (
        opened_page(browser, mortal_server, script) as first,
        opened_page(browser, mortal_server, script) as second,
    ):
        # The first tab has an answer, then an approval that waits.
        first.write(
            call("run_cell", code="total = 6 * 7\ntotal", title="Multiply"),
            text("It is 42."),
            call("run_cell", code="total = -1", title="Spoil it"),
        )
        one = first.start("x = 1", mode="Ask")
        first.ask("What is the product?")
        first.button("Approve").click()
        first.wait_for_answer(1)
        first.ask("Spoil the total.")
        expect(first.button("Approve")).to_be_visible()

        # The second tab has another notebook, whose cell goes on for as long as it is let.
        second.write(call("run_cell", code=count_until("enough"), title="Count"))
        two = second.start("y = 2", mode="Auto")
        second.ask("Count for me.")
        expect(second.output(1)).to_contain_text("2")
        second.prompt.fill("A question that was not sent yet")
        seen = second.output(1).inner_text().split()

        mortal_server.kill()
        for page in (first, second):
            expect(page.button("Reconnect")).to_be_visible(timeout=RESTARTED_MILLISECONDS)
        mortal_server.restart()
        for page in (first, second):
            expect(page.button("Reconnect")).to_be_hidden(timeout=RESTARTED_MILLISECONDS)

        for page in (first, second):
            close_error_dialog(page)
        # Nothing that was shown is gone, and the old approval allows nothing any more.
        expect(first.turns).to_have_count(2)
        expect(first.turns.first).to_contain_text("It is 42.")
        expect(first.button("Approve")).to_have_count(0)
        expect(first.last).to_contain_text("Spoil the total.")
        for page in (first, second):
            expect(page.last).to_contain_text("The process ended before the run did.")
            expect(page.button("Stop")).to_have_count(0)
        assert first.sources() == ["x = 1", "total = 6 * 7\ntotal"]
        expect(second.last).to_contain_text("Count for me.")
        expect(second.prompt).to_have_value("A question that was not sent yet")
        assert second.output(1).inner_text().split()[: len(seen)] == seen
        assert statuses(mortal_server) == {
            "What is the product?": "completed",
            "Spoil the total.": "task error",
            "Count for me.": "task error",
        }

        # Both go on, each in its own notebook.
        codes = ("total = 6 * 7\ntotal + 1", "y = 2\ny + 1")
        for page, name, code in zip((first, second), (one, two), codes, strict=True):
            load_again(page, name)
            page.write(call("run_cell", code=code, title="Again"), text("Done again."))
            count = page.turns.count()
            page.ask("Go on.")
            if page.root.get_by_role("button", name="Mode: Ask").count():
                page.button("Approve").click()
            page.wait_for_answer(count + 1)
            expect(page.last).to_contain_text("Done again.")
            assert page.sources()[-1] == code
        first.picture("journey-restarted")
        assert statuses(mortal_server)["Go on."] == "completed"

        expect(first.turns).to_have_count(3)
        expect(first.turns.first).to_contain_text("It is 42.")
