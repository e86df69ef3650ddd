"""A recorded run as the turn that stays when it is pinned."""

from __future__ import annotations

from dataclasses import replace

from cellwright.context.pins import PinnedTurn
from cellwright.context.turns import opening_of, pinned_run, question_of
from cellwright.record.messages import AssistantMessage, UserMessage, text_of
from cellwright.record.run_record import RunRecord

KNOWN_BY_CHARACTERS = 200
"""A question that was cut to fit still begins with so many."""


def pinned_turn(record: RunRecord) -> PinnedTurn:
    """The words of a run."""
    question = _question(record)
    opening = opening_of(question) if question is not None else ""
    asked = record.prompt.strip() or (question_of(question) if question is not None else "")
    return PinnedTurn(record.run_id, asked, _answer(record, question), opening)


def _question(record: RunRecord) -> UserMessage | None:
    """The question as it was sent; None: it never was."""
    # A history that was made shorter on the way may have moved it: its place says nothing.
    sent = [
        message
        for message in record.messages
        if isinstance(message, UserMessage)
        and message.sent_as == "user"
        and not pinned_run(message)
    ]
    known_by = record.prompt.strip()[:KNOWN_BY_CHARACTERS]
    return sent[-1] if sent and known_by in text_of(sent[-1]) else None


def _answer(record: RunRecord, question: UserMessage | None) -> AssistantMessage:
    """The message with the answer; the very one, so that a record does not list it twice."""
    messages = record.messages
    own = messages[messages.index(question) + 1 :] if question is not None else ()
    said = [m for m in own if isinstance(m, AssistantMessage) and m.text.strip()]
    last = said[-1] if said else AssistantMessage()
    answer = record.answer.strip()
    if answer and answer != last.text.strip():
        return AssistantMessage(answer, author=record.assistant)
    return replace(last, tool_calls=())
