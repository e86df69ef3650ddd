"""A tool's call as a stream of outputs, with what every tool owes added to it.

Its values become contents, its time and memory are measured, the models it asked are counted and a
span tells of it, so that a tool's author can forget none of that.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, get_args

from cellwright.errors import CellwrightError, SetupError, ToolError
from cellwright.record.content import ComponentOutput, Content, Metrics, for_model, plain
from cellwright.record.content_streams import ContentRedactor, merge
from cellwright.record.events import CellEvent
from cellwright.record.messages import ModelUsage, TextPart, sum_by_model, text_of
from cellwright.stopping import Inbox, Stop, WorkerThread
from cellwright.text.redaction import Redactor
from cellwright.text.truncation import fits, shorten
from cellwright.tools.message import ContentReaders, as_output

# Spans of tool calls for OpenTelemetry; the run record has the same facts without it.
#
# A span is sent only where the process has OpenTelemetry loaded and set up (``cellwright[otel]``):
# nothing is imported for it. The names are those of the GenAI conventions, with OpenInference's
# beside them; one table says which.


CONVENTIONS_VERSION = "1.41"
"""Of OpenTelemetry's semantic conventions for generative AI, which the table below follows."""
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "operation": ("gen_ai.operation.name",),
    "span_kind": ("openinference.span.kind",),
    "name": ("gen_ai.tool.name", "tool.name"),
    "type": ("gen_ai.tool.type",),
    "version": ("cellwright.tool.version",),
    "call_id": ("gen_ai.tool.call.id",),
    "run_id": ("cellwright.run.id",),
    "chat_id": ("gen_ai.conversation.id", "session.id"),
    "arguments": ("gen_ai.tool.call.arguments", "input.value"),
    "result": ("gen_ai.tool.call.result", "output.value"),
    "prompt_tokens": ("gen_ai.usage.input_tokens", "llm.token_count.prompt"),
    "completion_tokens": ("gen_ai.usage.output_tokens", "llm.token_count.completion"),
    "total_tokens": ("llm.token_count.total",),
    "first_output": ("cellwright.tool.first_output_seconds",),
    "error": ("error.type",),
    "status": ("cellwright.tool.status",),
}
VALUE_CHARACTERS = 4_000
STREAM_ITEM = "tool.output"


@dataclass(frozen=True)
class TracedCall:
    """What a span begins with."""

    name: str
    version: str
    arguments: Mapping[str, Any]
    call_id: str = ""
    run_id: str = ""
    chat_id: str = ""


class Span:
    """One call, told to OpenTelemetry; does nothing where there is none.

    Args:
        span: OpenTelemetry's span, or None.
        redactor: Takes secrets out of what it tells.
    """

    def __init__(self, span: Any = None, redactor: Redactor | None = None) -> None:
        self._span = span
        self._said: list[str] = []
        self._redactor = redactor or Redactor({})
        self._contents = ContentRedactor(self._redactor)

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """The span is the current one inside the block, and never across a ``yield``."""
        if self._span is None:
            yield
            return
        trace = sys.modules["opentelemetry.trace"]
        with trace.use_span(self._span, end_on_exit=False, record_exception=False):
            yield

    def say(self, contents: tuple[Content, ...]) -> None:
        """Something was yielded; the end of a text waits while more could make a secret of it."""
        if self._span is None:
            return
        meant = [replace(item, raw_data={}, usage=(), metrics=None) for item in contents]
        shown = [clean for item in meant if (clean := self._contents.feed(item)) is not None]
        if shown or not contents:
            self._tell(shown)

    def end(
        self, status: str, metrics: Metrics, usage: tuple[ModelUsage, ...], error: str = ""
    ) -> None:
        """The call is over, however it ended."""
        if self._span is None:
            return
        held = list(self._contents.flush())
        if held:
            self._tell(held)
        prompt = sum(item.usage.prompt_tokens for item in usage)
        completion = sum(item.usage.completion_tokens for item in usage)
        self._set(result="\n".join(self._said)[:VALUE_CHARACTERS], status=status)
        if usage:
            total = prompt + completion
            self._set(prompt_tokens=prompt, completion_tokens=completion, total_tokens=total)
        if metrics.first_output_seconds is not None:
            self._set(first_output=metrics.first_output_seconds)
        if error:
            trace = sys.modules["opentelemetry.trace"]
            self._set(error=error)
            self._span.set_status(trace.StatusCode.ERROR, error)
        self._span.end()

    def begin(self, call: TracedCall) -> None:
        """Say what is called."""
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
        self._set(
            operation="execute_tool",
            span_kind="TOOL",
            type="function",
            name=call.name,
            version=call.version,
            call_id=call.call_id,
            run_id=call.run_id,
            chat_id=call.chat_id,
            arguments=self._clean(arguments),
        )

    def _tell(self, contents: list[Content]) -> None:
        parts = for_model(tuple(contents), sees_images=False)
        words = "\n".join(part.text for part in parts if isinstance(part, TextPart))
        self._said.append(words[:VALUE_CHARACTERS])
        self._span.add_event(STREAM_ITEM, {"output.value": words[:VALUE_CHARACTERS]})

    def _set(self, **facts: Any) -> None:
        for fact, value in facts.items():
            for name in ATTRIBUTES[fact] if value != "" else ():
                self._span.set_attribute(name, value)

    def _clean(self, text: str) -> str:
        return self._redactor.text(text)[:VALUE_CHARACTERS]


