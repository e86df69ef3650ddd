"""Where an outside agent works: a chat, a running kernel, and a notebook open in a page.

The panel draws what the agent does, answers for the person, and stops it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.agent.policy import ApprovalAnswer, Approver
from cellwright.context.turn_sources import TurnSource
from cellwright.errors import RunCancelled, SetupError
from cellwright.kernels import Kernel
from cellwright.kernels.fresh import Attendance
from cellwright.mcp_server import OutsideRun
from cellwright.mcp_server.outside_agent import OutsideConversation, own_sources
from cellwright.notebooks import Notebook
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.notebooks.saved import SavedNotebook
from cellwright.record.events import ToolStarted
from cellwright.server import frames
from cellwright.server.answering import ChatEnvironment
from cellwright.server.application import Application
from cellwright.server.approvals import PanelApprover
from cellwright.server.attached_notebook import AttachedNotebook, Driver
from cellwright.server.chat_session import ChatSession
from cellwright.server.frames import Ask, Attach
from cellwright.server.hub import open_hub
from cellwright.server.live_run import LiveRun
from cellwright.server.prompt_queue import Asker, WaitingPrompt
from cellwright.server.tab import Tab, TabAudience
from cellwright.session.questions import RunContext
from cellwright.settings import Limits, Mode, Settings
from cellwright.stopping import Stop, WorkerThread
from cellwright.store.chat_rows import Chat
from cellwright.text.redaction import Redactor

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


@dataclass(frozen=True)
class _OutsidePrompt(WaitingPrompt):
    """A run that waits its turn like a prompt."""

    work: OutsideWork | None = None


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
        self._ended = threading.Event()
        self._failure: BaseException | None = None

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
            self._ended, self._failure = threading.Event(), None
            self._queue.put_first(prompt)
            self._work_on()
        # A chat that closes forgets what waits in its queue, and tells nobody.
        while not self._ended.wait(LOOK_SECONDS):
            if self._is_closed and self._worker is None:
                raise SetupError(ENDED)
        if self._failure is not None:
            raise self._failure

    def _invite(self, opened: OpenNotebook | None) -> None:
        """A page that does not know of the chat is told of it, so that it draws what happens."""
        if opened is not None and not opened.page.outbox.follows(self._chat.chat_id):
            opened.page.outbox.send(frames.ChatFrame(self.state))

    def _answer(self, run: LiveRun) -> bool:
        prompt = run.prompt
        if not isinstance(prompt, _OutsidePrompt) or prompt.work is None:
            return super()._answer(run)
        self._invite(prompt.work.opened)
        try:
            with self._workplace.chats.claims.held(self._chat.chat_id):
                self._do(run, prompt, prompt.work)
        except (Exception, RunCancelled) as error:  # raised again where the client is answered
            self._failure = error
        finally:
            self._ended.set()
        return run.progress.status == "completed"

    def _do(self, run: LiveRun, prompt: WaitingPrompt, work: OutsideWork) -> None:
        # The client's Stop and the panel's are one.
        run.stop = work.run.stop
        run.approver = PanelApprover(run.stop)
        run.stop.check()
        attendance = Attendance(run.keyboard.ask, run.waits)
        run.kernel = kernel = self._workplace.kernels.connect(work.kernel_id, attendance)
        try:
            place = RunContext(
                kernel=kernel,
                store=self._workplace.runs,
                redactor=self._workplace.redactor(),
                lane=LANE,
                notebook=self._notebook(run, prompt) or work.notebook,
                prices=work.settings.prices,
                listener=self._heard,
                chat_id=self._chat.chat_id,
                user_id=work.settings.user,
                sources=work.sources,
            )
            approver = self._approver(run, work)
            self._outside.run(place, replace(work.run, approver=approver))
        finally:
            run.kernel = None
            kernel.close()

    def _notebook(self, run: LiveRun, prompt: WaitingPrompt) -> AttachedNotebook | None:
        driver = self._driver(prompt)
        if driver is None:
            return None
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
Find = Callable[[str], str]


@dataclass(frozen=True)
class McpWish:
    """What a client wants to work in."""

    path: str
    """The notebook's, from the server's root; empty: none, a kernel is started."""
    mode: Mode
    owner: str
    """The name that the person's chats are kept under."""


def settings_of(application: Application) -> Settings:
    """Settings as they are now; tools need no model, so that none may be set."""
    try:
        return application.settings()
    except SetupError:
        return application.chooser.unchecked_settings()


class ServerRoom:
    """``mcp_server.Workroom`` in a Jupyter server. Every method is for worker threads alone.

    Args:
        application: What the server's routes share.
        wish: What the client wants to work in.
        find_kernel: Id of the kernel that a notebook runs in; empty: it has none.
    """

    def __init__(self, application: Application, wish: McpWish, find_kernel: Find) -> None:
        self._application, self._wish, self._find_kernel = application, wish, find_kernel
        self._hub = open_hub(application)
        self._chat: OutsideChatSession | None = None
        self._own_kernel = ""
        """Id of a kernel that was started for the session; empty: none was."""
        self._own_cells = MemoryNotebook()

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""
        return self._wish.mode

    @property
    def limits(self) -> Limits:
        """How long one cell may take."""
        return settings_of(self._application).limits

    @property
    def notebook(self) -> Notebook | None:
        """The notebook as it is now."""
        opened = self._opened()
        if opened is None:
            return self._closed_notebook()
        page, attach = opened.page, opened.attach
        chat_id = self._chat.state.id if self._chat is not None else ""
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
        found = self._hub.sources.of(application.runs.database, settings_of(application), ())
        return own_sources(found)

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
        kernel_id = opened.attach.kernel_id if opened else ""
        work = OutsideWork(
            run,
            settings_of(self._application),
            kernel_id or self._kernel_of_file(),
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

    def close(self) -> None:
        """End the kernel that was started for the session, if one was."""
        kernel_id, self._own_kernel = self._own_kernel, ""
        with suppress(TimeoutError):
            self._hub.kernels.shut_down(kernel_id)

    def _session(self) -> OutsideChatSession:
        if self._chat is None:
            wish = self._wish
            chat = self._application.chats.create(wish.path, wish.owner)
            self._chat = OutsideChatSession(chat, self._hub, self._hub)
            self._hub.adopt(chat.chat_id, self._chat)
        return self._chat

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

    def _kernel_of_file(self) -> str:
        found = self._find_kernel(self._wish.path) if self._wish.path else ""
        if found:
            return found
        kernels = self._hub.kernels
        if not kernels.has(self._own_kernel):
            folder = Path(self._wish.path).parent.as_posix()
            name = f"cellwright agent {secrets.token_hex(3)}"
            self._own_kernel = kernels.start("" if folder == "." else folder, name)
        return self._own_kernel


class _ClosedNotebook(SavedNotebook):
    """A notebook file under its path from the server's root."""

    def __init__(self, file: Path, path: str) -> None:
        super().__init__(file)
        self._shown = path

    @property
    def path(self) -> str:
        return self._shown
