"""The package of docs/how-to/extending.md, installed as written and used through real faces."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Shell, keep
from fake_service import FakeService, Request, text, tool_call
from quick_kernels import without_forks
from recorded_runs import analysis_run
from source_tree import PROJECT

from cellwright.bench.suites.opening import public_suites
from cellwright.context.turn_sources import SourceQuestion
from cellwright.errors import SetupError
from cellwright.session.services import DEMO_MODEL, open_service
from cellwright.session.standard_sources import installed_sources
from cellwright.settings import Settings
from cellwright.store.database import open_database

PAGE = (PROJECT / "docs" / "how-to" / "extending.md").read_text("utf-8")
AUTO = ("--mode", "auto", "--json")
GROUPS = ("tools", "context", "commands", "exports", "suites")


def install(source: Path, target: Path) -> Path:
    """Install a package into a folder, as pip does it; nothing is downloaded."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*pip, "--target", str(target), str(source)], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return target


def write_package(folder: Path, name: str, points: str, code: str = "") -> Path:
    """Write a package as pip leaves one in a folder.

    Args:
        folder: Comes into being.
        name: Of the package and of its module.
        points: The entry points.
        code: The module.
    """
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata, "utf-8")
    (info / "entry_points.txt").write_text(points, "utf-8")
    (folder / f"{name}.py").write_text(code, "utf-8")
    return folder


@pytest.fixture(scope="module")
def moon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package of the page is installed."""
    source = tmp_path_factory.mktemp("source")
    (pyproject,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (source / "pyproject.toml").write_text(pyproject, "utf-8")
    (source / "cellwright_moon").mkdir()
    (source / "cellwright_moon" / "__init__.py").touch()
    for code in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        (source / code.splitlines()[0].removeprefix("# ")).write_text(code, "utf-8")
    return install(source, tmp_path_factory.mktemp("moon"))


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package of which nothing can be imported, the first by its name."""
    points = "\n".join(f"[cellwright.{group}]\nbroken = no_such_module:x" for group in GROUPS)
    return write_package(tmp_path_factory.mktemp("broken"), "a_broken", points)


@pytest.fixture
def shell(tmp_path: Path, moon: Path, broken: Path) -> Shell:
    """A folder to work in, where both packages are installed."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Shell(
        folder,
        {
            "CELLWRIGHT_HOME": str(tmp_path / "home"),
            "CELLWRIGHT_OLLAMA": "off",
            "PYTHONPATH": f"{moon}:{broken}",
        },
    )


def environment(shell: Shell) -> dict[str, str]:
    """The environment of a process of the shell's."""
    return {**without_forks(), **shell.environ}


def offered(request: Request) -> set[str]:
    return {tool["function"]["name"] for tool in request.body["tools"]}


def test_the_model_calls_a_tool_and_reads_the_context_of_a_package(shell: Shell) -> None:
    answers = [tool_call("moon_phase", {"age": 3}), text("It is waxing.")]
    with FakeService(answers) as service:
        done = shell.asking(service).run_process("run", "Which phase has the moon?", *AUTO)
        first, second = service.requests
    assert done.code == 0, done.err
    assert done.document["answer"] == "It is waxing."
    assert "moon_phase" in offered(first)
    assert "69.6 degrees north" in str(first.body["messages"][-1])
    assert second.body["messages"][-1]["role"] == "tool"
    assert "waxing" in str(second.body["messages"][-1]["content"])


def test_a_package_that_cannot_be_loaded_is_told_by_name_and_stops_nothing(shell: Shell) -> None:
    with FakeService([text("Hello.")]) as service:
        done = shell.asking(service).run_process("run", "hello", *AUTO[:2])
        assert "69.6 degrees north" not in str(service.requests[0].body["messages"])
    assert done.code == 0, done.err
    told = [line for line in done.err.splitlines() if "no_such_module" in line]
    assert len(told) == 2  # its tool and its context
    assert all("'a_broken'" in line for line in told)
    checked = shell.run_process("doctor")
    assert "✗ plug-ins: 'no_such_module:x' of 'a_broken' cannot be loaded" in checked.out


