"""The wheel: what is in it, and that it works where there is no Node."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from documented_figures import ALLOWED, documented
from source_tree import PROJECT, source_files

pytestmark = pytest.mark.packaging

SOURCES = (
    *("extension", "kernel_magics", "js", "pyproject.toml", "package.json", "package-lock.json"),
    *("tsconfig.json", ".npmrc", "README.md", "LICENSE"),
)
NOT_SOURCES = shutil.ignore_patterns("__pycache__", "labextension", "lib", "_version.py")
LABEXTENSION = "share/jupyter/labextensions/cellwright"
WHOLE_BYTES = 400_000


def run(command: Sequence[str | Path], **environment: str) -> str:
    """Run a command and give back what it printed, without colours; fail when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stdout
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources that holds nothing built before."""
    if not shutil.which("npm") or not (PROJECT / "node_modules").exists():
        pytest.skip("building the wheel needs Node and the packages of `make setup`")
    checkout = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, checkout / name, ignore=NOT_SOURCES)
        else:
            shutil.copy(source, checkout / name)
    (checkout / "node_modules").symlink_to(PROJECT / "node_modules")
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    for script in ("build:lib:prod", "build:labextension"):
        run(["npm", "--prefix", checkout, "run", script], PATH=path)
    wheels = checkout / "dist"
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    run([*pip, "-w", wheels, checkout], PATH=path)
    (built,) = wheels.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and, read from here, what it depends on; no Node on the path.

    The folder added by the ``.pth`` file comes after the environment's own, and ``.pth`` files in
    it are not read, so that ``cellwright`` is the one from the wheel.
    """
    environment = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", environment])
    python = environment / "bin" / "python"
    run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", wheel], PATH="")
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return environment


def test_the_wheel_holds_every_python_file(contents: dict[str, bytes]) -> None:
    assert set(source_files()) - set(contents) == set()


def test_the_wheel_holds_the_labextension_and_enables_the_server_extension(
    contents: dict[str, bytes],
) -> None:
    shared = {name.partition(".data/data/")[2] for name in contents}
    files = ("package.json", "install.json", "static/style.js", "schemas/cellwright/plugin.json")
    assert shared >= {f"{LABEXTENSION}/{name}" for name in files}
    assert "etc/jupyter/jupyter_server_config.d/cellwright.json" in shared


def test_a_page_can_load_the_whole_labextension_quickly(contents: dict[str, bytes]) -> None:
    loaded = {
        name: len(gzip.compress(data, 9))
        for name, data in contents.items()
        if LABEXTENSION in name and not name.endswith(".map")
    }
    assert 0 < sum(loaded.values()) < WHOLE_BYTES, loaded
    said = documented("docs/panel.md", r"The whole labextension is (\d+) kB")
    assert sum(loaded.values()) / 1000 == pytest.approx(said, rel=ALLOWED)


def test_the_wheel_holds_nothing_of_the_machine_that_built_it(contents: dict[str, bytes]) -> None:
    here = [str(PROJECT).encode(), b"node_modules/.bin"]
    found = [name for name, data in contents.items() if any(path in data for path in here)]
    assert found == []
    assert not [name for name in contents if "__pycache__" in name or name.startswith("tests/")]


def test_jupyterlab_finds_the_installed_labextension(installed: Path) -> None:
    code = "from jupyterlab.labextensions import main; main()"
    listed = run([installed / "bin" / "python", "-c", code, "list"], PATH="")
    (line,) = [line for line in listed.splitlines() if "cellwright v" in line]
    assert "enabled" in line
    assert "OK (python, cellwright)" in line


def test_jupyter_server_finds_the_installed_server_extension(installed: Path) -> None:
    code = "from jupyter_server.extension.serverextension import main; main()"
    listed = run([installed / "bin" / "python", "-c", code, "list"], PATH="")
    assert "cellwright enabled" in " ".join(listed.split())


def test_the_magics_load_from_the_installed_wheel(installed: Path) -> None:
    code = (
        "import cellwright\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell()\n"
        "shell.run_line_magic('load_ext', 'cellwright')\n"
        "print('from', cellwright.__file__)\n"
    )
    printed = run([installed / "bin" / "python", "-c", code], PATH="")
    assert f"from {installed}" in printed


def test_the_command_is_installed(installed: Path) -> None:
    assert (installed / "bin" / "cellwright").exists()
