"""Which runs say a word, in their prompt or in what the model answered."""

from __future__ import annotations

from cellwright.store.database import Database

__all__ = ["runs_that_say"]

PROMPTS = "SELECT run_id FROM runs WHERE {}"
ANSWERS = """SELECT DISTINCT run_id FROM events
    WHERE kind IN ('model_replied', 'run_finished') AND json_valid(data) AND ({})"""
ANSWER_PATHS = ("$.message.text", "$.answer")


def runs_that_say(database: Database, word: str) -> frozenset[str]:
    """Ids of the runs with ``word``, or a part of a word that is like it, in any case."""
    patterns = [f"%{_escaped(form)}%" for form in _forms(word)]
    prompts = _any_like("prompt", patterns)
    answers = " OR ".join(
        _any_like(f"json_extract(data, '{path}')", patterns) for path in ANSWER_PATHS
    )
    rows = database.read(PROMPTS.format(prompts), patterns)
    rows += database.read(ANSWERS.format(answers), patterns * len(ANSWER_PATHS))
    return frozenset(str(run_id) for (run_id,) in rows)


def _any_like(value: str, patterns: list[str]) -> str:
    return " OR ".join([f"{value} LIKE ? ESCAPE '\\'"] * len(patterns))


def _forms(word: str) -> tuple[str, ...]:
    # SQLite's LIKE knows upper and lower case of A to Z alone.
    if word.isascii():
        return (word,)
    return tuple(dict.fromkeys((word, word.lower(), word.upper(), word.capitalize())))


def _escaped(text: str) -> str:
    for sign in ("\\", "%", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text
