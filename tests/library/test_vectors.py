"""Vectors: when they are made, what they find, and what happens without them."""

from __future__ import annotations

import array
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, Request, Wire, error, json_body
from library.shelves import Page, Served, Shelf, serving, vector_of, vectors_like

from cellwright.context.turn_sources import SourceQuestion
from cellwright.errors import LMError
from cellwright.knowledge import retrieval
from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.nearness import Nearness
from cellwright.knowledge.library.searching import Scope
from cellwright.knowledge.library.source import LibrarySource
from cellwright.knowledge.library.store import hits_of
from cellwright.knowledge.library.store_vectors import keep_vectors, pieces_of
from cellwright.llm.embedding import ServiceEmbedder, embedder_of
from cellwright.settings import ServiceSettings, Settings, from_env
from cellwright.store.database import Database, Statement


@pytest.fixture
def service() -> Iterator[Served]:
    with serving(vectors_like) as served:
        yield served


def shelf_with(service: Served, database: Database, tmp_path: Path, model: str = "m1") -> Shelf:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    settings = Settings(
        service=ServiceSettings(base_url=f"{service.url}/v1", api_key="k"), embedding_model=model
    )
    return Shelf(folder, Libraries(database, settings))


def texts_of(asked: list[Any]) -> list[str]:
    return [text for body in asked for text in body["input"]]


def test_without_a_model_or_a_service_there_are_no_vectors() -> None:
    assert embedder_of(Settings(embedding_model="m")) is None
    assert embedder_of(Settings(service=ServiceSettings(base_url="http://localhost/v1"))) is None


def test_002_09_a_document_is_found_before_it_has_vectors(
    shelf: Shelf, service: Served, database: Database, tmp_path: Path
) -> None:
    shelf.write("a.md", "the car is red")
    shelf.add("a.md")
    (document,) = shelf.documents().values()
    assert (document.chunks > 0, document.is_embedded) == (True, False)
    assert shelf.found("car") == ["a.md"]
    with_vectors = shelf_with(service, database, tmp_path)
    with_vectors.update()
    (document,) = with_vectors.documents().values()
    assert (document.chunks > 0, document.is_embedded) == (True, True)


def test_002_08_what_means_the_same_is_found_by_vectors_and_joined_by_rank(
    service: Served, database: Database, tmp_path: Path
) -> None:
    shelf = shelf_with(service, database, tmp_path)
    shelf.write("car.md", "car")
    shelf.write("fruit.md", "apple banana cherry kiwi lemon")
    shelf.write("words.md", "automobile parts in large number beside other things entirely")
    shelf.add(".")
    assert shelf.found("automobile")[0] in ("words.md", "car.md")
    assert "car.md" in shelf.found("automobile")
    assert "fruit.md" not in shelf.found("automobile")


def test_002_91_the_same_words_are_embedded_once_for_each_model(
    service: Served, database: Database, tmp_path: Path
) -> None:
    shelf = shelf_with(service, database, tmp_path)
    for number in range(70):
        shelf.write(f"{number}.md", f"text number {number}")
    shelf.add(".")
    assert [len(body["input"]) for body in service.asked] == [64, 6]
    shelf.update()
    assert len(service.asked) == 2
    rows = database.read("SELECT DISTINCT model, dimension FROM library_vectors")
    assert rows == [("m1", 32)]
    assert len(database.read("SELECT 1 FROM library_vectors")) == 70


def test_002_91_another_model_embeds_what_is_asked_for_first(
    service: Served, database: Database, tmp_path: Path
) -> None:
    shelf = shelf_with(service, database, tmp_path)
    shelf.write("a.md", "zebra words")
    shelf.write("b.md", "okapi words")
    shelf.add(".")
    service.asked.clear()
    other = shelf_with(service, database, tmp_path, "m2")
    assert not any(document.is_embedded for document in other.documents().values())
    assert other.found("zebra") == ["a.md"]
    assert len(texts_of(service.asked)) == 2, "the question and the piece that was found"
    found = {name: document.is_embedded for name, document in other.documents().items()}
    assert found == {"a.md": True, "b.md": False}
    service.asked.clear()
    other.found("zebra")
    assert texts_of(service.asked) == ["zebra"]
    other.update()
    assert all(document.is_embedded for document in other.documents().values())
    assert all(document.is_embedded for document in shelf.documents().values())


def test_a_service_that_fails_leaves_the_words(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda path, body: Page(b"{}", "application/json", 500)) as broken:
        shelf = shelf_with(broken, database, tmp_path)
        shelf.write("a.md", "zebra words")
        assert "There are no vectors" in shelf.add(".").notice
        scope = Scope(shelf.libraries.above(str(shelf.folder)))
        first = shelf.libraries.searcher.search(scope, "zebra")
        assert [hit.name for hit in first.hits] == ["a.md"]
        assert "by words alone" in first.problem
        asked = len(broken.asked)
        assert shelf.libraries.searcher.search(scope, "zebra").problem == ""
        assert len(broken.asked) == asked, "it is left alone for a minute"


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 0.0]}],
    ],
)
def test_an_answer_that_is_not_a_vector_for_each_text_is_an_error(data: list[Any]) -> None:
    body = json.dumps({"object": "list", "model": "m", "data": data}).encode()
    with serving(lambda path, asked: Page(body, "application/json")) as served:
        embedder = ServiceEmbedder(ServiceSettings(base_url=f"{served.url}/v1"), "m")
        with pytest.raises(LMError):
            embedder.embed(("a", "b"), 5.0)


def vectors_served(request: Request) -> Wire:
    data = [{"index": number, "embedding": [1.0]} for number in range(len(request.body["input"]))]
    return json_body({"object": "list", "model": "m", "data": data})(request)


