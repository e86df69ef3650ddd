"""What runs were found worth, kept beside their events."""

from __future__ import annotations

from pathlib import Path

from recorded_runs import analysis_run, started

from cellwright.exports.sampling import sample_of
from cellwright.record.run_record import Score
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore

UP = Score("thumb", 1.0, passed=True, explanation="clear")
CHECK = Score("three", 0.5, passed=False, points=4.0, expected="3", code="assert x == 3")


def test_scores_are_in_the_record_and_its_sample(database: Database) -> None:
    store = RunStore(database)
    journal = store.start(started())
    assert store.record(journal.run_id).scores == ()
    store.scores.give(journal.run_id, Score("thumb", 0.0, passed=False))
    store.scores.give(journal.run_id, UP, CHECK)
    record = store.record(journal.run_id)
    assert set(record.scores) == {UP, CHECK}
    assert set(sample_of(record, "s").scores) == {UP, CHECK}
    store.scores.withdraw(journal.run_id, "thumb")
    assert store.scores.of(journal.run_id) == (CHECK,)
    store.scores.withdraw(journal.run_id, "")
    assert store.scores.of(journal.run_id) == ()


def test_scores_go_with_their_run_and_stay_when_it_goes_on(database: Database) -> None:
    store = RunStore(database)
    journal = store.start(started())
    store.scores.give(journal.run_id, UP)
    journal.record(started())
    assert store.scores.of(journal.run_id) == (UP,)
    store.delete(journal.run_id)
    assert store.scores.of(journal.run_id) == ()


def test_a_record_of_one_run_takes_its_scores_along(database: Database, tmp_path: Path) -> None:
    store = RunStore(database)
    journal = store.start()
    journal.record(*analysis_run())
    store.scores.give(journal.run_id, UP)
    store.write_to(journal.run_id, tmp_path / "one.sqlite")
    other = open_database(tmp_path / "one.sqlite")
    assert RunStore(other).record(journal.run_id).scores == (UP,)
    other.close()
