"""Results of benchmarks in folders below the server's root: lists, sums, samples, comparisons."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, TypeVar, cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.bench.leaderboard import leaderboard_page, rank_all
from cellwright.bench.results import SHARED_FILE
from cellwright.bench.statistics import (
    Comparison,
    Estimate,
    Observation,
    Variance,
    clustered,
    mean_of_epochs,
)
from cellwright.bench.summary import CheckNumbers, Outcome, compared, summarise
from cellwright.errors import SetupError
from cellwright.exports import SecretsFilter
from cellwright.exports.sample import SampleRecord
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.record_pages import Columns, natural, ordered, trimmed
from cellwright.server.result_files import (
    ERRORS,
    RUNS,
    NotThereError,
    ResultIndex,
    ResultPlace,
    ResultPlaces,
    SampleEntry,
    failures_in,
    record_at,
    shared_in,
    with_shared,
)
from cellwright.server.routes import Refusal, Route, RouteTable

# What the routes answer: the OpenAPI description is made of it, and the page's types.


@dataclass(frozen=True)
class ResultListing:
    """The results below a folder."""

    version: str
    results: tuple[ResultPlace, ...] | None
    """None: nothing changed."""
    is_cut: bool


@dataclass(frozen=True)
class GroupNumbers:
    """What a group of samples comes to."""

    value: float
    passed: int
    total: int
    low: float
    high: float


@dataclass(frozen=True)
class SampleNotRun:
    """A sample that could not be run."""

    index: str
    epoch: int
    error: str
    info: str


@dataclass(frozen=True)
class ResultNumbers:
    """What a result comes to."""

    version: str
    agent: str
    suite: str
    models: tuple[str, ...]
    passed: int
    total: int
    share: Estimate
    points: Estimate
    by_check: Mapping[str, CheckNumbers]
    by_status: Mapping[str, int]
    by_group: Mapping[str, GroupNumbers]
    check_errors: int
    failures: Mapping[str, int]
    not_run: tuple[SampleNotRun, ...]
    epochs: int
    at_k: Mapping[str, Estimate]
    variance: Variance | None
    cost_dollars: float | None
    cost_each: Estimate | None
    seconds: float
    seconds_each: Estimate | None
    tokens: int
    retries: int
    unreadable: int


@dataclass(frozen=True)
class SampleRow:
    """A sample in one line."""

    id: str
    index: str
    epoch: int
    group: str
    family: str
    status: str
    passed: bool
    is_scored: bool
    why: str
    input: str
    cost_dollars: float | None
    seconds: float
    tokens: int
    retries: int


@dataclass(frozen=True)
class SamplePage:
    """Some samples of a result, and what they can be filtered by."""

    version: str
    samples: tuple[SampleRow, ...]
    next: int | None
    """Where the next page starts; None: there is none."""
    fitting: int
    total: int
    statuses: tuple[str, ...]
    groups: tuple[str, ...]


@dataclass(frozen=True)
class ComparedSide:
    """What one of two results did with a sample."""

    id: str
    value: float
    tries: int
    epoch: int
    status: str
    why: str


@dataclass(frozen=True)
class ComparedRow:
    """A sample that both results have."""

    index: str
    change: Literal["worse", "better", "same"]
    delta: float
    first: ComparedSide
    second: ComparedSide


@dataclass(frozen=True)
class ResultComparison(Comparison):
    """The second of two results against the first."""

    shared: int
    only_first: int
    only_second: int
    rows: tuple[ComparedRow, ...]
    next: int | None


@dataclass(frozen=True)
class LeaderboardPage:
    """All results of a folder on one page that can be handed on."""

    html: str


@dataclass(frozen=True)
class RunSample(SampleRecord):
    """A run as a sample, and the chat it was asked in."""

    chat: str = ""


# What results come to: shares, costs and times, each with its interval.


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
    seen = [Observation(o.index, o.family or repr(o.index), value(o)) for o in outcomes]
    return _plain(clustered(mean_of_epochs(seen)))


def _plain(estimate: Estimate) -> dict[str, Any]:
    plain: dict[str, Any] = to_dict(estimate)
    return plain


# Results of benchmarks as the page asks for them; what was read once is not read again.


RESULTS_KEPT = 64
SAMPLES_KEPT = 300_000
COMPARISONS_KEPT = 8
LEADERBOARD_SAMPLES = 20_000
KINDS = ("failed", "unscored", "passed")
FAILURES_SHOWN = 50
PAGE_LIMIT = 200
COLUMNS: Columns[SampleEntry] = {
    "sample": lambda entry: natural(str(entry.outcome.index)),
    "outcome": lambda entry: KINDS.index(_kind(entry)),
    "status": lambda entry: entry.outcome.status,
    "why": lambda entry: entry.outcome.why.casefold() or None,
    "seconds": lambda entry: entry.outcome.seconds,
    "tokens": lambda entry: entry.tokens,
    "cost": lambda entry: entry.outcome.cost_dollars,
}


@dataclass(frozen=True)
class SampleFilter:
    """Which samples of a result, and which page of them."""

    status: str = ""
    outcome: str = ""
    """``passed``, ``failed`` or ``unscored``."""
    group: str = ""
    text: str = ""
    """Words, each of which is in the id, group, family, question or reason."""
    sort: str = ""
    """A column, with ``-`` before it the other way round; empty: as they were run."""
    start: int = 0
    count: int = 100


@dataclass
class _SampleResult:
    """What was read of a result."""

    index: ResultIndex = field(default_factory=ResultIndex)
    failures: list[dict[str, Any]] = field(default_factory=list)
    version: str = ""
    numbers: dict[str, Any] | None = None


class ResultCache:
    """The results below a root; safe to use from any thread.

    Args:
        places: Where they lie.
    """

    def __init__(self, places: ResultPlaces) -> None:
        self._places = places
        self._lock = threading.Lock()
        self._results: OrderedDict[str, _SampleResult] = OrderedDict()
        self._comparisons: OrderedDict[tuple[str, ...], dict[str, Any]] = OrderedDict()

    def list(self, folder: str, since: str = "") -> dict[str, Any]:
        """The results below a folder; None in their place when nothing changed ``since``."""
        found = self._places.find(folder)
        listed = [to_dict(place) for place in found.places]
        version = hashlib.sha256(repr(listed).encode()).hexdigest()[:16]
        return {
            "version": version,
            "results": None if since == version else listed,
            "is_cut": found.is_cut,
        }

    def numbers(self, path: str) -> dict[str, Any]:
        """What a result comes to."""
        place = self._places.get(path)
        result = self._read(place)
        with result.index.lock:
            if result.numbers is None:
                result.numbers = _numbers(place, result)
            return {**result.numbers, "version": result.version}

    def page(self, path: str, wanted: SampleFilter) -> dict[str, Any]:
        """Some samples of a result, sorted by a column or in the order in which they were run."""
        result = self._read(self._places.get(path))
        entries = self._entries(result)
        words = wanted.text.casefold().split()
        fitting = [entry for entry in entries if _fits(entry, wanted, words)]
        fitting = ordered(fitting, wanted.sort, COLUMNS)
        start = max(0, wanted.start)
        end = start + max(1, min(wanted.count, PAGE_LIMIT))
        return {
            "version": result.version,
            "samples": [_row(entry) for entry in fitting[start:end]],
            "next": end if end < len(fitting) else None,
            "fitting": len(fitting),
            "total": len(entries),
            "statuses": sorted({entry.outcome.status for entry in entries}),
            "groups": sorted({entry.outcome.group for entry in entries if entry.outcome.group}),
        }

    def sample(self, path: str, sample_id: str) -> SampleRecord:
        """The whole of a sample.

        Raises:
            NotThereError: There is none.
        """
        place = self._places.get(path)
        return with_shared(self._stored(place, sample_id), self._shared(place))

    def leaderboard(self, folder: str, redactor: SecretsFilter) -> LeaderboardPage:
        """All results of a folder on one page.

        Raises:
            SetupError: There are none, or too many samples for one page.
        """
        places = self._places.find(folder).places
        ids = {place.path: list(self._read(place).index.entries) for place in places}
        if sum(map(len, ids.values())) > LEADERBOARD_SAMPLES:
            raise SetupError(
                f"The results in {folder!r} have more than {LEADERBOARD_SAMPLES:,} samples.",
                hint="Name a smaller folder.",
            )
        boards = rank_all(
            (
                place.suite,
                place.agent,
                "/".join(place.path.split("/")[:-2]),
                self._samples(place, ids[place.path], redactor),
            )
            for place in sorted(places, key=lambda place: place.path)
        )
        if not boards:
            raise SetupError(f"There are no results in {folder!r}.", hint="Name another folder.")
        return LeaderboardPage(leaderboard_page(boards))

    def compare(self, first: str, second: str, start: int, count: int) -> dict[str, Any]:
        """The second result against the first, and some of the samples that both have."""
        results = [self._read(self._places.get(path)) for path in (first, second)]
        key = (first, second, *(result.version for result in results))
        with self._lock:
            whole = self._comparisons.get(key)
        if whole is None:
            whole = _compared(*(self._entries(result) for result in results))
            with self._lock:
                self._comparisons[key] = whole
                while len(self._comparisons) > COMPARISONS_KEPT:
                    self._comparisons.popitem(last=False)
        end = max(0, start) + max(1, min(count, PAGE_LIMIT))
        rows = whole["rows"]
        following = end if end < len(rows) else None
        return {**whole, "rows": rows[max(0, start) : end], "next": following}

    def _samples(
        self, place: ResultPlace, ids: Iterable[str], redactor: SecretsFilter
    ) -> Sequence[SampleRecord]:
        shared = self._shared(place)
        return [redactor.event(with_shared(self._stored(place, name), shared)) for name in ids]

    def _stored(self, place: ResultPlace, sample_id: str) -> SampleRecord:
        """A sample without what it shares with others.

        Raises:
            NotThereError: There is none.
        """
        result = self._read(place)
        with result.index.lock:
            entry = result.index.entries.get(sample_id)
            with self._opened(place, RUNS) as file:
                if entry is None or file is None:
                    raise NotThereError(f"There is no sample {sample_id!r} in {place.path!r}.")
                return record_at(file, entry)

    def _shared(self, place: ResultPlace) -> dict[str, Any]:
        with self._opened(place, SHARED_FILE) as file:
            return shared_in(file)

    def _read(self, place: ResultPlace) -> _SampleResult:
        """The result as it is now."""
        with self._lock:
            result = self._results.setdefault(place.path, _SampleResult())
            self._results.move_to_end(place.path)
            self._forget()
        with result.index.lock:
            if result.version == place.version:
                return result
            with self._opened(place, RUNS) as runs:
                result.index.refresh(runs)
            with self._opened(place, ERRORS) as errors:
                result.failures = failures_in(errors, result.index.entries)
            result.version, result.numbers = place.version, None
        return result

    @staticmethod
    def _entries(result: _SampleResult) -> Sequence[SampleEntry]:
        with result.index.lock:
            return tuple(result.index.entries.values())

    @contextmanager
    def _opened(self, place: ResultPlace, name: str) -> Iterator[BinaryIO | None]:
        file = self._places.open(place, name)
        try:
            yield file
        finally:
            if file is not None:
                file.close()

    def _forget(self) -> None:
        """Let go of what was not looked at for longest."""
        samples = sum(len(result.index.entries) for result in self._results.values())
        while len(self._results) > 1 and (
            len(self._results) > RESULTS_KEPT or samples > SAMPLES_KEPT
        ):
            _, gone = self._results.popitem(last=False)
            samples -= len(gone.index.entries)


def _compared(first: Sequence[SampleEntry], second: Sequence[SampleEntry]) -> dict[str, Any]:
    sides = {"first": first, "second": second}
    whole = comparison_of(*([entry.outcome for entry in side] for side in sides.values()))
    for name, side in sides.items():
        ids = {(str(entry.outcome.index), entry.outcome.epoch): entry.id for entry in side}
        for row in whole["rows"]:
            row[name]["id"] = ids[row["index"], row[name]["epoch"]]
    return whole


def _numbers(place: ResultPlace, result: _SampleResult) -> dict[str, Any]:
    entries = list(result.index.entries.values())
    agents: Sequence[str] = [entry.agent for entry in entries if entry.agent] or [place.agent]
    models = sorted({entry.model for entry in entries if entry.model})
    found = numbers_of(
        [entry.outcome for entry in entries], agents[0], place.suite, result.failures
    )
    return {
        **found,
        "models": models[:5],
        "tokens": sum(entry.tokens for entry in entries),
        "retries": sum(entry.retries for entry in entries),
        "not_run": result.failures[:FAILURES_SHOWN],
        "unreadable": result.index.unreadable,
    }


def _fits(entry: SampleEntry, wanted: SampleFilter, words: Sequence[str]) -> bool:
    outcome = entry.outcome
    if wanted.outcome not in ("", _kind(entry)) or wanted.group not in ("", outcome.group):
        return False
    if wanted.status not in ("", outcome.status):
        return False
    if not words:
        return True
    parts = (str(outcome.index), outcome.group, outcome.family, entry.input, outcome.why)
    text = "\n".join(parts).casefold()
    return all(word in text for word in words)


def _kind(entry: SampleEntry) -> str:
    outcome = entry.outcome
    return "passed" if outcome.passed else "failed" if outcome.is_scored else "unscored"


def _row(entry: SampleEntry) -> dict[str, Any]:
    outcome = to_dict(entry.outcome)
    return {
        **outcome,
        "index": str(outcome["index"]),
        "id": entry.id,
        "input": entry.input,
        "tokens": entry.tokens,
        "retries": entry.retries,
    }


T = TypeVar("T")
SHELF = "cellwright_results"
USUAL_FOLDER = "runs"
PAGE = 100


class ResultRoute(Route):
    """A route that reads results; they are files, so who may not read files may not read them."""

    async def results(self, work: Callable[[ResultCache], T]) -> T:
        """What ``work`` returns, done in a thread.

        Raises:
            Refusal: It may not, or could not, be done.
        """
        is_authorized = self.authorizer.is_authorized
        if not await ensure_async(is_authorized(self, self.current_user, "read", "contents")):
            raise Refusal(403, "You may not read files on this server.")
        shelf = self._shelf()

        def worked(_: Application) -> T:
            try:
                return work(shelf)
            except NotThereError as error:
                raise Refusal(404, error.message, error.hint) from error

        return await self.answer(worked)

    def number(self, name: str, usual: int) -> int:
        """A whole number of the address.

        Raises:
            Refusal: It is none.
        """
        text = self.word(name)
        if not text:
            return usual
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise Refusal(400, f"The parameter {name!r} is {text[:40]!r}, not a whole number.")
        return int(text)

    def path(self, name: str) -> str:
        """A path of the address.

        Raises:
            Refusal: It is missing.
        """
        path = self.word(name)
        if not path:
            raise Refusal(400, f"The parameter {name!r} is missing.", "See the list of results.")
        return path

    def _shelf(self) -> ResultCache:
        if SHELF not in self.settings:
            self.settings[SHELF] = ResultCache(ResultPlaces(self.shared.root))
        return cast("ResultCache", self.settings[SHELF])


class ResultsRoute(ResultRoute):
    """The results below a folder."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Where they are, how large, and whether they grow."""
        folder, since = self.word("folder") or USUAL_FOLDER, self.word("since")
        self.send(await self.results(lambda shelf: shelf.list(folder, since)))


