"""Tool calls, one after another: look at it, let the mode decide, run it, answer it once."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from cellwright.agent.policy import Policy
from cellwright.agent.publishing import Publisher
from cellwright.context.assemble import REPEATED
from cellwright.errors import ActionRefusedError, KernelDiedError, ToolError
from cellwright.llm.adapters import ParsedCall
from cellwright.llm.budget import STOP_AT, WARN_AT, RepeatDetector, RunBudget
from cellwright.notebooks import Notebook
from cellwright.record.content import ComponentOutput, Content, Metrics, for_model, for_person
from cellwright.record.content_streams import merge
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    CellOutput,
    Event,
    NamedCell,
    Notice,
    RunStatus,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.messages import (
    Manifest,
    Message,
    ModelUsage,
    Origin,
    Part,
    TextPart,
    ToolCall,
    ToolMessage,
    sum_by_model,
)
from cellwright.record.values import json_or_none
from cellwright.text.browser_loads import browser_loads
from cellwright.tools import Component, ToolContext
from cellwright.tools.cell_running import last_end, patiently
from cellwright.tools.evaluation import reserved_names
from cellwright.tools.registry import Registry

# What a tool says while it works: recorded and shown at once, and never after its end.


INTERVAL_SECONDS = 0.1
"""A tool may say a thousand things a second; people and the record get about ten of them."""


class CallProgress:
    """The progress of one call.

    Args:
        call_id: The call.
        publisher: Records it, secrets taken out.
        show: Shows it at once; None: it is seen when the run hands it on.
        clock: Seconds, for the pace.
    """

    def __init__(
        self,
        call_id: str,
        publisher: Publisher,
        show: Callable[[ToolProgress], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._call_id = call_id
        self._publisher = publisher
        self._show = show
        self._clock = clock
        self._said_at = float("-inf")
        self._latest: ToolProgress | None = None
        self._waiting: list[Event] = []
        self._is_open = True
        self._lock = threading.Lock()

    def note(self, text: str, fraction: float | None) -> None:
        """The tool says something; from any thread."""
        if not self._is_open:
            return
        with self._lock:
            self._latest = ToolProgress(self._call_id, text, fraction)
            is_due = self._clock() - self._said_at >= INTERVAL_SECONDS
        if is_due:
            self._say()

    def take(self) -> Iterator[Event]:
        """What was said since the last time, the latest included, for the run to hand on."""
        self._say()
        with self._lock:
            waiting, self._waiting = self._waiting, []
        yield from waiting

    def close(self) -> None:
        """What is said after the end is not heard."""
        self._is_open = False

    def _say(self) -> None:
        with self._lock:
            latest, self._latest = self._latest, None
            if latest is None:
                return
            self._said_at = self._clock()
            published = self._publisher.publish(latest)
            self._waiting.extend(published)
        for event in published:
            if self._show is not None and isinstance(event, ToolProgress):
                self._show(event)


ResultStatus = Literal["ok", "error", "refused", "cancelled"]
NOT_RUN = "Not run: the run had ended."
SPOOFED = "The model sent {names}, which only the system sets; it was left out."


@dataclass(frozen=True)
class CallOutcome:
    """What a reply's calls came to."""

    final_answer: str | None = None
    """Set by ``submit``."""
    invalid: str = ""
    """Why the calls could not be run; empty when at least one was good."""
    invalid_status: RunStatus = "agent validation failed"
    repeated: str = ""
    """Set when the model goes in circles."""


@dataclass(frozen=True)
class _CallResult:
    parts: tuple[Part, ...]
    status: ResultStatus = "ok"
    shown: str = ""
    final: bool = False
    invalid: RunStatus | None = None
    """Set when the call could not be run as it was: the status of a run that never recovers."""
    contents: tuple[Content, ...] = ()
    """What is for the person, where plain text does not say it all."""
    metrics: Metrics | None = None
    usage: tuple[ModelUsage, ...] = ()
    origin: Origin = ""
    """``user``: the words are a person's."""


@dataclass(frozen=True)
class CallerParts:
    """What the calls of a run share with the run."""

    publisher: Publisher
    """Where events go."""
    budget: RunBudget
    """What tools spend on models is counted here."""
    history: Callable[[], tuple[Message, ...]] = tuple
    """What was said before the reply whose calls are made."""
    on_progress: Callable[[ToolProgress], None] | None = None
    """Shows at once what a tool says while it works."""


