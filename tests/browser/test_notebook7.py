"""The panel and painted cells in Notebook 7."""

from __future__ import annotations

import pytest
from fake_service import text
from lab import LabPage, LabServer
from notebook_page import NotebookPage, shown
from panel_page import Script, call
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def lab_server(painting_server: LabServer) -> LabServer:
    return painting_server


def test_the_panel_makes_cells_and_the_magic_paints_them(lab: LabPage, script: Script) -> None:
    page = NotebookPage(lab, script)
    page.write(
        call("run_cell", code="print('seven')"),
        text("Done."),
        call("run_cell", code="value = 6 * 7\nvalue"),
        text("It is 42."),
    )
    cells = ["%load_ext cellwright", "%%agent --mode auto\nGo."]
    lab.open_in_notebook7(lab.server.write_notebook("seven.ipynb", cells))
    page.show("Auto")
    page.answer()
    assert shown(lab.cells()[2]) == "seven\n"
    expect(page.badge(2)).to_have_text("AI")
    lab.screenshot("notebook-7")
    lab.run_cell(0)
    lab.run_cell(1)
    painted = lab.cells()[2]
    assert painted["source"] == "value = 6 * 7\nvalue"
    assert shown(painted) == "42"
    assert painted["metadata"]["cellwright"]["painted_by"] == "cell-1"
    lab.screenshot("notebook-7-painted")
