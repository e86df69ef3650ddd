"""Thinking that a model writes into its text, told apart from the answer as it streams."""

from __future__ import annotations

from dataclasses import dataclass

OPENING = "<think>"
CLOSING = "</think>"


@dataclass(frozen=True)
class Said:
    """More of the answer, more of the thinking."""

    text: str = ""
    reasoning: str = ""

    def __add__(self, other: Said) -> Said:
        return Said(self.text + other.text, self.reasoning + other.reasoning)


class ThinkingFilter:
    """Takes ``<think>…</think>`` off the start of a reply.

    Only the start counts, so that an answer about such tags stays whole. What could still become
    a tag is held back until it is clear.
    """

    def __init__(self) -> None:
        self._held = ""
        self._phase = "start"
        self._thought = False

    def feed(self, text: str) -> Said:
        """What is clear now."""
        self._held += text
        said = Said()
        while True:
            phase = self._phase
            said += self._step()
            if self._phase == phase:
                return said

    def end(self) -> Said:
        """What was held back; a thought that never ended stays a thought."""
        held, self._held = self._held, ""
        return Said(reasoning=held) if self._phase == "thinking" else Said(held)

    def _step(self) -> Said:
        if self._phase == "start":
            return self._at_start()
        if self._phase == "thinking":
            return self._inside()
        text, self._held = self._held, ""
        return Said(text)

    def _at_start(self) -> Said:
        start = self._held.lstrip()
        if start.startswith(OPENING):
            self._phase, self._held = "thinking", start.removeprefix(OPENING)
            self._thought = True
        elif not OPENING.startswith(start):
            self._phase = "answer"
            # The blank lines between a thought and the answer belong to neither.
            self._held = start if self._thought else self._held
        return Said()

    def _inside(self) -> Said:
        thought, closing, rest = self._held.partition(CLOSING)
        if closing:
            self._phase, self._held = "start", rest
            return Said(reasoning=thought)
        kept = _possible_tag(self._held)
        thought = self._held[: len(self._held) - kept]
        self._held = self._held[len(thought) :]
        return Said(reasoning=thought)


def _possible_tag(text: str) -> int:
    """How many characters at the end could be the beginning of the closing tag."""
    sizes = range(min(len(text), len(CLOSING) - 1), 0, -1)
    return next((size for size in sizes if CLOSING.startswith(text[-size:])), 0)
