"""Undo of a kernel's variables and files, for whoever runs cells in it: what to ask it for.

A kernel that can be asked has ``ask_snapshots``: the person's own shell, and one over a client.
Variables come from ``snapshots``, files from ``kept_files``.
Taking a snapshot is never the reason that a run fails: where one cannot be taken, the undo that is
asked for later says why.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from cellwright.errors import KernelError, SetupError
from cellwright.record.attachments import human_size

SWITCHED_OFF = "CELLWRIGHT_SNAPSHOTS is 0"
NOTHING_KEPT = "no snapshot from before it is kept"
NOTHING_TO_REDO = "There is nothing to redo: a restart or another run ends what an undo left."
NOT_KEPT = "what was there until now could not be kept, as {why}"
LABEL_LETTERS = 80
SNAPSHOT_FIELDS = ("id", "label", "run_id", "step", "is_later", "at", "changes")
NAMED_FILES = 5
REMARKS = {"deleted": "comes back", "made": "is removed"}
"""What it means for a file that it is put back, by what was done to it; others are changed."""


class SnapshotKernel(Protocol):
    """A kernel that can be forked."""

    def ask_snapshots(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of a function of ``kernels.snapshots``.

        Raises:
            KernelError: It cannot be done now, or here.
        """
        ...


@dataclass(frozen=True)
class Snapshot:
    """A state of the kernel that can be gone back to."""

    snapshot_id: str
    label: str
    """The prompt of the run that came next."""
    run_id: str
    step: int
    """Which of the run's cells came next, from 2 on; 0: the run had not begun."""
    is_later: bool
    """It was the present when somebody went back, so going to it is a redo."""
    taken_at: float
    """Seconds since the epoch."""
    changes: Mapping[str, int | None] = field(default_factory=dict)
    """Runs that stand otherwise once the state is gone to: from which cell on each is undone then,
    counted from 1; 0: all of it, null: none of it."""

    @property
    def undone_from(self) -> int | None:
        """From which cell on its run is undone once it is gone to, as ``changes`` tells."""
        return self.changes.get(self.run_id, None if self.is_later else self.step)


@dataclass(frozen=True)
class KernelSnapshots:
    """The states that a kernel can be taken back to."""

    snapshots: tuple[Snapshot, ...]
    """Oldest first."""
    held_bytes: float | None = None
    """Memory that they hold and the kernel does not use itself; null: it was not asked for."""


@dataclass(frozen=True)
class ChangedFile:
    """A file that was changed since a run, or one of its cells, began."""

    path: str
    """From the kernel's folder on, where it lies below it."""
    was: str = ""
    """``changed``, ``deleted`` or ``made``; empty: not known, because it cannot be put back."""
    why: str = ""
    """Why it cannot be put back; empty: it can, or nobody knows why not."""


@dataclass(frozen=True)
class ChangedFiles:
    """The files that were changed since a run, or one of its cells, began."""

    back: tuple[ChangedFile, ...] = ()
    """Those that can be, or were, put back."""
    stays: tuple[ChangedFile, ...] = ()
    """Those that cannot be."""
    run_id: str = ""
    step: int = 0
    """Of the run's cells, counted from 2 on; 0: the run."""


@dataclass(frozen=True)
class GoneBack:
    """Where a kernel was taken, and the files that were not."""

    snapshot: Snapshot
    files: ChangedFiles


@dataclass(frozen=True)
class UndonePlace:
    """Which run was undone last, or from which of its cells on."""

    run_id: str
    step: int
    """Counted from 2 on; 0: all of it."""


def keep_state(kernel: object, kept: int, run_id: str, prompt: str, step: int = 0) -> None:
    """Take a snapshot before a run or one of its cells, where it can be; never in the run's way."""
    ask = getattr(kernel, "ask_snapshots", None)
    if ask is None or kept < 1:
        return
    label = " ".join(prompt.split())[:LABEL_LETTERS]
    with suppress(KernelError):
        ask("take", {"label": label, "kept": kept, "run_id": run_id, "step": step})


