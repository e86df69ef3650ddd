"""Which turns of a chat are pinned: their words stay in its context however long it gets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from cellwright.context.pinned_runs import pinned_turn
from cellwright.context.pins import PINNED_TOKENS, PinnedTurn
from cellwright.errors import SetupError
from cellwright.record.run_record import Runs
from cellwright.store.chat_runs import active, members
from cellwright.store.database import Database, Statement

PINS_LIMIT = 20
INSERT = """INSERT INTO chat_pins (chat_id, run_id, created_at) VALUES (?, ?, ?)
    ON CONFLICT (chat_id, run_id) DO NOTHING"""
SELECT = "SELECT chat_id, run_id FROM chat_pins{} ORDER BY created_at, rowid"
OF_ONE = " WHERE chat_id = ?"
DELETE = "DELETE FROM chat_pins WHERE chat_id = ? AND run_id = ?"
COPY = """INSERT INTO chat_pins (chat_id, run_id, created_at)
    SELECT ?, run_id, created_at FROM chat_pins WHERE chat_id = ? AND run_id = ?"""
UNPIN = "Unpin something first."


class PinsFullError(SetupError):
    """More cannot be pinned in the chat."""


@dataclass(frozen=True)
class ChatPins:
    """The pins of the chats of one database; safe to use from any thread.

    Args:
        database: Where they are written.
        runs: Knows what was said.
        clock: Seconds since the epoch.
    """

    database: Database
    runs: Runs
    clock: Callable[[], float] = time.time

    def of(self, chat_id: str) -> tuple[str, ...]:
        """The runs that are pinned in a chat, in the order in which they were."""
        return self.of_all((chat_id,)).get(chat_id, ())

    def of_all(self, chats: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """The same for each of these chats that has any."""
        wanted = set(chats)
        only = OF_ONE if len(wanted) == 1 else ""
        rows = self.database.read(SELECT.format(only), tuple(wanted) if only else ())
        found: dict[str, dict[str, None]] = {}
        for chat_id, run_id in rows:
            if chat_id in wanted:
                found.setdefault(chat_id, {})[run_id] = None
        return {chat_id: tuple(runs) for chat_id, runs in found.items()}

    def pin(self, chat_id: str, run_id: str) -> None:
        """Let the words of a run stay; one that is pinned stays so.

        Raises:
            PinsFullError: Too many are pinned, or they are too long together.
            SetupError: The chat has no such run that counts.
        """
        runs = active(members(self.database, (chat_id,)).get(chat_id, ()))
        if run_id not in runs:
            raise SetupError(f"The chat has no run {run_id!r}.", hint="See %agent runs.")
        pinned = [run for run in self.of(chat_id) if run in runs]
        if run_id in pinned:
            return
        if len(pinned) >= PINS_LIMIT:
            raise PinsFullError(f"{PINS_LIMIT} turns are pinned already.", hint=UNPIN)
        self._must_fit(run_id, sum(turn.tokens for turn in self._read(pinned)))
        self.database.write(Statement(INSERT, (chat_id, run_id, self.clock())))

    def unpin(self, chat_id: str, run_id: str) -> None:
        """Let the words of a run go, with the next turns that are left out."""
        self.database.write(Statement(DELETE, (chat_id, run_id)))

    def turns(
        self, chat_id: str, until: str, known: Sequence[PinnedTurn] = ()
    ) -> tuple[PinnedTurn, ...]:
        """The pinned turns of a chat that count, in the order in which they were asked.

        Args:
            chat_id: The chat.
            until: The last run that is looked at; a run that takes the place of others comes
                after it.
            known: Turns that were read before and need not be again.
        """
        pinned = self.of(chat_id)
        if not pinned:
            return ()
        runs = active(members(self.database, (chat_id,)).get(chat_id, ()))
        runs = runs[: runs.index(until) + 1] if until in runs else ()
        return self._read([run for run in runs if run in pinned], known)

    def copied(self, chat_id: str, to: str, runs: Iterable[str]) -> tuple[Statement, ...]:
        """What pins in another chat those of these runs that are pinned in this one."""
        pinned = self.of(chat_id)
        return tuple(Statement(COPY, (to, chat_id, run)) for run in runs if run in pinned)

    def _read(
        self, runs: Iterable[str], known: Sequence[PinnedTurn] = ()
    ) -> tuple[PinnedTurn, ...]:
        # A run that is not answered yet is read again.
        there = {turn.run_id: turn for turn in known if turn.answer.text}
        found: list[PinnedTurn] = []
        for run_id in runs:
            with suppress(SetupError):  # nothing of it was written
                found.append(there.get(run_id) or pinned_turn(self.runs.record(run_id)))
        return tuple(found)

    def _must_fit(self, run_id: str, others: int) -> None:
        own = pinned_turn(self.runs.record(run_id)).tokens
        if own + others <= PINNED_TOKENS:
            return
        together = f", {own + others:,} with what is pinned already" if others else ""
        raise PinsFullError(
            f"This turn has about {own:,} tokens{together}; at most {PINNED_TOKENS:,} can be "
            "pinned.",
            hint=UNPIN if others else "Have its gist said in a turn of its own and pin that.",
        )
