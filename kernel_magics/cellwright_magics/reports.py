"""What several commands say: that a run is not on disk, and how to undo one."""

from __future__ import annotations

from cellwright.commands.results import Result
from cellwright.record.events import Notice
from cellwright.record.run_record import RunRecord
from cellwright.store.runs import RunStorage


def unsaved_notice(storage: RunStorage) -> Notice:
    """That a run is not on disk, and how to write what is in memory to a file."""
    command = f"Write it to a file: %agent export {storage.run_id} --to record -o FILE"
    action = command if storage.in_memory else ""
    return Notice("warning", storage.problem, action, "not_on_disk")


def undo_advice(record: RunRecord, why: str) -> Result:
    """What changed and how to get back, where the kernel cannot be taken back.

    Args:
        record: Of the run.
        why: What stands in the way.
    """
    ended = [ran.execution for ran in record.executions if ran.execution is not None]
    names = dict.fromkeys(v.name for execution in ended for v in execution.changed)
    files = dict.fromkeys(file.path for execution in ended for file in execution.files)
    touched = ", ".join([*names, *files]) or "nothing that was noticed"
    count = len(record.start_executed)
    if not count:
        before = "Nothing had been run before it, so a restart is all it takes."
    else:
        cells = "1 cell" if count == 1 else f"{count} cells"
        before = (
            f"Then run the next cell: it holds the {cells} that had been run before it. "
            "They run again in full, files they write included."
        )
    return Result(
        f"Run {record.run_id} changed: {touched}. That cannot be put back here: {why}.\n"
        f"To get to where it started, restart the kernel. {before}"
    )
