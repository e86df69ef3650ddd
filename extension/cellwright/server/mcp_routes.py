"""Where an outside agent works: a chat, a running kernel, and a notebook open in a page.

The panel draws what the agent does, answers for the person, and stops it.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from cellwright.agent.policy import ApprovalAnswer, Approver
from cellwright.context.turn_sources import TurnSource
from cellwright.errors import RunCancelled, SetupError, ToolError
from cellwright.kernels import Kernel
from cellwright.kernels.fresh import Attendance
from cellwright.mcp_server import OutsideRun, RunBoundary, load_protocol
from cellwright.mcp_server.notebook_tools import ListedNotebook, NotebookTools, find_notebooks
from cellwright.mcp_server.outside_agent import IDLE_SECONDS, OutsideConversation, own_sources
from cellwright.mcp_server.session import McpServerSession
from cellwright.notebooks import Notebook
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.notebooks.saved import SavedNotebook
from cellwright.record.events import Event, ToolStarted
from cellwright.record.run_record import RecordedEvent
from cellwright.server import frames
from cellwright.server.answering import ChatEnvironment, place_of
from cellwright.server.application import Application
from cellwright.server.chat_session import ChatSession
from cellwright.server.frames import Ask, Attach
from cellwright.server.hub import open_hub
from cellwright.server.live_run import Asker, LiveRun, PanelApprover, WaitingPrompt
from cellwright.server.routes import Refusal, Route, RouteTable
from cellwright.server.tab import AttachedNotebook, Driver, Tab, TabAudience
from cellwright.session.prices import known_prices
from cellwright.session.questions import RunContext
from cellwright.settings import Limits, Mode, Settings
from cellwright.stopping import Stop, WorkerThread
from cellwright.store.chat_rows import Chat
from cellwright.text.redaction import Redactor
from cellwright.tools import Risk

LANE = "mcp"
LOOK_SECONDS = 0.2
ENDED = "The chat was deleted, or the server is stopping."


@dataclass(frozen=True)
class OpenNotebook:
    """A notebook that a page has open."""

    page: Tab
    attach: Attach


@dataclass(frozen=True)
class OutsideWork:
    """What one run of an outside agent works with."""

    run: OutsideRun
    settings: Settings
    kernel_id: str
    notebook: Notebook
    """Where no page has it open."""
    sources: tuple[TurnSource, ...] = ()
    opened: OpenNotebook | None = None


class _OutsideEnd:
    """The end of one run, which its client waits for."""

    def __init__(self) -> None:
        self.has_come = threading.Event()
        self.failure: BaseException | None = None

    def come(self, failure: BaseException | None = None) -> None:
        """Let the client go on; what comes later does not count."""
        if not self.has_come.is_set():
            self.failure = failure
            self.has_come.set()


@dataclass(frozen=True)
class _OutsidePrompt(WaitingPrompt):
    """A run that waits its turn like a prompt."""

    work: OutsideWork | None = None
    end: _OutsideEnd = field(default_factory=_OutsideEnd)


class OutsideChatSession(ChatSession):
    """``ChatSession`` that also does runs of an outside agent.

    Args:
        chat: The chat.
        workplace: What its runs work with.
        audience: Who is told.
    """

    def __init__(self, chat: Chat, workplace: ChatEnvironment, audience: TabAudience) -> None:
        super().__init__(chat, workplace, audience)
        self._outside = OutsideConversation()

    def work(self, work: OutsideWork) -> None:
        """Do a run, after the one that goes on; returns when it has ended.

        Raises:
            CellwrightError: It could not begin.
            RunCancelled: It was stopped before it began.
        """
        opened, request = work.opened, work.run.request
        asker = Asker(opened.page.nonce, opened.page.name) if opened else Asker("", "")
        attach = opened.attach if opened else None
        ask = Ask("", self._chat.chat_id, request.prompt, request.mode)
        prompt = _OutsidePrompt(ask, asker, attach, secrets.token_hex(6), work=work)
        with self._lock:
            self._check_open()
            self._queue.put_first(prompt)
            self._work_on()
        # A chat that closes forgets what waits in its queue, and tells nobody.
        while not prompt.end.has_come.wait(LOOK_SECONDS):
            if self._is_closed and self._worker is None:
                raise SetupError(ENDED)
        if prompt.end.failure is not None:
            raise prompt.end.failure

    def _invite(self, opened: OpenNotebook | None) -> None:
        """A page that does not know of the chat is told of it, so that it draws what happens."""
        if opened is not None and not opened.page.outbox.follows(self._chat.chat_id):
            opened.page.outbox.send(frames.ChatFrame(self.state))

    def _answer(self, run: LiveRun) -> bool:
        prompt = run.prompt
        if not isinstance(prompt, _OutsidePrompt) or prompt.work is None:
            return super()._answer(run)
        self._invite(prompt.work.opened)
        failure: BaseException | None = None
        try:
            with self._workplace.chats.claims.held(self._chat.chat_id):
                self._do(run, prompt, prompt.work)
        except (Exception, RunCancelled) as error:  # raised again where the client is answered
            failure = error
        finally:
            prompt.end.come(failure)
        return run.progress.status == "completed"

    def _let_go(self, run: LiveRun) -> None:
        if self._run is run:
            self._outside = OutsideConversation()
        super()._let_go(run)
        if isinstance(run.prompt, _OutsidePrompt):
            run.prompt.end.come(RunCancelled(run.stop.reason))

    def _do(self, run: LiveRun, prompt: WaitingPrompt, work: OutsideWork) -> None:
        # The client's Stop and the panel's are one.
        run.stop = work.run.stop
        run.approver = PanelApprover(run.stop)
        run.stop.check()
        attendance = Attendance(run.keyboard.ask, run.waits)

        # A thread that was let go may wake up during a later run, and a later call.
        def listen(recorded: tuple[RecordedEvent, ...]) -> None:
            if self._run is run:
                self._heard(recorded)

        def hear(event: Event) -> None:
            if self._run is run:
                work.run.heard(event)

        run.kernel = kernel = self._workplace.kernels.connect(work.kernel_id, attendance)
        try:
            place = RunContext(
                kernel=kernel,
                store=self._workplace.runs,
                redactor=self._workplace.redactor(),
                lane=LANE,
                notebook=self._notebook(run, prompt, work.kernel_id) or work.notebook,
                prices=known_prices(work.settings),
                listener=listen,
                chat_id=self._chat.chat_id,
                user_id=work.settings.user,
                sources=work.sources,
            )
            outside = replace(work.run, approver=self._approver(run, work), heard=hear)
            self._outside.run(place_of(self._chat, place), outside)
        finally:
            run.kernel = None
            kernel.close()

    def _notebook(
        self, run: LiveRun, prompt: WaitingPrompt, kernel_id: str
    ) -> AttachedNotebook | None:
        driver = self._driver(prompt)
        if driver is None:
            return None
        driver.attach = replace(driver.attach, kernel_id=kernel_id)
        run.notebook = notebook = AttachedNotebook(self._chat.chat_id, driver, run.stop)
        notebook.load()
        return notebook

    def _approver(self, run: LiveRun, work: OutsideWork) -> Approver | None:
        if work.opened is None:
            return work.run.approver
        return EitherApprover(run.approver, work.run.approver)


class EitherApprover:
    """Asks in the panel and, where it can, through the client: whoever answers first counts.

    Args:
        panel: Waits for the page, and for whoever answers in its place.
        client: Asks through the client; None: it cannot.
    """

    def __init__(self, panel: PanelApprover, client: Approver | None) -> None:
        self._panel, self._client = panel, client

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """What the person says.

        Raises:
            RunCancelled: They stopped the run instead.
        """
        client = self._client
        self._panel.expect(call.call_id)
        if client is not None:
            WorkerThread(self._hand_on, client, call, reason, name="approval").start()
        return self._panel.ask(call, reason)

    def _hand_on(self, client: Approver, call: ToolStarted, reason: str) -> None:
        try:
            answer = client.ask(call, reason)
        except RunCancelled:
            return
        if answer.by == "person":
            self._panel.answer(call.call_id, answer)


# The kernel and the notebook of an MCP session: as it is open in a page, never the file under it.


HOW_TO_ALLOW = (
    "Mode {mode!r} has a person asked, and nobody can be asked here. Tell them: open the notebook "
    "in JupyterLab with the cellwright panel, or connect with ?mode=auto."
)
PLAN = "Tell the person: mode 'plan' only looks; connect with another ?mode= to change anything."
FIND_SECONDS = 5.0


class NotebookAccess:
    """The server's notebooks, as its own managers know them; for worker threads.

    Args:
        loop: The server's.
        sessions: Its ``SessionManager``.
        contents: Its ``ContentsManager``.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, sessions: Any, contents: Any) -> None:
        self._loop, self._sessions, self._contents = loop, sessions, contents

    def kernels(self) -> dict[str, str]:
        """Ids of the kernels that notebooks run in, by path."""
        return {
            session["path"]: str((session.get("kernel") or {}).get("id") or "")
            for session in self._wait(self._sessions.list_sessions())
            if session.get("type") == "notebook"
        }

    def exists(self, path: str) -> bool:
        """Whether there is such a file that the server shows."""
        contents = self._contents
        is_hidden = not contents.allow_hidden and self._wait(contents.is_hidden(path))
        return not is_hidden and bool(self._wait(contents.file_exists(path)))

    def _wait(self, asked: Any) -> Any:
        async def answer() -> Any:
            return await ensure_async(asked)

        return asyncio.run_coroutine_threadsafe(answer(), self._loop).result(FIND_SECONDS)


