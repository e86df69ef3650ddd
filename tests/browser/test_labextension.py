"""The labextension in a real JupyterLab page."""

from __future__ import annotations

import pytest
from lab import LabPage, LabServer
from notebook_page import NotebookPage

import cellwright

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def scripted_server(lab_server: LabServer) -> LabServer:
    """Nothing is set for the page: what the magics ask is said in the cells."""
    return lab_server


@pytest.fixture
def lab(page: NotebookPage) -> LabPage:
    return page.lab


def test_the_labextension_is_loaded(lab: LabPage) -> None:
    lab.show(lab.server.write_notebook("loaded.ipynb", ["1"]))
    assert "cellwright:about" in lab.commands()


def test_about_tells_the_version_that_the_server_runs(lab: LabPage) -> None:
    lab.show(lab.server.write_notebook("about.ipynb", ["1"]))
    lab.page.evaluate("void window.jupyterapp.commands.execute('cellwright:about')")
    dialog = lab.page.get_by_role("dialog")
    dialog.get_by_text(f"cellwright {cellwright.__version__}").wait_for()
    lab.screenshot("about")
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="hidden")


def test_a_cell_runs_in_the_kernel_of_the_page(lab: LabPage) -> None:
    lab.show(lab.server.write_notebook("runs.ipynb", ["print('hello ' * 2)", "6 * 7"]))
    lab.run_cell(0)
    lab.run_cell(1)
    first, second = lab.cells()
    assert "".join(first["outputs"][0]["text"]) == "hello hello \n"
    assert second["outputs"][0]["data"]["text/plain"] == "42"
    lab.screenshot("cell")
