"""Requirements 002-61 to 002-64: turns of long ago, found again by what they say."""

from __future__ import annotations

import pytest
from cpu_time import quick
from recorded_runs import record_of, started

from cellwright.context.blocks import (
    RECALLED,
    Block,
    BlockShelf,
    MemoryBlocks,
    block_of,
    terms_of,
)
from cellwright.record.events import CellAdded, CellFinished, CellOutput, CellStarted, RunFinished
from cellwright.record.outputs import (
    ErrorOutput,
    ExecuteResult,
    Execution,
    StreamOutput,
    VariableSummary,
)
from cellwright.store.blocks import BlockStore
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, Statement
from cellwright.store.runs import RunStore

INSERT_CHAT_RUN = (
    "INSERT INTO chat_runs (chat_id, run_id, position, superseded_by) VALUES (?, ?, ?, ?)"
)


@pytest.fixture(params=["stored", "stored without an index", "in memory"])
def shelf(request: pytest.FixtureRequest, database: Database) -> BlockShelf:
    if request.param == "in memory":
        return MemoryBlocks()
    if request.param == "stored without an index":
        for name in ("block_added", "block_removed"):
            database.write(Statement(f"DROP TRIGGER {name}"))
        database.write(Statement("DROP TABLE block_words"))
    return BlockStore(database)


def block(number: int, text: str) -> Block:
    return Block(f"run{number}", f"opening{number}", text)


def test_002_63_a_turn_is_found_by_its_words(shelf: BlockShelf) -> None:
    for number in range(30):
        shelf.keep("chat", block(number, f"asked: part {number} of the report"))
    shelf.keep("chat", block(31, "asked: the customer table is called kunden_stamm"))
    found = shelf.find("chat", "What is the name of our customer table?", ()).blocks
    assert [b.run_id for b in found] == ["run31"]


def test_002_63_chinese_and_short_words_are_found(shelf: BlockShelf) -> None:
    shelf.keep("chat", block(1, "asked: 客户表里的负责人是林晓梅"))
    shelf.keep("chat", block(2, "asked: 库存报告"))
    shelf.keep("chat", block(3, "asked: x1 is the id"))
    assert [b.run_id for b in shelf.find("chat", "谁是负责人？", ()).blocks] == ["run1"]
    assert [b.run_id for b in shelf.find("chat", "what is x1?", ()).blocks] == ["run3"]


def test_002_63_at_most_seven_come_back_oldest_first(shelf: BlockShelf) -> None:
    for number in range(20):
        shelf.keep("chat", block(number, f"asked: invoices, number {number}"))
    found = shelf.find("chat", "invoices", ()).blocks
    assert len(found) == RECALLED
    assert [b.run_id for b in found] == [f"run{n}" for n in range(13, 20)]


def test_002_63_what_is_in_the_window_does_not_come_again(shelf: BlockShelf) -> None:
    shelf.keep("chat", block(1, "asked: invoices"))
    shelf.keep("chat", block(2, "asked: invoices again"))
    assert [b.run_id for b in shelf.find("chat", "invoices", {"opening2"}).blocks] == ["run1"]


def test_002_63_nothing_is_found_where_nothing_is_like_it(shelf: BlockShelf) -> None:
    shelf.keep("chat", block(1, "asked: invoices"))
    assert shelf.find("chat", "weather", ()).blocks == ()
    assert shelf.find("chat", "what is it?", ()).blocks == ()
    assert shelf.find("other", "invoices", ()).blocks == ()


def test_002_63_signs_of_the_search_language_are_only_words(shelf: BlockShelf) -> None:
    shelf.keep("chat", block(1, "asked: 100% of NEAR(a)"))
    assert shelf.find("chat", 'NEAR("x" OR % _ *', ()).blocks != ()


def test_002_62_the_same_text_is_kept_once_a_chat(shelf: BlockShelf) -> None:
    for chat in ("one", "one", "two"):
        shelf.keep(chat, block(1, "asked: invoices"))
    assert len(shelf.find("one", "invoices", ()).blocks) == 1
    assert len(shelf.find("two", "invoices", ()).blocks) == 1
    assert block(1, "a").hash_in("one") != block(1, "a").hash_in("two")
    assert len(block(1, "a").hash_in("one")) == 64


