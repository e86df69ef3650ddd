"""Chats: begun, named, searched, moved with their notebooks, and deleted with their runs."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from recorded_runs import replied, started

from cellwright.errors import SetupError, StoreError
from cellwright.record.events import RunFinished
from cellwright.record.messages import AssistantMessage
from cellwright.store.chat_rows import Chat, automatic_title
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.migrations import m001_runs_and_events
from cellwright.store.runs import RunStore


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def chats(database: Database, clock: Clock) -> ChatStore:
    return ChatStore(database, clock)


def ask(chats: ChatStore, database: Database, chat_id: str, prompt: str, answer: str = "") -> str:
    journal = RunStore(database).start(started(prompt))
    chats.add_run(chat_id, journal.run_id)
    journal.record(RunFinished("completed", answer))
    return journal.run_id


def ids(chats: tuple[Chat, ...]) -> list[str]:
    return [chat.chat_id for chat in chats]


def test_a_new_chat_has_no_title_and_no_runs(chats: ChatStore) -> None:
    chat = chats.create("sales.ipynb", "ada")
    assert chats.get(chat.chat_id) == chat
    assert (chat.title, chat.notebook_path, chat.owner) == ("", "sales.ipynb", "ada")
    assert chat.created_at == chat.updated_at
    assert chats.run_ids(chat.chat_id) == ()


def test_a_chat_that_is_not_there_is_told_by_its_id(chats: ChatStore) -> None:
    assert chats.find("nothing") is None
    with pytest.raises(SetupError, match="'nothing'"):
        chats.get("nothing")
    with pytest.raises(SetupError, match="'nothing'"):
        chats.add_run("nothing", "run")


def test_runs_keep_the_order_in_which_they_were_asked_for(
    chats: ChatStore, database: Database
) -> None:
    chat = chats.create()
    runs = [ask(chats, database, chat.chat_id, f"prompt {n}") for n in range(12)]
    assert chats.run_ids(chat.chat_id) == tuple(runs)
    assert chats.get(chat.chat_id).run_count == 12
    assert chats.chat_of(runs[3]) == chat.chat_id
    assert chats.chat_of("another") == ""


class TestTitles:
    def test_the_first_prompt_is_the_title_until_the_person_names_the_chat(
        self, chats: ChatStore, database: Database
    ) -> None:
        chat = chats.create()
        ask(chats, database, chat.chat_id, "Which region\nsold most?")
        ask(chats, database, chat.chat_id, "And least?")
        assert chats.get(chat.chat_id).title == "Which region sold most?"
        renamed = chats.rename(chat.chat_id, "  Regions \n by sales ")
        assert (renamed.title, renamed.is_named) == ("Regions by sales", True)
        assert chats.rename(chat.chat_id, "").title == "Which region sold most?"

    def test_a_run_that_has_written_nothing_yet_gives_no_title(self, chats: ChatStore) -> None:
        chat = chats.create()
        chats.add_run(chat.chat_id, "not-written-yet")
        assert chats.get(chat.chat_id).title == ""

    @pytest.mark.parametrize(
        ("prompt", "title"),
        [
            ("  one \n two\t three ", "one two three"),
            ("w" * 30, "w" * 30),
            ("w" * 31, "w" * 29 + "…"),
            ("word " * 20, ("word " * 5).rstrip() + "…"),
            ("see " + "p" * 80, "see " + "p" * 25 + "…"),
            ("画" * 70, "画" * 29 + "…"),
            ("", ""),
        ],
    )
    def test_002_04_a_title_of_first_words_is_one_line_of_at_most_30_characters(
        self, prompt: str, title: str
    ) -> None:
        assert automatic_title(prompt) == title
        assert len(title) <= 30


class TestList:
    def test_the_chat_that_was_used_last_comes_first(self, chats: ChatStore) -> None:
        first, second = chats.create(), chats.create()
        assert ids(chats.list()) == [second.chat_id, first.chat_id]
        chats.touch(first.chat_id)
        assert ids(chats.list()) == [first.chat_id, second.chat_id]
        assert ids(chats.list(limit=1)) == [first.chat_id]

    def test_a_run_brings_its_chat_to_the_front(self, chats: ChatStore, database: Database) -> None:
        first, _ = chats.create(), chats.create()
        ask(chats, database, first.chat_id, "hello")
        assert ids(chats.list())[0] == first.chat_id

    def test_only_the_chats_of_a_notebook_where_one_is_named(self, chats: ChatStore) -> None:
        here, _ = chats.create("a.ipynb"), chats.create("b.ipynb")
        assert ids(chats.list("a.ipynb")) == [here.chat_id]

    def test_chats_of_others_are_left_out_and_those_of_nobody_are_not(
        self, chats: ChatStore
    ) -> None:
        mine, shared, other = chats.create("", "ada"), chats.create(), chats.create("", "eve")
        assert set(ids(chats.list(owner="ada"))) == {mine.chat_id, shared.chat_id}
        assert set(ids(chats.list())) == {mine.chat_id, shared.chat_id, other.chat_id}

    def test_chats_in_which_nothing_was_asked_are_forgotten_after_a_day(
        self, chats: ChatStore, database: Database, clock: Clock
    ) -> None:
        empty, named, used = chats.create(), chats.create(), chats.create()
        chats.rename(named.chat_id, "Kept")
        ask(chats, database, used.chat_id, "hello")
        clock.now += 90_000
        new = chats.create()
        assert set(ids(chats.list())) == {named.chat_id, used.chat_id, new.chat_id}
        assert chats.find(empty.chat_id) is None


class TestSearch:
    @pytest.mark.parametrize(
        "query",
        [
            "REGION",
            "north won",
            "sold 12",
            "quarter",
            '"north"',
            "100%",
            "Überschuss",
            "überschuss",
            "ÜBERSCHUSS",
            "销售",
            "最多 quarter",
            "told",
        ],
    )
    def test_words_of_title_prompts_and_answers_are_found(
        self, chats: ChatStore, database: Database, query: str
    ) -> None:
        chat, other = chats.create(), chats.create()
        ask(chats, database, chat.chat_id, "Which region sold most?", 'The "north" won: 12.')
        ask(chats, database, chat.chat_id, "哪个地区销售最多?", "100% Überschuss")
        chats.rename(chat.chat_id, "Quarter")
        journal = RunStore(database).start(started("?"), replied(AssistantMessage("I told you")))
        chats.add_run(chat.chat_id, journal.run_id)
        ask(chats, database, other.chat_id, "Draw a line", "Done.")
        assert ids(chats.list(query=query)) == [chat.chat_id]

    @pytest.mark.parametrize("query", ["10_%", "status", "completed", "nothing", "region nothing"])
    def test_what_was_not_said_is_not_found(
        self, chats: ChatStore, database: Database, query: str
    ) -> None:
        chat = chats.create()
        ask(chats, database, chat.chat_id, "Which region?", "1000 %")
        assert chats.list(query=query) == ()

    def test_a_row_that_is_no_json_does_not_end_the_search(
        self, chats: ChatStore, database: Database
    ) -> None:
        chat = chats.create()
        run = ask(chats, database, chat.chat_id, "x", "needle")
        row = (run, 99, 0.0, "run_finished", "{needle", "")
        database.write(Statement("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row))
        assert ids(chats.list(query="needle")) == [chat.chat_id]

    def test_it_reads_what_was_said_and_nothing_else(self, database: Database) -> None:
        sql = "SELECT run_id FROM events WHERE kind IN ('model_replied', 'run_finished')"
        plan = " ".join(str(row) for row in database.read(f"EXPLAIN QUERY PLAN {sql}"))
        assert "spoken_events" in plan


class TestNotebooks:
    def test_a_chat_moves_to_another_notebook(self, chats: ChatStore) -> None:
        chat = chats.create("a.ipynb")
        assert chats.move(chat.chat_id, "b.ipynb").notebook_path == "b.ipynb"
        assert chats.list("a.ipynb") == ()

    @pytest.mark.parametrize(
        ("old", "new", "paths"),
        [
            ("a/x.ipynb", "a/y.ipynb", ["a/y.ipynb", "a/b/x.ipynb", "ab/x.ipynb", ""]),
            ("a", "c", ["c/x.ipynb", "c/b/x.ipynb", "ab/x.ipynb", ""]),
            ("a/b", "d", ["a/x.ipynb", "d/x.ipynb", "ab/x.ipynb", ""]),
            ("nowhere", "d", ["a/x.ipynb", "a/b/x.ipynb", "ab/x.ipynb", ""]),
            ("", "d", ["a/x.ipynb", "a/b/x.ipynb", "ab/x.ipynb", ""]),
        ],
    )
    def test_chats_follow_files_and_folders(
        self, chats: ChatStore, old: str, new: str, paths: list[str]
    ) -> None:
        made = [chats.create(path) for path in ("a/x.ipynb", "a/b/x.ipynb", "ab/x.ipynb", "")]
        moved = chats.rename_path(old, new)
        assert [chats.get(chat.chat_id).notebook_path for chat in made] == paths
        assert {chat.notebook_path for chat in moved} <= set(paths)


def test_settings_of_a_chat_are_kept(chats: ChatStore) -> None:
    chat = chats.create()
    chats.keep_settings(chat.chat_id, {"mode": "plan", "model": "模型"})
    assert chats.get(chat.chat_id).settings == {"mode": "plan", "model": "模型"}


class TestDelete:
    def test_a_chat_goes_with_its_runs(self, chats: ChatStore, database: Database) -> None:
        chat, other = chats.create(), chats.create()
        run = ask(chats, database, chat.chat_id, "hello")
        kept = ask(chats, database, other.chat_id, "hello")
        chats.delete(chat.chat_id)
        assert ids(chats.list()) == [other.chat_id]
        assert RunStore(database).events(run) == ()
        assert chats.run_ids(chat.chat_id) == ()
        assert chats.run_ids(other.chat_id) == (kept,)

    def test_a_run_that_is_deleted_by_itself_leaves_its_chat(
        self, chats: ChatStore, database: Database
    ) -> None:
        chat = chats.create()
        first = ask(chats, database, chat.chat_id, "first")
        second = ask(chats, database, chat.chat_id, "second")
        RunStore(database).delete(first)
        assert chats.run_ids(chat.chat_id) == (second,)
        assert chats.get(chat.chat_id).title == "second"

    def test_a_file_that_cannot_be_written_is_told(
        self, chats: ChatStore, database: Database, tmp_path: Path
    ) -> None:
        chat = chats.create()
        other = sqlite3.connect(tmp_path / "runs.sqlite")
        other.execute("BEGIN IMMEDIATE")
        quick = open_database(tmp_path / "runs.sqlite", OpenOptions(busy_seconds=0.05))
        with pytest.raises(StoreError, match=chat.chat_id):
            ChatStore(quick).delete(chat.chat_id)
        other.rollback()
        other.close()
        quick.close()


def test_without_a_file_chats_are_kept_in_memory() -> None:
    database = open_database(None)
    chats = ChatStore(database)
    chat = chats.create("a.ipynb")
    ask(chats, database, chat.chat_id, "hello", "world")
    assert ids(chats.list(query="world")) == [chat.chat_id]
    chats.delete(chat.chat_id)
    assert chats.list() == ()
    database.close()


def test_what_changed_while_the_file_was_locked_counts(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    database = open_database(path, OpenOptions(busy_seconds=0.05, retry_seconds=0.01))
    chats = ChatStore(database)
    chat = chats.create("a.ipynb")
    other = sqlite3.connect(path)
    other.execute("BEGIN IMMEDIATE")
    chats.rename(chat.chat_id, "Renamed")
    chats.add_run(chat.chat_id, "run")
    assert not database.is_durable
    assert chats.get(chat.chat_id).title == "Renamed"
    assert chats.run_ids(chat.chat_id) == ("run",)
    assert len(chats.list()) == 1
    other.rollback()
    other.close()
    database.close()
    again = open_database(path)
    assert ChatStore(again).get(chat.chat_id).title == "Renamed"
    again.close()


def test_threads_add_runs_without_losing_one(chats: ChatStore) -> None:
    chat = chats.create()

    def add(name: str) -> None:
        for number in range(10):
            chats.add_run(chat.chat_id, f"{name}{number}")

    threads = [threading.Thread(target=add, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runs = chats.run_ids(chat.chat_id)
    assert len(runs) == 30
    assert [run for run in runs if run[0] == "a"] == [f"a{n}" for n in range(10)]


def test_a_record_of_an_earlier_version_gets_the_tables_of_chats(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    old = open_database(path, OpenOptions(migrations=(m001_runs_and_events,)))
    run = RunStore(old).start(started("hello")).run_id
    old.close()
    database = open_database(path)
    chats = ChatStore(database)
    chat = chats.create()
    chats.add_run(chat.chat_id, run)
    assert chats.get(chat.chat_id).title == "hello"
    assert database.take_notices() == ()
    database.close()


def test_a_chat_belongs_to_the_file_and_not_to_a_path_that_another_folder_has_too(
    database: Database,
) -> None:
    sales, taxes = (ChatStore(database, root=f"/home/ada/{name}") for name in ("sales", "taxes"))
    chat = sales.create("Untitled.ipynb")
    assert taxes.list() == taxes.list("Untitled.ipynb") == ()
    assert taxes.rename_path("Untitled.ipynb", "a.ipynb") == ()
    assert sales.list("Untitled.ipynb") == sales.list() == (chat,)


def test_a_chat_is_found_by_a_server_that_starts_from_another_folder(database: Database) -> None:
    low = ChatStore(database, root="/home/ada/sales")
    high = ChatStore(database, root="/home/ada")
    first, second = low.create("q1/a.ipynb"), high.create("sales/q1/b.ipynb")
    assert [chat.chat_id for chat in high.list("sales/q1/a.ipynb")] == [first.chat_id]
    assert [chat.chat_id for chat in low.list("q1/b.ipynb")] == [second.chat_id]
    assert high.list("q1/a.ipynb") == low.list("sales/q1/b.ipynb") == ()
    high.rename_path("sales/q1", "sales/q2")
    assert {chat.notebook_path for chat in low.list()} == {"q2/a.ipynb", "q2/b.ipynb"}


def test_a_chat_without_a_notebook_is_everywhere(database: Database) -> None:
    chat = ChatStore(database, root="/home/ada").create()
    assert [found.chat_id for found in ChatStore(database, root="/srv").list()] == [chat.chat_id]


def test_002_14_usage_is_kept_and_neither_keys_nor_favourites_are(database: Database) -> None:
    rows = database.read("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = {str(name) for (name,) in rows}
    assert "usage_calls" in names
    assert not [name for name in names if "key" in name or "favourite" in name]
