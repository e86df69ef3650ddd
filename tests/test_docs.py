"""What the documentation must name: every option, command, setting and route."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

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


def test_every_option_of_the_magic_is_described() -> None:
    names = [name for option in OPTIONS for name in option.names]
    assert [name for name in names if f"`{name}" not in MAGICS] == []


def is_described(command: Verb) -> bool:
    mark = "/" if command.takes_text else ""
    return bool(re.search(rf"`(%agent )?{mark}{command.name}\b", MAGICS)) and all(
        option in MAGICS for option in command.option_names()
    )


def test_every_command_of_the_magic_is_described() -> None:
    assert [command.usage for command in COMMANDS if not is_described(command)] == []


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


def leads_somewhere(page: Path, name: str, anchor: str) -> bool:
    """Whether a link of a page names a file that there is, and a heading in it."""
    target = (page.parent / name) if name else page
    return target.exists() and (not anchor or anchor in anchors_of(target))


def test_links_to_files_of_the_project_lead_to_a_file_and_a_heading() -> None:
    dead: list[str] = []
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        links = re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text)
        dead += [f"{page}: {a}#{b}" for a, b in links if not leads_somewhere(page, a, b)]
    assert dead == []


def test_each_page_stands_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [page for page in (ROOT / "docs").glob("*/*.md") if page.parent.name != "decisions"]
    assert [
        str(page) for page in pages if f"({page.parent.name}/{page.name})" not in contents
    ] == []
