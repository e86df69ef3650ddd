"""Places into a library: what is read, what is read again, what leaves and what is kept."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from library.shelves import Page, Shelf, serving

from cellwright.commands.library import describe
from cellwright.errors import SetupError
from cellwright.knowledge.library import Document, IndexingProgress, indexing
from cellwright.knowledge.library.indexing import Indexing
from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.places import project_folder, shown_name
from cellwright.knowledge.library.store import LibraryStore
from cellwright.settings import Settings
from cellwright.stopping import Stop
from cellwright.store.database import Database, open_database


def test_002_08_a_folder_with_notebooks_and_data_becomes_documents(shelf: Shelf) -> None:
    shelf.write("docs/guide.md", "# Returns\nWithin 30 days.")
    shelf.write("docs/load.ipynb", '{"cells": [{"cell_type": "code", "id": "a", "source": "x=1"}]}')
    shelf.write("docs/data.csv", "a,b\n1,2\n")
    shelf.write("docs/picture.png", b"\x89PNG")
    shelf.write("docs/.hidden.md", "secret")
    shelf.write("docs/node_modules/x.md", "not ours")
    progress = shelf.add("docs")
    assert (progress.done, progress.total, progress.changed) == (3, 3, 3)
    found = shelf.documents()
    assert list(found) == ["docs/data.csv", "docs/guide.md", "docs/load.ipynb"]
    assert all(document.chunks and not document.problem for document in found.values())


def test_002_08_a_failed_document_is_kept_with_its_problem_and_tried_again(shelf: Shelf) -> None:
    path = shelf.write("docs/broken.ipynb", "{")
    shelf.write("docs/empty.md", "")
    assert shelf.add("docs").problems == 2
    found = shelf.documents()
    assert "cannot be read as notebook" in found["docs/broken.ipynb"].problem
    assert "no text" in found["docs/empty.md"].problem
    assert not found["docs/broken.ipynb"].chunks
    times = path.stat()
    path.write_text('{"cells": [{"cell_type": "code", "id": "a", "source": "mended = 1"}]}')
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    shelf.update()
    assert shelf.documents()["docs/broken.ipynb"].problem == ""
    assert shelf.found("mended") == ["docs/broken.ipynb"]


def test_002_08_a_file_that_cannot_be_read_stays_when_it_was_named(shelf: Shelf) -> None:
    shelf.write("a.bin", b"\1")
    with shelf.write("large.txt", b"x").open("r+b") as file:
        file.truncate(51 * 1024 * 1024)
    shelf.add("a.bin", "large.txt")
    found = shelf.documents()
    assert "Files of this kind cannot be read" in found["a.bin"].problem
    assert "more than 50 MB" in found["large.txt"].problem


def test_002_08_the_order_of_pieces_is_kept(shelf: Shelf, database: Database) -> None:
    shelf.write("a.md", "# A\none\n# B\ntwo\n# C\nthree")
    shelf.add("a.md")
    rows = database.read("SELECT text FROM library_chunks ORDER BY document_id, position")
    assert [text.split("\n")[1] for (text,) in rows] == ["one", "two", "three"]


def test_only_what_changed_is_read_again_and_what_is_gone_leaves(shelf: Shelf) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"docs/{name}.md", f"# {name}\nwords of {name}")
    shelf.add("docs")
    before = shelf.documents()
    assert shelf.update().changed == 0
    shelf.write("docs/b.md", "# b\nanother zebra")
    os.utime(shelf.folder / "docs" / "c.md", ns=(1, 1))  # touched, with the same words
    (shelf.folder / "docs" / "a.md").unlink()
    assert shelf.update().changed == 1
    after = shelf.documents()
    assert list(after) == ["docs/b.md", "docs/c.md"]
    assert after["docs/c.md"].indexed_at == before["docs/c.md"].indexed_at
    assert shelf.found("zebra") == ["docs/b.md"]
    assert shelf.found("words") == ["docs/c.md"]


def test_a_place_that_is_gone_is_told_of(shelf: Shelf) -> None:
    path = shelf.write("a.md", "some words")
    shelf.add("a.md")
    path.unlink()
    assert shelf.update().problems == 1
    (document,) = shelf.documents().values()
    assert "not there any more" in document.problem
    assert shelf.found("words") == []


def test_a_document_of_two_places_is_read_once(shelf: Shelf) -> None:
    shelf.write("docs/a.md", "some words")
    shelf.add("docs/a.md")
    assert shelf.add("docs").changed == 0
    assert shelf.update().changed == 0
    assert len(shelf.documents()) == 1


def test_a_document_that_was_taken_out_stays_out_until_it_is_named(shelf: Shelf) -> None:
    shelf.write("docs/a.md", "apple words")
    shelf.write("docs/b.md", "banana words")
    shelf.add("docs")
    gone = shelf.documents()["docs/a.md"].document_id
    assert shelf.libraries.remove(gone, str(shelf.folder)) == "docs/a.md"
    assert shelf.update().changed == 0
    assert shelf.found("words") == ["docs/b.md"]
    shelf.add("docs/a.md")
    assert sorted(shelf.found("words")) == ["docs/a.md", "docs/b.md"]
    again = shelf.documents()["docs/a.md"].document_id
    shelf.libraries.remove(again, str(shelf.folder))
    assert list(shelf.documents()) == ["docs/b.md"]


def test_a_place_is_removed_with_its_documents(shelf: Shelf) -> None:
    shelf.write("docs/a.md", "apple words")
    shelf.write("docs/b.md", "banana words")
    shelf.add("docs")
    assert shelf.libraries.remove("docs", str(shelf.folder)) == "docs (2 documents)"
    assert shelf.documents() == {}
    with pytest.raises(SetupError, match="no document or place 'docs'"):
        shelf.libraries.remove("docs", str(shelf.folder))


def test_a_document_is_removed_by_the_name_that_the_list_shows_or_by_its_path(shelf: Shelf) -> None:
    for name in ("docs/退货.md", "docs/b.md", "docs/c.md"):
        shelf.write(name, "words")
    shelf.add("docs")
    above, docs = str(shelf.folder), str(shelf.folder / "docs")
    assert shelf.libraries.remove("docs/退货.md", above) == "docs/退货.md"
    assert shelf.libraries.remove("b.md", docs) == "docs/b.md"
    assert shelf.libraries.remove("docs/c.md", docs) == "docs/c.md"
    assert shelf.update().changed == 0
    assert shelf.documents() == {}


def test_the_end_of_a_path_that_one_document_alone_has_is_name_enough(shelf: Shelf) -> None:
    for name in ("docs/one.md", "docs/same.md", "more/same.md"):
        shelf.write(name, f"words of {name}")
    shelf.add(".")
    assert shelf.libraries.remove("one.md", str(shelf.folder)) == "docs/one.md"
    with pytest.raises(SetupError, match="has 2 documents 'same.md'"):
        shelf.libraries.remove("same.md", str(shelf.folder))


def test_a_document_of_two_libraries_is_removed_by_its_id(shelf: Shelf) -> None:
    shelf.write("a.md", "words")
    shelf.add(".")
    shelf.add(".", name="other")
    above = str(shelf.folder)
    one, other = shelf.libraries.documents(shelf.libraries.above(above))
    with pytest.raises(SetupError, match=f"{one.document_id}, {other.document_id}"):
        shelf.libraries.remove("a.md", above)
    shelf.libraries.remove(one.document_id, above)
    shelf.libraries.remove("a.md", above)
    assert shelf.documents() == {}


def test_a_link_does_not_bring_in_what_nobody_added(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("private words")
    shelf.write("docs/a.md", "public words")
    (shelf.folder / "docs" / "link.md").symlink_to(outside)
    (shelf.folder / "docs" / "dangling.md").symlink_to(tmp_path / "nothing.md")
    (shelf.folder / "docs" / "folder.md").mkdir()
    os.mkfifo(shelf.folder / "docs" / "pipe.md")
    shelf.add("docs")
    assert list(shelf.documents()) == ["docs/a.md"]


def test_halves_of_signs_and_odd_names_do_not_end_reading(shelf: Shelf) -> None:
    source = {"cell_type": "code", "id": "a", "source": "x = '\ud83d' # zebra"}
    shelf.write("half.ipynb", json.dumps({"cells": [source]}))
    shelf.write("odd\udc80name.md", "zebra words")
    shelf.write("two\nlines.md", "zebra words")
    assert shelf.add(".").changed == 1
    assert shelf.found("zebra \ud83d") == ["half.ipynb"]


def test_a_folder_without_end_is_read_in_part(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellwright.knowledge.library.places.FILE_LIMIT", 2)
    for name in "abc":
        shelf.write(f"{name}.md", "words")
    assert shelf.add(".").total == 2


def test_stopping_keeps_what_was_read(shelf: Shelf) -> None:
    for number in range(5):
        shelf.write(f"{number}.md", f"words of {number}")
    stop, seen = Stop(), []
    for progress in shelf.libraries.adding(["."], str(shelf.folder))(stop):
        seen.append(progress.name)
        if len(seen) == 3:
            stop.set()
    assert len(shelf.documents()) == 3
    assert shelf.update().changed == 2


def test_a_place_that_is_not_there_adds_nothing(shelf: Shelf) -> None:
    shelf.write("a.md", "words")
    for place in ("a.md", "nowhere"), ("a.md", ""):
        with pytest.raises(SetupError, match="no file or folder"):
            shelf.add(*place)
    assert shelf.libraries.above(str(shelf.folder)) == ()


def test_reading_goes_on_beside_and_can_be_watched_and_stopped() -> None:
    go, seen = threading.Event(), threading.Event()

    def work(stop: Stop):
        yield IndexingProgress(1, 9, "a.md")
        seen.set()
        go.wait(5)
        yield IndexingProgress(2, 9, "b.md", 2, 1, notice="No vectors.")

    going = Indexing(work)
    assert seen.wait(5)
    assert (going.is_going_on, going.wait(0), going.progress.name) == (True, False, "a.md")
    going.stop()
    go.set()
    assert going.wait()
    assert going.progress == IndexingProgress(2, 9, "b.md", 2, 1, notice="No vectors.")
    assert describe(going.progress) == (
        "2 documents read; 2 of 9 looked at. 1 cannot be read:\n"
        "  The list of documents says why of the rest.\nNo vectors."
    )


def test_the_reasons_are_told_at_once_where_they_are_few(shelf: Shelf) -> None:
    for number in range(8):
        shelf.write(f"{number}.md", "" if number else "words")
    work = shelf.libraries.adding(("0.md", "1.md", "2.md"), str(shelf.folder))
    going = Indexing(work)
    assert going.wait(10)
    assert describe(going.progress) == (
        "1 document read; 3 of 3 looked at. 2 cannot be read:\n  1.md: There is no text in it.\n"
        "  2.md: There is no text in it."
    )
    going = Indexing(shelf.libraries.adding((".",), str(shelf.folder)))
    assert going.wait(10)
    assert describe(going.progress).endswith("list of documents says why of the rest.")


def test_what_ends_reading_early_is_kept() -> None:
    def work(stop: Stop):
        yield IndexingProgress(1, 1, changed=1)
        raise SetupError("no")

    going = Indexing(work)
    going.wait()
    assert str(going.error) == "no"
    assert describe(going.progress) == "1 document read; 1 of 1 looked at."


def test_two_processes_may_index_the_same_folder(shelf: Shelf, tmp_path: Path) -> None:
    for number in range(20):
        shelf.write(f"docs/{number}.md", f"# Title {number}\nwords of number {number}")
    other = open_database(tmp_path / "home" / "runs.sqlite")
    twin = Shelf(shelf.folder, Libraries(other, Settings()))
    threads = [threading.Thread(target=each.add, args=("docs",)) for each in (shelf, twin)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert len(shelf.documents()) == 20
    assert all(document.chunks == 1 for document in shelf.documents().values())


def test_a_page_of_this_machine_is_read_and_read_again_when_it_changed(shelf: Shelf) -> None:
    pages = {"/a.html": Page(b"<h1>Prices</h1><p>The zebra costs 5.</p>")}
    with serving(lambda path, body: pages[path]) as served:
        shelf.add(f"{served.url}/a.html")
        assert [hit.place for hit in shelf.search("zebra")] == [f"{served.url}/a.html"]
        assert shelf.update().changed == 0
        pages["/a.html"] = Page(b"<h1>Prices</h1><p>The okapi costs 6.</p>")
        assert shelf.update().changed == 1
    assert len(shelf.found("okapi")) == 1
    assert shelf.found("zebra") == []


def test_names_are_paths_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "p"
    (project / ".cellwright").mkdir(parents=True)
    (project / "sub" / "deep").mkdir(parents=True)
    assert project_folder(str(project / "sub" / "deep")) == str(project)
    assert shown_name(str(project / "sub" / "a.md"), str(project)) == "sub/a.md"
    assert shown_name(str(tmp_path / "other" / "a.md"), str(project)) == "other/a.md"
    assert shown_name("http://localhost/a", str(project)) == "http://localhost/a"
    long = shown_name(str(project / ("x" * 200)), str(project))
    assert (len(long), long[0]) == (128, "…")


def test_the_home_folder_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".cellwright").mkdir()
    (tmp_path / "work").mkdir()
    assert project_folder(str(tmp_path / "work")) == str(tmp_path / "work")


def test_a_very_long_document_is_whole_at_its_end_only(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH_CHUNKS", 3)
    shelf.write("long.md", "".join(f"# Part {n}\nwords of part{n}\n" for n in range(20)))
    seen: list[str] = []
    append = LibraryStore.append

    def watched(store: LibraryStore, document: Document, *more: Any) -> None:
        seen.append(next(iter(shelf.documents().values())).problem)
        append(store, document, *more)

    monkeypatch.setattr(LibraryStore, "append", watched)
    shelf.add("long.md")
    assert set(seen) == {"It was not read to its end."}
    (document,) = shelf.documents().values()
    assert (document.chunks, document.problem) == (20, "")
    assert shelf.found("part19") == ["long.md"]
    assert shelf.update().changed == 0


def test_without_a_file_the_library_is_kept_in_memory(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, Libraries(open_database(None), Settings()))
    shelf.write("a.md", "zebra words")
    shelf.add("a.md")
    assert shelf.found("zebra") == ["a.md"]
    shelf.libraries.store.database.close()


def test_a_whole_disk_or_home_is_not_read(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    (tmp_path / "home").mkdir(exist_ok=True)
    for place, what in (("/", "disk"), ("~", "home folder"), ("/..", "disk")):
        with pytest.raises(SetupError, match=f"is a whole {what}. Name the folders"):
            shelf.add(place)
    assert shelf.documents() == {}
