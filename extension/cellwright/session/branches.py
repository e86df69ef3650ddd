"""Several attempts from one live state, side by side, of which the user keeps one or none.

Each attempt is a run like any other, over a copy of the kernel and a draft of the notebook. Nothing
of it is seen in the user's kernel before it is kept; then its copy takes the kernel's place.

What this does not keep apart: files, databases and the network are the same for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from cellwright.agent.policy import ApprovalAnswer, Approver
from cellwright.errors import CellwrightError, RunCancelled, SetupError
from cellwright.kernels import Kernel
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import BranchMark, Event, ToolStarted
from cellwright.record.messages import Message
from cellwright.session.composer import ComposedRun, RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.stopping import Inbox, Stop, WorkerThread

BRANCH_LIMIT = 8
"""More are hard to compare, and each takes a process and a model."""
SHARE_OF_COPY = 0.25
"""So much of the kernel's memory a copy is thought to change, and so to need for itself."""


@dataclass(frozen=True)
class BranchPlan:
    """One of the attempts before it begins."""

    label: str
    request: RunRequest


def plan_branches(
    request: RunRequest,
    count: int = 0,
    models: Sequence[str] = (),
    approaches: Sequence[str] = (),
) -> tuple[BranchPlan, ...]:
    """The attempts that are made of one question.

    Args:
        request: The question.
        count: How often it is asked; 0: once for each model or approach, else three times.
        models: Who is asked.
        approaches: How it is to be done, in words that are put after the question.

    Raises:
        SetupError: There is nothing to choose from, or too much.
    """
    ways = [
        (
            " · ".join(filter(None, (model, approach))),
            replace(
                request,
                parameters=replace(request.parameters, model=model or request.parameters.model),
                prompt=f"{request.prompt}\n\nApproach: {approach}" if approach else request.prompt,
            ),
        )
        for model in models or ("",)
        for approach in approaches or ("",)
    ]
    count = count or (len(ways) if len(ways) > 1 else 3)
    if not 2 <= count <= BRANCH_LIMIT:
        raise SetupError(
            f"{count} branches cannot be compared.", hint=f"Ask for 2 to {BRANCH_LIMIT}."
        )
    if len(ways) > count:
        raise SetupError(
            f"{len(ways)} models and approaches do not fit into {count} branches.",
            hint="Leave the number out.",
        )
    group = os.urandom(3).hex()
    chosen = [ways[number % len(ways)] for number in range(count)]
    return tuple(
        BranchPlan(label, replace(asked, branch=BranchMark(group, number, count, label)))
        for number, (label, asked) in enumerate(chosen, start=1)
    )


def check_memory(count: int, kernel_bytes: int, available_bytes: int) -> None:
    """Return if there is memory for so many copies of a kernel.

    Raises:
        SetupError: There is not; it says how many there is room for.
    """
    each = max(1, int(kernel_bytes * SHARE_OF_COPY))
    room = available_bytes // each
    if room < count:
        raise SetupError(
            f"There is memory for {room} copies of this kernel, not for {count}: it holds "
            f"{kernel_bytes / 1e9:.1f} GB, and {available_bytes / 1e9:.1f} GB are free.",
            hint="Ask for fewer branches, or delete what is not needed.",
        )


class KernelCopy(Kernel, Protocol):
    """A second kernel with the state that the first one had."""

    def close(self) -> None:
        """End it; a second call does nothing."""
        ...


@dataclass(frozen=True)
class BranchStart:
    """What all attempts begin with."""

    place: RunContext
    """Where runs happen here; each attempt has another kernel and notebook."""
    open_copy: Callable[[], KernelCopy]
    """
    Raises:
        KernelError: The kernel cannot be copied; it says what stands in the way.
    """
    environment: Callable[[], RunEnvironment]
    """What each can choose from; models, tools and sources are its own."""
    messages: tuple[Message, ...] = ()
    """What was said before."""
    executed: tuple[str, ...] = ()
    """The cells that ran before."""
    notes: tuple[Message, ...] = ()
    """What waited for the next question: each attempt takes it along."""


@dataclass
class Branch:
    """One of the attempts."""

    plan: BranchPlan
    copy: KernelCopy
    notebook: MemoryNotebook
    run_id: str = ""
    problem: str = ""
    """Why there is no run, or why it broke off without an end."""
    is_over: bool = False

    @property
    def mark(self) -> BranchMark:
        """Which one it is."""
        assert self.plan.request.branch is not None
        return self.plan.request.branch


