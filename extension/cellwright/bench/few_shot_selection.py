"""Which recorded samples become examples: scored, good enough, and never from a held-out suite."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.agent.typed_answers import words_of
from cellwright.bench.results import samples_in
from cellwright.context.few_shot import TOKEN_LIMIT, Demo, DemoSet
from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord
from cellwright.record.run_record import list_checks
from cellwright.record.values import json_or_none
from cellwright.tools.structured_output import HandIn

PUBLIC_SUITES = frozenset({"ds1000", "dseval", "dseval-errors", "humaneval"})
"""By name, since their loaders need not be here; a test holds it to what ``bench`` knows."""
HELD_OUT = re.compile(r"held[-_ ]?out", re.IGNORECASE)
RULE = re.compile(r"\s*(>=|<=|==|=|>|<|)\s*(\d+(?:\.\d+)?)\s*")
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
    "==": operator.eq, "=": operator.eq, "": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """Which scores are good enough."""

    sign: str = ">="
    bound: float = 1.0

    def takes(self, score: float) -> bool:
        """Whether a score is."""
        return COMPARISONS[self.sign](score, self.bound)


def read_rule(text: str) -> Rule:
    """The rule that ``">=1"`` or ``"0.5"`` says; a number alone is a lower bound.

    Raises:
        SetupError: It says none.
    """
    found = RULE.fullmatch(text)
    if found is None:
        raise SetupError(f"{text!r} is no rule for scores.", hint='Write it like ">=1" or ">0.5".')
    return Rule(found[1], float(found[2]))


@dataclass(frozen=True)
class Selection:
    """What was chosen, and of how many."""

    chosen: DemoSet
    scored: int = 0
    """Samples that have a score."""
    held_out: int = 0
    """Samples that were left alone because their suite is for measuring."""


def samples_under(path: Path) -> Iterator[SampleRecord]:
    """The samples of every ``runs.jsonl`` in a folder, or of one such file.

    Raises:
        SetupError: There is none.
    """
    files = sorted(path.glob("**/runs.jsonl")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise SetupError(
            f"There are no results in {str(path)!r}.",
            hint="Name a folder that `cellwright bench run` wrote.",
        )
    for file in files:
        yield from samples_in(file)


def select(
    samples: Iterable[SampleRecord], rule: Rule, limit: int, token_limit: int = TOKEN_LIMIT
) -> Selection:
    """The best samples within a number and a budget of tokens.

    The order is that of the scores, then of the length, then of the names: the same samples give
    the same examples, whatever order they come in, and a greater limit only adds at the end.
    """
    scored = held_out = 0
    good: dict[str, Demo] = {}
    for sample in samples:
        score = score_of(sample)
        if score is None:
            continue
        scored += 1
        if is_held_out(sample):
            held_out += 1
        elif rule.takes(score) and (demo := demo_of(sample, score)) is not None:
            name = f"{sample.suite}:{sample.task.index!r}"
            good[name] = min(good.get(name, demo), demo, key=_rank)
    chosen: list[Demo] = []
    left = token_limit
    for demo in sorted(good.values(), key=_rank)[:limit]:
        left -= demo.tokens
        if left < 0:
            break
        chosen.append(demo)
    return Selection(DemoSet(tuple(chosen), token_limit), scored, held_out)


def score_of(sample: SampleRecord) -> float | None:
    """The mean of its checks; None where there is none, or where one could not be made."""
    values = [score.value for score in list_checks(sample.scores)]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def is_held_out(sample: SampleRecord) -> bool:
    """Whether it is for measuring alone: a public suite, or a name or group that says so."""
    names = (sample.suite, sample.task.name, sample.task.group)
    return sample.suite in PUBLIC_SUITES or any(HELD_OUT.search(name) for name in names)


def demo_of(sample: SampleRecord, score: float) -> Demo | None:
    """The example that a sample is; None for one that did not complete or says nothing.

    Nor for one in which a person wrote what the model or the system says (X-26).
    """
    code = tuple(
        cell.source
        for cell in sample.cells
        if cell.origin == "agent" and cell.status == "ok" and cell.is_kept and cell.source.strip()
    )
    results = _handed_in(sample.messages)
    answer = sample.result if isinstance(sample.result, str) else ""
    says_something = sample.input.strip() and (code or answer or results)
    if sample.status != "completed" or not says_something or _is_staged(sample):
        return None
    return Demo(
        source=f"{sample.id} ({sample.agent})" if sample.agent else sample.id,
        question=words_of(sample.input),
        answer=answer,
        code=code[:-1] if results else code,  # the last one assigned them
        results=results,
        score=score,
        suite=sample.suite,
    )


def _is_staged(sample: SampleRecord) -> bool:
    return any(message.get("origin") == "user" for message in sample.messages)


def _handed_in(messages: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The results that a typed run ended with: what its last call of hand_in gave."""
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    given = [call["function"] for call in calls if call["function"]["name"] == HandIn.name]
    if not given:
        return {}
    arguments = json_or_none(given[-1]["arguments"])
    values = arguments.get("values") if isinstance(arguments, dict) else None
    return values if isinstance(values, Mapping) else {}


def _rank(demo: Demo) -> tuple[float, int, str]:
    return (-demo.score, demo.tokens, demo.source)
