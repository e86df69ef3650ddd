"""How the fields of a signature are put to a model and read from its reply.

The names and the order of messages are those of ``dspy.Adapter`` (requirements 004-01 to 004-15),
so that a subclass written for dspy works here with another base class, and a signature of either
kind fits. Messages are in OpenAI's shape. The system message, the demos, the history and the
current input come in this order; the field of the history is shown nowhere else.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
import typing
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass
from typing import Any

from cellwright.errors import LMError, SetupError
from cellwright.llm.adapters import ShownText
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
from cellwright.llm.adapters.native import BadArgumentsError, read_arguments
from cellwright.llm.signatures import SignatureLike, type_name
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
            return told(
                self, f"adapter_{name}", bound, lambda: function(self, *arguments, **keywords)
            )
        finally:
            _running.reset(token)

    return method


def told(instance: Any, event: str, inputs: dict[str, Any], work: Callable[[], Any]) -> Any:
    """Do ``work`` between ``on_<event>_start`` and ``on_<event>_end``."""
    callbacks: Iterable[Any] = tuple(instance.callbacks)
    call_id = uuid.uuid4().hex
    for callback in callbacks:
        _tell(callback, f"on_{event}_start", call_id=call_id, instance=instance, inputs=inputs)
    outputs, raised = None, None
    try:
        outputs = work()
    except BaseException as error:
        raised = error
        raise
    finally:
        for callback in callbacks:
            _tell(callback, f"on_{event}_end", call_id=call_id, outputs=outputs, exception=raised)
    return outputs


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
        super().__init__(message, detail=lm_response[:SHOWN_CHARACTERS])
        self.adapter_name = adapter_name
        self.signature = signature
        self.lm_response = lm_response
        self.parsed_result = dict(parsed_result or {})


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
    given = [{"name": call.name, "args": read_arguments(call, None)} for call in read]
    if hasattr(annotation, "from_dict_list"):
        return annotation.from_dict_list(given)
    return tuple(read)


def _call(made: Any) -> ToolCall:
    function = _get(made, "function") or made
    arguments = _get(function, "arguments") or "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(_get(made, "id") or ""), str(_get(function, "name")), text)


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is(annotation: Any, name: str) -> bool:
    inner = typing.get_args(annotation) if typing.get_origin(annotation) is list else ()
    return any(getattr(each, "__name__", "") == name for each in (annotation, *inner))


INCOMPLETE = "This is an example of the task, though some input or output fields are not supplied."
NOT_SUPPLIED = "Not supplied for this particular example."
CUT = "The reply was cut at its length limit, so what it says last may not be whole."
EMPTY = "The LM returned an empty or null response."
Messages = list[dict[str, Any]]
Content = str | list[dict[str, Any]]


@dataclass(frozen=True)
class FieldDelta:
    """More of the text of an output."""

    name: str
    text: str


class SignatureAdapter(ABC):
    """One way to write fields and to read them.

    Args:
        callbacks: Told of each ``format``, ``parse`` and call of the model.
        native_tools: Send tools as functions where the model takes them.
    """

    def __init__(self, callbacks: Sequence[Any] = (), *, native_tools: bool = True) -> None:
        self.callbacks = list(callbacks or ())
        self.native_tools = native_tools

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
                ``text``, ``tool_calls`` and ``logprobs``.
            lm_kwargs: Left as they are.
            signature: Ours or dspy's.
            demos: Examples by field name.
            inputs: Values by field name.

        Raises:
            AdapterParseError: A reply does not hold the outputs, or was cut.
        """
        options = dict(lm_kwargs)
        asked, tools = self._with_tools(lm, signature, inputs, options)
        options |= self.reply_options(lm, asked, options)
        messages = self.format(asked, demos, inputs)
        shown = {"messages": messages, **options}
        replies = told(self, "lm", shown, lambda: lm(messages=messages, **options))
        listed = [replies] if isinstance(replies, (str, Mapping)) else replies
        return [self.post_process(asked, signature, reply, tools) for reply in listed]

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
        options = dict(lm_kwargs)
        asked, tools = self._with_tools(lm, signature, inputs, options)
        options |= self.reply_options(lm, asked, options)
        found = {name: self.shown_field(asked, name) for name in asked.output_fields}
        readers = {name: reader for name, reader in found.items() if reader is not None}
        stream = lm.stream(messages=self.format(asked, demos, inputs), **options)
        while True:
            try:
                event = next(stream)
            except StopIteration as finished:
                yield from _deltas({name: reader.finish() for name, reader in readers.items()})
                return self.post_process(asked, signature, finished.value, tools)
            if event.kind == "text_delta":
                yield from _deltas({n: reader.feed(event.text) for n, reader in readers.items()})

    def shown_field(self, signature: Any, name: str) -> ShownText | None:
        """What picks the text of one output out of a reply that still comes; None: nothing can."""
        return None

    async def acall(
        self,
        lm: Any,
        lm_kwargs: Mapping[str, Any],
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """The same for code that awaits; the call waits in a thread."""
        import asyncio

        return await asyncio.to_thread(self, lm, lm_kwargs, signature, demos, inputs)

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

    def post_process(
        self, asked: Any, signature: Any, reply: Any, tools: ToolFields | None
    ) -> dict[str, Any]:
        """The outputs of one reply, calls and log probabilities included."""
        fields = reply if isinstance(reply, Mapping) else {"text": reply}
        if fields.get("truncated"):
            raise self._cut(asked, signature, str(fields.get("text") or ""))
        text, made = fields.get("text"), fields.get("tool_calls")
        wants_calls = tools is not None and bool(made)
        if not (text or wants_calls):
            raise AdapterParseError(type(self).__name__, signature, str(reply), EMPTY)
        values: dict[str, Any] = {}
        if text and asked.output_fields:
            try:
                values = self.parse(asked, text)
            except AdapterParseError:
                if not wants_calls:
                    raise
        for name in signature.output_fields:
            values.setdefault(name, None)
        if tools is not None and made:
            values[tools.calls] = self._calls(signature, tools, made)
        if fields.get("logprobs"):
            values["logprobs"] = fields["logprobs"]
        return values

    def _cut(self, asked: Any, signature: Any, text: str) -> AdapterParseError:
        """The error of a reply that was cut, with what there is of it; the last may be half."""
        found: Mapping[str, Any] = {}
        try:
            found = self.parse(asked, text) if asked.output_fields else {}
        except AdapterParseError as error:
            found = error.parsed_result
        name = type(self).__name__
        return AdapterParseError(name, signature, text, CUT, parsed_result=found)

    def _calls(self, signature: Any, tools: ToolFields, made: Sequence[Any]) -> Any:
        try:
            return calls_from(made, signature.output_fields[tools.calls].annotation)
        except BadArgumentsError as error:
            raise AdapterParseError(
                type(self).__name__, signature, str(made), str(error)
            ) from error

    def _with_tools(
        self, lm: Any, signature: Any, inputs: Mapping[str, Any], options: dict[str, Any]
    ) -> tuple[Any, ToolFields | None]:
        """The signature that is put into words, tools taken out where they go as functions."""
        fields = find_tool_fields(signature) if self.native_tools else None
        if fields is None or not getattr(lm, "supports_function_calling", False):
            return signature, None
        tools = inputs[fields.tools]
        listed = tools if isinstance(tools, (list, tuple)) else [tools]
        options["tools"] = [function_of(tool) for tool in listed]
        return signature.delete(fields.calls).delete(fields.tools), fields

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
        if any(name in entry for name in signature.output_fields):
            said = self.format_assistant_message_content(
                signature, entry, "Not supplied for this conversation history message."
            )
            made.append({"role": "assistant", "content": said})
        return made


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
    if isinstance(value, (str, type)) or not hasattr(
        type(value), "extract_custom_type_from_annotation"
    ):
        return []
    made = value.format()
    return [dict(part) for part in made] if isinstance(made, list) else []


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
    def write_outputs(self, outputs: Mapping[str, str], signature: Any) -> str:
        """A whole reply."""

    @abstractmethod
    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """The outputs in a reply as they are written there.

        Raises:
            AdapterParseError: Nothing can be read.
        """

    @abstractmethod
    def reminder(self, signature: Any) -> str:
        """What a reply has to look like, in one sentence."""

    def format_field_description(self, signature: Any) -> str:
        """The inputs and outputs with their types and descriptions."""
        inputs = _described(signature.input_fields)
        outputs = _described(signature.output_fields)
        return f"You are given these fields:\n{inputs}\nYou produce these fields:\n{outputs}"

    def format_field_structure(self, signature: Any) -> str:
        """How inputs and outputs are written."""
        inputs = [self.write_field(name, f"{{{name}}}") for name in signature.input_fields]
        outputs = {
            name: _example(name, info.annotation) for name, info in signature.output_fields.items()
        }
        reply = self.write_outputs(outputs, signature)
        given = "\n\n".join(inputs)
        return f"\nInputs are written like this:\n\n{given}\n\nReply like this:\n\n{reply}\n"

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
        if main_request:
            self._warn_of_extra(signature, inputs)
        reminder = self.reminder(signature)
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
        values = {}
        for name in signature.output_fields:
            given = outputs.get(name)
            is_missing = given is None and missing_field_message is not None
            values[name] = str(missing_field_message) if is_missing else format_value(given)
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
                f"The reply cannot be used: {'; '.join(complaints)}.",
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
            told = f"The reply has none of its fields. {self.reminder(signature)}"
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
        media = media_of(value)
        if not media:
            return [self.write_field(name, _text(value), code=is_code(info.annotation))]
        before, _, after = self.write_field(name, "\0").partition("\0")
        return [before, media, after]

    def _warn_of_extra(self, signature: Any, inputs: Mapping[str, Any]) -> None:
        extra = [name for name in inputs if name not in signature.input_fields]
        if extra:
            LOG.warning("these inputs are not in the signature and are left out: %s", extra)


def _text(value: Any) -> str:
    listed = value if isinstance(value, (list, tuple)) else [value]
    if listed and all(_is_tool(item) for item in listed):
        return format_value([function_of(item) for item in listed])
    return format_value(value)


def _is_tool(value: Any) -> bool:
    return hasattr(value, "format_as_litellm_function_call") or (
        hasattr(value, "name") and hasattr(value, "description") and hasattr(value, "parameters")
    )


def _described(fields: Mapping[str, Any]) -> str:
    lines = []
    for number, (name, info) in enumerate(fields.items(), start=1):
        said = description_of(info)
        lines.append(f"{number}. `{name}` ({type_name(info.annotation)}): {said}".rstrip(" :"))
    return "\n".join(lines)


def _example(name: str, annotation: Any) -> str:
    rule = rule_for(annotation)
    return f"{{{name}}}" + (f"   ({rule})" if rule else "")
