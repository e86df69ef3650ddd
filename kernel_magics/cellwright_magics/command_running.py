"""Does what a command of ``%agent`` asks for."""

from __future__ import annotations

import ast
import importlib
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.commands import EndedRun, KernelChoice, VerbContext
from cellwright.commands.calling import run_verb
from cellwright.commands.notebook_files import NotebookFile
from cellwright.commands.results import Result
from cellwright.commands.verbs import is_turn_number
from cellwright.errors import CellwrightError, SetupError
from cellwright.external.source import OutsideTools
from cellwright.kernels import Kernel
from cellwright.kernels.copies import open_copy
from cellwright.kernels.fresh import start_kernel
from cellwright.kernels.going_back import (
    NOTHING_TO_REDO,
    ChangedFile,
    ChangedFiles,
    Snapshot,
    UndonePlace,
    explain_missing,
    explain_no_state,
    files_text,
    find_before,
    find_files,
    find_later,
    kept_steps,
    missing_step,
    no_files_text,
    note_of_files,
    offered_text,
    put_files_back,
    redone_text,
    undone_text,
    with_recorded,
)
from cellwright.llm.keys import load_settings
from cellwright.record.events import Event, Notice
from cellwright.record.run_record import (
    RunRecord,
    choice_of,
    make_chosen,
    make_undone,
    note_of_files_moved,
)
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.resuming import executed_before
from cellwright.session.run import Run
from cellwright.session.services import ModelService
from cellwright.settings import Mode, Settings, check_batch_mode
from cellwright.stopping import Stop, drive
from cellwright.store.chats import ChatStore
from cellwright.store.runs import RunStore
from cellwright.tools import progress_display
from cellwright_magics.arguments import AgentOptions, Configured, cell_settings
from cellwright_magics.calling_cell import CallingCell, check_ends_cell
from cellwright_magics.chat import open_chat
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.display import ReplayedOutputs, RunDisplay
from cellwright_magics.reports import undo_advice, unsaved_notice
from cellwright_magics.runs_widget import RunsBrowser
from cellwright_magics.session import ShellSession, fill_request
from cellwright_magics.usage import plot_usage
from cellwright_magics.widgets import OpenWidgets

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


CELLS_AGAIN = (
    "%agent cells puts the code of the last run into the next cell: run it to have again what it "
    "did."
)
CELL_MAGIC = "get_ipython().run_cell_magic("
QUIET_SECONDS = 2.0
"""Work that takes longer shows how far it is."""


def show_after_a_while() -> Callable[[int, int, str], None]:
    """Make what shows how far a verb is, once that takes long."""
    shown_from, show = time.monotonic() + QUIET_SECONDS, progress_display()

    def show_progress(done: int, total: int, name: str) -> None:
        if time.monotonic() > shown_from:
            share = done / total if total else None
            show(f"{done:,} of {total:,}  {name}", share)

    return show_progress


# A run whose transcript the calling cell has just shown, so that the cell does not repeat it.


class ShownRun(Run):
    """A run as ``%agent`` returns it.

    Args:
        record: The folded events.
        shown_now: Whether the cell that is running is the one that has shown it.
        unsaved: Why the run is not on disk; empty: it is.
    """

    def __init__(self, record: RunRecord, shown_now: Callable[[], bool], unsaved: str = "") -> None:
        super().__init__(record, unsaved)
        self._shown_now = shown_now

    def __reduce__(self) -> tuple[type[Run], tuple[RunRecord, str]]:
        return Run, (self.record, self.unsaved)  # no cell has shown it where it is read back

    def _ipython_display_(self) -> None:
        if not self._shown_now():
            # IPython goes on to the usual representations then.
            raise NotImplementedError


@dataclass(frozen=True)
class _Order:
    """A command and what it needs."""

    line: CommandLine
    settings: Settings
    calling: CallingCell
    store: RunStore

    @property
    def run_id(self) -> str:
        """The id of the run it names."""
        return self.store.resolve(self.line.target)


