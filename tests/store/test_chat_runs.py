"""Runs that took the place of others, branches that share runs, and one run at a time in a chat."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from recorded_runs import replied, started

from cellwright.errors import SetupError, StoreError
from cellwright.record.events import RunFinished, TextDelta
from cellwright.record.messages import AssistantMessage
from cellwright.store.chat_rows import guest_owner, is_guest, may_open
from cellwright.store.chats import ChatStore, before
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.migrations import m001_runs_and_events, m002_chats
from cellwright.store.process_claims import ChatBusyError, ChatClaims
from cellwright.store.runs import RunStore

DAY = 86_400.0


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def chats(database: Database, clock: Clock) -> ChatStore:
    return ChatStore(database, clock)


@pytest.fixture
def chat(chats: ChatStore) -> str:
    return chats.create("a.ipynb").chat_id


def asked(
    chats: ChatStore, database: Database, chat: str, prompt: str, supersedes: str = ""
) -> str:
    journal = RunStore(database).start(started(prompt), replied(AssistantMessage("yes")))
    journal.record(RunFinished("completed", "yes"))
    chats.add_run(chat, journal.run_id, supersedes)
    return journal.run_id


class TestSuperseding:
    def test_002_54_a_run_takes_the_place_of_another_and_all_that_followed(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        first, second, third = (asked(chats, database, chat, name) for name in "abc")
        again = asked(chats, database, chat, "b, please", supersedes=second)
        assert chats.run_ids(chat) == (first, second, third, again)
        assert chats.active_run_ids(chat) == (first, again)
        assert [run.superseded_by for run in chats.runs(chat)] == ["", again, again, ""]
        assert chats.get(chat).run_count == 2
        assert RunStore(database).record(second).prompt == "b", "nothing is deleted"

    def test_one_that_was_superseded_before_keeps_what_took_its_place_then(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        first = asked(chats, database, chat, "a")
        second = asked(chats, database, chat, "a again", supersedes=first)
        third = asked(chats, database, chat, "a once more", supersedes=second)
        assert [run.superseded_by for run in chats.runs(chat)] == [second, third, ""]
        assert chats.get(chat).title == "a once more"

    def test_a_run_that_the_chat_does_not_have_is_superseded_by_none(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        first = asked(chats, database, chat, "a")
        second = asked(chats, database, chat, "b", supersedes="another")
        assert chats.active_run_ids(chat) == (first, second)
        chats.add_run(chat, second, second)
        assert chats.active_run_ids(chat) == (first, second), "nothing takes its own place"

    def test_what_came_before_a_run_is_what_counts_of_it(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        first, second = (asked(chats, database, chat, name) for name in "ab")
        third = asked(chats, database, chat, "b2", supersedes=second)
        assert before(chats.runs(chat), third) == (first,)
        assert before(chats.runs(chat), "") == (first, third)

    def test_002_54_a_question_without_any_answer_is_told(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        assert chats.unanswered(chat) == ""
        asked(chats, database, chat, "a")
        assert chats.unanswered(chat) == ""
        journal = RunStore(database).start(started("b"))
        journal.record(RunFinished("task error", cause="connection"))
        chats.add_run(chat, journal.run_id)
        assert chats.unanswered(chat) == journal.run_id
        asked(chats, database, chat, "b", supersedes=journal.run_id)
        assert chats.unanswered(chat) == ""

    def test_002_54_a_run_that_said_something_before_it_failed_is_answered(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        journal = RunStore(database).start(started("b"), replied(AssistantMessage("half")))
        journal.record(RunFinished("task error"))
        chats.add_run(chat, journal.run_id)
        assert chats.unanswered(chat) == ""

    def test_002_54_a_run_that_was_stopped_in_its_answer_is_answered(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        journal = RunStore(database).start(started("b"), TextDelta("Half an"))
        journal.record(RunFinished("cancelled", cause="stopped"))
        chats.add_run(chat, journal.run_id)
        assert chats.unanswered(chat) == ""

    def test_a_run_of_which_nothing_was_written_is_no_question(
        self, chats: ChatStore, chat: str
    ) -> None:
        chats.add_run(chat, "not-written")
        assert chats.unanswered(chat) == ""

    def test_it_counts_while_the_file_is_locked(self, tmp_path: Path) -> None:
        path = tmp_path / "locked.sqlite"
        database = open_database(path, OpenOptions(busy_seconds=0.05, retry_seconds=0.01))
        chats = ChatStore(database)
        chat = chats.create().chat_id
        first = asked(chats, database, chat, "a")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            second = asked(chats, database, chat, "a again", supersedes=first)
            assert chats.run_ids(chat) == (first, second)
            assert chats.active_run_ids(chat) == (second,)
            other.execute("ROLLBACK")
        database.close()
        again = open_database(path)
        assert ChatStore(again).active_run_ids(chat) == (second,)
        again.close()


class TestBranches:
    def test_a_branch_has_what_was_said_until_then(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        first, second, third = (asked(chats, database, chat, name) for name in "abc")
        branch = chats.branch(chat, second, "ada")
        assert chats.run_ids(branch.chat_id) == (first, second)
        assert (branch.title, branch.notebook_path) == ("a (branch)", "a.ipynb")
        assert (branch.owner, branch.branched_from) == ("ada", chat)
        mine = asked(chats, database, branch.chat_id, "d")
        assert chats.run_ids(chat) == (first, second, third)
        assert chats.active_run_ids(branch.chat_id) == (first, second, mine)
        assert (chats.chat_of(first), chats.chat_of(mine)) == (chat, branch.chat_id)

    def test_a_branch_from_what_was_superseded_goes_on_from_there(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        first, second, third = (asked(chats, database, chat, name) for name in "abc")
        again = asked(chats, database, chat, "b2", supersedes=second)
        assert chats.run_ids(chats.branch(chat, third).chat_id) == (first, second, third)
        assert chats.run_ids(chats.branch(chat, again).chat_id) == (first, again)

    def test_the_title_of_a_branch_stays_a_title(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        run = asked(chats, database, chat, "word " * 30)
        branch = chats.branch(chat, run)
        assert len(branch.title) <= 60
        assert branch.title.endswith("… (branch)")
        assert chats.branch(branch.chat_id, run).title == branch.title

    def test_a_run_of_another_chat_is_no_place_to_branch_from(
        self, chats: ChatStore, chat: str
    ) -> None:
        with pytest.raises(SetupError, match="'nowhere'"):
            chats.branch(chat, "nowhere")

    def test_runs_go_with_the_last_chat_that_has_them(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        first, second = (asked(chats, database, chat, name) for name in "ab")
        branch = chats.branch(chat, first)
        chats.delete(chat)
        assert RunStore(database).events(second) == ()
        assert RunStore(database).record(first).prompt == "a"
        chats.delete(branch.chat_id)
        assert RunStore(database).events(first) == ()


class TestLimits:
    def test_002_04_a_title_that_a_person_gives_has_at_most_60_characters(
        self, chats: ChatStore, chat: str
    ) -> None:
        assert chats.rename(chat, "x" * 60).title == "x" * 60
        with pytest.raises(SetupError, match="61 characters"):
            chats.rename(chat, "x" * 61)

    def test_002_33_a_chat_has_instructions_of_its_own(self, chats: ChatStore, chat: str) -> None:
        assert chats.instruct(chat, " Answer in verse. ").prompt == "Answer in verse."
        assert chats.instruct(chat, "x" * 1_024).prompt == "x" * 1_024
        with pytest.raises(SetupError, match="1025 characters"):
            chats.instruct(chat, "x" * 1_025)
        assert chats.instruct(chat, "").prompt == ""

    @pytest.mark.parametrize("moment", [1.0, 1_000.0, 2_145_916_800.0, float("nan"), float("inf")])
    def test_002_04_a_chat_expires_in_time_to_come_before_2038(
        self, chats: ChatStore, chat: str, moment: float
    ) -> None:
        with pytest.raises(SetupError, match="cannot expire"):
            chats.expire(chat, moment)

    def test_002_04_an_expired_chat_cannot_be_loaded(
        self, chats: ChatStore, clock: Clock, chat: str
    ) -> None:
        assert chats.expire(chat, 2_000.0).expires_at == 2_000.0
        clock.now = 2_000.0
        assert chats.find(chat) is None
        assert chats.list() == ()
        with pytest.raises(SetupError):
            chats.get(chat)

    def test_002_04_expired_chats_go_at_most_so_many_at_a_time(
        self, chats: ChatStore, database: Database, clock: Clock, chat: str
    ) -> None:
        gone = [chats.create().chat_id for _ in range(5)]
        for chat_id in gone:
            chats.expire(chat_id, 2_000.0)
        run = asked(chats, database, gone[0], "a")
        assert chats.purge_expired() == 0
        clock.now = 2_001.0
        assert chats.purge_expired(may_go_on=lambda: False) == 0
        assert chats.purge_expired(limit=3) == 3
        assert chats.purge_expired(limit=3) == 2
        assert RunStore(database).events(run) == ()
        assert [found.chat_id for found in chats.list()] == [chat]

    def test_002_04_a_chat_that_expires_while_it_runs_stays_until_the_run_ends(
        self, chats: ChatStore, clock: Clock, chat: str
    ) -> None:
        chats.expire(chat, 2_000.0)
        clock.now = 2_001.0
        with chats.claims.held(chat):
            assert chats.purge_expired() == 0
        assert chats.purge_expired() == 1

    def test_changes_of_different_fields_do_not_undo_each_other(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        other = ChatStore(database)
        known = chats.get(chat)
        other.rename(chat, "Named elsewhere")
        chats.move(known.chat_id, "b.ipynb")
        chats.touch(chat)
        assert (chats.get(chat).title, chats.get(chat).notebook_path) == (
            "Named elsewhere",
            "b.ipynb",
        )


class TestGuests:
    def test_002_05_a_guests_chat_is_gone_after_a_day(self, chats: ChatStore, clock: Clock) -> None:
        guest = guest_owner("eve")
        chat = chats.create("a.ipynb", guest)
        assert (chat.is_guest, chat.expires_at) == (True, 1_000.0 + DAY)
        clock.now += DAY
        assert chats.find(chat.chat_id) is None

    def test_002_05_a_guest_opens_only_chats_of_their_own(self, chats: ChatStore) -> None:
        eve, bob = guest_owner("eve"), guest_owner("bob")
        shared, mine = chats.create(), chats.create(owner=eve)
        assert [chat.chat_id for chat in chats.list(owner=eve)] == [mine.chat_id]
        assert chats.list(owner=bob) == ()
        assert [chat.chat_id for chat in chats.list(owner="ada")] == [shared.chat_id]
        assert may_open("ada", "ada")
        assert not may_open("eve", eve)

    def test_002_05_the_name_of_a_guest_has_at_most_32_characters(self) -> None:
        assert guest_owner("n" * 32) == "guest:" + "n" * 32
        long = guest_owner("n" * 33)
        assert len(long) == len("guest:") + 32
        assert long != guest_owner("n" * 34)
        assert is_guest(long)


class TestClaims:
    def test_002_80_one_program_at_a_time_answers_in_a_chat(
        self, chats: ChatStore, database: Database, chat: str
    ) -> None:
        other = ChatClaims(database)
        with chats.claims.held(chat):
            assert other.is_held(chat)
            with pytest.raises(ChatBusyError, match="Another program"), other.held(chat):
                pass
            with other.held("another chat"):
                pass
        assert not other.is_held(chat)
        with other.held(chat):
            pass

    def test_002_80_a_process_that_died_holds_nothing(
        self, chats: ChatStore, chat: str, tmp_path: Path
    ) -> None:
        code = (
            "import os, sys; from pathlib import Path\n"
            "from cellwright.store.chats import ChatStore\n"
            "from cellwright.store.database import open_database\n"
            "ChatStore(open_database(Path(sys.argv[1]))).claims.take(sys.argv[2])\n"
            "os._exit(1)"
        )
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "runs.sqlite"), chat])
        assert not chats.claims.is_held(chat)
        with chats.claims.held(chat):
            assert chats.claims.is_held(chat)

    def test_002_80_one_on_another_machine_holds_as_long_as_it_writes(
        self, chats: ChatStore, database: Database, clock: Clock, chat: str
    ) -> None:
        owner = json.dumps({"host": "another", "pid": 1})
        sql = "INSERT INTO chat_claims VALUES (?, 'theirs', ?, ?)"
        database.write(Statement(sql, (chat, owner, clock.now)))
        assert chats.claims.is_held(chat)
        clock.now += 3_601
        assert not chats.claims.is_held(chat)
        run = asked(chats, database, chat, "a")
        database.write(Statement("UPDATE runs SET last_at = ? WHERE run_id = ?", (clock.now, run)))
        assert chats.claims.is_held(chat), "it writes"

    def test_a_claim_that_cannot_be_written_stands_in_nobodys_way(self) -> None:
        database = open_database(None)
        with ChatClaims(database).held("chat"):
            assert ChatClaims(database).is_held("chat")
        assert not ChatClaims(database).is_held("chat")
        database.close()


def test_a_record_with_chats_of_an_earlier_version_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    old = open_database(path, OpenOptions(migrations=(m001_runs_and_events, m002_chats)))
    run = RunStore(old).start(started("hello")).run_id
    old.write(
        Statement("INSERT INTO chats VALUES ('c', 'Kept', '', 'a.ipynb', 'ada', 1, 2, '{}')"),
        Statement("INSERT INTO chat_runs VALUES ('c', ?, 1)", (run,)),
    )
    old.close()
    database = open_database(path)
    chats = ChatStore(database)
    kept = chats.get("c")
    assert (kept.title, kept.owner, kept.prompt, kept.expires_at) == ("Kept", "ada", "", 0.0)
    assert chats.active_run_ids("c") == (run,)
    RunStore(database).delete(run)
    assert chats.run_ids("c") == ()
    with pytest.raises(StoreError):
        database.write(Statement("INSERT INTO chats (chat_id) VALUES ('c')"))
    database.close()