def list_snapshots(kernel: object) -> tuple[Snapshot, ...]:
    """The states that can be gone back to, oldest first; none where there can be none."""
    ask = getattr(kernel, "ask_snapshots", None)
    if ask is None:
        return ()
    with suppress(KernelError):
        return tuple(Snapshot(*(row[key] for key in SNAPSHOT_FIELDS)) for row in ask("list", {}))
    return ()


def measure_snapshots(kernel: SnapshotKernel) -> float:
    """How many bytes those states hold that the kernel does not use itself.

    Raises:
        KernelError: It cannot be found out now, or here.
    """
    return float(kernel.ask_snapshots("measure", {})["held_bytes"])


def describe_held(kernel: object) -> str:
    """How many states a kernel can be taken back to and what they hold; empty: there is none."""
    count = len(list_snapshots(kernel))
    if not count:
        return ""
    states = "1 state" if count == 1 else f"{count} states"
    held = human_size(int(measure_snapshots(cast(SnapshotKernel, kernel))))
    return f"Memory beside the kernel's own: {held}, for {states} that %agent undo can go back to."


def find_before(kernel: object, run_id: str, step: int = 0) -> Snapshot | None:
    """The state before a run, or before one of its cells, counted from 1; None: there is none."""
    place = (run_id, step if step > 1 else 0, False)
    found = [s for s in list_snapshots(kernel) if (s.run_id, s.step, s.is_later) == place]
    return found[-1] if found else None


def kept_steps(kernel: object, run_id: str) -> tuple[int, ...]:
    """Before which of a run's cells there is a state, counted from 1."""
    found = [s for s in list_snapshots(kernel) if s.run_id == run_id and not s.is_later]
    return tuple(sorted({max(snapshot.step, 1) for snapshot in found}))


def find_later(kernel: object) -> Snapshot | None:
    """The state that the last undo left; None: there is none."""
    found = [snapshot for snapshot in list_snapshots(kernel) if snapshot.is_later]
    return found[-1] if found else None


def find_files(kernel: object, run_id: str = "", step: int = 0) -> ChangedFiles:
    """Which files could be put back, and which not.

    Args:
        kernel: Where they were changed.
        run_id: As they were before this run; empty: forth, as before they were put back.
        step: Before which of the run's cells, counted from 1; 0: before the run.
    """
    with suppress(KernelError):
        return _ask_for_files(kernel, "describe_files", run_id, step)
    return ChangedFiles()


def put_files_back(kernel: object, run_id: str = "", step: int = 0) -> ChangedFiles:
    """Put files back, or forth, where ``find_files`` finds that it can be done.

    Raises:
        KernelError: The kernel does not answer.
    """
    return _ask_for_files(kernel, "put_back", run_id, step)


def _ask_for_files(kernel: object, function: str, run_id: str, step: int) -> ChangedFiles:
    ask = getattr(kernel, "ask_snapshots", None)
    if ask is None:
        return ChangedFiles()
    answer = ask(function, {"run_id": run_id, "step": step if step > 1 else 0})
    return ChangedFiles(
        tuple(ChangedFile(row["path"], was=row["was"]) for row in answer["back"]),
        tuple(ChangedFile(row["path"], why=row["why"]) for row in answer["stays"]),
        answer["run_id"],
        answer["step"],
    )


def with_recorded(files: ChangedFiles, recorded: Sequence[str]) -> ChangedFiles:
    """The same, with the files that the record of the run names besides."""
    known = {file.path for file in (*files.back, *files.stays)}
    more = (ChangedFile(path) for path in recorded if path not in known)
    return replace(files, stays=(*files.stays, *more))


