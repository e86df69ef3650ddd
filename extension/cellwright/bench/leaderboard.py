"""Several results of a suite as one page: who scores what, at what cost, where they fail, and how.

The page is one HTML file that loads nothing and runs nothing, to be handed on or put on a website.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from cellwright.bench.statistics import (
    Comparison,
    Estimate,
    Observation,
    adjust_p_values,
    clustered,
    compare_paired,
    estimate,
    mean_of_epochs,
)
from cellwright.bench.summary import describe_way, earned_share
from cellwright.exports.html import cell_html, duration_text, page_start, shown_text
from cellwright.exports.sample import CANARY, SampleCell, SampleRecord
from cellwright.record.messages import Usage
from cellwright.record.run_record import choice_of
from cellwright.record.values import from_dict, safe_text, to_dict

SAMPLES_SHOWN, CELLS_SHOWN, CHARACTERS_SHOWN, OUTPUT_CHARACTERS = 200, 12, 2_000, 600
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 340, 60, 24, 16, 44
INK, LINE, BEST, OTHER = "var(--soft)", "var(--line)", "var(--accent)", "var(--blue)"
LOGARITHMIC_FROM = 20.0
"""Times that the dearest costs more than the cheapest."""


@dataclass(frozen=True)
class Entry:
    """One agent's result at the suite; the best has no comparison."""

    name: str
    share: Estimate
    passed: int
    total: int
    cost_each: Estimate | None
    seconds_each: float
    tokens_each: float
    failures: Mapping[str, int]
    """How often which kind of failure came up."""
    points: Estimate
    """What a sample earns of its points, as a share."""
    not_run: int = 0
    """Samples that others have and this one has not; they are in none of its numbers."""
    behind: Comparison | None = None
    """Against the best, on the samples that both have."""
    p_adjusted: float | None = None
    """That comparison's p-value among all of the page, by Holm's rule."""
    note: str = ""
    """How the best of several attempts was chosen; empty: each sample was attempted once."""


@dataclass(frozen=True)
class Leaderboard:
    """The results of a suite, the best first."""

    suite: str
    entries: tuple[Entry, ...]
    samples: Mapping[str, Mapping[str, tuple[SampleRecord, ...]]]
    """By sample and agent its epochs."""

    def document(self) -> dict[str, Any]:
        """Plain JSON data, without what agents did."""
        return {"suite": self.suite, "entries": [to_dict(entry) for entry in self.entries]}


def rank(suite: str, results: Mapping[str, Sequence[SampleRecord]]) -> Leaderboard:
    """Order results by their share of passed samples, then by cost.

    Args:
        suite: What was run.
        results: The samples of each agent.
    """
    entries = sorted((_entry(name, some) for name, some in results.items()), key=_order)
    seen = {name: {o.sample: o for o in _observations(some)} for name, some in results.items()}
    others = [compare_paired(seen[entries[0].name], seen[e.name]) for e in entries[1:]]
    adjusted = adjust_p_values([comparison.p_value for comparison in others])
    ranked = entries[:1] + [
        replace(entry, behind=comparison, p_adjusted=p_value)
        for entry, comparison, p_value in zip(entries[1:], others, adjusted, strict=True)
    ]
    samples: dict[str, dict[str, tuple[SampleRecord, ...]]] = {}
    for name, some in results.items():
        for sample in some:
            by_agent = samples.setdefault(str(sample.task.index), {})
            by_agent[name] = (*by_agent.get(name, ()), sample)
    lacking = Counter(e.name for e in ranked for some in samples.values() if e.name not in some)
    counted = tuple(replace(entry, not_run=lacking[entry.name]) for entry in ranked)
    return Leaderboard(suite, counted, samples)


def rank_all(found: Iterable[tuple[str, str, str, Sequence[SampleRecord]]]) -> list[Leaderboard]:
    """A leaderboard for each suite.

    Args:
        found: Suite, agent, the benchmark's folder (it tells two results of one agent apart) and
            the samples of each result.
    """
    results: dict[str, dict[str, Sequence[SampleRecord]]] = {}
    for suite, agent, place, samples in found:
        of_suite = results.setdefault(suite, {})
        numbered = (f"{agent} ({place}, {number})" for number in itertools.count(2))
        names = itertools.chain([agent, f"{agent} ({place})"], numbered)
        if samples:
            of_suite[next(name for name in names if name not in of_suite)] = samples
    return [rank(suite, of_suite) for suite, of_suite in sorted(results.items()) if of_suite]


