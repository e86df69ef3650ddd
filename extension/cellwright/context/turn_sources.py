"""What is looked up for a question before the model is asked: memories, documents, notes.

A source gives blocks for the end of the newest user message and tools for the whole conversation.
It never changes the head of the prompt, so what a provider has cached stays so (experience.md, C4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from cellwright.assistants import NO_ASSISTANT, Assistant
from cellwright.context.assemble import Quoted
from cellwright.errors import CellwrightError
from cellwright.record.events import Notice
from cellwright.stopping import Stop
from cellwright.tools import Component
from cellwright.tools.registry import ToolSource


def _nothing() -> str:
    return ""


@dataclass(frozen=True)
class SourceQuestion:
    """The question a source looks something up for."""

    prompt: str
    """As the person wrote it, keys taken out."""
    chat_id: str
    """The chat, or the first run of a conversation that has none."""
    run_id: str = ""
    user_id: str = ""
    """Who asks; empty: whoever uses this machine."""
    is_guest: bool = False
    """Whoever asks is not the person whose store this is: no memory, nothing that is not public."""
    assistant: Assistant = NO_ASSISTANT
    folder: str = ""
    """The kernel's."""
    last_error: str = ""
    """The person's last cell failed with it."""
    variables: tuple[str, ...] = ()
    """Names in the kernel, those that changed since the last turn."""
    types: tuple[str, ...] = ()
    """Of all variables in the kernel."""
    imports: tuple[str, ...] = ()
    """Packages that cells of the kernel have imported; looked up where scenes ask for it."""
    last_answer: str = ""
    """What the model said last in this conversation."""
    stop: Stop = field(default_factory=Stop)
    """Ends what takes long."""
    said: Callable[[], str] = _nothing
    """All that the model is still told of what was said before."""


@dataclass(frozen=True)
class RetrievalResult:
    """What the sources have for one question."""

    blocks: tuple[Quoted, ...] = ()
    notices: tuple[str | Notice, ...] = ()
    """What the person should know, such as which scene was chosen."""
    problems: tuple[str, ...] = ()
    """What could not be looked up, and why."""


class TurnSource(Protocol):
    """Something that has more to say to a question."""

    @property
    def name(self) -> str:
        """What it is called where it fails, such as ``memory``."""
        ...

    def components(self) -> tuple[Component, ...]:
        """Its tools; the same ones for a whole conversation."""
        ...

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """What it has for this question, within 50 ms; asking a model takes longer."""
        ...


@runtime_checkable
class RunTools(Protocol):
    """A source whose tools have to know whose run they serve."""

    def begin(self, turn: SourceQuestion) -> None:
        """Note who asks and what they may see; ``look_up`` does it by itself.

        It is for a question to which nothing is added: one that an agent of others stands behind,
        or one that is asked as it once was.
        """
        ...


@runtime_checkable
class ToolSources(Protocol):
    """A source whose tools come from several places, each with a limit of its own."""

    def tool_sources(self, *, is_guest: bool = False) -> tuple[ToolSource, ...]:
        """Its tools by place, for whoever asks."""
        ...


def tools_of(sources: Iterable[TurnSource], *, is_guest: bool = False) -> tuple[ToolSource, ...]:
    """The tools of all sources."""
    found: list[ToolSource] = []
    for source in sources:
        if isinstance(source, ToolSources):
            found += source.tool_sources(is_guest=is_guest)
        else:
            found.append(ToolSource(source.name, source.components()))
    return tuple(found)


def looked_up(
    sources: Iterable[TurnSource], turn: SourceQuestion, *, adds_nothing: bool = False
) -> RetrievalResult:
    """What all sources have, in their order; one that fails is told and left out.

    Args:
        sources: Asked in this order.
        turn: The question.
        adds_nothing: It is asked as it is; only the sources' tools have to know whom they serve.
    """
    blocks: list[Quoted] = []
    notices: list[str | Notice] = []
    problems: list[str] = []
    for source in sources:
        try:
            if adds_nothing:
                if isinstance(source, RunTools):
                    source.begin(turn)
                continue
            found = source.look_up(turn)
        except (CellwrightError, OSError) as error:
            problems.append(f"{source.name}: {error}")
            continue
        blocks += found.blocks
        notices += found.notices
        problems += found.problems
    return RetrievalResult(tuple(blocks), tuple(notices), tuple(problems))


def notices_of(found: RetrievalResult) -> tuple[Notice, ...]:
    """What the person is told of it."""
    told = [
        item if isinstance(item, Notice) else Notice("info", item, code="looked_up")
        for item in found.notices
    ]
    failed = [Notice("warning", text, code="not_looked_up") for text in found.problems]
    return (*told, *failed)