def explain_missing(kernel: object, kept: int) -> str:
    """Why the state before a run cannot be gone back to, by name: a clause."""
    if kept < 1:
        return SWITCHED_OFF
    if kernel is None:
        return NOTHING_KEPT  # it was restarted, or asked nothing yet
    return explain_no_state(kernel) or NOTHING_KEPT


def explain_no_state(kernel: object) -> str:
    """Why no state of the kernel can be kept as it is now, by name: a clause; empty: one can."""
    ask = getattr(kernel, "ask_snapshots", None)
    if ask is None:
        return "this kernel cannot be forked"
    try:
        return "; ".join(ask("obstacles", {})["obstacles"])
    except KernelError as error:
        return error.message


def missing_step(kernel: object, run_id: str, step: int, kept: int) -> SetupError:
    """The refusal to go back to before one of a run's cells, of which no state is kept."""
    known = [f"cell {number}" for number in kept_steps(kernel, run_id)]
    if known:
        text = f"The state before cell {step} of run {run_id} is not kept."
        return SetupError(text, hint=f"There are states before {', '.join(known)}.")
    why = explain_missing(kernel, kept)
    return SetupError(
        f"The variables cannot be brought back to before cell {step}: {why}.",
        hint="A restart, and the cells before that one, bring you there.",
    )


def go_to(
    kernel: SnapshotKernel,
    snapshot: Snapshot,
    *,
    shown: str = "",
    news: Mapping[str, Any] | None = None,
) -> None:
    """Make a snapshot the state of the kernel, and keep the present one for a redo, or an undo.

    In the kernel's own shell this does not return: the cell that asks is answered by the kernel
    that comes.

    Args:
        kernel: The kernel; no cell of it runs but the one that asks.
        snapshot: Where to.
        shown: What the cell that asks shows, if one does.
        news: What the kernel that comes keeps for ``take_news``.

    Raises:
        SetupError: It cannot be done.
        KernelError: The kernel does not answer.
    """
    content = {"data": {"text/plain": shown}, "metadata": {}, "transient": {}}
    answer = kernel.ask_snapshots(
        "go_back",
        {
            "snapshot_id": snapshot.snapshot_id,
            "reply": None if shown else {"user_expressions": {"answer": None}},
            "messages": [{"type": "display_data", "content": content}] if shown else [],
            "keep_now": snapshot.label or "before it was gone back",
            "news": dict(news or {}),
        },
    )
    if "refused" in answer:
        raise SetupError(f"The kernel cannot be taken back: {answer['refused']}.")


def news_of(snapshot: Snapshot, files: Sequence[ChangedFile] | None = None) -> Mapping[str, Any]:
    """What the kernel that comes keeps for ``take_news``.

    Args:
        snapshot: Where to.
        files: Those that were put back with it; None: none were to be.
    """
    return {
        "run_id": snapshot.run_id,
        "is_undone": not snapshot.is_later,
        "step": snapshot.undone_from or 0,
        "files": None if files is None else [file.path for file in files],
    }


def undone_text(
    snapshot: Snapshot, files: ChangedFiles, *, are_back: bool = False, lost: str = ""
) -> str:
    """What the person reads after an undo.

    Args:
        snapshot: Where to.
        files: Those that were written, changed or deleted since.
        are_back: They were put back with it, as far as they can be.
        lost: Why the state before the undo cannot be kept; empty: it is.
    """
    at = time.strftime("%H:%M", time.localtime(snapshot.taken_at))
    done = files_text(files) if are_back else offered_text(files, "%agent undo --files")
    redo = "%agent redo goes forth again."
    if lost:
        redo = f"There is no redo: {NOT_KEPT.format(why=lost)}."
    return (
        f"Variables are as they were before {_place(snapshot.run_id, snapshot.step)} ({at}). "
        f"{done}Databases and services are not taken back. {redo}"
    )


