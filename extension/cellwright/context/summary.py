"""What stands for turns that are no longer shown in full: text that a person can read and change.

It is the person's data as much as the model's, so it never becomes part of the instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cellwright.context.envelopes import harmless
from cellwright.context.sizes import text_tokens
from cellwright.context.turns import question_of
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)

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
class Summary:
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

    def with_turns(self, turns: Sequence[Sequence[Message]], limit_tokens: int) -> Summary:
        """With more turns, and older ones in fewer words where it gets too long."""
        grown = replace(self, turns=(*self.turns, *filter(None, map(line_of, turns))))
        return grown._within(limit_tokens)

    def without(self, question: str) -> Summary:
        """Without the first line of a turn that was asked this."""
        asked = _cut(question, QUESTION_CHARACTERS)
        place = next((n for n, line in enumerate(self.turns) if _asks(line, asked)), None)
        if place is None:
            return self
        return replace(self, turns=(*self.turns[:place], *self.turns[place + 1 :]))

    def _within(self, limit_tokens: int) -> Summary:
        lines = list(self.turns)
        size = sum(map(text_tokens, lines))
        for index, line in enumerate(lines):
            if size <= limit_tokens:
                break
            lines[index] = _cut(line, SHORT_CHARACTERS)
            size -= text_tokens(line) - text_tokens(lines[index])
        gone = 0
        # The first question says what the chat is about.
        while size > limit_tokens and len(lines) > 1 + gone:
            size -= text_tokens(lines[1 + gone])
            gone += 1
        kept = (*lines[:1], *lines[1 + gone :])
        return replace(self, turns=kept, left_out=self.left_out + gone)


def is_summary(message: Message) -> bool:
    """Whether a message stands for turns that are left out."""
    return isinstance(message, UserMessage) and text_of(message).startswith(OPEN)


def summary_in(text: str) -> Summary:
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
    return Summary("\n".join(words).strip(), tuple(turns), left_out)


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
