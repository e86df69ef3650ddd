"""The record of runs, as a command opens it, and what of a run is in it when the command ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from cellwright.commands import EndedRun, Invocation
from cellwright.commands.notebook_files import check_target
from cellwright.commands.terminal import one_line
from cellwright.errors import CellwrightError, SetupError
from cellwright.llm.keys import SignIns
from cellwright.settings import Settings
from cellwright.store.database import open_database
from cellwright.store.runs import RunStorage, RunStore
from cellwright.text.redaction import Redactor

PATIENCE_SECONDS = 10.0
"""With the process goes what is not on disk, so another process's lock is waited for."""


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


def check_record_file(name: str) -> Path | None:
    """Where a run's own record is to be written; None: nowhere.

    Raises:
        SetupError: Something is there already, or nothing can be written there.
    """
    path = check_target(name) if name else None
    if path is not None and path.exists():
        raise SetupError(f"{name!r} is there already.", hint="Name a new file for the record.")
    return path


def end_run(invocation: Invocation, store: RunStore) -> EndedRun:
    """The run that was recorded last; the record is closed after a last try to write it."""
    run_id = store.last_started
    record, storage = store.record(run_id), store.storage(run_id, PATIENCE_SECONDS)
    file = _write_apart(invocation, store, storage)
    if store.database.close() and storage.in_memory:
        storage = RunStorage(run_id, storage.on_disk + storage.in_memory, 0)
    return EndedRun(record, storage, file)


def _write_apart(invocation: Invocation, store: RunStore, storage: RunStorage) -> str:
    """Write the run to a file that the user names; the file, or nothing."""
    console = invocation.console
    name: str = invocation.options.record
    if storage.problem and not name and console.is_interactive:
        console.complain(f"cellwright: {storage.problem}")
        name = console.ask("Write it to a file of its own? Its name, or Enter to let it go: ")
    try:
        path = check_record_file(name)
        if path is None:
            return ""
        store.write_to(storage.run_id, path)
    except (CellwrightError, OSError) as error:
        console.complain(f"cellwright: {one_line(str(error))}")
        return ""
    return name


def make_redactor(settings: Settings) -> Redactor:
    """Takes out the secrets of the environment, the key and the tokens of MCP servers."""
    tokens = SignIns(settings.home).secrets()
    return Redactor.from_environment(os.environ, settings.service.api_key, tokens)
