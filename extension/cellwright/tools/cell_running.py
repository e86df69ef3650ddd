"""Running one cell for a tool: its events, its outputs and what the model is given of them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Generator
from dataclasses import dataclass, replace

from cellwright.errors import (
    KernelDiedError,
    KernelError,
    KernelRestartedError,
    RunCancelled,
    ToolError,
)
from cellwright.kernels import CellRequest, GoingCell, PatientKernel, can_go_on
from cellwright.record.content import ComponentOutput, Content
from cellwright.record.events import CellEvent, CellFinished, CellOutput, CellStarted
from cellwright.record.messages import ImagePart, Part
from cellwright.record.outputs import (
    ErrorOutput,
    Execution,
    ExecutionStatus,
    Output,
    OutputMessage,
    fold,
    source_hash,
)
from cellwright.text.redaction import PLACEHOLDER
from cellwright.tools import ToolContext
from cellwright.tools.packages import missing_module_hint
from cellwright.tools.summaries import summarise

CODE_LIMIT_CHARACTERS = 200_000
TIMEOUT_FACTOR = 10
"""How much longer than the usual limit a model may let a cell run."""
NO_KEYBOARD = "Nobody can type here: input() does not work. Ask the person in your answer."


@dataclass(frozen=True)
class CellCall:
    """A cell that ran."""

    outputs: tuple[Output, ...]
    execution: Execution
    result: ComponentOutput
    """What the model is given."""


class SeenCells:
    """The sources as the model last saw them, by cell id; shared by the notebook's tools."""

    def __init__(self) -> None:
        self._hashes: dict[str, str] = {}

    def note(self, cell_id: str, source: str) -> None:
        """The model has seen, or written, this source."""
        self._hashes[cell_id] = source_hash(source)

    def has(self, cell_id: str) -> bool:
        """Whether the model was shown all of the cell at some time."""
        return cell_id in self._hashes

    def is_current(self, cell_id: str, source: str) -> bool:
        """Whether the source is still the one the model saw."""
        return self._hashes.get(cell_id) == source_hash(source)


def checked_code(code: str) -> str:
    """Code that may go into a cell.

    Raises:
        ToolError: It is empty or far too long.
    """
    if not code.strip():
        raise ToolError("The code is empty.", hint="Give the code to run.")
    if len(code) > CODE_LIMIT_CHARACTERS:
        raise ToolError(
            f"The code has {len(code):,} characters; at most {CODE_LIMIT_CHARACTERS:,} can run.",
            hint="Split it, or write data to a file in several steps.",
        )
    check_secrets(code)
    return code


def check_secrets(source: str) -> None:
    """Refuse code in which something stands for a secret: it would do what nobody wrote.

    Raises:
        ToolError: A secret was taken out of it, or its writer read it that way.
    """
    found = PLACEHOLDER.search(source)
    if found:
        raise ToolError(
            f"Nothing was changed or run: {found.group()} stands for a secret, which is kept from "
            "models and records.",
            hint="Use the variable that holds it, os.environ or getpass; leave a cell that holds "
            "one as it is, and ask the person where a new one is needed.",
        )


def run_cell(
    context: ToolContext,
    seen: SeenCells,
    cell_id: str,
    code: str,
    timeout_seconds: float | None = None,
) -> Generator[CellEvent, None, CellCall]:
    """Run a cell that is there already; yield what happens.

    Raises:
        ToolError: The person changed or deleted the cell; nothing ran.
        RunCancelled: Somebody pressed Stop.
        KernelError: The kernel died or does not answer. A cell that was started is finished first.
    """
    request = cell_request(context, cell_id, code, timeout_seconds)
    get_ready(context, seen, request)
    messages: list[OutputMessage] = []
    context.before_cell()
    yield CellStarted(cell_id)
    started = time.monotonic()
    try:
        execution = yield from _execute(context, request, messages)
    except (RunCancelled, KernelError) as stopped:
        yield CellFinished(cell_id, broken_off(stopped, time.monotonic() - started))
        raise
    yield CellFinished(cell_id, execution)
    check_session(context)
    outputs = fold(messages)
    return CellCall(outputs, execution, cell_result(context, cell_id, outputs, execution))


