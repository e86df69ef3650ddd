"""``cellwright replay`` and ``rerun``: a recorded run again, in a fresh kernel."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from pathlib import Path

from cellwright.commands import COMPLETED, NOT_COMPLETED, NOT_RECORDED, WRONG_USE, Invocation
from cellwright.commands.notebook_files import check_target, new_notebook
from cellwright.commands.records import EndedRun, check_record_file, end_run, open_store
from cellwright.commands.terminal import one_line
from cellwright.commands.workplace import (
    KernelChoice,
    checked_mode_here,
    exit_code,
    follow,
    make_place,
    open_kernel,
    report,
    run_document,
    say_where,
    storage_document,
)
from cellwright.errors import SetupError
from cellwright.record.events import Event
from cellwright.record.run_record import RunRecord
from cellwright.record.values import to_dict
from cellwright.session.questions import RunContext
from cellwright.session.replaying import (
    Difference,
    ReplayResult,
    compare,
    describe_ending,
)
from cellwright.session.replaying import replay as replay_run
from cellwright.session.replaying import rerun as rerun_run
from cellwright.session.services import Service, open_service
from cellwright.settings import checked_mode
from cellwright.stopping import Stop
from cellwright.store.runs import RunStore

Start = Callable[[RunRecord, RunContext, Stop], Generator[Event, None, None]]


def replay(invocation: Invocation) -> int:
    """Run the recorded code again and tell what differs."""
    with open_store(invocation) as store:
        old = store.record(store.resolve(invocation.options.id))
        ended = again(invocation, store, old, replay_run)
    new = ended.record
    result = ReplayResult(new, compare(old, new))
    if exit_code(new) != exit_code(old) and not _both_broke_off(old, new):
        return report(ended, invocation, source_run=old.run_id)
    lines = [*difference_lines(old, result.differences), *map(one_line, new.notices)]
    differences = [to_dict(difference) for difference in result.differences]
    say_where(ended, invocation)
    document = {
        **run_document(new),
        **storage_document(ended),
        "source_run": old.run_id,
        "differences": differences,
    }
    document["notices"] = list(new.notices)
    code = NOT_COMPLETED if differences else _code_of_same(ended)
    invocation.console.result({**document, "exit_code": code}, "\n".join(lines))
    return code


def _code_of_same(ended: EndedRun) -> int:
    if ended.problem:
        return NOT_RECORDED
    return WRONG_USE if ended.unwritten else COMPLETED


def _both_broke_off(old: RunRecord, new: RunRecord) -> bool:
    return old.status == "running" and new.status == "cancelled"


def rerun(invocation: Invocation) -> int:
    """Ask the same question again from the same start."""
    options = invocation.options
    with open_store(invocation) as store:
        old = store.record(store.resolve(options.id))
        mode = options.mode or checked_mode(old.mode or "ask", "the run's mode")
        old = replace(old, mode=checked_mode_here(invocation, mode))
        service = open_service(invocation.settings, options.model or old.parameters.model)
        with contextlib.closing(service):
            ended = again(invocation, store, old, lambda *there: _rerun(service, *there))
    return report(ended, invocation, source_run=old.run_id)


def _rerun(
    service: Service, record: RunRecord, place: RunContext, stop: Stop
) -> Generator[Event, None, None]:
    return rerun_run(record, place, service, stop)


def again(invocation: Invocation, store: RunStore, old: RunRecord, start: Start) -> EndedRun:
    """The run that comes of starting a recorded one again.

    Raises:
        SetupError: The folder it ran in is gone.
    """
    options, stop = invocation.options, Stop()
    target = check_target(options.output) if options.output else None
    check_record_file(options.record)
    folder = _folder(old, options.cwd)
    for name in changed_files(old.files, folder):
        invocation.console.complain(f"cellwright: {one_line(name)} has changed since that run.")
    notebook = new_notebook(old.start_cells)
    choice = KernelChoice(folder, options.kernel)
    with open_kernel(choice, notebook, stop, invocation.console) as kernel:
        place = make_place(invocation, kernel, store, notebook)
        place = replace(place, lane="replay" if start is replay_run else "cli")
        follow(start(old, place, stop), invocation, stop)
    unwritten = ""
    if target is not None:
        try:
            notebook.write(target)
        except SetupError as error:
            unwritten = str(error)  # what came of the run is said all the same
    return replace(end_run(invocation, store), unwritten=unwritten)


def _folder(old: RunRecord, given: str | None) -> Path:
    folder = Path(given or old.cwd or ".").expanduser()
    if folder.is_dir():
        return folder
    raise SetupError(
        f"The folder {str(folder)!r} that the run was in is not there.",
        hint="Name another one with its files: --cwd DIR.",
    )


def changed_files(files: Mapping[str, str], folder: Path) -> tuple[str, ...]:
    """Those named files that are there but are not what they were."""
    changed = []
    for name, digest in files.items():
        path = folder / name
        if not digest or not path.is_file():
            continue
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                changed.append(name)
    return tuple(changed)


def difference_lines(old: RunRecord, differences: tuple[Difference, ...]) -> list[str]:
    """The differences in words."""
    cells = _count(len(old.cells), "cell")
    ending = [describe_ending(old)] if describe_ending(old) else []
    if not differences:
        return [f"{cells}, no differences.", *ending]
    lines = [*ending, f"{_count(len(differences), 'difference')} in {cells}:"]
    for difference in differences:
        lines += [
            f"cell {difference.cell_number}: {difference.what}"
            if difference.cell_number
            else difference.what,
            f"  recorded: {one_line(difference.recorded)}",
            f"  replayed: {one_line(difference.replayed)}",
        ]
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
