"""What a command needs for a run: kernel, notebook, approvals, progress and how it ended."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.agent.policy import ApprovalAnswer
from cellwright.assistants.files import project_folders
from cellwright.commands import (
    COMPLETED,
    INTERRUPTED,
    NOT_COMPLETED,
    NOT_RECORDED,
    SERVICE_FAILED,
    WRONG_USE,
    EndedRun,
    Invocation,
    KernelChoice,
)
from cellwright.commands.notebook_files import NotebookFile
from cellwright.commands.records import check_record_file, end_run, make_redactor
from cellwright.commands.results import Result
from cellwright.commands.terminal import Console, cut, interruptible, one_line, stopping
from cellwright.errors import RunCancelled
from cellwright.external.source import OutsideTools, open_outside
from cellwright.kernels import Kernel
from cellwright.kernels.copies import AskSnapshots
from cellwright.kernels.fresh import Attendance, FreshKernel, start_kernel
from cellwright.record.asked_calls import (
    ASKED_ALONE,
    code_of,
    deed_of,
    spelled_out,
    words_of,
)
from cellwright.record.events import (
    ApprovalAnswered,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelReplied,
    ModelRetrying,
    ModelSilent,
    Notice,
    RunFinished,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.mime_bundles import bundle_text
from cellwright.record.outputs import ErrorOutput, Output, OutputMessage, StreamOutput, fold
from cellwright.record.run_record import RunRecord
from cellwright.record.values import to_dict
from cellwright.session.previewing import KEEP, PREVIEW, Previews, ask_with_previews
from cellwright.session.prices import known_prices
from cellwright.session.questions import RunContext
from cellwright.session.run import Run
from cellwright.session.services import ModelService, open_service
from cellwright.session.standard_sources import Sources
from cellwright.settings import Mode, check_batch_mode
from cellwright.stopping import Stop
from cellwright.store.runs import RunStore
from cellwright.store.usage_table import UsageTable
from cellwright.text.cleaning import clean, plain_text

# A run's events as lines for a terminal.


CODE_LINES = 30
OUTPUT_LINES = 8
LINE_COLUMNS = 160
CODE_ARGUMENTS = ("code", "source")
SILENCE_STEP_SECONDS = 10.0
STREAMED_AFTER_SECONDS = 10.0
NOTICE_MARKS = {"info": "i", "warning": "!", "error": "✗"}


class StreamedReply:
    """Shows a reply that takes long line by line; a quick one is shown when it is whole."""

    def __init__(self) -> None:
        self.is_shown = False
        """Whether some of it was."""
        self._began: float | None = None
        self._rest = ""

    def add(self, text: str, now: float) -> list[str]:
        """Take more of it; the lines to show now."""
        self._began = now if self._began is None else self._began
        self._rest += text
        if now - self._began < STREAMED_AFTER_SECONDS:
            return []
        *lines, self._rest = self._rest.split("\n")
        if len(self._rest) > LINE_COLUMNS:  # words that never end in a line
            lines, self._rest = [*lines, self._rest], ""
        self.is_shown = self.is_shown or bool(lines)
        return list(map(plain_text, lines))

    def end(self) -> list[str]:
        """What is left of one that was shown."""
        return [plain_text(self._rest)] if self.is_shown and self._rest.strip() else []


class TerminalProgress:
    """Tells what a run does, a line or a few for each event.

    Args:
        console: Where the lines go.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._calls = 0
        self._messages: dict[str, list[OutputMessage]] = {}
        self._call_ran_cell = False
        self._reply = StreamedReply()
        self._silent_seconds = 0.0
        """How long the model was silent when that was told last."""

    def show(self, event: Event) -> None:
        """Write what the event comes to; nothing for most."""
        for line in self._lines(event):
            self._console.note(line)

    def _lines(self, event: Event) -> list[str]:
        match event:
            case Notice():
                text = f"{event.text} {event.action}".strip()
                return [f"{NOTICE_MARKS[event.level]} {plain_text(text)}"]
            case ModelRetrying():
                self._reply = StreamedReply()
                wait = f"{event.delay_seconds:.0f} s"
                return [f"! Asking again in {wait}: {plain_text(event.reason)}"]
            case ModelSilent():
                return self._silence(event)
            case TextDelta():
                return self._reply.add(event.text, time.monotonic())
            case ModelReplied() | RunFinished():
                return self._end_reply(event)
            case _:
                return self._call_lines(event)

    def _end_reply(self, event: ModelReplied | RunFinished) -> list[str]:
        """What of a reply is not shown yet; an answer is given at the end of the run."""
        reply, self._reply = self._reply, StreamedReply()
        if reply.is_shown or isinstance(event, RunFinished):
            return reply.end()
        said = plain_text(event.message.text).strip()
        return [said] if said and event.message.tool_calls else []

    def _silence(self, event: ModelSilent) -> list[str]:
        """A line each ten seconds: it is told of more often than a terminal should fill."""
        if event.seconds < self._silent_seconds:
            self._silent_seconds = 0.0
        if event.seconds < self._silent_seconds + SILENCE_STEP_SECONDS:
            return []
        self._silent_seconds = event.seconds
        return [f"… still waiting for the model, {event.seconds:.0f} s"]

    def _call_lines(self, event: Event) -> list[str]:
        match event:
            case ToolStarted():
                self._calls, self._call_ran_cell = self._calls + 1, False
                title = plain_text(event.label or event.name)
                return [f"[{self._calls}] {title}", *code_lines(_code(event))]
            case ApprovalAnswered() if not event.allowed:
                return [f"  refused by {event.by}. {plain_text(event.reason)}".rstrip()]
            case ToolProgress():
                share = "" if event.fraction is None else f" {event.fraction:.0%}"
                return [f"  … {plain_text(event.text)}{share}"]
            case ToolFinished() if event.status == "error" and not self._call_ran_cell:
                # What a cell showed has been told; the failure of any other tool has not.
                words = "".join(part.text for part in event.message.parts if part.kind == "text")
                return [f"  ✗ {_short(words)[0]}"]
            case _:
                return self._cell_lines(event)

    def _cell_lines(self, event: Event) -> list[str]:
        match event:
            case CellStarted():
                self._messages[event.cell_id] = []
            case CellOutput():
                self._messages.setdefault(event.cell_id, []).append(event.message)
            case CellFinished():
                self._call_ran_cell = True
                lines = output_lines(fold(self._messages.pop(event.cell_id, [])))
                if event.execution.status not in ("ok", "error"):
                    lines.append(f"  ✗ {event.execution.status} {event.execution.note}".rstrip())
                return lines
        return []


