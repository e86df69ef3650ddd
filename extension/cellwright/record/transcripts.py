"""The whole conversation of a run, put together from what each request added to it."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.record.messages import AssistantMessage, Message, ToolMessage


class Transcript:
    """Takes requests, pieces of replies, replies and tool results, in order.

    A request carries what the history grew by since the last one, the last reply and its tool
    results included; so these count only as long as no request has repeated them.
    """

    def __init__(self) -> None:
        self.replaced_at: list[int] = []
        """Where a request brought a whole new history."""
        self._asked: list[Message] = []
        self._since: list[Message] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []

    def asked(self, messages: Iterable[Message], *, replaces_history: bool) -> None:
        """A request went out."""
        self.forget_partial()
        if replaces_history:
            self._asked += self._since
            self.replaced_at.append(len(self._asked))
            messages = _without(messages, self._asked)
        else:
            messages = tuple(messages)
            self._asked += _without(self._since, messages)
        self._asked += messages
        self._since = []

    def streamed(self, *, text: str = "", reasoning: str = "") -> None:
        """A piece of a reply came."""
        self._text.append(text)
        self._reasoning.append(reasoning)

    def forget_partial(self) -> None:
        """The pieces since the last request are void."""
        self._text = []
        self._reasoning = []

    def said(self, message: Message) -> None:
        """A whole reply or a tool result came."""
        self.forget_partial()
        self._since.append(message)

    def messages(self) -> tuple[Message, ...]:
        """Everything so far; a reply that broke off is the last message."""
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        partial = [AssistantMessage(text, reasoning=reasoning)] if text or reasoning else []
        return (*self._asked, *self._since, *partial)


def _without(messages: Iterable[Message], known: Iterable[Message]) -> list[Message]:
    identities = {_identity(message) for message in known}
    return [message for message in messages if _identity(message) not in identities]


def _identity(message: Message) -> object:
    # A tool result that was cut to make room is still the result of its call.
    return message.call_id if isinstance(message, ToolMessage) else message
