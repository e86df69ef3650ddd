"""A component called by hand: recorded like a call of the agent, told envelope by envelope.

What this does not protect against: a component is code of the server and runs with its rights.
One that neither yields nor looks at ``context.stop`` cannot be stopped before it returns.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from cellwright._version import __version__
from cellwright.agent.policy import ApprovalAnswer, Policy
from cellwright.agent.publishing import Publisher
from cellwright.agent.tool_calls import CallerParts, ToolCaller
from cellwright.errors import (
    ActionRefusedError,
    CellwrightError,
    KernelDiedError,
    KernelError,
    RunCancelled,
    ToolError,
)
from cellwright.kernels import Kernel
from cellwright.llm.adapters import ParsedCall
from cellwright.llm.budget import RunBudget
from cellwright.record.content import OUTPUT_MIME, ComponentOutput, Content
from cellwright.record.events import (
    CellOutput,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.messages import Manifest, Parameters, TextPart, ToolCall
from cellwright.record.outputs import (
    ClearOutput,
    DisplayData,
    DisplayUpdate,
    ErrorOutput,
    ExecuteResult,
    OutputMessage,
    StreamOutput,
    safe_json,
)
from cellwright.record.run_record import RecordedEvent
from cellwright.record.usage import Usage
from cellwright.record.values import from_dict
from cellwright.server.component_envelopes import (
    CallEnding,
    Envelope,
    Envelopes,
    RunIds,
    Status,
    View,
    seen_by,
)
from cellwright.server.service_choice import shown_url
from cellwright.session.run_facts import model_configs
from cellwright.settings import Mode, Settings
from cellwright.stopping import Stop
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.tools import Component, Risk, ToolContext, ToolLimits, ToolYield
from cellwright.tools.output_store import Shelf
from cellwright.tools.registry import Registry
from cellwright.tools.tracing import trace_headers

# What a component says by other means than its outputs, as outputs: progress, and its cells.


PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")


def progress_output(text: str, fraction: float | None) -> ComponentOutput:
    """How far it is: for the person, and no part of the answer."""
    if fraction is None:
        said = Content("text", {"info": text}, "progress", "user")
    else:
        said = Content("progress", {"progress": fraction, "message": text}, "progress", "user")
    return ComponentOutput((said,))


def cell_output(message: OutputMessage) -> ComponentOutput:
    """What the cell of a tool in the kernel shows: for the person; the model has its summary."""
    match message:
        case StreamOutput(name=name, text=text):
            return _for_person(Content("text", {"info": text}, name))
        case ErrorOutput(ename=ename, evalue=evalue):
            return _for_person(Content("text", {"info": f"{ename}: {evalue}"}, is_error=True))
        case DisplayData(data=data) | ExecuteResult(data=data) | DisplayUpdate(data=data):
            return _whole(data) or _for_person(_drawn(data))
        case ClearOutput():
            return ComponentOutput(())


def _for_person(item: Content) -> ComponentOutput:
    return ComponentOutput((Content(item.type, item.text, item.name, "user", item.is_error),))


def _whole(data: Mapping[str, Any]) -> ComponentOutput | None:
    """The person's part of what a component in the kernel made, where the bundle is that."""
    if OUTPUT_MIME not in data:
        return None
    try:
        whole: ComponentOutput = from_dict(ComponentOutput, data[OUTPUT_MIME])
    except (ValueError, ToolError):
        return None  # of a newer version: its text is there all the same
    return ComponentOutput(
        tuple(item for item in whole.content if item.visible_scope != "llm"), whole.role
    )


def _drawn(data: Mapping[str, Any]) -> Content:
    for mime in PICTURES:
        if isinstance(data.get(mime), str):
            return Content("image", {"base64": data[mime], "mime_type": mime})
    words = str(data.get("text/plain", ""))
    return Content("text", {"info": words, "mime": safe_json(dict(data))})


# A component whose outputs somebody hears as they come.


class WatchedComponent(Component):
    """Another component, which ``watched`` makes it stand for."""

    inner: ClassVar[Component]
    risk: ClassVar[Risk] = "execute"

    def __init__(self, heard: Callable[[ComponentOutput], None], stop: Stop) -> None:
        self._heard, self._stop = heard, stop
        self.failure: Exception | None = None
        """What ended the call."""

    def label(self, **arguments: object) -> str:
        """That of the component."""
        return self.inner.label(**arguments)

    def risk_for(self, **arguments: object) -> Risk:
        """That of the component."""
        return self.inner.risk_for(**arguments)

    def code_for(self, **arguments: object) -> str:
        """That of the component."""
        return self.inner.code_for(**arguments)

    def tool_manifests(self) -> tuple[Manifest, ...]:
        """Those of the component."""
        return self.inner.tool_manifests()

    def evaluate(
        self, context: ToolContext | None = None, /, **arguments: Any
    ) -> Iterator[ToolYield]:
        """Call the component; stop between two of its outputs when that is asked.

        Raises:
            RunCancelled: Somebody asked to stop.
        """
        outputs = cast("Any", self.inner.evaluate(context, **arguments))
        try:
            with closing(outputs):
                for item in outputs:
                    self._stop.check()
                    if isinstance(item, ComponentOutput):
                        self._heard(item)
                    yield item
                    self._stop.check()
        except Exception as error:
            self.failure = error
            raise


