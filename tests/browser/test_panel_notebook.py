"""What the agent does to the notebook that is open in a real JupyterLab page."""

from __future__ import annotations

import json

import pytest
from fake_service import text
from notebook_page import NotebookPage, count_until, is_counted, shown
from panel_page import call
from playwright.sync_api import expect

from cellwright.record.outputs import source_hash

pytestmark = pytest.mark.browser


def test_cells_come_run_and_show_what_they_print_as_it_comes(page: NotebookPage) -> None:
    page.write(
        call("run_cell", code=count_until("seen"), title="Count"),
        call("run_cell", code="import sys\nprint('bad', file=sys.stderr)\n1 / 0"),
        call("add_cell", source="# Result\n\nAll is *well*."),
        call("read_notebook"),
        call("edit_cell", cell_id="cell-0", source="x = 6\nx * 7", run=True),
        text("Done."),
    )
    name = page.start("x = 1", "print(x)")
    path = page.lab.server.folder / name
    before, untouched = path.read_text("utf-8"), page.lab.cells()[1]
    page.ask()
    expect(page.prompt_of(2)).to_have_text("[*]:")
    expect(page.output(2)).to_contain_text("1")
    page.go_on("seen")
    page.wait_for_answer()
    edited, mine, counted, failed, note = page.lab.cells()
    assert edited["source"] == "x = 6\nx * 7"
    assert edited["outputs"][0]["data"]["text/plain"] == "42"
    assert mine == untouched
    assert is_counted(counted)
    assert counted["metadata"]["cellwright"]["hash"] == source_hash(count_until("seen"))
    assert [output["output_type"] for output in failed["outputs"]] == ["stream", "error"]
    assert note["cell_type"] == "markdown"
    assert counted["execution_count"] < failed["execution_count"] < edited["execution_count"]
    for index in (0, 2, 3, 4):
        expect(page.badge(index)).to_have_text("AI")
    expect(page.badge(1)).to_have_count(0)
    expect(page.cell(3).get_by_role("button", name="Fix with agent")).to_be_visible()
    expect(page.prompt_of(2)).to_have_text(f"[{counted['execution_count']}]:")
    assert path.read_text("utf-8") == before
    page.picture("notebook-cells")


def test_the_panel_s_cells_have_times_where_the_person_wants_them(page: NotebookPage) -> None:
    page.write(call("run_cell", code="x = 2"), text("Done."))
    page.start("x = 1")
    page.lab.page.evaluate(
        """() => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.notebookConfig = { ...notebook.notebookConfig, recordTiming: true };
        }"""
    )
    page.lab.run_cell(0)
    page.answer()
    mine, theirs = (cell["metadata"]["execution"] for cell in page.lab.cells())
    assert set(theirs) == set(mine)
    assert all(theirs.values())


def test_cells_are_moved_and_deleted_by_id_and_each_is_one_undo(page: NotebookPage) -> None:
    page.write(
        call("read_notebook"),
        call("arrange_cell", cell_id="cell-2", action="move"),
        call("arrange_cell", cell_id="cell-1", action="delete"),
        text("Done."),
    )
    page.start("0", "1", "2")
    page.ask()
    page.button("Delete cell").click()  # even in Auto: it may be the person's own work
    page.wait_for_answer()
    assert page.ids() == ["cell-2", "cell-0"]
    page.lab.execute("notebook:undo-cell-action")
    assert page.ids() == ["cell-2", "cell-0", "cell-1"]
    page.lab.execute("notebook:undo-cell-action")
    assert page.ids() == ["cell-0", "cell-1", "cell-2"]


