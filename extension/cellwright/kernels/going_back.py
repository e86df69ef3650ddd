"""Undo of a kernel's variables, for whoever runs cells in it: what to ask ``snapshots`` for.

A kernel that can be asked has ``ask_snapshots``: the person's own shell, and one over a client.
Taking a snapshot is never the reason that a run fails: where one cannot be taken, the undo that is
asked for later says why.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, cast

from cellwright.errors import KernelError, SetupError
from cellwright.record.attachments import human_size

SWITCHED_OFF = "CELLWRIGHT_SNAPSHOTS is 0"
NOTHING_KEPT = "no snapshot from before it is kept"
LABEL_LETTERS = 80
NAMED_FILES = 5


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


@dataclass(frozen=True)
class KernelSnapshots:
    """The states that a kernel can be taken back to."""

    snapshots: tuple[Snapshot, ...]
    """Oldest first."""
    held_bytes: float | None = None
    """Memory that they hold and the kernel does not use itself; null: it was not asked for."""


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
        return tuple(
            Snapshot(*(row[key] for key in ("id", "label", "run_id", "step", "is_later", "at")))
            for row in ask("list", {})
        )
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


def explain_missing(kernel: object, kept: int) -> str:
    """Why the state before a run cannot be gone back to, by name: a clause."""
    ask = getattr(kernel, "ask_snapshots", None)
    if kept < 1:
        return SWITCHED_OFF
    if ask is None:
        return "this kernel cannot be forked"
    try:
        found: Sequence[str] = ask("obstacles", {})["obstacles"]
    except KernelError as error:
        return error.message
    return "; ".join(found) if found else NOTHING_KEPT


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


def news_of(snapshot: Snapshot) -> Mapping[str, Any]:
    """What the kernel that comes keeps for ``take_news``."""
    is_undone = not snapshot.is_later
    return {"run_id": snapshot.run_id, "is_undone": is_undone, "step": snapshot.step}


def undone_text(snapshot: Snapshot, files: Sequence[str]) -> str:
    """What the person reads after an undo.

    Args:
        snapshot: Where to.
        files: Names of those that were written, changed or deleted since.
    """
    at = time.strftime("%H:%M", time.localtime(snapshot.taken_at))
    named = ", ".join(files[:NAMED_FILES])
    if len(files) > NAMED_FILES:
        named += f" and {len(files) - NAMED_FILES} more"
    stay = f"These files stay as they are now: {named}. " if files else ""
    return (
        f"Variables are as they were before {_place(snapshot.run_id, snapshot.step)} ({at}). "
        f"{stay}Files, databases and services are not taken back. %agent redo goes forth again."
    )


def redone_text(run_id: str) -> str:
    """What the person reads after a redo."""
    return f"Variables are as run {run_id} and what followed had left them."


def note_for_model(run_id: str, *, is_undone: bool, step: int = 0, by_restart: bool = False) -> str:
    """What the model is told with the next question."""
    if is_undone:
        what = f"{_place(run_id, step)} and what came after it" if step else f"run {run_id}"
        place = "that cell" if step else "it"
        how = f"all variables are as they were before {place}"
        if by_restart:
            how = f"the kernel was restarted, and what had run before {place} has run again"
        return f"(I have undone {what}: {how}. Files that were written are not taken back.)"
    return f"(I have redone run {run_id}: variables are as it had left them.)"


def _place(run_id: str, step: int) -> str:
    return f"cell {step} of run {run_id}" if step else f"run {run_id}"
