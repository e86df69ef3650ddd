"""How a conversation is put on the wire and how a reply is read: ``format`` and ``parse``.

``native`` sends tools as function calls. ``chat``, ``json`` and ``xml`` are a way of writing each,
for conversations with tools in words and for the fields of a signature (``signature_adapter``).
``chain`` goes from one to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cellwright.record.events import Notice
from cellwright.record.messages import Manifest, Message, Parameters, Prompt, Reply, ToolCall


@dataclass(frozen=True)
class ParsedCall:
    """A call with its arguments read, or the reason they could not be."""

    call: ToolCall
    arguments: Mapping[str, Any]
    error: str = ""
    """For the model: what is wrong with the arguments and where."""
    unreadable: bool = False
    """The arguments are no JSON at all, so that another way to write them may help."""


@dataclass(frozen=True)
class ParsedReply:
    """A reply taken apart."""

    text: str
    calls: tuple[ParsedCall, ...]
    problem: str = ""
    """Set when the reply is of no use: ``empty``, ``refused``, ``tool call as text``,
    ``unreadable``."""
    error: str = ""
    """For the model: why the reply is unreadable."""

    @property
    def is_unreadable(self) -> bool:
        """Whether another way of writing may help: the one reason to change it."""
        if self.calls:
            return all(parsed.unreadable for parsed in self.calls)
        return self.problem in ("tool call as text", "unreadable")


@dataclass(frozen=True)
class Recovery:
    """What is done about a reply that could not be read."""

    text: str
    """For the model."""
    notice: Notice
    """For the person and the record: another request goes out."""
    changes_adapter: bool = False


class ShownText(Protocol):
    """Takes a reply as it comes and hands on what the person sees of it."""

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        ...

    def finish(self) -> str:
        """What was held back, once the reply is whole."""
        ...


class Adapter(Protocol):
    """One way to talk with a model."""

    def format_prompt(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history."""
        ...

    def read(self, reply: Reply, tools: tuple[Manifest, ...]) -> Reply:
        """The reply with its calls taken out of its text, as it goes into the history."""
        return reply

    def parse_reply(self, reply: Reply, tools: tuple[Manifest, ...]) -> ParsedReply:
        """What the reply says and asks for."""
        ...

    def shown(self, tools: tuple[Manifest, ...]) -> ShownText | None:
        """What picks the words for the person out of a reply; None: all of it is for them."""
        return None

    def recover(self, parsed: ParsedReply) -> Recovery | None:
        """What is done about an unreadable reply; None: nothing is left to try."""
        return None

    def without_functions(self) -> Recovery | None:
        """What is done when the service takes no tools; None: nothing."""
        return None
