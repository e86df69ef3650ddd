"""Several attempts at one prompt of a chat, side by side, of which one is kept or none.

Each is a run over a copy of the notebook's kernel and a draft of its cells: ``session/branches``.
Keeping one lets its copy take the kernel's place, under the same id and connection, and puts its
run at the end of the chat, whose driving tab then draws its cells as it does those of any run.

What this does not keep apart: files, databases and the network are the same for all attempts.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cellwright.commands.comparing_branches import describe_branch, last_picture
from cellwright.commands.terminal import one_line
from cellwright.errors import CellwrightError, KernelError, SetupError
from cellwright.kernels.copies import (
    CopiedKernel,
    CopyProcess,
    available_memory_bytes,
    open_copy,
)
from cellwright.record.events import (
    CellStarted,
    Event,
    ModelAsked,
    RunStarted,
    RunStatus,
    ToolStarted,
)
from cellwright.server.frames import BranchesPhase, RefusedError
from cellwright.server.kernel_access import ServerKernels, SnapshotAsker
from cellwright.server.live_run import LiveRun
from cellwright.session.branches import (
    Branch,
    Branches,
    BranchEvent,
    BranchPlan,
    BranchStart,
    check_memory,
)
from cellwright.settings import Mode
from cellwright.stopping import WorkerThread
from cellwright.store.runs import RunStore

log = logging.getLogger(__name__)
END_SECONDS = 15.0
"""What does not react to a stop within this time ends with its copy."""
MODES: tuple[Mode, ...] = ("plan", "auto")
"""In the others the person is asked, and several attempts would ask at the same time."""


@dataclass(frozen=True)
class BranchSummary:
    """One attempt: how far it is, or what it came to."""

    number: int
    label: str
    """What is special about it, such as its model; empty: nothing."""
    model: str
    status: RunStatus
    """Of its run; ``task error`` also where that could not begin."""
    doing: str
    """What it does now."""
    run: str
    """Id of its run; empty: there is none yet."""
    answer: str
    problem: str
    """Why it has no answer."""
    variables: tuple[str, ...]
    """Those that it made or changed."""
    files: tuple[str, ...]
    cells: int
    seconds: float
    tokens: int
    cost_dollars: float | None
    picture: str
    """The last PNG that it drew, in base64, once all have ended; empty: none."""


@dataclass(frozen=True)
class BranchList:
    """The attempts at a prompt."""

    phase: BranchesPhase
    prompt: str
    branches: tuple[BranchSummary, ...]


@dataclass(frozen=True)
class BranchesBeginning:
    """A prompt to be tried in several ways, as a page asks it."""

    prompt: str = ""
    notebook: str = ""
    """``Attach.notebook`` of the notebook whose kernel is copied: open in the page that asks."""
    mode: Mode = "auto"
    model: str = ""
    assistant: str = ""
    context: tuple[Mapping[str, Any], ...] = ()
    """What stood beside it, as in the frame ``ask``."""
    count: int = 0
    """How many; 0: one for each of ``models``, else three."""
    models: tuple[str, ...] = ()


def check_mode(mode: Mode) -> None:
    """Return if branches can be begun in this mode.

    Raises:
        RefusedError: They cannot.
    """
    if mode not in MODES:
        raise RefusedError(
            "not_allowed",
            f"In mode {mode!r} you would be asked by all branches at once.",
            hint="Choose mode auto: nothing of a branch touches your kernel before you keep it.",
        )


class ChatBranches:
    """The attempts at one prompt, from their begin until one is kept or all are dropped.

    Args:
        run: The prompt, and what stops them.
        kernels: The server's.
        runs: Where their runs are recorded.
        tell: Called when their phase has changed.
    """

    def __init__(
        self, run: LiveRun, kernels: ServerKernels, runs: RunStore, tell: Callable[[], None]
    ) -> None:
        self.run = run
        self.taken_notes: tuple[str, ...] = ()
        """What waited in the chat and went along with the prompt."""
        attach = run.prompt.attach
        self._ask = SnapshotAsker(kernels, attach.kernel_id if attach is not None else "")
        self._runs, self._tell = runs, tell
        self._branches: Branches | None = None
        self._states: dict[int, BranchSummary] = {}
        self._thread: threading.Thread | None = None
        self._deciding = threading.Lock()
        self._snapshots: dict[int, str] = {}
        """What the kernel has of the branches that were to be kept already."""
        self._began = 0.0
        self._has_copies = self._is_over = False

    @property
    def phase(self) -> BranchesPhase:
        """How far they are."""
        if self._is_over:
            return "over"
        return "running" if self._branches is not None else "copying"

    @property
    def is_running(self) -> bool:
        """Whether any of them may still do something."""
        return not self._is_over

    @property
    def summary(self) -> BranchList:
        """All of them, as they are now."""
        phase, states = self.phase, tuple(map(self._shown, sorted(self._states)))
        return BranchList(phase, self.run.prompt.ask.prompt, states)

    def open_copy(self, life: str) -> CopiedKernel:
        """A copy of the notebook's kernel.

        Args:
            life: The kernel's ``session``.

        Raises:
            KernelError: It cannot be copied; the message names what stands in the way.
            SetupError: There is no memory for as many copies as there are to be branches.
        """
        copy = open_copy(self._ask, life, self.run.stop)
        if not self._has_copies:
            self._has_copies = True
            self._check_memory(copy)
        return copy

    def begin(self, plans: Sequence[BranchPlan], start: BranchStart, claim: ExitStack) -> None:
        """Copy the kernel and let them work, on threads of their own.

        Args:
            plans: What is asked.
            start: From where.
            claim: Keeps others out of the chat; taken over for as long as they work.

        Raises:
            KernelError: The kernel cannot be copied; the message names what stands in the way.
            SetupError: There is no memory for so many copies.
        """
        for number, plan in enumerate(plans, start=1):
            self._states[number] = _waiting(number, plan.label, plan.request.parameters.model)
        with self._ask.connected():
            branches = Branches(plans, start)
        with self._deciding:
            if self.run.stop.is_set():
                branches.close()
            self.run.stop.check()
            self._branches, self._began = branches, time.monotonic()
            work = partial(self._work, branches, claim.pop_all())
            self._thread = WorkerThread(work, name="branches")
            self._thread.start()
        self._tell()

    def stop(self, reason: str = "stopped by the user") -> None:
        """End the attempts that still work; what they came to stays to be seen."""
        self.run.stop.set(reason)

    def keep(self, number: int) -> str:
        """Let a branch's copy take the kernel's place, and end the others; the id of its run.

        Raises:
            SetupError: There is no such branch, or it came to nothing.
            KernelError: It cannot be kept; the message names what stands in the way.
        """
        with self._deciding:
            if self._branches is None:
                raise SetupError("Another one was kept, or all were dropped.")
            branch = self._branches.find(number)
            if not branch.run_id:
                raise SetupError(f"Branch {number} came to nothing: {branch.problem}")
            with self._ask.connected():
                self._go_to(branch)
                opened, self._branches = self._branches, None
                opened.close()
            return branch.run_id

    def close(self) -> None:
        """End all of them and their copies."""
        self.stop("because the branches were dropped")
        self.join(END_SECONDS)
        with self._deciding:
            if self._branches is not None:
                self._branches.close()
                self._branches = None

    def join(self, seconds: float | None) -> None:
        """Wait until nothing works any more."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _shown(self, number: int) -> BranchSummary:
        state = self._states[number]
        if state.status == "running" and self._branches is not None:
            return replace(state, seconds=time.monotonic() - self._began)
        # A page asks again and again while they work; pictures are large.
        return state if self._is_over else replace(state, picture="")

    def _go_to(self, branch: Branch) -> None:
        """Make a branch's state the kernel's."""
        number = branch.mark.number
        arguments = {
            "snapshot_id": self._adopted(branch),
            "keep_now": f"before branch {number} was kept",
            "reply": {"user_expressions": {"answer": None}},
        }
        answer = self._ask("go_back", arguments)
        if "refused" in answer:
            raise KernelError(f"Branch {number} cannot be kept: {answer['refused']}.")

    def _adopted(self, branch: Branch) -> str:
        """Id of the kernel's snapshot with the branch's state; the branch's copy has ended then."""
        number = branch.mark.number
        if number not in self._snapshots:
            assert isinstance(branch.copy, CopiedKernel)
            self._snapshots[number] = branch.copy.adopt(f"branch {number}", branch.run_id)
        return self._snapshots[number]

    def _check_memory(self, copy: CopiedKernel) -> None:
        assert isinstance(copy.process, CopyProcess)
        try:
            check_memory(len(self._states), copy.process.memory_bytes, available_memory_bytes())
        except SetupError:
            copy.close()
            raise

    def _work(self, branches: Branches, claim: ExitStack) -> None:
        try:
            with claim, closing(branches.run(self.run.stop)) as events:
                for item in events:
                    self._note(item)
        except CellwrightError as error:
            self._fail(error.message)
        except Exception as error:  # the chat goes on; the log has the traceback
            log.exception("cellwright: branches failed")
            self._fail(f"cellwright failed: {error!r}")
        finally:
            self._is_over = True
            self._tell()

    def _note(self, item: BranchEvent) -> None:
        number = item.branch.mark.number
        state = self._states[number]
        if item.event is None:
            self._states[number] = self._ended(state, item.branch)
        else:
            self._states[number] = _advanced(state, item.event)

    def _ended(self, state: BranchSummary, branch: Branch) -> BranchSummary:
        if not branch.run_id:
            return replace(state, status="task error", doing="", problem=branch.problem)
        record = self._runs.record(branch.run_id)
        row = describe_branch(record)
        return replace(
            state,
            model=record.parameters.model,
            status="task error" if record.status == "running" else record.status,
            doing="",
            run=branch.run_id,
            answer=record.answer,
            problem=branch.problem or record.reason,
            variables=row.variables,
            files=row.files,
            cells=row.cells,
            seconds=row.seconds,
            tokens=row.tokens,
            cost_dollars=row.cost_dollars,
            picture=last_picture(record),
        )

    def _fail(self, problem: str) -> None:
        for number, state in self._states.items():
            if state.status == "running":
                self._states[number] = replace(
                    state, status="task error", doing="", problem=problem
                )


def _waiting(number: int, label: str, model: str) -> BranchSummary:
    return BranchSummary(
        number, label, model, "running", "", "", "", "", (), (), 0, 0.0, 0, None, ""
    )


def _advanced(state: BranchSummary, event: Event) -> BranchSummary:
    match event:
        case RunStarted():
            return replace(state, model=event.parameters.model)
        case ModelAsked():
            return replace(state, doing="")
        case ToolStarted():
            return replace(state, doing=one_line(event.label or event.name))
        case CellStarted():
            return replace(state, cells=state.cells + 1)
        case _:
            return state
