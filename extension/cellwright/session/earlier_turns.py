"""What a conversation keeps of its earlier turns: those in the window, a summary, and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cellwright.agent.loop import History
from cellwright.context.assemble import Quoted
from cellwright.context.blocks import MemoryBlocks, block_of
from cellwright.context.pins import PinnedTurn
from cellwright.context.turn_sources import RetrievalResult
from cellwright.context.turns import opening_of, openings, total_tokens
from cellwright.context.window import Window, summary_of
from cellwright.llm import Capabilities
from cellwright.llm.prompt_size import estimated_prompt_tokens
from cellwright.record.events import Event, HistoryCompacted, Notice
from cellwright.record.messages import Manifest, Message, Parameters, Prompt, text_of
from cellwright.record.run_record import RunRecord
from cellwright.session.questions import RunContext, RunRequest
from cellwright.text.truncation import estimate_tokens, shorten

LABEL = "earlier in this chat, run "
RECALLED_TOKENS = 4_000
"""What turns of long ago may take beside a question, all together."""
MADE_ROOM = "The conversation had grown long: its older turns are summed up for the model now."
BROUGHT_BACK = "Pinned words that had been left out are in the conversation again."
HOW_TO_READ = "%agent context summary shows what stands for them."


class EarlierTurns:
    """The earlier turns of one conversation.

    A question that is asked as it was once sent is left as it is.

    Args:
        history: What was said; made shorter here, in rare big steps.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._own_shelf = MemoryBlocks()
        self._opening = ""
        self.pinned: tuple[PinnedTurn, ...] = ()
        """Turns whose words stay, in the order of the chat."""

    @property
    def counted_per_estimated(self) -> float:
        """How many tokens the service counts for one that is estimated here."""
        return self._history.counted_per_estimated

    def window(
        self, question: RunRequest, able: Capabilities, tools: Sequence[Manifest]
    ) -> Window | None:
        """How much of the conversation a model is sent beside these tools; None: all of it."""
        if question.message is not None:
            return None
        window = Window.of(
            able.context_tokens,
            other_tokens=estimated_prompt_tokens(Prompt((), tuple(tools), Parameters(""))),
            counted_per_estimated=self.counted_per_estimated,
        )
        return replace(window, pinned=self.pinned)

    def make_room(
        self, question: RunRequest, able: Capabilities, tools: Sequence[Manifest]
    ) -> tuple[Event, ...]:
        """Leave out older turns where a question would not fit any more; what is told of it.

        A pinned turn that had been left out comes back.
        """
        messages = self._history.messages
        self._history.asked = 0
        window = self.window(question, able, tools)
        quoted = sum(estimate_tokens(item.text) for item in question.context)
        asked = estimate_tokens(question.prompt) + quoted
        before = total_tokens(messages)
        fitted = window.before_a_run(messages, asked) if window is not None else None
        if fitted is None:
            return ()
        if not fitted.brought_back and total_tokens(fitted.messages) >= before:
            return ()
        messages[:] = fitted.messages
        # The record of the run begins with these, so its first request adds the question alone.
        self._history.asked = len(messages)
        factor, after = self.counted_per_estimated, total_tokens(messages)
        told = HistoryCompacted(
            fitted.messages, int(before * factor), int(after * factor), fitted.summary
        )
        if fitted.brought_back and not fitted.turns_left_out:
            return told, Notice("info", BROUGHT_BACK, code="pinned_back")
        return told, Notice("info", MADE_ROOM, HOW_TO_READ, "summed_up")

    def found(
        self, place: RunContext, chat_id: str, question: RunRequest, last_error: str
    ) -> RetrievalResult:
        """Turns that are like a question and no longer in the window, oldest first."""
        messages = self._history.messages
        if question.message is not None or not summary_of(messages).turns:
            return RetrievalResult()
        error = last_error.strip().rpartition("\n")[2]
        query = place.redactor.text(f"{question.prompt}\n{error}")
        shelf = place.blocks or self._own_shelf
        there = openings(messages) | {turn.opening for turn in self.pinned}
        recalled = shelf.find(chat_id, query, there)
        shown = "\n".join(text_of(message) for message in messages)
        new = [block for block in recalled.blocks if f"{LABEL}{block.run_id}" not in shown]
        room = RECALLED_TOKENS // max(1, len(new))
        blocks = (Quoted(f"{LABEL}{b.run_id}", shorten(b.text, room, "").text) for b in new)
        return RetrievalResult(tuple(blocks), problems=tuple(filter(None, (recalled.problem,))))

    def begins(self, question: Message) -> None:
        """Note the question that a run answers."""
        self._opening = opening_of(question)

    def keep(self, place: RunContext, chat_id: str, record: RunRecord) -> None:
        """Keep a run so that it can be found again."""
        block = block_of(record, self._opening)
        if block is not None:
            (place.blocks or self._own_shelf).keep(chat_id, block)
