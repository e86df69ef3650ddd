"""The example notebooks and the tutorial run, and show what they say."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from quick_kernels import without_forks

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial" / "first-hour.md"


def read_example(name: str) -> Any:
    """One of ``examples/``, which are kept without outputs."""
    notebook = nbformat.read(ROOT / "examples" / name, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "keep it without"
    return notebook


def read_code_blocks(page: Path) -> Any:
    """A notebook with a cell for each block of Python of a page."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(block) for block in blocks])


class Executed:
    """A notebook after its execution: what each cell shows, by a part of its source."""

    def __init__(self, notebook: Any, folder: Path) -> None:
        self.notebook = notebook
        self.folder = folder / "work"
        (folder / "work").mkdir(exist_ok=True)
        where = {"metadata": {"path": str(folder / "work")}}
        client = NotebookClient(self.notebook, timeout=120, resources=where)
        mine = {"CELLWRIGHT_HOME": str(folder / "home")}
        client.execute(env={**without_forks(), **mine})
        shown = [_text(output) for cell in notebook.cells for output in cell.get("outputs", ())]
        assert not [text for text in shown if "I cannot answer this" in text]

    def after(self, source: str) -> str:
        """All that the one cell with this source shows, as text."""
        (cell,) = [c for c in self.notebook.cells if c.cell_type == "code" and source in c.source]
        return "\n".join(map(_text, cell.outputs))

    def of(self, source: str) -> str:
        """All that the cell with just this source shows, as text."""
        (cell,) = [c for c in self.notebook.cells if c.source == source]
        return "\n".join(map(_text, cell.outputs))


def _text(output: Any) -> str:
    assert output.output_type != "error", output
    if output.output_type == "stream":
        return str(output.text)
    return str(output.data.get("text/markdown") or output.data.get("text/plain", ""))


def test_a_tool_of_a_cell_is_called_and_what_is_for_the_person_stays_with_them(
    tmp_path: Path,
) -> None:
    shown = Executed(read_example("tools.ipynb"), tmp_path)
    assert "The agent can call margin(item)" in shown.after("%agent tool add margin")
    called = shown.after("%agent call margin")
    assert "margin(item='pear')" in called
    assert "24.5" in called
    assert "stock(item='plum', shop=2)" in shown.after("%agent use the tool stock")
    assert "'left': 80" in shown.after("%agent use the tool stock")
    assert "555 0100" in shown.after("run = %agent call supplier")
    sent = shown.after("print(sent[-1])")
    assert sent == "apple: delivered by Miller\n"
    assert "supplier: Look up who delivers an item." in shown.after("%agent tool list")


def test_typed_results_are_variables_also_of_a_model_without_functions(tmp_path: Path) -> None:
    shown = Executed(read_example("signatures.ipynb"), tmp_path)
    assert "pear is the item with the highest sum of revenue: 230." in shown.after("print(answer)")
    assert "230.0" in shown.after("print(answer)")
    assert shown.after("average * 1.19") == "96.19 with tax\n"
    assert "average = 80.83333333333333" in shown.after("-> average: float")
    assert "adapter chat" in shown.after("run.summary()")
    assert "north" in shown.after("run.summary()")
    assert "[[ ## code ## ]]" in shown.after("adapter.format")
    assert "'lines': 2" in shown.after("adapter.parse")


def test_002_60_a_long_conversation_is_summed_up_read_and_found_again(tmp_path: Path) -> None:
    shown = Executed(read_example("long_session.ipynb"), tmp_path)
    assert "Noted." in shown.after("%agent /later")
    assert "is in `totals`" in shown.after("first = %agent")
    roles = shown.after("for message in first.messages").splitlines()
    assert [line.split()[0] for line in roles] == ["system", "user_later", "system", "user"]
    assert "from: user" in roles[2]
    assert "| results |" in shown.of("%agent context")
    assert "The conversation is shorter" in shown.of("%agent compact")
    words = "Keep in mind: refunds are not in the table"
    assert words in shown.after("context summary Keep")
    assert "earlier in this chat, run " in shown.after("asked = next")
    assert "pear" in shown.after("last = %agent")


def test_002_32_assistants_share_a_conversation_and_what_each_costs_is_told(
    tmp_path: Path,
) -> None:
    shown = Executed(read_example("assistants.ipynb"), tmp_path)
    assert "| analyst | Works on tables |" in shown.after("%agent assistant")
    assert "west" in shown.after("first = %agent")
    assert "@analyst" in shown.after("first = %agent")
    assert "@reviewer" in shown.after("second = %agent")
    offered = shown.after('print("offered:"')
    assert "list_variables" in offered
    assert "run_cell" not in offered
    heads = shown.after("for run in (first, second)")
    assert "analyst -> Give sums in euros." in heads
    assert "reviewer -> Check types and missing values first." in heads
    assert "Scene 'plot' of analyst" in shown.after("third = %agent").replace("\\", "")
    assert "Name the axes" in shown.after("asked = ")
    usage = shown.after("usage --by assistant")
    assert "analyst" in usage


def test_the_first_example_of_the_readme_works_with_nothing_set(tmp_path: Path) -> None:
    load, question = read_code_blocks(ROOT / "README.md").cells[:2]
    (tmp_path / "work").mkdir()
    table = ROOT / "extension" / "cellwright" / "demo" / "data" / "sales.csv"
    shutil.copy(table, tmp_path / "work")
    left = nbformat.v4.new_code_cell("best.to_string()")
    shown = Executed(nbformat.v4.new_notebook(cells=[load, question, left]), tmp_path)
    assert "demo model" in shown.after("%%agent")
    assert "✓ completed" in shown.after("%%agent")
    assert "2025-11" in shown.after("best.to_string()")


def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    shown = Executed(read_code_blocks(TUTORIAL), tmp_path)
    assert "demo model" in shown.after("%%agent -o run")
    assert "is in `best`" in shown.after("%%agent -o run")
    assert "North" in shown.after("best.head()")
    assert "best" in shown.after("What is in @best?")
    assert "completed" in shown.after("print(run.status")
    listed = shown.after("%agent runs")
    assert "Which month had the best revenue" in listed
    assert "✓ completed" in shown.after("%agent show")
    assert "no differences" in shown.after("%agent replay")
    report = (shown.folder / "report.html").read_text(encoding="utf-8")
    assert "What is in @best?" in report


@pytest.mark.skipif("sys.platform != 'linux'")
def test_of_three_branches_one_is_kept_and_gone_back_from(tmp_path: Path) -> None:
    shown = Executed(read_example("branches.ipynb"), tmp_path)
    assert shown.after("%agent branch 3").count("completed") == 3
    untouched, again = (
        "\n".join(map(_text, cell.outputs))
        for cell in shown.notebook.cells
        if '"revenue_by_region" in globals()' in cell.source
    )
    assert untouched == "False 1\n"
    assert "Branch 2 was kept" in shown.after("branch keep")
    # The generator is where the copy had it: the kernel had not read on when it was copied.
    assert shown.after("revenue.tolist()") == "[245.0, 240.0] 1\n"
    assert "before run" in shown.after("%agent undo")
    assert again == "False 4\n"
    assert "chosen by check: 1 of 1 points (100%); 3 of 3 attempts pass." in shown.after(
        "--best-of"
    )
    assert shown.after("revenue.max()") == "245.0 9\n"
