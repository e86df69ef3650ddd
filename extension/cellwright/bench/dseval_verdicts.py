"""DSEval's verdict on a question, out of what its validators found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CRASHES = {
    "ModuleNotFoundError": "MODULE_NOT_FOUND",
    "KeyError": "KEY_ERROR",
    "TypeError": "TYPE_ERROR",
    "ValueError": "VALUE_ERROR",
    "NameError": "NAME_ERROR",
    "AttributeError": "ATTRIBUTE_ERROR",
}
MISMATCHES = {
    "SHAPE_MISMATCH": ("shape mismatch",),
    "DTYPE_MISMATCH": ('"dtype" are different',),
    "COLUMNS_MISMATCH": ("columns are different",),
    "VALUE_MISMATCH": (
        "Wrong value",
        "values are different",
        "Series are different",
        "Length mismatch",
        "Keys mismatch",
    ),
    "UNEXPECTED_TYPE": ("Wrong type", "Mismatched type"),
}
PRESENTATIONS = {
    "PARTIAL_MATCH": "It is in ",
    "MISSING_RETURN": "it is not returned",
    "NON_CODE": "stands in the code",
}
WRONG = {
    "namespace_check": "WRONG_VARIABLES",
    "result": "WRONG_OUTPUT",
    "model": "BAD_MODEL",
    "table_test": "UNIT_TEST_FAILURE",
}
PLAIN = "UNCATEGORIZED"
TIMEOUT = "TimeLimitError"


@dataclass(frozen=True)
class Verdict:
    """One word on a question, a finer one, and why."""

    word: str
    finer: str = PLAIN
    why: str = ""

    @property
    def value(self) -> float:
        """1 where it is right, 0.5 where only its form is wrong."""
        return {"CORRECT": 1.0, "PRESENTATION_ERROR": 0.5}.get(self.word, 0.0)

    def __str__(self) -> str:
        finer = "" if self.finer == PLAIN else f" {self.finer}"
        return f"{self.word}{finer}: {self.why}" if self.why else f"{self.word}{finer}"


def verdict_of(finding: Any) -> Verdict:
    """The verdict.

    Args:
        finding: ``[grade, category, reason, parts]``, and its parts the same.
    """
    if finding[0] == "yes":
        return Verdict("CORRECT")
    wrong = [found for found in _leaves(finding) if found[0] != "yes"]
    severe = {category for grade, category, *_ in wrong if grade == "no"}
    if finding[0] == "no" and "crash" in severe:
        return _crashed(next(found[2] for found in wrong if found[1] == "crash"))
    if severe == {"namespace_intact"}:
        return Verdict("INTACT_VIOLATION", why=wrong[0][2])
    if finding[0] == "partial":
        return _presented(wrong)
    for category, word in WRONG.items():
        reasons = [found[2] for found in wrong if found[1] == category]
        if reasons:
            return Verdict(word, _mismatch(" ".join(reasons)), "; ".join(reasons))
    return Verdict("UNKNOWN", why="; ".join(found[2] for found in wrong))


def _leaves(finding: Any) -> Iterator[Any]:
    """The findings that are no sums of others."""
    parts = finding[3]
    if not parts:
        yield finding
    for part in parts:
        yield from _leaves(part)


def _crashed(reason: str) -> Verdict:
    names = [word for word in reason.replace(":", " ").split() if word.endswith("Error")]
    name = names[0] if names else ""
    if name in ("SyntaxError", TIMEOUT):
        return Verdict("SYNTAX_ERROR" if name == "SyntaxError" else "TIMEOUT", why=reason)
    return Verdict("CRASH", CRASHES.get(name, PLAIN), reason)


def _presented(wrong: list[Any]) -> Verdict:
    reasons = [found[2] for found in wrong]
    for reason in reasons:
        for finer, mark in PRESENTATIONS.items():
            if mark in reason:
                return Verdict("PRESENTATION_ERROR", finer, reason)
    return Verdict("PRESENTATION_ERROR", "INDEX_MISMATCH", reasons[-1])


def _mismatch(reason: str) -> str:
    for finer, marks in MISMATCHES.items():
        if any(mark in reason for mark in marks):
            return finer
    return PLAIN