def trace_headers() -> dict[str, str]:
    """The current span as W3C's ``traceparent``; empty where there is none.

    A tool that asks another service hands it on (requirements 000-15).
    """
    trace = sys.modules.get("opentelemetry.trace")
    context = trace.get_current_span().get_span_context() if trace is not None else None
    if context is None or not context.is_valid:
        return {}
    ids = f"{context.trace_id:032x}-{context.span_id:016x}"
    return {"traceparent": f"00-{ids}-{int(context.trace_flags):02x}"}


def start_span(call: TracedCall) -> Span:
    """A span for a call, under the one that is current here."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return Span()
    tracer = trace.get_tracer("cellwright", schema_url=_schema_url())
    redactor = Redactor.from_environment(os.environ)
    span = Span(tracer.start_span(f"execute_tool {call.name}"), redactor)
    span.begin(call)
    return span


def _schema_url() -> str:
    return f"https://opentelemetry.io/schemas/{CONVENTIONS_VERSION}.0"


# Coroutines of users' tools, run to their end in a thread with a loop of its own.
#
# The core is synchronous and its thread may have a running loop already (a notebook's has), which
# cannot be entered a second time.


@dataclass(frozen=True)
class _Ended:
    value: Any = None
    error: BaseException | None = None


def run_to_end(coroutine: Coroutine[Any, Any, Any], stop: Stop | None = None) -> Any:
    """The result of a coroutine.

    Raises:
        RunCancelled: Somebody stopped the run; the coroutine was cancelled first.
    """
    said: Inbox[Any] = Inbox()

    async def main() -> Any:
        return await coroutine

    for _ in _driven(main, said, stop):
        raise AssertionError("a coroutine says nothing before its end")
    return said.take(Stop()).value


def iterate(generator: AsyncIterator[Any], stop: Stop | None = None) -> Iterator[Any]:
    """What an async generator yields, as it comes.

    Raises:
        RunCancelled: Somebody stopped the run; the generator was cancelled first.
    """
    said: Inbox[Any] = Inbox()

    async def main() -> None:
        async for item in generator:
            said.put(item)

    yield from _driven(main, said, stop)


def _driven(
    main: Callable[[], Coroutine[Any, Any, Any]],
    said: Inbox[Any],
    stop: Stop | None,
) -> Iterator[Any]:
    loop = asyncio.new_event_loop()
    task = loop.create_task(main())
    thread = WorkerThread(_drive, loop, task, said, name="async-tool")
    thread.start()
    try:
        while True:
            item = said.take(stop or Stop())
            if not isinstance(item, _Ended):
                yield item
            elif item.error is not None:
                raise item.error
            else:
                said.put(item)
                return
    finally:
        if thread.is_alive() and not loop.is_closed():
            _cancel(loop, task)


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    try:
        loop.call_soon_threadsafe(task.cancel)
    except RuntimeError:
        return  # it ended meanwhile


def _drive(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any], said: Inbox[Any]) -> None:
    asyncio.set_event_loop(loop)
    try:
        ended = _Ended(loop.run_until_complete(task))
    except BaseException as error:
        ended = _Ended(error=error)
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    said.put(ended)


# What a call takes: time by two clocks, the first output, memory.


MEGABYTE = 1_000_000
MEMORY_FILE = "/proc/self/statm"


@dataclass
class Stopwatch:
    """Measures from when it is made; durations by a clock that nobody sets."""

    begin: float = field(default_factory=time.time)
    _started: float = field(default_factory=time.monotonic)
    _memory: int | None = field(default_factory=lambda: resident_bytes())
    _cpu: float = field(default_factory=time.process_time)
    _first: float | None = None

    def note_output(self) -> None:
        """Something came out."""
        if self._first is None:
            self._first = time.monotonic() - self._started

    def metrics(self) -> Metrics:
        """What it took until now."""
        seconds = time.monotonic() - self._started
        memory = resident_bytes()
        grown = None if memory is None or self._memory is None else memory - self._memory
        return Metrics(
            begin=self.begin,
            end=self.begin + seconds,
            duration_seconds=seconds,
            first_output_seconds=self._first,
            memory_delta_megabytes=None if grown is None else grown / MEGABYTE,
            kernel_cpu_seconds=time.process_time() - self._cpu if is_kernel() else None,
        )


def is_kernel() -> bool:
    """Whether this process is the one where cells run."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def resident_bytes(file: str = MEMORY_FILE) -> int | None:
    """The memory this process holds, where the system tells."""
    try:
        with open(file, encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


# The names the contract reserves for what the system hands to a tool (requirements 000-13).
#
# A tool that declares a context gets all of it typed; one that takes ``**kwargs`` gets these names.
# The gateway and its token are left out: a tool never receives the model's key.


K = TypeVar("K", list[Any], dict[Any, Any])

RESERVED_PREFIX = "_sys_"
SYSTEM_NAMES: Mapping[str, str] = {
    "_sys_name": "tool_name",
    "_sys_origin_query": "prompt",
    "_sys_user_instruction": "instructions",
    "_sys_file_names": "file_names",
    "_sys_file_urls": "files",
    "_sys_current_time": "current_time",
    "_sys_chat_history": "history",
    "_sys_used_tool": "used_tools",
    "_sys_uid": "user_id",
    "_sys_traceid": "run_id",
    "_sys_conversation_id": "chat_id",
    "_sys_debug": "debug",
    "_sys_custom_variables": "variables",
    "_sys_thought_model_config": "model_configs",
    "_sys_rag_model_config": "model_configs",
    "_sys_parent_span_id": "run_id",
    "_sys_span_id": "call_id",
    "_sys_memory": "memory",
    "_sys_code_execution_endpoint": "kernel",
    "_sys_session_id": "kernel_session",
}
"""Which attribute of the context each name is."""
SYSTEM_VALUES = frozenset(
    (*SYSTEM_NAMES, "_sys_gateway_endpoint", "_sys_appbuiler_token", "model_configs")
)
"""What the contract hands over beside a tool's arguments, its own spelling included."""
INSTRUCTIONS = "_sys_user_instruction"
FILE_NAMES = "_sys_file_names"
FILE_URLS = "_sys_file_urls"
CUSTOM_VARIABLES = "_sys_custom_variables"
SETTABLE = frozenset({INSTRUCTIONS, FILE_NAMES, FILE_URLS, CUSTOM_VARIABLES})
"""What a person may set for a run."""
EXAMPLES = {
    FILE_NAMES: '["a.csv"]',
    FILE_URLS: '{"a.csv": "data/a.csv"}',
    CUSTOM_VARIABLES: '{"name": "value"}',
}


@dataclass(frozen=True)
class Settable:
    """What a person may set for the tools of a run."""

    instructions: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)