def _finish(order: _Order, record: RunRecord, shown: RunDisplay) -> ShownRun:
    storage = order.store.storage(record.run_id)
    if storage.problem:
        shown.show(unsaved_notice(storage))
    run = ShownRun(record, order.calling.is_running, storage.problem)
    shown.finish(run)
    return run


def _files(record: RunRecord, step: int) -> list[str]:
    """Names of the files that a run changed, from one of its cells on, counted from 1."""
    ran = (each.execution for each in record.executions[max(step - 1, 0) :])
    return sorted({change.path for each in ran if each is not None for change in each.files})


def _in_one_cell(cells: Sequence[str], shell: InteractiveShell) -> Sequence[str]:
    """Cells as parts of one: magics of whole cells are calls, and what is no Python never ran."""
    parts = []
    for cell in cells:
        with suppress(SyntaxError):
            code = shell.transform_cell(cell)  # type: ignore[no-untyped-call]
            ast.parse(code)
            parts.append(code.rstrip() if code.startswith(CELL_MAGIC) else cell)
    return parts


class CellFace:
    """A verb's ``Face`` in a cell.

    Args:
        session: The agent of the shell.
        order: The command.
        shell: Where it was typed.
        shown: The transcript of what runs.
    """

    def __init__(
        self, session: ShellSession, order: _Order, shell: InteractiveShell, shown: RunDisplay
    ) -> None:
        self._session = session
        self._order = order
        self._shown = shown
        self.variables: Mapping[str, Any] = shell.user_ns

    def warn(self, text: str) -> None:
        """A line of the transcript."""
        self._shown.show(Notice("warning", text))

    def check_mode(self, mode: Mode) -> None:
        """Refuse a mode that asks where nobody can be asked."""
        check_batch_mode(mode, is_interactive=self._order.calling.interactive)

    def open_tools(self, _store: RunStore) -> AbstractContextManager[OutsideTools]:
        """The services of this shell, which stay open."""
        return nullcontext(self._session.outside(self._order.settings))

    def open_service(self, model: str) -> AbstractContextManager[ModelService]:
        """A service of this shell, which stays open."""
        return nullcontext(self._session.services.get(self._order.settings, model))

    def open_kernel(
        self, choice: KernelChoice, notebook: NotebookFile, stop: Stop
    ) -> AbstractContextManager[Kernel]:
        """Start a kernel beside the one of this shell."""
        name = choice.name or notebook.kernel_name or "python3"
        return start_kernel(choice.folder, kernel_name=name, stop=stop)

    def open_state(self, run_id: str, stop: Stop) -> AbstractContextManager[Kernel] | None:
        """Copy the snapshot of this kernel from before a run, unless a fresh one is asked for."""
        kernel = self._session.kernel
        snapshot = None if self._order.line.arguments.fresh else find_before(kernel, run_id)
        if kernel is None or snapshot is None:
            return None
        self._order.store.database.rest()
        copied = open_copy(kernel.ask_snapshots, kernel.session, stop, snapshot.snapshot_id)
        copied.state_before = run_id
        return closing(copied)

    def make_place(self, kernel: Kernel, store: RunStore, notebook: NotebookFile) -> RunContext:
        """The kernel, with everything else that a run of this shell has."""
        place = self._session.place(self._order.settings, self._order.calling)
        return replace(place, kernel=kernel, notebook=notebook.memory, chat_id="", keep_state=None)

    def follow(self, events: Generator[Event, None, None], stop: Stop) -> None:
        """Draw what happens until the run has ended."""
        drive(events, self._shown.show)

    def end_run(self, store: RunStore) -> EndedRun:
        """The run that was recorded last."""
        run_id = store.last_started
        return EndedRun(store.record(run_id), store.storage(run_id))

    def finish(self, ended: EndedRun, source_run: str) -> ShownRun:
        """Draw how the run ended; its value."""
        return _finish(self._order, ended.record, self._shown)

    def tell_lost(self, ended: EndedRun) -> None:
        """Draw what of the run is not on disk."""
        if ended.problem:
            self._shown.show(unsaved_notice(ended.storage))


