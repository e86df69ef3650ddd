"""The recorded runs: a list of them, each as a sample, and the cells that they left."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.errors import SetupError
from cellwright.exports.sampling import sample_of
from cellwright.record.events import CellAdded, CellEdited, CellMoved
from cellwright.record.outputs import Cell, to_nbformat
from cellwright.record.run_record import RecordedEvent, fold
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.record_pages import Columns, ordered, trimmed
from cellwright.server.rest_types import AgentCell, EarlierCells, MissingCells, RecordedRunCell
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.session.resuming import executed_before
from cellwright.store.chat_rows import may_open
from cellwright.store.runs import Fate, RunSummary
from cellwright.text.redaction import PLACEHOLDER

# The cells that runs made or changed, folded from the record, for a tab that was away.


def run_cells(events: Sequence[RecordedEvent], fates: Mapping[str, Fate]) -> list[RecordedRunCell]:
    """The cells that a run added or changed, in order, and what became of them."""
    places = _Places.of(events)
    return [
        RecordedRunCell(**_made(recorded.cell, places), fate=fates.get(recorded.cell.id, ""))
        for recorded in fold(events).cells
        if recorded.cell.id in places.touched and not recorded.is_removed
    ]


def missing_cells(shared: Application, path: str, owner: str) -> list[MissingCells]:
    """Cells that agents made for a notebook and of which nobody has said what became of them.

    Runs that go on are left out: their tab is told of them as they happen.
    """
    found = []
    for chat in reversed(shared.chats.list(path, owner=owner)):
        for run_id in shared.chats.run_ids(chat.chat_id):
            cells = _missing(shared, run_id)
            if cells:
                found.append(MissingCells(run_id, chat.chat_id, cells))
    return found


def _missing(shared: Application, run_id: str) -> tuple[AgentCell, ...]:
    fates = shared.fates.of(run_id)
    events = shared.runs.events(run_id)
    places = _Places.of(events)
    if places.added <= set(fates):
        return ()
    record = shared.runs.record(run_id)
    if record.status == "running":
        return ()
    return tuple(
        AgentCell(**_made(recorded.cell, places))
        for recorded in record.cells
        if recorded.cell.id in places.added - set(fates) and not recorded.is_removed
    )


@dataclass
class _Places:
    """Which cells a run added or changed, and where it put them."""

    added: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    after: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[RecordedEvent]) -> _Places:
        places = cls()
        for recorded in events:
            match recorded.event:
                case CellAdded(cell_id=cell_id, after=after, is_scratch=False):
                    places.added.add(cell_id)
                    places.after[cell_id] = after
                case CellMoved(cell_id=cell_id, after=after):
                    places.after[cell_id] = after
                case CellEdited(cell_id=cell_id):
                    pass
                case _:
                    continue
            places.touched.add(cell_id)
        return places


def _made(cell: Cell, places: _Places) -> dict[str, Any]:
    return {
        "cell_id": cell.id,
        "source": cell.source,
        "cell_type": cell.cell_type,
        "after": places.after.get(cell.id, ""),
        "outputs": tuple(to_nbformat(output) for output in cell.outputs),
        "execution_count": cell.execution_count,
    }


CELLS_LIMIT = 2_000


class RunRoute(Route):
    """A route of one run."""

    guest_methods = ("GET", "POST")


class RunCellsRoute(RunRoute):
    """The cells that a run added or changed."""

    @web.authenticated
    @authorized
    async def get(self, run_id: str) -> None:
        """Each with its outputs and what became of it."""

        def cells(shared: Application) -> list[RecordedRunCell]:
            self.check_run(shared, run_id)
            return run_cells(shared.runs.events(run_id), shared.fates.of(run_id))

        self.send(to_dict(await self.answer(cells)))


class RunFatesRoute(RunRoute):
    """What became of a run's cells."""

    @web.authenticated
    @authorized
    async def post(self, run_id: str) -> None:
        """Keep it."""
        fates = self.fields(fates=dict).get("fates", {})
        if len(fates) > CELLS_LIMIT or not all(isinstance(fate, str) for fate in fates.values()):
            raise Refusal(400, "'fates' is not an object of cell ids and words.")

        def keep(shared: Application) -> dict[str, str]:
            self.check_run(shared, run_id)
            shared.fates.set(run_id, fates)
            return dict(shared.fates.of(run_id))

        self.send({"fates": await self.answer(keep)})


