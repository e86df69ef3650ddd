"""The chunks of a reply put together: pure, one chunk after another.

A whole reply that was not streamed is one chunk whose choice has a ``message`` instead of a
``delta``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from cellwright.errors import LMServerError, LMStreamError
from cellwright.llm.provider_items import REASONING_TEXTS, ChatItems, Item, thinking_in
from cellwright.record.messages import WITHHELD, AssistantMessage, ToolCall, Usage
from cellwright.record.values import json_or_none
from cellwright.text.cleaning import without_lone_surrogates

# Tool calls put together from pieces, as the many compatible services send them.
#
# What is known of them: all calls under index 0 (fault M7), also by turns, no index at all (M8), no
# id (M9), the same id twice (M10), id and name repeated in every piece, an empty object before the
# arguments, arguments as an object instead of text (M3), the older ``function_call``.


@dataclass
class _Call:
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class _CallPiece:
    index: int | None
    id: str
    name: str
    arguments: str


class CallCollector:
    """Takes the pieces of one reply and gives its calls."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int | None, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def characters(self) -> int:
        """How much the model wrote for its calls."""
        return sum(len(piece) for call in self._calls for piece in call.pieces)

    def add(self, raw: Any) -> int:
        """Take one entry of ``tool_calls``, or a ``function_call``; the place of its call.

        Junk is passed over and has the place -1.
        """
        if not isinstance(raw, Mapping):
            return -1
        piece = _piece(raw)
        call = self._by_index.get(piece.index)
        if piece.index is None:
            call = self._with_id(piece.id) or (self._calls[-1] if self._calls else None)
        elif call is not None and piece.id != call.id:
            call = self._with_id(piece.id) or call
        if call is not None and _fills_placeholder(call, piece):
            call.pieces.clear()
        if call is None or _starts_another(call, piece):
            unnamed = "" if call is None or piece.id else call.name
            call = _Call(piece.id, piece.name or unnamed)
            self._calls.append(call)
        self._by_index[piece.index] = call
        call.id = call.id or piece.id
        call.name = call.name or piece.name
        call.pieces.append(piece.arguments)
        return next(place for place, known in enumerate(self._calls) if known is call)

    def calls(self, used_ids: Collection[str] = ()) -> tuple[ToolCall, ...]:
        """The calls, each with an id that no other call of the conversation has."""
        seen = set(used_ids)
        made: list[ToolCall] = []
        for call in self._calls:
            if _is_echo(call, made):
                continue
            identifier = call.id if call.id and call.id not in seen else f"call_{uuid4().hex}"
            seen.add(identifier)
            arguments = without_lone_surrogates(call.arguments)
            made.append(ToolCall(identifier, without_lone_surrogates(call.name), arguments))
        return tuple(made)

    def _with_id(self, identifier: str) -> _Call | None:
        if not identifier:
            return None
        return next((call for call in self._calls if call.id == identifier), None)


def _piece(raw: Mapping[str, Any]) -> _CallPiece:
    function = raw.get("function")
    fields = function if isinstance(function, Mapping) else raw
    index = raw.get("index")
    return _CallPiece(
        index if isinstance(index, int) else None,
        str(raw.get("id") or ""),
        str(fields.get("name") or "").strip(),
        _as_text(fields.get("arguments")),
    )


def _as_text(arguments: Any) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)


def _starts_another(call: _Call, piece: _CallPiece) -> bool:
    """Whether a piece that came in the place of ``call`` begins a call of its own."""
    if piece.id and call.id and piece.id != call.id:
        return True
    if piece.name and call.name and piece.name != call.name:
        return True
    named_again = bool(piece.name) and not piece.id
    # No text that goes on after a whole object can be its continuation.
    goes_on = named_again or piece.arguments.lstrip().startswith("{")
    return goes_on and _is_whole(call.arguments)


def _fills_placeholder(call: _Call, piece: _CallPiece) -> bool:
    """Whether a piece brings the arguments of a call that came with an empty object first."""
    is_same = piece.id == call.id if piece.id else not piece.name
    brings = piece.arguments.startswith("{") and piece.arguments != "{}"
    return is_same and call.arguments == "{}" and brings


def _is_echo(call: _Call, before: list[ToolCall]) -> bool:
    """Whether nothing was asked for: no name, or the last one's name said once more."""
    if call.arguments or call.id:
        return False
    return not call.name or bool(before and before[-1].name == call.name)


def _is_whole(arguments: str) -> bool:
    return arguments.rstrip().endswith("}") and json_or_none(arguments) is not None


# Thinking that a model writes into its text, told apart from the answer as it streams.


OPENING = "<think>"
CLOSING = "</think>"


@dataclass(frozen=True)
class SplitDelta:
    """More of the answer, more of the thinking, more of what is written for calls."""

    text: str = ""
    reasoning: str = ""
    arguments: str = ""

    def __add__(self, other: SplitDelta) -> SplitDelta:
        return SplitDelta(
            self.text + other.text,
            self.reasoning + other.reasoning,
            self.arguments + other.arguments,
        )