def _entry(name: str, samples: Sequence[SampleRecord]) -> Entry:
    priced = [
        Observation(s.task.index, _family(s), s.cost_dollars)
        for s in samples
        if s.cost_dollars is not None
    ]
    count = max(1, len(samples))
    return Entry(
        name,
        estimate(_observations(samples)),
        sum(sample.passed for sample in samples),
        len(samples),
        clustered(mean_of_epochs(priced)) if priced else None,
        math.fsum(sample.time.seconds for sample in samples) / count,
        sum(_count_tokens(sample) for sample in samples) / count,
        dict(Counter(kind for sample in samples for kind in _failure_kinds(sample)).most_common()),
        estimate([Observation(s.task.index, _family(s), earned_share(s)) for s in samples]),
        note=next((describe_way(c) for s in samples if (c := choice_of(s.scores))), ""),
    )


def _count_tokens(sample: SampleRecord) -> int:
    usage: Usage = from_dict(Usage, sample.usage)
    return usage.total_tokens


def _observations(samples: Iterable[SampleRecord]) -> list[Observation]:
    each = (Observation(s.task.index, _family(s), float(s.passed)) for s in samples)
    return mean_of_epochs(each)


def _family(sample: SampleRecord) -> str:
    return sample.task.family or repr(sample.task.index)


def _failure_kinds(sample: SampleRecord) -> Iterator[str]:
    """How it ended if not well, and the checks that did not pass."""
    if sample.passed:
        return
    if sample.status != "completed":
        yield sample.status
    for score in sample.scores:
        if score.value is None:
            yield f"check crashed: {score.name}"
        elif not score.passed:
            yield f"wrong: {score.name}"


def _order(entry: Entry) -> tuple[float, float, str]:
    cost = entry.cost_each.value if entry.cost_each is not None else math.inf
    return (-entry.share.value, cost, entry.name)


# The page.


def leaderboard_page(boards: Sequence[Leaderboard]) -> str:
    """The text of an ``.html`` file."""
    return safe_text("\n".join(_page(boards)) + "\n")


def _page(boards: Sequence[Leaderboard]) -> Iterator[str]:
    yield from page_start("Leaderboard")
    yield f"<style>{STYLE}</style>"
    yield "<h1>Leaderboard</h1>"
    for board in boards:
        if len(boards) > 1:
            yield f"<h1>{shown_text(board.suite)}</h1>"
        yield from _standings(board)
        yield f'<div class="plot">{_plot(board.entries)}</div>'
        yield from _failures(board.entries)
        yield from _samples(board)
    yield (
        "<footer>Intervals are at 95 %. Differences are paired by sample and adjusted for the "
        f"number of comparisons by Holm's rule. {CANARY}</footer></main></body></html>"
    )


STYLE = """
main { max-width: 72rem; } details > summary { padding: .3rem 0; }
.plot { margin-top: 1.5rem; overflow-x: auto; }
.plot svg { min-width: 34rem; max-width: 100%; height: auto; background: var(--card);
  border-radius: .5rem; }
.side { display: grid; gap: 1rem; grid-auto-flow: column; grid-auto-columns: minmax(18rem, 1fr);
  overflow-x: auto; }
.side h3 { font-size: .9rem; margin: .5rem 0; } .side .cell { margin: .5rem 0; }
td.number, th.number { text-align: right !important; white-space: nowrap; }
td.number small { display: block; color: var(--soft); }
td:first-child { min-width: 9rem; }
"""


def _standings(board: Leaderboard) -> Iterator[str]:
    names = ["Agent", "Passed", "95 %", "Behind the first", "Cost each", "Time each", "Tokens each"]
    has_parts = any(entry.points.value != entry.share.value for entry in board.entries)
    names[3:3] = ["Points"] if has_parts else []
    rows: list[tuple[str, ...]] = []
    for place, entry in enumerate(board.entries, start=1):
        share, cost = entry.share, entry.cost_each
        rows.append(
            (
                f"{place}. {shown_text(entry.name)}"
                + (f" <small>{shown_text(entry.note)}</small>" if entry.note else ""),
                f"{share.value:.1%} <small>{_count(entry)}</small>",
                _interval(share),
                *((_points(entry),) if has_parts else ()),
                _behind(entry),
                f"${cost.value:.4f}" if cost is not None else "not known",
                duration_text(entry.seconds_each),
                f"{entry.tokens_each:,.0f}",
            )
        )
    yield _table(names, rows)