def _code(event: ToolStarted) -> str:
    return next((str(event.arguments[n]) for n in CODE_ARGUMENTS if n in event.arguments), "")


def code_lines(code: str) -> list[str]:
    """Code, set in; the middle of a long cell is left out."""
    lines = plain_text(code).rstrip().split("\n") if code.strip() else []
    if len(lines) > CODE_LINES:
        left_out = f"… {len(lines) - CODE_LINES + 1} more lines …"
        lines = [*lines[: CODE_LINES - 5], left_out, *lines[-4:]]
    return [f"    {cut(line, LINE_COLUMNS)}" for line in lines]


def output_lines(outputs: tuple[Output, ...]) -> list[str]:
    """What a cell showed, a few lines for each output."""
    lines: list[str] = []
    for output in outputs:
        if isinstance(output, ErrorOutput):
            lines.append(f"  ✗ {_short(f'{output.ename}: {output.evalue}')[0]}")
            continue
        text = output.text if isinstance(output, StreamOutput) else bundle_text(output.data)
        lines += [f"  │ {line}" for line in _short(text)]
    return lines


def _short(text: str) -> list[str]:
    lines = plain_text(clean(text)).strip("\n").split("\n")
    if len(lines) > OUTPUT_LINES:
        left_out = f"… {len(lines) - OUTPUT_LINES + 1} more lines …"
        lines = [*lines[: OUTPUT_LINES - 4], left_out, *lines[-3:]]
    return [cut(line, LINE_COLUMNS) for line in lines]


# Asks the person at the terminal whether a call may run.


