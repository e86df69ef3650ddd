"""Which process writes a run or answers in a chat, and whether that process is still there."""

from __future__ import annotations

import functools
import json
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError, StoreError
from cellwright.store.database import Database, Statement

OTHER_HOST_SECONDS = 3_600.0
"""A run on another machine that has written nothing for so long counts as ended."""


def this_process() -> dict[str, Any]:
    """What tells this process from every other, on any machine that shares the record."""
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "boot": _boot_id(),
        "began": _beginning(os.getpid()),
    }


def is_alive(owner: Mapping[str, Any], silent_seconds: float) -> bool:
    """Whether the process that wrote a run is there.

    Args:
        owner: What ``this_process`` said there.
        silent_seconds: How long ago the run last wrote something.
    """
    if owner.get("host") != socket.gethostname() or sys.platform == "win32":
        return silent_seconds < OTHER_HOST_SECONDS
    if owner.get("boot") != _boot_id():
        return False
    pid = int(owner.get("pid", 0))
    return _exists(pid) and owner.get("began") in ("", _beginning(pid))


@functools.cache
def _boot_id() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    return ""


def _beginning(pid: int) -> str:
    """When a process began, in the kernel's ticks; a process number is used again."""
    with suppress(OSError, IndexError):
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = status.rpartition(")")[2].split()
        return "" if fields[0] == "Z" else fields[19]
    return ""


def _exists(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# One run at a time in a chat, whatever process it runs in; a process that died holds nothing.


TAKE = "INSERT OR IGNORE INTO chat_claims (chat_id, token, owner, at) VALUES (?, ?, ?, ?)"
RELEASE = "DELETE FROM chat_claims WHERE chat_id = ? AND token = ?"
RELEASE_OWN = "DELETE FROM chat_claims WHERE chat_id = ? AND owner = ?"
SELECT = "SELECT token, owner, at FROM chat_claims WHERE chat_id = ?"
LAST_EVENT = """SELECT MAX(last_at) FROM runs
    WHERE run_id IN (SELECT run_id FROM chat_runs WHERE chat_id = ?)"""


class ChatBusyError(SetupError):
    """Another process answers in the chat just now."""


class ChatClaims:
    """Who works in which chat of one database.

    Args:
        database: Where it is written.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    @contextmanager
    def held(self, chat_id: str) -> Iterator[None]:
        """Work in a chat alone.

        Raises:
            ChatBusyError: Another process does.
        """
        token = self.take(chat_id)
        try:
            yield
        finally:
            with suppress(StoreError):
                self._database.write(Statement(RELEASE, (chat_id, token)))

    def take(self, chat_id: str) -> str:
        """The token of a claim that holds as long as this process lives.

        Raises:
            ChatBusyError: Another process has one.
        """
        token = secrets.token_hex(16)
        owner = json.dumps(this_process())
        claim = Statement(TAKE, (chat_id, token, owner, self._clock()))
        # Deleting by token: whoever came in between is not thrown out.
        dead = [Statement(RELEASE, (chat_id, found)) for found in self._dead(chat_id)]
        self._database.write(*dead, claim)
        holders = {row[0] for row in self._database.read(SELECT, (chat_id,))}
        if holders - {token}:
            raise ChatBusyError(
                "Another program is answering in this chat.",
                hint="Wait for it, stop it there, or begin a new chat.",
            )
        return token

    def let_go(self, chat_id: str) -> None:
        """Give up what this process holds in a chat, where whoever took it does not react."""
        owner = json.dumps(this_process())
        with suppress(StoreError):
            self._database.write(Statement(RELEASE_OWN, (chat_id, owner)))

    def is_held(self, chat_id: str, *, elsewhere: bool = False) -> bool:
        """Whether a process that lives works in a chat.

        Args:
            chat_id: The chat.
            elsewhere: Only another process counts.
        """
        mine = this_process() if elsewhere else None
        rows = self._database.read(SELECT, (chat_id,))
        claims = {token for token, owner, _ in rows if json.loads(owner) != mine}
        return bool(claims - set(self._dead(chat_id)))

    def _dead(self, chat_id: str) -> tuple[str, ...]:
        """The tokens of processes that are gone."""
        found = []
        for token, owner, at in self._database.read(SELECT, (chat_id,)):
            silent = self._clock() - max(at, self._last_event(chat_id))
            if not is_alive(json.loads(owner), silent):
                found.append(str(token))
        return tuple(found)

    def _last_event(self, chat_id: str) -> float:
        times = [row[0] for row in self._database.read(LAST_EVENT, (chat_id,)) if row[0]]
        return max(times, default=0.0)
