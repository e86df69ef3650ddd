"""Components that tests call, and the contexts they are called with."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

from fakes import make_context

from cellwright.record.content import ComponentOutput, for_model
from cellwright.record.messages import TextPart
from cellwright.tools import Component, ToolContext
from cellwright.tools.message import Message

__all__ = [
    "Both",
    "Colour",
    "Figureless",
    "OnlyRun",
    "Png",
    "component",
    "context_with",
    "generator",
    "iter_of",
    "pieces",
    "read",
    "said",
    "slowly",
]


class Colour(enum.Enum):
    """Colours."""

    RED = "red"
    BLUE = "blue"


def component(evaluate: Callable[..., Any], **attributes: Any) -> Component:
    """A component whose ``tool_eval`` is a function of its arguments, without ``self``."""

    class Sample(Component):
        name = "sample"

    for name, value in attributes.items():
        setattr(Sample, name, value)
    Sample.tool_eval = staticmethod(evaluate)
    return Sample()


def context_with(**changes: Any) -> ToolContext:
    """A context that differs from the usual one."""
    return replace(make_context(), **changes)


class OnlyRun(Component):
    """Has no ``tool_eval``."""

    name = "only_run"

    def run(self, message: Message[Any]) -> Message[Any]:
        """Say it twice."""
        return Message(f"{message.content['message']} " * 2)


class Both(Component):
    """Has both."""

    name = "both"

    def run(self, message: Message[Any]) -> Message[Any]:
        """Say it once."""
        return Message(f"run: {message.content}")

    def tool_eval(self, word: str) -> Iterator[str]:
        """Say it.

        Args:
            word: What is said.
        """
        yield f"eval: {word}"


class Figureless:
    """An object without any rich repr."""

    def __repr__(self) -> str:
        return "<nothing rich>"


class Png:
    """An object that shows itself as a picture of 2 by 1 pixels, and fails to as HTML."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        size = (2).to_bytes(4, "big") + (1).to_bytes(4, "big")
        return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + size + b"\x08\2\0\0\0", {}

    def _repr_html_(self) -> str:
        raise RuntimeError("broken")


async def slowly(word: str) -> str:
    """Say it after a moment."""
    await asyncio.sleep(0.01)
    return word


async def pieces(*words: str) -> AsyncIterator[str]:
    """Say one after another."""
    for word in words:
        await asyncio.sleep(0)
        yield word


def said(tool: Component, context: ToolContext | None = None, **arguments: Any) -> list[str]:
    """What the model reads of each output."""
    outputs = [o for o in tool.evaluate(context, **arguments) if isinstance(o, ComponentOutput)]
    return [read(output) for output in outputs if output.content]


def read(output: ComponentOutput) -> str:
    """What the model reads of an output; of pictures their MIME type."""
    parts = for_model(output.content)
    return "|".join(part.text if isinstance(part, TextPart) else part.mime for part in parts)


def generator() -> Iterator[str]:
    """Say two words."""
    yield "a"
    yield "b"


def iter_of(*items: Any) -> Iterator[Any]:
    """Say these."""
    yield from items
