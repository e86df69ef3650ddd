"""A conversation as its turns: what they cost, and the summary that stands for those left out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cellwright.context.assemble import harmless
from cellwright.llm.provider_items import sent_beside
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.text.truncation import estimate_tokens

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


# About how many tokens messages cost, by what they are made of.


PICTURE_TOKENS = 800
FRAME_TOKENS = 4
"""What a message costs beside its text."""


def message_tokens(message: Message) -> int:
    """About what one message costs."""
    tokens = FRAME_TOKENS + estimate_tokens(text_of(message))
    if isinstance(message, SystemMessage):
        return tokens
    if isinstance(message, AssistantMessage):
        written = (call.name + call.arguments for call in message.tool_calls)
        return tokens + sum(map(estimate_tokens, (*written, sent_beside(message))))
    return tokens + PICTURE_TOKENS * sum(isinstance(part, ImagePart) for part in message.parts)


def total_tokens(messages: Iterable[Message]) -> int:
    """About what messages cost together."""
    return sum(map(message_tokens, messages))


# What stands for turns that are no longer shown in full: text that a person can read and change.
#
# It is the person's data as much as the model's, so it never becomes part of the instructions.


TAG = "earlier-in-this-chat"
OPEN, CLOSE = f"<{TAG}>\n", f"\n</{TAG}>"
INTRODUCTION = (
    "Turns that are no longer shown in full, oldest first. Those that fit a question are shown "
    "beside it."
)
ASKED = "- asked: "
LEFT_OUT = re.compile(r"\((\d+) turns after the first are left out here\.\)")
QUESTION_CHARACTERS, ANSWER_CHARACTERS = 400, 240
SHORT_CHARACTERS = 120
CELLS_NAMED = 6
CELL_NAME = re.compile(r"^\[cell ([\w.-]+)\]", re.MULTILINE)


@dataclass(frozen=True)
class HistorySummary:
    """The parts of a summary."""

    words: str = ""
    """What the person wrote into it; kept as it is."""
    turns: tuple[str, ...] = ()
    """One line each, oldest first."""
    left_out: int = 0
    """How many turns after the first have no line any more."""

    @property
    def text(self) -> str:
        """As the person reads it."""
        gone = f"({self.left_out} turns after the first are left out here.)"
        turns = [*self.turns[:1], *([gone] if self.left_out else []), *self.turns[1:]]
        return "\n".join([*([self.words, ""] if self.words and turns else [self.words]), *turns])

    def message(self) -> UserMessage:
        """As the model reads it."""
        body = harmless(self.text.strip())
        return UserMessage((TextPart(f"{OPEN}{INTRODUCTION}\n{body}{CLOSE}"),), "user_later")

    def with_turns(self, turns: Sequence[Sequence[Message]], limit_tokens: int) -> HistorySummary:
        """With more turns, and older ones in fewer words where it gets too long."""
        grown = replace(self, turns=(*self.turns, *filter(None, map(line_of, turns))))
        return grown._within(limit_tokens)

    def without(self, question: str) -> HistorySummary:
        """Without the first line of a turn that was asked this."""
        asked = _cut(question, QUESTION_CHARACTERS)
        place = next((n for n, line in enumerate(self.turns) if _asks(line, asked)), None)
        if place is None:
            return self
        return replace(self, turns=(*self.turns[:place], *self.turns[place + 1 :]))

    def _within(self, limit_tokens: int) -> HistorySummary:
        lines = list(self.turns)
        size = sum(map(estimate_tokens, lines))
        for index, line in enumerate(lines):
            if size <= limit_tokens:
                break
            lines[index] = _cut(line, SHORT_CHARACTERS)
            size -= estimate_tokens(line) - estimate_tokens(lines[index])
        gone = 0
        # The first question says what the chat is about.
        while size > limit_tokens and len(lines) > 1 + gone:
            size -= estimate_tokens(lines[1 + gone])
            gone += 1
        kept = (*lines[:1], *lines[1 + gone :])
        return replace(self, turns=kept, left_out=self.left_out + gone)


def is_summary(message: Message) -> bool:
    """Whether a message stands for turns that are left out."""
    return isinstance(message, UserMessage) and text_of(message).startswith(OPEN)


def summary_in(text: str) -> HistorySummary:
    """The parts of a summary, from a message's text or as a person wrote it."""
    body = text.removeprefix(OPEN).removesuffix(CLOSE)
    words: list[str] = []
    turns: list[str] = []
    left_out = 0
    for line in body.splitlines():
        found = LEFT_OUT.fullmatch(line)
        if found:
            left_out += int(found[1])
        elif line.startswith(ASKED):
            turns.append(line)
        elif line != INTRODUCTION:
            words.append(line)
    return HistorySummary("\n".join(words).strip(), tuple(turns), left_out)


def line_of(turn: Sequence[Message]) -> str:
    """A turn in one line: what was asked, which cells ran, what was answered."""
    people = [m for m in turn if isinstance(m, UserMessage) and m.sent_as != "user_hide"]
    asked = " / ".join(filter(None, map(question_of, people)))
    if not asked:
        return ""
    results = [text_of(m) for m in turn if isinstance(m, ToolMessage)]
    cells = list(dict.fromkeys(name for text in results for name in CELL_NAME.findall(text)))
    said = [m.text for m in turn if isinstance(m, AssistantMessage) and m.text.strip()]
    line = ASKED + _cut(asked, QUESTION_CHARACTERS)
    if cells:
        line += f" | cells: {', '.join(cells[:CELLS_NAMED])}"
        line += f" and {len(cells) - CELLS_NAMED} more" if len(cells) > CELLS_NAMED else ""
    return line + (f" | answered: {_cut(said[-1], ANSWER_CHARACTERS)}" if said else "")


def _asks(line: str, asked: str) -> bool:
    """Whether a line, which may have been shortened, is of a turn that was asked this."""
    said = line.removeprefix(ASKED)
    if said == asked or said.startswith(f"{asked} | "):
        return True
    # notes stand before the question that took them along
    notes, parted, last = said.partition(" | ")[0].rpartition(" / ")
    if parted and last == asked:
        return True
    return said.endswith("…") and asked.startswith(said[:-1])


def _cut(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
