"""What a benchmark came to: counts by status and group, with intervals, and two held together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.bench.results import ResultFiles, read_lines
from cellwright.bench.statistics import (
    Comparison,
    Estimate,
    Observation,
    Variance,
    compare_paired,
    estimate,
    mean_of_epochs,
    reduce_epochs,
    variance_of,
)
from cellwright.exports.sample import SampleRecord, Score, sum_points
from cellwright.record.choices import Choice, ChoiceWay
from cellwright.record.run_record import choice_of
from cellwright.record.values import to_dict

LISTED = 50
UPPER_BOUND = "the samples' own checks chose: an upper bound, not a score to publish"


@dataclass(frozen=True)
class CheckOutcome:
    """One check of a sample, as far as sums need it."""

    name: str
    value: float
    """From 0 to 1."""
    passed: bool


@dataclass(frozen=True)
class Outcome:
    """Of a sample what sums need; the rest may be large."""

    index: int | str
    epoch: int
    group: str
    family: str
    status: str
    passed: bool
    is_scored: bool
    """Whether all its checks could be made."""
    why: str
    cost_dollars: float | None
    seconds: float
    choice: Choice | None = None
    """Out of which attempts it was chosen; None: there was one alone."""
    earned: float = 0.0
    """The share of its points that it earned, from 0 to 1."""
    checks: tuple[CheckOutcome, ...] = ()
    """Those of its checks that could be made."""


@dataclass(frozen=True)
class BestOfSummary:
    """What choosing the best of several attempts at each sample came to."""

    way: ChoiceWay
    count: int
    at_k: dict[str, Estimate]
    """All attempts at each sample as one number, by the names of ``reducers``: ``mean`` is what one
    attempt passes (pass@1), ``pass@4`` what one of four does."""
    note: str
    """How they were chosen, and what the score is not."""


@dataclass(frozen=True)
class CheckNumbers(Estimate):
    """The mean value of one check."""

    passed: int
    """How often it passed, of ``count``."""


@dataclass(frozen=True)
class SuiteSummary:
    """One agent at one suite."""

    agent: str
    suite: str
    passed: int
    total: int
    """Samples that were run: those that could not be run are in ``failures``."""
    share: Estimate
    points: Estimate
    """What a sample earns of its points, as a share: checks that are right in part count, too."""
    by_check: dict[str, CheckNumbers]
    """Each check that all samples have once, where there are several such."""
    by_status: dict[str, int]
    by_group: dict[str, dict[str, Any]]
    check_errors: int
    """Samples with a check that crashed; they count as not passed."""
    failures: dict[str, int]
    """Samples that could not be run, by AgentBench's word for why."""
    not_begun: int = 0
    """Samples of the plan that are in neither: a budget was spent, or somebody stopped it."""
    epochs: int = 1
    at_k: dict[str, Estimate] = field(default_factory=dict)
    """The epochs of each sample as one number, by the names of ``reducers``."""
    variance: Variance | None = None
    """None: no sample ran twice."""
    cost_dollars: float | None = None
    seconds: float = 0.0
    not_passed: tuple[str, ...] = ()
    """The first of them, with why."""
    best_of: BestOfSummary | None = None
    """None: each sample was attempted once."""

    def document(self) -> dict[str, Any]:
        """Plain JSON data."""
        plain: dict[str, Any] = to_dict(self)
        return plain


def outcomes(files: ResultFiles) -> list[Outcome]:
    """The samples so far."""
    return [outcome_of(record) for record in files.samples()]


def outcome_of(record: SampleRecord) -> Outcome:
    """What sums need of a sample."""
    failed = next((score for score in record.scores if not score.passed), None)
    return Outcome(
        record.task.index,
        record.task.epoch,
        record.task.group,
        record.task.family,
        record.status,
        record.passed,
        all(score.value is not None for score in record.scores),
        _why(failed)[:200] if failed is not None else "" if record.passed else record.error[:200],
        record.cost_dollars,
        record.time.seconds,
        choice_of(record.scores),
        earned_share(record),
        tuple(
            CheckOutcome(score.name, score.value, score.passed)
            for score in record.scores
            if score.value is not None and score.points
        ),
    )


def earned_share(record: SampleRecord) -> float:
    """The share of its points that a sample earned; of one without points, whether it passed."""
    grade = sum_points(record.scores)
    return grade.earned / grade.points if grade.points else float(record.passed)


def _why(failed: Score) -> str:
    """Why a check did not pass; one that says nothing of it, by its points."""
    said = failed.error or failed.explanation
    return said or f"{failed.name}: {failed.earned:g} of {failed.points:g} points"


Place = tuple[str, int]
"""A sample's index, as ``repr`` writes it, and the epoch."""


def summary_of(
    files: ResultFiles, agent: str, suite: str, planned: Iterable[Place] = ()
) -> SuiteSummary:
    """What one agent came to at one suite, from its files; ``planned`` is what it was to be."""
    words = Counter(str(line.get("error")) for line in open_failures(files))
    summary = summarise(outcomes(files), agent, suite, dict(words))
    return replace(summary, not_begun=count_not_begun(files, planned))


def count_not_begun(files: ResultFiles, planned: Iterable[Place]) -> int:
    """How many of these samples neither ran nor failed."""
    return len(set(planned) - _ran(files) - {_failed_at(line) for line in open_failures(files)})


def not_run(files: ResultFiles) -> list[str]:
    """Of each sample that could not be run its index, and why."""
    return [f"{f.get('index')}: {f.get('error')}: {f.get('info')}" for f in open_failures(files)]


