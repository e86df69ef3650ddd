"""What people do to a notebook while the agent works in it, in a real JupyterLab page."""

from __future__ import annotations

import re

import pytest
from fake_service import text
from notebook_page import NotebookPage, count_until, is_counted, opened_page, shown, wait_for_file
from panel_page import call
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser


def test_the_person_s_text_and_places_win_over_the_agent_s(page: NotebookPage) -> None:
    """Faults S20 and S21."""
    page.write(
        call("read_notebook"),
        call("run_cell", code=count_until("typed")),
        call("edit_cell", cell_id="cell-0", source="agent = 1", run=True),
        text("Done."),
    )
    page.start("x = 1")
    page.ask()
    expect(page.output(1)).to_contain_text("1")
    page.type_into(0, "mine = 2")
    page.lab.execute("notebook:insert-cell-above")
    page.lab.page.wait_for_timeout(600)  # the server is told of it once the typing has stopped
    page.go_on("typed")
    page.wait_for_answer()
    assert page.sources()[:2] == ["", "mine = 2"]
    assert is_counted(page.lab.cells()[2])
    assert "mine = 2" in page.tool_results()


def test_a_cell_that_the_person_runs_meanwhile_shows_what_they_ran(page: NotebookPage) -> None:
    page.write(call("run_cell", code=count_until("run")), text("Done."))
    page.start("x = 1")
    page.ask()
    expect(page.output(1)).to_contain_text("1")
    page.type_into(1, "print('mine')")
    page.lab.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")
    page.go_on("run")
    page.wait_for_answer()
    page.lab.wait_idle()
    expect(page.cell(1).locator(".jp-OutputArea-output")).to_have_text("mine")
    assert shown(page.lab.cells()[1]) == "mine\n"


def test_a_renamed_notebook_keeps_its_run_and_its_chat(page: NotebookPage) -> None:
    """Fault S16."""
    page.write(
        call("run_cell", code=count_until("renamed")),
        call("run_cell", code="'next'"),
        text("Done."),
    )
    page.start("x = 1")
    page.ask()
    expect(page.output(1)).to_contain_text("1")
    page.lab.page.evaluate(
        "window.jupyterapp.shell.currentWidget.context.rename('renamed-meanwhile.ipynb')"
    )
    page.go_on("renamed")
    page.wait_for_answer()
    _, counted, after = page.lab.cells()
    assert is_counted(counted)
    assert shown(after) == "'next'"
    expect(page.root.get_by_text("renamed-meanwhile.ipynb").first).to_be_visible()


def test_a_notebook_that_was_closed_is_offered_its_cells(page: NotebookPage) -> None:
    """Fault S17, and never the file under a notebook."""
    page.write(call("run_cell", code=count_until("closed")), text("Done."))
    name = page.start("x = 1")
    path = page.lab.server.folder / name
    before = path.read_text("utf-8")
    page.ask()
    expect(page.output(1)).to_contain_text("1")
    page.lab.page.evaluate("window.jupyterapp.shell.currentWidget.dispose()")
    page.go_on("closed")
    page.wait_for_answer()
    assert path.read_text("utf-8") == before
    page.open_beside(name)
    expect(page.missing).to_contain_text("1 cell was made")
    assert len(page.ids()) == 1
    page.picture("notebook-missing")
    page.button("Insert", within=page.missing).click()
    expect(page.missing).to_have_count(0)
    _, inserted = page.lab.cells()
    assert inserted["source"] == count_until("closed")
    assert is_counted(inserted)
    page.lab.save()
    page.close_all()
    page.open_beside(name)
    assert len(page.ids()) == 2
    expect(page.missing).to_have_count(0)


def test_a_deleted_notebook_does_not_come_back(page: NotebookPage) -> None:
    """Fault S18."""
    page.write(call("run_cell", code=count_until("deleted")), text("Done."))
    path = page.lab.server.folder / page.start("x = 1")
    page.ask()
    expect(page.output(1)).to_contain_text("1")
    path.unlink()
    page.go_on("deleted")
    page.wait_for_answer()
    assert not path.exists()


def test_a_read_only_notebook_stays_as_it_is(page: NotebookPage) -> None:
    """Fault S24: code runs in the kernel, and the model is offered nothing that changes cells."""
    page.write(call("run_cell", code="x = 1"), text("It is read-only."))
    page.start("x = 0")
    page.lab.page.evaluate("window.jupyterapp.shell.currentWidget.context.model.readOnly = true")
    page.answer()
    assert page.sources() == ["x = 0"]
    offered = {tool["function"]["name"] for tool in page.script.requests[0].body["tools"]}
    assert "run_cell" in offered
    assert not offered & {"add_cell", "edit_cell", "arrange_cell"}
    expect(page.missing).to_have_count(0)


def test_a_file_that_changed_on_disk_is_left_to_jupyterlab(page: NotebookPage) -> None:
    """Fault S22."""
    page.write(call("run_cell", code="x = 1"), text("Done."))
    name = page.start("x = 0")
    path = page.lab.server.folder / name
    theirs = path.read_text("utf-8").replace("x = 0", "x = 'from elsewhere'")
    path.write_text(theirs, "utf-8")
    page.answer()
    assert page.sources() == ["x = 0", "x = 1"]
    assert path.read_text("utf-8") == theirs


def test_one_tab_drives_a_notebook_and_the_other_can_stop_it(
    page: NotebookPage, browser: Browser
) -> None:
    """Faults S12 and S13."""
    page.write(call("run_cell", code=wait_for_file("never")), text("Done."))
    name = page.start("x = 1")
    page.ask()
    expect(page.output(1)).to_contain_text("waiting")
    with opened_page(browser, page.lab.server, page.script) as other:
        other.open_beside(name)
        expect(other.root.get_by_text("Running in another tab")).to_be_visible()
        assert other.sources() == ["x = 1"]
        other.lab.screenshot("notebook-other-tab")
        other.ask("And then?")
        expect(other.queue).to_have_count(1)
        other.queue.first.get_by_role("button").last.click()
        expect(other.queue).to_have_count(0)
        with other.lab.page.expect_response(re.compile("notebooks/missing")):
            other.root.get_by_role("button", name="(Esc)").click()
        expect(other.root.get_by_text("Running in another tab")).to_be_hidden()
        expect(other.missing).to_have_count(0)
    expect(page.prompt_of(1)).not_to_have_text("[*]:")
    assert len(page.ids()) == 2
    assert "KeyboardInterrupt" in shown(page.lab.cells()[1])


# the last one: JupyterLab opens the notebook of a page that was loaded again once more
def test_a_cell_that_the_person_deletes_while_it_runs_stays_deleted(page: NotebookPage) -> None:
    """Faults S14 and S19: the page is loaded again too, and misses and doubles nothing."""
    page.write(
        call("run_cell", code="print('first')"),
        call("run_cell", code=count_until("cell-deleted")),
        call("run_cell", code=wait_for_file("reloaded")),
        text("Done."),
    )
    page.start("x = 1")
    page.ask()
    expect(page.output(2)).to_contain_text("1")
    page.prompt_of(2).click()
    page.lab.execute("notebook:delete-cell")
    assert len(page.ids()) == 2
    page.go_on("cell-deleted")
    expect(page.output(2)).to_contain_text("waiting")
    page.reload()
    expect(page.output(2)).to_contain_text("waiting")
    expect(page.prompt_of(2)).to_have_text("[*]:")
    page.go_on("reloaded")
    page.wait_for_answer()
    _, first, waited = page.lab.cells()
    assert shown(first) == "first\n"
    assert shown(waited) == "waiting\nwent on\n"
    assert waited["execution_count"] is not None
