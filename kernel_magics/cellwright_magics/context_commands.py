"""``%agent context``, ``compact``, ``later``, ``prompt`` and so on: what the model is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cellwright.context.costs import ContextPart, context_parts
from cellwright.context.summary import summary_in
from cellwright.context.window import WINDOW_TOKENS, summary_of
from cellwright.errors import SetupError
from cellwright.record.events import HistoryCompacted
from cellwright.record.run_record import RunRecord
from cellwright.record.usage import Price, price_for
from cellwright.session.compacting import compaction_of, summary_changed
from cellwright.session.conversation import Conversation
from cellwright_magics.chat_words import ChatPrompt, ChatWords
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.reports import Advice, Table
from cellwright_magics.text_filters_command import filters_command

NOTES = {"later": "user_later", "system": "system"}
NOTHING_SAID = "Nothing was said in this conversation yet."
NO_SUMMARY = "Everything that was said is still in the context; there is no summary."
NOTHING_TO_GAIN = "There is nothing to make shorter in this conversation."
NOTED = {
    "later": "Noted. The next question takes it along.",
    "system": "Noted. It counts from the next question on, for this conversation.",
}


class ContextTable(Table):
    """What is in the context and about what it costs."""

    headings = ("part", "pieces", "tokens", "share")
    empty = NOTHING_SAID

    def __init__(self, parts: Sequence[ContextPart], factor: float, price: Price | None) -> None:
        self.parts = tuple(replace(part, tokens=round(part.tokens * factor)) for part in parts)
        self._price = price

    @property
    def tokens(self) -> int:
        """About what the next request costs before the question."""
        return sum(part.tokens for part in self.parts)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a part, then all of them."""
        whole = max(1, self.tokens)
        rows = [
            (part.name, f"{part.pieces:,}", f"{part.tokens:,}", f"{part.tokens / whole:.0%}")
            for part in self.parts
        ]
        return [*rows, ("all", "", f"{self.tokens:,}", self._dollars())] if rows else []

    def _dollars(self) -> str:
        if self._price is None:
            return f"of {WINDOW_TOKENS:,} at most"
        full = self.tokens * self._price.prompt / 1_000_000
        price = self._price.prompt if self._price.cached is None else self._price.cached
        return f"${full:.4f} a request, ${self.tokens * price / 1_000_000:.4f} when cached"


def changes_history(line: CommandLine) -> bool:
    """Whether a command changes what was said, so that it is recorded with the chat."""
    is_summary = line.name.startswith("context summary")
    says_more = line.name.endswith("clear") or bool(line.text) or line.body is not None
    return line.name == "compact" or (is_summary and says_more)


def context_command(line: CommandLine, conversation: Conversation, own: ChatWords) -> object:
    """Do what a line says.

    Args:
        line: The command; what stands below it in a cell may be the whole summary as it is to be.
        conversation: Whose context.
        own: The notes, instructions and text filters of the conversation.

    Raises:
        SetupError: It cannot be done.
    """
    match line.name:
        case "later" | "system":
            own.note(NOTES[line.name], _whole_text(line))
            return Advice(NOTED[line.name])
        case "prompt" | "prompt clear":
            return _prompt(line, own)
        case "compact":
            return _compact(conversation)
        case "context":
            return _table(conversation)
    if line.command.words[0] == "filters":
        return filters_command(line.words[1:], own)
    words = "clear" if line.name.endswith("clear") else line.text
    return _summary(words, line.body, conversation)


def _whole_text(line: CommandLine) -> str:
    """What stands on the line and below it."""
    return "\n".join(filter(None, (line.text, line.body)))


def _table(conversation: Conversation) -> ContextTable:
    parts = context_parts(conversation.messages, conversation.tools.manifests)
    if not conversation.messages:
        return ContextTable((), 1.0, None)
    price = price_for(_last(conversation).parameters.model, conversation.place.prices)
    return ContextTable(parts, conversation.earlier.counted_per_estimated, price)


def _summary(words: str, body: str | None, conversation: Conversation) -> Advice:
    now = summary_of(conversation.messages)
    if not words and body is None:
        return Advice(now.text.strip() or NO_SUMMARY)
    clean = conversation.place.redactor.text
    if body is not None:
        changed = summary_in(clean(body))
    else:
        changed = replace(now, words="" if words == "clear" else clean(words))
    last, messages = _last(conversation), conversation.messages
    conversation.take(summary_changed(last, messages, changed))
    return Advice(changed.text.strip() or "The summary is empty now.")


def _last(conversation: Conversation) -> RunRecord:
    if not conversation.last_run_id:
        raise SetupError(NOTHING_SAID, hint="Ask something first.")
    return conversation.place.store.record(conversation.last_run_id)


def _prompt(line: CommandLine, own: ChatWords) -> Advice:
    if line.name == "prompt clear":
        own.instruct(ChatPrompt())
        return Advice("This conversation has no words of its own any more.")
    text = _whole_text(line).strip()
    if not text:
        return Advice(own.prompt.text or "This conversation has no words of its own.")
    own.instruct(ChatPrompt(text, line.arguments.append))
    return Advice("Noted. It counts from the next question on, for this conversation.")


def _compact(conversation: Conversation) -> Advice:
    messages = conversation.messages
    last = _last(conversation)
    found = compaction_of(last, messages, pinned=conversation.earlier.pinned)
    if found is None:
        raise SetupError(NOTHING_TO_GAIN)
    conversation.take(found)
    told = next(event for event in found.events if isinstance(event, HistoryCompacted))
    sizes = f"about {told.tokens_before:,} tokens before, {told.tokens_after:,} now"
    return Advice(f"The conversation is shorter: {sizes}. %agent context summary shows the rest.")
