"""How the fields of a signature are put to a model and read from its reply.

The names and the order of messages are those of ``dspy.Adapter`` (requirements 004-01 to 004-15),
so that a subclass written for dspy works here with another base class, and a signature of either
kind fits. Messages are in OpenAI's shape. The system message, the demos, the history and the
current input come in this order; the field of the history is shown nowhere else.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import json
import logging
import re
import typing
import uuid
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass
from typing import Any

from cellwright.errors import LMError, SetupError
from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.asking import ask, await_reply
from cellwright.llm.adapters.field_values import (
    BadValueError,
    description_of,
    format_value,
    is_code,
    missing_value,
    read_value,
    rule_for,
    validated,
)
from cellwright.llm.adapters.native import BadArgumentsError, NativeAdapter, read_arguments
from cellwright.llm.signatures import Field, Signature, SignatureLike, type_name
from cellwright.record.messages import ImagePart, ToolCall

# Callbacks of signature adapters, with the method names that dspy's callbacks have.
#
# What a callback raises is logged and goes no further: whoever watches must not break the call.


LOG = logging.getLogger(__name__)
_running: ContextVar[frozenset[tuple[int, str]]] = ContextVar("_running", default=frozenset())


def reported(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose start and end the instance's callbacks are told of.

    An override that calls the inherited method is one call, so it is told of once.
    """
    name = function.__name__
    signature = inspect.signature(function)

    @functools.wraps(function)
    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        key, running = (id(self), name), _running.get()
        if key in running:
            return function(self, *arguments, **keywords)
        bound = dict(signature.bind(self, *arguments, **keywords).arguments)
        bound.pop("self", None)
        token = _running.set(running | {key})
        try:
            with told(self, f"adapter_{name}", bound) as outcome:
                outcome["outputs"] = function(self, *arguments, **keywords)
            return outcome["outputs"]
        finally:
            _running.reset(token)

    return method