class RunBeforeRoute(RunRoute):
    """What ran in the kernel before a run, or before one of its cells."""

    @web.authenticated
    @authorized
    async def get(self, run_id: str) -> None:
        """The cells, in order: run again after a restart, they bring the kernel there."""
        step = self.word("step")

        def cells(shared: Application) -> EarlierCells:
            self.check_run(shared, run_id)
            return EarlierCells(cells_before(shared, run_id, int(step) if step.isdecimal() else 0))

        self.send(to_dict(await self.answer(cells)))


def cells_before(shared: Application, run_id: str, step: int) -> tuple[str, ...]:
    """Source of what ran in the kernel before one of a run's cells, in order.

    Args:
        shared: Whose runs and chats are looked at.
        run_id: The run.
        step: Which of its cells, counted from 1; 0: before the run.

    Raises:
        SetupError: It is not known, or a secret of it was not recorded.
    """
    record = shared.runs.record(run_id)
    if record.kernel.get("language", "python") != "python":
        raise SetupError(
            f"It is not recorded what you ran in a kernel of {record.kernel['language']!r}.",
            hint="Restart the kernel and run the cells before it yourself.",
        )
    sources = executed_before(record, step, shared.runs, shared.chats)
    if any(PLACEHOLDER.search(source) for source in sources):
        raise SetupError(
            "A cell that would run again held a secret, which the record does not keep.",
            hint="Restart the kernel and run the cells before it yourself.",
        )
    return sources


class MissingCellsRoute(Route):
    """What was made for a notebook while it was closed."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Agents' cells of the notebook's chats of which nothing is known.

        None while another page has the notebook open: it shows them and can save them.
        """
        path, tab, owner = self.word("path"), self.word("tab"), self.owner
        if not path:
            raise Refusal(400, "The parameter 'path' is missing.", "Give a notebook's path.")

        def missing(shared: Application) -> list[MissingCells]:
            if shared.live is not None and shared.live.is_open_elsewhere(path, tab, owner):
                return []
            return missing_cells(shared, path, owner)

        self.send(to_dict(await self.answer(missing)))


# The recorded runs of the store as a list that a person may see and filter.


PROMPT_CHARACTERS = 300
STALE_SECONDS = 20
"""A run whose process is gone has ended, though nothing says so in the file."""
COLUMNS: Columns[RunSummary] = {
    "prompt": lambda run: run.prompt.casefold(),
    "status": lambda run: run.status,
    "model": lambda run: run.model.casefold(),
    "lane": lambda run: run.lane,
    "started": lambda run: run.started_at,
    "seconds": lambda run: run.duration_seconds,
    "tokens": lambda run: run.usage.prompt_tokens + run.usage.completion_tokens,
    "cost": lambda run: run.cost_dollars,
}


@dataclass(frozen=True)
class RunRow:
    """A recorded run in one line."""

    id: str
    chat: str
    status: str
    cause: str
    reason: str
    prompt: str
    model: str
    lane: str
    started_at: float
    seconds: float
    tokens: int
    is_estimated: bool
    cost_dollars: float | None


@dataclass(frozen=True)
class RunPage:
    """Some runs, newest first or sorted, and what they can be filtered by."""

    version: str
    runs: tuple[RunRow, ...] | None
    """None: nothing changed."""
    after: str | None = None
    """Id of the last one, when there are more."""
    statuses: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    lanes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunFilter:
    """Which runs, and which page of them."""

    query: str = ""
    status: str = ""
    model: str = ""
    lane: str = ""
    sort: str = ""
    """A column, with ``-`` before it the other way round; empty: the newest first."""
    after: str = ""
    """Id of the last run of the page before; empty: the first page."""
    count: int = 100


