"""What became of the cells a run made."""

from __future__ import annotations

import pytest
from recorded_runs import started

from cellwright.errors import SetupError
from cellwright.store.database import Database
from cellwright.store.runs import CellReviews, RunStore


def test_a_later_word_replaces_an_earlier_one(database: Database) -> None:
    fates = CellReviews(database)
    fates.set("run", {"a": "saved", "b": "deleted"})
    fates.set("run", {"a": "discarded"})
    fates.set("run", {})
    assert fates.of("run") == {"a": "discarded", "b": "deleted"}
    assert fates.of("another") == {}


def test_an_unknown_fate_is_refused_and_nothing_is_kept(database: Database) -> None:
    fates = CellReviews(database)
    with pytest.raises(SetupError, match="'eaten'"):
        fates.set("run", {"a": "saved", "b": "eaten"})
    assert fates.of("run") == {}


def test_fates_go_with_their_run(database: Database) -> None:
    store, fates = RunStore(database), CellReviews(database)
    journal = store.start(started())
    fates.set(journal.run_id, {"a": "saved"})
    journal.record(started())
    assert fates.of(journal.run_id) == {"a": "saved"}
    store.delete(journal.run_id)
    assert fates.of(journal.run_id) == {}
