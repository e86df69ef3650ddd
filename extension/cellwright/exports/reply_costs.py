"""Which reply asked for which tool call, and so what a step took."""

from __future__ import annotations

from cellwright.record.messages import AssistantMessage
from cellwright.record.recorded_calls import RecordedStep
from cellwright.record.run_record import RunRecord


def reply_of_calls(record: RunRecord) -> dict[str, RecordedStep]:
    """The reply that made each call; of several calls in one reply only the first is named."""
    said = [
        message
        for message in record.messages[record.earlier_messages :]
        if isinstance(message, AssistantMessage)
    ]
    pairs = zip(said, record.steps, strict=False)
    return {message.tool_calls[0].id: step for message, step in pairs if message.tool_calls}