def run_list(
    shared: Application, wanted: RunFilter, since: str, is_visible: Callable[[str], bool]
) -> RunPage:
    """A page of runs; None in their place when nothing changed ``since``.

    Args:
        shared: Where the runs are.
        wanted: Which ones.
        since: The version of the list that the page shows.
        is_visible: Whether the person may see what belongs to the chat of that id.
    """
    version = _version(shared, wanted)
    if since == version:
        return RunPage(version, None)
    known = shared.runs.list(limit=2**31, query=wanted.query)
    fitting = ordered([each for each in known if _fits(each, wanted)], wanted.sort, COLUMNS)
    seen = _seen(shared, _following(fitting, wanted.after), is_visible)
    page = tuple(islice(seen, wanted.count))
    return RunPage(
        version,
        page,
        after=page[-1].id if next(seen, None) is not None else None,
        statuses=tuple(sorted({summary.status for summary in known})),
        models=tuple(sorted({summary.model for summary in known if summary.model})),
        lanes=tuple(sorted({summary.lane for summary in known if summary.lane})),
    )


def _version(shared: Application, wanted: RunFilter) -> str:
    rows = shared.database.read("SELECT COUNT(*), MAX(last_at), SUM(last_at) FROM runs")
    facts = (rows, wanted, int(time.time() / STALE_SECONDS))
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _fits(summary: RunSummary, wanted: RunFilter) -> bool:
    return (
        wanted.status in ("", summary.status)
        and wanted.model in ("", summary.model)
        and wanted.lane in ("", summary.lane)
    )


def _following(found: list[RunSummary], after: str) -> list[RunSummary]:
    """What comes after a run; all of it where there is no such run."""
    places = [number for number, summary in enumerate(found) if summary.run_id == after]
    return found[places[0] + 1 :] if places else found


def _seen(
    shared: Application, summaries: list[RunSummary], is_visible: Callable[[str], bool]
) -> Iterator[RunRow]:
    """The runs that the person may see; each is looked at when it is wanted."""
    known: dict[str, bool] = {}
    for summary in summaries:
        chat_id = shared.chats.chat_of(summary.run_id)
        if chat_id not in known:
            known[chat_id] = is_visible(chat_id)
        if known[chat_id]:
            yield _row(summary, chat_id)


def _row(summary: RunSummary, chat_id: str) -> RunRow:
    return RunRow(
        id=summary.run_id,
        chat=chat_id,
        status=summary.status,
        cause=summary.cause,
        reason=summary.reason,
        prompt=summary.prompt[:PROMPT_CHARACTERS],
        model=summary.model,
        lane=summary.lane,
        started_at=summary.started_at,
        seconds=summary.duration_seconds,
        tokens=summary.usage.prompt_tokens + summary.usage.completion_tokens,
        is_estimated=summary.usage.estimated,
        cost_dollars=summary.cost_dollars,
    )


PAGE = 100


class RunsRoute(RunRoute):
    """The recorded runs."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """A page of those that fit, sorted by a column or the newest first."""
        wanted = RunFilter(
            query=self.word("query"),
            status=self.word("status"),
            model=self.word("model"),
            lane=self.word("lane"),
            sort=self.word("sort"),
            after=self.word("after"),
            count=PAGE,
        )
        since, person = self.word("since"), self.owner

        def listed(shared: Application) -> RunPage:
            def is_visible(chat_id: str) -> bool:
                if not chat_id:
                    return may_open(person, "")
                chat = shared.chats.find(chat_id)
                return chat is not None and may_open(person, chat.owner)

            return run_list(shared, wanted, since, is_visible)

        self.send(to_dict(await self.answer(listed)))


class RunSampleRoute(RunRoute):
    """One run as a sample."""

    @web.authenticated
    @authorized
    async def get(self, run_id: str) -> None:
        """What was said and run, as ``cellwright.sample/1`` with its chat; nothing was scored."""

        def sample(shared: Application) -> Any:
            self.check_run(shared, run_id)
            record = shared.redactor().event(shared.runs.record(run_id))
            shown: dict[str, Any] = trimmed(sample_of(record, run_id).to_dict())
            return {**shown, "chat": shared.chats.chat_of(run_id)}

        self.send(await self.answer(sample))


ROUTES: RouteTable = (
    (f"runs/{ROUTE_ID}/cells", RunCellsRoute),
    (f"runs/{ROUTE_ID}/before", RunBeforeRoute),
    (f"runs/{ROUTE_ID}/fates", RunFatesRoute),
    ("notebooks/missing", MissingCellsRoute),
    ("runs", RunsRoute),
    (f"runs/{ROUTE_ID}/sample", RunSampleRoute),
)
