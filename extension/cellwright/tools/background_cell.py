"""Cells that the model need not wait for: what they have shown so far, and what came of them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from cellwright.errors import KernelError, RunCancelled
from cellwright.kernels.background_cell import GoingCell, PatientKernel, can_go_on
from cellwright.record.cells import Execution
from cellwright.record.content import ComponentOutput, Content
from cellwright.record.events import CellEvent, CellFinished, CellStarted
from cellwright.record.outputs import fold
from cellwright.tools import ToolContext
from cellwright.tools.cell_running import (
    SeenCells,
    broken_off,
    cell_request,
    cell_result,
    get_ready,
    run_cell,
    shown,
)
from cellwright.tools.summaries import summarise

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
