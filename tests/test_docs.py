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
MAGICS = (ROOT / "docs" / "reference" / "magics.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("docs/**/*.md")])
CLI = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


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


def anchors_of(page: Path) -> set[str]:
    """What a link may name behind ``#``: the headings, as GitHub turns them into anchors."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_of_the_project_lead_to_a_file_and_a_heading(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for name, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text):
        target = (page.parent / name) if name else page
        assert target.exists(), name
        assert not anchor or anchor in anchors_of(target), f"{name}#{anchor}"


def test_each_page_stands_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [page for page in (ROOT / "docs").glob("*/*.md") if page.parent.name != "decisions"]
    assert [
        str(page) for page in pages if f"({page.parent.name}/{page.name})" not in contents
    ] == []
