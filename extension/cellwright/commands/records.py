"""The record of runs, as a command opens it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from cellwright.commands import Invocation
from cellwright.events import Event
from cellwright.redaction import Redactor
from cellwright.settings import Settings
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunJournal, RunStore

__all__ = ["CommandStore", "make_redactor", "open_store"]


class CommandStore(RunStore):
    """A record that remembers which run this process started last."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.last_started = ""

    def start(self, *events: Event) -> RunJournal:
        """A journal for a new run."""
        journal = super().start(*events)
        self.last_started = journal.run_id
        return journal


@contextlib.contextmanager
def open_store(invocation: Invocation) -> Iterator[CommandStore]:
    """The record of the settings' folder; what is wrong with it is told."""
    database = open_database(invocation.settings.home / "runs.sqlite")
    try:
        for notice in database.take_notices():
            invocation.console.complain(f"cellwright: {notice.text} {notice.action}".rstrip())
        yield CommandStore(database)
    finally:
        database.close()


def make_redactor(settings: Settings) -> Redactor:
    """Takes out the secrets of the environment and the key."""
    return Redactor.from_environment(os.environ, settings.service.api_key)
