"""A conversation as its turns: each begins with the person's words and holds what came of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cellwright.record.messages import Message, SystemMessage, ToolMessage, UserMessage, text_of

BLOCK_STARTS = ("\n\n<files>\n", "\n\n<context>\n", "\n\n<variables>\n", "\n\n<notebook-state>\n")
PINNED = re.compile(r"\[pinned turn, run ([\w.-]+)\]\n")


@dataclass(frozen=True)
class Turns:
    """The parts of a conversation."""

    head: tuple[Message, ...]
    """The instructions, wherever they were given."""
    turns: tuple[tuple[Message, ...], ...]
    """What was said; no call stands in another turn than its result."""


def split_turns(messages: Iterable[Message]) -> Turns:
    """The messages as turns."""
    head: list[Message] = []
    turns: list[list[Message]] = []
    is_open = False
    for message in messages:
        if isinstance(message, SystemMessage):
            head.append(message)
            continue
        # what the loop itself says belongs to the question it is about
        asks = isinstance(message, UserMessage) and message.sent_as != "user_hide"
        if (asks and not is_open) or not turns:
            turns.append([])
        # notes, files and the question that follow each other are one turn
        is_open = isinstance(message, UserMessage)
        turns[-1].append(message)
    return Turns(tuple(head), tuple(map(tuple, _with_late_results(turns))))


def question_of(message: Message) -> str:
    """What the person wrote, without what was put beside it."""
    text, run_id = text_of(message), pinned_run(message)
    text = text.removeprefix(pinned_mark(run_id)) if run_id else text
    ends = [place for mark in BLOCK_STARTS if (place := text.find(mark)) >= 0]
    return text[: min(ends)].strip() if ends else text.strip()


def pinned_mark(run_id: str) -> str:
    """What the question of a pinned turn begins with where only its words are left."""
    return f"[pinned turn, run {run_id}]\n"


def pinned_run(message: Message) -> str:
    """The run whose question stands here because it is pinned; empty: it is no such message."""
    if not isinstance(message, UserMessage):
        return ""
    found = PINNED.match(text_of(message))
    return found[1] if found else ""


def opening_of(message: Message) -> str:
    """What a turn is known by: a hash of its question as it was sent."""
    return hashlib.sha256(text_of(message).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def openings(messages: Iterable[Message]) -> frozenset[str]:
    """Those of the turns that begin in these messages."""
    return frozenset(opening_of(m) for m in messages if isinstance(m, UserMessage))


def _with_late_results(turns: Sequence[list[Message]]) -> list[list[Message]]:
    """A turn that begins with a late result belongs to the one with its call."""
    joined: list[list[Message]] = []
    for turn in turns:
        late = any(isinstance(message, ToolMessage) for message in turn) and _starts_late(turn)
        if late and joined:
            joined[-1] += turn
        else:
            joined.append(turn)
    return joined


def _starts_late(turn: Sequence[Message]) -> bool:
    """Whether a result stands before the first words of the model."""
    first = next((m for m in turn if not isinstance(m, UserMessage)), None)
    return isinstance(first, ToolMessage)