@dataclass(frozen=True)
class McpWish:
    """What a client wants to work in."""

    path: str
    """The notebook's, from the server's root; empty: none, a kernel is started."""
    mode: Mode
    owner: str
    """The name that the person's chats are kept under."""


class ServerRoom:
    """``mcp_server.Workroom`` in a Jupyter server. Every method is for worker threads alone.

    Args:
        application: What the server's routes share.
        wish: What the client wants to work in.
        access: What the server knows of its notebooks.
    """

    restart_risk: Risk = "destroy"

    def __init__(self, application: Application, wish: McpWish, access: NotebookAccess) -> None:
        self._application, self._wish, self._access = application, wish, access
        self._hub = open_hub(application)
        self._chats: dict[str, OutsideChatSession] = {}
        """By the notebook's path, as are those below."""
        self._own_kernels: dict[str, str] = {}
        """Ids of kernels that were started for the session."""
        self._own_cells = MemoryNotebook()
        self._tools = NotebookTools(self)
        self.boundary = RunBoundary()

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""
        return self._wish.mode

    @property
    def limits(self) -> Limits:
        """How long one cell may take."""
        return self._application.settings_for_tools().limits

    @property
    def notebook(self) -> Notebook | None:
        """The notebook as it is now."""
        opened = self._opened()
        if opened is None:
            return self._closed_notebook()
        page, attach = opened.page, opened.attach
        chat = self._chats.get(self._wish.path)
        chat_id = chat.state.id if chat is not None else ""
        attached = AttachedNotebook(chat_id, Driver(lambda: page, attach), Stop())
        attached.load()
        return attached

    @property
    def kernel(self) -> Kernel | None:
        """None: a list of tools does not wait for a kernel that others use."""
        return None

    @property
    def sources(self) -> tuple[TurnSource, ...]:
        """What has tools of its own."""
        application = self._application
        found = self._hub.sources.of(
            application.runs.database, application.settings_for_tools(), ()
        )
        return (*own_sources(found), self._tools)

    @property
    def redactor(self) -> Redactor:
        """Takes secrets out."""
        return self._application.redactor()

    def run(self, run: OutsideRun) -> None:
        """Do a run: in the page's notebook where one has it open.

        Raises:
            CellwrightError: It could not begin.
            RunCancelled: It was stopped before it began.
        """
        self._application.configuration.check_mode(self.mode)
        opened = self._opened()
        work = OutsideWork(
            run,
            self._application.settings_for_tools(),
            self._kernel_id(opened) or self._start_kernel(),
            self._closed_notebook(),
            self.sources,
            opened,
        )
        self._session().work(work)

    def take_problems(self) -> tuple[str, ...]:
        """None: nothing is saved here."""
        return ()

    def how_to_allow(self) -> str:
        """How to let more run."""
        return PLAN if self.mode == "plan" else HOW_TO_ALLOW.format(mode=self.mode)

    def list_notebooks(self) -> tuple[ListedNotebook, ...]:
        """Those below the server's root, and those of others that run."""
        root, running = self._application.root, self._access.kernels()
        files = find_notebooks(root) if root is not None else ()
        found = {file.relative_to(cast("Path", root)).as_posix() for file in files}
        return tuple(
            ListedNotebook(
                path,
                is_current=path == self._wish.path,
                is_open=bool(self._hub.pages_with(path, self._wish.owner)),
                has_kernel=path in running,
            )
            for path in sorted(found | running.keys())
        )

    def find_notebook(self, path: str) -> str:
        """The path of a notebook that is there, from the server's root.

        Raises:
            ToolError: There is none.
        """
        found = path.strip("/")
        if not found.endswith(".ipynb") or not self._access.exists(found):
            raise ToolError(f"There is no notebook {path!r}.", hint="list_notebooks names them.")
        return found

    def use_notebook(self, path: str) -> None:
        """Work there from now on, in a chat of its own; kernels go on."""
        self._wish = replace(self._wish, path=path)

    def restart_kernel(self) -> None:
        """Start the notebook's kernel anew.

        Raises:
            SetupError: It did not start.
        """
        kernel_id = self._kernel_id(self._opened())
        if kernel_id:
            self._hub.kernels.restart(kernel_id)

    def close(self) -> None:
        """End the kernels that were started for the session."""
        started, self._own_kernels = tuple(self._own_kernels.values()), {}
        for kernel_id in started:
            with suppress(TimeoutError):
                self._hub.kernels.shut_down(kernel_id)

    def _session(self) -> OutsideChatSession:
        path = self._wish.path
        if path not in self._chats:
            chat = self._application.chats.create(path, self._wish.owner)
            self._chats[path] = OutsideChatSession(chat, self._hub, self._hub)
            self._hub.adopt(chat.chat_id, self._chats[path])
        return self._chats[path]

    def _opened(self) -> OpenNotebook | None:
        path = self._wish.path
        pages = self._hub.pages_with(path, self._wish.owner) if path else ()
        found = [(page, attach) for page in pages for attach in tuple(page.attached.values())]
        opened = [OpenNotebook(page, attach) for page, attach in found if attach.path == path]
        return opened[-1] if opened else None

    def _closed_notebook(self) -> Notebook:
        """The file, which is only read: a page that we do not know of may have it open."""
        root = self._application.root
        if not self._wish.path or root is None:
            return self._own_cells
        return _ClosedNotebook(root / self._wish.path, self._wish.path)

    def _kernel_id(self, opened: OpenNotebook | None) -> str:
        """The kernel of the notebook, or the one that was started for it; empty: there is none."""
        path = self._wish.path
        attached = opened.attach.kernel_id if opened else ""
        found = attached or (self._access.kernels().get(path, "") if path else "")
        own = self._own_kernels.get(path, "")
        return found or (own if self._hub.kernels.has(own) else "")

    def _start_kernel(self) -> str:
        path = self._wish.path
        folder = Path(path).parent.as_posix()
        name = f"cellwright agent {secrets.token_hex(3)}"
        self._own_kernels[path] = self._hub.kernels.start("" if folder == "." else folder, name)
        return self._own_kernels[path]


