"""A component called by hand: recorded like a call of the agent, told envelope by envelope.

What this does not protect against: a component is code of the server and runs with its rights.
One that neither yields nor looks at ``context.stop`` cannot be stopped before it returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
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
from cellwright.installation import list_entry_points, load_plugins
from cellwright.kernels import Kernel
from cellwright.llm.adapters import ParsedCall
from cellwright.llm.budget import RunBudget
from cellwright.providers import shown_url
from cellwright.record.content import OUTPUT_MIME, ComponentOutput, Content
from cellwright.record.events import (
    CellOutput,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.messages import Manifest, Parameters, TextPart, ToolCall, Usage
from cellwright.record.outputs import (
    ClearOutput,
    DisplayData,
    DisplayUpdate,
    ErrorOutput,
    ExecuteResult,
    OutputMessage,
    StreamOutput,
)
from cellwright.record.run_record import RecordedEvent
from cellwright.record.values import from_dict, safe_json
from cellwright.server.application import Application
from cellwright.server.component_envelopes import (
    CallEnding,
    Envelope,
    Envelopes,
    RunIds,
    Status,
    View,
    seen_by,
)
from cellwright.server.configuration import Cellwright
from cellwright.server.routes import Refusal
from cellwright.session.conversation import model_configs
from cellwright.settings import Mode, Settings
from cellwright.stopping import Stop, WorkerThread
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.tools import Component, Risk, Shelf, ToolContext, ToolLimits, ToolYield
from cellwright.tools.evaluation import trace_headers
from cellwright.tools.installed import leave_out_unusable, make_tools
from cellwright.tools.manifest import tool_name
from cellwright.tools.registry import Registry, ToolSource, within_caps

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


# The component that is always there, so that the route can be tried.
#
# It shows what a component can do: it says one thing after another, tells how far it is, and says
# some of it to the person and some to the model alone.


COMMON_LIMIT = 20
LINES_SHOWN = 200


class WordCount(Component):
    """Counts the words of a text."""

    name: ClassVar[str] = "word_count"
    version: ClassVar[str] = "v1"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return "count the words of a text"

    def tool_eval(self, context: ToolContext, text: str, most: int = 5) -> Iterator[ToolYield]:
        """Count the words of a text, line by line.

        Args:
            text: Any text.
            most: How many of its most frequent words are named.
        """
        lines = text.splitlines()
        found: Counter[str] = Counter()
        for number, line in enumerate(lines, 1):
            context.stop.check()
            words = line.casefold().split()
            found.update(words)
            if number <= LINES_SHOWN:
                context.notify(f"line {number} of {len(lines)}", number / len(lines))
                yield self.create_output(text=f"line {number}: {len(words)} words\n")
        yield self.create_output(text=f"{found.total()} words in all")
        common = found.most_common(min(max(most, 0), COMMON_LIMIT))
        chart = {"type": "bar", "data": [{"word": word, "count": count} for word, count in common]}
        yield self.create_output("chart", chart, visible_scope="user")
        yield self.create_output("json", {"data": dict(common)}, visible_scope="llm")


# The components of the server: those of installed packages, of the settings, and one of our own.
#
# A package offers its components under the entry point group ``cellwright.components``; an
# administrator names others in ``c.Cellwright.components``. What cannot be offered is left out and
# reported, and keeps nothing else from being offered.


GROUP = "cellwright.components"
OWN = "cellwright"


@dataclass(frozen=True)
class Listed:
    """A component and where it is from."""

    component: Component
    source: str

    @property
    def name(self) -> str:
        """How it is called in an address."""
        return tool_name(self.component.name)

    @property
    def version(self) -> str:
        """Which of its versions this is."""
        return self.component.version


@dataclass(frozen=True)
class Catalogue:
    """The components that can be called, and why others cannot."""

    listed: tuple[Listed, ...] = ()
    reports: tuple[str, ...] = ()
    """One sentence for each thing that was left out."""

    def find(self, name: str, version: str) -> Listed | None:
        """The component of that name and version."""
        return next((i for i in self.listed if (i.name, i.version) == (name, version)), None)

    def versions(self, name: str) -> tuple[str, ...]:
        """Which versions of a component there are."""
        return tuple(item.version for item in self.listed if item.name == name)

    def before(self, other: Catalogue) -> Catalogue:
        """Both together; of what both have, ours is found."""
        return Catalogue((*self.listed, *other.listed), (*self.reports, *other.reports))


def installed(targets: Sequence[str] = ()) -> Catalogue:
    """The components of this environment.

    Args:
        targets: Those of the settings, as ``module:name``.
    """
    from importlib.metadata import EntryPoint

    points = list_entry_points(GROUP)
    points += [EntryPoint(target, target, GROUP) for target in targets]
    tools = make_tools(load_plugins(points))
    sources = (ToolSource(OWN, (WordCount(),)), *tools.sources)
    found = listed(sources)
    return Catalogue(found.listed, (*tools.problems, *found.reports))


def listed(sources: Iterable[ToolSource]) -> Catalogue:
    """What can be called of some sources: within the caps, each name and version once."""
    reports: list[str] = []
    kept = [leave_out_unusable(source, reports) for source in sources]
    places = {id(component): source.name for source in kept for component in source.components}
    offer = within_caps(kept)
    found: dict[tuple[str, str], Listed] = {}
    for component in offer.components:
        item = Listed(component, places[id(component)])
        first = found.setdefault((item.name, item.version), item)
        if first is not item:
            both = f"{first.source!r} and {item.source!r}"
            what = f"{item.name!r} in version {item.version!r}"
            reports.append(f"{both} both have {what}; that of {first.source!r} is offered.")
    return Catalogue(tuple(found.values()), (*reports, *offer.reports))


log = logging.getLogger(__name__)
RUN_LIMIT = 8
ROOM = 64
"""Envelopes that may wait to be sent; a component that says more waits."""
GRACE_LOOKS = 3
"""How often it is looked whether a component that was stopped has returned."""
CLOSE_SECONDS = 0.5
STOPPING = "the server is stopping"


class EnvelopeLine:
    """From the thread of a call to the event loop that sends what it says.

    Args:
        keep_alive_seconds: After this long without an envelope None is handed out.
    """

    def __init__(self, keep_alive_seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._room = threading.Semaphore(ROOM)
        self._keep_alive_seconds = keep_alive_seconds
        self._is_closed = False

    def put(self, envelope: Envelope | None) -> None:
        """Send an envelope, or None for the end; from any thread, waits for room."""
        if not self._is_closed:
            self._room.acquire()
        # Where the server has ended, its loop has too.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._waiting.put_nowait, envelope)

    def close(self) -> None:
        """Nobody takes anything any more, so nobody waits for room."""
        self._is_closed = True
        self._room.release(ROOM)

    async def envelopes(self) -> AsyncIterator[Envelope | None]:
        """What is said, as it comes; None: nothing for a while."""
        try:
            while True:
                try:
                    envelope = await asyncio.wait_for(self._waiting.get(), self._keep_alive_seconds)
                except TimeoutError:
                    yield None
                    continue
                self._room.release()
                if envelope is None:
                    return
                yield envelope
        finally:
            self.close()


async def until_ended(run: HandRun, line: EnvelopeLine) -> AsyncIterator[Envelope | None]:
    """What a call says, the last envelope at the end; None: nothing for a while.

    A component that was stopped and does not return is given up after some looks.
    """
    looks = 0
    async for envelope in line.envelopes():
        said: tuple[Envelope | None, ...] = (envelope,)
        if envelope is None and run.stop.is_set():
            looks += 1
            said = (run.abandoned() if looks > GRACE_LOOKS else ()) or said
        for item in said:
            yield item
            if item is not None and item.is_completion:
                return


def open_components(application: Application) -> ComponentHost:
    """The components of a server, which routes share.

    Raises:
        HTTPError: The server is stopping.
    """
    with application.opening():
        if application.hand_runs is None:
            application.hand_runs = ComponentHost(application.configuration)
        return cast("ComponentHost", application.hand_runs)


class ComponentHost:
    """Knows the server's components and their calls.

    Args:
        configuration: What the administrator set.
    """

    def __init__(self, configuration: Cellwright) -> None:
        self._configuration = configuration
        self._lock = threading.Lock()
        self._catalogue: Catalogue | None = None
        self._runs: dict[HandRun, threading.Thread] = {}
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether any call goes on."""
        return bool(self._runs)

    def catalogue(self) -> Catalogue:
        """The components that can be called; loads them, so not on the event loop."""
        with self._lock:
            if self._catalogue is None:
                self._catalogue = installed(self._configuration.components)
                for report in self._catalogue.reports:
                    log.warning("cellwright: %s", report)
            return self._catalogue

    def start(self, run: HandRun, line: EnvelopeLine, ended: Callable[[], None]) -> None:
        """Begin a call in a thread of its own.

        Args:
            run: The call.
            line: Told of the end.
            ended: Lets go of what the call worked with.

        Raises:
            Refusal: Too many go on.
        """

        def work() -> None:
            try:
                run.run()
            except Exception:  # the server goes on; the log has the traceback
                log.exception("cellwright: a component that was called by hand failed")
            finally:
                ended()
                with self._lock:
                    self._runs.pop(run, None)
                line.put(None)

        thread = WorkerThread(work, name="component")
        with self._lock:
            busy = self._is_closed or len(self._runs) >= RUN_LIMIT
            if not busy:
                self._runs[run] = thread
                thread.start()
        if busy:
            ended()
            what = STOPPING if self._is_closed else f"{RUN_LIMIT} components run already"
            raise Refusal(409, f"Not now: {what}.", "Wait for one to end.", "busy")

    def close(self) -> None:
        """Stop every call and wait a little for it."""
        with self._lock:
            self._is_closed = True
            runs = dict(self._runs)
        for run in runs:
            run.stop.set(STOPPING)
        for thread in runs.values():
            thread.join(CLOSE_SECONDS)