def _count(entry: Entry) -> str:
    lacks = f", {entry.not_run} not run" if entry.not_run else ""
    return f"{entry.passed} of {entry.total}{lacks}"


def _points(entry: Entry) -> str:
    return f"{entry.points.value:.1%} <small>{_interval(entry.points)}</small>"


def _interval(estimate: Estimate) -> str:
    return f"{estimate.low:.1%} – {estimate.high:.1%}"


def _behind(entry: Entry) -> str:
    if entry.behind is None:
        return ""
    found = entry.behind.difference
    said = "may be chance" if (entry.p_adjusted or 0.0) >= 0.05 else "not by chance"
    points = f"{100 * found.value:+.1f}".replace("-", "−")
    return f"{points} pp <small>p = {entry.p_adjusted:.2g}, {said}</small>"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are HTML, and all but the first column are numbers."""

    def drawn(tag: str, cells: Sequence[str]) -> str:
        tags = [tag if number < 1 else f'{tag} class="number"' for number in range(len(cells))]
        return "".join(f"<{t}>{c}</{tag}>" for t, c in zip(tags, cells, strict=True))

    body = "".join(f"<tr>{drawn('td', row)}</tr>" for row in rows)
    head = drawn("th", [shown_text(name) for name in names])
    return (
        f'<div class="table"><table class="plain"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _failures(entries: Sequence[Entry]) -> Iterator[str]:
    kinds = sorted(
        {kind for entry in entries for kind in entry.failures},
        key=lambda kind: -sum(entry.failures.get(kind, 0) for entry in entries),
    )
    if kinds:
        yield "<h2>Failures by kind</h2>"
        names = ("Kind", *(entry.name for entry in entries))
        yield _table(
            names,
            [
                (shown_text(kind), *(str(e.failures.get(kind, 0) or "") for e in entries))
                for kind in kinds
            ],
        )


# Each sample: a row, and below it what every agent did.


def _samples(board: Leaderboard) -> Iterator[str]:
    names = [entry.name for entry in board.entries]
    yield "<h2>Samples</h2>"
    rows = [
        (shown_text(index), *(_mark(by_agent.get(name, ())) for name in names))
        for index, by_agent in board.samples.items()
    ]
    yield _table(("Sample", *names), rows)
    # What agents do differently tells most.
    telling = sorted(board.samples.items(), key=lambda item: _agreement(item[1].values()))
    yield "<h2>Side by side</h2>"
    if len(telling) > SAMPLES_SHOWN:
        yield f"<p>{SAMPLES_SHOWN} of {len(telling)}, those that tell agents apart first.</p>"
    for index, by_agent in telling[:SAMPLES_SHOWN]:
        shown = "".join(_trajectory(name, by_agent[name][0]) for name in names if name in by_agent)
        asked = next(iter(by_agent.values()))[0].input
        yield (
            f"<details><summary>{shown_text(index)}: {shown_text(_beginning(asked, 160))}</summary>"
            f'<div class="side">{shown}</div></details>'
        )


def _mark(tries: Sequence[SampleRecord]) -> str:
    if not tries:
        return ""
    passed = sum(sample.passed for sample in tries)
    tone = "good" if passed == len(tries) else "wait" if passed else "bad"
    word = ("passed" if passed else "failed") if len(tries) == 1 else f"{passed} of {len(tries)}"
    return f'<span class="status {tone}">{word}</span>'


def _agreement(results: Iterable[Sequence[SampleRecord]]) -> int:
    """0 where some agents pass and some fail, 1 where all fail, 2 where all pass."""
    found = {sample.passed for tries in results for sample in tries[:1]}
    return 0 if len(found) > 1 else 1 + (True in found)


def _trajectory(name: str, sample: SampleRecord) -> str:
    ran = [cell for cell in sample.cells if cell.status]
    cells = "".join(
        cell_html(f"{number}", cell.status, _beginning(cell.source), _drawn(cell))
        for number, cell in enumerate(ran[:CELLS_SHOWN], start=1)
    )
    more = f"<p>and {len(ran) - CELLS_SHOWN} cells more</p>" if len(ran) > CELLS_SHOWN else ""
    why = "; ".join(s.error or s.explanation for s in sample.scores if not s.passed)
    return (
        f"<section><h3>{shown_text(name)} {_mark((sample,))}</h3>"
        f"<p>{shown_text(sample.status)}, {duration_text(sample.time.seconds)}"
        f"{': ' if why else ''}{shown_text(_beginning(why))}</p>{cells}{more}"
        f'<div class="answer">{shown_text(_beginning(_text_of(sample.result)))}</div></section>'
    )


def _drawn(cell: SampleCell) -> Iterator[str]:
    """What a cell put out, as text: the page shows what an agent went by, and stays small."""
    shown = "\n".join(filter(None, map(_output_text, cell.outputs))).strip()
    if shown:
        yield f"<pre>{shown_text(_beginning(shown, OUTPUT_CHARACTERS))}</pre>"


def _output_text(output: Mapping[str, Any]) -> str:
    if "ename" in output:
        return f"{output['ename']}: {output.get('evalue', '')}"
    data = output.get("data") or {}
    said = output.get("text") or data.get("text/plain") or ""
    return "".join(said) if isinstance(said, list) else str(said)


def _beginning(text: str, characters: int = CHARACTERS_SHOWN) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def _text_of(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


# Cost against score, as SVG.


def _plot(entries: Sequence[Entry]) -> str:
    points = [(entry, entry.cost_each) for entry in entries]
    known = [(entry, cost) for entry, cost in points if cost is not None and cost.value > 0]
    if not known:
        return ""
    costs = [cost.value for _, cost in known]
    is_logarithmic = max(costs) > LOGARITHMIC_FROM * min(costs)
    low, high = (min(costs) / 2, max(costs) * 2) if is_logarithmic else (0.0, max(costs) * 1.2)

    def x(dollars: float) -> float:
        at = min(max(dollars, low), high)
        part = math.log(at / low) / math.log(high / low) if is_logarithmic else at / high
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)

    bars = [*_axes([(x(dollars), dollars) for dollars in _spaced(sorted(costs))])]
    best = -1.0
    for entry, cost in sorted(known, key=lambda pair: (pair[1].value, -pair[0].share.value)):
        share, is_best = entry.share, entry.share.value > best
        best = max(best, share.value)
        colour, left, top = BEST if is_best else OTHER, x(cost.value), y(share.value)
        bars.append(
            f'<path d="M{left:.1f} {y(share.low):.1f}V{y(share.high):.1f}'
            f'M{x(cost.low):.1f} {top:.1f}H{x(cost.high):.1f}" stroke="{colour}"/>'
            f'<circle cx="{left:.1f}" cy="{top:.1f}" r="5" fill="{colour}">'
            f"<title>{escape(entry.name)}: {share.value:.1%}, ${cost.value:.4f} a sample</title>"
            f"</circle>"
        )
        is_right = left > WIDTH * 0.7
        anchor = "end" if is_right else "start"
        bars.append(
            _text(left + (-9 if is_right else 9), top - 6, _beginning(entry.name, 40), anchor)
        )
    scale = ", logarithmic" if is_logarithmic else ""
    bars.append(_text(WIDTH / 2, HEIGHT - 6, f"dollars a sample{scale}", "middle"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-label="Cost against score" font-size="12" '
        f'font-family="system-ui, sans-serif" fill="{INK}">{"".join(bars)}</svg>'
    )


def _spaced(costs: Sequence[float]) -> Iterator[float]:
    """Those far enough apart that their names do not meet."""
    last = 0.0
    for dollars in costs:
        if not last or dollars > last * 1.5:
            last = dollars
            yield dollars


def _axes(costs: Sequence[tuple[float, float]]) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for part in range(5):
        height = bottom - part / 4 * (bottom - TOP)
        yield f'<path d="M{LEFT} {height:.1f}H{WIDTH - RIGHT}" stroke="{LINE}"/>'
        yield _text(LEFT - 8, height + 4, f"{25 * part} %", "end")
    for left, dollars in costs:
        yield _text(left, bottom + 16, f"${dollars:.3g}", "middle")


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