class ThinkingFilter:
    """Takes ``<think>…</think>`` off the start of a reply.

    Only the start counts, so that an answer about such tags stays whole. What could still become
    a tag is held back until it is clear.
    """

    def __init__(self) -> None:
        self._held = ""
        self._phase = "start"
        self._thought = False

    def feed(self, text: str) -> SplitDelta:
        """What is clear now."""
        self._held += text
        said = SplitDelta()
        while True:
            phase = self._phase
            said += self._step()
            if self._phase == phase:
                return said

    def end(self) -> SplitDelta:
        """What was held back; a thought that never ended stays a thought."""
        held, self._held = self._held, ""
        return SplitDelta(reasoning=held) if self._phase == "thinking" else SplitDelta(held)

    def _step(self) -> SplitDelta:
        if self._phase == "start":
            return self._at_start()
        if self._phase == "thinking":
            return self._inside()
        text, self._held = self._held, ""
        return SplitDelta(text)

    def _at_start(self) -> SplitDelta:
        start = self._held.lstrip()
        if start.startswith(OPENING):
            self._phase, self._held = "thinking", start.removeprefix(OPENING)
            self._thought = True
        elif not OPENING.startswith(start):
            self._phase = "answer"
            # The blank lines between a thought and the answer belong to neither.
            self._held = start if self._thought else self._held
        return SplitDelta()

    def _inside(self) -> SplitDelta:
        thought, closing, rest = self._held.partition(CLOSING)
        if closing:
            self._phase, self._held = "start", rest
            return SplitDelta(reasoning=thought)
        kept = _possible_tag(self._held)
        thought = self._held[: len(self._held) - kept]
        self._held = self._held[len(thought) :]
        return SplitDelta(reasoning=thought)


def _possible_tag(text: str) -> int:
    """How many characters at the end could be the beginning of the closing tag."""
    sizes = range(min(len(text), len(CLOSING) - 1), 0, -1)
    return next((size for size in sizes if CLOSING.startswith(text[-size:])), 0)


FINISH_WORDS = {
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    **dict.fromkeys(
        ("refusal", "safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive"),
        WITHHELD,
    ),
}
"""What some services call the four usual reasons; Mistral and Anthropic have words of their own for
a window that is full, Anthropic, Google and Zhipu for their filters. Sources, read 2026-11-23:
docs.mistral.ai/api (FinishReason), platform.claude.com/docs/en/api/handling-stop-reasons."""
BROKEN_OFF = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""Ends that are none, of Mistral and OpenRouter, vLLM and SGLang, Zhipu, DeepSeek: the service
failed within the reply. Sources, read 2026-11-28: their descriptions of ``finish_reason``."""
UNREADABLE_CALLS = frozenset({"function_call_filter", "malformed_function_call"})
"""Of a call that the model wrote and nobody can read: Google's compatibility layer, which puts a
colon and Google's own word behind it, as behind ``content_filter``; and who hands on that word."""


def _finish_reason(told: str) -> str:
    """The usual word for why a reply ends.

    Raises:
        LMError: It does not end, but broke off, and is worth asking for once more.
    """
    word = told.lower()
    kind = word.partition(":")[0]
    if kind in BROKEN_OFF:
        raise LMServerError(f"The service broke the reply off ({told}).", hint="Ask again.")
    if kind in UNREADABLE_CALLS:
        text = f"The model wrote a call that cannot be read ({told})."
        raise LMStreamError(text, hint="Ask again, in other words or with less at a time.")
    return kind if kind == WITHHELD else FINISH_WORDS.get(word, told)


