"""``%agent branch``: several attempts from the state the kernel is in, of which one can be kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from cellwright.agent.policy import ApprovalAnswer, Approver
from cellwright.agent.typed_answers import typed_answers_of
from cellwright.bench.choosing import (
    ASK_FOR_ANSWER,
    check_kernel,
    check_way,
    choose_attempt,
    describe_doubt,
    judge_in_runs,
)
from cellwright.bench.saving import write_assertion
from cellwright.commands.comparing_branches import pictures_side_by_side, tabulate_branches
from cellwright.commands.results import Result
from cellwright.commands.terminal import one_line
from cellwright.errors import CellwrightError, ChoiceError, SetupError
from cellwright.exports.sample import SampleRecord
from cellwright.exports.sampling import sample_of
from cellwright.kernels.copies import (
    CopiedKernel,
    available_memory_bytes,
    open_copy,
    process_memory_bytes,
)
from cellwright.kernels.going_back import NOT_KEPT, explain_no_state
from cellwright.kernels.shell import ShellKernel
from cellwright.record.choices import ChoiceWay
from cellwright.record.events import (
    ApprovalAsked,
    CellStarted,
    Event,
    ModelAsked,
    RunFinished,
    ToolStarted,
)
from cellwright.record.run_record import RunRecord, make_chosen
from cellwright.session.branches import (
    Branch,
    Branches,
    BranchEvent,
    BranchPlan,
    BranchStart,
    check_memory,
    plan_branches,
)
from cellwright.session.composer import ComposedRun, RunEnvironment
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunRequest
from cellwright.session.resuming import executed_in, last_record
from cellwright.session.services import ServiceCache
from cellwright.session.standard_sources import Sources
from cellwright.settings import Settings, check_batch_mode
from cellwright.stopping import Stop
from cellwright.store.chats import ChatStore
from cellwright.store.runs import RunStore
from cellwright_magics.arguments import AgentOptions
from cellwright_magics.calling_cell import CallingCell
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.display import (
    Bundle,
    NotebookScreen,
    ReplayedOutputs,
    RunDisplay,
    Screen,
    SettledScreen,
)

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from cellwright_magics.session import ShellSession

REFRESH_SECONDS = 0.25
STAY_OPEN = (
    "The branches stay open: %agent branch keep N keeps one, %agent branch drop ends all of them."
)
NONE_OPEN = "There are no branches."
ENDED = "The branches have ended: the kernel was taken back or forth since they began."
HOW = 'Begin some: %agent branch 3 "what to do".'


@dataclass(frozen=True)
class Choosing:
    """How one of the attempts is chosen, which is then kept."""

    way: ChoiceWay | Literal[""] = ""
    """Empty: the user chooses."""
    checks: tuple[str, ...] = ()
    judge: str = ""
    """Empty: the model that is asked usually."""


class BranchCommands:
    """The branches of one shell; at most one set of them is open.

    Args:
        shell: Whose kernel is copied.
        session: Its agent.
        transcript: Shows what is asked about.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        session: ShellSession,
        transcript: Callable[[CallingCell], RunDisplay],
    ) -> None:
        self._shell, self._session, self._transcript = shell, session, transcript
        self._open: Branches | None = None
        self._opened_in = 0
        """The number of the cell that opened them."""
        self._process_id = 0
        """Of the kernel that opened them, with which they end."""

    def run(
        self, line: CommandLine, request: RunRequest, settings: Settings, calling: CallingCell
    ) -> object:
        """Do what a line about branches asks for.

        Args:
            line: The line.
            request: What counts for a question here.
            settings: What is set.
            calling: The cell.

        Raises:
            SetupError: It names a branch that is not there, or branches cannot be made here.
            KernelError: The kernel cannot be copied; the message names what stands in the way.
        """
        match line.words[1:2]:
            case ["list"]:
                return self._compared(settings)
            case ["keep"]:
                return self._keep(self._find(line.target), settings, calling)
            case ["drop"]:
                self._needed()
                self.close()
                return Result("The branches are gone. Nothing of them happened here.")
        return self._begin(line, request, settings, calling)

    def try_best_of(
        self, request: RunRequest, options: AgentOptions, settings: Settings, calling: CallingCell
    ) -> object:
        """Ask a question several times; where an attempt is kept, this does not return.

        Raises:
            ChoiceError: None could be chosen; the attempts stay open.
            SetupError: It cannot be done as it is asked for.
            KernelError: The kernel cannot be copied; the message names what stands in the way.
        """
        if options.out:
            raise SetupError(
                f"--out {options.out} is of no use with --best-of.",
                hint="The attempt that is kept takes the kernel's place: leave it out.",
            )
        choosing = _read_choosing(options, "vote")
        plans = plan_branches(self._filled(request, settings, calling), options.best_of or 0)
        return self._carry_out(plans, choosing, settings, calling)

    def close(self) -> None:
        """End the copies that are open."""
        opened, self._open = self._open, None
        if opened is not None and self._process_id == os.getpid():
            opened.close()

    def _needed(self) -> Branches:
        if self._open is not None and self._process_id != os.getpid():
            self.close()
            raise SetupError(ENDED, hint=HOW)
        if self._open is None:
            raise SetupError(NONE_OPEN, hint=HOW)
        return self._open

    def _find(self, number: str) -> Branch:
        return self._needed().find(int(number))

    def _begin(
        self, line: CommandLine, request: RunRequest, settings: Settings, calling: CallingCell
    ) -> object:
        arguments = line.arguments
        *counts, prompt = line.given or ("",)
        if not prompt or (prompt.isdecimal() and not counts and line.body is None):
            raise SetupError("Nothing is asked.", hint=HOW)
        plans = plan_branches(
            replace(self._filled(request, settings, calling), prompt=prompt),
            int(counts[0]) if counts else 0,
            split_list(arguments.models),
            split_list(arguments.approaches, "|"),
        )
        return self._carry_out(plans, _read_choosing(arguments), settings, calling)

    def _filled(self, request: RunRequest, settings: Settings, calling: CallingCell) -> RunRequest:
        """The question with what goes along with every question here."""
        return self._session.fill_in(request, self._session.conversation(settings, calling))

    def _carry_out(
        self,
        plans: Sequence[BranchPlan],
        choosing: Choosing,
        settings: Settings,
        calling: CallingCell,
    ) -> object:
        """Let attempts run; where one is chosen and kept, this does not return.

        Args:
            plans: The attempts.
            choosing: How one is chosen.
            settings: What is set.
            calling: The cell.

        Raises:
            ChoiceError: None could be chosen; they stay open.
            SetupError: No attempt came to anything, or the chosen one cannot be kept.
            KernelError: The kernel cannot be copied; the message names what stands in the way.
        """
        request = plans[0].request
        if choosing.way == "vote":
            plans = [_asking_for_answer(plan) for plan in plans]
        check_batch_mode(request.mode, is_interactive=calling.interactive)
        check_memory(len(plans), process_memory_bytes(os.getpid()), available_memory_bytes())
        with self._session.at_work():
            self.close()
            with self._session.in_chat(settings, calling):
                pass  # the copies know the chat, so that the one that is kept goes on with it
            start = self._start(settings, calling)
            screen = (NotebookScreen if calling.draws_updates else SettledScreen)(self._shell)
            progress = _Progress(screen, len(plans))
            progress.say(f"Copying the kernel {len(plans)} times …")
            # SQLite must not be open where a process is forked: a copy would pass its locks by.
            self._session.store(settings).database.rest()
            self._open = branches = Branches(plans, start)
            self._opened_in, self._process_id = self._shell.execution_count, os.getpid()
            stop = Stop()
            with closing(branches.run(stop)) as events:
                for item in events:
                    progress.show(item)
            progress.end()
            self._session.attached.clear()
            compared = self._compared(settings)
            if not choosing.way or stop.is_set():
                return compared
            self._show(compared)
            number = self._choose(choosing, start, settings, stop)
        return self._keep(branches.find(number), settings, calling)

    def _show(self, result: object) -> None:
        formatter = self._shell.display_formatter
        assert formatter is not None
        self._shell.display_pub.publish(*formatter.format(result))  # type: ignore[no-untyped-call]

    def _choose(
        self, choosing: Choosing, start: BranchStart, settings: Settings, stop: Stop
    ) -> int:
        """The number of the attempt that is chosen; what was found is in the record."""
        branches, place = self._needed().branches, start.place
        store = self._session.store(settings)
        assert choosing.way
        try:
            attempts = []
            for branch in branches:
                attempts.append(sample := _attempted(branch, choosing, store, stop))
                if sample.scores:
                    store.scores.give(branch.run_id, *place.redactor.event(sample.scores))
            open_service = start.environment().open_service
            judge = judge_in_runs(place, open_service, settings, choosing.judge)
            group = branches[0].mark.group
            choice = choose_attempt(choosing.way, attempts, ask=judge, seed=group)
            doubt = describe_doubt(choice)
        except CellwrightError as error:
            raise ChoiceError(f"Nothing was chosen: {error}", hint=STAY_OPEN) from error
        if doubt:
            raise ChoiceError(f"Nothing was chosen: {doubt}", hint=STAY_OPEN)
        score = place.redactor.event(make_chosen(choice))
        store.scores.give(branches[choice.number - 1].run_id, score)
        self._show(Result(score.explanation))
        return choice.number

    def _keep(self, branch: Branch, settings: Settings, calling: CallingCell) -> Result:
        """Let a branch take the kernel's place; where that can be done, this does not return."""
        session, number = self._session, branch.mark.number
        if not branch.run_id:
            raise SetupError(f"Branch {number} came to nothing.", hint="Keep another one.")
        assert isinstance(branch.copy, CopiedKernel)
        with session.at_work(), session.in_chat(settings, calling) as conversation:
            snapshot = branch.copy.adopt(f"branch {number}", branch.run_id)
            self.close()
            chat = conversation.place.chat_id
            if chat:
                ChatStore(session.store(settings).database).add_run(chat, branch.run_id)
        shown = ReplayedOutputs(self._transcript(calling), self._shell)
        session.show_again(branch.run_id, calling, shown)
        done = f"Branch {number} was kept: its variables are the kernel's now."
        done += _set_back_text(
            self._shell.execution_count - self._opened_in - 1, explain_no_state(ShellKernel)
        )
        display = {"data": {"text/plain": done}, "metadata": {}, "transient": {}}
        arguments = {
            "snapshot_id": snapshot,
            "keep_now": f"before branch {number} was kept",
            "messages": [{"type": "display_data", "content": display}],
            "news": {"kept_run": branch.run_id},
        }
        # The present kernel is forked for an undo, and SQLite must not be open then either.
        session.store(settings).database.rest()
        refused = ShellKernel.ask_snapshots("go_back", arguments)
        raise SetupError(f"Branch {number} cannot be kept: {refused.get('refused')}.")

    def _start(self, settings: Settings, calling: CallingCell) -> BranchStart:
        session = self._session
        conversation = session.conversation(settings, calling)
        place = conversation.place
        record = last_record(place.store, [conversation.last_run_id])
        approver = place.approver
        if approver is not None:
            approver = _ShowingApprover(approver, lambda: self._transcript(calling))
        database = session.store(settings).database

        def environment() -> RunEnvironment:
            services = ServiceCache()
            made = session.environment(settings, conversation.messages, _nowhere)
            return replace(
                made, open_service=lambda model: services.get(settings, model), told=set()
            )

        return BranchStart(
            replace(
                place,
                approver=approver,
                sources=Sources().of(database, settings),
                keep_state=None,
            ),
            lambda: open_copy(ShellKernel.ask_snapshots, place.kernel.session),
            environment,
            conversation.messages,
            executed_in(record) if record is not None else (),
        )

    def _records(self, settings: Settings) -> list[RunRecord]:
        store = self._session.store(settings)
        return [store.record(b.run_id) for b in self._needed().branches if b.run_id]

    def _compared(self, settings: Settings) -> object:
        records = self._records(settings)
        if not records:
            problems = [branch.problem for branch in self._needed().branches]
            self.close()
            raise SetupError(f"No branch came to anything: {problems[0]}")
        text = (
            "Nothing of this happened in your kernel yet. %agent branch keep N lets branch N take "
            "its place, %agent branch drop ends all of them; %agent show ID shows one in full."
        )
        pictures = pictures_side_by_side(records)
        if pictures:
            self._shell.display_pub.publish({"text/html": pictures, "text/plain": "Plots"})
        return tabulate_branches(records, text)


