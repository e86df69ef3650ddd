"""What a person sees of a call before they allow it, tried in a copy of a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernels.lanes import kernel_environment
from kernels.test_sandbox import CAN_SANDBOX

from cellwright.errors import SetupError
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.record.asked_calls import code_to_run
from cellwright.record.events import NamedCell, ToolStarted
from cellwright.session.previewing import Preview, effects_text, preview, preview_bundles
from cellwright.stopping import Stop

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself"),
]
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    with start_kernel(tmp_path_factory.mktemp("previewing"), kernel_environment()) as kernel:
        yield kernel


def call(name: str = "run_cell", /, **arguments: Any) -> ToolStarted:
    return ToolStarted("call_1", name, arguments, "", "execute")


def tried(kernel: FreshKernel, code: str) -> Preview:
    return preview(call(code=code), kernel.ask_snapshots, Stop())


def test_text_pictures_values_and_errors_are_shown_in_order(kernel: FreshKernel) -> None:
    code = (
        "import base64; from IPython.display import Image, display\n"
        f"print('\\x1b[31mred\\x1b[0m'); display(Image(base64.b64decode('{PIXEL}')))\n"
        "made = 1\nopen('new.txt', 'w').write('x')\n1 / 0"
    )
    found = tried(kernel, code)
    bundles = preview_bundles(found)
    assert bundles[0] == {"text/plain": "Preview: nothing of this has happened."}
    assert [bundle["text/plain"].partition("<")[0] for bundle in bundles[1:-1]] == [
        "red",
        "",
        "ZeroDivisionError: division by zero",
    ]
    assert bundles[2]["image/png"] == PIXEL
    assert "made" in bundles[-1]["text/plain"]
    assert bundles[-1]["text/plain"].endswith("Files: new.txt")
    assert not Path(kernel.describe().cwd, "new.txt").exists()


def test_what_would_go_and_what_changes_nothing_is_said(kernel: FreshKernel) -> None:
    Path(kernel.describe().cwd, "old.txt").write_text("old")
    gone = tried(kernel, "import os; os.remove('old.txt'); del os")
    assert "Files: old.txt (deleted)" in effects_text(gone)
    assert effects_text(tried(kernel, "6 * 7")) == "It changes nothing."
    assert tried(kernel, "6 * 7").outputs[0].text == "42"


def test_of_folders_it_is_said_what_goes_and_what_cannot_be_tried(kernel: FreshKernel) -> None:
    folder = Path(kernel.describe().cwd, "data")
    folder.mkdir()
    (folder / "a.csv").write_text("a")
    again = tried(kernel, "import os, shutil; shutil.rmtree('data'); os.mkdir('data'); del os")
    assert "Files: data/ (replaced: what was in it is deleted)" in effects_text(again)
    renamed = tried(kernel, "import os; os.rename('data', 'data2')")
    assert effects_text(renamed).startswith("A preview cannot rename a folder")


def test_a_copy_that_dies_is_told_of(kernel: FreshKernel) -> None:
    found = tried(kernel, "import os; os._exit(1)")
    assert found.execution.status == "died"
    assert effects_text(found).startswith("It ends the kernel")
    assert kernel.is_alive()


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (call(code="x = 1"), "x = 1"),
        (call("run_scratch", code="x = 2"), "x = 2"),
        (call("edit_cell", cell_id="a", source="x = 3", run=True), "x = 3"),
        (call("edit_cell", cell_id="a", source="x = 3"), ""),
        (call("run_existing_cell", cell_id="gone"), ""),
        (call("install_package", name="polars"), ""),
    ],
)
def test_what_runs_is_tried_and_nothing_else(
    asked: ToolStarted, code: str, kernel: FreshKernel
) -> None:
    assert code_to_run(asked) == code
    if not code:
        with pytest.raises(SetupError, match="nothing to try"):
            preview(asked, kernel.ask_snapshots, Stop())


def test_of_an_existing_cell_its_source_is_tried() -> None:
    cell = NamedCell("a", "code", "x = 4", 1, 1)
    asked = ToolStarted("c", "run_existing_cell", {"cell_id": "a"}, "", "execute", (cell,))
    assert code_to_run(asked) == "x = 4"
