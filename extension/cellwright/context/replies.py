"""What a reply of the model tells beside its words."""

from __future__ import annotations

from dataclasses import replace

from cellwright.llm.prompt_size import estimated_prompt_tokens
from cellwright.record.events import ModelReplied
from cellwright.record.messages import Prompt, Reply


def counted_per_estimated(prompt: Prompt, reply: Reply) -> float:
    """How many tokens the service counted for one that is estimated here; 1 where it is silent."""
    if reply.usage.estimated or not reply.usage.prompt_tokens:
        return 1.0
    return reply.usage.prompt_tokens / max(1, estimated_prompt_tokens(prompt))


def said_by(author: str, reply: Reply) -> Reply:
    """The reply with the name of the assistant that gave it."""
    return replace(reply, message=replace(reply.message, author=author)) if author else reply


def replied_event(reply: Reply, cost: float | None) -> ModelReplied:
    """The reply as the record has it."""
    return ModelReplied(
        reply.message,
        reply.finish_reason,
        reply.usage,
        reply.model,
        reply.duration_seconds,
        reply.first_delta_seconds,
        reply.attempts,
        cost,
        reply.truncated,
        reply.dropped_parameters,
    )
