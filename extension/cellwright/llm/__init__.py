"""The model service: one method that streams a reply.

Implementations are siblings: ``openai`` (any OpenAI-compatible service) and ``replay`` (the answers
of a recorded run). The demo model, rules behind a real local server, is a room of its own.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, Protocol

from cellwright.record.events import ModelRetrying, ModelSilent, Notice, ReasoningDelta, TextDelta
from cellwright.record.messages import Prompt, Reply
from cellwright.stopping import Stop

MessageShape = Literal["short_ids", "single_calls", "text_content"]
"""What messages with calls have: ids of nine letters and digits, one call, a text even if empty."""
LMEvent = TextDelta | ReasoningDelta | ModelRetrying | ModelSilent | Notice


@dataclass(frozen=True)
class Capabilities:
    """What a model can take, as far as it is known."""

    tools: bool = True
    parallel_tool_calls: bool = True
    vision: bool = False
    api: Literal["chat", "responses", "messages", "gemini"] = "chat"
    """Which API it is asked through."""
    context_tokens: int | None = None
    """The model's window; None when it is not known."""
    refused_parameters: frozenset[str] = frozenset()
    """Parameters this model rejected once; they are left out from then on."""
    refused_fields: frozenset[str] = frozenset()
    """Fields of messages that this model rejected once, such as its own ``reasoning_content``."""
    required_fields: frozenset[str] = frozenset()
    """Fields it rejects messages with calls without, even where the provider never sent them."""
    streams: bool = True
    """Its replies come in pieces; OpenAI streams some models to verified organisations alone."""
    alternates: bool = False
    """Its template wants words of the person and of the model strictly in turn."""
    shapes: frozenset[MessageShape] = frozenset()
    """What else its template or server wants of messages with calls."""
    system_position: Literal["first", "last"] = "first"
    system_notes: Literal["head", "in_place"] = "head"
    """Where instructions go that the person gives in mid-conversation."""


class LM(Protocol):
    """A model behind a service."""

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        """Yield pieces of the reply as they come and return the whole.

        Raises:
            LMError: The service failed and no retry helped.
            RunCancelled: ``stop`` was set.
        """
        ...

    def capabilities(self, model: str) -> Capabilities:
        """What is known of ``model`` so far."""
        ...
