"""The two wheels: what is in each, and that each works alone, where there is no Node.

Nothing is downloaded: an environment gets its wheel, and of what the tests run with exactly what
the wheel says that it depends on.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
from documented_figures import ALLOWED, documented
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from packaging.requirements import Requirement
from source_tree import PROJECT, source_files

pytestmark = pytest.mark.packaging

SOURCES = (
    *("extension", "kernel_magics", "packaging", "js", "pyproject.toml", "package.json"),
    *("package-lock.json", "tsconfig.json", ".npmrc", "README.md", "LICENSE"),
)
NOT_SOURCES = shutil.ignore_patterns("__pycache__", "labextension", "lib", "_version.py")
LABEXTENSION = "share/jupyter/labextensions/cellwright"
WHOLE_BYTES = 400_000
PATH = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
ONLY_WHOLE = {"ipywidgets", "jupyter_server", "jupyterlab"}
SERVER_MODULES = ("cellwright.server", "jupyter_server", "jupyterlab", "notebook")
LOADED = """
import importlib.util, sys
print(sorted(REFUSED & set(sys.modules)))
print([name for name in ABSENT if importlib.util.find_spec(name)])
"""


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


def build(source: Path, to: Path, **environment: str) -> Path:
    """The wheel of a folder."""
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    run([*pip, "-w", to, source], **environment)
    (built,) = to.glob("*.whl")
    return built


def read(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources that holds nothing built before, and the labextension built in it."""
    if not shutil.which("npm") or not (PROJECT / "node_modules").exists():
        pytest.skip("building the wheel needs Node and the packages of `make setup`")
    folder = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=NOT_SOURCES, symlinks=True)
        else:
            shutil.copy(source, folder / name)
    (folder / "node_modules").symlink_to(PROJECT / "node_modules")
    for script in ("build:lib:prod", "build:labextension"):
        run(["npm", "--prefix", folder, "run", script], PATH=PATH)
    return folder


@pytest.fixture(scope="session")
def wheel(checkout: Path) -> Path:
    """The wheel of cellwright."""
    return build(checkout, checkout / "dist", PATH=PATH)