@contextlib.contextmanager
def told(instance: Any, event: str, inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Tell of what is done inside; ``outputs`` of what it gives are what came of it."""
    callbacks: Iterable[Any] = tuple(instance.callbacks)
    call_id = uuid.uuid4().hex
    for callback in callbacks:
        _tell(callback, f"on_{event}_start", call_id=call_id, instance=instance, inputs=inputs)
    outcome: dict[str, Any] = {"outputs": None, "exception": None}
    try:
        yield outcome
    except BaseException as error:
        outcome["exception"] = error
        raise
    finally:
        for callback in callbacks:
            _tell(callback, f"on_{event}_end", call_id=call_id, **outcome)


def _tell(callback: Any, method: str, **told: Any) -> None:
    handler = getattr(callback, method, None)
    if handler is None:
        return
    try:
        handler(**told)
    except Exception:  # the person's code, not ours
        LOG.warning("the callback %r failed in %s", callback, method, exc_info=True)


# A reply that does not hold what it was to hold.


SHOWN_CHARACTERS = 2_000


class AdapterParseError(LMError):
    """The model's reply cannot be read.

    Args:
        adapter_name: Who tried.
        signature: What was to be in it.
        lm_response: The reply.
        message: What is wrong with it; it may go back to the model.
        parsed_result: What could be read.
    """

    def __init__(
        self,
        adapter_name: str,
        signature: Any,
        lm_response: str,
        message: str,
        *,
        parsed_result: Mapping[str, Any] | None = None,
    ) -> None:
        told = f"Adapter {adapter_name} failed to parse the LM response: {message}"
        super().__init__(told, detail=lm_response[:SHOWN_CHARACTERS])
        self.adapter_name = adapter_name
        self.signature = signature
        self.lm_response = lm_response
        self.parsed_result = dict(parsed_result or {})
        self.was_cut = False
        """It ended at its length limit, as another one would."""


# Tools as fields of a signature: ``tools: list[Tool] -> calls: ToolCalls``.
#
# A model that calls functions gets them as functions, and both fields leave the prompt.


@dataclass(frozen=True)
class ToolFields:
    """The names of the two fields."""

    tools: str
    calls: str


def find_tool_fields(signature: SignatureLike) -> ToolFields | None:
    """The fields for tools and for calls; None where no calls are wanted.

    Raises:
        SetupError: Calls are to come out and no tools go in.
    """
    calls = [n for n, info in signature.output_fields.items() if _is(info.annotation, "ToolCalls")]
    tools = [n for n, info in signature.input_fields.items() if _is(info.annotation, "Tool")]
    if not calls:
        return None
    if not tools:
        raise SetupError(
            f"The output {calls[0]!r} is to hold calls, and no input holds tools.",
            hint="Add an input such as tools: list[Tool].",
        )
    return ToolFields(tools[0], calls[0])


def function_of(tool: Any) -> dict[str, Any]:
    """A tool in OpenAI's shape: ours, or dspy's."""
    if hasattr(tool, "format_as_litellm_function_call"):
        return dict(tool.format_as_litellm_function_call())
    if is_dataclass(tool) or hasattr(tool, "parameters"):
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        }
        return {"type": "function", "function": function}
    return dict(tool)


def calls_from(made: Sequence[Any], annotation: Any) -> Any:
    """The calls a model made, as the field's type wants them.

    Raises:
        BadArgumentsError: The arguments of one are not JSON; they are never mended.
    """
    read = [_call(call) for call in made]
    given = [
        {"id": call.id or None, "name": call.name, "args": _arguments_of(call)} for call in read
    ]
    if hasattr(annotation, "from_dict_list"):
        return annotation.from_dict_list(given)
    return tuple(read)


def _arguments_of(call: ToolCall) -> dict[str, Any]:
    """JSON, or a dictionary as Python writes it; both have to be whole."""
    try:
        return read_arguments(call, None)
    except BadArgumentsError:
        with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            value = ast.literal_eval(call.arguments)
            if isinstance(value, dict):
                return value
        raise


def _call(made: Any) -> ToolCall:
    """A call of chat completions or of Responses, where ``call_id`` is the id that counts."""
    function = _get(made, "function") or made
    arguments = _get(function, "arguments") or "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call_id = _get(made, "call_id") or _get(made, "id") or ""
    return ToolCall(str(call_id), str(_get(function, "name")), text)


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is(annotation: Any, name: str) -> bool:
    inner = typing.get_args(annotation) if typing.get_origin(annotation) is list else ()
    return any(getattr(each, "__name__", "") == name for each in (annotation, *inner))


@dataclass(frozen=True)
class PastCalls:
    """Calls of an earlier turn and what came of them, out of an entry of dspy's history."""

    field: str
    calls: tuple[Mapping[str, Any], ...]
    """Each with ``id``, ``name`` and ``args``."""
    results: tuple[Mapping[str, Any], ...]
    """Each with ``call_id``, ``name`` and ``value``."""

    @property
    def are_answered(self) -> bool:
        """Whether each call has an id and its own result: a service takes no others."""
        ids = [call["id"] for call in self.calls]
        return all(ids) and ids == [result["call_id"] for result in self.results]

    def as_messages(self, content: str) -> Messages:
        """The turn as a service's own calls and results."""
        made = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": format_value(dict(call["args"]))},
            }
            for call in self.calls
        ]
        said = {"role": "assistant", "content": content or None, "tool_calls": made}
        results = [
            {
                "role": "tool",
                "tool_call_id": result["call_id"],
                "name": result["name"],
                "content": format_value(result["value"]),
            }
            for result in self.results
        ]
        return [said, *results]


def find_past_calls(entry: Mapping[str, Any]) -> PastCalls | None:
    """The calls in an entry of a history; None where it has none."""
    for name, value in entry.items():
        calls = _get(value, "tool_calls")
        if isinstance(calls, (list, tuple)):
            given = _get(value, "tool_call_results")
            results = _get(given, "tool_call_results") or given or ()
            return PastCalls(
                name,
                tuple(_picked(call, ("id", "name", "args")) for call in calls),
                tuple(_picked(each, ("call_id", "name", "value", "is_error")) for each in results),
            )
    return None


def _picked(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _get(value, name) for name in names}


