"""How a conversation is put on the wire and how a reply is read: ``format`` and ``parse``.

Siblings: ``native`` (tools as native function calls). More styles come as more siblings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cellwright.messages import Message, ToolCall
from cellwright.prompts import Manifest, Parameters, Prompt, Reply

__all__ = ["Adapter", "ParsedCall", "ParsedReply"]


@dataclass(frozen=True)
class ParsedCall:
    """A call with its arguments read, or the reason they could not be."""

    call: ToolCall
    arguments: Mapping[str, Any]
    error: str = ""
    """For the model: what is wrong with the arguments and where."""


@dataclass(frozen=True)
class ParsedReply:
    """A reply taken apart."""

    text: str
    calls: tuple[ParsedCall, ...]
    problem: str = ""
    """Set when the reply is of no use: ``empty``, ``refused``, ``tool call as text``."""


class Adapter(Protocol):
    """One way to talk with a model."""

    def format(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history."""
        ...

    def parse(self, reply: Reply, tools: tuple[Manifest, ...]) -> ParsedReply:
        """What the reply says and asks for."""
        ...
