"""What goes over the panel's WebSocket, both ways: the mirror of ``js/src/server/frames.ts``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.settings import Mode

__all__ = [
    "CLIENT_FRAMES",
    "PROTOCOL",
    "Accepted",
    "Answer",
    "Ask",
    "Attach",
    "CaughtUp",
    "CellFate",
    "Changed",
    "ChatDeleted",
    "ChatFrame",
    "ChatState",
    "ClientFrame",
    "ContextItem",
    "Detach",
    "Drive",
    "ErrorFrame",
    "Extend",
    "Follow",
    "Hello",
    "Input",
    "InputAsked",
    "Ping",
    "PlacedCell",
    "Place",
    "Phase",
    "Pong",
    "Queue",
    "QueuedPrompt",
    "Reply",
    "Request",
    "ServerFrame",
    "Stop",
    "Unfollow",
    "Welcome",
    "WireCell",
]

PROTOCOL = 1

Phase = Literal["idle", "starting", "model", "kernel_busy", "tool", "approval", "input"]


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
    file: str = ""
    """The name that the upload route gave."""


@dataclass(frozen=True)
class Place:
    """Where in the record a tab has got to."""

    run: str
    sequence: int


@dataclass(frozen=True)
class PlacedCell:
    """A cell and the id of the one before it; empty: it is the first."""

    cell: WireCell
    after: str = ""


# From the tab to the server.


@dataclass(frozen=True)
class Hello:
    """The first frame of every connection."""

    protocol: int
    version: str
    tab: str
    nonce: str
    """Known to this page alone; an approval counts only with the nonce of the asking page."""
    type: Literal["hello"] = field(default="hello", init=False)


@dataclass(frozen=True)
class Follow:
    """Send what came after this place, then what comes; None: everything."""

    chat: str
    after: Place | None = None
    type: Literal["follow"] = field(default="follow", init=False)


@dataclass(frozen=True)
class Unfollow:
    """Send nothing more of this chat."""

    chat: str
    type: Literal["unfollow"] = field(default="unfollow", init=False)


@dataclass(frozen=True)
class Ask:
    """A prompt: it runs, or waits its turn."""

    request: str
    chat: str
    prompt: str
    mode: Mode
    model: str = ""
    """Empty: the set one."""
    context: tuple[ContextItem, ...] = ()
    notebook: str = ""
    """``Attach.notebook``; empty: none, a kernel is started for the chat."""
    instead: bool = False
    """Stop what runs and ask this instead."""
    type: Literal["ask"] = field(default="ask", init=False)


@dataclass(frozen=True)
class Stop:
    """Stop the run of a chat."""

    chat: str
    type: Literal["stop"] = field(default="stop", init=False)


@dataclass(frozen=True)
class Answer:
    """What the person says of a call that waits for them."""

    chat: str
    call_id: str
    allowed: bool
    reason: str = ""
    for_session: bool = False
    type: Literal["answer"] = field(default="answer", init=False)


@dataclass(frozen=True)
class Input:
    """What the person typed for a cell's ``input()``."""

    chat: str
    request: str
    value: str
    type: Literal["input"] = field(default="input", init=False)


@dataclass(frozen=True)
class Queue:
    """Remove, change or move (``position``) a waiting prompt; None leaves as it is."""

    chat: str
    action: Literal["remove", "edit", "move", "send_now", "resume"]
    id: str = ""
    prompt: str | None = None
    position: int | None = None
    type: Literal["queue"] = field(default="queue", init=False)


@dataclass(frozen=True)
class Extend:
    """Let the running cell go on for longer."""

    chat: str
    seconds: float
    type: Literal["extend"] = field(default="extend", init=False)


@dataclass(frozen=True)
class Drive:
    """Become the tab that inserts cells and answers; refused while another live tab is."""

    chat: str
    notebook: str = ""
    type: Literal["drive"] = field(default="drive", init=False)


@dataclass(frozen=True)
class Attach:
    """A notebook that this tab has open; sent again when something of it changes."""

    notebook: str
    """Made by the tab when it opened the document; stays through renames."""
    path: str
    kernel_id: str = ""
    """Empty: no kernel is running."""
    editable: bool = True
    type: Literal["attach"] = field(default="attach", init=False)


@dataclass(frozen=True)
class Detach:
    """The person closed a notebook."""

    notebook: str
    type: Literal["detach"] = field(default="detach", init=False)


@dataclass(frozen=True)
class Changed:
    """The person changed the notebook while a run goes on."""

    notebook: str
    cells: tuple[PlacedCell, ...] = ()
    removed: tuple[str, ...] = ()
    type: Literal["changed"] = field(default="changed", init=False)


@dataclass(frozen=True)
class Reply:
    """The answer to a ``request`` frame."""

    request: str
    ok: bool
    reason: str = ""
    """Why not: ``gone``, ``changed``, ``read_only``, ``closed``."""
    cells: tuple[WireCell, ...] = ()
    type: Literal["reply"] = field(default="reply", init=False)


@dataclass(frozen=True)
class CellFate:
    """What became of an agent's cell in the document."""

    run: str
    cell_id: str
    fate: Literal["saved", "deleted", "discarded"]
    type: Literal["cell_fate"] = field(default="cell_fate", init=False)


@dataclass(frozen=True)
class Ping:
    """Is anybody there?"""

    at: float
    type: Literal["ping"] = field(default="ping", init=False)


ClientFrame = (
    Hello
    | Follow
    | Unfollow
    | Ask
    | Stop
    | Answer
    | Input
    | Queue
    | Extend
    | Drive
    | Attach
    | Detach
    | Changed
    | Reply
    | CellFate
    | Ping
)

CLIENT_FRAMES: Mapping[str, type] = {
    "hello": Hello,
    "follow": Follow,
    "unfollow": Unfollow,
    "ask": Ask,
    "stop": Stop,
    "answer": Answer,
    "input": Input,
    "queue": Queue,
    "extend": Extend,
    "drive": Drive,
    "attach": Attach,
    "detach": Detach,
    "changed": Changed,
    "reply": Reply,
    "cell_fate": CellFate,
    "ping": Ping,
}


# From the server to the tab. Frames of events are made in ``wire_events``.


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
