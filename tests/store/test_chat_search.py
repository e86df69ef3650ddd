"""Searching chats by trigrams: any language, code, short words, and what was deleted."""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from pathlib import Path

import pytest
from cpu_time import quick
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from recorded_runs import started

from cellwright.record.events import RunFinished
from cellwright.store import search_index
from cellwright.store import search_index as chat_search
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.runs import RunStore
from cellwright.store.search_index import FILE, SearchIndex


def say(database: Database, prompt: str, answer: str) -> str:
    return RunStore(database).start(started(prompt), RunFinished("completed", answer)).run_id


class TestWords:
    @pytest.mark.parametrize(
        "word",
        [
            "销售额",
            "销售",
            "售",
            "df.groupby(",
            "groupby('region')",
            "ÜBER",
            "é",
            'say "hi"',
            "a_b",
            "%",
            "=",
        ],
    )
    def test_any_language_code_and_single_characters_are_found(
        self, database: Database, word: str
    ) -> None:
        run = say(
            database, "各地区的销售额 überall café", "df.groupby('region') = say \"hi\" a_b 5 %"
        )
        say(database, "another", "thing")
        assert SearchIndex(database).runs_that_say(word) == {run}

    @pytest.mark.parametrize("word", ["a*b", "NOT thing", "thing OR", '"', "()", "thing^2"])
    def test_signs_of_a_query_language_mean_themselves(self, database: Database, word: str) -> None:
        say(database, "thing", "ab NO thing")
        assert SearchIndex(database).runs_that_say(word) == frozenset()

    @settings(
        max_examples=25,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @example("%", "a%b")
    @example("_ab", "xab")
    @given(
        st.text("ab_%\\\"' .x销售", min_size=1, max_size=6),
        st.text("ab_%\\\"' .x销售", max_size=20),
    )
    def test_the_index_finds_what_reading_the_record_finds(
        self, database: Database, word: str, text: str
    ) -> None:
        say(database, text, text[::-1])
        assert SearchIndex(database).runs_that_say(word) == chat_search._scanned(database, word)

    @pytest.mark.parametrize("word", ["needleword", "NE"])
    def test_the_end_of_a_very_long_answer_is_found(self, database: Database, word: str) -> None:
        run = say(database, "question", "lorem ipsum " * 8_000 + "Needleword")
        assert SearchIndex(database).runs_that_say(word) == {run}
        assert chat_search._scanned(database, word) == {run}


class TestFreshness:
    def test_what_was_said_since_the_last_search_is_found(self, database: Database) -> None:
        journal = RunStore(database).start(started("first question"))
        assert chat_search.runs_that_say(database, "first") == {journal.run_id}
        journal.record(RunFinished("completed", "late answer"))
        assert chat_search.runs_that_say(database, "late") == {journal.run_id}

    def test_a_deleted_chat_is_in_no_file_any_more(
        self, database: Database, tmp_path: Path
    ) -> None:
        chats, mark = ChatStore(database), "unmistakable-word"
        chat = chats.create()
        run = say(database, f"what is {mark}", f"it is {mark}")
        kept = say(database, "what is kept", "this is")
        chats.add_run(chat.chat_id, run)
        assert chats.list(query=mark) == (chats.get(chat.chat_id),)
        assert mark.encode() in (tmp_path / FILE).read_bytes()
        chats.delete(chat.chat_id)
        assert mark.encode() not in (tmp_path / FILE).read_bytes()
        with sqlite3.connect(tmp_path / FILE) as index:
            terms = index.execute("SELECT COUNT(*) FROM words WHERE words MATCH 'unm'").fetchone()
        index.close()
        assert terms == (0,)
        assert chat_search.runs_that_say(database, "kept") == {kept}

    def test_a_moved_chat_is_found_where_it_is_now(self, database: Database) -> None:
        chats = ChatStore(database)
        chat = chats.create("a.ipynb")
        chats.add_run(chat.chat_id, say(database, "which region", "north"))
        chats.move(chat.chat_id, "b.ipynb")
        assert chats.list("a.ipynb", "region") == ()
        assert [found.chat_id for found in chats.list("b.ipynb", "region")] == [chat.chat_id]

    def test_a_run_deleted_by_itself_is_not_found(self, database: Database) -> None:
        run = say(database, "which region", "north")
        assert chat_search.runs_that_say(database, "region") == {run}
        RunStore(database).delete(run)
        assert chat_search.runs_that_say(database, "region") == frozenset()


class TestWithoutIndex:
    def test_a_damaged_index_is_begun_anew(self, database: Database, tmp_path: Path) -> None:
        run = say(database, "which region", "north")
        (tmp_path / FILE).write_bytes(b"no database at all" * 100)
        assert chat_search.runs_that_say(database, "region") == {run}
        assert SearchIndex(database).runs_that_say("region") == {run}

    def test_a_damaged_index_forgets_all_of_it(self, database: Database, tmp_path: Path) -> None:
        (tmp_path / FILE).write_bytes(b"no database at all" * 100)
        chat_search.forget_words(database)
        assert not (tmp_path / FILE).exists()

    def test_an_index_of_another_shape_is_not_used(
        self, database: Database, tmp_path: Path
    ) -> None:
        with sqlite3.connect(tmp_path / FILE) as other:
            other.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, text TEXT)")
        other.close()
        run = say(database, "which region", "north")
        assert chat_search.runs_that_say(database, "region") == {run}
        chat_search.forget_words(database)
        assert not (tmp_path / FILE).exists()

    def test_a_record_that_waits_in_memory_is_read_itself(self, tmp_path: Path) -> None:
        options = OpenOptions(busy_seconds=0.05, retry_seconds=0.01)
        database = open_database(tmp_path / "runs.sqlite", options)
        other = sqlite3.connect(tmp_path / "runs.sqlite")
        other.execute("BEGIN IMMEDIATE")
        run = say(database, "which region", "north")
        assert chat_search.runs_that_say(database, "region") == {run}
        chat_search.forget_words(database)
        assert not (tmp_path / FILE).exists()
        other.rollback()
        other.close()
        database.close()

    def test_an_index_that_cannot_be_looked_into_is_not_kept_after_a_deletion(
        self, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = say(database, "which region", "north")
        assert SearchIndex(database).runs_that_say("region") == {run}
        monkeypatch.setattr(search_index, "has_trigrams", lambda: False)
        assert SearchIndex(database).runs_that_say("region") is None
        chat_search.forget_words(database)
        assert not (tmp_path / FILE).exists()

    def test_an_index_that_another_process_holds_is_not_waited_for_long(
        self, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(search_index, "BUSY_SECONDS", 0.05)
        run = say(database, "which region", "north")
        assert SearchIndex(database).runs_that_say("region") == {run}
        later = say(database, "which other region", "south")
        with sqlite3.connect(tmp_path / FILE, isolation_level=None) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert chat_search.runs_that_say(database, "region") == {run, later}
            other.execute("ROLLBACK")
        other.close()
        assert (tmp_path / FILE).exists()


def test_ten_thousand_messages_are_searched_in_no_time(database: Database) -> None:
    chats = ChatStore(database)
    chat_ids = [chats.create(f"n{number}.ipynb").chat_id for number in range(20)]
    filler = "the totals by region and month were computed with pandas and drawn " * 6
    rows: list[Statement] = []
    for number in range(2_500):
        run = f"run-{number:05}"
        rows.append(
            Statement(
                "INSERT INTO runs (run_id, status, prompt, started_at, last_at)"
                " VALUES (?, 'completed', ?, 0, 0)",
                (run, f"question {number} 问题 {filler[:80]}"),
            )
        )
        sql = "INSERT INTO chat_runs (chat_id, run_id, position) VALUES (?, ?, ?)"
        rows.append(Statement(sql, (chat_ids[number % 20], run, number)))
        for sequence in range(1, 5):
            data = json.dumps({"message": {"text": f"answer {number}.{sequence} {filler}"}})
            event = (run, sequence, 0.0, "model_replied", data, "")
            rows.append(Statement("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", event))
    database.write(*rows)
    chats.list(query="warm-up")
    for query, count in (("answer 2017.3", 1), ("问题", 20), ("pandas", 20), ("zebra", 0)):
        found = quick(partial(chats.list, query=query), 0.5)
        assert len(found) == count, query