class Commands:
    """The commands of one shell.

    Args:
        shell: Where they were typed.
        session: The agent of that shell.
        transcript: Makes the transcript of a calling cell.
        configured: What ``%config`` says now.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        session: ShellSession,
        transcript: Callable[[CallingCell], RunDisplay],
        configured: Callable[[], Configured],
    ) -> None:
        self._shell = shell
        self._session = session
        self._transcript = transcript
        self._configured = configured
        self._widgets = OpenWidgets()
        self._branches: Any = None
        """A ``branching.BranchCommands``, made when somebody branches."""
        self._runners: dict[str, Callable[[_Order], object]] = {
            "chat": self._chat,
            "runs": self._runs,
            "show": self._show,
            "cells": self._cells,
            "undo": self._undo,
            "branch": self._branch,
            "redo": self._redo,
            "reset": self._reset,
            "usage": self._usage,
            "export": self._export,
        }

    def run(self, line: CommandLine, settings: Settings, calling: CallingCell) -> object:
        """Do it; what it hands back is the value of the calling cell.

        Raises:
            SetupError: It names a run that is not there.
        """
        order = _Order(line, settings, calling, self._session.store(settings))
        return self._runners.get(line.command.words[0], self._call)(order)

    def close(self) -> None:
        """Close the widgets and branches that are open."""
        self._widgets.close()
        if self._branches is not None:
            self._branches.close()

    def _chat(self, order: _Order) -> None:
        arguments = order.line.arguments
        cell = cell_settings(order.calling.metadata)

        def request_in(mode: str) -> RunRequest:
            options = AgentOptions(arguments.model or None, mode=mode or arguments.mode or None)
            return fill_request(options, cell, self._configured(), load_settings())

        brief = self._configured().short_errors
        chat = open_chat(self._session, order.calling, request_in, short_errors=brief)
        self._widgets.add(order.calling, chat)

    def _runs(self, order: _Order) -> object:
        runs = self._call(order)
        if not (order.line.arguments.widget and order.calling.rich):
            return runs
        assert isinstance(runs, Result)
        browser = RunsBrowser(self._shell, runs.items, order.store.record)
        self._widgets.add(order.calling, browser)
        browser.show()
        return None

    def _show(self, order: _Order) -> object:
        run_id = order.run_id
        shown = self._shown(order)
        for recorded in order.store.events(run_id):
            shown.show(recorded.event)
        record = order.store.record(run_id)
        choice = choice_of(record.scores)
        if choice is not None:
            shown.show(Notice("info", make_chosen(choice).explanation))
        return _finish(order, record, shown)

    def _shown(self, order: _Order) -> RunDisplay:
        return ReplayedOutputs(self._transcript(order.calling), self._shell)

    def _cells(self, order: _Order) -> object:
        run = Run(order.store.record(order.run_id))
        if not run.code:
            raise SetupError(f"Run {run.id!r} ran no code.")
        self._shell.set_next_input(run.code)
        return Result(f"The next cell holds the code of run {run.id}.")

    def _undo(self, order: _Order) -> object:
        target = order.line.target
        if target == "0":
            raise SetupError(
                "The cells of a run are counted from 1.", hint="%agent undo takes all."
            )
        step = int(target) if is_turn_number(target) else 0
        # A replay may be newer, but it worked in a kernel of its own.
        here = self._session.last_run_id if step or target == "last" else ""
        record = order.store.record(here or order.store.resolve("last" if step else target))
        place, kernel = UndonePlace(record.run_id, step), self._session.kernel
        wants_files = order.line.arguments.files
        before = self._session.undone
        if wants_files and target == "last" and before is not None:
            # The variables are there already, and only now the person reads which files are not.
            with self._session.at_work():
                return self._put_files_back(order, before, "")
        snapshot = find_before(kernel, place.run_id, step)
        if snapshot is not None:
            check_ends_cell(self._shell, "%agent undo")
            with self._session.at_work():
                files = self._files_of(record, place, put_back=wants_files)
                lost = explain_no_state(kernel)
                shown = undone_text(snapshot, files, are_back=wants_files, lost=lost)
                self._go_to(order, snapshot, shown, files.back if wants_files else None)
        if target == "last" and not here and record.lane == "cli":
            raise SetupError(
                "No run was asked in this kernel, so there is none to undo here.",
                hint=f"%agent undo {record.run_id} says what that one changed, in another kernel.",
            )
        why = explain_missing(kernel, order.settings.snapshots)
        if wants_files and find_files(kernel, place.run_id, step).back:
            with self._session.at_work():
                left = f"The variables are left as they are: {why}."
                return self._put_files_back(order, place, left)
        wholly = [s for s in order.store.scores.of(place.run_id) if s == make_undone(0)]
        if wholly and not step and find_later(kernel) is not None:
            raise SetupError(
                f"Run {place.run_id} is undone already, and no earlier state is kept.",
                hint="%agent redo goes forth again.",
            )
        if step > 1 and kept_steps(kernel, place.run_id):
            raise missing_step(kernel, place.run_id, step, order.settings.snapshots)
        if step > len(record.executions):
            raise SetupError(
                f"Run {place.run_id} ran no cell {step}.", hint="Name one that it ran."
            )
        chats = ChatStore(order.store.database)
        cells = _in_one_cell(executed_before(record, step, order.store, chats), self._shell)
        if cells:
            self._shell.set_next_input("\n\n".join(cells))
        files = ChangedFiles(find_files(kernel, place.run_id, step).back)
        target = str(step) if step else place.run_id
        offer = offered_text(files, f"%agent undo {target} --files")
        return undo_advice(record, why, step, len(cells), offer)

    def _files_of(self, record: RunRecord, place: UndonePlace, *, put_back: bool) -> ChangedFiles:
        """The files that were changed since; put back where that is wanted and can be done."""
        ask = put_files_back if put_back else find_files
        files = ask(self._session.kernel, place.run_id, place.step)
        return with_recorded(files, _files(record, place.step))

    def _put_files_back(self, order: _Order, place: UndonePlace, before: str) -> Result:
        """Put files back, and nothing else; what the person reads, after some words before it."""
        record = order.store.record(place.run_id)
        files = self._files_of(record, place, put_back=True)
        self._session.undone = None
        after = "" if before else "%agent undo --files once more goes one run further back."
        if files.back:
            self._session.tell_model(note_of_files(files), order.settings, order.calling)
            self._note_files(order, place.run_id, files.back, is_forth=False)
            after = "%agent redo --files puts them forth again."
        done = files_text(files) or f"{no_files_text(place)} "
        return Result(f"{before} {done}{after}".strip())

    def _redo(self, order: _Order) -> object:
        kernel, wants_files = self._session.kernel, order.line.arguments.files
        snapshot = find_later(kernel)
        if snapshot is None and not (wants_files and find_files(kernel).back):
            raise SetupError(NOTHING_TO_REDO, hint=CELLS_AGAIN)
        if snapshot is not None:
            check_ends_cell(self._shell, "%agent redo")
        with self._session.at_work():
            files = put_files_back(kernel) if wants_files else find_files(kernel)
            if snapshot is None:
                text = note_of_files(files, is_forth=True)
                self._session.tell_model(text, order.settings, order.calling)
                self._note_files(order, files.run_id, files.back, is_forth=True)
                return Result(files_text(files, "forth").strip())
            shown = redone_text(snapshot, files, are_back=wants_files)
            self._go_to(order, snapshot, shown, files.back if wants_files else None)
        return None

    def _go_to(
        self, order: _Order, snapshot: Snapshot, shown: str, files: Sequence[ChangedFile] | None
    ) -> None:
        """Go to a state of the kernel, which the record knows before it happens."""
        run_id = snapshot.run_id
        before = order.store.set_undone(snapshot.changes)
        self._note_files(order, run_id, files or (), is_forth=snapshot.is_later)
        if not snapshot.is_later:
            self._session.take_cells_back(order.store.events(run_id), run_id, snapshot.step)
        try:
            self._session.go_to(snapshot, order.settings, order.calling, shown, files)
        except CellwrightError:
            order.store.set_undone(before, "The kernel could not be taken there after all.")
            if files and not snapshot.is_later:
                forth = put_files_back(self._session.kernel)
                self._note_files(order, run_id, forth.back, is_forth=True)
            raise

    def _note_files(
        self, order: _Order, run_id: str, files: Sequence[ChangedFile], *, is_forth: bool
    ) -> None:
        """Let the record of a run say which files were put back, or forth."""
        if files:
            paths = [file.path for file in files]
            order.store.add(run_id, note_of_files_moved(paths, is_forth=is_forth))

    def _branch(self, order: _Order) -> object:
        arguments, cell = order.line.arguments, cell_settings(order.calling.metadata)
        options = AgentOptions(
            mode=getattr(arguments, "mode", "") or None,
            files=tuple(getattr(arguments, "files", ())),
        )
        request = fill_request(options, cell, self._configured(), order.settings)
        chooses = any(vars(arguments).get(name) for name in ("choose", "check"))
        if chooses or order.line.name == "branch keep":
            check_ends_cell(self._shell, f"%agent {order.line.name}")
        calling = self._painting(order.calling)
        return self._open_branching().run(order.line, request, order.settings, calling)

    def try_best_of(
        self, request: RunRequest, options: AgentOptions, settings: Settings, calling: CallingCell
    ) -> object:
        """Try a question several times; where an attempt is kept, this does not return.

        Raises:
            ChoiceError: None could be chosen; the attempts stay open.
            SetupError: It cannot be done as it is asked for.
        """
        check_ends_cell(self._shell, "%agent --best-of")
        calling = self._painting(calling)
        return self._open_branching().try_best_of(request, options, settings, calling)

    def _open_branching(self) -> Any:
        if self._branches is None:
            module = importlib.import_module("cellwright_magics.branching")
            self._branches = module.BranchCommands(self._shell, self._session, self._transcript)
        return self._branches

    def _painting(self, calling: CallingCell) -> CallingCell:
        """The calling cell, below which the front end can paint cells where it may."""
        if calling.rich and self._configured().paint:
            return replace(calling, easel=self._session.find_easel(calling))
        return calling

    def _reset(self, order: _Order) -> object:
        self._session.reset()
        return Result("The conversation starts anew. Variables and recorded runs stay.")

    def _export(self, order: _Order) -> object:
        exported = self._call(order)
        assert isinstance(exported, Result)
        if order.line.arguments.out != "-":
            return exported
        print(exported.plain)
        return None

    def _usage(self, order: _Order) -> object:
        usage = self._call(order)
        assert isinstance(usage, Result)
        return plot_usage(usage) if order.line.arguments.plot else usage

    def _call(self, order: _Order) -> object:
        """Do what is the same from every face."""
        line, folder = order.line, self._session.notebook_path
        context = VerbContext(
            line.given,
            order.settings,
            lambda: nullcontext(order.store),
            line.arguments,
            "%agent /",
            folder.parent if folder is not None else Path.cwd(),
            show_after_a_while(),
            print,
            lambda: CellFace(self._session, order, self._shell, self._shown(order)),
        )
        result = run_verb(line.command, context)
        return Result(result) if isinstance(result, str) else result
