"""What a provider sends with a reply and wants back untouched: signatures, encrypted thinking.

They stand in the assistant message as ``ProviderItems``, so they are recorded and survive whatever
is done to the conversation between two requests. They go back to the service, API and model that
they came from and to no other: a signature is worth nothing there, and may be refused.

An opaque string is kept as ``{"base64": …}``, which no search for secrets reads: a changed letter
would make it worthless. Readable text beside it is searched like any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cellwright.record.messages import AssistantMessage, ProviderItems, ToolCall

Item = Mapping[str, Any]
OPAQUE_NAMES = frozenset(
    {"encrypted_content", "signature", "thought_signature", "thoughtSignature", "data"}
)
"""Fields of provider items that only the provider can read."""
WRAPPED = "base64"


@dataclass(frozen=True)
class ItemReader:
    """Finds the items of a message that may go into a request."""

    service: str
    """Host and port that the request goes to."""
    api: str
    model: str
    refused: frozenset[str] = field(default=frozenset())
    """Keys (``key_of``) of items that the service no longer accepts."""

    def items_of(self, message: AssistantMessage) -> tuple[Item, ...]:
        """The items as the provider sent them; none where they are another's."""
        kept = message.provider_items
        if kept is None or (kept.service, kept.api, kept.model) != (
            self.service,
            self.api,
            self.model,
        ):
            return ()
        if self.refused and key_of(kept) in self.refused:
            return ()
        return tuple(_unwrapped(item) for item in kept.items)

    def keep(self, items: tuple[Item, ...]) -> ProviderItems | None:
        """The items of a reply as the record has them; None where there are none."""
        if not items:
            return None
        return ProviderItems(
            self.service, self.api, self.model, tuple(_wrapped(item) for item in items)
        )


def pair_items(
    message: AssistantMessage, items: tuple[Item, ...], call_type: str
) -> Iterator[tuple[Item, ToolCall | str | None]]:
    """The items of a message in their order, each with the call or the text that it stands for.

    They are plain ones where the message has none of its own or its calls are others by now.

    Args:
        message: What was said.
        items: Its own items, whose ``type`` is ``text``, ``call_type`` or something else, which
            stands for neither.
        call_type: The ``type`` of a call.
    """
    if sum(item.get("type") == call_type for item in items) != len(message.tool_calls):
        items = ()
    items = items or tuple({"type": call_type} for _ in message.tool_calls)
    text = message.text or message.refusal
    pieces = [str(item.get("text", "")) for item in items if item.get("type") == "text"]
    if "".join(pieces) != text:
        # It was changed since, or its items are another's: all of it stands before the calls.
        pieces = [text]
        rest = (item for item in items if item.get("type") != "text")
        places = {"text": 1, call_type: 2}  # what was thought comes first
        items = tuple(
            sorted((*rest, {"type": "text"}), key=lambda item: places.get(item["type"], 0))
        )
    calls, texts = iter(message.tool_calls), iter(pieces)
    for item in items:
        if item["type"] == call_type:
            yield item, next(calls)
        else:
            yield item, next(texts, "") if item["type"] == "text" else None


def key_of(items: ProviderItems) -> str:
    """What tells items from all others; they themselves may be long."""
    return sha256(json.dumps(items.items, sort_keys=True, default=dict).encode()).hexdigest()


NO_ITEMS = ItemReader("", "", "")
"""For messages that go to no service: exports."""


def _wrapped(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: {WRAPPED: item} if _is_opaque(name, item) else _wrapped(item)
            for name, item in value.items()
        }
    return [_wrapped(item) for item in value] if isinstance(value, (list, tuple)) else value


def _unwrapped(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: item[WRAPPED] if _is_wrapped(name, item) else _unwrapped(item)
            for name, item in value.items()
        }
    return [_unwrapped(item) for item in value] if isinstance(value, (list, tuple)) else value


def _is_opaque(name: str, item: Any) -> bool:
    return name in OPAQUE_NAMES and isinstance(item, str)


def _is_wrapped(name: str, item: Any) -> bool:
    return name in OPAQUE_NAMES and isinstance(item, Mapping) and set(item) == {WRAPPED}


# Of chat completions: fields beside the usual ones, of the message or of one of its calls.


REASONING_TEXTS = ("reasoning_content", "reasoning")
"""Fields in which services send thinking as text."""
THINKING = "thinking"
"""Stands for thinking that came as a part of the content, which is a list then (Mistral)."""
DETAILS = "reasoning_details"
EXTRA = "extra_content"
TEXTS_OF_DETAILS = ("text", "summary", "data")