YES = ("y", "yes")
NO = ("", "n", "no")
ALL = ("a", "all")
OFFERS = {"p": PREVIEW, PREVIEW: PREVIEW, "k": KEEP, KEEP: KEEP}
OFFERED = {PREVIEW: " [p]review,", KEEP: " [k]eep result,"}
END_OF_INPUT = "\x04"


class TerminalApprover:
    """Shows a call and reads ``y``, ``n``, ``a`` (all), ``p``, ``k`` or a reason to refuse.

    Args:
        console: Where the person sits.
        kernel: Where the call would run; one that can be copied is, for a preview.
    """

    def __init__(self, console: Console, kernel: object = None) -> None:
        self._console = console
        self._ask_snapshots: AskSnapshots | None = getattr(kernel, "ask_snapshots", None)

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """What the person says.

        Raises:
            RunCancelled: They pressed Ctrl-C.
        """
        for line in self._shown(call):
            self._console.complain(line)
        everything = "" if call.risk in ASKED_ALONE else " [a]ll of these,"
        why = spelled_out(" ".join(reason.split()))  # addresses in it are told in full
        question = f"{why} {deed_of(call).capitalize()} it? [y]es, [n]o,{everything}"

        def read(offers: Sequence[str]) -> str:
            others = "".join(OFFERED[offer] for offer in offers)
            typed = self._console.ask(f"{question}{others} or why not: ")
            offer = OFFERS.get(typed.strip().lower(), "")
            return offer if offer in offers else typed

        def show(bundle: Mapping[str, str]) -> None:
            self._console.complain(plain_text(bundle["text/plain"]))

        ask = self._ask_snapshots
        previews = Previews(ask) if ask is not None else None
        try:
            with interruptible():
                said = ask_with_previews(call, previews, read, show, Stop())
        except KeyboardInterrupt:
            raise RunCancelled from None
        answer = ApprovalAnswer(True) if said.adopted else _answer(said.word)
        return replace(answer, previewed=said.previewed, adopted=said.adopted)

    def _shown(self, call: ToolStarted) -> list[str]:
        """What the progress has not shown: nobody allows code that they have not seen whole."""
        lines = [one_line(call.label or call.name)] if self._console.is_quiet else []
        code = code_of(call)
        if call.cells:
            lines = [words_of(call)]
        whole = [f"    {line}" for line in code.rstrip().split("\n")] if code else []
        # The progress leaves out what a terminal would act on; here it is spelled out.
        is_shown = not lines and whole == code_lines(_code(call))
        return [] if is_shown else [*lines, *whole]


