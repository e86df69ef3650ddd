"""Turns of long ago by what they mean: vectors from a real server, joined with words by rank."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from library.shelves import Page, Served, serving, vectors_like
from recorded_runs import started

from cellwright.context.blocks import RECALLED, Block
from cellwright.knowledge import retrieval
from cellwright.knowledge.old_turns import BlockSearch, BlockVectors
from cellwright.knowledge.retrieval import fuse
from cellwright.llm.embedding import embedder_of
from cellwright.record.events import RunFinished
from cellwright.session.standard_sources import Sources
from cellwright.settings import ServiceSettings, Settings
from cellwright.store.database import Database, Statement, open_database
from cellwright.store.runs import RunStore

FAILING = Page(b'{"error": {"message": "no such model"}}', "application/json", 500)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def service() -> Iterator[Served]:
    with serving(vectors_like) as served:
        yield served


def settings_with(service: Served, model: str = "m1") -> Settings:
    address = ServiceSettings(base_url=f"{service.url}/v1", api_key="k")
    return Settings(service=address, embedding_model=model)


def shelf_with(service: Served, database: Database, model: str = "m1") -> BlockSearch:
    return BlockSearch(database, embedder_of(settings_with(service, model)))


def block(number: int, text: str) -> Block:
    return Block(f"run{number}", f"opening{number}", text)


def found(shelf: BlockSearch, query: str, *without: str) -> list[str]:
    return [b.run_id for b in shelf.find("chat", query, without).blocks]


def sent(service: Served) -> list[list[str]]:
    return [body["input"] for body in service.asked]


def test_002_63_what_means_the_same_is_recalled_where_vectors_are_set(
    service: Served, database: Database
) -> None:
    shelf = shelf_with(service, database)
    shelf.keep("chat", block(1, "car"))
    shelf.keep("chat", block(2, "apple banana cherry kiwi lemon"))
    assert found(shelf, "automobile") == ["run1"]
    assert found(BlockSearch(database), "automobile") == []


def test_002_63_words_and_meaning_are_joined_and_at_most_seven_come_back(
    service: Served, database: Database
) -> None:
    shelf = shelf_with(service, database)
    for number in range(20):
        shelf.keep("chat", block(number, "car" if number % 2 else f"vehicle number {number}"))
    back = found(shelf, "vehicle")
    assert len(back) == RECALLED
    assert back == sorted(back, key=lambda run: int(run.removeprefix("run")))
    assert fuse([(1, 2), (2, 3)]) == {2: 1 / 62 + 1 / 61, 1: 1 / 61, 3: 1 / 62}


def test_002_63_what_is_in_the_window_or_of_another_chat_is_not_recalled(
    service: Served, database: Database
) -> None:
    shelf = shelf_with(service, database)
    shelf.keep("chat", block(1, "car"))
    shelf.keep("other", block(2, "vehicle"))
    assert found(shelf, "automobile", "opening1") == []
    assert found(shelf, "automobile") == ["run1"]


def test_002_62_a_block_gets_its_vector_once_with_the_next_question(
    service: Served, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "EMBEDDED_AT_ONCE", 2)
    shelf = shelf_with(service, database)
    for number in range(3):
        shelf.keep("chat", block(number, f"text {number}"))
    assert sent(service) == [], "no run waits for a vector at its end"
    found(shelf, "first")
    found(shelf, "second")
    found(shelf, "third")
    assert sent(service) == [["first", "text 2", "text 1"], ["second", "text 0"], ["third"]]
    found(shelf_with(service, database, "m2"), "fourth")
    assert sent(service)[-1] == ["fourth", "text 2", "text 1"], "another model has its own"


def test_002_64_a_deleted_run_takes_the_vector_of_its_block_with_it(
    service: Served, database: Database
) -> None:
    shelf = shelf_with(service, database)
    run_id = RunStore(database).start(started(), RunFinished("completed")).run_id
    shelf.keep("chat", Block(run_id, "o", "car"))
    assert found(shelf, "automobile") == [run_id]
    RunStore(database).delete(run_id)
    assert found(shelf, "automobile") == []
    assert database.read("SELECT 1 FROM block_vectors") == []
    BlockVectors(database, "m1").keep([(1, b"\0\0\0\0")])
    assert database.read("SELECT 1 FROM block_vectors") == [], "it is gone, and so stays it"


def test_002_63_a_service_that_fails_leaves_the_words_and_is_left_alone_for_a_minute(
    database: Database,
) -> None:
    with serving(lambda path, body: FAILING) as broken:
        shelf = shelf_with(broken, database)
        shelf.keep("chat", block(1, "zebra words"))
        first = shelf.find("chat", "zebra", ())
        assert [b.run_id for b in first.blocks] == ["run1"]
        assert "by words alone" in first.problem
        again = shelf.find("chat", "zebra", ())
        assert (again.blocks, again.problem) == (first.blocks, "")
        assert len(broken.asked) == 1


def test_a_service_that_is_too_slow_for_many_is_asked_for_few(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "QUERY_SECONDS", 0.2)
    monkeypatch.setattr(retrieval, "PAUSE_SECONDS", 0.0)
    over = threading.Event()

    def slow(path: str, body: object) -> Page:
        if len(asked.asked[-1]["input"]) > 9:
            over.wait(5)
        return vectors_like(path, body)

    with serving(slow) as asked:
        shelf = shelf_with(asked, database)
        for number in range(40):
            shelf.keep("chat", block(number, f"text {number}"))
        assert "did not answer within" in shelf.find("chat", "a", ()).problem
        over.set()
        for query in "bcd":
            assert shelf.find("chat", query, ()).problem == ""
        assert [len(texts) for texts in sent(asked)] == [33, 9, 17, 17]


def test_vectors_of_another_length_are_not_compared(service: Served, database: Database) -> None:
    shelf = shelf_with(service, database)
    shelf.keep("chat", block(1, "car"))
    database.write(Statement("INSERT INTO block_vectors VALUES (1, 'm1', x'00000000')"))
    assert found(shelf, "automobile") == []
    assert found(shelf, "car") == ["run1"]


def test_a_question_without_words_asks_no_service(service: Served, database: Database) -> None:
    shelf = shelf_with(service, database)
    shelf.keep("chat", block(1, "car"))
    assert found(shelf, " \n") == []
    assert service.asked == []


def test_all_conversations_of_a_process_share_what_is_known_of_the_service(
    service: Served, database: Database
) -> None:
    sources, settings = Sources(), settings_with(service)
    shelf = sources.blocks(database, settings)
    assert shelf is sources.blocks(database, settings)
    assert sources.of(database, settings) == sources.of(database, settings)
    assert shelf is not sources.blocks(database, settings_with(service, "m2"))