@dataclass(frozen=True)
class BranchEvent:
    """Something that happened in an attempt; ``event`` is None when it has ended."""

    branch: Branch
    event: Event | None


@dataclass
class _ForwardedQuestion:
    """What an attempt wants to be allowed; answered on the thread that pulls the events."""

    approver: Approver
    call: ToolStarted
    reason: str
    answers: Inbox[ApprovalAnswer | BaseException] = field(default_factory=Inbox)

    def answer(self) -> None:
        """Ask the user, and let the attempt go on."""
        try:
            self.answers.put(self.approver.ask(self.call, self.reason))
        except BaseException as error:
            self.answers.put(error)
            if not isinstance(error, RunCancelled):
                raise


class Branches:
    """The attempts of one question, until one is kept or all are dropped.

    Args:
        plans: What is asked.
        start: From where.
    """

    def __init__(self, plans: Sequence[BranchPlan], start: BranchStart) -> None:
        self._start = start
        self._arrived: Inbox[BranchEvent | _ForwardedQuestion] = Inbox()
        self.branches: list[Branch] = []
        try:
            for plan in plans:
                notebook = MemoryNotebook(
                    start.place.notebook.cells() if start.place.notebook else ()
                )
                self.branches.append(Branch(plan, start.open_copy(), notebook))
        except BaseException:
            self.close()
            raise

    def run(self, stop: Stop) -> Generator[BranchEvent, None, None]:
        """Let all of them work at the same time; what is yielded has been recorded before.

        Args:
            stop: Ends all of them; each still gets its end in the record.
        """
        threads = [
            WorkerThread(self._work, branch, stop, name=f"branch {branch.mark.number}")
            for branch in self.branches
        ]
        for thread in threads:
            thread.start()
        try:
            while not all(branch.is_over for branch in self.branches):
                try:
                    item = self._arrived.take(Stop())
                except KeyboardInterrupt:
                    stop.set("because you interrupted it")
                    continue
                if isinstance(item, _ForwardedQuestion):
                    item.answer()
                    continue
                if item.event is None:
                    item.branch.is_over = True
                yield item
        except BaseException:
            stop.set("because the branches were stopped")
            raise
        finally:
            for thread in threads:
                thread.join()

    def find(self, number: int) -> Branch:
        """One of them.

        Raises:
            SetupError: There is none of this number.
        """
        for branch in self.branches:
            if branch.mark.number == number:
                return branch
        raise SetupError(
            f"There is no branch {number}.", hint=f"There are 1 to {len(self.branches)}."
        )

    def close(self) -> None:
        """End the copies; what was recorded stays."""
        for branch in self.branches:
            with suppress(CellwrightError):
                branch.copy.close()

    def _work(self, branch: Branch, stop: Stop) -> None:
        try:
            environment = self._environment(branch, stop)
            for event in start_run(branch.plan.request, environment, stop):
                self._arrived.put(BranchEvent(branch, event))
        except (CellwrightError, RunCancelled) as error:
            branch.problem = str(error)
        except BaseException as error:  # ours to mend, and the other attempts go on
            branch.problem = f"{type(error).__name__}: {error}"
        finally:
            self._arrived.put(BranchEvent(branch, None))

    def _environment(self, branch: Branch, stop: Stop) -> RunEnvironment:
        start = self._start
        asked = start.place.approver
        place = replace(
            start.place,
            kernel=branch.copy,
            notebook=branch.notebook,
            lane="branch",
            chat_id="",
            listener=None,
            keyboard=None,
            form_asker=None,
            on_progress=None,
            approver=_Forwarding(asked, self._arrived, stop) if asked is not None else None,
        )

        @contextmanager
        def converse(_: ComposedRun) -> Iterator[Conversation]:
            conversation = Conversation(place)
            conversation.resume(start.messages, start.executed)
            conversation.notes[:] = start.notes
            try:
                yield conversation
            finally:
                branch.run_id = conversation.last_run_id

        return replace(start.environment(), open_conversation=converse, messages=start.messages)


class _Forwarding:
    """Asks the user from the thread that shows them the attempts."""

    def __init__(
        self, approver: Approver, arrived: Inbox[BranchEvent | _ForwardedQuestion], stop: Stop
    ) -> None:
        self._approver, self._arrived, self._stop = approver, arrived, stop

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call may run, as the user says."""
        question = _ForwardedQuestion(self._approver, call, reason)
        self._arrived.put(question)
        said = question.answers.take(self._stop)
        if isinstance(said, BaseException):
            raise said
        return said