class TerminalKeyboard:
    """Answers what cells ask with ``input`` from the terminal: an ``InputAsker``.

    Args:
        console: Where the user sits.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, prompt: str, password: bool) -> TypedLine:
        """Put a question to the user and wait for the line."""
        question = plain_text(prompt) or "The code asks for a line of input: "
        try:
            with interruptible():
                line = self._console.read_answer(question, is_secret=password)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)  # the run is stopped as by any other Ctrl-C
            return TypedLine(None)
        return TypedLine(END_OF_INPUT if line is None else line)


@dataclass(frozen=True)
class TypedLine:
    """A question of a running cell that was answered: a ``PendingInput``."""

    line: str | None

    def value(self) -> str | None:
        """What was typed; None: the run was stopped instead."""
        return self.line

    def close(self) -> None:
        """Nothing is open."""


def _answer(said: str) -> ApprovalAnswer:
    word = said.strip().lower()
    if word in YES:
        return ApprovalAnswer(True)
    if word in ALL:
        return ApprovalAnswer(True, for_session=True)
    return ApprovalAnswer(False) if word in NO else ApprovalAnswer(False, reason=said.strip())


WRITES_ONLY = (
    "cellwright: nobody can be asked here, so mode 'edits' writes cells and runs none. Use --mode "
    "auto to let code run."
)


def open_kernel(
    choice: KernelChoice, notebook: NotebookFile, stop: Stop, console: Console | None = None
) -> FreshKernel:
    """A fresh kernel, to be closed with the command.

    Args:
        choice: Which one.
        notebook: Says which one where the choice does not.
        stop: Set by Ctrl-C while the kernel starts. Raised out of a callback of the event loop that
            starts it, a ``KeyboardInterrupt`` would be lost now and then.
        console: Where the user answers what cells ask with ``input``; None: such a cell fails.

    Raises:
        KernelError: There is no such kernel, or it did not start.
        RunCancelled: Somebody pressed Ctrl-C.
    """
    name = choice.name or notebook.kernel_name or "python3"
    attendance = None
    if console is not None and console.is_interactive:
        attendance = Attendance(on_input=TerminalKeyboard(console))
    with stopping(stop):
        return start_kernel(choice.folder, kernel_name=name, attendance=attendance, stop=stop)


def make_place(
    invocation: Invocation,
    kernel: Kernel,
    store: RunStore,
    notebook: NotebookFile,
    folder: Path | None = None,
) -> RunContext:
    """The kernel, with everything else that a run needs.

    Args:
        invocation: The command.
        kernel: Where its code runs.
        store: Where it is recorded.
        notebook: Where its cells go.
        folder: Where outside tools are looked for, and above; None: where the command is.
    """
    console, settings, sources = invocation.console, invocation.settings, Sources(folder)
    folders = project_folders(folder) if folder is not None else None
    return RunContext(
        kernel=kernel,
        store=store,
        redactor=make_redactor(settings),
        approver=TerminalApprover(console, kernel) if console.is_interactive else None,
        keyboard=TerminalKeyboard(console) if console.is_interactive else None,
        lane="cli",
        notebook=notebook.memory,
        prices=known_prices(settings),
        spending=UsageTable(store.database),
        user_id=settings.user,
        is_guest=settings.is_guest,
        blocks=sources.blocks(store.database, settings),
        sources=sources.of(store.database, settings, folders),
    )


def checked_mode_here(invocation: Invocation, wanted: Mode) -> Mode:
    """The mode, if it can be kept here.

    Raises:
        SetupError: It asks, and nobody can be asked.
    """
    is_interactive = invocation.console.is_interactive
    if wanted == "edits" and not is_interactive:
        invocation.console.complain(WRITES_ONLY)
    else:
        check_batch_mode(wanted, is_interactive=is_interactive)
    return wanted


def follow(events: Generator[Event, None, None], invocation: Invocation, stop: Stop) -> None:
    """Show what happens until the run has ended; Ctrl-C ends it in order."""
    progress = TerminalProgress(invocation.console)
    # What the run has opened is closed here too where showing it fails.
    with stopping(stop), contextlib.closing(events):
        for event in events:
            progress.show(event)


class TerminalFace:
    """A verb's ``Face`` in a terminal.

    Args:
        invocation: The call of the command line.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self.variables = None

    def warn(self, text: str) -> None:
        """A line that is shown in any case."""
        self._invocation.console.complain(f"cellwright: {text}")

    def check_mode(self, mode: Mode) -> None:
        """Refuse a mode that asks where nobody can be asked."""
        checked_mode_here(self._invocation, mode)

    def open_tools(self, store: RunStore) -> contextlib.AbstractContextManager[OutsideTools]:
        """The services of the current folder."""
        return contextlib.closing(open_outside(store.database, self._invocation.settings))

    def open_service(self, model: str) -> contextlib.AbstractContextManager[ModelService]:
        """A service that is closed with the command."""
        return contextlib.closing(open_service(self._invocation.settings, model))

    def open_kernel(
        self, choice: KernelChoice, notebook: NotebookFile, stop: Stop
    ) -> contextlib.AbstractContextManager[Kernel]:
        """Start a kernel, once the record can be written where the user wants it."""
        check_record_file(self._invocation.options.record)
        return open_kernel(choice, notebook, stop, self._invocation.console)

    def open_state(self, run_id: str, stop: Stop) -> None:
        """Nothing: no kernel of this process has seen the run."""

    def make_place(self, kernel: Kernel, store: RunStore, notebook: NotebookFile) -> RunContext:
        """The kernel, with everything else that a run needs."""
        return make_place(self._invocation, kernel, store, notebook)

    def follow(self, events: Generator[Event, None, None], stop: Stop) -> None:
        """Write lines until the run has ended."""
        follow(events, self._invocation, stop)

    def end_run(self, store: RunStore) -> EndedRun:
        """The run that was recorded last; the record is closed."""
        return end_run(self._invocation, store)

    def finish(self, ended: EndedRun, source_run: str) -> Result:
        """Say how the run ended; its answer."""
        return report(ended, self._invocation, source_run=source_run)

    def tell_lost(self, ended: EndedRun) -> None:
        """Say what of the run is not where it should be."""
        say_where(ended, self._invocation)


