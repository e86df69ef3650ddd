"""The answers of a recorded run, given again in their order."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from cellwright.errors import LMError, RunCancelled
from cellwright.llm import Capabilities, LMEvent
from cellwright.record.events import ReasoningDelta, TextDelta
from cellwright.record.messages import Prompt, Reply
from cellwright.stopping import Stop


class RecordedLimitError(LMError):
    """The recorded run reached a limit here, which its replay need not reach.

    Args:
        reason: In its words.
        cause: Which limit it was.
    """

    def __init__(self, reason: str, cause: str) -> None:
        super().__init__(reason)
        self.cause = cause


class ReplayLM:
    """Answers each request with the next recorded reply, whatever is asked.

    Args:
        replies: The recorded replies, oldest first.
        ending: Raised when one more is asked for: how the recorded run broke off. Without it the
            replay went another way than the record.
    """

    def __init__(
        self, replies: Sequence[Reply], ending: LMError | RunCancelled | None = None
    ) -> None:
        self._replies = tuple(replies)
        self._ending = ending
        self._given = 0

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        """Yield the next reply's text at once and return the reply.

        Raises:
            LMError: The record has no more replies.
            RunCancelled: ``stop`` was set, or the recorded run was stopped here.
        """
        stop.check()
        if self._given == len(self._replies):
            if self._ending is not None:
                raise self._ending
            raise LMError(
                f"The recorded run has {len(self._replies)} replies and one more is asked for.",
                hint="The run went another way this time; run it again with a model.",
            )
        reply = self._replies[self._given]
        self._given += 1
        if reply.message.reasoning:
            yield ReasoningDelta(reply.message.reasoning)
        if reply.message.text:
            yield TextDelta(reply.message.text)
        return reply

    def capabilities(self, model: str) -> Capabilities:
        """Everything: what was recorded was possible."""
        return Capabilities(vision=True)
