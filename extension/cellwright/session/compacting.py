"""Making a conversation shorter when the person wants it: a run that asks no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cellwright._version import __version__
from cellwright.context.pins import PinnedTurn
from cellwright.context.turns import HistorySummary, total_tokens
from cellwright.context.window import Window, with_summary
from cellwright.record.events import (
    COMPACT_PROMPT,
    SUMMARY_PROMPT,
    Event,
    HistoryCompacted,
    RunFinished,
    RunStarted,
    StateCaptured,
)
from cellwright.record.messages import Message
from cellwright.record.run_record import RunRecord


@dataclass(frozen=True)
class Compaction:
    """Another history and the events of the run that made it."""

    messages: tuple[Message, ...]
    events: tuple[Event, ...]


def compaction_of(
    last: RunRecord,
    messages: Sequence[Message],
    tokens: int = 0,
    pinned: tuple[PinnedTurn, ...] = (),
) -> Compaction | None:
    """What makes a conversation shorter; None: there is nothing to gain.

    Older turns are summed up and long results of earlier calls are cut.

    Args:
        last: The run that knows the conversation's kernel and model.
        messages: What was said so far.
        tokens: Of the last request; 0: not known.
        pinned: Turns whose words stay.
    """
    fitted = Window(pinned=pinned).when_asked(messages)
    if fitted is None:
        return None
    before, after = total_tokens(messages), total_tokens(fitted.messages)
    known = tokens or before
    # the tools and what a tokenizer counts otherwise stay as they are
    left = max(after, known - before + after)
    told = HistoryCompacted(fitted.messages, known, min(known, left), fitted.summary)
    return _recorded(last, len(messages), COMPACT_PROMPT, told)


def summary_changed(
    last: RunRecord, messages: Sequence[Message], summary: HistorySummary
) -> Compaction:
    """The conversation with what a person made of its summary."""
    changed = tuple(with_summary(messages, summary))
    sizes = total_tokens(messages), total_tokens(changed)
    told = HistoryCompacted(changed, *sizes, summary.text.strip())
    return _recorded(last, len(messages), SUMMARY_PROMPT, told)


def _recorded(
    last: RunRecord, message_count: int, prompt: str, told: HistoryCompacted
) -> Compaction:
    executed = (*last.start_executed, *(ran.source for ran in last.executions))
    events = (
        RunStarted(
            prompt=prompt,
            lane=last.lane,
            mode=last.mode,
            parameters=last.parameters,
            base_url=last.base_url,
            continues=last.run_id,
            earlier_messages=message_count,
            version=__version__,
            assistant=last.assistant,
            text_filters=last.text_filters,
        ),
        StateCaptured(executed=executed, cwd=last.cwd, kernel=last.kernel),
        told,
        RunFinished("completed"),
    )
    return Compaction(told.messages, events)