def watched(
    component: Component, heard: Callable[[ComponentOutput], None], stop: Stop
) -> WatchedComponent:
    """The component, with somebody who hears what it says."""
    body: Mapping[str, Any] = {
        "name": component.name,
        "version": component.version,
        "risk": component.risk,
        "inner": component,
    }
    made: WatchedComponent = type(component.name, (WatchedComponent,), dict(body))(heard, stop)
    return made


# The trace that a request comes with goes on here (W3C trace context, requirements 000-15).
#
# Nothing is imported for it: where the process has OpenTelemetry not set up, tracing is off and the
# header is not looked at.


TRACE_HEADER = "traceparent"
PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


@contextlib.contextmanager
def joined_trace(name: str, header: str) -> Iterator[None]:
    """A span for what was asked over HTTP, below the caller's where they sent one.

    Args:
        name: What the span is called.
        header: The caller's ``traceparent``; what is none begins a trace of our own.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield
        return
    parent = _remote(trace, header)
    above = None if parent is None else trace.set_span_in_context(parent)
    span = trace.get_tracer("cellwright").start_span(name, above)
    if parent is not None and span.get_span_context() == parent.get_span_context():
        # Nobody makes spans here: the caller's own came back, which is not to be handed on.
        yield
        return
    with trace.use_span(span, end_on_exit=True):
        yield


def trace_id() -> str:
    """The id of the trace that goes on here; empty while tracing is off."""
    header = trace_headers().get(TRACE_HEADER, "")
    return header.split("-")[1] if header else ""


def _remote(trace: Any, header: str) -> Any:
    """The span that the header names; None where it names none."""
    match = PARENT.fullmatch(header.strip())
    if match is None:
        return None
    trace_number, span_number, flags = (int(part, 16) for part in match.groups())
    if not trace_number or not span_number:
        return None
    place = trace.SpanContext(
        trace_number, span_number, is_remote=True, trace_flags=trace.TraceFlags(flags)
    )
    return trace.NonRecordingSpan(place)


LANE = "hand"
SAYS_ERROR = "The component reports an error."
CODES: tuple[tuple[type[Exception], str], ...] = (
    (ActionRefusedError, "refused"),
    (KernelDiedError, "kernel_died"),
    (KernelError, "kernel"),
    (ToolError, "tool_error"),
    (CellwrightError, "setup"),
)
"""What programs are told of an error; any other is a bug of the component, ``internal``."""
Tell = Callable[[Envelope], None]


@dataclass(frozen=True)
class HandCall:
    """What is called, and for whom it is told."""

    component: Component
    tool: str
    """The name of its manifest; a component may be several tools."""
    arguments: Mapping[str, Any]
    mode: Mode
    view: View = "user"
    is_streamed: bool = False
    chat_id: str = ""
    trace: str = ""
    """The caller's ``traceparent``."""


@dataclass(frozen=True)
class CallEnvironment:
    """What it works with."""

    kernel: Kernel
    store: RunStore
    redactor: Redactor
    settings: Settings
    user: str = ""


