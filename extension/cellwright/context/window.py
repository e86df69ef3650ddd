"""Keeps a conversation within a number of tokens, in rare big steps.

What is recent always stays whole. Older turns are left out together and a summary stands for
them, so that the provider's prompt cache is broken once and not every turn (experience.md, C3).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cellwright.context.assemble import PROJECT_MARK
from cellwright.context.pins import (
    PINNED_TOKENS,
    PinnedConversation,
    PinnedTurn,
    left_of_pinned,
    pinned_within,
    said_in,
)
from cellwright.context.turns import (
    PICTURE_TOKENS,
    HistorySummary,
    is_summary,
    message_tokens,
    opening_of,
    pinned_run,
    question_of,
    summary_in,
    total_tokens,
)
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.text.truncation import estimate_tokens, shorten

# Making a conversation shorter, in rare big steps, when the model's window is full.


KEPT_RESULTS = 2
STUB_CHARACTERS = 200
NEWEST_CHARACTERS = 4_000


def compact(messages: Sequence[Message]) -> list[Message] | None:
    """The messages with old tool results cut to their first line, or None when nothing is to gain.

    The newest two results keep up to 4,000 characters. One pass, so that the prompt cache is
    broken once and not every turn (experience.md, C3).
    """
    positions = [i for i, message in enumerate(messages) if isinstance(message, ToolMessage)]
    recent = set(positions[-KEPT_RESULTS:])
    shorter = [
        _cut(message, NEWEST_CHARACTERS if index in recent else STUB_CHARACTERS)
        for index, message in enumerate(messages)
    ]
    return None if shorter == list(messages) else shorter


def _cut(message: Message, limit: int) -> Message:
    if not isinstance(message, ToolMessage):
        return message
    text = text_of(message)
    has_picture = any(not isinstance(part, TextPart) for part in message.parts)
    if len(text) <= limit and not has_picture:
        return message
    kept = text if len(text) <= limit else f"{text[:limit]} [… cut to make room]"
    return replace(message, parts=(TextPart(kept),))


# Long messages cut in the middle, those that matter most at last.


SMALLEST_CUT_TOKENS = 250
NOTICE_TOKENS = 20
"""What a text that is cut has to say so."""


def cut_to(
    messages: Sequence[Message], room: int, dear: Sequence[Collection[int]]
) -> list[Message]:
    """The messages with the longest ones cut in the middle until all fit.

    Args:
        messages: What was said.
        room: For how many tokens.
        dear: Messages, by identity, that are not touched as long as that is enough; then those
            of them that still are not, and so on.
    """
    cut = list(messages)
    for kept in dear:
        places = [place for place, message in enumerate(messages) if id(message) not in kept]
        while places and (size := total_tokens(cut)) > room:
            longest = max(places, key=lambda place: _can_lose(cut[place]))
            own = message_tokens(cut[longest])
            if _can_lose(cut[longest]) == 0:
                break
            fitting = own - (size - room) - NOTICE_TOKENS
            # Cut from the whole, so that the notice counts all that is left out.
            shorter = _shortened(messages[longest], max(SMALLEST_CUT_TOKENS, fitting, own // 2))
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


WINDOW_TOKENS = 60_000
"""Models get worse with length long before their window is full (experience.md, C1)."""
WINDOW_SHARE = 0.75
"""Of the model's own window; the rest is for its answer and what is counted wrong."""
SMALLEST_WINDOW = 400
START_SHARE = 0.8
"""A run begins in at most so much of the window, so that there is room for its steps."""
KEPT_SHARE = 0.3
"""What is left after older turns are left out."""
SUMMARY_SHARE = 0.12
PINNED_SHARE = 0.25
"""Pinned turns have at most so much of a small window."""
REFUSED_SHARE = 0.7


SMALL_WINDOW_TOKENS = 8_192
TINY_WINDOW_TOKENS = 4_096


def is_small(context_tokens: int | None) -> bool:
    """Whether a model has so little room that it is given few tools and short instructions."""
    return context_tokens is not None and context_tokens <= SMALL_WINDOW_TOKENS


def sent_at_most(context_tokens: int | None) -> int:
    """How many tokens a request may have, tools and all.

    Args:
        context_tokens: The model's own window; None: it is not known.
    """
    if context_tokens is None:
        return WINDOW_TOKENS
    return min(WINDOW_TOKENS, int(context_tokens * WINDOW_SHARE))


@dataclass(frozen=True)
class Fitted:
    """A conversation that fits."""

    messages: tuple[Message, ...]
    summary: str
    """What stands for the turns that are left out; empty: none are."""
    turns_left_out: int = 0
    """How many of them this step left out."""
    brought_back: bool = False
    """Whether a pinned turn that had been left out is there again."""


