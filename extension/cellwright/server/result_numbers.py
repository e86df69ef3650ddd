"""What results come to: shares, costs and times, each with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cellwright.bench.statistics import Estimate, Observation, clustered
from cellwright.bench.summary import Outcome, compared, summarise
from cellwright.record.values import to_dict


def numbers_of(
    outcomes: Sequence[Outcome], agent: str, suite: str, failures: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The sum of a result; no mean stands there alone.

    Args:
        outcomes: The samples.
        agent: Who was tested.
        suite: At what.
        failures: Samples that could not be run; they are in no share.
    """
    words: dict[str, int] = {}
    for failure in failures:
        words[failure["error"]] = words.get(failure["error"], 0) + 1
    whole = summarise(list(outcomes), agent, suite, words).document()
    del whole["not_passed"]
    for group in whole["by_group"].values():
        group["value"] = group["passed"] / group["total"] if group["total"] else 0.0
    priced = [outcome for outcome in outcomes if outcome.cost_dollars is not None]
    return {
        **whole,
        "cost_each": _mean(priced, lambda outcome: outcome.cost_dollars or 0.0),
        "seconds_each": _mean(outcomes, lambda outcome: outcome.seconds),
    }


def comparison_of(first: Sequence[Outcome], second: Sequence[Outcome]) -> dict[str, Any]:
    """The second against the first, with every sample of both, what became worse first."""
    whole = compared(list(first), list(second))
    del whole["changed"]
    sides = [_tries(first), _tries(second)]
    rows: list[dict[str, Any]] = [
        {"index": index, "first": _side(sides[0][index]), "second": _side(sides[1][index])}
        for index in sides[0]
        if index in sides[1]
    ]
    for row in rows:
        delta = row["second"]["value"] - row["first"]["value"]
        row["change"] = "worse" if delta < 0 else "better" if delta > 0 else "same"
        row["delta"] = delta
    # The sort keeps the suite's order; of what is equal, that which fails comes first.
    rows.sort(key=lambda row: (row["delta"], row["second"]["value"] if not row["delta"] else 0))
    rows.sort(key=lambda row: ("worse", "better", "same").index(row["change"]))
    return {**whole, "rows": rows}


def _tries(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(str(outcome.index), []).append(outcome)
    return found


def _side(tries: Sequence[Outcome]) -> dict[str, Any]:
    """What one of the two did with a sample."""
    telling = next((outcome for outcome in tries if not outcome.passed), tries[0])
    return {
        "value": sum(outcome.passed for outcome in tries) / len(tries),
        "tries": len(tries),
        "epoch": telling.epoch,
        "status": telling.status,
        "why": telling.why,
    }


def _mean(outcomes: Sequence[Outcome], value: Callable[[Outcome], float]) -> dict[str, Any] | None:
    """The mean of a number for each sample; None: there is none."""
    if not outcomes:
        return None
    return _plain(
        clustered(
            [Observation((o.index, o.epoch), o.family or repr(o.index), value(o)) for o in outcomes]
        )
    )


def _plain(estimate: Estimate) -> dict[str, Any]:
    plain: dict[str, Any] = to_dict(estimate)
    return plain
