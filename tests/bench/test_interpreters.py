"""Kernels of another environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cellwright.bench.environments import (
    InterpreterChoice,
    Rooms,
    absolute_interpreter,
    kernel_environment,
    kernels_of,
)
from cellwright.bench.suites import Item
from cellwright.errors import SetupError
from cellwright.stopping import Stop

MODULES = ("json",)


@pytest.mark.kernel
@pytest.mark.parametrize("is_forked", [True, False])
def test_the_kernels_run_in_the_interpreter_that_was_named(is_forked: bool) -> None:
    choice = InterpreterChoice(sys.executable, is_forked, MODULES)
    with (
        kernels_of(choice, kernel_environment({})) as kernels,
        Rooms({}, kernels.start).open(Item(1, "x"), Stop()) as room,
    ):
        cell = room.run("import sys; print(sys.executable)", 60)
        assert cell.outputs[0]["text"].strip() == sys.executable
        assert room.kernel.way == ("forked" if is_forked else "started")


def test_without_one_it_is_the_usual_kernel() -> None:
    with kernels_of(InterpreterChoice(is_forked=False), {}) as kernels:
        assert (kernels.python, kernels.forks, kernels.notice) == ("", None, "")


def test_an_interpreter_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert absolute_interpreter("./mine") == absolute_interpreter("mine") == str(program)
    assert absolute_interpreter("") == ""


def test_an_interpreter_that_cannot_start_a_kernel_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\necho No module named ipykernel >&2\nexit 1\n")
    bare.chmod(0o755)
    with (
        pytest.raises(SetupError, match="No module named ipykernel. Install"),
        kernels_of(InterpreterChoice(str(bare)), {}),
    ):
        pass
    with (
        pytest.raises(SetupError, match="No such file"),
        kernels_of(InterpreterChoice(str(tmp_path / "none")), {}),
    ):
        pass


def test_a_usual_kernel_that_is_no_ipykernel_is_not_forked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "kernels" / "python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text('{"argv": ["python3", "other.py"], "display_name": "x"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    with kernels_of(InterpreterChoice(), {}) as kernels:
        assert kernels.forks is None
        assert "does not start ipykernel" in kernels.notice
