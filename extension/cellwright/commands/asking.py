"""``cellwright run``: ask the agent, after a notebook's own cells where one is given."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.assistants.files import list_assistants, project_folders
from cellwright.commands import EndedRun, Invocation, KernelChoice
from cellwright.commands.calling import print_result
from cellwright.commands.notebook_files import (
    NotebookFile,
    check_target,
    new_notebook,
    read_notebook,
)
from cellwright.commands.records import check_record_file, end_run, open_store
from cellwright.commands.terminal import Console
from cellwright.commands.workplace import (
    checked_mode_here,
    follow,
    make_place,
    open_kernel,
    output_lines,
    report,
)
from cellwright.errors import KernelDiedError, SetupError
from cellwright.kernels.fresh import FreshKernel
from cellwright.record.events import CellAdded, CellFinished, CellOutput, CellStarted
from cellwright.record.outputs import Cell, ErrorOutput, Execution, from_kernel_message
from cellwright.record.run_record import RunRecord
from cellwright.session.composer import AssistantChoice, ComposedRun, RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunRequest
from cellwright.session.services import ServiceCache
from cellwright.settings import Limits, option_parameters
from cellwright.stopping import Stop
from cellwright.text.cleaning import safe_markdown
from cellwright.tools.packages import check_allowed

# A notebook's own cells, run as its person would run them: in order, up to the first that fails.
#
# They go over a connection of their own, so that the kernel's history holds them as the person's:
# a run that follows knows what was executed and what failed last.


READY_SECONDS = 60
LOOK_SECONDS = 0.5


def run_cells(kernel: FreshKernel, notebook: NotebookFile, console: Console, stop: Stop) -> None:
    """Run the code cells; what they show goes into the notebook.

    Raises:
        KernelDiedError: The kernel ended meanwhile.
        RunCancelled: ``stop`` was set.
    """
    cells = [cell for cell in notebook.memory.cells() if cell.cell_type == "code"]
    client = kernel.process.client()
    client.start_channels(hb=False)
    try:
        client.wait_for_ready(timeout=READY_SECONDS)
        for number, cell in enumerate(cells, start=1):
            if not cell.source.strip():
                continue
            console.note(f"Running code cell {number} of {len(cells)} of the notebook …")
            error = _RunningNotebook(kernel, client, notebook, cell).to_its_end(stop)
            if error is not None:
                console.complain(
                    f"cellwright: code cell {number} of {len(cells)} failed; those after it were "
                    "not run."
                )
                for line in output_lines((error,)):
                    console.note(line)
                return
    finally:
        client.stop_channels()


class _RunningNotebook:
    """One cell while it runs."""

    def __init__(
        self, kernel: FreshKernel, client: Any, notebook: NotebookFile, cell: Cell
    ) -> None:
        self._kernel = kernel
        self._client = client
        self._notebook = notebook
        self._cell = cell
        self._error: ErrorOutput | None = None
        self._count: int | None = None

    def to_its_end(self, stop: Stop) -> ErrorOutput | None:
        memory, started = self._notebook.memory, time.monotonic()
        memory.apply(CellStarted(self._cell.id))
        request = self._client.execute(self._cell.source, allow_stdin=False)
        while not self._is_last(self._next_message(stop), request):
            pass
        seconds = time.monotonic() - started
        execution = Execution(
            "ok" if self._error is None else "error", seconds, self._error, self._count
        )
        memory.apply(CellFinished(self._cell.id, execution))
        return self._error

    def _next_message(self, stop: Stop) -> dict[str, Any]:
        while True:
            stop.check()
            try:
                message: dict[str, Any] = self._client.get_iopub_msg(timeout=LOOK_SECONDS)
                return message
            except queue.Empty:
                if not self._kernel.is_alive():
                    raise KernelDiedError(
                        f"The kernel ended while it ran cell {self._cell.id!r} of the notebook.",
                        hint="Look at that cell, or leave out --run-notebook.",
                    ) from None

    def _is_last(self, message: dict[str, Any], request: str) -> bool:
        if message["parent_header"].get("msg_id") != request:
            return False
        kind, content = message["msg_type"], message["content"]
        if kind == "execute_input":
            self._count = content.get("execution_count")
        output = from_kernel_message(kind, content)
        if output is not None:
            self._notebook.memory.apply(CellOutput(self._cell.id, output))
            self._error = output if isinstance(output, ErrorOutput) else self._error
        return bool(kind == "status" and content["execution_state"] == "idle")


def run(invocation: Invocation) -> int:
    """Ask, follow the run, write the notebook, print the answer."""
    options = invocation.options
    prompt = _prompt(invocation)
    mode = checked_mode_here(invocation, options.mode or invocation.settings.mode)
    target = check_target(options.output) if options.output else None
    check_record_file(options.record)
    notebook = read_notebook(Path(options.notebook)) if options.notebook else new_notebook()
    folder = Path(options.notebook).resolve().parent if options.notebook else Path.cwd()
    request = RunRequest(
        prompt,
        option_parameters(options.model or "", options),
        assistant_name=options.assistant,
        files=_seen_from(folder, options.files),
        mode=mode,
        limits=_limits(invocation),
        given=dict(options.var),
        tells_time=invocation.settings.message_times,
        installable=check_allowed(options.allow_install),
    )
    ended = _ask(invocation, request, notebook, folder)
    if target is not None:
        _add_answer(notebook, ended.record)
        try:
            notebook.write(target)
        except SetupError as error:
            # The run is paid for: its answer and its id are worth more than the file.
            ended, target = replace(ended, unwritten=str(error)), None
        else:
            invocation.console.note(f"Notebook: {target}")
    elif not ended.storage.problem:
        invocation.console.note(
            f"Keep it as a notebook: cellwright export {ended.record.run_id} --to ipynb"
        )
    result = report(ended, invocation, notebook=str(target) if target else None)
    return print_result(invocation.console, result)


def _ask(
    invocation: Invocation, request: RunRequest, notebook: NotebookFile, folder: Path
) -> EndedRun:
    options, settings, stop = invocation.options, invocation.settings, Stop()
    listed = list_assistants(project_folders(folder), settings.home)
    with open_store(invocation) as store, contextlib.closing(ServiceCache()) as services:

        @contextlib.contextmanager
        def open_conversation(composed: ComposedRun) -> Iterator[Conversation]:
            invocation.console.note(f"{composed.service.model} · mode {request.mode} · {folder}")
            choice = KernelChoice(folder, options.kernel)
            with open_kernel(choice, notebook, stop, invocation.console) as kernel:
                if options.run_notebook:
                    run_cells(kernel, notebook, invocation.console, stop)
                yield Conversation(make_place(invocation, kernel, store, notebook, folder))

        environment = RunEnvironment(
            lambda model: services.get(settings, model),
            open_conversation,
            settings,
            assistants=AssistantChoice(listed, is_guest=settings.is_guest),
            folder=folder,
        )
        follow(start_run(request, environment, stop), invocation, stop)
        return end_run(invocation, store)


def _prompt(invocation: Invocation) -> str:
    prompt = invocation.options.prompt
    if prompt is None:
        raise SetupError(
            "No prompt is given.", hint="Put it first: cellwright run PROMPT --files …"
        )
    text: str = invocation.console.read_all() if prompt == "-" else prompt
    if not text.strip():
        raise SetupError(f"The prompt {text!r} is empty.", hint="Say what is to be done.")
    if invocation.options.run_notebook and not invocation.options.notebook:
        raise SetupError("--run-notebook has no notebook.", hint="Name one with --notebook FILE.")
    return text.strip()


def _seen_from(folder: Path, files: list[str]) -> tuple[str, ...]:
    """The files as the kernel's code should name them, from the folder it runs in."""
    base = folder.resolve()
    names = []
    for file in files:
        path = Path(file).expanduser()
        if not path.exists():
            names.append(file)  # perhaps the kernel's folder has it; if not, that is told later
            continue
        full = path.resolve()
        names.append(str(full.relative_to(base)) if full.is_relative_to(base) else str(full))
    return tuple(names)


def _limits(invocation: Invocation) -> Limits:
    options = invocation.options
    given: dict[str, Any] = {
        "step_limit": options.max_steps,
        "cell_timeout_seconds": options.timeout,
        "wall_seconds": options.max_seconds,
        "token_limit": options.max_tokens,
        "cost_limit_dollars": options.budget,
    }
    set_here = {name: value for name, value in given.items() if value is not None}
    return replace(invocation.settings.limits, **set_here)


def _add_answer(notebook: NotebookFile, record: RunRecord) -> None:
    if record.answer.strip():
        answer = CellAdded(f"answer-{record.run_id[-6:]}", safe_markdown(record.answer), "markdown")
        notebook.memory.apply(answer)
