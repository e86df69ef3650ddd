"""``%agent library``: what it does and says."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from magics.typed_lines import command

from cellwright.commands import VerbContext, library
from cellwright.commands.calling import run_verb
from cellwright.commands.results import Result
from cellwright.errors import RunCancelled, SetupError
from cellwright.knowledge.library import IndexingProgress
from cellwright.settings import Settings
from cellwright.stopping import Stop
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright_magics import command_running
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.commands import commands_help


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "docs" / "returns.md").write_text("# Returns\nGoods come back in thirty days.")
    (folder / "docs" / "broken.ipynb").write_text("{")
    monkeypatch.chdir(folder)
    opened = open_database(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


def make_context(line: CommandLine, database: Database) -> VerbContext:
    return VerbContext(
        line.given,
        Settings(),
        lambda: nullcontext(RunStore(database)),
        line.arguments,
        "%agent /",
    )


def do(database: Database, words: str) -> Result:
    line = command(f"/{words}")
    result = run_verb(line.command, make_context(line, database))
    assert isinstance(result, Result)
    return result


def said(database: Database, line: str) -> str:
    return repr(do(database, line))


def test_documents_are_added_listed_found_and_removed(database: Database) -> None:
    assert "library is empty. %agent /library add" in said(database, "library")
    added = said(database, "library add docs/")
    assert added.startswith("1 document read; 2 of 2 looked at. 1 cannot be read:\n  docs/broken")
    listed = do(database, "library list")
    assert len(listed) == 2
    assert "docs/returns.md" in repr(listed)
    assert "cannot be read as notebook" in repr(listed)
    found = do(database, "library search goods back")
    assert len(found) == 1
    assert "[1] docs/returns.md › Returns (line 1)" in repr(found)
    assert "| docs/returns.md › Returns (line 1) |" in found._repr_markdown_()
    assert said(database, "library update").startswith("0 documents read")
    assert said(database, "library remove docs/") == (
        "Removed from the library: docs/ (2 documents). The files stay."
    )
    assert said(database, "library search goods") == "Nothing was found."


def test_another_library_can_be_the_default(database: Database) -> None:
    said(database, "library add docs/returns.md --name handbook")
    said(database, "library add docs/broken.ipynb --name rest")
    assert said(database, "library default rest").startswith("'rest' is the library")
    with pytest.raises(SetupError, match="There are: handbook, rest"):
        said(database, "library default other")


def test_a_library_is_forgotten_with_its_documents_where_that_is_said(database: Database) -> None:
    said(database, "library add docs/returns.md")
    with pytest.raises(SetupError, match="has documents: 1"):
        said(database, "library forget default")
    forgotten = "The library 'default' is deleted. The files stay."
    assert said(database, "library forget default --all") == forgotten
    assert "library is empty" in said(database, "library")


def test_a_place_that_is_not_there_is_told(database: Database) -> None:
    with pytest.raises(SetupError, match="no file or folder 'nowhere'"):
        said(database, "library add nowhere")


def test_a_long_list_is_cut_and_counted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(database, "library add docs/")
    monkeypatch.setattr(library, "DOCUMENTS_SHOWN", 1)
    listed = do(database, "library list")
    assert "there are 1 more" in repr(listed)
    assert (len(listed.rows), len(listed)) == (1, 2)


def test_long_work_shows_how_far_it_is(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, float | None]] = []
    monkeypatch.setattr(
        command_running, "progress_display", lambda: lambda *told: shown.append(told)
    )
    show = command_running.show_after_a_while()
    show(1, 4, "a.md")
    assert shown == []
    monkeypatch.setattr(command_running, "QUIET_SECONDS", -1.0)
    line = command("library add docs/")
    show = command_running.show_after_a_while()
    run_verb(line.command, replace(make_context(line, database), show_progress=show))
    assert shown[0][0].startswith("0 of 2  docs/")
    assert shown[1][1] == 0.5


def test_stop_ends_it_in_order(database: Database) -> None:
    def until_stopped(stop: Stop) -> Iterator[IndexingProgress]:
        while not stop.is_set():
            yield IndexingProgress(3, 9, "a.md", changed=3)

    def interrupt(done: int, total: int, name: str) -> None:
        signal.raise_signal(signal.SIGINT)

    context = replace(make_context(command("library"), database), show_progress=interrupt)
    with pytest.raises(RunCancelled, match="what was read is kept"):
        library._index(until_stopped, context)


def test_the_help_names_it() -> None:
    assert "library add PLACE…" in commands_help()
