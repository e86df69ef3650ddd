"""Making a conversation shorter when the person wants it: a run that asks no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cellwright._version import __version__
from cellwright.context.compaction import compact
from cellwright.events import Event, HistoryCompacted, RunFinished, RunStarted, StateCaptured
from cellwright.messages import AssistantMessage, Message, text_of
from cellwright.recording import RunRecord
from cellwright.usage import estimate_tokens

__all__ = ["COMPACT_PROMPT", "Compaction", "compaction_of"]

COMPACT_PROMPT = "/compact"
"""What such a run is recorded as having been asked."""


@dataclass(frozen=True)
class Compaction:
    """A shorter history and the events of the run that made it."""

    messages: tuple[Message, ...]
    events: tuple[Event, ...]


def compaction_of(
    last: RunRecord, messages: Sequence[Message], tokens: int = 0
) -> Compaction | None:
    """What makes a conversation shorter; None: there is nothing to gain.

    Args:
        last: The run that knows the conversation's kernel and model.
        messages: What was said so far.
        tokens: Of the last request; 0: not known.
    """
    shorter = compact(messages)
    if shorter is None:
        return None
    before, after = _tokens_of(messages), _tokens_of(shorter)
    known = tokens or before
    # the tools and what a tokenizer counts otherwise stay as they are
    left = max(after, known - before + after)
    executed = (*last.start_executed, *(ran.source for ran in last.executions))
    events = (
        RunStarted(
            prompt=COMPACT_PROMPT,
            lane=last.lane,
            mode=last.mode,
            parameters=last.parameters,
            base_url=last.base_url,
            continues=last.run_id,
            earlier_messages=len(messages),
            version=__version__,
            assistant=last.assistant,
        ),
        StateCaptured(executed=executed, cwd=last.cwd, kernel=last.kernel),
        HistoryCompacted(tuple(shorter), known, min(known, left)),
        RunFinished("completed"),
    )
    return Compaction(tuple(shorter), events)


def _tokens_of(messages: Sequence[Message]) -> int:
    return sum(estimate_tokens(_text(message)) for message in messages)


def _text(message: Message) -> str:
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    return text_of(message) + "".join(call.name + call.arguments for call in calls)