def test_what_a_tool_of_a_package_may_do_is_the_modes_to_say(shell: Shell, tmp_path: Path) -> None:
    code = 'def sell() -> str:\n    "Sell it."\n    return "sold"\n'
    package = write_package(
        tmp_path / "sell", "sell", "[cellwright.tools]\nsell = sell:sell\n", code
    )
    here = replace(shell, environ={**shell.environ, "PYTHONPATH": str(package)})
    for mode, is_sold in (("plan", False), ("auto", True)):
        with FakeService([tool_call("sell", {}), text("Done.")]) as service:
            here.asking(service).run_process("run", "Sell it", "--mode", mode)
            results = [
                m for r in service.requests for m in r.body["messages"] if m["role"] == "tool"
            ]
            assert any("sold" in str(result["content"]) for result in results) is is_sold


def test_what_ends_or_fails_in_use_is_told_and_the_question_is_answered(
    shell: Shell, tmp_path: Path
) -> None:
    folder = tmp_path / "odd"
    now = "def now(question):\n    return 1 / 0\n"
    write_package(folder, "odd", "[cellwright.context]\nnow = odd:now\n", now)
    write_package(folder, "ends", "[cellwright.tools]\nend = ends:end\n", "raise SystemExit(3)\n")
    write_package(folder, "same", "[cellwright.tools]\nnone = same:NONE\n", "NONE = 3\n")
    here = replace(shell, environ={**shell.environ, "PYTHONPATH": str(folder)})
    with FakeService([text("Hello.")]) as service:
        done = here.asking(service).run_process("run", "hello", *AUTO[:2])
    assert done.code == 0, done.err
    assert "'now' of 'odd' failed with ZeroDivisionError" in done.err
    assert "'ends:end' of 'ends' cannot be loaded: SystemExit" in done.err
    assert "'none' of 'same' is not offered" in done.err


def test_a_command_of_a_package_is_one_of_the_command_line(shell: Shell) -> None:
    assert shell.run_process("moon", "14").out == "The moon is 47% through its month.\n"
    document = shell.run_process("moon", "14", "--json").document
    assert document == {"command": "moon", "result": "The moon is 47% through its month."}
    asked = shell.run_process("moon")
    assert (asked.code, asked.err.count("\n")) == (2, 1)
    assert "Which day" in asked.err
    failed = shell.run_process("moon", "full")
    assert failed.code == 2
    assert "The plug-in 'moon' of 'cellwright-moon' failed with ValueError" in failed.err
    listed = shell.run_process("--help").out
    assert re.search(r"^ +moon +A command of the package cellwright-moon", listed, re.MULTILINE)
    assert "no_such_module" in shell.run_process("broken").err