def test_an_embedding_model_is_reached_as_any_model_of_its_service() -> None:
    path = "/v1/embeddings?api-version=preview"
    with FakeService(others={path: vectors_served}) as fake:
        service = fake.settings(
            base_url=f"{fake.base_url}?api-version=preview", headers={"X-Team": "data"}
        )
        embedder = ServiceEmbedder(service, "m")
        for _ in range(2):
            assert len(embedder.embed(("a", "b"), 5.0)) == 2
    assert [request.path for request in fake.other_requests] == [path, path]
    assert {request.headers["x-team"] for request in fake.other_requests} == {"data"}
    assert fake.connections == 1


def test_an_embedding_model_is_asked_again_with_a_key_that_is_new(tmp_path: Path) -> None:
    def guarded(request: Request) -> Wire:
        if request.headers["authorization"] != "Bearer new-key":
            return error(401, "expired")(request)
        return vectors_served(request)

    place = tmp_path / "key"
    place.write_text("old-key")
    with FakeService(others={"/v1/embeddings": guarded}) as fake:
        settings = from_env(
            {"CELLWRIGHT_BASE_URL": fake.base_url, "CELLWRIGHT_KEY_FILE": str(place)}
        )
        embedder = ServiceEmbedder(settings.service, "m")
        place.write_text("new-key")
        assert len(embedder.embed(("a",), 5.0)) == 1


def test_vectors_of_another_length_are_not_compared(
    service: Served, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = shelf_with(service, database, tmp_path)
    shelf.write("a.md", "zebra words")
    shelf.add(".")
    monkeypatch.setattr("library.shelves.DIMENSION", 16)
    monkeypatch.setattr(retrieval, "EMBEDDED_AT_ONCE", 0)
    assert shelf.found("zebra") == ["a.md"]


def test_002_58_what_means_the_same_stands_beside_the_question_though_it_shares_no_word(
    service: Served, database: Database, tmp_path: Path
) -> None:
    shelf = shelf_with(service, database, tmp_path)
    shelf.write("car.md", "car")
    shelf.write("fruit.md", "apple banana cherry kiwi lemon")
    shelf.add(".")
    source = LibrarySource(shelf.libraries)
    asked = SourceQuestion("automobile", chat_id="chat", run_id="run", folder=str(shelf.folder))
    (block,) = source.look_up(asked).blocks
    assert block.text == "car"
    assert source.look_up(replace(asked, prompt="train")).blocks == ()


@pytest.mark.parametrize("memory_bytes", [2**20, 0])
def test_among_many_pieces_only_one_that_is_nearer_than_by_chance_stands_out(
    shelf: Shelf, database: Database, memory_bytes: int
) -> None:
    for number in range(70):
        shelf.write(f"{number:02}.md", f"text {number}")
    shelf.add(".")
    (library,) = shelf.libraries.above(str(shelf.folder))
    numbers = range(1, 71)
    for model, best in (("even", 0.6), ("clear", 0.99)):
        cosines = [best, *(0.5 + 0.001 * number for number in numbers[1:])]
        hashes = [sha256 for _, sha256 in pieces_of(database, library.number)]
        vectors = [_vector(cosine, (1 - cosine**2) ** 0.5) for cosine in cosines]
        keep_vectors(database, model, zip(hashes, vectors, strict=True))
        near = Nearness(database, memory_bytes).nearest(library, model, _vector(1.0, 0.0), 3)
        assert near[0].cosine == pytest.approx(best)
        assert [item.stands_out for item in near] == [model == "clear", False, False]


@pytest.mark.parametrize("memory_bytes", [2**20, 0])
def test_what_is_new_is_added_to_what_was_read_and_what_is_gone_is_not_found(
    service: Served, database: Database, tmp_path: Path, memory_bytes: int
) -> None:
    shelf = shelf_with(service, database, tmp_path)
    for name in ("car", "apple", "train"):
        shelf.write(f"{name}.md", name)
    shelf.add(".")
    nearness = Nearness(database, memory_bytes)

    def nearest(word: str) -> list[str]:
        (library,) = shelf.libraries.above(str(shelf.folder))
        vector = vector_bytes(word)
        near = nearness.nearest(library, "m1", vector, 10)
        ids = [item.text_id for item in near if item.cosine > 0.5]
        return sorted(hit.name for hit in hits_of(database, ids).values())

    assert nearest("automobile") == ["car.md"]
    shelf.write("more.md", "automobile")
    shelf.write("same.md", "car")
    (shelf.folder / "apple.md").unlink()
    shelf.update()
    assert nearest("automobile") == ["car.md", "more.md", "same.md"]
    assert nearest("apple") == []
    without = Shelf(shelf.folder, Libraries(database, Settings()))
    without.write("late.md", "kiwi")
    without.update()
    assert nearest("kiwi") == []
    shelf.update()
    assert nearest("kiwi") == ["late.md"], "its vector came when the piece was known already"
    for name in ("car", "train", "more", "same", "late"):
        (shelf.folder / f"{name}.md").unlink()
    shelf.write("other.md", "lemon")
    shelf.update()
    assert nearest("lemon") == ["other.md"]
    assert nearest("kiwi") == []
    database.write(Statement("DELETE FROM library_vectors"))
    assert nearest("lemon") == []


def _vector(*numbers: float) -> bytes:
    return array.array("f", numbers).tobytes()


def vector_bytes(word: str) -> bytes:
    numbers = vector_of(word)
    length = math.sqrt(sum(number * number for number in numbers))
    return _vector(*(number / length for number in numbers))
