"""Which run is whose: what a tool may know of the question it serves."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from cellwright.context.turn_sources import Turn
from cellwright.errors import ToolError
from cellwright.knowledge.memory import Whose, memory_owner, project_of

REMEMBERED = 256
"""Runs, and chats; more than go on at once."""
NO_TURN = "The memory is not there in this run."
GUEST = "The memory is off for guests."
DISABLED = "The memory is off for this assistant."


@dataclass(frozen=True)
class _Seen:
    whose: Whose
    closed: str
    """Why this run has no memory; empty: it has."""


class OpenTurns:
    """The questions that are being answered; safe to use from any thread.

    Args:
        store_owner: Whose store it is, as the system calls them.
    """

    def __init__(self, store_owner: str) -> None:
        self._store_owner = store_owner
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, _Seen] = OrderedDict()
        self._projects: OrderedDict[str, str] = OrderedDict()

    def begin(self, turn: Turn) -> Whose | None:
        """Note a question; whose memory it has, None: none."""
        closed = GUEST if turn.is_guest else DISABLED if turn.assistant.disable_memory else ""
        with self._lock:
            # Code may change the kernel's folder; the notebook stays where it was at first.
            project = self._projects.setdefault(turn.chat_id, project_of(turn.folder))
            whose = Whose(memory_owner(turn.user_id, self._store_owner), project)
            self._runs[turn.run_id] = _Seen(whose, closed)
            for kept in (self._runs, self._projects):
                while len(kept) > REMEMBERED:
                    kept.popitem(last=False)
        return None if closed else whose

    def of(self, run_id: str) -> Whose:
        """Whose memory a run has.

        Raises:
            ToolError: It has none.
        """
        with self._lock:
            seen = self._runs.get(run_id)
        if seen is None or seen.closed:
            raise ToolError(seen.closed if seen is not None else NO_TURN, hint="Go on without it.")
        return seen.whose
