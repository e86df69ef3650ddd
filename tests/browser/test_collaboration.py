"""A JupyterLab with jupyter-collaboration on: cells go through the shared model (fault S25)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fake_service import text
from lab import LabServer
from notebook_page import count_until, is_counted, opened_page, shown, wait_for_file
from panel_page import Script, call, scripted_lab
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser
pytest.importorskip("jupyter_server_ydoc", reason="jupyter-collaboration is not installed")

SCRIPT = Script()
IS_SHARED = "window.jupyterapp.shell.currentWidget.context.model.collaborative"


@pytest.fixture(scope="module")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    root = tmp_path_factory.mktemp("collaboration")
    with scripted_lab(root, SCRIPT, is_shared=True) as server:
        yield server


def test_two_people_see_each_cell_of_the_agent_once(
    browser: Browser, lab_server: LabServer
) -> None:
    SCRIPT.write(
        call("read_notebook"),
        call("edit_cell", cell_id="cell-0", source="x = 6\nx * 7", run=True),
        call("run_cell", code=count_until("seen")),
        text("Done."),
    )
    with (
        opened_page(browser, lab_server, SCRIPT) as page,
        opened_page(browser, lab_server, SCRIPT) as other,
    ):
        name = page.start("x = 1")
        other.open_beside(name)
        assert page.lab.page.evaluate(IS_SHARED)
        page.ask()
        expect(page.output(1)).to_contain_text("1")
        expect(other.output(1)).to_contain_text("1")
        page.go_on("seen")
        page.wait_for_answer()
        for tab in (page, other):
            expect(tab.prompt_of(1)).to_have_text(re.compile(r"\d"))
            edited, counted = tab.lab.cells()
            assert edited["source"] == "x = 6\nx * 7"
            assert shown(edited) == "42"
            assert is_counted(counted)
        page.lab.execute("notebook:undo-cell-action")
        assert page.sources() == ["x = 6\nx * 7"]
        expect(other.cell(1)).to_have_count(0)
        page.button("Undo run, or from one of its cells on").click()
        page.button("Undo run").click()
        expect(other.cell(0).locator(".cm-content")).to_have_text("x = 1")
        page.lab.screenshot("notebook-collaboration")


def test_a_notebook_loaded_again_in_the_middle_has_each_cell_once(
    browser: Browser, lab_server: LabServer
) -> None:
    # the shared document shows the running mark, and the run ends, before the panel is there
    code = wait_for_file("reloaded")
    SCRIPT.write(call("run_cell", code=code), call("run_cell", code="'next'"), text("Done."))
    with opened_page(browser, lab_server, SCRIPT) as page:
        page.start("x = 1")
        page.ask()
        expect(page.output(1)).to_contain_text("waiting")
        page.reload()
        expect(page.prompt_of(1)).to_have_text("[*]:")
        page.go_on("reloaded")
        page.wait_for_answer()
        expect(page.output(2)).to_contain_text("next")
        _, waited, after = page.lab.cells()
        assert shown(waited) == "waiting\nwent on\n"
        assert shown(after) == "'next'"