def cell_request(
    context: ToolContext, cell_id: str, code: str, timeout_seconds: float | None
) -> CellRequest:
    """What the kernel is sent; the model may give a cell more time, but not more than is left."""
    usual = context.limits.cell_timeout_seconds
    wanted = usual if timeout_seconds is None else timeout_seconds
    limit = max(min(wanted, usual * TIMEOUT_FACTOR, context.left_seconds()), 1.0)
    name, session = uuid.uuid4().hex, context.kernel_session
    return CellRequest(cell_id, code, limit, message_id=name, kernel_session=session)


def check_session(context: ToolContext) -> None:
    """Raise KernelRestartedError where the kernel is another one than that of the run."""
    if context.kernel_session and context.kernel.session != context.kernel_session:
        raise KernelRestartedError


def get_ready(context: ToolContext, seen: SeenCells, request: CellRequest) -> None:
    """Wait for the kernel first: meanwhile the person may change the cell."""
    context.kernel.wait_until_free(context.stop)
    check_session(context)
    notebook = context.notebook
    if notebook is None or not notebook.is_editable:
        return
    try:
        notebook.confirm(request.cell_id, request.code, request.message_id)
    except ToolError:
        # The model is about to read what the person wrote.
        for cell in notebook.cells():
            if cell.id == request.cell_id:
                seen.note(cell.id, cell.source)
        raise


def _execute(
    context: ToolContext, request: CellRequest, messages: list[OutputMessage]
) -> Generator[CellEvent, None, Execution]:
    def sink(output: CellOutput) -> CellOutput:
        kept = context.on_output(output)
        if kept.cell_id == request.cell_id:
            messages.append(kept.message)
        return kept

    return (yield from context.kernel.execute(request, context.stop, sink))


def broken_off(stopped: RunCancelled | KernelError, seconds: float) -> Execution:
    """The end of a cell that the run does not outlive."""
    if isinstance(stopped, RunCancelled):
        count = stopped.execution_count
        return Execution("interrupted", seconds, execution_count=count, note=stopped.reason)
    status: ExecutionStatus = "died" if isinstance(stopped, KernelDiedError) else "aborted"
    return Execution(status, seconds, note=stopped.message)


def cell_result(
    context: ToolContext, cell_id: str, outputs: tuple[Output, ...], execution: Execution
) -> ComponentOutput:
    """What the model is given of a cell that has ended."""
    summary = summarise(
        outputs, execution, context.limits, sees_images=context.sees_images, name=cell_id
    )
    for cut in summary.cut:
        context.shelf.keep(cut.name, cut.text)
    failed = execution.status != "ok"
    contents = [shown(part, failed) for part in summary.parts]
    hint = _hint(execution.error)
    if hint:
        contents.append(Content("text", {"info": hint}, visible_scope="llm"))
    if context.patient is not None or (context.notebook and context.notebook.is_editable):
        # Named only where the model can edit it, or ask for it later.
        name = Content("text", {"info": f"[cell {cell_id}]"}, visible_scope="llm")
        contents.insert(0, name)
    return ComponentOutput(tuple(contents), metadata={"cell_id": cell_id})


def shown(part: Part, failed: bool = False) -> Content:
    """A part of a summary for the model."""
    if isinstance(part, ImagePart):
        fields = {"mime_type": part.mime, "base64": part.data, "filename": part.caption}
        return Content("image", fields, visible_scope="llm")
    return Content("text", {"info": part.text}, visible_scope="llm", is_error=failed)


def _hint(error: ErrorOutput | None) -> str:
    if error is None:
        return ""
    if error.ename == "StdinNotImplementedError":
        return NO_KEYBOARD
    return missing_module_hint(error)


# Cells that the model need not wait for: what they have shown so far, and what came of them.


WAIT_LIMIT_SECONDS = 600.0
STILL_RUNNING = (
    "[cell {id} still runs, after {seconds:.0f} s; above is what it has shown so far. "
    "read_output(name={id!r}, wait_seconds=60) waits for more, interrupt=true ends it. What needs "
    "the kernel waits for it.]"
)
HAS_ENDED = (
    "[cell {id}, which went on, has ended: {status}, {seconds:.0f} s. read_output(name={id!r}) "
    "tells what it showed.]"
)


def patiently(context: ToolContext) -> ToolContext:
    """The context with a kernel whose cells may go on, where that is set and possible."""
    seconds = context.limits.soft_wait_seconds
    if seconds is None or not can_go_on(context.kernel):
        return context
    patient = PatientKernel(context.kernel, seconds)
    return replace(context, kernel=patient, patient=patient)


