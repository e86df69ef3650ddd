"""What a tab of the panel sends over its WebSocket: half of the mirror of
``js/src/server/frames.ts``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from cellwright.server.frames import ContextItem, ObjectName, Place, PlacedCell, WireCell
from cellwright.settings import Mode

ChatId = Annotated[str, ObjectName("chat")]
AttachedId = Annotated[str, ObjectName("notebook")]
"""``Attach.notebook`` of a notebook that this tab has open."""


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

    chat: ChatId
    after: Place | None = None
    type: Literal["follow"] = field(default="follow", init=False)


@dataclass(frozen=True)
class Unfollow:
    """Send nothing more of this chat."""

    chat: ChatId
    type: Literal["unfollow"] = field(default="unfollow", init=False)


@dataclass(frozen=True)
class Ask:
    """A prompt: it runs, or waits its turn."""

    request: str
    chat: ChatId
    prompt: str
    mode: Mode
    model: str = ""
    """Empty: the set one."""
    context: tuple[ContextItem, ...] = ()
    notebook: str = ""
    """``Attach.notebook``; empty: none, a kernel is started for the chat."""
    instead: bool = False
    """Stop what runs and ask this instead."""
    assistant: str = ""
    """Name of the assistant that answers; empty: none."""
    supersedes: Annotated[str, ObjectName("run", may_be_gone=True)] = ""
    """The run whose question this takes the place of, with all that followed; empty: none."""
    type: Literal["ask"] = field(default="ask", init=False)


@dataclass(frozen=True)
class Stop:
    """Stop the run of a chat."""

    chat: ChatId
    type: Literal["stop"] = field(default="stop", init=False)


@dataclass(frozen=True)
class Answer:
    """What the person says of a call that waits for them."""

    chat: ChatId
    call_id: str
    allowed: bool
    reason: str = ""
    for_session: bool = False
    type: Literal["answer"] = field(default="answer", init=False)


@dataclass(frozen=True)
class Input:
    """What the person typed for a cell's ``input()``."""

    chat: ChatId
    request: str
    value: str
    type: Literal["input"] = field(default="input", init=False)


@dataclass(frozen=True)
class Queue:
    """Remove, change or move (``position``) a waiting prompt; None leaves as it is."""

    chat: ChatId
    action: Literal["remove", "edit", "move", "send_now", "resume"]
    id: str = ""
    prompt: str | None = None
    position: int | None = None
    type: Literal["queue"] = field(default="queue", init=False)


@dataclass(frozen=True)
class Extend:
    """Let the running cell go on for longer."""

    chat: ChatId
    seconds: float
    type: Literal["extend"] = field(default="extend", init=False)


@dataclass(frozen=True)
class Compact:
    """Make the conversation shorter now; refused while a run goes on."""

    request: str
    chat: ChatId
    type: Literal["compact"] = field(default="compact", init=False)


@dataclass(frozen=True)
class Drive:
    """Become the tab that inserts cells and answers; refused while another live tab is."""

    chat: ChatId
    notebook: str = ""
    type: Literal["drive"] = field(default="drive", init=False)


@dataclass(frozen=True)
class Attach:
    """A notebook that this tab has open; sent again when something of it changes."""

    notebook: str
    """Made by the tab when it opened the document; stays through renames."""
    path: str
    kernel_id: Annotated[str, ObjectName("kernel")] = ""
    """Empty: no kernel is running."""
    editable: bool = True
    type: Literal["attach"] = field(default="attach", init=False)


@dataclass(frozen=True)
class Detach:
    """The person closed a notebook."""

    notebook: AttachedId
    type: Literal["detach"] = field(default="detach", init=False)


@dataclass(frozen=True)
class Changed:
    """The person changed the notebook while a run goes on."""

    notebook: AttachedId
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

    run: Annotated[str, ObjectName("run")]
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
    | Compact
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
    "compact": Compact,
    "drive": Drive,
    "attach": Attach,
    "detach": Detach,
    "changed": Changed,
    "reply": Reply,
    "cell_fate": CellFate,
    "ping": Ping,
}
