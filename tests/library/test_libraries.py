"""Libraries of a project: which is the default, and what cannot be deleted."""

from __future__ import annotations

import pytest
from library.shelves import Shelf

from cellwright.errors import SetupError
from cellwright.knowledge.library.libraries import library_users
from cellwright.stopping import Stop


def test_002_92_the_projects_first_library_is_its_default(shelf: Shelf) -> None:
    store, root = shelf.libraries.store, str(shelf.folder)
    first = store.open(root)
    assert (first.name, first.is_default) == ("default", True)
    assert not store.open(root, "handbook").is_default
    assert store.open(root) == first
    assert [each.name for each in shelf.libraries.defaults(root)] == ["default"]


def test_002_92_another_one_can_be_the_default_and_there_is_always_one(shelf: Shelf) -> None:
    store, root = shelf.libraries.store, str(shelf.folder)
    store.open(root)
    store.open(root, "handbook")
    chosen = shelf.libraries.make_default("handbook", root)
    assert chosen.is_default
    assert [each.name for each in store.libraries() if each.is_default] == ["handbook"]
    with pytest.raises(SetupError, match="There are: default, handbook"):
        shelf.libraries.make_default("other", root)
    store.forget(chosen)
    assert [(each.name, each.is_default) for each in store.libraries()] == [("default", True)]
    (last,) = store.libraries()
    store.forget(last)
    assert store.libraries() == ()
    with pytest.raises(SetupError, match="There are: none"):
        shelf.libraries.make_default("default", root)


def test_002_08_a_library_in_use_is_not_deleted(shelf: Shelf) -> None:
    shelf.write("a.md", "words")
    shelf.add("a.md")
    folder = str(shelf.folder)
    with pytest.raises(SetupError, match="has documents: 1"):
        shelf.libraries.forget("default", folder, {})
    for name, text in {"reviewer": '"default"', "ada": '"x", "default"', "all": '"*"'}.items():
        shelf.write(f".cellwright/assistants/{name}.toml", f"library = [{text}]")
    users = library_users(folder, None, [folder])
    with pytest.raises(SetupError, match="used by ada, reviewer"):
        shelf.libraries.forget("default", folder, users, with_documents=True)
    assert set(shelf.documents()) == {"a.md"}


def test_a_library_is_deleted_with_all_that_is_in_it(shelf: Shelf) -> None:
    path = shelf.write("a.md", "apple words")
    shelf.write("b.md", "banana words")
    shelf.add("a.md")
    shelf.add("b.md", name="handbook")
    folder = str(shelf.folder)
    (before,) = shelf.libraries.defaults(folder)
    assert shelf.libraries.forget("default", folder, {}, with_documents=True) == "default"
    assert set(shelf.documents()) == {"b.md"}
    assert [each.name for each in shelf.libraries.defaults(folder)] == ["handbook"]
    assert shelf.search("apple") == ()
    assert path.exists()
    with pytest.raises(SetupError, match="There are: handbook"):
        shelf.libraries.forget("default", folder, {})
    shelf.add("a.md", name="default")
    (again,) = [each for each in shelf.libraries.above(folder) if each.name == "default"]
    assert again.version > before.version, "what was kept of the old one is not taken for the new"
    assert [hit.name for hit in shelf.search("apple")] == ["a.md"]


def test_a_library_of_another_name_is_filled_by_name(shelf: Shelf) -> None:
    shelf.write("a.md", "apple words")
    shelf.write("b.md", "banana words")
    shelf.add("a.md")
    shelf.add("b.md", name="handbook")
    names = {each.name: each.number for each in shelf.libraries.store.libraries()}
    documents = shelf.libraries.store.documents(names["handbook"])
    assert [document.name for document in documents] == ["b.md"]


def test_002_90_an_uploaded_file_becomes_a_document_under_its_own_name(shelf: Shelf) -> None:
    path = shelf.write("files/ab/abcdef", "# Rules\nzebra crossing")
    places, names = [str(path)], {str(path): "rules.md"}
    list(shelf.libraries.adding(places, str(shelf.folder), names=names)(Stop()))
    (hit,) = shelf.search("zebra")
    assert (hit.name, hit.heading, hit.place) == ("rules.md", "rules.md › Rules", str(path))
