"""``%%agent`` in a notebook of a real JupyterLab page."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from fake_service import FakeService, after, text, tool_call
from lab import VIEWPORT, LabPage, LabServer
from nbclient import NotebookClient
from notebook_page import NotebookPage

import cellwright
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = pytest.mark.browser

DATA = Path(cellwright.__file__).parent / "demo" / "data" / "sales.csv"
QUESTION = (
    "%%agent -m cellwright-demo --mode auto --files sales.csv\n"
    "Which month had the best revenue, by region? Plot it and leave the table in `best`."
)
SCRIPT = [
    tool_call("run_cell", {"code": "print('hi')\n1 / 0"}, text="I try this."),
    tool_call("run_cell", {"code": "value = 6 * 7\nvalue"}, id="call_2"),
    text("The value is **42**."),
]


@pytest.fixture(scope="module")
def scripted_server(lab_server: LabServer) -> LabServer:
    """Nothing is set for the page: what the magics ask is said in the cells."""
    return lab_server


@pytest.fixture
def lab(page: NotebookPage) -> LabPage:
    return page.lab


def service_cell(service: FakeService, home: Path) -> str:
    """A cell that points the magics at a service and a record of its own."""
    return (
        "import os\n"
        f"os.environ.update(CELLWRIGHT_BASE_URL={service.base_url!r}, CELLWRIGHT_API_KEY='x', "
        f"CELLWRIGHT_MODEL='scripted', CELLWRIGHT_HOME={str(home)!r})\n"
        "%load_ext cellwright"
    )


def kinds_of_last_run(home: Path) -> list[str]:
    database = open_database(home / "runs.sqlite")
    store = RunStore(database)
    kinds: list[str] = [recorded.event.kind for recorded in store.events(store.resolve("last"))]
    database.close()
    return kinds


def test_the_demo_question_is_answered_in_the_page_in_light_and_dark(lab: LabPage) -> None:
    shutil.copy(DATA, lab.server.folder)
    cells = ["%load_ext cellwright", QUESTION, "best.head()"]
    lab.show(lab.server.write_notebook("question.ipynb", cells))
    for index in range(3):
        lab.run_cell(index)
    _, asked, table = lab.cells()
    bundles = [output.get("data", {}) for output in asked["outputs"]]
    assert any("image/png" in bundle for bundle in bundles)
    assert any("completed" in str(bundle.get("text/markdown")) for bundle in bundles)
    assert "text/html" in table["outputs"][0]["data"]
    lab.page.set_viewport_size({"width": 1200, "height": 2600})
    lab.execute("application:set-mode", {"mode": "single-document"})
    lab.page.evaluate("window.jupyterapp.shell.currentWidget.content.scrollToItem(0, 'start')")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.execute("apputils:change-theme", {"theme": theme})
        lab.page.wait_for_timeout(500)
        lab.screenshot(f"agent-{theme.split()[1].lower()}")
    lab.execute("apputils:change-theme", {"theme": "JupyterLab Light"})
    lab.execute("application:set-mode", {"mode": "multiple-document"})
    lab.page.set_viewport_size(VIEWPORT)


def test_the_same_events_are_recorded_in_the_page_and_in_a_batch(
    lab: LabPage, tmp_path: Path
) -> None:
    with FakeService(SCRIPT) as service:
        sources = [service_cell(service, tmp_path / "page"), "%%agent --mode auto\nGo."]
        lab.show(lab.server.write_notebook("same.ipynb", sources))
        lab.run_cell(0)
        lab.run_cell(1)
        answers = [str(o.get("data", {}).get("text/markdown")) for o in lab.cells()[1]["outputs"]]
    assert any("**42**" in answer for answer in answers)
    with FakeService(SCRIPT) as service:
        sources = [service_cell(service, tmp_path / "batch"), "%%agent --mode auto\nGo."]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
        NotebookClient(notebook, timeout=60).execute()
    assert kinds_of_last_run(tmp_path / "page") == kinds_of_last_run(tmp_path / "batch")


def test_the_stop_button_ends_a_run_that_waits_for_the_model(lab: LabPage, tmp_path: Path) -> None:
    """Fault K13."""
    with FakeService([after(text("too late"), 30)]) as service:
        sources = [service_cell(service, tmp_path), "%%agent --mode auto\nGo.", "'still here'"]
        lab.show(lab.server.write_notebook("stop.ipynb", sources))
        lab.run_cell(0)
        lab.start_cell(1)
        while not service.requests:
            lab.page.wait_for_timeout(50)
        started = time.monotonic()
        lab.execute("notebook:interrupt-kernel")
        lab.wait_idle()
        assert time.monotonic() - started < 3
    lab.run_cell(2)
    assert lab.cells()[2]["outputs"][0]["data"]["text/plain"] == "'still here'"
    assert kinds_of_last_run(tmp_path)[-1] == "run_finished"
    assert not [o for o in lab.cells()[1]["outputs"] if o["output_type"] == "error"]


def test_approval_is_asked_for_in_the_cell_and_acted_upon(lab: LabPage, tmp_path: Path) -> None:
    script = [tool_call("run_cell", {"code": "approved = True"}), text("Done.")]
    with FakeService(script) as service:
        sources = [service_cell(service, tmp_path), "%%agent --mode ask\nGo.", "approved"]
        lab.show(lab.server.write_notebook("approve.ipynb", sources))
        lab.run_cell(0)
        lab.start_cell(1)
        box = lab.page.locator(".jp-Stdin-input")
        box.wait_for()
        lab.screenshot("approval")
        box.fill("y")
        box.press("Enter")
        lab.page.get_by_text("Done.").first.wait_for()
        lab.wait_idle()
    lab.run_cell(2)
    assert lab.cells()[2]["outputs"][0]["data"]["text/plain"] == "True"


@contextmanager
def sink() -> Iterator[tuple[str, list[bytes]]]:
    """A server that only notes who calls."""
    listener = socket.create_server(("127.0.0.1", 0))
    calls: list[bytes] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                calls.append(connection.recv(1_000))

    threading.Thread(target=accept, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", calls
    listener.close()


def test_text_of_the_model_makes_the_browser_fetch_nothing(lab: LabPage, tmp_path: Path) -> None:
    """Faults A9 to A13: each channel that JupyterLab's own sanitiser lets through."""
    with sink() as (url, calls):
        payload = "\n\n".join(
            [
                f"![a]({url}/inline.png)",
                f"![b][ref]\n\n[ref]: {url}/reference.png",
                f"<img src='{url}/tag.png'>",
                f"<div style=\"background-image:url('{url}/style.png')\">x</div>",
                f"<input type='image' src='{url}/input.png'>",
                f"<video src='{url}/video.mp4' poster='{url}/poster.png'></video>",
                f"<audio src='{url}/audio.mp3' autoplay></audio>",
                f"<img srcset='{url}/srcset.png 1x'>",
                f"<picture><source srcset='{url}/p.png'></picture>",
                f"<link rel='stylesheet' href='{url}/link.css'><base href='{url}/'>",
                f"<iframe src='{url}/frame.html'></iframe><object data='{url}/o'></object>",
                f"<svg><image href='{url}/svg.png'/></svg><script src='{url}/s.js'></script>",
                f"<meta http-equiv='refresh' content='0;url={url}/meta'>",
                "The end of the answer.",
            ]
        )
        with FakeService([text(payload)]) as service:
            sources = [service_cell(service, tmp_path), "%%agent --mode auto\nGo."]
            lab.show(lab.server.write_notebook("sink.ipynb", sources))
            lab.run_cell(0)
            lab.run_cell(1)
            lab.page.get_by_text("The end of the answer.").first.wait_for()
            lab.page.wait_for_timeout(1_500)
            lab.screenshot("payload")
        assert calls == []


def test_the_key_is_in_no_file_that_the_notebook_leaves(lab: LabPage, tmp_path: Path) -> None:
    """Fault A17."""
    key = "-".join(["abcd"] * 6)
    script = [tool_call("run_cell", {"code": "import os; print(dict(os.environ))"}), text("Done.")]
    with FakeService(script) as service:
        cell = service_cell(service, tmp_path).replace("'x'", "os.environ['PLANTED_API_KEY']")
        sources = [
            "import os; os.environ['PLANTED_API_KEY'] = '-'.join(['abcd'] * 6)",
            cell,
            "%%agent --mode auto\nGo.",
        ]
        lab.show(lab.server.write_notebook("key.ipynb", sources))
        for index in range(3):
            lab.run_cell(index)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or key.encode() not in file.read_bytes()
