"""Which calling cells can have cells painted under them: those a front end has announced.

A front end that paints opens a comm just before it has a cell executed; the kernel never opens
one, so that no other front end gets a message it does not know.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TARGET = "cellwright"
PROTOCOL = 1


@dataclass(frozen=True)
class PaintedBefore:
    """A cell of an earlier run, as the notebook has it now."""

    cell_id: str
    source: str
    painted_by: str
    """Id of the cell under which it was painted."""


@dataclass
class Easel:
    """One announced execution of a calling cell, and the way to the front end.

    Messages go one way: a running cell gets no answer.
    """

    comm: Any
    cell_id: str
    session: str
    """Of the client that announced it; requests of others are not its."""
    painted: tuple[PaintedBefore, ...] = ()
    request_id: str = ""
    """The execution it belongs to; empty: it has not come yet."""

    def send(self, kind: str, **content: Any) -> None:
        """Tell the front end; what was printed so far comes before it."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(ValueError, OSError, AttributeError):
                stream.flush()
        self.comm.send({"op": kind, **content})


@dataclass
class Easels:
    """The announced cells of one kernel."""

    _announced: dict[str, Easel] = field(default_factory=dict)
    _started: set[str] = field(default_factory=set)
    """Ids of the comms over which runs began, each of which replaced what was painted before."""
    skipped_counts: set[int] = field(default_factory=set)
    """Execution counts of cells that were queued and did not run."""
    _shell: Any = None

    def listen(self, shell: Any) -> None:
        """Take announcements, where this is a kernel that knows comms."""
        self._shell = shell
        comms = getattr(getattr(shell, "kernel", None), "comm_manager", None)
        if comms is not None:
            comms.register_target(TARGET, self._announce)

    def close(self) -> None:
        """Take no more, and let go of all."""
        comms = getattr(getattr(self._shell, "kernel", None), "comm_manager", None)
        if comms is not None:
            comms.targets.pop(TARGET, None)
        for easel in self._announced.values():
            easel.comm.close()
        self._announced.clear()

    def of(self, request: Mapping[str, Any]) -> Easel | None:
        """The easel of the cell that an execute request runs; None: nobody paints for it."""
        easel = self._announced.get(_cell_id(request))
        header = request.get("header", {})
        if easel is None or header.get("session") != easel.session:
            return None
        request_id = str(header.get("msg_id", ""))
        easel.request_id = easel.request_id or request_id
        return easel if easel.request_id == request_id else None

    def start(self, easel: Easel, run_id: str) -> None:
        """A run begins: what was painted here before goes."""
        self._started.add(easel.comm.comm_id)
        easel.send("start", run=run_id)

    def leave_out_replaced(self, lines: list[str]) -> list[str]:
        """The lines of a cell; none of them when it was queued and then painted anew.

        With Run All a painted cell is queued together with the cell that paints it again.
        """
        if not self._started:
            return lines
        request = self._shell.get_parent() or {}
        part = request.get("metadata", {}).get("cellwright")
        if not isinstance(part, Mapping) or part.get("replaced_by") not in self._started:
            return lines
        self.skipped_counts.add(self._shell.execution_count)
        return []

    def _announce(self, comm: Any, message: Mapping[str, Any]) -> None:
        data = message["content"]["data"]
        cell_id = data.get("cell_id")
        if data.get("protocol") != PROTOCOL or not isinstance(cell_id, str) or not cell_id:
            comm.close()
            return
        earlier = self._announced.pop(cell_id, None)
        if earlier is not None:
            earlier.comm.close()
        session = str(message["header"].get("session", ""))
        self._announced[cell_id] = Easel(comm, cell_id, session, _painted(data.get("painted")))


def _cell_id(request: Mapping[str, Any]) -> str:
    return str(request.get("metadata", {}).get("cellId", ""))


def _painted(told: Any) -> tuple[PaintedBefore, ...]:
    rows = told if isinstance(told, list) else []
    names = ("cell_id", "source", "painted_by")
    return tuple(
        PaintedBefore(*(str(row.get(name, "")) for name in names))
        for row in rows
        if isinstance(row, Mapping)
    )