@dataclass(frozen=True)
class Window:
    """How much may be sent.

    Args:
        limit_tokens: Of messages, as they are estimated here.
        pinned: Turns whose words stay, in the order of the chat.
        other_tokens: What is sent beside messages, such as tools.
    """

    limit_tokens: int = WINDOW_TOKENS
    pinned: tuple[PinnedTurn, ...] = ()
    other_tokens: int = 0

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
        whole = sent_at_most(context_tokens)
        messages = int(whole / max(1.0, counted_per_estimated)) - other_tokens
        return cls(max(SMALLEST_WINDOW, messages), other_tokens=other_tokens)

    def narrowed(self, context_tokens: int | None, counted_per_estimated: float) -> Window:
        """The window by what was learned since; never a larger one."""
        known = Window.of(
            context_tokens,
            other_tokens=self.other_tokens,
            counted_per_estimated=counted_per_estimated,
        )
        return replace(self, limit_tokens=min(self.limit_tokens, known.limit_tokens))

    def before_a_run(self, messages: Sequence[Message], question_tokens: int = 0) -> Fitted | None:
        """What is left of the history when a question comes; None: all of it.

        A pinned turn that had been left out comes back.
        """
        room = int(self.limit_tokens * START_SHARE) - question_tokens
        if total_tokens(messages) > room:
            return self._fitted(messages, room)
        if not self.pinned:
            return None
        said = said_in(messages, self.pinned)
        if not said.missing:
            return None
        whole = self._kept(messages, said, len(said.turns))
        return whole if total_tokens(whole.messages) <= room else self._fitted(messages, room)

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

    @property
    def _pins(self) -> tuple[PinnedTurn, ...]:
        return pinned_within(self.pinned, min(PINNED_TOKENS, int(self.limit_tokens * PINNED_SHARE)))

    def _fitted(self, messages: Sequence[Message], room: int, *, may_cut: bool = True) -> Fitted:
        said = said_in(messages, self.pinned)
        free = room - sum(turn.tokens for turn in self._pins)
        count = len(_newest(said.turns, int(min(free, self.limit_tokens * KEPT_SHARE))))
        fitted = self._kept(messages, said, count)
        shorter: Sequence[Message] = fitted.messages
        if total_tokens(shorter) > room:
            shorter = compact(shorter) or shorter
        if may_cut:
            shorter = cut_to(shorter, room, _dear(said_in(shorter, self.pinned), shorter))
        return replace(fitted, messages=tuple(shorter))

    def _kept(self, messages: Sequence[Message], said: PinnedConversation, count: int) -> Fitted:
        """The newest turns, after the words of pinned ones and what stands for all others."""
        first = len(said.turns) - count
        there = {turn.run_id for place, turn in said.pinned_at.items() if place >= first}
        placed = [turn for turn in self._pins if turn.run_id not in there]
        older = [
            _beside(turn, said.pinned_at[place]) if place in said.pinned_at else turn
            for place, turn in enumerate(said.turns[:first])
        ]
        summary = summary_of(messages)
        for turn in said.missing:
            summary = summary.without(turn.asked)
        summary = summary.with_turns([*said.let_go, *older], int(self.limit_tokens * SUMMARY_SHARE))
        words = [message for turn in placed for message in turn.messages]
        newest = [message for turn in said.turns[first:] for message in turn]
        left = with_summary([*said.head, *words, *newest], summary)
        return Fitted(tuple(left), summary.text.strip(), first, bool(said.missing))


def when_refused(
    messages: Sequence[Message], window: Window | None = None
) -> tuple[Message, ...] | None:
    """What is sent when the service found the messages too long; None: nothing is to gain.

    Old results are cut first; where that is little, older turns are left out too.

    Args:
        messages: What was sent.
        window: Knows what is pinned; None: nothing is.
    """
    window = window or Window()
    limit = min(int(REFUSED_SHARE * total_tokens(messages)), window.limit_tokens)
    shorter = tuple(compact(messages) or messages)
    if total_tokens(shorter) > limit:
        tight = replace(window, limit_tokens=max(SMALLEST_WINDOW, limit))
        shorter = tight.in_a_run(shorter) or shorter
    return None if shorter == tuple(messages) else shorter


def describe_shortening(before: Sequence[Message], after: Sequence[Message]) -> str:
    """What was cut of a conversation so that it fits, for the person."""
    kept = {id(message) for message in after}
    lost = [message for message in before if id(message) not in kept]
    asked = [m for m in before if isinstance(m, UserMessage) and m.sent_as != "user_hide"][-1:]
    said = []
    if len(after) < len(before):
        said.append("older turns are summed up")
    calls = {message.call_id for message in after if isinstance(message, ToolMessage)}
    if any(isinstance(message, ToolMessage) and message.call_id in calls for message in lost):
        said.append("older results were cut")
    if any(message is asked[0] for message in lost if asked):
        said.append("the middle of your question was left out")
    elif not said:
        said.append("the longest messages were cut")
    return f"The conversation was too long for the model: {', '.join(said)}."


