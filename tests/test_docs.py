"""What the documentation must name: every option, command, setting and route."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from cellwright.cli import make_parser
from cellwright.commands import Verb
from cellwright.record.events import RunStatus
from cellwright_magics.arguments import OPTIONS
from cellwright_magics.commands import COMMANDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAGICS = (ROOT / "docs" / "magics.md").read_text(encoding="utf-8")
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.names[-1])
def test_every_option_of_the_magic_is_described(option: object) -> None:
    assert all(f"`{name}" in MAGICS for name in option.names)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.usage)
def test_every_command_of_the_magic_is_described(command: Verb) -> None:
    mark = "/" if command.takes_text else ""
    assert re.search(rf"`(%agent )?{mark}{command.name}\b", MAGICS)
    assert all(option in MAGICS for option in command.option_names())


def test_every_environment_variable_is_described() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "extension" / "cellwright").rglob("*.py")
    )
    described = README + CLI
    names = set(re.findall(r"\b(?:CELLWRIGHT|OPENAI)_[A-Z_]+\b", source))
    assert names
    assert sorted(name for name in names if name not in described) == []


def test_every_command_and_option_of_the_command_line_is_described() -> None:
    actions = make_parser()._subparsers._group_actions  # type: ignore[union-attr]
    commands: dict[str, argparse.ArgumentParser] = actions[0].choices  # type: ignore[assignment]
    assert sorted(name for name in commands if name.partition(" ")[0] not in CLI) == []
    options = {o for p in commands.values() for a in p._actions for o in a.option_strings}
    long = {option for option in options if option.startswith("--")}
    assert sorted(option for option in long - {"--help"} if option not in CLI) == []


def test_every_status_is_described() -> None:
    statuses = set(RunStatus.__args__) - {"running", "unknown"}  # type: ignore[attr-defined]
    assert sorted(status for status in statuses if f"`{status}`" not in MAGICS) == []


def test_the_readme_names_the_two_commands_that_do_all_the_set_up() -> None:
    assert "\nmake demo " in README
    assert "\nmake test " in README


@pytest.mark.parametrize("page", [README, MAGICS, CLI], ids=["readme", "magics", "cli"])
def test_links_to_files_of_the_project_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page):
        assert (ROOT / target).exists() or (ROOT / "docs" / target).exists()
