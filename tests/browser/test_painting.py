"""Cells painted under ``%%agent`` in a real JupyterLab page."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from fake_service import Answer, FakeService, text, tool_call
from lab import LabPage, LabServer
from notebook_page import CLOSE_ALL, NotebookPage, shown, wait_for_file

pytestmark = pytest.mark.browser

PLOT = (
    "import base64\nfrom IPython.display import Image\nprint('drawing')\n"
    "Image(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg=='))"
)
SCRIPT = [
    tool_call("run_cell", {"code": "print('hi')\n1 / 0", "title": "Try"}, text="I try this."),
    tool_call("run_cell", {"code": PLOT, "title": "Draw"}, id="call_2"),
    text("The value is **42**."),
]
ONE = [tool_call("run_cell", {"code": "value = 1\nvalue"}), text("One.")]
TWO = [tool_call("run_cell", {"code": "value = 2\nvalue"}), text("Two.")]


def service_cell(service: FakeService, home: Path) -> str:
    """A cell that points the magics at a service and a record of its own."""
    return (
        "import os\n"
        f"os.environ.update(CELLWRIGHT_BASE_URL={service.base_url!r}, CELLWRIGHT_API_KEY='x', "
        f"CELLWRIGHT_MODEL='scripted', CELLWRIGHT_HOME={str(home)!r})\n"
        "%load_ext cellwright"
    )


@pytest.fixture(scope="module")
def scripted_server(painting_server: LabServer) -> LabServer:
    return painting_server


@pytest.fixture
def lab(page: NotebookPage) -> LabPage:
    return page.lab


def sources(lab: LabPage) -> list[str]:
    return ["".join(cell["source"]) for cell in lab.cells()]


def open_with(lab: LabPage, service: FakeService, folder: Path, *cells: str) -> None:
    name = f"{folder.name[:40]}.ipynb"
    lab.server.write_notebook(name, [service_cell(service, folder), *cells])
    lab.show(name)
    lab.run_cell(0)


def test_code_stands_in_cells_of_its_own_with_what_it_shows_and_each_step_is_one_undo(
    page: NotebookPage, tmp_path: Path
) -> None:
    lab = page.lab
    with FakeService(SCRIPT) as service:
        open_with(lab, service, tmp_path, "%%agent --mode auto\nGo.", "print('mine')")
        lab.run_cell(1)
        _, asked, tried, drawn, mine = lab.cells()
    assert asked["id"] == "cell-1"
    assert "I try this." in shown(asked)
    assert "The value is **42**." in shown(asked)
    assert "1 / 0" not in shown(asked)
    assert "drawing" not in shown(asked)
    assert [output["output_type"] for output in tried["outputs"]] == ["stream", "error"]
    assert "ZeroDivisionError" in shown(tried)
    assert [output["output_type"] for output in drawn["outputs"]] == ["stream", "execute_result"]
    assert "image/png" in drawn["outputs"][1]["data"]
    assert mine["outputs"] == []
    assert tried["execution_count"] == drawn["execution_count"] == asked["execution_count"]
    for cell in (tried, drawn):
        mark = cell["metadata"]["cellwright"]
        assert mark["painted_by"] == "cell-1"
        assert len(mark["hash"]) == 16
        assert mark["run"]
        assert mark["call"]
    page.picture("painted")
    before = sources(lab)
    for left in (before[2:3], []):
        lab.execute("notebook:undo-cell-action")
        assert sources(lab) == [*before[:2], *left, before[4]]
    lab.execute("notebook:redo-cell-action")
    assert sources(lab) == [*before[:3], before[4]]
    assert "ZeroDivisionError" in shown(lab.cells()[2])


def test_a_painted_cell_runs_while_it_runs(lab: LabPage, tmp_path: Path) -> None:
    script = [tool_call("run_cell", {"code": wait_for_file("painted")}), text("Done.")]
    with FakeService(script) as service:
        open_with(lab, service, tmp_path, "%%agent --mode auto\nGo.")
        lab.start_cell(1)
        running = lab.page.locator(".jp-Notebook-cell").nth(2)
        running.locator(".jp-OutputArea-output", has_text="waiting").wait_for()
        assert "[*]" in running.locator(".jp-InputPrompt").inner_text()
        lab.screenshot("painted-running")
        (lab.server.folder / "painted").touch()
        running.locator(".jp-OutputArea-output", has_text="went on").wait_for()
        lab.wait_idle()
        assert "[2]" in running.locator(".jp-InputPrompt").inner_text()


def test_approval_is_asked_for_in_the_calling_cell(lab: LabPage, tmp_path: Path) -> None:
    with FakeService(ONE) as service:
        open_with(lab, service, tmp_path, "%%agent\nGo.", "value")
        lab.start_cell(1)
        box = lab.page.locator(".jp-Notebook-cell").nth(1).locator(".jp-Stdin-input")
        box.wait_for()
        assert len(lab.cells()) == 3
        lab.screenshot("painted-approval")
        box.fill("y")
        box.press("Enter")
        lab.page.get_by_text("One.").first.wait_for()
        lab.wait_idle()
        lab.run_cell(3)
        cells = lab.cells()
    assert cells[2]["source"] == "value = 1\nvalue"
    assert shown(cells[3]) == "1"


def test_running_the_cell_again_replaces_what_it_painted(lab: LabPage, tmp_path: Path) -> None:
    with FakeService([*ONE, *TWO]) as service:
        open_with(lab, service, tmp_path, "%%agent --mode auto\nGo.", "'mine'")
        lab.run_cell(1)
        lab.run_cell(1)
        assert sources(lab)[2:] == ["value = 2\nvalue", "'mine'"]
        assert shown(lab.cells()[2]) == "2"


def test_a_cell_that_the_person_edited_stays(lab: LabPage, tmp_path: Path) -> None:
    with FakeService([*ONE, *TWO]) as service:
        open_with(lab, service, tmp_path, "%%agent --mode auto\nGo.")
        lab.run_cell(1)
        lab.page.evaluate(
            "window.jupyterapp.shell.currentWidget.content.model.cells.get(2).sharedModel"
            ".setSource('value = 100')"
        )
        lab.run_cell(1)
        assert sorted(sources(lab)[2:]) == ["value = 100", "value = 2\nvalue"]


def test_run_all_waits_for_the_agent_and_runs_nothing_twice(lab: LabPage, tmp_path: Path) -> None:
    count = {"code": "count = globals().get('count', 0) + 1\nprint('painted', count)"}
    script = [tool_call("run_cell", count), text("Counted.")]
    with FakeService([*script, *script]) as service:
        open_with(lab, service, tmp_path, "%%agent --mode auto\nGo.", "print('after', count)")
        for times in (1, 2):
            lab.execute("notebook:run-all-cells")
            lab.wait_idle()
            *_, painted, after = lab.cells()
            assert shown(painted) == f"painted {times}\n"
            assert shown(after) == f"after {times}\n"
            assert len(lab.cells()) == 4


def test_what_is_saved_is_there_after_a_reload(lab: LabPage, tmp_path: Path) -> None:
    with FakeService([*SCRIPT, *ONE]) as service:
        open_with(lab, service, tmp_path, "%%agent --mode auto\nGo.")
        lab.run_cell(1)
        before = lab.cells()
        lab.save()
        name = f"{tmp_path.name[:40]}.ipynb"
        saved = nbformat.read(lab.server.folder / name, as_version=4)
        nbformat.validate(saved)
        assert [cell.source for cell in saved.cells] == [cell["source"] for cell in before]
        lab.page.evaluate(CLOSE_ALL)
        lab.show(name)
        assert [shown(cell) for cell in lab.cells()] == [shown(cell) for cell in before]
        lab.run_cell(0)
        lab.run_cell(1)
        assert sources(lab)[2:] == ["value = 1\nvalue"]


def test_clear_output_and_later_updates_stay_in_their_cell(lab: LabPage, tmp_path: Path) -> None:
    code = (
        "from IPython.display import clear_output, display\nfor n in range(3):\n"
        "    clear_output(wait=True)\n    print('at', n)\n"
        "handle = display('first', display_id=True)"
    )
    script: list[Answer] = [tool_call("run_cell", {"code": code}), text("Shown.")]
    with FakeService(script) as service:
        open_with(lab, service, tmp_path, "%%agent --mode auto\nGo.", "handle.update('second')")
        lab.run_cell(1)
        _, asked, painted, _ = lab.cells()
        assert shown(painted) == "at 2\n\n'first'"
        assert "Shown." in shown(asked)
        lab.run_cell(3)
        assert "'second'" in shown(lab.cells()[2])


def test_a_stopped_run_leaves_no_cell_running(lab: LabPage, tmp_path: Path) -> None:
    script = [tool_call("run_cell", {"code": "import time\nprint('on')\ntime.sleep(60)"})]
    with FakeService(script) as service:
        open_with(lab, service, tmp_path, "%%agent --mode auto\nGo.")
        lab.start_cell(1)
        running = lab.page.locator(".jp-Notebook-cell").nth(2)
        running.locator(".jp-OutputArea-output", has_text="on").wait_for()
        lab.execute("notebook:interrupt-kernel")
        lab.wait_idle()
        assert "[*]" not in running.locator(".jp-InputPrompt").inner_text()
        assert "KeyboardInterrupt" in shown(lab.cells()[2])


def test_painting_can_be_switched_off(lab: LabPage, tmp_path: Path) -> None:
    with FakeService(ONE) as service:
        open_with(lab, service, tmp_path, "%%agent --inline --mode auto\nGo.")
        lab.run_cell(1)
        assert len(lab.cells()) == 2
        assert "value = 1" in shown(lab.cells()[1])