def test_a_step_is_one_undo_and_the_panel_takes_back_the_rest(page: NotebookPage) -> None:
    """Fault S23."""
    page.write(
        call("run_cell", code="y = 1"),
        call("read_notebook"),
        call("edit_cell", cell_id="cell-0", source="x = 2"),
        text("Done."),
    )
    page.start("x = 1")
    page.answer()
    assert page.sources() == ["x = 2", "y = 1"]
    page.lab.execute("notebook:undo-cell-action")
    assert page.sources() == ["x = 1", "y = 1"]
    page.lab.execute("notebook:redo-cell-action")
    assert page.sources() == ["x = 2", "y = 1"]
    page.root.get_by_role("button", name="Undo run").click()
    assert page.sources() == ["x = 1"]
    page.root.get_by_role("button", name="Redo run").click()
    assert page.sources() == ["x = 2", "y = 1"]


def test_what_the_agent_wrote_is_marked_as_edited_when_a_person_changes_it(
    page: NotebookPage,
) -> None:
    page.write(call("run_cell", code="x = 1"), text("Done."))
    name = page.start("0")
    page.answer()
    page.type_into(1, "x = 2")
    expect(page.badge(1)).to_have_text("AI · edited")
    page.picture("notebook-badge")
    page.lab.save()
    page.close_all()
    page.open_beside(name)
    expect(page.badge(1)).to_have_text("AI · edited")
    expect(page.missing).to_have_count(0)


SLIDER = "import ipywidgets\nslider = ipywidgets.IntSlider(value=3)\nslider"
CAPTURE = (
    "out = ipywidgets.Output()\ndisplay(out)\nwith out:\n    print('captured')\nprint('outside')"
)


def test_widgets_of_the_agent_are_alive(page: NotebookPage) -> None:
    page.write(call("run_cell", code=SLIDER), call("run_cell", code=CAPTURE), text("Done."))
    page.start("slider.value")
    page.answer()
    page.cell(1).locator(".noUi-handle").focus()
    page.lab.page.keyboard.press("ArrowRight")
    page.lab.run_cell(0)
    assert page.lab.cells()[0]["outputs"][0]["data"]["text/plain"] == "4"
    captured = page.cell(2).locator(".jp-OutputArea-output .jp-OutputArea-output")
    expect(captured).to_have_text("captured")
    assert "captured" not in shown(page.lab.cells()[2]), "the widget shows it, not the cell too"
    page.lab.screenshot("notebook-widgets")


UPDATES = (
    "from IPython.display import display, clear_output\n"
    "handle = display('old', display_id=True)\n"
    "for number in range(3):\n    clear_output(wait=True)\n    print('step', number)\n"
    "handle = display('old', display_id=True)"
)


def test_displays_are_changed_later_by_the_agent_and_by_the_person(page: NotebookPage) -> None:
    page.write(
        call("run_cell", code=UPDATES), call("run_cell", code="handle.update('new')"), text("Done.")
    )
    page.start("handle.update('mine')")
    page.answer()
    assert shown(page.lab.cells()[1]) == "step 2\n\n'new'"
    page.lab.run_cell(0)
    expect(page.output(1)).to_contain_text("'mine'")


def test_a_proposed_edit_is_a_diff_on_the_cell_to_accept_or_reject(page: NotebookPage) -> None:
    page.write(
        call("read_notebook"),
        call("edit_cell", cell_id="cell-0", source="import math\nx = 2\ny = 3"),
        call("edit_cell", cell_id="cell-1", source="z = 0"),
        text("Done."),
    )
    page.start("import math\nx = 1\ny = 3", "z = 1", mode="Ask")
    page.ask()
    expect(page.diff.locator("del")).to_have_text("-x = 1")
    expect(page.diff.locator("ins")).to_have_text("+x = 2")
    page.use_theme("Dark High Contrast")
    page.lab.screenshot("notebook-diff-high-contrast")
    page.picture("notebook-diff")
    page.button("Accept", within=page.diff).press("Enter")
    expect(page.diff.locator("del")).to_have_text("-z = 1")
    assert page.sources() == ["import math\nx = 2\ny = 3", "z = 1"]
    page.button("Reject", within=page.diff).click()
    page.wait_for_answer()
    expect(page.diff).to_have_count(0)
    assert page.sources() == ["import math\nx = 2\ny = 3", "z = 1"]