class ToolCaller:
    """Runs calls and owes each exactly one result.

    Args:
        registry: The tools there are.
        policy: Decides and asks.
        context: What tools may use; what differs from call to call is filled in for each.
        parts: What they share with the run.
    """

    def __init__(
        self, registry: Registry, policy: Policy, context: ToolContext, parts: CallerParts
    ) -> None:
        self._registry = registry
        self._policy = policy
        budget = parts.budget
        timed = replace(context, waiting=budget.waiting, left_seconds=budget.left_seconds)
        self._context = patiently(timed)
        self._parts = parts
        self._publisher = parts.publisher
        self._repeats = RepeatDetector()
        self._circles = 0
        self._open: dict[str, ToolCall] = {}
        self._results: list[Message] = []
        self._used: list[str] = []

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """What the model is told of the tools, in stable order."""
        return self._registry.manifests

    def take_results(self) -> list[Message]:
        """The results since the last time, in the order of the calls."""
        results, self._results = self._results, []
        return results

    def call_all(self, calls: tuple[ParsedCall, ...]) -> Generator[Event, None, CallOutcome]:
        """Run calls in the order given; one result for each id, whatever happens.

        Raises:
            RunCancelled: Somebody stopped the run; ``close_open_calls`` answers the rest.
            KernelDiedError: The kernel is gone.
        """
        self._open = {parsed.call.id: parsed.call for parsed in calls}
        answer: str | None = None
        invalid: list[_CallResult] = []
        repeated = ""
        for parsed in calls:
            if answer is not None:
                yield from self._finish(parsed, _refused(NOT_RUN, "cancelled"), 0.0)
                continue
            result = yield from self._call(parsed)
            invalid += [result] if result.invalid else []
            answer = _text(result.parts) if result.final else None
            repeated = repeated or self._circling(parsed)
        if len(invalid) < len(calls):
            return CallOutcome(answer, repeated=repeated)
        last = invalid[-1]
        status = last.invalid or "agent validation failed"
        return CallOutcome(answer, _text(last.parts), status, repeated)

    def end_cells(self, *, at_once: bool = False) -> Generator[Event, None, None]:
        """Wait for the cell that still runs: a run does not end before its cells.

        Args:
            at_once: Interrupt it.

        Raises:
            RunCancelled: Somebody pressed Stop meanwhile.
            KernelError: The kernel died.
        """
        for item in last_end(self._context.patient, at_once=at_once):
            # outputs were published when they were captured
            yield from (item,) if isinstance(item, CellOutput) else self._publisher.publish(item)

    def close_open_calls(self, cause: str) -> Generator[Event, None, None]:
        """Answer calls that were never finished, so that the history stays valid (fault M47)."""
        text = f"Not finished: the run ended ({cause})."
        for call in tuple(self._open.values()):
            parsed = ParsedCall(call, {})
            yield from self._finish(parsed, _refused(text, "cancelled"), 0.0)

    def _call(self, parsed: ParsedCall) -> Generator[Event, None, _CallResult]:
        budget = self._parts.budget
        started = budget.elapsed_seconds()
        component = self._registry.find(parsed.call.name)
        if component is None or parsed.error:
            yield from self._publisher.publish(_started_wrong(parsed))
            result = (
                _refused(self._registry.unknown(parsed.call.name), "error", "agent invalid action")
                if component is None
                else _refused(parsed.error, "error", "agent validation failed")
            )
        else:
            result = yield from self._permitted(parsed, component)
        result = self._with_notice(parsed, result)
        yield from self._finish(parsed, result, budget.elapsed_seconds() - started)
        return result

    def _started(self, parsed: ParsedCall, component: Component, *, asks: bool) -> ToolStarted:
        call, arguments, notebook = parsed.call, parsed.arguments, self._context.notebook
        risk = self._policy.risk_of(component, arguments, notebook)
        cells = named_cells(notebook, arguments)
        # The person finds a cell by the number beside it, not by its id.
        names = {cell.cell_id: cell.name for cell in cells}
        shown = str(arguments.get("cell_id"))
        told = {**arguments, "cell_id": names[shown]} if shown in names else arguments
        label = component.label(**told)
        return ToolStarted(call.id, call.name, arguments, label, risk, cells if asks else ())

    def _permitted(
        self, parsed: ParsedCall, component: Component
    ) -> Generator[Event, None, _CallResult]:
        call = parsed.call
        decision = self._policy.decide(component, parsed.arguments, self._context.notebook)
        # A person is not asked about what cannot be done anyway.
        obstacle = self._obstacle(parsed, component) if decision.kind == "ask" else ""
        asks = decision.kind == "ask" and not obstacle
        published = tuple(self._publisher.publish(self._started(parsed, component, asks=asks)))
        yield from published
        if obstacle:
            return _refused(obstacle, "error")
        if asks:
            yield from self._publisher.publish(ApprovalAsked(call.id, decision.reason))
            # Whoever asks shows what the record shows: secrets are taken out.
            started = next(event for event in published if isinstance(event, ToolStarted))
            with self._parts.budget.waiting():
                answer = self._policy.ask(started, decision.reason)
            yield from self._publisher.publish(
                ApprovalAnswered(
                    call.id,
                    answer.allowed,
                    answer.by,
                    answer.reason,
                    answer.previewed,
                    answer.adopted,
                )
            )
            if not answer.allowed:
                words = f" They said: {answer.reason}" if answer.reason else ""
                refused = _refused(f"Refused by the person.{words}", "refused")
                return replace(refused, origin="user")
        elif decision.kind == "refuse":
            yield from self._publisher.publish(
                ApprovalAnswered(call.id, False, "mode", decision.reason)
            )
            return _refused(f"Refused: {decision.reason}", "refused", "agent invalid action")
        return (yield from self._evaluate(parsed, component))

    def _obstacle(self, parsed: ParsedCall, component: Component) -> str:
        """Why the call cannot be made as things are; empty: nothing is known that stops it."""
        try:
            component.check_call(self._context.notebook, **parsed.arguments)
        except ToolError as error:
            return str(error)
        return ""

    def _evaluate(
        self, parsed: ParsedCall, component: Component
    ) -> Generator[Event, None, _CallResult]:
        yield from self._tell_spoofed(parsed.call)
        progress = CallProgress(parsed.call.id, self._publisher, self._parts.on_progress)
        context = replace(
            self._context,
            call_id=parsed.call.id,
            tool_name=parsed.call.name,
            run_id=self._publisher.run_id,
            history=self._parts.history(),
            used_tools=tuple(self._used),
            on_progress=progress.note,
        )
        self._used.append(parsed.call.name)
        outputs: list[ComponentOutput] = []
        try:
            yield from self._outputs(parsed, component, context, outputs, progress)
        except ActionRefusedError as error:
            outputs.append(_error_output(str(error)))
            return _merged(outputs, "refused", context)
        except ToolError as error:
            outputs.append(_error_output(str(error)))
        except KernelDiedError as error:
            outputs.append(_error_output(str(error)))
            yield from self._finish(parsed, _merged(outputs, "error", context), 0.0)
            raise
        except Exception as error:  # a tool's bug is the tool's result, not the end of the run
            trace = "".join(traceback.format_exception_only(error)).strip()
            outputs.append(_error_output(f"The tool failed: {trace}"))
        finally:
            progress.close()
        yield from progress.take()
        failed = any(content.is_error for output in outputs for content in output.content)
        return _merged(outputs, "error" if failed else "ok", context)

    def _outputs(
        self,
        parsed: ParsedCall,
        component: Component,
        context: ToolContext,
        outputs: list[ComponentOutput],
        progress: CallProgress,
    ) -> Generator[Event, None, None]:
        # What runs is what the record and the notebook show.
        arguments = self._publisher.clean(parsed.arguments)
        given = {name: value for name, value in arguments.items() if not reserved_names([name])}
        for item in component.evaluate(context, **given):
            yield from progress.take()
            if isinstance(item, ComponentOutput):
                outputs.append(item)
            elif isinstance(item, CellOutput):
                yield item  # published when it was captured
            else:
                if isinstance(item, CellAdded | CellEdited):
                    decided = component.markdown_for(self._context.notebook, **arguments)
                    _check_loads(item, self._context.notebook, decided)
                yield from self._publisher.publish(item)

    def _tell_spoofed(self, call: ToolCall) -> Generator[Event, None, None]:
        """Say it when a model writes what only the system sets (requirements 000-11)."""
        names = reserved_names(_argument_names(call))
        if names:
            text = SPOOFED.format(names=", ".join(map(repr, names)))
            notice = Notice("warning", text, "", "agent_invalid_action")
            yield from self._publisher.publish(notice)

    def _finish(
        self, parsed: ParsedCall, result: _CallResult, seconds: float
    ) -> Generator[Event, None, None]:
        call = parsed.call
        self._open.pop(call.id, None)
        is_error = result.status != "ok"
        message = ToolMessage(call.id, call.name, result.parts, is_error, result.origin)
        event = ToolFinished(
            call.id,
            call.name,
            message,
            result.status,
            seconds,
            result.shown,
            result.contents,
            result.metrics,
            result.usage,
        )
        published, *notices = self._publisher.publish(event)
        assert isinstance(published, ToolFinished)
        self._parts.budget.add_of_tools(published.usage)
        # What the model reads is what was recorded, secrets taken out.
        self._results.append(published.message)
        yield published
        yield from notices

    def _with_notice(self, parsed: ParsedCall, result: _CallResult) -> _CallResult:
        if result.final:
            return result
        arguments: Mapping[str, Any] = parsed.arguments or {"raw": parsed.call.arguments}
        count = self._repeats.count(parsed.call.name, arguments, _text(result.parts))
        if count < WARN_AT:
            return result
        notice = TextPart(REPEATED.format(count=count))
        self._circles = count
        return replace(result, parts=(*result.parts, notice))

    def _circling(self, parsed: ParsedCall) -> str:
        if self._circles < STOP_AT:
            return ""
        times = f"{self._circles} times or more"
        return f"The model called {parsed.call.name!r} {times} with much the same result."