def system_values(context: Any) -> dict[str, Any]:
    """What a tool with ``**kwargs`` is given: plain values, as the contract has them."""
    values = {name: getattr(context, attribute) for name, attribute in SYSTEM_NAMES.items()}
    plain = {name: _plain(value) for name, value in values.items()}
    plain["_sys_chat_history"] = [_turn(message) for message in context.history]
    return {**plain, "model_configs": dict(context.model_configs)}


def reserved_names(names: Any) -> list[str]:
    """Those of the names that are the system's."""
    return [name for name in names if str(name).startswith(RESERVED_PREFIX)]


def check_settable(name: str) -> None:
    """Refuse a system name that a person wants to set and may not (requirements 000-12).

    Raises:
        SetupError: It is the system's own.
    """
    if name.startswith(RESERVED_PREFIX) and name not in SETTABLE:
        raise SetupError(
            f"The variable {name!r} is set by the system.",
            hint=f"Use another name, or one of {', '.join(sorted(SETTABLE))}.",
        )


def settable_values(given: Mapping[str, str]) -> Settable:
    """What a person set, each under what it is; other names are variables of their own.

    Raises:
        SetupError: A name is the system's own, or a value that has to be JSON is none.
    """
    for name in given:
        check_settable(name)
    own = {name: value for name, value in given.items() if name not in SETTABLE}
    names = _json(given, FILE_NAMES, list)
    paths = {str(k): str(v) for k, v in _json(given, FILE_URLS, dict).items()}
    return Settable(
        given.get(INSTRUCTIONS, ""),
        {**{str(name): str(name) for name in names}, **paths},
        {**_json(given, CUSTOM_VARIABLES, dict), **own},
    )