def test_002_12_a_block_is_kept_with_its_chat_its_hash_and_all_of_its_text(
    database: Database,
) -> None:
    kept = block(1, "asked: invoices\nanswered: 12")
    BlockStore(database).keep("chat", kept)
    rows = database.read("SELECT chat_id, hash, run_id, opening, text FROM blocks")
    assert rows == [("chat", kept.hash_in("chat"), "run1", "opening1", kept.text)]


def test_002_64_a_deleted_run_takes_its_block_with_it(database: Database) -> None:
    runs, shelf = RunStore(database), BlockStore(database)
    journal = runs.start(started())
    journal.record(RunFinished("completed"))
    shelf.keep("chat", Block(journal.run_id, "o", "asked: invoices"))
    runs.delete(journal.run_id)
    assert shelf.find("chat", "invoices", ()).blocks == ()


def test_a_branch_finds_what_it_shares_and_not_what_was_asked_anew(database: Database) -> None:
    shelf = BlockStore(database)
    shelf.keep("first", block(1, "asked: invoices of May"))
    shelf.keep("first", block(2, "asked: invoices of June"))
    rows = [("branch", "run1", 0, ""), ("first", "run1", 0, ""), ("first", "run2", 1, "run3")]
    for row in rows:
        database.write(Statement(INSERT_CHAT_RUN, row))
    assert [b.run_id for b in shelf.find("branch", "invoices", ()).blocks] == ["run1"]
    assert [b.run_id for b in shelf.find("first", "invoices", ()).blocks] == ["run1"]
    assert ChatStore(database).list() == ()


def test_002_63_two_thousand_turns_are_searched_in_time(database: Database) -> None:
    shelf = BlockStore(database)
    words = "alder birch cedar delta ember fjord grove haven inlet jetty".split()  # noqa: SIM905
    rows = [
        block(n, f"asked: part {n} " + " ".join(words[(n + k) % 10] for k in range(200)))
        for n in range(2_000)
    ]
    for start in range(0, 2_000, 500):
        database.write(
            *(
                Statement(
                    "INSERT INTO blocks (chat_id, hash, run_id, opening, text)"
                    " VALUES ('chat', ?, ?, ?, ?)",
                    (b.run_id, b.run_id, b.opening, b.text),
                )
                for b in rows[start : start + 500]
            )
        )
    asked = "What did part 1234 say about alder and cedar?"
    found = quick(lambda: shelf.find("chat", asked, ()).blocks, 0.5)  # 50 ms on an idle machine
    assert "run1234" in {b.run_id for b in found}


def test_002_61_a_run_becomes_what_was_asked_run_and_answered() -> None:
    record = record_of(
        [
            started(prompt="Which price is highest?"),
            CellAdded("c1", "df.price.max()"),
            CellStarted("c1"),
            CellOutput("c1", ExecuteResult({"text/plain": "41"})),
            CellFinished("c1", Execution("ok", 0.1, changed=(VariableSummary("x", "int", "1"),))),
            CellAdded("c2", "1 / 0"),
            CellStarted("c2"),
            CellFinished("c2", Execution("error", 0.1, ErrorOutput("ZeroDivisionError", "by 0"))),
            CellAdded("c3", "print(1)"),
            CellStarted("c3"),
            CellOutput("c3", StreamOutput("stdout", "1\n")),
            RunFinished("completed", "It is 41."),
        ]
    )
    made = block_of(record, "opening")
    assert made is not None
    assert made.text.splitlines() == [
        "asked: Which price is highest?",
        "cell c1: df.price.max()",
        "  -> 41",
        "cell c2: 1 / 0",
        "  -> ZeroDivisionError: by 0",
        "cell c3: print(1)",
        "  -> 1",
        "answered: It is 41.",
    ]


def test_002_61_a_question_without_an_answer_is_no_block() -> None:
    assert block_of(record_of([started(), RunFinished("cancelled")]), "opening") is None


def test_terms_are_words_that_say_something() -> None:
    assert terms_of("What is the churn_rate in sales.csv of 2019, 5?") == (
        "churn_rate",
        "sales",
        "csv",
        "2019",
        "5",
    )
    assert terms_of("客户表 a我b") == ("客户", "户表", "我", "ab")
