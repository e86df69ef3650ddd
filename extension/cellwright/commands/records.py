"""The record of runs, as a command opens it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from cellwright.commands import Invocation
from cellwright.redaction import Redactor
from cellwright.settings import Settings
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

__all__ = ["make_redactor", "open_store"]


@contextlib.contextmanager
def open_store(invocation: Invocation) -> Iterator[RunStore]:
    """The record of the settings' folder; what is wrong with it is told."""
    database = open_database(invocation.settings.home / "runs.sqlite")
    try:
        for notice in database.take_notices():
            invocation.console.complain(f"cellwright: {notice.text} {notice.action}".rstrip())
        yield RunStore(database)
    finally:
        database.close()


def make_redactor(settings: Settings) -> Redactor:
    """Takes out the secrets of the environment and the key."""
    return Redactor.from_environment(os.environ, settings.service.api_key)
