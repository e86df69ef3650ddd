"""A chat in which an agent of somebody else's works: the panel draws, answers and stops it."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, replace

from cellwright.agent.policy import Answer, Approver
from cellwright.context.turn_sources import TurnSource
from cellwright.errors import RunCancelled, SetupError
from cellwright.kernels.fresh import Attendance
from cellwright.mcp_server import OutsideRun
from cellwright.mcp_server.conversing import OutsideConversation
from cellwright.notebooks import Notebook
from cellwright.record.events import ToolStarted
from cellwright.server import frames
from cellwright.server.answering import Workplace
from cellwright.server.approvals import PanelApprover
from cellwright.server.attached import AttachedNotebook
from cellwright.server.audience import Audience
from cellwright.server.chat_session import ChatSession
from cellwright.server.live_run import LiveRun
from cellwright.server.prompt_queue import Asker, Prompt
from cellwright.server.tab import Tab
from cellwright.server.tab_frames import Ask, Attach
from cellwright.session.questions import Place
from cellwright.settings import Settings
from cellwright.store.chat_rows import Chat

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
class _OutsidePrompt(Prompt):
    """A run that waits its turn like a prompt."""

    work: OutsideWork | None = None


class OutsideChatSession(ChatSession):
    """``ChatSession`` that also does runs of an outside agent.

    Args:
        chat: The chat.
        workplace: What its runs work with.
        audience: Who is told.
    """

    def __init__(self, chat: Chat, workplace: Workplace, audience: Audience) -> None:
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
        opened, question = work.opened, work.run.question
        asker = Asker(opened.page.nonce, opened.page.name) if opened else Asker("", "")
        attach = opened.attach if opened else None
        ask = Ask("", self._chat.chat_id, question.prompt, question.mode)
        prompt = _OutsidePrompt(ask, asker, attach, secrets.token_hex(6), work=work)
        with self._lock:
            self._check_open()
            self._ended, self._failure = threading.Event(), None
            self._queue.put_first(prompt)
            self._work_on()
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

    def _do(self, run: LiveRun, prompt: Prompt, work: OutsideWork) -> None:
        # The client's Stop and the panel's are one.
        run.stop = work.run.stop
        run.approver = PanelApprover(run.stop)
        run.stop.check()
        attendance = Attendance(run.keyboard.ask, run.waits)
        run.kernel = kernel = self._workplace.kernels.connect(work.kernel_id, attendance)
        try:
            place = Place(
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

    def _notebook(self, run: LiveRun, prompt: Prompt) -> AttachedNotebook | None:
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

    def ask(self, call: ToolStarted, reason: str) -> Answer:
        """What the person says.

        Raises:
            RunCancelled: They stopped the run instead.
        """
        client = self._client
        self._panel.expect(call.call_id)
        if client is not None:
            asking = threading.Thread(target=self._hand_on, args=(client, call, reason))
            asking.daemon = True
            asking.start()
        return self._panel.ask(call, reason)

    def _hand_on(self, client: Approver, call: ToolStarted, reason: str) -> None:
        try:
            answer = client.ask(call, reason)
        except RunCancelled:
            return
        if answer.by == "person":
            self._panel.answer(call.call_id, answer)
