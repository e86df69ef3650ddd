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


def undo_advice(record: RunRecord, why: str, step: int, count: int, offer: str) -> Result:
    """What changed and how to get back, where the kernel cannot be taken back.

    Args:
        record: Of the run.
        why: What stands in the way.
        step: From which of its cells on, counted from 1; 0: all of it.
        count: How many cells had run before, which the next cell holds.
        offer: What is put back nevertheless, if the person asks for it.
    """
    undone = record.executions[max(0, step - 1) :]
    ended = [ran.execution for ran in undone if ran.execution is not None]
    names = dict.fromkeys(v.name for execution in ended for v in execution.changed)
    files = dict.fromkeys(file.path for execution in ended for file in execution.files)
    touched = ", ".join([*names, *files]) or "nothing that was noticed"
    what = f"Run {record.run_id}, from cell {step} on," if step > 1 else f"Run {record.run_id}"
    if not count:
        before = "Nothing had been run before it, so a restart is all it takes."
    else:
        cells = "1 cell" if count == 1 else f"{count} cells"
        before = (
            f"Then run the next cell: it holds the {cells} that had been run before it. "
            "They run again in full, files they write included."
        )
    return Result(
        f"{what} changed: {touched}. That cannot be put back here: {why}.\n"
        f"To get to where it started, restart the kernel. {before} {offer}".rstrip()
    )