class _ShowingApprover:
    """Shows what an attempt wants to run before the user is asked about it."""

    def __init__(self, approver: Approver, open_transcript: Callable[[], RunDisplay]) -> None:
        self._approver, self._open_transcript = approver, open_transcript

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call may run."""
        transcript = self._open_transcript()
        transcript.show(call)
        transcript.show(ApprovalAsked(call.call_id, reason))
        return self._approver.ask(call, reason)


@dataclass
class _AttemptProgress:
    """How far an attempt is, in words."""

    label: str
    doing: str = "waits"
    cells: int = 0


class _Progress:
    """One display that says how far all attempts are."""

    def __init__(self, screen: Screen, count: int) -> None:
        self._screen = screen
        self._states = {number: _AttemptProgress("") for number in range(1, count + 1)}
        self._name = ""
        self._drawn_at = 0.0

    def say(self, text: str) -> None:
        """Show a line in its place."""
        bundle = Bundle(text, text)
        if self._name:
            self._screen.update(self._name, bundle)
        else:
            self._name = self._screen.show(bundle)

    def show(self, item: BranchEvent) -> None:
        """Take what happened; it is drawn a few times a second."""
        state = self._states[item.branch.mark.number]
        state.label = item.branch.mark.label
        if item.event is None:
            state.doing = f"✗ {item.branch.problem}" if item.branch.problem else state.doing
        elif not self._take(state, item.event):
            return
        if time.monotonic() - self._drawn_at >= REFRESH_SECONDS or item.event is None:
            self._drawn_at = time.monotonic()
            self.say(self._lines())

    def end(self) -> None:
        """Show how all of them ended."""
        self.say(self._lines())
        self._screen.settle()

    @staticmethod
    def _take(state: _AttemptProgress, event: Event) -> bool:
        match event:
            case ModelAsked():
                state.doing = "asks the model"
            case ToolStarted():
                state.doing = event.label or event.name
            case CellStarted():
                state.cells += 1
            case RunFinished():
                state.doing = "✓ done" if event.status == "completed" else f"✗ {event.status}"
            case _:
                return False
        return True

    def _lines(self) -> str:
        return "  \n".join(
            f"{number}. {state.label + ': ' if state.label else ''}{one_line(state.doing)}"
            f" ({state.cells} {'cell' if state.cells == 1 else 'cells'})"
            for number, state in self._states.items()
        )


def _read_choosing(options: Any, usual: ChoiceWay | Literal[""] = "") -> Choosing:
    """How one of the attempts is to be chosen.

    Args:
        options: Those of a question or of ``branch``.
        usual: The way where none is named, and no check.

    Raises:
        SetupError: The way cannot work, or what it does not need is given.
    """
    way = options.choose or ("check" if options.check else usual)
    check_way(way, has_checks=bool(options.check))
    if options.judge and way != "judge":
        raise SetupError(f"--judge {options.judge} is of no use.", hint="Add --choose judge.")
    for check in options.check:
        write_assertion(check)
    return Choosing(way, tuple(options.check), options.judge)


def _asking_for_answer(plan: BranchPlan) -> BranchPlan:
    """The plan with a question whose answers can be compared; one with types has such answers."""
    if plan.request.reads_types and typed_answers_of(plan.request.prompt) is not None:
        return plan
    prompt = f"{plan.request.prompt}\n\n{ASK_FOR_ANSWER}"
    return replace(plan, request=replace(plan.request, prompt=prompt))


def _attempted(branch: Branch, choosing: Choosing, store: RunStore, stop: Stop) -> SampleRecord:
    """What an attempt came to, with what its checks found in its kernel.

    Raises:
        KernelError: Its kernel is gone.
    """
    if not branch.run_id:
        return SampleRecord("", status="task error", error=branch.problem)
    sample = sample_of(store.record(branch.run_id), branch.run_id)
    if choosing.checks:
        branch.copy.wait_until_free(stop)
        sample = replace(sample, scores=check_kernel(branch.copy, choosing.checks, stop))
    if choosing.way == "vote":
        lines = str(sample.result or "").strip().splitlines()
        sample = replace(sample, result=lines[-1] if lines else "")
    return sample


def split_list(text: str, separator: str = ",") -> tuple[str, ...]:
    """The entries of an option that takes several."""
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _set_back_text(cells: int, lost: str) -> str:
    """What keeping a branch does to cells that were run since the branches began.

    Args:
        cells: How many.
        lost: Why the state before cannot be kept; empty: it is.
    """
    if cells < 1:
        return ""
    ran = "one cell was run" if cells == 1 else f"{cells} cells were run"
    undo = "%agent undo brings it forth again"
    if lost:
        undo = f"no undo brings it forth: {NOT_KEPT.format(why=lost)}"
    return f" Since the branches began {ran}; what that changed is set back, and {undo}."


def _nowhere(_: ComposedRun) -> AbstractContextManager[Conversation]:
    raise AssertionError("each branch has a conversation of its own")
