"""Where tabs and chats meet: what tabs send is handled, what happens in chats is sent to them."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cellwright._version import __version__
from cellwright.errors import CellwrightError
from cellwright.record.run_record import RecordedEvent
from cellwright.server import frames
from cellwright.server.application import Application, Person, check_objects, open_chat
from cellwright.server.chat_session import ChatSession
from cellwright.server.configuration import Cellwright
from cellwright.server.frames import (
    FrameError,
    RefusedError,
    error_frame,
    format_frame,
    parse_frame,
)
from cellwright.server.kernel_access import ServerKernels, open_kernels
from cellwright.server.tab import Tab, TabConnection
from cellwright.server.uploads import Uploads
from cellwright.server.wire_events import StoredEvents, wire_event
from cellwright.session.services import ServiceCache
from cellwright.settings import Settings
from cellwright.store.chat_rows import Chat
from cellwright.store.chats import ChatStore
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

if TYPE_CHECKING:
    from cellwright.agent.publishing import Listener
    from cellwright.server.answering import ChatAnswering
    from cellwright.server.branching import ChatBranches
    from cellwright.server.live_run import LiveRun
    from cellwright.session.previewing import Previews
    from cellwright.session.standard_sources import Sources

log = logging.getLogger(__name__)
CLOSE_SECONDS = 5.0
STOPPING = "stopped: the server is stopping"
DELETED = "stopped: its chat was deleted"
Handler = Callable[["Hub", Tab, Any], None]


def open_hub(application: Application) -> Hub:
    """The live side of a server, known to its routes from then on.

    Raises:
        HTTPError: The server is stopping.
    """
    kernels = open_kernels(application)
    with application.opening():
        if application.live is None:
            application.live = Hub(application, kernels)
        return cast("Hub", application.live)


class Hub:
    """The live side of one server.

    Args:
        application: Stores and settings.
        kernels: The server's kernels.
    """

    def __init__(self, application: Application, kernels: ServerKernels) -> None:
        self.kernels = kernels
        self.services = ServiceCache()
        self._application = application
        self._server = secrets.token_hex(8)
        self._lock = threading.RLock()
        self._tabs: list[Tab] = []
        self._sessions: dict[str, ChatSession] = {}
        self._is_closed = False

    # What runs work with.

    @property
    def configuration(self) -> Cellwright:
        """What the administrator set."""
        return self._application.configuration

    @property
    def runs(self) -> RunStore:
        """The record."""
        return self._application.runs

    @property
    def chats(self) -> ChatStore:
        """The chats."""
        return self._application.chats

    @property
    def uploads(self) -> Uploads:
        """Files beside prompts."""
        return self._application.uploads

    @cached_property
    def events(self) -> StoredEvents:
        """The record, as it goes over the wire."""
        return StoredEvents(self._application.database, self.chats)

    @cached_property
    def sources(self) -> Sources:
        """Memories, libraries and tools that runs are given."""
        # They load with the first prompt: showing chats is spared them.
        from cellwright.session.standard_sources import Sources

        return Sources(self.root)

    def open_answering(self, chat_id: str, listener: Listener) -> ChatAnswering:
        """Make what answers the prompts of a chat."""
        # All that a run stands on loads with the first prompt, too.
        from cellwright.server.answering import ChatAnswering

        return ChatAnswering(chat_id, self, listener)

    def open_branches(self, run: LiveRun, tell: Callable[[], None]) -> ChatBranches:
        """Make what tries a prompt in several ways."""
        from cellwright.server.branching import ChatBranches

        return ChatBranches(run, self.kernels, self.runs, tell)

    def open_previews(self, kernel_id: str) -> Previews:
        """Make what tries calls in copies of a kernel."""
        from cellwright.server.kernel_access import SnapshotAsker
        from cellwright.session.previewing import Previews

        return Previews(SnapshotAsker(self.kernels, kernel_id))

    def settings(self) -> Settings:
        """Everything that a run uses, as it is set now."""
        return self._application.settings()

    def redactor(self) -> Redactor:
        """Takes secrets out."""
        return self._application.redactor()

    @property
    def root(self) -> Path | None:
        """The folder that paths of notebooks start from; None: they are not files."""
        return self._application.root

    # Tabs.

    def open(self, line: TabConnection, person: Person | None = None) -> Tab:
        """A page has connected.

        Args:
            line: To the page.
            person: Who uses it.
        """
        tab = Tab(line, self.events, person)
        with self._lock:
            self._tabs.append(tab)
        return tab

    def receive(self, tab: Tab, text: str | bytes) -> None:
        """A page has sent something; returns at once."""
        tab.work(lambda: self._handle(tab, text))

    def leave(self, tab: Tab) -> None:
        """A page is gone; what it asked for goes on."""
        with self._lock:
            if tab in self._tabs:
                self._tabs.remove(tab)
        tab.close()
        if not self._is_closed:
            self._page_changed(tab)

    def page(self, nonce: str) -> Tab | None:
        """The page with that nonce; None: it is not connected."""
        with self._lock:
            found = [tab for tab in self._tabs if nonce and tab.nonce == nonce]
        return found[-1] if found else None

    def page_showing(self, notebook: str, owner: str) -> Tab:
        """The page of a person that has a notebook open, by the id that it gave it.

        Raises:
            RefusedError: There is none.
        """
        with self._lock:
            own = [tab for tab in self._tabs if tab.owner == owner and notebook in tab.attached]
        if not own:
            raise RefusedError(
                "no_notebook",
                "Branches are copies of an open notebook's kernel, and that one is not open.",
                hint="Open the notebook and ask there.",
            )
        return own[-1]

    def pages_with(self, path: str, owner: str) -> tuple[Tab, ...]:
        """The pages of a person that have a notebook open, the newest last."""
        with self._lock:
            own = [tab for tab in self._tabs if tab.owner == owner]
        return tuple(
            tab for tab in own if any(a.path == path for a in tuple(tab.attached.values()))
        )

    def adopt(self, chat_id: str, session: ChatSession) -> None:
        """Let tabs reach a chat whose runs are begun elsewhere."""
        with self._lock:
            if not self._is_closed:
                self._sessions[chat_id] = session

    def publish(self, chat: str, recorded: tuple[RecordedEvent, ...]) -> None:
        """Send events to the tabs that follow a chat."""
        with self._lock:
            tabs = [tab for tab in self._tabs if tab.outbox.follows(chat)]
        if tabs:
            events = [wire_event(item) for item in recorded]
            for tab in tabs:
                tab.outbox.event(chat, events)

    def tell(self, state: frames.ChatState) -> None:
        """Send a chat's state to the tabs that follow it."""
        text = format_frame(frames.ChatFrame(state))
        with self._lock:
            tabs = tuple(self._tabs)
        for tab in tabs:
            tab.outbox.state(state.id, text)

    # What the routes ask and tell.

    @property
    def is_busy(self) -> bool:
        """Whether any run goes on."""
        return any(session.is_busy for session in self._all_sessions())

    def running(self, chat_id: str) -> str:
        """Id of the run that goes on in a chat; empty: none."""
        session = self._sessions.get(chat_id)
        return session.run_id if session is not None else ""

    def waits_for_answer(self, chat_id: str) -> bool:
        """Whether the run that goes on in a chat waits for the person."""
        session = self._sessions.get(chat_id)
        return session is not None and session.waits_for_answer

    def is_open_elsewhere(self, path: str, tab: str, owner: str) -> bool:
        """Whether another page of this person has the notebook open."""
        with self._lock:
            others = [o for o in self._tabs if o.name != tab and o.owner == owner]
        shown = {attach.path for other in others for attach in tuple(other.attached.values())}
        return path in shown

    def chat_changed(self, chat: Chat) -> None:
        """A chat has another title or notebook."""
        session = self._sessions.get(chat.chat_id)
        if session is not None:
            session.renamed(chat)

    def chat_deleted(self, chat_id: str) -> None:
        """A chat is gone."""
        with self._lock:
            session = self._sessions.pop(chat_id, None)
            tabs = [tab for tab in self._tabs if tab.outbox.follows(chat_id)]
        if session is not None:
            session.close(DELETED)
            session.join(CLOSE_SECONDS)
        for tab in tabs:
            tab.outbox.unfollow(chat_id)
            tab.outbox.send(frames.ChatDeleted(chat_id))

    def close(self) -> None:
        """Stop every run and wait for it."""
        with self._lock:
            self._is_closed = True
            tabs, self._tabs = self._tabs, []
        sessions = self._all_sessions()
        for session in sessions:
            session.close(STOPPING)
        deadline = time.monotonic() + CLOSE_SECONDS
        for session in sessions:
            session.join(max(0.0, deadline - time.monotonic()))
        for tab in tabs:
            tab.close()
        for tab in tabs:
            tab.join(max(0.1, deadline - time.monotonic()))
        self.services.close()

    # Frames.

    def _handle(self, tab: Tab, text: str | bytes) -> None:
        """One frame, on the tab's own thread; whatever goes wrong, the line stays."""
        frame: frames.ClientFrame | None = None
        try:
            frame = parse_frame(text)
            self._check_hello(tab, frame)
            check_objects(self._application, tab.person, frame, tab.attached)
            HANDLERS[type(frame)](self, tab, frame)
        except FrameError as error:
            tab.outbox.send(error.frame)
        except CellwrightError as error:
            self._refuse(tab, frame, error)
        except Exception as error:  # a bug of ours must not cost the tab its connection
            log.exception("cellwright: a frame was not handled")
            self._refuse(tab, frame, RefusedError("internal", f"cellwright failed: {error!r}"))

    def _refuse(self, tab: Tab, frame: frames.ClientFrame | None, error: CellwrightError) -> None:
        request, chat = getattr(frame, "request", ""), getattr(frame, "chat", "")
        tab.outbox.send(error_frame(error, self.redactor(), request=request, chat=chat))

    def _check_hello(self, tab: Tab, frame: frames.ClientFrame) -> None:
        if isinstance(frame, (frames.Hello, frames.Ping)):
            return
        if tab.hello is None:
            raise RefusedError("no_hello", "The first frame is 'hello'.")
        if tab.hello.protocol != frames.PROTOCOL:
            raise RefusedError(
                "wrong_version",
                f"The page speaks protocol {tab.hello.protocol}, the server {frames.PROTOCOL}.",
                hint="Restart the server, then reload the page.",
            )

    def _hello(self, tab: Tab, frame: frames.Hello) -> None:
        if tab.hello is not None:
            raise RefusedError("bad_frame", "A page says hello once.")
        if not frame.nonce:
            raise RefusedError("bad_frame", "A page has a nonce.")
        tab.hello = frame
        tab.outbox.send(frames.Welcome(frames.PROTOCOL, __version__, self._server))
        self._page_changed(tab)

    def _ping(self, tab: Tab, frame: frames.Ping) -> None:
        tab.outbox.send(frames.Pong(frame.at))

    def _follow(self, tab: Tab, frame: frames.Follow) -> None:
        session = self._session(tab, frame.chat)
        tab.outbox.follow(frame.chat, frame.after)
        tab.outbox.state(frame.chat, format_frame(frames.ChatFrame(session.state)))

    def _unfollow(self, tab: Tab, frame: frames.Unfollow) -> None:
        tab.outbox.unfollow(frame.chat)

    def _ask(self, tab: Tab, frame: frames.Ask) -> None:
        self._session(tab, frame.chat).ask(tab, frame)

    def _stop(self, tab: Tab, frame: frames.StopFrame) -> None:
        self._session(tab, frame.chat).stop()

    def _answer(self, tab: Tab, frame: frames.AnswerFrame) -> None:
        self._session(tab, frame.chat).answer(tab, frame)

    def _input(self, tab: Tab, frame: frames.Input) -> None:
        self._session(tab, frame.chat).type(tab, frame)

    def _queue(self, tab: Tab, frame: frames.Queue) -> None:
        self._session(tab, frame.chat).change_queue(tab, frame)

    def _extend(self, tab: Tab, frame: frames.Extend) -> None:
        self._session(tab, frame.chat).extend(tab, frame)

    def _compact(self, tab: Tab, frame: frames.Compact) -> None:
        self._session(tab, frame.chat).compact(tab, frame)

    def _drive(self, tab: Tab, frame: frames.Drive) -> None:
        self._session(tab, frame.chat).drive(tab, frame)

    def _attach(self, tab: Tab, frame: frames.Attach) -> None:
        before = tab.attached.get(frame.notebook)
        tab.attached[frame.notebook] = frame
        for session in self._all_sessions():
            session.attached(tab, frame)
        if before is not None and before.path and frame.path and before.path != frame.path:
            self._follow_rename(tab, before.path, frame.path)

    def _follow_rename(self, tab: Tab, old: str, new: str) -> None:
        """Move the chats of a notebook as far as they are this person's.

        A page only says that it renamed something. What the server itself moves is followed for
        everybody's chats, and with all that lies in a folder, in ``first_request``.
        """
        for chat in self.chats.rename_notebook(old, new, tab.owner):
            self.chat_changed(chat)
        if self.chats.list(old, limit=1):
            raise RefusedError("not_allowed", f"Chats of others with {old!r} were not moved.")

    def _detach(self, tab: Tab, frame: frames.Detach) -> None:
        tab.attached.pop(frame.notebook, None)
        for session in self._all_sessions():
            session.detached(tab, frame.notebook)

    def _changed(self, tab: Tab, frame: frames.Changed) -> None:
        for session in self._all_sessions():
            session.changed(tab, frame)

    def _reply(self, tab: Tab, frame: frames.ReplyFrame) -> None:
        tab.take(frame)

    def _session(self, tab: Tab, chat_id: str) -> ChatSession:
        return self.session(tab.owner, chat_id)

    def session(self, owner: str, chat_id: str) -> ChatSession:
        """A chat that a person may open.

        Raises:
            RefusedError: There is none, or the server is stopping.
        """
        chat = open_chat(self._application, owner, chat_id)
        with self._lock:
            if self._is_closed:
                raise RefusedError("closed", "The server is stopping.")
            session = self._sessions.get(chat_id)
            if session is None:
                self._sessions[chat_id] = session = ChatSession(chat, self, self)
        return session

    def _all_sessions(self) -> tuple[ChatSession, ...]:
        with self._lock:
            return tuple(self._sessions.values())

    def _page_changed(self, tab: Tab) -> None:
        for session in self._all_sessions():
            session.page_changed(tab.nonce)


HANDLERS: Mapping[type, Handler] = cast(
    "Mapping[type, Handler]",
    {
        frames.Hello: Hub._hello,
        frames.Follow: Hub._follow,
        frames.Unfollow: Hub._unfollow,
        frames.Ask: Hub._ask,
        frames.StopFrame: Hub._stop,
        frames.AnswerFrame: Hub._answer,
        frames.Input: Hub._input,
        frames.Queue: Hub._queue,
        frames.Extend: Hub._extend,
        frames.Compact: Hub._compact,
        frames.Drive: Hub._drive,
        frames.Attach: Hub._attach,
        frames.Detach: Hub._detach,
        frames.Changed: Hub._changed,
        frames.ReplyFrame: Hub._reply,
        frames.Ping: Hub._ping,
    },
)
