"""``%agent library``: what it does and says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from magics.typed_lines import command

from cellwright.errors import SetupError
from cellwright.knowledge.library import Document, IndexingProgress
from cellwright.knowledge.library.indexing import Indexing
from cellwright.settings import Settings
from cellwright.stopping import Stop
from cellwright.store.database import Database, open_database
from cellwright_magics import library as module
from cellwright_magics.commands import commands_help
from cellwright_magics.library import DocumentList, HitList, library_command


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


def said(database: Database, line: str) -> str:
    return repr(library_command(command(f"/{line}"), database, Settings()))


def test_documents_are_added_listed_found_and_removed(database: Database) -> None:
    assert said(database, "library") == DocumentList.empty
    added = said(database, "library add docs/")
    assert added.startswith("1 document read; 2 of 2 looked at. 1 cannot be read")
    listed = library_command(command("library list"), database, Settings())
    assert isinstance(listed, DocumentList)
    assert len(listed) == 2
    assert "docs/returns.md" in repr(listed)
    assert "cannot be read as notebook" in repr(listed)
    found = library_command(command("/library search goods back"), database, Settings())
    assert isinstance(found, HitList)
    assert len(found) == 1
    assert "[1]  docs/returns.md › Returns (line 1)" in repr(found)
    assert "| docs/returns.md › Returns (line 1) |" in found._repr_markdown_()
    assert said(database, "library update").startswith("0 documents read")
    assert said(database, "library remove docs/") == (
        "Removed from the library: docs/ (2 documents). The files stay."
    )
    assert said(database, "library search goods") == HitList.empty


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
    assert said(database, "library") == DocumentList.empty


def test_a_place_that_is_not_there_is_told(database: Database) -> None:
    with pytest.raises(SetupError, match="no file or folder 'nowhere'"):
        said(database, "library add nowhere")


def test_a_long_list_is_cut_and_counted() -> None:
    documents = [Document(f"{n:012}", 1, "s", f"{n}.md", f"{n}.md", "text") for n in range(230)]
    assert repr(DocumentList(documents)).endswith("30 more")


def test_long_work_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.005)
    shown: list[tuple[str, float | None]] = []

    def work(stop: Stop) -> Iterator[IndexingProgress]:
        for progress in (
            IndexingProgress(0, 0),
            IndexingProgress(1, 4, "a.md"),
            IndexingProgress(4, 4),
        ):
            yield progress
            seen = len(shown)
            while len(shown) < seen + 2:
                stop.wait(0.001)

    advice = module._watched(Indexing(work), lambda text, share: shown.append((text, share)))
    assert ("1 of 4 documents  a.md", 0.25) in shown
    assert shown[0][1] is None
    assert repr(advice) == "0 documents read; 4 of 4 looked at."


def test_stop_ends_it_in_order_and_an_error_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", -1.0)

    def until_stopped(stop: Stop) -> Iterator[IndexingProgress]:
        while not stop.is_set():
            yield IndexingProgress(3, 9, "a.md", changed=3)

    def interrupt(text: str, share: float | None) -> None:
        raise KeyboardInterrupt

    advice = module._watched(Indexing(until_stopped), interrupt)
    assert "It was stopped; what was read is kept." in repr(advice)

    def failing(stop: Stop) -> Iterator[IndexingProgress]:
        yield IndexingProgress(1, 2)
        raise SetupError("The disk is gone.")

    with pytest.raises(SetupError, match=r"ended early: The disk is gone\."):
        module._watched(Indexing(failing), interrupt)


def test_the_help_names_it() -> None:
    assert "library add PLACE…" in commands_help()


def test_why_only_words_were_looked_for_stands_below_what_was_found() -> None:
    found = HitList((), "Searched by words alone: the service is down.")
    assert repr(found) == f"{HitList.empty}\nSearched by words alone: the service is down."
    assert found._repr_markdown_().endswith("the service is down.")