def test_a_command_of_a_package_is_one_of_the_magic(shell: Shell) -> None:
    code = (
        "import sys\n"
        "from IPython.core.completer import provisionalcompleter\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'cellwright')\n"
        "print('loaded', 'cellwright_moon.commands' in sys.modules)\n"
        "print(shell.run_line_magic('agent', '/moon 14'))\n"
        "shell.run_line_magic('agent', '/help')\n"
        "with provisionalcompleter():\n"
        "    print([each.text for each in shell.Completer.completions('%agent /mo', 10)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(shell),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("loaded False\nThe moon is 47% through its month.\n")
    assert re.search(r"/moon .*a command of the package cellwright-moon", done.stdout)
    assert done.stdout.splitlines()[-1] == "['/moon']"


def test_a_command_of_a_package_with_arguments_and_options_has_them_everywhere(
    shell: Shell, tmp_path: Path
) -> None:
    code = (
        "from cellwright.commands import Argument, Kind, Option, Verb\n"
        "from cellwright.commands.results import Result\n"
        "DAY = Kind('DAY', str.isdigit, is_strict=True)\n"
        "def tide(context):\n"
        "    height, port = int(context.words[0]) % 7, context.options.port\n"
        "    rows = [(port, str(height))]\n"
        "    return Result('', ('port', '<metres>'), rows, document=[height, port])\n"
        "TIDE = Verb('tide', 'how high the water is', (Argument(DAY),),\n"
        "            (Option(('--port',), {'default': 'Bergen', 'metavar': 'PORT'}),), run=tide)\n"
    )
    folder = write_package(
        tmp_path / "tides", "tides", "[cellwright.commands]\ntide = tides:TIDE\n", code
    )
    here = replace(shell, environ={**shell.environ, "PYTHONPATH": str(folder)})
    assert here.run_process("tide", "9", "--port", "Oslo", "--json").document == [2, "Oslo"]
    assert here.run_process("tide", "9").out.splitlines()[-1].split() == ["Bergen", "2"]
    wrong = here.run_process("tide", "soon")
    assert (wrong.code, "cellwright tide DAY [--port PORT]" in wrong.err) == (2, True)
    lines = ("/tide 9 --port Oslo", "/tide soon")
    cells = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'cellwright')\n"
        f"for line in {lines!r}:\n"
        "    try:\n"
        "        print(shell.run_line_magic('agent', line))\n"
        "    except Exception as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", cells],
        env=environment(here),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[1].split() == ["Oslo", "2"], done.stderr
    assert "%agent /tide DAY [--port PORT]" in done.stdout.splitlines()[-1]


def test_a_run_is_exported_in_a_format_of_a_package(shell: Shell) -> None:
    run_id = keep(shell, analysis_run())
    done = shell.run_process("export", "last", "--to", "moonlog")
    assert done.code == 0, done.err
    assert (shell.folder / f"{run_id}.moon.txt").read_text("utf-8").startswith("completed: ")
    assert "no_such_module" in shell.run_process("export", "last", "--to", "broken").err
    unknown = shell.run_process("export", "last", "--to", "sunlog")
    assert unknown.code == 2
    assert "'moonlog'" in unknown.err


def test_a_suite_of_a_package_is_run_by_its_name(shell: Shell) -> None:
    done = shell.run_process("bench", "run", "moon", "--agent", "oracle", "--json")
    assert done.code == 0, done.err
    assert '"passed": 1' in done.out
    (folder,) = (shell.folder / "runs").iterdir()
    done = shell.run_process("bench", "export", str(folder), "--to", "moonlog", "-o", "out")
    assert done.code == 0, done.err
    assert (shell.folder / "out.moon.txt").read_text("utf-8").startswith("completed: ")
    assert "no_such_module" in shell.run_process("bench", "run", "broken", "--agent", "oracle").err


def test_a_package_in_the_working_directory_is_not_used(shell: Shell, broken: Path) -> None:
    here = replace(shell, folder=broken, environ={**shell.environ, "PYTHONPATH": ""})
    code = "from cellwright.cli import main; main(['doctor'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=here.folder,
        env=environment(here),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "record" in done.stdout
    assert "plug-ins" not in done.stdout


def test_a_part_of_ours_that_is_left_out_is_told_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = "[cellwright.sources]\nlibrary = cellwright.left_out:Library"
    monkeypatch.syspath_prepend(str(write_package(tmp_path / "site", "cellwright", points)))
    database = open_database(tmp_path / "runs.sqlite")
    try:
        sources = installed_sources(database, Settings(home=tmp_path))
        (source,) = (each for each in sources if each.name == "plug-ins")
        memory, library = source.look_up(SourceQuestion("q", "chat")).problems
    finally:
        database.close()
    assert "'memory'" in memory
    assert "pip install --force-reinstall --no-deps cellwright" in memory
    assert "'cellwright.left_out:Library'" in library
    with pytest.raises(SetupError, match="pip install") as told:
        open_service(Settings(home=tmp_path, ollama_url=""), "demo")
    assert DEMO_MODEL in told.value.message
    assert public_suites() == ()
