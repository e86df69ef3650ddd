"""A tool's call as a stream of outputs, with what every tool owes added to it.

Its values become contents, its time and memory are measured, the models it asked are counted and a
span tells of it, so that a tool's author can forget none of that.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from cellwright.errors import CellwrightError, SetupError, ToolError
from cellwright.record.content import ComponentOutput, Content
from cellwright.record.content_types import plain
from cellwright.record.events import CellEvent
from cellwright.record.merging import merge
from cellwright.record.usage import ModelUsage, sum_by_model
from cellwright.text.truncation import shorten, token_count
from cellwright.tools.asynchronous import iterate, run_to_end
from cellwright.tools.coercion import Audience, as_output
from cellwright.tools.manifest import is_context
from cellwright.tools.measuring import Stopwatch
from cellwright.tools.system_names import reserved_names, system_values
from cellwright.tools.tracing import Span, TracedCall, start_span

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
    running = _Running(call)
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


def bound_arguments(
    function: Callable[..., Any],
    context: Any,
    arguments: Mapping[str, Any],
    told: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The arguments of a call with what the system hands over, as the function wants it.

    A function that declares a context gets it, one that takes ``**kwargs`` the ``_sys_`` names;
    any other gets neither (requirements 000-10).

    Args:
        function: What is going to be called.
        context: What the system hands over; None: a person calls it by hand.
        arguments: What was written, by the function's own names.
        told: What a model calls those whose names differ.

    Raises:
        ToolError: The model wrote a system name, or arguments are missing or unknown.
    """
    spoofed = reserved_names(arguments)
    if spoofed:
        raise ToolError(f"The argument {spoofed[0]!r} is reserved.", hint="Leave it out.")
    parameters = inspect.signature(function).parameters
    given = {**arguments, **_handed_over(function, parameters, context)}
    complaints = _misfits(parameters, given, told or {})
    if complaints:
        raise ToolError(f"The call does not fit: {'; '.join(complaints)}.")
    return given


def _handed_over(
    function: Callable[..., Any], parameters: Mapping[str, inspect.Parameter], context: Any
) -> dict[str, Any]:
    for parameter in filter(is_context, parameters.values()):
        if context is not None:
            return {parameter.name: context}
        if parameter.default is inspect.Parameter.empty:
            raise SetupError(
                f"{getattr(function, '__qualname__', function)!s} needs the context of a run.",
                hint="Let the agent call it.",
            )
        return {}
    takes_more = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return system_values(context) if context is not None and takes_more else {}


def _misfits(
    parameters: Mapping[str, inspect.Parameter],
    given: Mapping[str, Any],
    told: Mapping[str, str],
) -> list[str]:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        name
        for name, parameter in parameters.items()
        if parameter.default is inspect.Parameter.empty and parameter.kind not in variadic
    ]
    missing = [f"{told.get(name, name)!r} is missing" for name in needed if name not in given]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return missing
    return missing + [f"there is no {name!r}" for name in given if name not in parameters]


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


class _Running:
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
        audience = Audience(bool(getattr(context, "sees_images", False)))
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
        if token_count(words) <= limit:
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
