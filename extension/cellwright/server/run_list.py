"""The recorded runs of the store as a list that a person may see and filter."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cellwright.server.application import Application
from cellwright.server.sorting import Columns, ordered
from cellwright.store.run_summaries import RunSummary

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
) -> dict[str, Any]:
    """A page of runs; None in their place when nothing changed ``since``.

    Args:
        shared: Where the runs are.
        wanted: Which ones.
        since: The version of the list that the page shows.
        is_visible: Whether the person may see what belongs to the chat of that id.
    """
    version = _version(shared, wanted)
    if since == version:
        return {"version": version, "runs": None}
    known = shared.runs.list(limit=2**31, query=wanted.query)
    fitting = ordered([each for each in known if _fits(each, wanted)], wanted.sort, COLUMNS)
    seen = _seen(shared, _following(fitting, wanted.after), is_visible)
    page = list(islice(seen, wanted.count))
    return {
        "version": version,
        "runs": page,
        "after": page[-1]["id"] if next(seen, None) is not None else None,
        "statuses": sorted({summary.status for summary in known}),
        "models": sorted({summary.model for summary in known if summary.model}),
        "lanes": sorted({summary.lane for summary in known if summary.lane}),
    }


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
) -> Iterator[dict[str, Any]]:
    """The runs that the person may see; each is looked at when it is wanted."""
    known: dict[str, bool] = {}
    for summary in summaries:
        chat_id = shared.chats.chat_of(summary.run_id)
        if chat_id not in known:
            known[chat_id] = is_visible(chat_id)
        if known[chat_id]:
            yield _row(summary, chat_id)


def _row(summary: RunSummary, chat_id: str) -> dict[str, Any]:
    return {
        "id": summary.run_id,
        "chat": chat_id,
        "status": summary.status,
        "cause": summary.cause,
        "reason": summary.reason,
        "prompt": summary.prompt[:PROMPT_CHARACTERS],
        "model": summary.model,
        "lane": summary.lane,
        "started_at": summary.started_at,
        "seconds": summary.duration_seconds,
        "tokens": summary.usage.prompt_tokens + summary.usage.completion_tokens,
        "is_estimated": summary.usage.estimated,
        "cost_dollars": summary.cost_dollars,
    }
