import argparse
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Shell

from cellwright import __version__
from cellwright.cli import main, make_parser
from cellwright.commands.verbs import VERBS

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in make_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


COMMANDS = dict(parsers())


def ended(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    return int(raised.value.code or 0)


def test_the_commands_are_the_verbs_and_those_of_a_terminal_alone() -> None:
    verbs = {verb.name for verb in VERBS}
    assert {"runs", "show", "export", "save-sample", "memory", "library", "usage"} <= verbs
    assert sorted(set(COMMANDS) - verbs) == [
        "bench",
        "check",
        "demo",
        "demo-server",
        "disable",
        "enable",
        "mcp",
        "run",
        "schema",
    ]


BENCH_ACTIONS = tuple(
    f"bench {name}" for name in ("run", "resume", "rescore", "compare", "thumb", "export")
)


@pytest.mark.parametrize(
    "command", [*(name for name in COMMANDS if name != "bench"), *BENCH_ACTIONS]
)
def test_every_command_takes_json_and_names_the_exit_codes(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert "--json" in text
    for code in ("0 ", "1 ", "2 ", "3 ", "130"):
        assert f"\n  {code}" in text


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["--version"]) == 0
    assert capsys.readouterr().out == f"cellwright {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ([], "COMMAND"),
        (["dance"], "'dance'"),
        (["run", "x", "--mode", "wild"], "'wild'"),
        (["run", "x", "--max-steps", "0"], "'0'"),
        (["run", "x", "--budget", "inf"], "'inf'"),
        (["run", "x", "--note", "x"], "--note"),
        (["save-sample", "last"], "--to"),
        (["export", "last", "--to", "pdf"], "'pdf'"),
        (["demo-server", "--host", "0.0.0.0"], "'0.0.0.0'"),
        (["check"], "MODULE:NAME"),
    ],
)
def test_wrong_use_is_one_line_that_names_the_culprit(
    arguments: list[str], culprit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(arguments) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert culprit in streams.err
    assert streams.err.count("\n") == 1
    assert "--help" in streams.err


def test_help_comes_at_once_and_imports_nothing_heavy() -> None:
    code = "import sys\nfrom cellwright.cli import make_parser\nmake_parser()\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "asyncio",
        "ssl",
        "openai",
        "pandas",
        "nbformat",
        "jupyter_client",
        "pydantic",
        "nbclient",
        "zmq",
    }
    loaded = done.stdout.split()
    assert not heavy & set(loaded)
    assert sum(name.startswith("cellwright") for name in loaded) <= 20


@pytest.mark.serial
def test_help_takes_no_longer_than_some_modules_of_the_standard_library(shell: Shell) -> None:
    """Some two times as long as these; how many modules of ours it loads is held above."""
    some = "import argparse, json, importlib.metadata, sqlite3, urllib.request"
    plain = best_of_five(lambda: subprocess.run([sys.executable, "-c", some], check=True))
    assert best_of_five(lambda: show_help(shell)) < 4 * plain


def show_help(shell: Shell) -> None:
    assert shell.run_process("--help").code == 0


def best_of_five(action: Callable[[], object]) -> float:
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return min(taken)


def test_the_documentation_names_every_command_and_option() -> None:
    text = DOCUMENTATION.read_text(encoding="utf-8")
    for name, parser in COMMANDS.items():
        first, _, rest = name.partition(" ")
        assert f"`cellwright {first}" in text
        section = re.split(rf"^## `cellwright {first}\b", text, maxsplit=1, flags=re.MULTILINE)[1]
        section = section.partition("\n## ")[0]
        assert f"`{rest}" in section or f"`{name}" in section
        for action in parser._actions:
            shared = {"--help", "--json"}
            for option in action.option_strings:
                if option.startswith("--") and option not in shared:
                    assert option in section, f"{option} of {name}"
    for code in ("0", "1", "2", "3", "130"):
        assert f"| {code} |" in text


def test_a_failure_is_one_line_and_a_document_where_json_is_wanted(shell: Shell) -> None:
    done = shell.run_process("show", "nothing", "--json")
    assert done.code == 2
    assert done.document["error"]["type"] == "SetupError"
    assert done.document["error"]["exit_code"] == 2
    assert done.err == f"cellwright: {done.document['error']['message']}\n"


def test_a_traceback_is_shown_only_for_debugging(shell: Shell) -> None:
    assert "Traceback" not in shell.run("show", "nothing").err
    debugging = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_DEBUG": "1"})
    assert "Traceback" in debugging.run("show", "nothing").err


def test_a_setting_that_cannot_be_used_is_told_before_anything_happens(shell: Shell) -> None:
    wrong = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_MODE": "wild"})
    done = wrong.run("runs")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("cellwright: CELLWRIGHT_MODE is 'wild'.")
