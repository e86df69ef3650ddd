"""Keeps a conversation within a number of tokens, in rare big steps.

What is recent always stays whole. Older turns are left out together and a summary stands for
them, so that the provider's prompt cache is broken once and not every turn (experience.md, C3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cellwright.context.compaction import compact
from cellwright.context.sizes import message_tokens, total_tokens
from cellwright.context.summary import Summary, is_summary, summary_in
from cellwright.context.turns import Turns, split_turns
from cellwright.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextPart,
    text_of,
)
from cellwright.truncation import shorten

__all__ = ["WINDOW_TOKENS", "Fitted", "Window", "summary_of", "when_refused", "with_summary"]

WINDOW_TOKENS = 60_000
"""Models get worse with length long before their window is full (experience.md, C1)."""
WINDOW_SHARE = 0.75
"""Of the model's own window; the rest is for its answer and what is counted wrong."""
SMALLEST_WINDOW = 2_000
START_SHARE = 0.8
"""A run begins in at most so much of the window, so that there is room for its steps."""
KEPT_SHARE = 0.3
"""What is left after older turns are left out."""
SUMMARY_SHARE = 0.12
REFUSED_SHARE = 0.7
SMALLEST_CUT_TOKENS = 250


@dataclass(frozen=True)
class Fitted:
    """A conversation that fits."""

    messages: tuple[Message, ...]
    summary: str
    """What stands for the turns that are left out; empty: none are."""
    turns_left_out: int = 0
    """How many of them this step left out."""


@dataclass(frozen=True)
class Window:
    """How much may be sent.

    Args:
        limit_tokens: Of messages, as they are estimated here.
    """

    limit_tokens: int = WINDOW_TOKENS

    @classmethod
    def of(
        cls, context_tokens: int | None, *, other_tokens: int = 0, counted_per_estimated: float = 1
    ) -> Window:
        """The window of a model.

        Args:
            context_tokens: The model's own window; None: it is not known.
            other_tokens: What is sent beside messages, such as tools.
            counted_per_estimated: How many tokens the service counts for one that is estimated.
        """
        share = int((context_tokens or WINDOW_TOKENS) * WINDOW_SHARE)
        whole = min(WINDOW_TOKENS, share) if context_tokens else WINDOW_TOKENS
        messages = int(whole / max(1.0, counted_per_estimated)) - other_tokens
        return cls(max(SMALLEST_WINDOW, messages))

    def before_a_run(self, messages: Sequence[Message], question_tokens: int = 0) -> Fitted | None:
        """What is left of the history when a question comes; None: all of it."""
        room = int(self.limit_tokens * START_SHARE) - question_tokens
        return self._fitted(messages, room) if total_tokens(messages) > room else None

    def in_a_run(self, messages: Sequence[Message]) -> tuple[Message, ...] | None:
        """What is left before a request of a run; None: all of it, or nothing is to gain."""
        if total_tokens(messages) <= self.limit_tokens:
            return None
        shorter = self._fitted(messages, int(self.limit_tokens * START_SHARE)).messages
        return None if shorter == tuple(messages) else shorter

    def when_asked(self, messages: Sequence[Message]) -> Fitted | None:
        """What is left when the person wants it shorter; None: there is nothing to gain."""
        limit = min(self.limit_tokens, total_tokens(messages) // 2)
        fitted = self._fitted(messages, limit, may_cut=False)
        return fitted if total_tokens(fitted.messages) < total_tokens(messages) else None

    def _fitted(self, messages: Sequence[Message], room: int, *, may_cut: bool = True) -> Fitted:
        parts = split_turns(messages)
        kept = _newest(parts.turns, int(min(room, self.limit_tokens * KEPT_SHARE)))
        older = parts.turns[: len(parts.turns) - len(kept)]
        summary = summary_of(messages).with_turns(
            [[m for m in turn if not is_summary(m)] for turn in older],
            int(self.limit_tokens * SUMMARY_SHARE),
        )
        shorter = with_summary(_joined(Turns(parts.head, kept)), summary)
        if total_tokens(shorter) > room:
            shorter = compact(shorter) or shorter
        if may_cut:
            shorter = _cut_to(shorter, room)
        return Fitted(tuple(shorter), summary.text.strip(), len(older))


def when_refused(messages: Sequence[Message]) -> tuple[Message, ...] | None:
    """What is sent when the service found the messages too long; None: nothing is to gain.

    Old results are cut first; where that is little, older turns are left out too.
    """
    whole = total_tokens(messages)
    shorter = tuple(compact(messages) or messages)
    if total_tokens(shorter) > REFUSED_SHARE * whole:
        window = Window(max(SMALLEST_WINDOW, int(REFUSED_SHARE * whole)))
        shorter = window.in_a_run(shorter) or shorter
    return None if shorter == tuple(messages) else shorter


def summary_of(messages: Sequence[Message]) -> Summary:
    """The summary that a conversation has; an empty one where it has none."""
    found = [summary_in(text_of(message)) for message in messages if is_summary(message)]
    return found[-1] if found else Summary()


def with_summary(messages: Sequence[Message], summary: Summary) -> list[Message]:
    """The conversation with this summary in place of the one it has; an empty one is left out."""
    rest = [message for message in messages if not is_summary(message)]
    if not summary.text.strip():
        return rest
    first = next((i for i, m in enumerate(rest) if not isinstance(m, SystemMessage)), len(rest))
    return [*rest[:first], summary.message(), *rest[first:]]


def _newest(turns: Sequence[tuple[Message, ...]], room: int) -> tuple[tuple[Message, ...], ...]:
    """As many of the newest turns as there is room for, at least one."""
    size, start = 0, len(turns)
    while start > 0:
        size += total_tokens(turns[start - 1])
        if size > room and start < len(turns):
            break
        start -= 1
    return tuple(turns[start:])


def _joined(parts: Turns) -> list[Message]:
    return [*parts.head, *(message for turn in parts.turns for message in turn)]


def _cut_to(messages: list[Message], room: int) -> list[Message]:
    """The messages with the longest ones cut in the middle until all fit."""
    cut = list(messages)
    while (size := total_tokens(cut)) > room:
        longest = max(range(len(cut)), key=lambda place: _can_lose(cut[place]))
        own = message_tokens(cut[longest])
        if _can_lose(cut[longest]) == 0:
            break
        shorter = _shortened(cut[longest], max(SMALLEST_CUT_TOKENS, own - (size - room), own // 2))
        if message_tokens(shorter) >= own:
            break
        cut[longest] = shorter
    return cut


def _can_lose(message: Message) -> int:
    if isinstance(message, SystemMessage) or is_summary(message):
        return 0
    return max(0, message_tokens(message) - SMALLEST_CUT_TOKENS)


def _shortened(message: Message, tokens: int) -> Message:
    if isinstance(message, AssistantMessage):
        return replace(message, text=shorten(message.text, tokens, "").text)
    assert not isinstance(message, SystemMessage)
    return replace(message, parts=(TextPart(shorten(text_of(message), tokens, "").text),))
