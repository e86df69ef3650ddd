"""Long messages cut in the middle, those that matter most at last."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from cellwright.context.sizes import message_tokens, total_tokens
from cellwright.context.summary import is_summary
from cellwright.record.messages import AssistantMessage, Message, SystemMessage, TextPart, text_of
from cellwright.text.truncation import shorten

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