def _check_loads(event: CellAdded | CellEdited, notebook: Notebook | None, decided: str) -> None:
    """No Markdown reaches a notebook that would load what the policy has not decided about.

    Raises:
        ActionRefusedError: It would.
    """
    if isinstance(event, CellAdded):
        kind = event.cell_type
    else:
        cells = notebook.cells() if notebook is not None else ()
        kind = next((cell.cell_type for cell in cells if cell.id == event.cell_id), "code")
    if kind == "markdown" and event.source != decided and browser_loads(event.source):
        raise ActionRefusedError(
            "Nothing was changed: the person's browser would load what the text names.",
            hint="Use add_cell, which asks them, or leave out what is loaded.",
        )


def named_cells(notebook: Notebook | None, arguments: Mapping[str, Any]) -> tuple[NamedCell, ...]:
    """The cells of a notebook that a call's arguments name; of one it only follows, a line."""
    wanted = {name: arguments[name] for name in ("cell_id", "after") if arguments.get(name)}
    cells = notebook.cells() if notebook is not None and wanted else ()
    return tuple(
        NamedCell(
            cell.id,
            cell.cell_type,
            cell.source if cell.id == wanted.get("cell_id") else first_line(cell.source),
            position,
            cell.execution_count,
        )
        for position, cell in enumerate(cells, 1)
        if cell.id in wanted.values()
    )


