"""Kernels of another environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cellwright.bench.interpreters import kernel_of
from cellwright.bench.rooms import Rooms
from cellwright.bench.suites import Item
from cellwright.errors import SetupError
from cellwright.stopping import Stop


@pytest.mark.kernel
def test_the_kernels_run_in_the_interpreter_that_was_named() -> None:
    before = os.environ.get("JUPYTER_PATH", "")
    with kernel_of(sys.executable) as name, Rooms({}, name).open(Item(1, "x"), Stop()) as room:
        cell = room.run("import sys; print(sys.executable)", 60)
        assert cell.outputs[0]["text"].strip() == sys.executable
    assert os.environ["JUPYTER_PATH"] == before


def test_without_one_it_is_the_usual_kernel() -> None:
    with kernel_of("") as name:
        assert name == "python3"


def test_an_interpreter_that_cannot_start_a_kernel_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\necho No module named ipykernel >&2\nexit 1\n")
    bare.chmod(0o755)
    with (
        pytest.raises(SetupError, match="No module named ipykernel. Install"),
        kernel_of(str(bare)),
    ):
        pass
    with pytest.raises(SetupError, match="No such file"), kernel_of(str(tmp_path / "none")):
        pass