class _ClosedNotebook(SavedNotebook):
    """A notebook file under its path from the server's root."""

    def __init__(self, file: Path, path: str) -> None:
        super().__init__(file)
        self._shown = path

    @property
    def path(self) -> str:
        return self._shown


# The Model Context Protocol over HTTP: one address, behind the server's own authentication.
#
# The SDK speaks it: up to 2025-11-25 with a session for each client, from 2026-07-28 on each
# request for itself. Our sessions outlive requests: they hold the run that goes on.

SESSION_LIMIT = 16
SILENT_SECONDS = 6 * 3_600.0
"""A client that has not been heard of for so long is gone."""
UNTOLD_SECONDS = 120.0
"""From 2026-07-28 on no client says that it has gone: its run ends after so long without a call."""
PATIENCE_SECONDS = 60.0
"""Where there are too many, one that was silent for so long makes room."""


@dataclass
class _KnownSession:
    session: McpServerSession
    owner: str
    heard_at: float = field(default=0.0)


@dataclass(frozen=True)
class McpRequest:
    """What a request wants to work in, as the route has looked at it."""

    wish: McpWish
    access: NotebookAccess


def open_sessions(application: Application) -> McpSessions:
    """The sessions of a server.

    Raises:
        HTTPError: The server is stopping.
    """
    with application.opening():
        if application.outside is None:
            application.outside = McpSessions()
        return cast("McpSessions", application.outside)


