"""The magics are there when IPython starts, where the person wants that."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from cellwright.commands import autoloading as autoload
from cellwright.errors import SetupError

SHOW = "print('agent' in get_ipython().magics_manager.magics['line'])"


def ipython(folder: Path) -> str:
    command = [sys.executable, "-m", "IPython", "--no-banner", "-c", SHOW]
    environment = os.environ | {"IPYTHONDIR": str(folder)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    return done.stdout + done.stderr


def test_ipython_loads_the_magics_once_that_is_enabled(tmp_path: Path) -> None:
    other = tmp_path / "profile_default" / "startup" / "10-mine.py"
    other.parent.mkdir(parents=True)
    other.write_text("mine = 1\n", encoding="utf-8")
    path = autoload.write_startup_file(tmp_path)
    assert autoload.write_startup_file(tmp_path) == path
    assert path.parent == other.parent
    assert ipython(tmp_path) == "True\n"
    assert autoload.remove_startup_file(tmp_path) == path
    assert autoload.remove_startup_file(tmp_path) == path
    assert ipython(tmp_path) == "False\n"
    assert other.read_text(encoding="utf-8") == "mine = 1\n"


def test_the_persons_own_folder_is_used() -> None:
    path = autoload.write_startup_file()
    try:
        assert path.is_relative_to(os.environ["IPYTHONDIR"])
    finally:
        autoload.remove_startup_file()


def test_an_environment_without_cellwright_starts_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cellwright", None)
    names = runpy.run_path(str(autoload.write_startup_file(tmp_path)))
    assert not [name for name in names if not name.startswith("__")]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "profile_default").write_text("", encoding="utf-8")
    for change in (autoload.write_startup_file, autoload.remove_startup_file):
        with pytest.raises(SetupError, match="50-cellwright.py"):
            change(tmp_path)
