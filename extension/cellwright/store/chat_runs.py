"""Which runs a chat has, in order, and which of them a later one took the place of.

A run that was superseded stays: it is drawn folded, and the model is not told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cellwright.store.database import Database, Statement

SELECT = "SELECT chat_id, run_id, position, superseded_by, beside FROM chat_runs"
INSERT_RUN = """INSERT INTO chat_runs (chat_id, run_id, position, beside)
    SELECT ?, ?, 1 + MAX(?, COALESCE(MAX(position), 0)), ? FROM chat_runs WHERE chat_id = ?
    ON CONFLICT (chat_id, run_id) DO NOTHING"""
"""Two processes may add to one chat: the place is looked up where it is taken."""
KEEP_RUN = """INSERT INTO chat_runs (chat_id, run_id, position, superseded_by, beside)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (chat_id, run_id) DO UPDATE SET superseded_by = excluded.superseded_by"""


@dataclass(frozen=True)
class ChatRun:
    """A run as one chat has it."""

    run_id: str
    position: int
    superseded_by: str = ""
    """The run that was asked in its place; empty: it counts."""
    beside: str = ""
    """What the person put beside the prompt, as the panel has it; empty: nothing."""


def members(database: Database, chats: Iterable[str]) -> Mapping[str, Sequence[ChatRun]]:
    """The runs of each chat that has any, in order."""
    wanted = set(chats)
    if not wanted:
        return {}
    only = " WHERE chat_id = ?" if len(wanted) == 1 else ""
    rows = database.read(SELECT + only, tuple(wanted) if only else ())
    # A row that waits in memory comes last, and is newer than the one in the file.
    newest = {(row[0], row[1]): row for row in rows if row[0] in wanted}
    found: dict[str, list[ChatRun]] = {}
    for chat_id, *fields in newest.values():
        found.setdefault(chat_id, []).append(ChatRun(*fields))
    for runs in found.values():
        runs.sort(key=lambda run: (run.position, run.run_id))
    return found


def active(runs: Sequence[ChatRun]) -> tuple[str, ...]:
    """Those that nothing took the place of."""
    return tuple(run.run_id for run in runs if not run.superseded_by)


def before(runs: Sequence[ChatRun], run_id: str) -> tuple[str, ...]:
    """Those that count and came before a run; empty id: all that count."""
    places = {run.run_id: run.position for run in runs}
    end = places.get(run_id)
    return active([run for run in runs if end is None or run.position < end])


def added_run(
    chat_id: str, run_id: str, runs: Sequence[ChatRun], supersedes: str, beside: str = ""
) -> tuple[Statement, ...]:
    """What puts a run at the end of a chat.

    Args:
        chat_id: The chat.
        run_id: The new run.
        runs: What the chat has.
        supersedes: It takes the place of this run and of what followed; empty: of none.
        beside: What was put beside its prompt.
    """
    last = max((run.position for run in runs), default=0)
    known = {run.run_id: run.position for run in runs if run.run_id != run_id}
    first = known.get(supersedes)
    gone = [run for run in runs if first is not None and run.position >= first]
    return (
        Statement(INSERT_RUN, (chat_id, run_id, last, beside, chat_id)),
        *(
            Statement(KEEP_RUN, (chat_id, run.run_id, run.position, run_id, run.beside))
            for run in gone
            if not run.superseded_by and run.run_id != run_id
        ),
    )


def context_of(runs: Sequence[ChatRun], run_id: str) -> tuple[ChatRun, ...]:
    """What had been said up to and with a run, as it counted then; empty: it is none of these."""
    places = {run.run_id: run.position for run in runs}
    end = places.get(run_id)
    if end is None:
        return ()
    return tuple(
        run
        for run in runs
        if run.position <= end
        and (not run.superseded_by or places.get(run.superseded_by, end + 1) > end)
    )


def branched_runs(chat_id: str, runs: Sequence[ChatRun]) -> tuple[Statement, ...]:
    """What lets a new chat have these runs too; all of them count there."""
    return tuple(
        Statement(KEEP_RUN, (chat_id, run.run_id, position, "", run.beside))
        for position, run in enumerate(runs, start=1)
    )