class Confirmed:
    """``policy.Approver``: the person has said yes in the request itself."""

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Yes."""
        return ApprovalAnswer(True, "person", "called by hand")


class HandRun:
    """One call.

    Args:
        call: What is called.
        surroundings: What it works with.
        tell: Told of each envelope, from whichever thread it comes.
    """

    def __init__(self, call: HandCall, surroundings: CallEnvironment, tell: Tell) -> None:
        self._call, self._surroundings, self._tell = call, surroundings, tell
        self.stop = Stop()
        self._component = watched(call.component, self._heard_output, self.stop)
        self._envelopes: Envelopes | None = None
        self._finished: ToolFinished | None = None
        self._has_told_error = False
        self._started_at = time.monotonic()

    def run(self) -> None:
        """Do it, in a thread of its own; the last envelope is told whatever happens."""
        call, redactor = self._call, self._surroundings.redactor
        with joined_trace(f"component {call.component.name}", call.trace):
            journal = self._surroundings.store.start()
            ids = RunIds(journal.run_id, call.chat_id, trace_id() or journal.run_id, call.tool)
            envelopes = Envelopes(ids, call.view, redactor, keeps=not call.is_streamed)
            self._envelopes = envelopes
            publisher = Publisher(journal, redactor, None, self._heard_events)
            publisher.publish(self._begin())
            if call.is_streamed:
                self._tell(envelopes.begun())
            ending = self._ending(publisher)
            publisher.publish(self._end(ending))
            for envelope in envelopes.ended(ending):
                self._tell(envelope)

    def abandoned(self) -> tuple[Envelope, ...]:
        """The last envelopes of a call that was stopped and does not return; none: none began."""
        message = f"Stopped: {self.stop.reason}; the component has not returned yet."
        ending = CallEnding("interrupt", "stopped", message)
        return self._envelopes.ended(ending) if self._envelopes is not None else ()

    def _ending(self, publisher: Publisher) -> CallEnding:
        """Call it, and say how that ended."""
        caller = self._caller(publisher)
        call = ToolCall("call_1", self._call.tool, json.dumps(dict(self._call.arguments)))
        try:
            with closing(caller.call_all((ParsedCall(call, self._call.arguments),))) as events:
                for _ in events:
                    self.stop.check()
        except RunCancelled as stopped:
            for _ in caller.close_open_calls(stopped.reason):
                pass
            return self._ended("interrupt", "stopped", f"Stopped: {stopped.reason}.")
        except KernelDiedError as error:
            return self._ended("error", "kernel_died", str(error))
        failure = self._component.failure
        if failure is not None:
            return self._ended("error", _code(failure), self._words())
        if self._finished is None or self._finished.status == "ok":
            return self._ended("done")
        return self._ended("error", "tool_error", "" if self._has_told_error else SAYS_ERROR)

    def _ended(self, status: Status, code: str = "", message: str = "") -> CallEnding:
        done = self._finished
        if done is None:
            return CallEnding(status, code, message)
        return CallEnding(status, code, message, done.usage, done.metrics)

    def _caller(self, publisher: Publisher) -> ToolCaller:
        settings = self._surroundings.settings
        parts = CallerParts(publisher, RunBudget(settings.limits))
        policy = Policy(self._call.mode, Confirmed())
        return ToolCaller(Registry([self._component]), policy, self._context(publisher), parts)

    def _context(self, publisher: Publisher) -> ToolContext:
        place, service = self._surroundings, self._surroundings.settings.service
        return ToolContext(
            kernel=place.kernel,
            notebook=None,
            shelf=Shelf(),
            stop=self.stop,
            on_output=publisher.output,
            new_cell_id=lambda: uuid.uuid4().hex[:8],
            limits=ToolLimits(cell_timeout_seconds=place.settings.limits.cell_timeout_seconds),
            kernel_session=place.kernel.session,
            chat_id=self._call.chat_id,
            user_id=place.user,
            model_configs=model_configs(Parameters(service.model), shown_url(service.base_url)),
        )

    def _begin(self) -> RunStarted:
        component = self._call.component
        return RunStarted(
            prompt=f"{self._call.tool} {component.version}",
            lane=LANE,
            mode=self._call.mode,
            parameters=Parameters(""),
            version=__version__,
        )

    def _end(self, ending: CallEnding) -> RunFinished:
        spent = sum((item.usage for item in ending.usage), Usage())
        seconds = time.monotonic() - self._started_at
        details: dict[str, Any] = {"usage": spent, "duration_seconds": seconds}
        if ending.status == "done":
            return RunFinished("completed", **details)
        if ending.status == "interrupt":
            return RunFinished("cancelled", reason=ending.message, cause="stopped", **details)
        reason = ending.message or SAYS_ERROR
        return RunFinished("task error", reason=reason, cause=ending.code, **details)

    def _words(self) -> str:
        """The error, as the call's result says it: secrets are out of it."""
        parts = self._finished.message.parts if self._finished is not None else ()
        words = [part.text for part in parts if isinstance(part, TextPart)]
        return words[-1] if words else SAYS_ERROR

    def _heard_output(self, output: ComponentOutput) -> None:
        seen = seen_by(output, self._call.view)
        self._has_told_error |= any(item.is_error for item in seen.content)
        envelope = self._envelopes.said(seen) if self._envelopes is not None else None
        if envelope is not None:
            self._tell(envelope)

    def _heard_events(self, recorded: tuple[RecordedEvent, ...]) -> None:
        """What a component says by other means than its outputs."""
        for item in recorded:
            match item.event:
                case ToolFinished():
                    self._finished = item.event
                case ToolProgress(text=text, fraction=fraction) if self._call.is_streamed:
                    self._heard_output(progress_output(text, fraction))
                case CellOutput(message=message):
                    self._heard_output(cell_output(message))


def _code(error: Exception) -> str:
    return next((code for kind, code in CODES if isinstance(error, kind)), "internal")