@pytest.fixture(scope="session")
def unpacked(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in the archive of the sources."""
    folder = tmp_path_factory.mktemp("sdist")
    code = "import os, sys; from hatchling.build import build_sdist; os.chdir(sys.argv[1])"
    run([sys.executable, "-c", f"{code}; build_sdist(sys.argv[2])", checkout, folder], PATH=PATH)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="session")
def kernel_wheel(unpacked: Path) -> Path:
    """The wheel of cellwright-kernel, built where there is no Node."""
    return build(unpacked / "packaging" / "kernel", unpacked / "dist", PATH="")


@pytest.fixture(scope="session")
def contents(wheel: Path) -> dict[str, bytes]:
    return read(wheel)


def dependencies(requirements: Iterable[str]) -> Iterator[Distribution]:
    """The distributions that an installer would bring, as they are in this environment."""
    waiting = [Requirement(text) for text in requirements]
    known = set()
    while waiting:
        requirement = waiting.pop()
        for extra in ("", *sorted(requirement.extras)):
            if (requirement.name, extra) in known:
                continue
            known.add((requirement.name, extra))
            found = distribution(requirement.name)
            assert requirement.specifier.contains(found.version, prereleases=True), requirement
            yield found
            for text in found.requires or ():
                further = Requirement(text)
                if further.marker is None or further.marker.evaluate({"extra": extra}):
                    waiting.append(further)


def requirements(wheel: Path) -> list[str]:
    """What a wheel depends on, without extras."""
    (metadata,) = [text for name, text in read(wheel).items() if name.endswith("/METADATA")]
    lines = re.findall(r"^Requires-Dist: (.*)$", metadata.decode(), re.MULTILINE)
    return [line for line in lines if "extra ==" not in line]


def install(wheel: Path, environment: Path) -> Path:
    """A new environment with a wheel and what it depends on, and no more than that."""
    run([sys.executable, "-m", "venv", "--without-pip", environment])
    python = environment / "bin" / "python"
    run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", wheel], PATH="")
    (packages,) = environment.glob("lib/python*/site-packages")
    for each in dependencies(requirements(wheel)):
        for name in {file.parts[0] for file in each.files or ()} - {"..", "__pycache__"}:
            if not (packages / name).exists():
                (packages / name).symlink_to(str(each.locate_file(name)))
    return environment


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with cellwright; no Node on the path."""
    return install(wheel, tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="session")
def kernel_installed(kernel_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with cellwright-kernel."""
    return install(kernel_wheel, tmp_path_factory.mktemp("kernel_environment"))


@pytest.fixture
def client(kernel_installed: Path, tmp_path: Path) -> Iterator[BlockingKernelClient]:
    """A kernel of the environment with cellwright-kernel."""
    spec = tmp_path / "kernels" / "small"
    spec.mkdir(parents=True)
    python = kernel_installed / "bin" / "python"
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    text = json.dumps({"argv": argv, "display_name": "small", "language": "python"})
    (spec / "kernel.json").write_text(text, "utf-8")
    specs = KernelSpecManager(kernel_dirs=[str(spec.parent)])
    manager = KernelManager(kernel_name="small", kernel_spec_manager=specs)
    own = {"PATH": "", "HOME": str(tmp_path), "CELLWRIGHT_OLLAMA": "off"}
    manager.start_kernel(env={**os.environ, **own}, cwd=str(tmp_path))
    opened = manager.blocking_client()
    opened.start_channels()
    try:
        opened.wait_for_ready(timeout=60)
        yield opened
    finally:
        opened.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def execute(client: BlockingKernelClient, code: str) -> str:
    """What a cell prints and displays; fail when it fails."""
    printed: list[str] = []

    def note(message: dict[str, Any]) -> None:
        content = message["content"]
        printed.append(content.get("text") or content.get("data", {}).get("text/plain", ""))

    reply = client.execute_interactive(code, output_hook=note, timeout=100)
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(printed)


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
    said = documented("docs/reference/panel.md", r"The whole labextension is (\d+) kB")
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


def test_the_same_wheel_comes_of_the_archive_of_the_sources(
    contents: dict[str, bytes], unpacked: Path, tmp_path: Path
) -> None:
    again = read(build(unpacked, tmp_path, PATH=sysconfig.get_path("scripts")))
    assert set(again) == set(contents)


def test_the_packages_of_the_first_cells_come_with_cellwright(installed: Path) -> None:
    names = "jupyterlab, ipywidgets, ipykernel, openai, nbformat, pandas"
    run([installed / "bin" / "python", "-c", f"import {names}, cellwright.server.table"], PATH="")


def test_the_wheel_of_a_kernel_holds_all_but_the_server(kernel_wheel: Path) -> None:
    found = {name for name in read(kernel_wheel) if name.endswith(".py")}
    assert found - {"cellwright/_version.py"} == {
        name
        for name in source_files()
        if not name.startswith("cellwright/server/") and name != "cellwright/_version.py"
    }
    assert not [name for name in read(kernel_wheel) if ".data/" in name]


def test_both_wheels_say_the_same_of_themselves(kernel_wheel: Path, wheel: Path) -> None:
    assert kernel_wheel.name.split("-")[1] == wheel.name.split("-")[1]
    whole = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    folder = PROJECT / "packaging" / "kernel"
    kernel = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    more = set(whole["dependencies"]) - set(kernel["dependencies"])
    assert {Requirement(text).name for text in more} == ONLY_WHOLE
    assert set(kernel["dependencies"]) <= set(whole["dependencies"])
    features = set(whole["optional-dependencies"]) - {"test", "test-all"}
    assert set(kernel["optional-dependencies"]) == {*features, "widgets"}
    for name in features:
        assert kernel["optional-dependencies"][name] == whole["optional-dependencies"][name]
    assert kernel["scripts"] == whole["scripts"]
    assert kernel["entry-points"] == whole["entry-points"]
    assert kernel["requires-python"] == whole["requires-python"]


def test_the_agent_works_in_a_kernel_without_a_server(client: BlockingKernelClient) -> None:
    execute(client, "%load_ext cellwright")
    execute(
        client, "import pandas as pd\nsales = pd.DataFrame({'month': [1, 2], 'revenue': [3, 4]})"
    )
    execute(client, "run = %agent --mode auto Profile @sales")
    assert execute(client, "print(run.status, len(run.cells) > 0)").split() == ["completed", "True"]
    assert "completed" in execute(client, "%agent runs")
    assert execute(client, "%agent doctor")
    refused = {"tornado.web", "tornado.httpserver", "tornado.websocket", *SERVER_MODULES}
    code = f"REFUSED, ABSENT = {refused}, {SERVER_MODULES}\n{LOADED}"
    assert execute(client, code).split("\n")[:2] == ["[]", "[]"]


def test_a_feature_whose_library_is_missing_names_the_extra(
    client: BlockingKernelClient, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text("<p>Returns within thirty days.</p>", "utf-8")
    execute(client, "%load_ext cellwright")
    added = execute(client, "%agent library add page.html")
    assert "pip install 'cellwright-kernel[html]'" in added


def test_the_command_works_without_a_server(kernel_installed: Path, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("month,revenue\n1,3\n2,4\n", "utf-8")
    asked: list[str | Path] = [
        "run",
        "Profile the data",
        "--files",
        tmp_path / "sales.csv",
        "--mode",
        "auto",
    ]
    own = {"PATH": "", "HOME": str(tmp_path), "CELLWRIGHT_OLLAMA": "off"}
    printed = run([kernel_installed / "bin" / "cellwright", *asked, "--json"], **own)
    assert '"completed"' in printed


def test_doctor_says_where_both_are_installed(
    kernel_installed: Path, installed: Path, tmp_path: Path
) -> None:
    (other,) = installed.glob("lib/python*/site-packages/cellwright-*.dist-info")
    shutil.copytree(other, tmp_path / other.name)
    own = {"PATH": "", "HOME": str(tmp_path), "CELLWRIGHT_OLLAMA": "off"}
    code = "import sys; from cellwright.cli import main; main(['doctor'])"
    printed = run([kernel_installed / "bin" / "python", "-c", code], **own)
    assert "installation" not in printed
    printed = run(
        [kernel_installed / "bin" / "python", "-c", code], PYTHONPATH=str(tmp_path), **own
    )
    assert "pip uninstall --yes cellwright cellwright-kernel" in printed
