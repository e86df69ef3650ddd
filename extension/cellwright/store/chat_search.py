"""Which runs say a word, in their prompt or in what the model answered.

Words of three characters and more are looked up in an index of trigrams, so Chinese and code are
found like anything else; shorter words are looked for in the texts themselves. The index lies in a
file of its own beside the record. It is made and caught up by whoever searches: writing the record
costs nothing for it, and where it cannot be used (an SQLite without FTS5, a record in memory) the
record itself is read.
"""

from __future__ import annotations

from cellwright.store.database import Database
from cellwright.store.search_index import SearchIndex, like_patterns

PROMPTS = "SELECT run_id FROM runs WHERE {}"
ANSWERS = """SELECT DISTINCT run_id FROM events
    WHERE kind IN ('model_replied', 'run_finished') AND json_valid(data) AND ({})"""
ANSWER_PATHS = ("$.message.text", "$.answer")


def runs_that_say(database: Database, word: str) -> frozenset[str]:
    """Ids of the runs with ``word``, or a part of a word that is like it, in any case."""
    found = SearchIndex(database).runs_that_say(word)
    return _scanned(database, word) if found is None else found


def forget_words(database: Database) -> None:
    """Take out of the index what the record does not have any more."""
    SearchIndex(database).forget()


def _scanned(database: Database, word: str) -> frozenset[str]:
    patterns = like_patterns(word)
    prompts = _any_like("prompt", patterns)
    answers = " OR ".join(
        _any_like(f"json_extract(data, '{path}')", patterns) for path in ANSWER_PATHS
    )
    rows = database.read(PROMPTS.format(prompts), patterns)
    rows += database.read(ANSWERS.format(answers), patterns * len(ANSWER_PATHS))
    return frozenset(str(run_id) for (run_id,) in rows)


def _any_like(value: str, patterns: list[str]) -> str:
    return " OR ".join([f"{value} LIKE ? ESCAPE '\\'"] * len(patterns))
