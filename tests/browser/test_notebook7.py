"""The panel and painted cells in Notebook 7."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_service import text
from lab import LabPage, LabServer
from notebook_page import NotebookPage, paint_cells, shown
from panel_page import Script, call, scripted_lab
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

SCRIPT = Script()


@pytest.fixture(scope="module")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    root = tmp_path_factory.mktemp("notebook7")
    paint_cells(root)
    with scripted_lab(root, SCRIPT) as server:
        yield server


def test_the_panel_makes_cells_and_the_magic_paints_them(lab: LabPage) -> None:
    page = NotebookPage(lab, SCRIPT)
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
