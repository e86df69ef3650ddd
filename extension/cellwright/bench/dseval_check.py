"""A question of DSEval, scored by its own validators and by DSEval's rules for a verdict.

The reference and the validators run in a kernel that the agent never touched, where the same setup
has run. What the reference did is held against what the agent did: the result of its last cell, and
the variables, which leave its kernel as data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.bench import (
    author_tests,
    dseval_matching,
    dseval_state,
    dseval_validators,
    value_data,
)
from cellwright.bench.scenes import (
    ApartTest,
    BrokenSampleError,
    CheckError,
    CheckFinding,
    ScoringContext,
    found_wrong,
    printed,
    run_apart,
)

# DSEval's verdict on a question, out of what its validators found.


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


CHECK_SECONDS = 600.0
EXPLANATION_CHARACTERS = 600
VALIDATORS = ApartTest(
    (value_data, author_tests, dseval_matching, dseval_validators, dseval_state),
    "begin_question",
    "answer_question",
)


@dataclass(frozen=True)
class DsevalQuestion:
    """The agent did what the reference does."""

    reference: str
    """Code that answers the question."""
    validator: Mapping[str, Any]
    """DSEval's validators with their settings."""
    forbidden: tuple[str, ...] = ()
    """Variables the answer may not use."""
    limit_seconds: float = 10.0
    """For all its cells together."""
    kind: Literal["dseval"] = field(default="dseval", init=False)
    score_name = "dseval"


def state_cell(forbidden: tuple[str, ...] = ()) -> str:
    """The last cell of the setup: it keeps the state before the question."""
    space = (
        f"{{'name': {dseval_state.HELD!r}, 'space': globals(), 'forbidden': {list(forbidden)!r}, "
        f"'own': __import__('re').compile({dseval_state.OWN.pattern!r}).fullmatch}}"
    )
    return f"exec({dseval_state.TAKEN!r}, {space})"


def find_dseval(check: DsevalQuestion, scene: ScoringContext) -> CheckFinding:
    """Ask the validators; the explanation begins with DSEval's verdict.

    Raises:
        BrokenSampleError: The reference does not run in this kernel.
    """
    last = scene.cells[-1] if scene.cells else None
    arguments = {
        "reference": check.reference,
        "validator": dict(check.validator),
        "forbidden": list(check.forbidden),
        "source": last.source if last is not None else "",
        "stream": printed((last,), ("stdout", "stderr")) if last is not None else "",
        "count": last.execution_count if last is not None else None,
        "error": _error(check, scene),
    }
    ended = run_apart(scene, VALIDATORS, arguments, CHECK_SECONDS)
    if ended.how == "failed":
        return found_wrong(ended.text)
    if ended.how != "passed":
        raise CheckError(ended.text)
    if isinstance(ended.found, str):
        raise BrokenSampleError(f"The reference does not run here: {ended.found}")
    verdict = verdict_of(ended.found)
    changed = scene.tampering() if verdict.value else ()
    if changed:  # which variables are the same objects as before is the agent's word
        return CheckFinding(0.0, f"tampered with: {', '.join(changed)}"[:EXPLANATION_CHARACTERS])
    return CheckFinding(verdict.value, str(verdict)[:EXPLANATION_CHARACTERS])


def _error(check: DsevalQuestion, scene: ScoringContext) -> str:
    """Why the agent's last cell did not end as it should."""
    if not scene.cells:
        return ""
    last, seconds = scene.cells[-1], sum(cell.seconds for cell in scene.cells)
    if last.status == "timeout" or seconds > check.limit_seconds:
        return f"{TIMEOUT}: {seconds:.1f} s; the limit is {check.limit_seconds:g} s"
    if last.status != "ok":
        return last.error or last.status
    return ""