def summary_of(messages: Sequence[Message]) -> HistorySummary:
    """The summary that a conversation has; an empty one where it has none."""
    found = [summary_in(text_of(message)) for message in messages if is_summary(message)]
    return found[-1] if found else HistorySummary()


def with_summary(messages: Sequence[Message], summary: HistorySummary) -> list[Message]:
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


def _beside(turn: Sequence[Message], pinned: PinnedTurn) -> tuple[Message, ...]:
    """What a pinned turn has beside its own question: notes that went with it."""
    people = (m for m in turn if isinstance(m, UserMessage) and m.sent_as != "user_hide")
    return tuple(message for message in people if opening_of(message) != pinned.opening)


def _dear(said: PinnedConversation, messages: Sequence[Message]) -> tuple[Collection[int], ...]:
    """Messages, by identity, that are cut when all others were: first these, then those.

    The question that is answered is cut before the words of what is pinned.
    """
    in_full = [turn for place, turn in enumerate(said.turns) if place in said.pinned_at]
    pinned = {id(message) for turn in in_full for message in (_question(turn), turn[-1])}
    pinned |= {id(message) for message in left_of_pinned(messages)}
    asked = {id(_question(turn)) for turn in said.turns[-1:]}
    return asked | pinned, pinned, ()


def _question(turn: Sequence[Message]) -> Message:
    """The last of what the person said before the model did."""
    people = [m for m in turn if isinstance(m, UserMessage) and m.sent_as != "user_hide"]
    return people[-1] if people else turn[0]


# What is in the context, part by part, and about how many tokens each part costs.


PARTS = (
    "instructions",
    "tools",
    "summary of earlier turns",
    "pinned",
    "questions",
    "project instructions",
    "put beside questions",
    "answers",
    "calls",
    "results",
    "pictures",
)
"""In the order in which they are told."""
PROJECT_BLOCK = re.compile(rf"^{re.escape(PROJECT_MARK)}.*\n(?:  .*\n)*", re.MULTILINE)
"""Quoted text is set in by two spaces."""


@dataclass(frozen=True)
class ContextPart:
    """One part of what the next request begins with."""

    name: str
    pieces: int
    tokens: int


def context_parts(
    messages: Iterable[Message], tools: Sequence[Manifest] = ()
) -> tuple[ContextPart, ...]:
    """The parts that there are, in the order of ``PARTS``."""
    tokens: Counter[str] = Counter()
    pieces: Counter[str] = Counter()
    found = [*_of_tools(tools), *_of_all(messages)]
    for part in found:
        tokens[part.name] += part.tokens
        pieces[part.name] += part.pieces
    return tuple(ContextPart(name, pieces[name], tokens[name]) for name in PARTS if pieces[name])


def _of_tools(tools: Sequence[Manifest]) -> Iterator[ContextPart]:
    for tool in tools:
        text = f"{tool.name}{tool.description}{dict(tool.parameters)}"
        yield ContextPart("tools", 1, estimate_tokens(text))


def _of_all(messages: Iterable[Message]) -> Iterator[ContextPart]:
    is_after_pinned = False
    for message in messages:
        if pinned_run(message):
            yield ContextPart("pinned", 1, message_tokens(message))
        elif is_after_pinned and isinstance(message, AssistantMessage) and not message.tool_calls:
            yield ContextPart("pinned", 0, message_tokens(message))
        else:
            yield from _of(message)
        is_after_pinned = bool(pinned_run(message))


def _of(message: Message) -> Iterator[ContextPart]:
    whole = message_tokens(message)
    if isinstance(message, SystemMessage):
        yield ContextPart("instructions", 1, whole)
        return
    if isinstance(message, AssistantMessage):
        yield from _said(message, whole)
        return
    pictures = sum(isinstance(part, ImagePart) for part in message.parts)
    if pictures:
        yield ContextPart("pictures", pictures, pictures * PICTURE_TOKENS)
    rest = whole - pictures * PICTURE_TOKENS
    if isinstance(message, ToolMessage):
        yield ContextPart("results", 1, rest)
    elif is_summary(message):
        yield ContextPart("summary of earlier turns", 1, rest)
    else:
        text = text_of(message)
        beside = estimate_tokens(text) - estimate_tokens(question_of(message))
        yield ContextPart("questions", 1, rest - beside)
        told = PROJECT_BLOCK.findall(text) if beside > 0 else []
        of_project = min(beside, sum(map(estimate_tokens, told)))
        if told:
            yield ContextPart("project instructions", len(told), of_project)
        if beside > of_project:
            yield ContextPart("put beside questions", 1, beside - of_project)


def _said(message: AssistantMessage, whole: int) -> Iterator[ContextPart]:
    called = sum(estimate_tokens(call.name + call.arguments) for call in message.tool_calls)
    if message.tool_calls:
        yield ContextPart("calls", len(message.tool_calls), called)
    if message.text or not message.tool_calls:
        yield ContextPart("answers", 1, whole - called)
