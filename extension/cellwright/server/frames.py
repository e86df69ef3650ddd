"""What the server sends over the panel's WebSocket, and what both sides send.

The other half of the mirror of ``js/src/server/frames.ts`` is ``tab_frames``; frames of events are
made in ``wire_events``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

PROTOCOL = 1

Phase = Literal["idle", "starting", "model", "kernel_busy", "tool", "approval", "input"]


@dataclass(frozen=True)
class ObjectName:
    """Marks a field of a frame that names something which belongs to somebody: ``access`` refuses
    a frame that names what is another person's."""

    kind: Literal["chat", "run", "file", "kernel", "notebook"]
    may_be_gone: bool = False
    """What does not exist any more is no reason to refuse the frame."""


@dataclass(frozen=True)
class WireCell:
    """A cell of a notebook as the file format has it."""

    id: str
    cell_type: Literal["code", "markdown", "raw"]
    source: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[Mapping[str, Any], ...] = ()
    execution_count: int | None = None


@dataclass(frozen=True)
class ContextItem:
    """What a person put beside their prompt; which fields say something depends on the kind."""

    kind: Literal["variable", "cell", "selection", "error", "file"]
    name: str = ""
    """A variable's, or a file's as the person knows it."""
    cell_id: str = ""
    text: str = ""
    file: Annotated[str, ObjectName("file")] = ""
    """The name that the upload route gave."""


@dataclass(frozen=True)
class Place:
    """Where in the record a tab has got to."""

    run: Annotated[str, ObjectName("run", may_be_gone=True)]
    sequence: int


@dataclass(frozen=True)
class PlacedCell:
    """A cell and the id of the one before it; empty: it is the first."""

    cell: WireCell
    after: str = ""


@dataclass(frozen=True)
class Welcome:
    """The answer to ``hello``."""

    protocol: int
    version: str
    server: str
    """Changes with every start of the server."""
    type: Literal["welcome"] = field(default="welcome", init=False)


@dataclass(frozen=True)
class CaughtUp:
    """All that had been recorded before ``follow`` has been sent."""

    chat: str
    type: Literal["caught_up"] = field(default="caught_up", init=False)


@dataclass(frozen=True)
class QueuedPrompt:
    """A prompt that waits its turn."""

    id: str
    prompt: str


@dataclass(frozen=True)
class InputAsked:
    """What a running cell's ``input()`` asks."""

    request: str
    prompt: str
    password: bool = False


@dataclass(frozen=True)
class SupersededRun:
    """A run that another one took the place of: kept, and the model is not told of it."""

    run: str
    by: str


@dataclass(frozen=True)
class ChatState:
    """What a chat is doing."""

    id: str
    title: str = ""
    notebook_path: str = ""
    """Path of its notebook; empty: a chat of its own."""
    updated_at: float = 0.0
    run: str = ""
    """Id of the run that is going on; empty: none."""
    phase: Phase = "idle"
    queue: tuple[QueuedPrompt, ...] = ()
    queue_paused: bool = False
    """The queue waits because the last run failed or was stopped."""
    driver: str = ""
    """Tab that inserts the cells and answers; empty: none is connected."""
    approval: str = ""
    """Call that waits for the person; empty: none."""
    input: InputAsked | None = None
    context_tokens: int = 0
    """Tokens of the last request."""
    context_limit: int = 0
    """How many the model takes; 0: not known."""
    superseded: tuple[SupersededRun, ...] = ()


@dataclass(frozen=True)
class ChatFrame:
    """What a chat is doing, whenever that changes."""

    state: ChatState
    type: Literal["chat"] = field(default="chat", init=False)


@dataclass(frozen=True)
class ChatDeleted:
    """A chat is no more."""

    chat: str
    type: Literal["chat_deleted"] = field(default="chat_deleted", init=False)


@dataclass(frozen=True)
class Accepted:
    """``ask`` was accepted: it runs, or waits in the queue."""

    request: str
    chat: str
    queued: bool
    type: Literal["accepted"] = field(default="accepted", init=False)


@dataclass(frozen=True)
class Request:
    """The server wants something of the tab that drives: the notebook's cells, or to know that a
    cell is there with this source before it runs."""

    request: str
    chat: str
    notebook: str
    operation: Literal["cells", "confirm"]
    cell_id: str = ""
    source_hash: str = ""
    """``cells.source_hash`` that the cell must have."""
    message_id: str = ""
    """Id of the kernel message that will run it, for widgets that capture output."""
    type: Literal["request"] = field(default="request", init=False)


@dataclass(frozen=True)
class ErrorFrame:
    """Something that a tab asked for was not done."""

    code: str
    """A short name for programs, such as ``busy``, ``not_driver``, ``disabled``, ``setup``."""
    message: str
    hint: str = ""
    request: str = ""
    chat: str = ""
    type: Literal["error"] = field(default="error", init=False)


@dataclass(frozen=True)
class Pong:
    """Somebody is there."""

    at: float
    type: Literal["pong"] = field(default="pong", init=False)


ServerFrame = Welcome | CaughtUp | ChatFrame | ChatDeleted | Accepted | Request | ErrorFrame | Pong
