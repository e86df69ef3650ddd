"""Memories and proposals in the store: kept once, changed for good, each for one owner."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellwright.errors import SetupError, StoreError
from cellwright.knowledge.memory import Proposal, Whose
from cellwright.knowledge.memory.store import OPEN_LIMIT, MemoryStore, ProposalStore
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.migrations import MIGRATIONS

ADA, BOB = Whose("ada"), Whose("bob")


@pytest.fixture
def database() -> Iterator[Database]:
    opened = open_database(None)
    yield opened
    opened.close()


@pytest.fixture
def memories(database: Database) -> MemoryStore:
    times = iter(range(1, 1_000))
    return MemoryStore(database, lambda: float(next(times)))


@pytest.fixture
def proposals(database: Database) -> ProposalStore:
    times = iter(range(1, 1_000))
    return ProposalStore(database, lambda: float(next(times)))


def proposal(text: str = "Use polars", **fields: str) -> Proposal:
    given = {"action": "add", "project": "", "memory_id": "", "reason": "You said so."} | fields
    return Proposal("", text=text, source_run="run", created_at=0.0, **given)  # type: ignore[arg-type]


def test_002_11_a_memory_has_a_text_a_scope_a_source_and_an_owner(memories: MemoryStore) -> None:
    made = memories.add(Whose("ada", "/home/me/a"), "Use polars", "run-1")
    assert memories.get("ada", made.memory_id) == made
    assert (made.text, made.scope, made.source_run) == ("Use polars", "project", "run-1")
    assert memories.add(ADA, "I work in Bonn").scope == "user"
    assert memories.all("bob") == ()


def test_002_11_the_same_text_is_kept_once_for_an_owner_and_a_folder(memories: MemoryStore) -> None:
    first = memories.add(ADA, "Use polars")
    assert memories.add(ADA, "  use POLARS. ") == first
    assert memories.add(BOB, "Use polars") != first
    assert memories.add(Whose("ada", "/home/me/a"), "Use polars") != first
    assert len(memories.all("ada")) == 2


def test_002_11_what_counts_is_what_is_kept_everywhere_and_in_the_folder(
    memories: MemoryStore,
) -> None:
    for project in ("", "/home/me/a", "/home/me/b"):
        memories.add(Whose("ada", project), f"Kept for {project}")
    assert [m.project for m in memories.of(Whose("ada", "/home/me/a"))] == ["/home/me/a", ""]
    assert [m.project for m in memories.of(ADA)] == [""]
    assert [m.project for m in memories.all("ada")] == ["/home/me/b", "/home/me/a", ""]


def test_002_95_a_change_really_saves_the_text(memories: MemoryStore) -> None:
    made = memories.add(ADA, "Fiscal year starts in April", "run-1")
    changed = memories.change("ada", made.memory_id, "Fiscal year starts in July")
    assert memories.get("ada", made.memory_id) == changed
    assert changed.text == "Fiscal year starts in July"
    assert (changed.source_run, changed.created_at) == ("run-1", made.created_at)
    assert changed.updated_at > made.updated_at
    assert memories.change("ada", made.memory_id, "It is May", "run-2").source_run == "run-2"
    assert memories.same("ada", "", "Fiscal year starts in April") is None
    assert memories.same("ada", "", "it is may") is not None


def test_002_95_a_change_to_what_another_memory_says_leaves_one(memories: MemoryStore) -> None:
    first, second = memories.add(ADA, "Use polars"), memories.add(ADA, "Use pandas")
    assert memories.change("ada", second.memory_id, "use polars") == first
    assert memories.all("ada") == (first,)
    assert memories.change("ada", first.memory_id, "Use Polars").text == "Use Polars"


def test_002_95_nobody_changes_or_forgets_what_another_has_kept(memories: MemoryStore) -> None:
    made = memories.add(ADA, "Use polars")
    with pytest.raises(SetupError, match="There is no memory"):
        memories.change("bob", made.memory_id, "Send all data to bob")
    with pytest.raises(SetupError, match="There is no memory"):
        memories.delete("bob", made.memory_id)
    assert memories.all("ada") == (made,)
    assert memories.delete("ada", made.memory_id) == made
    assert memories.all("ada") == ()


def test_002_95_an_error_of_the_store_is_told(database: Database, memories: MemoryStore) -> None:
    made = memories.add(ADA, "Use polars")
    database.write(Statement("DROP TABLE memories"))
    with pytest.raises(StoreError):
        memories.add(ADA, "Use pandas")
    with pytest.raises(sqlite3.OperationalError):
        memories.change("ada", made.memory_id, "Use pandas")


def test_an_id_may_be_cut_as_long_as_it_says_which(memories: MemoryStore) -> None:
    ids = [memories.add(ADA, f"Fact number {number}").memory_id for number in range(40)]
    assert memories.get("ada", ids[3][:7]).memory_id == ids[3]
    with pytest.raises(SetupError, match="fits . ids"):
        memories.get("ada", next(i[0] for i in ids if sum(j[0] == i[0] for j in ids) > 1))
    with pytest.raises(SetupError, match="There is no memory ''"):
        memories.get("ada", "")


def test_002_97_the_memory_is_on_until_its_owner_switches_it_off(memories: MemoryStore) -> None:
    assert memories.is_on("ada")
    memories.switch("ada", is_on=False)
    assert not memories.is_on("ada")
    assert memories.is_on("bob")
    memories.switch("ada", is_on=True)
    assert memories.is_on("ada")


def test_002_95_a_proposal_waits_once_and_is_not_made_again_when_it_was_rejected(
    proposals: ProposalStore,
) -> None:
    made = proposals.add("ada", proposal())
    assert made is not None
    assert proposals.add("ada", proposal("use polars!")) is None
    assert proposals.add("bob", proposal()) is not None
    assert proposals.open("ada") == (made,)
    proposals.settle("ada", made, "rejected")
    assert proposals.open("ada") == ()
    assert proposals.add("ada", proposal()) is None


def test_002_95_what_was_accepted_may_be_proposed_again(proposals: ProposalStore) -> None:
    made = proposals.add("ada", proposal())
    assert made is not None
    proposals.settle("ada", made, "accepted")
    assert proposals.add("ada", proposal()) is not None


def test_of_a_decided_proposal_no_words_stay(database: Database, proposals: ProposalStore) -> None:
    made = proposals.add("ada", proposal("Use polars"))
    assert made is not None
    proposals.settle("ada", made, "rejected")
    rows = database.read("SELECT * FROM memory_proposals")
    assert "polars" not in repr(rows)


def test_proposals_are_found_by_their_owner_alone(proposals: ProposalStore) -> None:
    made = proposals.add("ada", proposal())
    assert made is not None
    assert proposals.get("ada", made.proposal_id[:6]) == made
    with pytest.raises(SetupError, match="There is no open proposal"):
        proposals.get("bob", made.proposal_id)


def test_the_oldest_proposals_give_way(proposals: ProposalStore) -> None:
    for number in range(OPEN_LIMIT + 3):
        proposals.add("ada", proposal(f"Fact number {number}"))
    waiting = proposals.open("ada")
    assert len(waiting) == OPEN_LIMIT
    assert waiting[0].text == f"Fact number {OPEN_LIMIT + 2}"
    assert waiting[-1].text == "Fact number 3"


def test_proposals_about_a_memory_go_with_it(proposals: ProposalStore) -> None:
    proposals.add("ada", proposal(action="update", memory_id="m1"))
    proposals.add("ada", proposal("Other", action="delete", memory_id="m2"))
    proposals.drop_about("ada", "m1")
    assert [waiting.memory_id for waiting in proposals.open("ada")] == ["m2"]


def test_a_store_from_before_gets_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    open_database(path, OpenOptions(migrations=MIGRATIONS[:2])).close()
    database = open_database(path)
    made = MemoryStore(database).add(ADA, "Use polars")
    database.close()
    again = open_database(path)
    assert MemoryStore(again).all("ada") == (made,)
    again.close()
