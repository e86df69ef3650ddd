"""``cellwright save-sample``: a recorded run becomes a sample of a suite."""

from __future__ import annotations

from pathlib import Path

from cellwright.bench.saving import save_sample as save
from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.records import make_redactor, open_store


def save_sample(invocation: Invocation) -> int:
    """Write a run's sample, and say how to try it."""
    options, console = invocation.options, invocation.console
    with open_store(invocation) as store:
        record = store.record(store.resolve(options.id))
    folder = Path(options.to).expanduser()
    redactor = make_redactor(invocation.settings)
    saved = save(record, folder, options.check, redactor, options.name)
    document = {"id": record.run_id, "path": str(saved.path), "files": list(saved.files)}
    console.result(document, f"{saved.path}\nTry it: cellwright bench run {folder} --agent oracle")
    return COMPLETED