class ChatItems:
    """Collects the items of one reply of chat completions, piece by piece."""

    def __init__(self) -> None:
        self._text_field = ""
        self._details: list[dict[str, Any]] = []
        self._extra: dict[str, Any] = {}
        self._of_calls: dict[int, dict[str, Any]] = {}

    def add(self, delta: Mapping[str, Any]) -> None:
        """Take one delta of the message."""
        # An empty text counts: DeepSeek wants the field back even where there was no thinking.
        said = (name for name in REASONING_TEXTS if isinstance(delta.get(name), str))
        in_content = THINKING if thinking_in(delta.get("content")) else ""
        self._text_field = self._text_field or next(said, in_content)
        for detail in delta.get(DETAILS) or ():
            if isinstance(detail, Mapping):
                self._add_detail(dict(detail))
        if isinstance(delta.get(EXTRA), Mapping):
            _merge(self._extra, delta[EXTRA])

    def add_call(self, place: int, raw: Mapping[str, Any]) -> None:
        """Take one piece of the call at a place of the reply."""
        if isinstance(raw.get(EXTRA), Mapping):
            _merge(self._of_calls.setdefault(place, {}), raw[EXTRA])

    def items(self) -> tuple[Item, ...]:
        """All of them; the text of thinking is the message's own ``reasoning``."""
        found: list[Item] = []
        if self._details:
            found.append({"field": DETAILS, "value": self._details})
        elif self._text_field:
            found.append({"field": self._text_field})
        if self._extra:
            found.append({"field": EXTRA, "value": self._extra})
        for place, value in sorted(self._of_calls.items()):
            found.append({"field": EXTRA, "call": place, "value": value})
        return tuple(found)

    def _add_detail(self, detail: dict[str, Any]) -> None:
        """Put a piece to the detail that it goes on with, which is the last one."""
        last = self._details[-1] if self._details else None
        same = ("type", "index", "id")
        if last is None or any(last.get(name) != detail.get(name) for name in same):
            self._details.append(detail)
            return
        for name, value in detail.items():
            if name in TEXTS_OF_DETAILS and isinstance(value, str):
                last[name] = (last.get(name) or "") + value
            elif value is not None:
                last[name] = value


def thinking_in(content: Any) -> str:
    """The thinking among the parts of a content, as Mistral sends it.

    ``{"type": "thinking", "thinking": [{"type": "text", "text": …}]}``; a text in place of the
    inner list is taken, too. Source: the npm packages @opencode-ai/ai and @ai-sdk/mistral 3.0.52,
    which send it back so, read 2026-11-23.
    """
    parts = content if isinstance(content, list) else ()
    said: list[str] = []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == THINKING:
            inner = part.get(THINKING)
            pieces = inner if isinstance(inner, list) else [{"text": inner}]
            texts = (piece.get("text") for piece in pieces if isinstance(piece, Mapping))
            said += [text for text in texts if isinstance(text, str)]
    return "".join(said)


def sent_beside(message: AssistantMessage) -> str:
    """What goes to the provider with a message beside its words and calls, for counting."""
    kept = message.provider_items
    if kept is None:
        return ""
    names = {item.get("field") for item in kept.items}
    thought = message.reasoning if names & {*REASONING_TEXTS, THINKING} else ""
    values = [_unwrapped(item) for item in kept.items if "field" not in item or "value" in item]
    return thought + "".join(json.dumps(value, ensure_ascii=False) for value in values)


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        else:
            into[name] = dict(value) if isinstance(value, Mapping) else value


SKIPPED_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Google documents for calls that another model made."""


@dataclass(frozen=True)
class FieldRules:
    """What a model was learned to think of such fields."""

    refused: frozenset[str] = frozenset()
    """It does not take them."""
    required: frozenset[str] = frozenset()
    """It refuses a message with calls that lacks them."""


NO_RULES = FieldRules()


def put_into_chat(
    sent: dict[str, Any],
    message: AssistantMessage,
    items: tuple[Item, ...],
    rules: FieldRules = NO_RULES,
    *,
    follows_result: bool = False,
) -> None:
    """Put the items of a message into it as it is sent.

    Args:
        sent: The message in chat format; it is changed.
        message: What it is made of.
        items: Its own items, those of this service alone.
        rules: What the model takes and demands.
        follows_result: It comes right after the result of a tool.
    """
    calls = sent.get("tool_calls") or []
    for item in items:
        name = str(item.get("field", ""))
        if name in rules.refused:
            continue
        if name in (*REASONING_TEXTS, THINKING):
            # Providers drop the thinking of turns without tools, and some refuse it.
            if calls or follows_result:
                _put_thinking(sent, name, message)
        elif "call" not in item:
            sent[name] = item["value"]
        elif item["call"] < len(calls):
            calls[item["call"]][name] = item["value"]
    for name in rules.required if calls else ():
        _make_up(sent, calls, name)


def _make_up(sent: dict[str, Any], calls: list[dict[str, Any]], name: str) -> None:
    """Put something where a message with calls lacks a field that is demanded."""
    if name in REASONING_TEXTS:
        sent.setdefault(name, "")
    elif not any(name in call for call in calls):
        calls[0][name] = SKIPPED_SIGNATURE


def _put_thinking(sent: dict[str, Any], name: str, message: AssistantMessage) -> None:
    """Put the thinking where it came from: into a field of its own, or into the content."""
    if name != THINKING:
        sent[name] = message.reasoning
        return
    inner = [{"type": "text", "text": message.reasoning}]
    content: list[dict[str, Any]] = [{"type": THINKING, THINKING: inner, "closed": True}]
    if message.text:
        content.append({"type": "text", "text": message.text})
    sent["content"] = content