def _json(given: Mapping[str, str], name: str, kind: type[K]) -> K:
    if name not in given:
        return kind()
    try:
        value = json.loads(given[name])
    except ValueError:
        value = None
    if isinstance(value, kind):
        return value
    raise SetupError(
        f"The variable {name!r} is {given[name]!r}.", hint=f"It is JSON: {EXAMPLES[name]}."
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _turn(message: Any) -> dict[str, str]:
    return {"role": message.role, "content": text_of(message)}


CELL_EVENTS = get_args(CellEvent)
GIVEN_FACTOR = 2
"""How much longer than a step what an author wrote as contents may be."""


@dataclass(frozen=True)
class Call:
    """What is called, with what."""

    name: str
    version: str
    arguments: Mapping[str, Any]
    context: Any
    """A ``ToolContext``; None where a person calls a tool by hand."""
    call: Callable[[], Any]
    """Begins the tool; what it returns is its value, or something that yields its values."""
    requires: Mapping[str, Any] = field(default_factory=dict)


def evaluate(call: Call) -> Iterator[ComponentOutput | CellEvent]:
    """The outputs of a call as they come; the last one carries what all of it took.

    Raises:
        ToolError: The tool could not do it; what it had said was yielded before.
    """
    running = _RunningCall(call)
    status, error = "cancelled", ""
    try:
        yield from running.outputs()
        status = "ok"
    except Exception as failure:
        status, error = "error", type(failure).__name__
        yield running.measured()
        raise
    finally:
        running.end(status, error)
    yield running.measured()


def merged(outputs: Iterator[ComponentOutput | CellEvent]) -> ComponentOutput:
    """All a call says as one output; an error is its last content and what was said is kept.

    Raises:
        SetupError: The tool cannot be called like this.
    """
    said: list[ComponentOutput] = []
    try:
        for item in outputs:
            if isinstance(item, ComponentOutput):
                said.append(item)
    except SetupError:
        raise
    except Exception as error:
        said.append(ComponentOutput((error_content(error),)))
    return _together(merge(said))


def error_content(error: Exception) -> Content:
    """An error as the model reads it."""
    told = str(error) if isinstance(error, CellwrightError) else _bug(error)
    return Content("text", {"info": told}, is_error=True)


def values_of(value: Any, stop: Any = None) -> Iterator[Any]:
    """What a tool says: each thing a generator yields and what it returns, or the one value."""
    if inspect.isgenerator(value):
        yield from _generated(value)
    elif inspect.isasyncgen(value):
        yield from iterate(value, stop)
    elif inspect.iscoroutine(value):
        yield run_to_end(value, stop)
    else:
        yield value


def _generated(generator: Generator[Any, Any, Any]) -> Iterator[Any]:
    returned = yield from generator
    if returned is not None:
        yield returned


class _RunningCall:
    """A call that runs."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._watch = Stopwatch()
        self._usage: list[ModelUsage] = []
        context = call.context
        traced = TracedCall(
            call.name,
            call.version,
            call.arguments,
            getattr(context, "call_id", ""),
            getattr(context, "run_id", ""),
            getattr(context, "chat_id", ""),
        )
        self._span: Span = start_span(traced)

    def outputs(self) -> Iterator[ComponentOutput | CellEvent]:
        _check_requirements(self._call)
        context = self._call.context
        audience = ContentReaders(bool(getattr(context, "sees_images", False)))
        with self._span.current():
            value = self._call.call()
        values = values_of(value, getattr(context, "stop", None))
        try:
            while True:
                # The span is current while the tool works, never while somebody else does.
                with self._span.current():
                    try:
                        item = next(values)
                    except StopIteration:
                        return
                if isinstance(item, CELL_EVENTS):
                    yield item
                    continue
                output = as_output(item, audience)
                output = _fitting(output, context, is_given=output is item)
                self._note(output)
                if output.content or output.final or output is item:
                    yield output
        finally:
            close = getattr(values, "close", None)
            if close is not None:
                close()

    def measured(self) -> ComponentOutput:
        return ComponentOutput((), metrics=self._watch.metrics())

    def end(self, status: str, error: str) -> None:
        usage = sum_by_model(self._usage)
        self._span.end(status, self._watch.metrics(), usage, error)

    def _note(self, output: ComponentOutput) -> None:
        self._watch.note_output()
        self._span.say(output.content)
        self._usage += [*output.usage, *(u for item in output.content for u in item.usage)]


def _check_requirements(call: Call) -> None:
    """Looked at when it is called: a missing key must not keep a tool from being imported."""
    missing = [name for name in call.requires.get("env", ()) if not os.environ.get(name)]
    if missing:
        raise ToolError(
            f"The tool {call.name!r} needs the environment variable {missing[0]!r}.",
            hint="Tell the person to set it and to start the kernel again.",
        )


def _fitting(output: ComponentOutput, context: Any, *, is_given: bool) -> ComponentOutput:
    """The output with texts a model can take; what was cut is on the shelf, and drawn whole."""
    if context is None:
        return output
    limits = context.limits
    limit = limits.step_tokens * GIVEN_FACTOR if is_given else limits.output_tokens
    contents: list[Content] = []
    for item in output.content:
        words = "" if item.visible_scope == "user" else plain(item.type, item.text)
        if fits(words, limit):
            contents.append(item)
        else:
            contents += _cut(item, words, context, limit)
    same = len(contents) == len(output.content)
    return output if same and tuple(contents) == output.content else _with(output, contents)


def _cut(item: Content, words: str, context: Any, limit: int) -> list[Content]:
    name = f"{context.call_id or 'tool'}{'-' + item.name if item.name else ''}"
    context.shelf.keep(name, words)
    told = {"info": shorten(words, limit, name).text}
    if item.visible_scope == "llm":
        return [replace(item, type="text", text=told)]
    short = Content("text", told, item.name, "llm", item.is_error)
    return [replace(item, visible_scope="user"), short]


def _with(output: ComponentOutput, contents: list[Content]) -> ComponentOutput:
    return replace(output, content=tuple(contents))


def _together(groups: tuple[ComponentOutput, ...]) -> ComponentOutput:
    if not groups:
        return ComponentOutput(())
    first, *others = groups
    contents = [item for group in groups for item in group.content]
    final = any(group.final for group in groups)
    whole = replace(first, content=tuple(contents), final=final)
    for other in others:
        whole = replace(whole, usage=sum_by_model((*whole.usage, *other.usage)))
    return whole


def _bug(error: Exception) -> str:
    return f"The tool failed: {type(error).__name__}: {error}"