INCOMPLETE = "This is an example of the task, though some input or output fields are not supplied."
NOT_SUPPLIED = "Not supplied for this particular example."
CUT = "The reply was cut at its length limit, so what it says last may not be whole."
EMPTY = "The LM returned an empty or null response."
RESULTS = "tool_call_results"
TOOL_OPTIONS = ("tools", "tool_choice", "parallel_tool_calls")
Messages = list[dict[str, Any]]
Content = str | list[dict[str, Any]]


@dataclass(frozen=True)
class FieldDelta:
    """More of the text of an output."""

    name: str
    text: str


@dataclass(frozen=True)
class FieldRequest:
    """What a model is asked."""

    signature: Any
    """What is put into words: without the fields that the service has a place for."""
    arguments: Mapping[str, Any]
    """Messages and options."""


class SignatureAdapter(NativeAdapter):
    """One way to write the fields of a signature and to read them, with dspy's names.

    A conversation goes with function calls, unless a subclass has words for it.

    Args:
        callbacks: Told of each ``format``, ``parse`` and call of the model.
        use_native_function_calling: Send tools as functions where the model takes them; None: as
            ``calls_functions`` says.
        native_response_types: Types of dspy that the service gives itself, such as its
            ``Reasoning``; None: all of them.
        parallel_tool_calls: Whether it may make several calls at once; None: the service decides.
    """

    calls_functions = False

    def __init__(
        self,
        callbacks: Sequence[Any] | None = None,
        use_native_function_calling: bool | None = None,
        native_response_types: Sequence[type] | None = None,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        self.callbacks = list(callbacks or ())
        given = use_native_function_calling
        self.use_native_function_calling = self.calls_functions if given is None else given
        self.native_response_types = native_response_types
        self.parallel_tool_calls = parallel_tool_calls

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name in ("format", "parse"):
            own = vars(cls).get(name)
            if own is not None:
                setattr(cls, name, reported(own))

    def __call__(
        self,
        lm: Any,
        lm_kwargs: Mapping[str, Any],
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """Ask the model; the outputs of each of its replies.

        Args:
            lm: Called with ``messages`` and ``lm_kwargs``; returns texts, or mappings with
                ``text``, ``tool_calls`` and ``logprobs``. Or a model of dspy.
            lm_kwargs: Left as they are.
            signature: Ours or dspy's.
            demos: Examples by field name.
            inputs: Values by field name.

        Raises:
            AdapterParseError: A reply does not hold the outputs, or was cut.
        """
        request = self._request(lm, lm_kwargs, signature, demos, inputs)
        with told(self, "lm", dict(request.arguments)) as outcome:
            replies = outcome["outputs"] = ask(lm, request.arguments)
        return self._call_postprocess(request.signature, signature, replies, lm, lm_kwargs)

    async def acall(
        self,
        lm: Any,
        lm_kwargs: Mapping[str, Any],
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """The same for code that awaits: the model's ``acall``, else a thread that waits."""
        request = self._request(lm, lm_kwargs, signature, demos, inputs)
        with told(self, "lm", dict(request.arguments)) as outcome:
            replies = outcome["outputs"] = await await_reply(lm, request.arguments)
        return self._call_postprocess(request.signature, signature, replies, lm, lm_kwargs)

    def stream(
        self,
        lm: Any,
        lm_kwargs: Mapping[str, Any],
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> Generator[FieldDelta, None, dict[str, Any]]:
        """Ask a model that streams; yield the text of the outputs as it comes, return them all.

        Args:
            lm: Its ``stream`` yields pieces with ``text`` and returns the reply (``Completion``).
            lm_kwargs: As for a call, and so are the others.

        Raises:
            AdapterParseError: The reply does not hold the outputs.
        """
        request = self._request(lm, lm_kwargs, signature, demos, inputs)
        asked = request.signature
        found = {name: self.shown_field(asked, name) for name in asked.output_fields}
        readers = {name: reader for name, reader in found.items() if reader is not None}
        stream = lm.stream(**request.arguments)
        while True:
            try:
                event = next(stream)
            except StopIteration as finished:
                yield from _deltas({name: reader.finish() for name, reader in readers.items()})
                (values,) = self._call_postprocess(
                    asked, signature, [finished.value], lm, lm_kwargs
                )
                return values
            if event.kind == "text_delta":
                yield from _deltas({n: reader.feed(event.text) for n, reader in readers.items()})

    def _request(
        self,
        lm: Any,
        lm_kwargs: Mapping[str, Any],
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> FieldRequest:
        extra = [name for name in inputs if name not in signature.input_fields]
        if extra:
            LOG.warning("these inputs are not in the signature and are left out: %s", extra)
        options = dict(lm_kwargs)
        asked = self._call_preprocess(lm, options, signature, inputs)
        options |= self.reply_options(lm, asked, options)
        return FieldRequest(asked, {"messages": self.format(asked, demos, inputs), **options})

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """What picks the text of one output out of a reply that still comes; None: nothing can."""
        return None

    def reply_options(
        self, lm: Any, signature: SignatureLike, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What is sent beside the messages and ``options``, such as a schema of the reply."""
        return {}

    @reported
    def format(
        self,
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> Messages:
        """The messages for these inputs."""
        given = dict(inputs)
        history_name = _history_name(signature)
        history: Messages = []
        if history_name:
            signature = signature.delete(history_name)
            history = self.format_conversation_history(signature, history_name, given)
        messages = [{"role": "system", "content": self.format_system_message(signature)}]
        messages += self.format_demos(signature, demos)
        messages += history
        content = self.format_user_message_content(signature, given, main_request=True)
        return [*messages, *([{"role": "user", "content": content}] if content else [])]

    def format_system_message(self, signature: Any) -> str:
        """What the fields are, how they are written, what is to be done."""
        return "\n".join(
            [
                self.format_field_description(signature),
                self.format_field_structure(signature),
                self.format_task_description(signature),
            ]
        )

    @abstractmethod
    def format_field_description(self, signature: Any) -> str:
        """The inputs and outputs with their types and descriptions."""

    @abstractmethod
    def format_field_structure(self, signature: Any) -> str:
        """How inputs and outputs are written."""

    @abstractmethod
    def format_task_description(self, signature: Any) -> str:
        """The instructions."""

    @abstractmethod
    def format_user_message_content(
        self,
        signature: Any,
        inputs: Mapping[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> Content:
        """The inputs that are there; with ``main_request`` also what the reply must look like."""

    @abstractmethod
    def format_assistant_message_content(
        self,
        signature: Any,
        outputs: Mapping[str, Any],
        missing_field_message: str | None = None,
    ) -> str:
        """The outputs as the model is to write them."""

    @abstractmethod
    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """The outputs in a reply.

        Raises:
            AdapterParseError: One is missing or does not fit; all complaints are in its text.
        """

    def format_demos(self, signature: Any, demos: Sequence[Mapping[str, Any]]) -> Messages:
        """Examples as pairs of messages, those that lack something first.

        One without any input or any output shows nothing and is left out. A value that is not
        None is there, ``0`` and ``""`` too.
        """
        history_name = _history_name(signature)
        signature = signature.delete(history_name) if history_name else signature
        complete: Messages = []
        partial: Messages = []
        for demo in demos:
            given = {name for name in _names(signature) if demo.get(name) is not None}
            if given == set(_names(signature)):
                complete += self._pair(signature, demo)
            elif given & set(signature.input_fields) and given & set(signature.output_fields):
                present = {name: demo[name] for name in given}
                partial += self._pair(signature, present, INCOMPLETE, NOT_SUPPLIED)
        return partial + complete

    def format_conversation_history(
        self, signature: Any, history_field_name: str, inputs: dict[str, Any]
    ) -> Messages:
        """What was said before, as messages; takes the history out of ``inputs``.

        An entry is a mapping of fields, or a message in OpenAI's shape that goes in as it is.
        """
        history = inputs.pop(history_field_name, None)
        if isinstance(history, Mapping):
            entries = history.get("messages")
        else:
            entries = history if isinstance(history, list) else getattr(history, "messages", None)
        made: Messages = []
        for entry in entries or ():
            made += [dict(entry)] if "role" in entry else self._turn(signature, entry)
        return made

    def _call_preprocess(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, inputs: Mapping[str, Any]
    ) -> Any:
        """The signature without what the service has a place for, which goes into ``lm_kwargs``."""
        is_native = self.use_native_function_calling
        fields = find_tool_fields(signature) if is_native else None
        if not is_native or (fields is not None and not _calls_functions(lm)):
            for name in TOOL_OPTIONS:
                lm_kwargs.pop(name, None)
        elif fields is not None:
            tools = inputs[fields.tools]
            each = tools if isinstance(tools, (list, tuple)) else [tools]
            lm_kwargs["tools"] = [function_of(tool) for tool in each]
            self._allow_parallel_calls(lm_kwargs)
            signature = signature.delete(fields.calls).delete(fields.tools)
        if hasattr(lm, "supports_reasoning"):  # dspy's types ask that of a model
            for name, kind in self._native_outputs(signature).items():
                signature = kind.adapt_to_native_lm_feature(signature, name, lm, lm_kwargs)
        return signature

    def _allow_parallel_calls(self, lm_kwargs: dict[str, Any]) -> None:
        if self.parallel_tool_calls is not None:
            lm_kwargs.setdefault("parallel_tool_calls", self.parallel_tool_calls)
            lm_kwargs.setdefault("tool_choice", "auto")

    def _native_outputs(self, signature: Any) -> dict[str, Any]:
        """Outputs of dspy's types that know where a reply has them beside its text."""
        kinds = {name: info.annotation for name, info in signature.output_fields.items()}
        wanted = self.native_response_types
        return {
            name: kind
            for name, kind in kinds.items()
            if isinstance(kind, type)
            and hasattr(kind, "adapt_to_native_lm_feature")
            and (wanted is None or kind in wanted)
        }

    def _call_postprocess(
        self,
        processed_signature: Any,
        original_signature: Any,
        outputs: Sequence[Any],
        lm: Any,
        lm_kwargs: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """The outputs of each reply, calls and log probabilities included."""
        return [self._outputs(processed_signature, original_signature, each) for each in outputs]

    def _outputs(self, asked: Any, signature: Any, reply: Any) -> dict[str, Any]:
        fields = reply if isinstance(reply, Mapping) else {"text": reply}
        if fields.get("truncated"):
            raise self._cut(asked, signature, str(fields.get("text") or ""))
        text, made = fields.get("text"), fields.get("tool_calls")
        wanted = [n for n, i in signature.output_fields.items() if _is(i.annotation, "ToolCalls")]
        has_calls = bool(wanted and made)
        if not (text or has_calls):
            raise AdapterParseError(type(self).__name__, signature, str(reply), EMPTY)
        values = self._read_text(asked, str(text or ""), may_fail=has_calls)
        for name, info in signature.output_fields.items():
            if name not in values:
                values[name] = (
                    None if info.is_required() else info.get_default(call_default_factory=True)
                )
        if has_calls:
            values[wanted[0]] = self._calls_of(signature, wanted[0], made)
        for name, kind in self._native_outputs(signature).items():
            given = kind.parse_lm_response(dict(fields))
            values |= {} if given is None else {name: given}
        return values | ({"logprobs": fields["logprobs"]} if fields.get("logprobs") else {})

    def _read_text(self, asked: Any, text: str, *, may_fail: bool) -> dict[str, Any]:
        if not (text and asked.output_fields):
            return {}
        try:
            return self.parse(asked, text)
        except AdapterParseError:
            if not may_fail:
                raise
            return {}  # the calls are what the model answered with

    def _cut(self, asked: Any, signature: Any, text: str) -> AdapterParseError:
        """The error of a reply that was cut, with what there is of it; the last may be half."""
        found: Mapping[str, Any] = {}
        try:
            found = self.parse(asked, text) if asked.output_fields else {}
        except AdapterParseError as error:
            found = error.parsed_result
        name = type(self).__name__
        cut = AdapterParseError(name, signature, text, CUT, parsed_result=found)
        cut.was_cut = True
        return cut

    def _calls_of(self, signature: Any, name: str, made: Any) -> Any:
        try:
            return calls_from(made, signature.output_fields[name].annotation)
        except BadArgumentsError as error:
            raise AdapterParseError(
                type(self).__name__, signature, str(made), str(error)
            ) from error

    def _pair(
        self, signature: Any, demo: Mapping[str, Any], prefix: str = "", missing: str | None = None
    ) -> Messages:
        asked = self.format_user_message_content(signature, demo, prefix=prefix)
        said = self.format_assistant_message_content(signature, demo, missing)
        return [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]

    def _turn(self, signature: Any, entry: Mapping[str, Any]) -> Messages:
        """A past turn, written as it was when it was current: that keeps a provider's cache."""
        made: Messages = []
        if any(name in entry for name in signature.input_fields):
            asked = self.format_user_message_content(signature, entry, main_request=True)
            made.append({"role": "user", "content": asked})
        past = find_past_calls(entry)
        if past is None:
            return made + self._answer(signature, entry)
        if not self.use_native_function_calling:
            results = [{"role": "user", "content": self._results(past)}] if past.results else []
            calls = {"tool_calls": [_picked(call, ("name", "args")) for call in past.calls]}
            return made + self._answer(signature, {**entry, past.field: calls}) + results
        for name in signature.output_fields:
            if name == past.field or entry.get(name) is None:
                signature = signature.delete(name)
        said = self._answer(signature, entry)
        if not past.are_answered:
            return made + said
        return made + past.as_messages(said[0]["content"] if said else "")

    def _answer(self, signature: Any, entry: Mapping[str, Any]) -> Messages:
        if not any(name in entry for name in signature.output_fields):
            return []
        said = self.format_assistant_message_content(
            signature, entry, "Not supplied for this conversation history message."
        )
        return [{"role": "assistant", "content": said}]

    def _results(self, past: PastCalls) -> Content:
        """What came of calls, as an input of its own."""
        given = {RESULTS: {RESULTS: list(past.results)}}
        asked = Signature((Field(RESULTS, "input", dict),), "Go on.")
        return self.format_user_message_content(asked, given)


def _calls_functions(lm: Any) -> bool:
    return bool(getattr(lm, "supports_function_calling", False))


def _deltas(texts: Mapping[str, str]) -> Iterator[FieldDelta]:
    return (FieldDelta(name, text) for name, text in texts.items() if text)


def _names(signature: SignatureLike) -> tuple[str, ...]:
    return (*signature.input_fields, *signature.output_fields)


def _history_name(signature: SignatureLike) -> str:
    """The input whose type is a history; empty where there is none."""
    for name, info in signature.input_fields.items():
        if getattr(info.annotation, "__name__", "") == "History":
            return name
    return ""


# Content of a message put together from text and typed parts.
#
# Pictures and other media are values from the start. No text is ever searched for them, so what a
# person types stays text whatever it looks like.


Chunk = str | Sequence[dict[str, Any]]
"""Text, or parts in OpenAI's shape."""


def media_of(value: Any) -> list[dict[str, Any]]:
    """The parts a value is, in OpenAI's shape; none for a value that is written as text.

    Ours is ``ImagePart``; dspy's ``Image``, ``Audio`` and their like say it with ``format()``.
    """
    if isinstance(value, ImagePart):
        url = f"data:{value.mime};base64,{value.data}"
        return [{"type": "image_url", "image_url": {"url": url}}]
    if isinstance(value, (list, tuple)):
        found = [media_of(item) for item in value]
        return [part for parts in found for part in parts] if all(found) else []
    if not _is_media(value):
        return []
    made = value.format()
    return [dict(part) for part in made] if isinstance(made, list) else []


def _is_media(value: Any) -> bool:
    """Whether it may be: dspy's types say themselves what they are."""
    return hasattr(type(value), "extract_custom_type_from_annotation")


def content_of(chunks: Iterable[Chunk]) -> str | list[dict[str, Any]]:
    """One message's content: a plain string unless there is something else than text in it."""
    content: list[dict[str, Any]] = []
    for chunk in chunks:
        if not isinstance(chunk, str):
            content += chunk
        elif content and content[-1]["type"] == "text":
            content[-1] = {"type": "text", "text": content[-1]["text"] + chunk}
        elif chunk:
            content.append({"type": "text", "text": chunk})
    if all(part["type"] == "text" for part in content):
        return "".join(part["text"] for part in content)
    return content


def paragraphs(blocks: Iterable[Sequence[Chunk]]) -> str | list[dict[str, Any]]:
    """Blocks with an empty line between them, as one message's content."""
    chunks: list[Chunk] = []
    for place, block in enumerate(blocks):
        chunks += ["\n\n", *block] if place else block
    return content_of(chunks)


# What the ways to write fields have in common: descriptions, reminders, reading and checking.


class FieldAdapter(SignatureAdapter):
    """Writes each field by itself; subclasses say how one field looks."""

    @abstractmethod
    def write_field(self, name: str, value: str, *, code: bool = False) -> str:
        """One field of the inputs; what is in ``value`` cannot end it."""

    @abstractmethod
    def write_outputs(self, outputs: Mapping[str, Any], signature: Any) -> str:
        """A whole reply; a text among the outputs is written as it is."""

    @abstractmethod
    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """The outputs in a reply as they are written there.

        Raises:
            AdapterParseError: Nothing can be read.
        """

    @abstractmethod
    def user_message_output_requirements(self, signature: Any) -> str:
        """What a reply has to look like, in one sentence."""

    def format_field_description(self, signature: Any) -> str:
        """The inputs and outputs with their types and descriptions."""
        inputs = described(signature.input_fields)
        outputs = described(signature.output_fields)
        return f"You are given these fields:\n{inputs}\nYou produce these fields:\n{outputs}"

    def format_field_structure(self, signature: Any) -> str:
        """How inputs and outputs are written."""
        inputs = [self.write_field(name, f"{{{name}}}") for name in signature.input_fields]
        given, reply = "\n\n".join(inputs), self.write_examples(signature)
        return f"\nInputs are written like this:\n\n{given}\n\nReply like this:\n\n{reply}\n"

    def write_examples(self, signature: Any) -> str:
        """A whole reply, with what stands for the values."""
        outputs = {
            name: describe_value(name, info.annotation)
            for name, info in signature.output_fields.items()
        }
        return self.write_outputs(outputs, signature)

    def format_field_with_value(
        self, fields_with_values: Mapping[Any, Any], role: str = "user"
    ) -> str:
        """Fields by themselves, each with ``name`` and ``info``: what dspy's ``DummyLM`` answers.

        Args:
            fields_with_values: Values by field.
            role: ``assistant`` where they are outputs.
        """
        return "\n\n".join(
            self.write_field(field.name, format_value(value), code=is_code(field.info.annotation))
            for field, value in fields_with_values.items()
        )

    def format_task_description(self, signature: Any) -> str:
        """The instructions."""
        lines = str(signature.instructions or "").strip().splitlines() or [""]
        objective = "".join(f"\n        {line}" for line in lines)
        return f"In adhering to this structure, your objective is: {objective}"

    def format_user_message_content(
        self,
        signature: Any,
        inputs: Mapping[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> Content:
        """The inputs that are there; with ``main_request`` also what the reply must look like."""
        blocks: list[list[Chunk]] = [[prefix]] if prefix else []
        for name, info in signature.input_fields.items():
            if name in inputs:
                blocks.append(self._input(name, inputs[name], info))
        reminder = self.user_message_output_requirements(signature)
        if main_request and signature.output_fields and reminder:
            blocks.append([reminder])
        if suffix:
            blocks.append([suffix])
        return paragraphs(blocks)

    def format_assistant_message_content(
        self,
        signature: Any,
        outputs: Mapping[str, Any],
        missing_field_message: str | None = None,
    ) -> str:
        """The outputs as the model is to write them."""
        values: dict[str, Any] = {}
        for name in signature.output_fields:
            given = outputs.get(name)
            is_missing = given is None and missing_field_message is not None
            values[name] = missing_field_message if is_missing else given
        return self.write_outputs(values, signature)

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """The outputs in a reply.

        Raises:
            AdapterParseError: One is missing or does not fit; all complaints are in its text.
        """
        found = self.read_fields(signature, completion)
        values: dict[str, Any] = {}
        complaints: list[str] = []
        for name, info in signature.output_fields.items():
            try:
                values[name] = self._value(name, info, found)
            except BadValueError as error:
                complaints.append(str(error))
        if complaints:
            raise AdapterParseError(
                type(self).__name__,
                signature,
                completion,
                f"Failed to parse fields: {'; '.join(complaints)}.",
                parsed_result=values,
            )
        return values

    def checked(
        self, found: Mapping[str, Any], signature: Any, completion: str
    ) -> Mapping[str, Any]:
        """What was found in a reply, unless that is nothing of what it has to hold.

        Raises:
            AdapterParseError: The reply has none of its fields.
        """
        if not found and any(info.is_required() for info in signature.output_fields.values()):
            wanted = self.user_message_output_requirements(signature)
            told = f"The reply has none of its fields. {wanted}"
            raise AdapterParseError(type(self).__name__, signature, completion, told)
        return found

    def _value(self, name: str, info: Any, found: Mapping[str, Any]) -> Any:
        if name not in found:
            return missing_value(name, info)
        given = found[name]
        if isinstance(given, str):
            return read_value(given, name, info.annotation)
        return validated(given, name, info.annotation)

    def _input(self, name: str, value: Any, info: Any) -> list[Chunk]:
        """An input; media stand where they are in it."""
        mark = uuid.uuid4().hex  # nobody who wrote the value can know it
        media: list[list[dict[str, Any]]] = []
        marked = _marked(value, mark, media)
        if not media:
            return [self.write_field(name, _text(value), code=is_code(info.annotation))]
        first, *others = re.split(f'"?{mark}"?', self.write_field(name, format_value(marked)))
        return [first, *(chunk for pair in zip(media, others, strict=True) for chunk in pair)]


def _marked(value: Any, mark: str, media: list[list[dict[str, Any]]]) -> Any:
    """The value with a mark where there are media, which go into ``media``."""
    if found := media_of(value):
        media.append(found)
        return mark
    if isinstance(value, Mapping):
        return {name: _marked(item, mark, media) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_marked(item, mark, media) for item in value]
    if isinstance(getattr(type(value), "model_fields", None), Mapping) and not _is_media(value):
        names = type(value).model_fields
        return {name: _marked(getattr(value, name), mark, media) for name in names}
    return value


def _text(value: Any) -> str:
    listed = value if isinstance(value, (list, tuple)) else [value]
    if listed and all(_is_tool(item) for item in listed):
        return format_value([_tool_text(item) for item in listed])
    return format_value(value)


def _tool_text(tool: Any) -> Any:
    said = tool.format() if hasattr(tool, "format") else None
    return said if isinstance(said, str) else function_of(tool)


def _is_tool(value: Any) -> bool:
    return hasattr(value, "format_as_litellm_function_call") or (
        hasattr(value, "name") and hasattr(value, "description") and hasattr(value, "parameters")
    )


def described(fields: Mapping[str, Any]) -> str:
    """Fields as a numbered list with their types and descriptions."""
    lines = []
    for number, (name, info) in enumerate(fields.items(), start=1):
        said = description_of(info)
        lines.append(f"{number}. `{name}` ({type_name(info.annotation)}): {said}".rstrip(" :"))
        for kind in _described_types(info.annotation):
            lines.append(f"    Type description of {kind.__name__}: {kind.description()}")
    return "\n".join(lines)


def _described_types(annotation: Any) -> list[Any]:
    """dspy's types in an annotation that have something to say of themselves."""
    inner = [each for part in typing.get_args(annotation) for each in _described_types(part)]
    is_theirs = hasattr(annotation, "extract_custom_type_from_annotation")
    return [annotation] if is_theirs and annotation.description() else inner


def describe_value(name: str, annotation: Any) -> str:
    """What stands for a value in an example of a reply: its name, and the rule for it."""
    rule = rule_for(annotation)
    return f"{{{name}}}" + (f"   ({rule})" if rule else "")