def first_line(source: str) -> str:
    """The first line that is not empty."""
    return next((line.strip() for line in source.splitlines() if line.strip()), "")


def _started_wrong(parsed: ParsedCall) -> ToolStarted:
    """A call that cannot be made as it is."""
    call = parsed.call
    arguments = parsed.arguments or {"raw": call.arguments[:2_000]}
    return ToolStarted(call.id, call.name, arguments, call.name)


def _text(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _refused(text: str, status: ResultStatus, invalid: RunStatus | None = None) -> _CallResult:
    return _CallResult((TextPart(text),), status, text, invalid=invalid)


def _argument_names(call: ToolCall) -> list[str]:
    """Names of all arguments as the model wrote them, those a tool does not have too."""
    written = json_or_none(call.arguments)
    return [str(name) for name in written] if isinstance(written, dict) else []


def _error_output(text: str) -> ComponentOutput:
    return ComponentOutput((Content("text", {"info": text}, is_error=True),))


def _merged(
    outputs: list[ComponentOutput], status: ResultStatus, context: ToolContext
) -> _CallResult:
    said = [replace(output, role="tool") for output in outputs]
    whole = merge(said)
    final = any(output.final for output in said)
    several = sum(1 for output in said if output.content) > 1
    # One output is read as it was written; a stream is put together again.
    contents = whole[0].content if several else tuple(c for o in said for c in o.content)
    return _CallResult(
        for_model(contents, sees_images=context.sees_images),
        status,
        for_person(contents),
        final and status == "ok",
        contents=_recorded(contents),
        metrics=whole[0].metrics if whole else None,
        usage=sum_by_model(whole[0].usage if whole else ()),
    )


def _recorded(contents: tuple[Content, ...]) -> tuple[Content, ...]:
    """What the record keeps as typed pieces: nothing where the texts say it all."""
    drawn = tuple(item for item in contents if item.visible_scope != "llm" or item.raw_data)
    return drawn if any(not _is_plain(item) for item in drawn) else ()


def _is_plain(item: Content) -> bool:
    text_only = item.type == "text" and set(item.text) == {"info"} and not item.raw_data
    return text_only and item.visible_scope == "all" and not item.name
