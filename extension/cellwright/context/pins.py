"""Turns that a person pinned: their words stay in the context however long the chat gets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from cellwright.context.turns import (
    Turns,
    is_summary,
    opening_of,
    openings,
    pinned_mark,
    pinned_run,
    question_of,
    split_turns,
    total_tokens,
)
from cellwright.record.messages import AssistantMessage, Message, TextPart, UserMessage, text_of
from cellwright.record.run_record import RunRecord
from cellwright.text.truncation import estimate_tokens, shorten

PINNED_TOKENS = 6_000
"""What all pinned turns of a chat may have together."""
SMALLEST_TEXT_TOKENS = 16
CUT_STEP = 0.75
NOT_ANSWERED = "(This question was not answered.)"


@dataclass(frozen=True)
class PinnedTurn:
    """A turn whose words stay."""

    run_id: str
    asked: str
    """What the person wrote, without what stood beside it."""
    answer: AssistantMessage
    """The last words of the model."""
    opening: str = ""
    """Of its question as it was sent (``turns.opening_of``); empty: it is not known."""

    @property
    def messages(self) -> tuple[Message, Message]:
        """What stands for the turn when its calls and results are left out."""
        answer = (
            self.answer if self.answer.text.strip() else replace(self.answer, text=NOT_ANSWERED)
        )
        return UserMessage((TextPart(pinned_mark(self.run_id) + self.asked),)), answer

    @property
    def tokens(self) -> int:
        """About what that costs."""
        return total_tokens(self.messages)


@dataclass(frozen=True)
class PinnedConversation:
    """A conversation with its pinned turns told from the others."""

    head: tuple[Message, ...]
    """The instructions."""
    let_go: tuple[tuple[Message, ...], ...]
    """What was left of turns that are not pinned any more."""
    turns: tuple[tuple[Message, ...], ...]
    """Those that are still there in full."""
    pinned_at: dict[int, PinnedTurn]
    """Which of them are pinned, by their place."""
    missing: tuple[PinnedTurn, ...]
    """Pinned turns of which no word is there."""


def pinned_within(pinned: Sequence[PinnedTurn], limit_tokens: int) -> tuple[PinnedTurn, ...]:
    """The turns, the longest of their texts cut in the middle until all fit."""
    cut = tuple(pinned)
    longest = max(map(_longest_text, pinned), default=0)
    while sum(turn.tokens for turn in cut) > limit_tokens and longest > SMALLEST_TEXT_TOKENS:
        longest = max(SMALLEST_TEXT_TOKENS, int(longest * CUT_STEP))
        cut = tuple(_with_texts_of(turn, longest) for turn in pinned)
    return cut


def said_in(messages: Sequence[Message], pinned: Sequence[PinnedTurn]) -> PinnedConversation:
    """What was said, without a summary and without what stands for pinned turns.

    Args:
        messages: The conversation.
        pinned: Its pinned turns.
    """
    lifted = _lifted([message for message in messages if not is_summary(message)], pinned)
    parts = split_turns(lifted.rest)
    pinned_at = _pinned_at(parts, pinned)
    found = {turn.run_id for turn in pinned_at.values()} | lifted.runs
    missing = tuple(turn for turn in pinned if turn.run_id not in found)
    return PinnedConversation(parts.head, tuple(lifted.let_go), parts.turns, pinned_at, missing)


def left_of_pinned(messages: Sequence[Message]) -> Iterator[Message]:
    """Questions and answers that stand for pinned turns."""
    for place, message in enumerate(messages):
        if pinned_run(message):
            yield from messages[place : place + 2]


@dataclass
class _Lifted:
    """A conversation without what stands for pinned turns."""

    rest: list[Message] = field(default_factory=list)
    runs: set[str] = field(default_factory=set)
    let_go: list[tuple[Message, ...]] = field(default_factory=list)


def _lifted(messages: Sequence[Message], pinned: Sequence[PinnedTurn]) -> _Lifted:
    known = {turn.run_id: turn for turn in pinned}
    in_full = openings(messages) if pinned else frozenset()
    lifted, place = _Lifted(), 0
    while place < len(messages):
        message, run_id = messages[place], pinned_run(messages[place])
        place += 1
        if not run_id:
            lifted.rest.append(message)
            continue
        lifted.runs.add(run_id)
        turn = known.get(run_id)
        answer = _answer_at(messages, place, turn if turn and turn.opening in in_full else None)
        place += answer is not None
        if turn is None and answer is not None:
            lifted.let_go.append((message, answer))
    return lifted


def _answer_at(
    messages: Sequence[Message], place: int, in_full: PinnedTurn | None
) -> AssistantMessage | None:
    """The answer that follows what stands for a pinned question; None: it stands alone there.

    Args:
        messages: What was said.
        place: Where the answer would be.
        in_full: The turn, where it is there in full too, as in the record of a run that was made
            shorter on its way; then what follows may be that run's.
    """
    answer = messages[place] if place < len(messages) else None
    if not isinstance(answer, AssistantMessage) or answer.tool_calls:
        return None
    if in_full is not None:
        return answer if answer.text == text_of(in_full.messages[1]) else None
    follows = messages[place + 1 : place + 2]
    return answer if all(isinstance(message, UserMessage) for message in follows) else None


def _pinned_at(parts: Turns, pinned: Sequence[PinnedTurn]) -> dict[int, PinnedTurn]:
    if not pinned:
        return {}
    begun = [openings(turn) for turn in parts.turns]
    found: dict[int, PinnedTurn] = {}
    for wanted in pinned:
        places = [place for place, begin in enumerate(begun) if wanted.opening in begin]
        # The same may have been asked twice; then the answers tell the turns apart.
        same = [n for n in places if text_of(parts.turns[n][-1]) == wanted.answer.text]
        if places:
            found[(same or places)[-1]] = wanted
    return found


def _longest_text(turn: PinnedTurn) -> int:
    return max(estimate_tokens(turn.asked), estimate_tokens(turn.answer.text))


def _with_texts_of(turn: PinnedTurn, limit_tokens: int) -> PinnedTurn:
    asked = shorten(turn.asked, limit_tokens, "").text
    answered = shorten(turn.answer.text, limit_tokens, "").text
    return replace(turn, asked=asked, answer=replace(turn.answer, text=answered))


# A recorded run as the turn that stays when it is pinned.


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
