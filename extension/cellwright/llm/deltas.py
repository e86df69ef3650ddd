"""The chunks of a reply put together: pure, one chunk after another.

A whole reply that was not streamed is one chunk whose choice has a ``message`` instead of a
``delta``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cellwright.llm.call_parts import CallCollector
from cellwright.llm.thinking import Said, ThinkingFilter
from cellwright.record.messages import AssistantMessage
from cellwright.record.usage import Usage
from cellwright.text.cleaning import without_lone_surrogates

FINISH_WORDS = {
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "safety": "content_filter",
}
"""What some services call the four usual reasons."""
REASONING_FIELDS = ("reasoning_content", "reasoning")


class ReplyAssembler:
    """Takes chunks as they come; says what is new, and in the end what it all was."""

    def __init__(self) -> None:
        self.finish_reason = ""
        self.model = ""
        self.response_id = ""
        self.usage: Usage | None = None
        """What the service counted; None when it did not."""
        self._calls = CallCollector()
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

    def add(self, chunk: Mapping[str, Any]) -> Said:
        """Take one chunk and give what is new for the person; no field of it has to be there."""
        self.model = str(chunk.get("model") or self.model)
        self.response_id = str(chunk.get("id") or self.response_id)
        self.usage = _usage_of(chunk) or self.usage
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            return Said()
        choice = choices[0]
        said = self._add_delta(choice.get("delta") or choice.get("message"))
        if reason := choice.get("finish_reason"):
            self.finish_reason = FINISH_WORDS.get(str(reason).lower(), str(reason))
        return said

    def end(self) -> Said:
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

    def _add_delta(self, delta: Any) -> Said:
        if not isinstance(delta, Mapping):
            return Said()
        for raw in delta.get("tool_calls") or ():
            self._calls.add(raw)
        if delta.get("function_call"):
            self._calls.add(delta["function_call"])
        if isinstance(delta.get("refusal"), str):
            self._refusal.append(delta["refusal"])
        said = self._thinking.feed(self._whole_pairs(_content(delta.get("content"))))
        thought = next((delta[name] for name in REASONING_FIELDS if delta.get(name)), "")
        if isinstance(thought, str) and thought:
            said = Said(reasoning=without_lone_surrogates(thought)) + said
        return self._keep(said)

    def _whole_pairs(self, text: str) -> str:
        """The text, half a surrogate pair at its end kept for the next piece (fault M23)."""
        text, self._half_pair = self._half_pair + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half_pair = text[:-1], text[-1]
        return without_lone_surrogates(text)

    def _keep(self, said: Said) -> Said:
        if said.text:
            self._text.append(said.text)
        if said.reasoning:
            self._reasoning.append(said.reasoning)
        return said


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
    return Usage(
        prompt,
        completion,
        _count(of_prompt, "cached_tokens")
        or _count(raw, "prompt_cache_hit_tokens", "cache_read_input_tokens"),
        _count(of_prompt, "cache_write_tokens", "cache_creation_tokens")
        or _count(raw, "cache_creation_input_tokens"),
        _count(of_completion, "reasoning_tokens"),
    )


def _usage_of(chunk: Mapping[str, Any]) -> Usage | None:
    found = usage_from_openai(chunk.get("usage"))
    extra = chunk.get("x_groq")
    return found or (usage_from_openai(extra.get("usage")) if isinstance(extra, Mapping) else None)


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
    return max(0, int(found)) if isinstance(found, (int, float)) else 0
