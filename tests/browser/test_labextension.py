"""The labextension in a real JupyterLab page."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from documented_figures import ALLOWED, documented
from lab import LabPage, LabServer
from notebook_page import NotebookPage

import cellwright

pytestmark = pytest.mark.browser
LOADED_FIRST = ("remoteEntry", "js_lib_index", "js_style_index")
STATIC = Path(cellwright.__file__).parent / "labextension" / "static"


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


def test_what_a_page_loads_weighs_what_docs_panel_says(lab: LabPage) -> None:
    lab.show(lab.server.write_notebook("weighed.ipynb", ["1"]))
    lab.page.wait_for_function(
        "performance.getEntriesByType('resource').some(e => e.name.includes('panel_view'))"
    )
    addresses = lab.page.evaluate(
        "performance.getEntriesByType('resource').map(entry => entry.name)"
    )
    names = {
        address.partition("?")[0].rpartition("/")[2]
        for address in addresses
        if "/extensions/cellwright/static/" in address
    }
    assert not [name for name in names if re.search("runs_widget|keeping_widget|katex", name)]
    sizes = {name: len(gzip.compress((STATIC / name).read_bytes(), 9)) / 1000 for name in names}
    first = sum(size for name, size in sizes.items() if name.startswith(LOADED_FIRST))
    said = documented("docs/reference/panel.md", r"JupyterLab loads (\d+) kB of it")
    assert first == pytest.approx(said, rel=ALLOWED), sizes
    said = documented("docs/reference/panel.md", r"then\s+(\d+) kB for the panel")
    assert sum(sizes.values()) - first == pytest.approx(said, rel=ALLOWED), sizes


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