class SummaryRoute(ResultRoute):
    """What one result comes to."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Its numbers, each with its interval."""
        path = self.path("result")
        self.send(await self.results(lambda shelf: shelf.numbers(path)))


class SamplesRoute(ResultRoute):
    """The samples of a result."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """A page of those that fit."""
        path = self.path("result")
        wanted = SampleFilter(
            status=self.word("status"),
            outcome=self.word("outcome"),
            group=self.word("group"),
            text=self.word("query"),
            sort=self.word("sort"),
            start=self.number("start", 0),
            count=self.number("count", PAGE),
        )
        self.send(await self.results(lambda shelf: shelf.page(path, wanted)))


class SampleRoute(ResultRoute):
    """One sample."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """All of it, as ``cellwright.sample/1``."""
        path, sample_id = self.path("result"), self.path("id")
        redactor = self.shared.redactor()

        def sample(shelf: ResultCache) -> Any:
            return trimmed(redactor.event(shelf.sample(path, sample_id)).to_dict())

        self.send(await self.results(sample))


class CompareRoute(ResultRoute):
    """Two results held together."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """How the second differs from the first, and a page of the samples of both."""
        first, second = self.path("first"), self.path("second")
        start, count = self.number("start", 0), self.number("count", PAGE)
        self.send(await self.results(lambda shelf: shelf.compare(first, second, start, count)))


class LeaderboardRoute(ResultRoute):
    """The results of a folder as a page of their own."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The page, to be saved."""
        folder, redactor = self.word("folder") or USUAL_FOLDER, self.shared.redactor()
        page = await self.results(lambda shelf: shelf.leaderboard(folder, redactor))
        self.send(to_dict(page))


ROUTES: RouteTable = (
    ("results", ResultsRoute),
    ("results/leaderboard", LeaderboardRoute),
    ("results/summary", SummaryRoute),
    ("results/samples", SamplesRoute),
    ("results/sample", SampleRoute),
    ("results/compare", CompareRoute),
)