# How a run ended: in a line, in a few fields, as an exit code.


def report(ended: EndedRun, invocation: Invocation, **more: object) -> Result:
    """Say how a run ended; its answer.

    Args:
        ended: The run.
        invocation: Where to say it.
        more: Further fields of the JSON document.
    """
    console, record = invocation.console, ended.record
    console.note(f"{Run(record, ended.problem).summary()} · run {record.run_id}")
    for line in unfinished_lines(record):
        console.note(line)
    if record.reason_line:
        console.complain(f"cellwright: {one_line(record.reason_line)}")
    refused = [call.name for call in record.calls if call.status == "refused"]
    if refused and not console.is_interactive:
        names = ", ".join(sorted(set(refused)))
        console.complain(f"cellwright: refused, since nobody could be asked: {names}.")
    say_where(ended, invocation)
    document = {**run_document(record), **storage_document(ended), **more}
    return Result(plain_text(record.answer), document=document, exit_code=final_code(ended))


def unfinished_lines(record: RunRecord) -> list[str]:
    """What came of a reply that broke off; nothing where none did."""
    reply = record.unfinished_reply
    if reply is None:
        return []
    text = plain_text(reply.text or reply.reasoning).strip()
    what = "The reply" if reply.text else "The thinking"
    return [f"{what} was not finished. What came of it:", "", text]


def say_where(ended: EndedRun, invocation: Invocation) -> None:
    """Say what of a run is not where it should be."""
    if ended.unwritten:
        invocation.console.complain(f"cellwright: {ended.unwritten}")
    if ended.file:
        invocation.console.complain(
            f"cellwright: {ended.storage.problem or 'Run ' + ended.record.run_id + ' is on disk.'} "
            f"{ended.file!r} holds its record, too; put it into the record of another time with: "
            f"cellwright doctor --repair {ended.file}"
        )
    elif ended.problem:
        invocation.console.complain(
            f"cellwright: {ended.problem} It is lost now. Next time name a file for it: "
            "--record FILE"
        )


def storage_document(ended: EndedRun) -> dict[str, object]:
    """Where a run's record is, in a few fields."""
    storage = ended.storage
    return {
        "recorded": not storage.problem,
        "events_on_disk": storage.on_disk,
        "events_lost": 0 if ended.file else storage.in_memory + storage.missing,
        "record_file": ended.file or None,
        "exit_code": final_code(ended),
    }


def final_code(ended: EndedRun) -> int:
    """How the run ended, as an exit code; also whether it was recorded."""
    code = exit_code(ended.record)
    if code == COMPLETED and ended.problem:
        return NOT_RECORDED
    return WRONG_USE if code == COMPLETED and ended.unwritten else code


def exit_code(record: RunRecord) -> int:
    """How the run ended, as an exit code."""
    if record.status == "completed":
        return COMPLETED
    if record.status == "cancelled":
        return INTERRUPTED
    return SERVICE_FAILED if record.cause.startswith("LM") else NOT_COMPLETED


def run_document(record: RunRecord) -> dict[str, object]:
    """A run in a few fields."""
    return {
        "id": record.run_id,
        "status": record.status,
        "cause": record.cause,
        "reason": record.reason,
        "answer": record.answer,
        "model": record.parameters.model,
        "steps": len(record.steps),
        "cells": len(record.cells),
        "errors": _failed_executions(record),
        "usage": to_dict(record.usage),
        "cost_dollars": record.cost_dollars,
        "seconds": round(record.duration_seconds, 3),
        "exit_code": exit_code(record),
    }


def _failed_executions(record: RunRecord) -> int:
    return sum(
        run.execution is not None and run.execution.status == "error" for run in record.executions
    )