def run_softly(
    context: ToolContext,
    seen: SeenCells,
    cell_id: str,
    code: str,
    timeout_seconds: float | None = None,
) -> Generator[CellEvent, None, ComponentOutput]:
    """Run a cell that is there already; what the model is told, at its end or before.

    Raises:
        ToolError: The person changed or deleted the cell; nothing ran.
        RunCancelled: Somebody pressed Stop.
        KernelError: The kernel died or does not answer.
    """
    patient = context.patient
    if patient is None:
        return (yield from run_cell(context, seen, cell_id, code, timeout_seconds)).result
    request = cell_request(context, cell_id, code, timeout_seconds)
    get_ready(context, seen, request)
    news = yield from _settled(patient)
    context.before_cell()
    yield CellStarted(cell_id)
    patient.left = going = patient.begin(request, context.stop, context.on_output)
    told = yield from _looked_at(context, patient, going, patient.soft_seconds)
    return replace(told, content=(*map(_for_model, news), *told.content))


def look_again(
    context: ToolContext, name: str, seconds: float, *, interrupt: bool
) -> Generator[CellEvent, None, ComponentOutput | None]:
    """Wait for more of a cell that goes on.

    Args:
        context: Of the call.
        name: Id of the cell.
        seconds: How long to wait at most.
        interrupt: End it.

    Returns:
        What the model is told; None: no cell of this name went on.
    """
    patient = context.patient
    going = patient.left if patient is not None else None
    if patient is not None and name in patient.ended:
        return _result(context, patient.ended.pop(name))
    if patient is None or going is None or going.cell_id != name:
        return None
    if interrupt:
        going.interrupt()
        going.wait(context.stop)
    wait = min(max(seconds, 0.0), WAIT_LIMIT_SECONDS)
    return (yield from _looked_at(context, patient, going, wait))


def last_end(
    patient: PatientKernel | None, *, at_once: bool = False
) -> Generator[CellEvent, None, None]:
    """Wait for the cell that goes on and tell its end: a run does not end before its cells.

    Args:
        patient: The kernel; None: no cell goes on.
        at_once: Interrupt it.

    Raises:
        RunCancelled: Somebody pressed Stop meanwhile.
        KernelError: The kernel died.
    """
    going = patient.left if patient is not None else None
    if patient is None or going is None:
        return
    if at_once:
        going.interrupt()
    yield from going.outputs(None)
    yield from _end(patient, going)


def _looked_at(
    context: ToolContext, patient: PatientKernel, going: GoingCell, seconds: float
) -> Generator[CellEvent, None, ComponentOutput]:
    yield from going.outputs(seconds)
    if not going.is_over:
        return _so_far(context, going)
    yield from going.outputs(0)
    yield from _end(patient, going)
    check_session(context)
    return _result(context, going)


def _settled(patient: PatientKernel) -> Generator[CellEvent, None, tuple[str, ...]]:
    """Tell the end of the cell that went on; a word for the model."""
    going = patient.left
    if going is None:
        return ()
    yield from going.outputs(None)
    ended = yield from _end(patient, going)
    patient.ended[going.cell_id] = going
    return (HAS_ENDED.format(id=going.cell_id, status=ended.status, seconds=going.seconds),)


def _end(patient: PatientKernel, going: GoingCell) -> Generator[CellEvent, None, Execution]:
    patient.left = None
    try:
        execution = going.execution()
    except (RunCancelled, KernelError) as stopped:
        yield CellFinished(going.cell_id, broken_off(stopped, going.seconds))
        raise
    yield CellFinished(going.cell_id, execution)
    return execution


def _result(context: ToolContext, going: GoingCell) -> ComponentOutput:
    return cell_result(context, going.cell_id, fold(going.messages), going.execution())


def _so_far(context: ToolContext, going: GoingCell) -> ComponentOutput:
    """What a cell has shown; cut like the output of one that has ended."""
    outputs, name = fold(going.messages), f"{going.cell_id}.so_far"
    summary = summarise(outputs, None, context.limits, sees_images=context.sees_images, name=name)
    for cut in summary.cut:
        context.shelf.keep(cut.name, cut.text)
    words = STILL_RUNNING.format(id=going.cell_id, seconds=going.seconds)
    contents = (*map(shown, summary.parts), _for_model(words))
    return ComponentOutput(contents, metadata={"cell_id": going.cell_id})


def _for_model(words: str) -> Content:
    return Content("text", {"info": words}, visible_scope="llm")
