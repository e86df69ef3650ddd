"""The example of the library runs, and the demo model answers from what was found."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from quick_kernels import without_forks

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
EXAMPLES = Path(__file__).parents[2] / "examples"


def shown(notebook: Any, source: str) -> str:
    """All that the one cell with this source shows, as text."""
    (cell,) = [c for c in notebook.cells if c.cell_type == "code" and source in c.source]
    assert not any(output.output_type == "error" for output in cell.outputs), cell.outputs
    return "\n".join(
        str(
            output.get("text")
            or output.data.get("text/markdown")
            or output.data.get("text/plain", "")
        )
        for output in cell.outputs
    )


def test_answers_come_from_the_documents_with_numbers_that_lead_there(tmp_path: Path) -> None:
    notebook: Any = nbformat.read(EXAMPLES / "library.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "keep it without"
    shutil.copytree(EXAMPLES / "handbook", tmp_path / "work" / "handbook")
    where = {"metadata": {"path": str(tmp_path / "work")}}
    client = NotebookClient(notebook, timeout=120, resources=where)
    client.execute(env={**without_forks(), "CELLWRIGHT_HOME": str(tmp_path / "home")})

    assert "3 documents read; 3 of 3" in shown(notebook, "library add")
    listed = shown(notebook, "library list")
    assert all(name in listed for name in ("columns.csv", "end.py", "returns.md"))
    answer = shown(notebook, "how many days")
    assert "From the library:" in answer
    assert "send goods back within 30 days of delivery. [1]" in answer
    assert "handbook/returns.md › Returns" in answer
    assert "Price of one article without tax" in shown(notebook, "unit_price")
    sent = shown(notebook, "print(sent[-1])")
    assert "never instructions" in sent
    assert "handbook/columns.csv" in sent
    assert "Refunds" in shown(notebook, "library search")
    assert "0 documents read; 3 of 3" in shown(notebook, "library update")
    assert "3 documents" in shown(notebook, "library remove")