def test_in_edits_cells_change_and_only_running_asks(page: NotebookPage) -> None:
    page.write(
        call("read_notebook"),
        call("edit_cell", cell_id="cell-0", source="x = 2"),
        call("run_cell", code="x"),
        text("Done."),
    )
    page.start("x = 1", mode="Edits")
    page.ask()
    page.button("Approve").wait_for()
    assert page.sources() == ["x = 2"]
    page.root.get_by_role("button", name="Reject").first.click()
    page.wait_for_answer()
    assert page.sources() == ["x = 2"]


def test_a_plan_changes_nothing(page: NotebookPage) -> None:
    page.write(call("run_cell", code="x = 2"), call("add_cell", source="note"), text("Planned."))
    page.start("x = 1", mode="Plan")
    page.answer()
    assert page.sources() == ["x = 1"]


def test_a_failing_cell_is_fixed_by_the_agent(page: NotebookPage) -> None:
    page.write(
        call("edit_cell", cell_id="cell-0", source="1 / 1", run=True),
        call("edit_cell", cell_id="cell-0", source="1 / 1", run=True),
        text("Fixed."),
    )
    page.start("1 / 0")
    page.lab.run_cell(0)
    page.lab.execute("application:toggle-right-area")
    page.cell(0).get_by_role("button", name="Fix with agent").click()
    expect(page.prompt).to_have_value("Fix the error in this cell.")
    page.prompt.press("Enter")  # in Auto it waits for the person
    page.wait_for_answer()
    assert "ZeroDivisionError" in json.dumps(page.script.requests[0].body["messages"])
    assert page.sources() == ["1 / 1"]
    expect(page.cell(0).get_by_role("button", name="Fix with agent")).to_have_count(0)


def test_the_menu_of_a_cell_offers_what_suits_it(page: NotebookPage) -> None:
    page.write()
    page.start("x = 1")
    page.prompt_of(0).click(button="right")
    menu = page.lab.page.get_by_role("menu")
    expect(menu.get_by_text("Explain Cell")).to_be_visible()
    expect(menu.get_by_text("Fix with Agent")).to_be_hidden()
    menu.get_by_text("Continue From Here").click()
    expect(page.prompt).to_have_value("Continue from this cell.")
    assert page.script.requests == []


def test_cells_out_of_sight_of_a_windowed_notebook_are_drawn(page: NotebookPage) -> None:
    page.write(
        call("run_cell", code="print('far below')"), call("run_cell", code="1 / 0"), text("Done.")
    )
    page.start(*(f"x = {n}" for n in range(200)))
    page.lab.page.evaluate(
        """() => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.notebookConfig = { ...notebook.notebookConfig, windowingMode: 'full' };
        }"""
    )
    page.answer()
    below, failed = page.lab.cells()[200:]
    assert shown(below) == "far below\n"
    assert "ZeroDivisionError" in shown(failed)
    page.cards.first.get_by_role("button").first.click()
    page.root.get_by_role("button", name="Go to cell").first.click()
    far = page.lab.page.locator(".jp-Notebook-cell", has_text="far below")
    expect(far.locator(".cw-cell-badge")).to_have_text("AI")
    expect(far.locator(".jp-OutputArea-output")).to_be_in_viewport()


def test_a_run_is_taken_back_in_a_notebook_that_was_opened_after_it(page: NotebookPage) -> None:
    page.write(call("run_cell", code="made = 1"), text("Done."))
    name = page.start("x = 1", "'made' in globals()")
    page.answer()
    page.lab.save()
    page.reload()
    page.open_beside(name)
    page.root.get_by_role("button", name="Undo run").first.click()
    expect(page.last).to_contain_text("Took back 1 cell. Variables are as they were before it.")
    assert page.sources() == ["x = 1", "'made' in globals()"]
    page.lab.run_cell(1)
    assert shown(page.lab.cells()[1]) == "False"