class McpSessions:
    """Sessions by the names that their clients are known by; safe to use from any thread.

    Args:
        clock: Tells how long a client was silent.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, _KnownSession] = {}
        self._is_closed = False
        self._endpoint: McpEndpoint | None = None

    @property
    def is_busy(self) -> bool:
        """Whether any call goes on."""
        with self._lock:
            return any(known.session.is_busy for known in self._known.values())

    def endpoint(self, application: Application) -> McpEndpoint:
        """Where requests are answered; on the server's loop.

        Raises:
            SetupError: The SDK is missing.
        """
        if self._endpoint is None:
            protocol = load_protocol()

            def find(context: Any) -> McpServerSession:
                asked: McpRequest = context.request.scope["cellwright"]
                name = context.request.headers.get(SESSION_HEADER)
                # From 2026-07-28 on a client is known by what it says of itself.
                wish, seconds = asked.wish, IDLE_SECONDS if name else UNTOLD_SECONDS
                label = protocol.describe_client(context).label
                name = name or f"{wish.owner}\n{wish.path}\n{wish.mode}\n{label}"
                known = self.find(name, wish.owner)
                if known is None:
                    room = ServerRoom(application, wish, asked.access)
                    known = self.open(name, McpServerSession(room, seconds), wish.owner)
                return known

            self._endpoint = McpEndpoint(protocol.build_server(find))
        return self._endpoint

    def open(self, name: str, session: McpServerSession, owner: str) -> McpServerSession:
        """Keep a new session; the one that was kept meanwhile counts.

        Raises:
            SetupError: There are too many.
        """
        self._make_room()
        with self._lock:
            if self._is_closed or len(self._known) >= SESSION_LIMIT:
                raise SetupError(
                    f"{SESSION_LIMIT} MCP clients are connected already.", hint="Close one of them."
                )
            known = self._known.setdefault(name, _KnownSession(session, owner))
            known.heard_at = self._clock()
            return known.session

    def find(self, name: str, owner: str) -> McpServerSession | None:
        """The session of that name and person; None: there is none."""
        with self._lock:
            known = self._known.get(name)
            if known is None or known.owner != owner:
                return None
            known.heard_at = self._clock()
            return known.session

    def end(self, name: str, owner: str) -> bool:
        """End a session; waits for its run. False: there is none."""
        session = self.find(name, owner)
        with self._lock:
            if session is None or self._known.pop(name, None) is None:
                return False
        session.close()
        return True

    def close(self) -> None:
        """End every session; waits for their runs."""
        with self._lock:
            self._is_closed = True
            ended, self._known = tuple(self._known.values()), {}
        for known in ended:
            known.session.close()
        if self._endpoint is not None:
            self._endpoint.close()

    def _make_room(self) -> None:
        """End sessions whose clients are gone, and the most silent one where there are too many."""
        now = self._clock()
        with self._lock:
            idle = [item for item in self._known.items() if not item[1].session.is_busy]
            idle.sort(key=lambda item: item[1].heard_at)
            ended = [item for item in idle if now - item[1].heard_at > SILENT_SECONDS]
            is_full = len(self._known) - len(ended) >= SESSION_LIMIT
            if is_full and idle and now - idle[0][1].heard_at > PATIENCE_SECONDS:
                ended = idle[:1]
            for name, _ in ended:
                del self._known[name]
        for _, known in ended:
            known.session.close()


SDK_SESSION_LIMIT = 256
"""A connection costs little; what works for it is limited above."""
START_SECONDS = 10.0


class McpEndpoint:
    """The SDK's HTTP half, as long as the server lives.

    Args:
        server: The SDK's server.
    """

    def __init__(self, server: Any) -> None:
        # With the SDK there is starlette, which Jupyter Server does without.
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        self._manager = StreamableHTTPSessionManager(
            server, session_idle_timeout=SILENT_SECONDS, max_sessions=SDK_SESSION_LIMIT
        )
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        self._ready = asyncio.Event()
        self._keeper = self._loop.create_task(self._keep())

    async def answer(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request, as ASGI has it."""
        await asyncio.wait_for(self._ready.wait(), START_SECONDS)
        await self._manager.handle_request(scope, receive, send)

    def close(self) -> None:
        """End all connections; from any thread."""
        with suppress(RuntimeError):  # the server's loop has ended
            self._loop.call_soon_threadsafe(self._closing.set)

    async def _keep(self) -> None:
        async with self._manager.run():
            self._ready.set()
            await self._closing.wait()