class ReplyAssembler:
    """Takes chunks as they come; says what is new, and in the end what it all was."""

    ends_with_reason = False
    """Whether nothing follows the reason to end; chat completions send the counts behind it."""

    def __init__(self) -> None:
        self.finish_reason = ""
        self.model = ""
        self.response_id = ""
        self.has_timings = False
        """The service says how long it computed, as llama.cpp does."""
        self.usage: Usage | None = None
        """What the service counted; None when it did not."""
        self._calls = CallCollector()
        self._items = ChatItems()
        self._thinking = ThinkingFilter()
        self._half_pair = ""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []

    @property
    def finished(self) -> bool:
        """Whether the service said why the reply ends."""
        return bool(self.finish_reason)

    @property
    def started(self) -> bool:
        """Whether anything of the reply came."""
        return bool(self._text or self._reasoning or self._refusal or self._calls)

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._text)

    @property
    def written_characters(self) -> int:
        """How much the model wrote, thoughts and calls included."""
        pieces = (*self._text, *self._reasoning, *self._refusal)
        return sum(map(len, pieces)) + self._calls.characters

    def add(self, chunk: Mapping[str, Any]) -> SplitDelta:
        """Take one chunk and give what is new for the person; no field of it has to be there.

        Raises:
            LMError: The service says that the reply broke off.
        """
        self.model = str(chunk.get("model") or self.model)
        self.response_id = str(chunk.get("id") or self.response_id)
        self.usage = _usage_of(chunk) or self.usage
        self.has_timings = self.has_timings or isinstance(chunk.get("timings"), Mapping)
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            return SplitDelta()
        choice = choices[0]
        said = self._add_delta(choice.get("delta") or choice.get("message"))
        if reason := choice.get("finish_reason"):
            self.finish_reason = _finish_reason(str(reason))
        return said

    def end(self) -> SplitDelta:
        """What was held back."""
        held, self._half_pair = self._half_pair, ""
        said = self._thinking.feed(without_lone_surrogates(held)) + self._thinking.end()
        return self._keep(said)

    def message(self, used_ids: Collection[str] = ()) -> AssistantMessage:
        """The whole reply; calls get ids that are not among ``used_ids``."""
        return AssistantMessage(
            self.text,
            self._calls.calls(used_ids),
            "".join(self._reasoning),
            without_lone_surrogates("".join(self._refusal)),
        )

    def provider_items(self) -> tuple[Item, ...]:
        """What the provider wants back with this message."""
        return self._items.items()

    def _add_delta(self, delta: Any) -> SplitDelta:
        if not isinstance(delta, Mapping):
            return SplitDelta()
        self._items.add(delta)
        written = ""
        # llama-cpp-python's server says each piece in both ways at once.
        for raw in delta.get("tool_calls") or [delta.get("function_call")]:
            if raw and (place := self._calls.add(raw)) >= 0:
                self._items.add_call(place, raw)
                written += _piece(raw).arguments
        if isinstance(delta.get("refusal"), str):
            self._refusal.append(delta["refusal"])
        said = self._thinking.feed(self._whole_pairs(_content(delta.get("content"))))
        in_content = thinking_in(delta.get("content"))
        thought = next((delta[name] for name in REASONING_TEXTS if delta.get(name)), in_content)
        if isinstance(thought, str) and thought:
            said = SplitDelta(reasoning=without_lone_surrogates(thought)) + said
        return self._keep(said + SplitDelta(arguments=written))

    def _whole_pairs(self, text: str) -> str:
        """The text, half a surrogate pair at its end kept for the next piece (fault M23)."""
        text, self._half_pair = self._half_pair + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half_pair = text[:-1], text[-1]
        return without_lone_surrogates(text)

    def _keep(self, said: SplitDelta) -> SplitDelta:
        if said.text:
            self._text.append(said.text)
        if said.reasoning:
            self._reasoning.append(said.reasoning)
        return said


class TranslatingAssembler(ReplyAssembler):
    """Takes the events of another API, each as the chunks of chat completions that say the same."""

    def add(self, chunk: Mapping[str, Any]) -> SplitDelta:
        """Take one event and give what is new for the person; no field of it has to be there."""
        said = SplitDelta()
        for translated in self._translate(chunk):
            said += super().add(translated)
        return said

    def _translate(self, event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        raise NotImplementedError


def delta_chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    """A chunk of chat completions with more of the reply."""
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


def call_chunk(place: int, function: Mapping[str, Any], call_id: str = "") -> dict[str, Any]:
    """A chunk of chat completions with more of a call."""
    return delta_chunk({"tool_calls": [{"index": place, "id": call_id, "function": function}]})


def object_in(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of a name; empty where there is none."""
    found = of.get(name)
    return found if isinstance(found, Mapping) else {}


COUNT_LIMIT = 1e15
"""No request has so many tokens, and the record could not add them up."""


def usage_from_openai(raw: Any) -> Usage | None:
    """The counts a service sent, under any of the names in use; None when they are of no use."""
    if not isinstance(raw, Mapping):
        return None
    prompt = _count(raw, "prompt_tokens", "input_tokens")
    completion = _count(raw, "completion_tokens", "output_tokens")
    if not prompt:
        return None
    of_prompt = _section(raw, "prompt_tokens_details", "input_tokens_details")
    of_completion = _section(raw, "completion_tokens_details", "output_tokens_details")
    thought = _count(of_completion, "reasoning_tokens")
    if thought and _count(raw, "total_tokens") == prompt + completion + thought:
        completion += thought  # xAI counts it beside the completion
    return Usage(
        prompt,
        completion,
        _count(of_prompt, "cached_tokens")
        or _count(raw, "prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens"),
        _count(of_prompt, "cache_write_tokens", "cache_creation_tokens")
        or _count(raw, "cache_creation_input_tokens"),
        thought,
    )


def _usage_of(chunk: Mapping[str, Any]) -> Usage | None:
    """The counts, in a place of their own at Groq and in the choice at Moonshot."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    places = (place for place in (chunk, chunk.get("x_groq"), choice) if isinstance(place, Mapping))
    return next(filter(None, (usage_from_openai(place.get("usage")) for place in places)), None)


def _content(content: Any) -> str:
    """The text of a delta, which a few services send as a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, Mapping))
    return "".join(part for part in parts if isinstance(part, str))


def _section(raw: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    sections = (raw.get(name) for name in names)
    return next((section for section in sections if isinstance(section, Mapping)), {})


def _count(raw: Mapping[str, Any], *names: str) -> int:
    found = next((raw[name] for name in names if raw.get(name)), 0)
    # JSON as Python reads it also has NaN and Infinity.
    return int(found) if isinstance(found, (int, float)) and 0 < found < COUNT_LIMIT else 0
