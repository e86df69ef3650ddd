"""Which notebooks a cell may have written, by the audit events of its process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cellwright.kernels.cell_watch import _NotebookWrites

BOOK, OTHER = "/home/mi/a.ipynb", "/home/mi/b.ipynb"


def heard(*events: tuple[str, tuple[Any, ...]]) -> _NotebookWrites:
    writes = _NotebookWrites()
    for event, arguments in events:
        writes.note(event, arguments)
    return writes


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", (BOOK, "w", os.O_WRONLY | os.O_CREAT)),
        ("open", (os.fsencode(BOOK), "r+", os.O_RDWR)),
        ("os.rename", ("/home/mi/draft", Path(BOOK), -1, -1)),
        ("os.remove", (BOOK, -1)),
        ("os.truncate", (BOOK, 0)),
    ],
)
def test_a_notebook_that_is_written_or_moved_is_named(
    event: str, arguments: tuple[Any, ...]
) -> None:
    writes = heard((event, arguments))
    assert writes.may_include(BOOK)
    assert not writes.may_include(OTHER)


def test_what_is_read_or_is_no_notebook_names_none() -> None:
    writes = heard(
        ("open", (BOOK, "r", os.O_RDONLY)),
        ("open", (3, "w", os.O_WRONLY)),
        ("open", ("/home/mi/data.csv", "w", os.O_WRONLY)),
        ("open", (BOOK, None, None)),
    )
    assert not writes.may_include(BOOK)
    assert writes.may_include("/home/mi/data.csv")


@pytest.mark.parametrize("event", ["subprocess.Popen", "os.system"])
def test_a_child_process_may_have_written_any(event: str) -> None:
    assert heard((event, ("python",))).may_include(OTHER)


def test_a_folder_that_is_moved_may_hold_any(tmp_path: Path) -> None:
    assert heard(("os.rename", (str(tmp_path), "/home/mi/elsewhere", -1, -1))).may_include(OTHER)