def redone_text(snapshot: Snapshot, files: ChangedFiles, *, are_back: bool = False) -> str:
    """What the person reads after a redo; the arguments are as for ``undone_text``."""
    done = files_text(files, "forth") if are_back else offered_text(files, "%agent redo --files")
    step = snapshot.undone_from
    since = f"run {snapshot.run_id} and what followed had left them"
    if step is not None:
        since = f"they were before {_place(snapshot.run_id, step)}, which stays undone"
    return f"Variables are as {since}. {done}".strip()


def offered_text(files: ChangedFiles, command: str) -> str:
    """Which files a command would put back, and which stay; empty: none were changed."""
    count = len(files.back)
    some = "1 file" if count == 1 else f"{count} files"
    where = "forth" if "redo" in command else "back"
    offer = f"{command} puts {some} {where}: {_names(files.back)}. " if count else ""
    return offer + _stays_text(files)


def files_text(files: ChangedFiles, where: str = "back") -> str:
    """Which files were put back, or forth, and which stay."""
    done = f"These files are put {where}: {_names(files.back)}. " if files.back else ""
    return done + _stays_text(files)


def no_files_text(place: UndonePlace) -> str:
    """That nothing can be put back, because no file was changed since a run, or its cell, began."""
    since = f" from cell {place.step} on" if place.step > 1 else ""
    return f"Run {place.run_id}, which you have undone{since}, changed no files that were noticed."


def _stays_text(files: ChangedFiles) -> str:
    return f"These files stay as they are now: {_names(files.stays)}. " if files.stays else ""


def _names(files: Sequence[ChangedFile]) -> str:
    said = [
        f"{file.path} ({remark})" if remark else file.path
        for file in files[:NAMED_FILES]
        for remark in [file.why or REMARKS.get(file.was, "")]
    ]
    more = f" and {len(files) - NAMED_FILES} more" if len(files) > NAMED_FILES else ""
    return ", ".join(said) + more


def note_for_model(
    run_id: str,
    *,
    is_undone: bool,
    step: int = 0,
    files: Sequence[str] = (),
    by_cells: bool = False,
) -> str:
    """What the model is told with the next question.

    Args:
        run_id: The run.
        is_undone: It was undone; else it was redone.
        step: From which of its cells on, counted from 1; 0: all of it. Of a redo: it stays undone
            from there on; 0: nothing of it does.
        files: Those that were put back with it, or forth.
        by_cells: Not by a state that was kept: the kernel was restarted and the cells before ran
            again, or the cells of the run are back and have not run again.
    """
    named = ", ".join(files)
    if by_cells and not is_undone:
        return (
            f"(I have put the cells of run {run_id} back. The kernel does not have what they did "
            "until I run them again.)"
        )
    if not is_undone:
        also = f"; so are these files: {named}" if files else ""
        if step:
            place = f"run {run_id} up to its cell {step}: variables are as they were before that"
        else:
            place = f"run {run_id}: variables are as it had left them"
        return f"(I have redone {place}{also}.)"
    # Those that were put back are all that is known to be as before.
    also = f"So are these files: {named}. Others are" if files else "Files that were written are"
    place = "that cell" if step else "it"
    how = f"all variables are as they were before {place}"
    if by_cells:
        how = f"the kernel was restarted, and what had run before {place} has run again"
    since = " and what came after it" if step else ""
    return f"(I have undone {_place(run_id, step)}{since}: {how}. {also} not taken back.)"


def note_of_files(files: ChangedFiles, *, is_forth: bool = False) -> str:
    """What the model is told with the next question after files were put back, or forth, alone."""
    named = ", ".join(file.path for file in files.back)
    place = _place(files.run_id, files.step)
    if is_forth:
        return (
            f"(I have put these files forth, as {place} and what followed had left them: {named}.)"
        )
    return f"(I have put these files back as they were before {place}: {named}.)"


def _place(run_id: str, step: int) -> str:
    return f"cell {step} of run {run_id}" if step else f"run {run_id}"
