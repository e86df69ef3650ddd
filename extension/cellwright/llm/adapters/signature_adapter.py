"""How the fields of a signature are put to a model and read from its reply.

The names and the order of messages are those of ``dspy.Adapter`` (requirements 004-01 to 004-15),
so that a subclass written for dspy works here with another base class, and a signature of either
kind fits. Messages are in OpenAI's shape. The system message, the demos, the history and the
current input come in this order; the field of the history is shown nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.callbacks import reported, told
from cellwright.llm.adapters.parse_errors import AdapterParseError
from cellwright.llm.adapters.tool_fields import (
    ToolFields,
    calls_from,
    find_tool_fields,
    function_of,
)
from cellwright.llm.signatures import SignatureLike

INCOMPLETE = "This is an example of the task, though some input or output fields are not supplied."
NOT_SUPPLIED = "Not supplied for this particular example."
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
            AdapterParseError: A reply does not hold the outputs.
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

    def _calls(self, signature: Any, tools: ToolFields, made: Sequence[Any]) -> Any:
        try:
            return calls_from(made, signature.output_fields[tools.calls].annotation)
        except ValueError as error:
            raise AdapterParseError(
                type(self).__name__, signature, str(made), f"{error}. Send the call again."
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