SESSION_HEADER = "Mcp-Session-Id"
MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024


class McpRoute(Route):
    """``cellwright/v2/mcp?notebook=PATH&mode=MODE``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Take a message of the protocol."""
        await self._check_person()
        if len(self.request.body) > MESSAGE_LIMIT_BYTES:
            raise Refusal(413, "The request is too large.")
        await self._answer(await self._asked())

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """End the session."""
        name, owner = self.request.headers.get(SESSION_HEADER, ""), self.owner
        sessions = self._sessions
        if not name:
            raise Refusal(400, "This names no session.", "Send its id in Mcp-Session-Id.")
        # What works for the client ends before it is told so.
        await self.answer(lambda _: sessions.end(name, owner))
        await self._answer(McpRequest(McpWish("", "plan", owner), self._access()))

    def on_connection_close(self) -> None:
        """The client has gone."""
        super().on_connection_close()
        self._gone.set()

    def initialize(self) -> None:
        """Note when the client goes."""
        super().initialize()
        self._gone = asyncio.Event()

    @property
    def _sessions(self) -> McpSessions:
        return open_sessions(self.shared)

    async def _check_person(self) -> None:
        """Refuse whoever may not run code in kernels, and pages of other sites."""
        if "Origin" in self.request.headers and not self._is_own_origin():
            raise Refusal(403, "This request came from another site.", code="cross_site")
        await self.check_kernels()

    def _is_own_origin(self) -> bool:
        """Whether the server's own pages, or those that it allows, have asked.

        The server does not look where a token is sent; the protocol wants it looked at.
        """
        origin = self.request.headers["Origin"].lower()
        if self.allow_origin in ("*", origin):
            return True
        pattern = self.allow_origin_pat
        is_allowed = bool(pattern and re.match(pattern, origin))
        return is_allowed or urlsplit(origin).netloc == self.request.host.lower()

    async def _asked(self) -> McpRequest:
        """What the client wants to work in.

        Raises:
            Refusal: The notebook or the mode cannot be used.
        """
        path, mode, owner = self.word("notebook").strip("/"), self.word("mode"), self.owner
        access = self._access()

        def find_mode(shared: Application) -> str:
            if path and not access.exists(path):
                raise Refusal(
                    404, f"There is no notebook {path!r}.", "Give its path from the root."
                )
            wanted = mode or shared.settings_for_tools().mode
            shared.configuration.check_mode(wanted)
            return wanted

        wish = McpWish(path, cast("Mode", await self.answer(find_mode)), owner)
        return McpRequest(wish, access)

    def _access(self) -> NotebookAccess:
        loop = asyncio.get_running_loop()
        return NotebookAccess(loop, self.session_manager, self.contents_manager)

    async def _answer(self, asked: McpRequest) -> None:
        """Let the SDK answer.

        Raises:
            Refusal: It is missing.
        """
        try:
            endpoint = self._sessions.endpoint(self.shared)
        except SetupError as error:
            raise Refusal(501, error.message, error.hint) from error
        body = [{"type": "http.request", "body": self.request.body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if body:
                return body.pop()
            await self._gone.wait()
            return {"type": "http.disconnect"}

        await endpoint.answer(self._scope(asked), receive, self._send)

    def _scope(self, asked: McpRequest) -> dict[str, Any]:
        # With the SDK there is what tells the owners of its sessions apart.
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken

        request = self.request
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in request.headers.get_all()
        ]
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.protocol,
            "path": request.path,
            "raw_path": request.path.encode(),
            "query_string": request.query.encode(),
            "root_path": "",
            "headers": headers,
            "client": (request.remote_ip or "", 0),
            "server": (request.host_name, None),
            "user": AuthenticatedUser(AccessToken(token="", client_id=asked.wish.owner, scopes=[])),
            "cellwright": asked,
        }

    async def _send(self, message: dict[str, Any]) -> None:
        if self._finished or self._gone.is_set():
            return
        if message["type"] == "http.response.start":
            self.set_status(message["status"])
            self.clear_header("Content-Type")
            for name, value in message.get("headers", ()):
                self.set_header(name.decode("latin-1").title(), value.decode("latin-1"))
            self.set_header("X-Content-Type-Options", "nosniff")
            return
        chunk = message.get("body", b"")
        if self.get_status() >= 400:
            self._refuse(chunk)
            return
        kind = self._headers.get("Content-Type", "")
        self.write(chunk)
        with suppress(StreamClosedError):
            if message.get("more_body"):
                await self.flush()
            else:
                self.finish(set_content_type=kind or "application/json")

    def _refuse(self, body: bytes) -> None:
        """Tell it in the protocol's words, and in those of all our routes."""
        told: dict[str, Any] = {}
        with suppress(ValueError):
            told = json.loads(body)
        self.clear_header("Content-Length")
        words = told["error"]["message"] if told else body.decode("utf-8", "replace")
        self.send({**told, "message": words, "hint": ""}, self.get_status())


ROUTES: RouteTable = (("/v2/mcp", McpRoute),)