def open_failures(files: ResultFiles) -> list[dict[str, Any]]:
    """The last failures of samples that could not be run, and were not run later."""
    ran, failed = _ran(files), {}
    for line in read_lines(files.errors):
        key = _failed_at(line)
        if key not in ran:
            failed[key] = line
    return list(failed.values())


def _ran(files: ResultFiles) -> set[Place]:
    return {
        _key(line, (line.get("output") or {}).get("cellwright") or {})
        for line in read_lines(files.runs)
    }


def _failed_at(line: dict[str, Any]) -> Place:
    return _key(line, {"task": line.get("cellwright") or {}})


def _key(line: dict[str, Any], full: dict[str, Any]) -> Place:
    return repr(line.get("index")), int((full.get("task") or {}).get("epoch", 1))


def summarise(
    found: list[Outcome], agent: str, suite: str, failures: dict[str, int] | None = None
) -> SuiteSummary:
    """What samples came to."""
    groups = sorted({outcome.group for outcome in found if outcome.group})
    costs = [outcome.cost_dollars for outcome in found if outcome.cost_dollars is not None]
    lost = [f"{o.index}{_epoch(o)}: {o.why or o.status}" for o in found if not o.passed]
    return SuiteSummary(
        agent=agent,
        suite=suite,
        passed=sum(outcome.passed for outcome in found),
        total=len(found),
        share=estimate(_observations(found)),
        points=estimate([_observe(o, o.earned) for o in found]),
        by_check=_by_check(found),
        by_status=dict(Counter(outcome.status for outcome in found)),
        by_group={name: _group([o for o in found if o.group == name]) for name in groups},
        check_errors=sum(not outcome.is_scored for outcome in found),
        failures=failures or {},
        epochs=max((outcome.epoch for outcome in found), default=1),
        at_k=_at_k(found),
        variance=variance_of(_observations(found)),
        cost_dollars=sum(costs) if costs else None,
        seconds=sum(outcome.seconds for outcome in found),
        not_passed=tuple(lost[:LISTED]),
        best_of=_best_of(found),
    )


def _epoch(outcome: Outcome) -> str:
    return f" (epoch {outcome.epoch})" if outcome.epoch > 1 else ""


def _by_check(found: list[Outcome]) -> dict[str, CheckNumbers]:
    """Each check that all samples have; none where that is one, which says what the share says."""
    if not found:
        return {}
    counted = [Counter(check.name for check in outcome.checks) for outcome in found]
    names = [name for name in counted[0] if all(count[name] == 1 for count in counted)]
    if len(names) < 2:
        return {}
    return {name: _check_numbers(name, found) for name in names}


def _check_numbers(name: str, found: list[Outcome]) -> CheckNumbers:
    made = [next(check for check in outcome.checks if check.name == name) for outcome in found]
    mean = estimate([_observe(o, check.value) for o, check in zip(found, made, strict=True)])
    passed = sum(check.passed for check in made)
    return CheckNumbers(mean.value, mean.low, mean.high, mean.method, mean.count, passed)


def _best_of(found: list[Outcome]) -> BestOfSummary | None:
    """What all attempts came to; None: no sample has several."""
    tries: dict[Hashable, list[Observation]] = {}
    choices = [outcome.choice for outcome in found if outcome.choice is not None]
    if not choices:
        return None
    for o in found:
        passed = [bool(a.passed) for a in o.choice.attempts] if o.choice else [o.passed]
        observed = [Observation(o.index, o.family or repr(o.index), float(p)) for p in passed]
        tries.setdefault(o.index, []).extend(observed)
    first = choices[0]
    at_k = reduce_epochs(tries)
    return BestOfSummary(first.way, len(first.attempts), at_k, describe_way(first))


def describe_way(choice: Choice) -> str:
    """How the best of several attempts was chosen, with what must be said of such a score."""
    said = f"best of {len(choice.attempts)} by {choice.way}"
    return f"{said} ({UPPER_BOUND})" if choice.way == "check" else said


def _group(found: list[Outcome]) -> dict[str, Any]:
    share = estimate(_observations(found))
    passed = sum(outcome.passed for outcome in found)
    return {"passed": passed, "total": len(found), "low": share.low, "high": share.high}


def _observations(found: Iterable[Outcome]) -> list[Observation]:
    return [_observe(outcome, float(outcome.passed)) for outcome in found]


def _observe(outcome: Outcome, value: float) -> Observation:
    return Observation(outcome.index, outcome.family or repr(outcome.index), value)


def _at_k(found: list[Outcome]) -> dict[str, Estimate]:
    tries: dict[Hashable, list[Observation]] = {}
    for seen in _observations(found):
        tries.setdefault(seen.sample, []).append(seen)
    return reduce_epochs(tries)


def compared(first: list[Outcome], second: list[Outcome]) -> dict[str, Any]:
    """The second against the first, what became worse first."""
    sides = [_by_sample(first), _by_sample(second)]
    found: Comparison = compare_paired(*sides)
    changed: list[dict[str, Any]] = [
        {"index": str(key), "first": sides[0][key].value, "second": sides[1][key].value}
        for key in sides[0]
        if key in sides[1] and sides[0][key].value != sides[1][key].value
    ]
    changed.sort(key=lambda entry: entry["second"] - entry["first"])
    return {
        **to_dict(found),
        "shared": found.better + found.worse + found.equal,
        "only_first": len(sides[0].keys() - sides[1].keys()),
        "only_second": len(sides[1].keys() - sides[0].keys()),
        "changed": changed,
    }


def _by_sample(found: list[Outcome]) -> dict[Hashable, Observation]:
    """Each sample's mean over its epochs."""
    return {seen.sample: seen for seen in mean_of_epochs(_observations(found))}
