"""``replay`` and ``rerun``: a recorded run again, in a fresh kernel or in a copy of its state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.commands import (
    COMPLETED,
    NOT_COMPLETED,
    NOT_RECORDED,
    WRONG_USE,
    EndedRun,
    Face,
    KernelChoice,
    VerbContext,
)
from cellwright.commands.notebook_files import check_target, new_notebook
from cellwright.commands.results import Result
from cellwright.commands.terminal import one_line
from cellwright.commands.workplace import exit_code, run_document, storage_document
from cellwright.errors import SetupError
from cellwright.record.events import Event
from cellwright.record.run_record import RunRecord
from cellwright.record.values import to_dict
from cellwright.session.questions import RunContext
from cellwright.session.replaying import (
    Difference,
    choose_other,
    compare,
    describe_ending,
)
from cellwright.session.replaying import replay as replay_run
from cellwright.session.replaying import rerun as rerun_run
from cellwright.session.run import Run
from cellwright.settings import checked_mode
from cellwright.stopping import Stop
from cellwright.store.runs import RunStore

Start = Callable[[RunRecord, RunContext, Stop], Generator[Event, None, None]]


@dataclass(frozen=True, repr=False)
class ReplayedRun(Result):
    """A replay, held against its record."""

    run: Run | None = None
    differences: tuple[Difference, ...] = ()


def replay(context: VerbContext) -> ReplayedRun:
    """Run the recorded code again and tell what differs."""
    face = context.open_face()
    with context.open_store() as store:
        old = store.record(store.resolve(context.words[0]))
        ended = _repeat(context, face, store, old, replay_run)
    new = ended.record
    result = compare_replay(old, Run(new, ended.problem))
    code = NOT_COMPLETED if result.differences else _code_of_same(ended)
    if exit_code(new) == exit_code(old) or _both_broke_off(old, new):
        face.tell_lost(ended)
    else:
        face.finish(ended, old.run_id)
        code = exit_code(new) or code
    document = {
        **run_document(new),
        **storage_document(ended),
        "source_run": old.run_id,
        "differences": [to_dict(difference) for difference in result.differences],
        "notices": list(new.notices),
        "exit_code": code,
    }
    return replace(result, document=document, exit_code=code)


def compare_replay(recorded: RunRecord, run: Run) -> ReplayedRun:
    """Say in which cells a replay differs from its record."""
    differences = compare(recorded, run.record)
    lines = difference_lines(recorded, differences)
    rows = [
        (str(d.cell_number or "–"), d.what, one_line(d.recorded), one_line(d.replayed))
        for d in differences
    ]
    return ReplayedRun(
        "" if rows else " ".join(lines),
        ("cell", "differs in", "recorded", "replayed"),
        rows,
        differences,
        plain="\n".join([*lines, *map(one_line, run.record.notices)]),
        run=run,
        differences=differences,
    )


def _code_of_same(ended: EndedRun) -> int:
    if ended.problem:
        return NOT_RECORDED
    return WRONG_USE if ended.unwritten else COMPLETED


def _both_broke_off(old: RunRecord, new: RunRecord) -> bool:
    return old.status == "running" and new.status == "cancelled"


def rerun(context: VerbContext) -> object:
    """Ask the same question again from the same start."""
    options, face = context.options, context.open_face()
    with context.open_store() as store:
        old = store.record(store.resolve(context.words[0]))
        mode = options.mode or checked_mode(old.mode or "ask", "the run's mode")
        face.check_mode(mode)
        folder = _folder(old, options.cwd)
        choice = choose_other(old, options.model, context.settings, folder)
        with face.open_service(choice.model) as service:

            def start(
                record: RunRecord, place: RunContext, stop: Stop
            ) -> Generator[Event, None, None]:
                return rerun_run(record, place, service, stop, choice)

            ended = _repeat(context, face, store, replace(old, mode=mode), start)
    return face.finish(ended, old.run_id)


def _repeat(
    context: VerbContext, face: Face, store: RunStore, old: RunRecord, start: Start
) -> EndedRun:
    """The run that comes of starting a recorded one again.

    Raises:
        SetupError: The folder it ran in is gone.
    """
    options, stop = context.options, Stop()
    target = check_target(options.output) if options.output else None
    folder = _folder(old, options.cwd)
    for name in changed_files(old.files, folder):
        face.warn(f"{one_line(name)} has changed since that run.")
    notebook = new_notebook(old.start_cells)
    # A replay tells whether the cells alone give the same, so it begins with them.
    is_elsewhere = start is replay_run or options.cwd or options.kernel
    opened = None if is_elsewhere else face.open_state(old.run_id, stop)
    choice = KernelChoice(folder, options.kernel)
    with opened or face.open_kernel(choice, notebook, stop) as kernel:
        place = face.make_place(kernel, store, notebook)
        if start is replay_run:
            place = replace(place, lane="replay")
        if target is None:
            place = replace(place, notebook=None)  # as far as the run had one, from its record
        face.follow(start(old, place, stop), stop)
    unwritten = ""
    if target is not None:
        try:
            notebook.write(target)
        except SetupError as error:
            unwritten = str(error)  # what came of the run is said all the same
    return replace(face.end_run(store), unwritten=unwritten)


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
