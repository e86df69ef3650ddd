"""One chat while the server runs: what is asked, what waits, who draws and answers."""

from __future__ import annotations

import json
import logging
import secrets
import threading
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cellwright.agent.policy import ApprovalAnswer
from cellwright.errors import CellwrightError, RunCancelled, SetupError
from cellwright.record.events import COMPACT_PROMPT
from cellwright.record.run_record import RecordedEvent
from cellwright.record.values import from_dict, to_dict
from cellwright.server import frames
from cellwright.server.application import check_kernels
from cellwright.server.frames import Ask, ContextItem, RefusedError, error_frame
from cellwright.server.live_run import (
    NOT_WAITING,
    Asker,
    LiveRun,
    PromptQueue,
    WaitingPrompt,
    asked_by,
)
from cellwright.server.tab import AttachedNotebook, Driver, Tab, TabAudience
from cellwright.stopping import WorkerThread
from cellwright.store.chat_rows import Chat, is_guest
from cellwright.store.process_claims import ChatBusyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellwright.server.answering import ChatAnswering, ChatEnvironment
    from cellwright.server.branching import ChatBranches
    from cellwright.session.previewing import Preview


# A prompt is checked before it is queued: what cannot be asked is refused at once.


GUEST_MODES = ("plan", "ask")


def checked_prompt(workplace: ChatEnvironment, tab: Tab, ask: Ask) -> WaitingPrompt:
    """The prompt, ready to wait its turn.

    Raises:
        RefusedError: It may not be asked.
    """
    _check_choices(workplace, tab, ask)
    ask = _with_what_stood_beside(workplace, ask)
    if not ask.prompt.strip() and not ask.context:
        raise RefusedError("empty", "The prompt is empty.", hint="Write what you want.")
    attach = tab.attached.get(ask.notebook) if ask.notebook else None
    if ask.notebook and attach is None:
        raise RefusedError(
            "no_notebook", "That notebook is not open in this tab.", hint="Open it, ask again."
        )
    if attach is None:
        _check_has_no_notebook(workplace, ask)
    return WaitingPrompt(ask, Asker(tab.nonce, tab.name), attach, secrets.token_hex(6))


def _check_has_no_notebook(workplace: ChatEnvironment, ask: Ask) -> None:
    """Return if the chat works without a notebook: in a closed one nobody would see what runs.

    Raises:
        RefusedError: Its notebook is not open in the page that asks.
    """
    path = workplace.chats.get(ask.chat).notebook_path
    if path:
        raise _refuse_closed(path, "Open it and ask again, or begin a new chat.")


def _refuse_closed(path: str, hint: str) -> RefusedError:
    return RefusedError(
        NOTEBOOK_CLOSED, f"The notebook of this chat, {path!r}, is not open.", hint=hint
    )


def format_context(context: tuple[ContextItem, ...]) -> str:
    """What stood beside a prompt, as a text to keep."""
    return json.dumps(to_dict(context), ensure_ascii=False) if context else ""


def _with_what_stood_beside(workplace: ChatEnvironment, ask: Ask) -> Ask:
    """The prompt; what takes the place of another is asked with what stood beside that."""
    if not ask.supersedes:
        return ask
    runs = {run.run_id: run for run in workplace.chats.runs(ask.chat) if not run.superseded_by}
    if ask.supersedes not in runs:
        raise RefusedError(
            "gone", "That question was replaced already.", hint="Ask the newest one again."
        )
    beside = runs[ask.supersedes].beside
    with suppress(ValueError, TypeError):
        if beside and not ask.context:
            return replace(ask, context=from_dict(tuple[ContextItem, ...], json.loads(beside)))
    return ask


def _check_choices(workplace: ChatEnvironment, tab: Tab, ask: Ask) -> None:
    configuration = workplace.configuration
    try:
        configuration.check_mode(ask.mode)
        configuration.check_model(ask.model)
    except SetupError as error:
        raise RefusedError("not_allowed", error.message, hint=error.hint) from error
    check_kernels(tab.person)
    if is_guest(tab.owner) and ask.mode not in GUEST_MODES:
        raise RefusedError(
            "not_allowed",
            f"Mode {ask.mode!r} is not for guests of this server.",
            hint=f"Use one of: {', '.join(GUEST_MODES)}.",
        )


log = logging.getLogger(__name__)
EXTENSION_LIMIT_SECONDS = 86_400.0
TAKE_OVER = "Close that tab, then take over here."
DRIVE_FIRST = "Open the notebook of this chat here, then answer."
LET_GO_SECONDS = 15.0
"""Everything that waits looks at Stop; what takes longer than this does not react at all."""
LET_GO = (
    f"It did not react within {LET_GO_SECONDS:.0f} s and was let go: the chat goes on, and what it "
    "was doing may go on for a while."
)
NOTEBOOK_CLOSED = "notebook_closed"
OPEN_FIRST = "The prompt waits: open the notebook, then press Resume."
NO_TURN = "That prompt does not wait any more."
BRANCHES_OPEN = "Several ways of the last prompt are open in this chat."


class ChatSession:
    """What tabs do to a chat and what they see of it; safe to use from any thread.

    Args:
        chat: The chat.
        workplace: What its runs work with.
        audience: Who is told.
    """

    def __init__(self, chat: Chat, workplace: ChatEnvironment, audience: TabAudience) -> None:
        self._chat = chat
        self._workplace, self._audience = workplace, audience
        self._answering: ChatAnswering | None = None
        """None: nothing was asked yet, or what answered was let go."""
        self._lock = threading.RLock()
        self._queue = PromptQueue()
        self._run: LiveRun | None = None
        self._worker: threading.Thread | None = None
        self._branches: ChatBranches | None = None
        """The ways of a prompt that are tried, or wait to be kept or dropped; None: there are none.
        """
        self._asker = Asker("", "")
        """The page that drives."""
        self._context_tokens = workplace.events.context_tokens(chat.chat_id)
        self._context_limit = 0
        self._superseded = self._superseded_now()
        self._is_closed = False

    @property
    def run_id(self) -> str:
        """Id of the run that goes on; empty: none."""
        run = self._run
        return run.progress.run if run is not None and not run.is_over else ""

    @property
    def waits_for_answer(self) -> bool:
        """Whether a person is asked whether a call may run, or for input."""
        run = self._run
        return run is not None and run.phase in ("approval", "input")

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is being answered."""
        branches = self._branches
        return self._run is not None or (branches is not None and branches.is_running)

    @property
    def state(self) -> frames.ChatState:
        """What a tab sees of it."""
        with self._lock:
            run = self._run if self._run is not None and not self._run.is_over else None
            return frames.ChatState(
                id=self._chat.chat_id,
                title=self._chat.title,
                notebook_path=self._chat.notebook_path,
                updated_at=self._chat.updated_at,
                run=self.run_id,
                phase=run.phase if run is not None else "idle",
                queue=self._queue.shown,
                queue_paused=self._queue.is_paused,
                driver=self._asker.tab if self._audience.page(self._asker.nonce) else "",
                approval=run.progress.approval if run is not None else "",
                approval_problem=run.approver.problem if run is not None else "",
                input=run.input if run is not None else None,
                context_tokens=self._context_tokens,
                context_limit=self._context_limit,
                superseded=self._superseded,
                branches=self._branches.phase if self._branches is not None else "",
            )

    def tell(self) -> None:
        """Send the state to those who follow."""
        self._audience.tell(self.state)

    def ask(self, tab: Tab, ask: frames.Ask) -> None:
        """Answer a prompt now or in its turn, and tell the page which.

        Raises:
            CellwrightError: It may not be asked.
        """
        prompt = checked_prompt(self._workplace, tab, ask)
        with self._lock:
            self._check_open()
            self._check_no_branches()
            run = self._run
            busy = run is not None and not run.is_over
            # One that was asked just before may not have been taken up by the worker yet.
            waits = (busy or self._queue.has_next) and not ask.instead
            if waits and self._queue.is_full:
                raise RefusedError("busy", "Too many prompts wait.", hint="Wait for some of them.")
            if waits:
                self._queue.add(prompt)
            else:
                self._queue.put_first(prompt)
            if busy and not waits and run is not None:
                self._replace(run)
            # Told before the run can begin: the page takes a prompt for sent until both have come.
            tab.outbox.send(frames.Accepted(ask.request, ask.chat, waits))
            self._work_on()
        self.tell()

    def compact(self, tab: Tab, frame: frames.Compact) -> None:
        """Make the conversation shorter now.

        Raises:
            RefusedError: A run goes on, or prompts wait.
        """
        ask = frames.Ask(frame.request, frame.chat, COMPACT_PROMPT, "plan")
        asker = Asker(tab.nonce, tab.name)
        with self._lock:
            self._check_open()
            self._check_no_branches()
            run = self._run
            if (run is not None and not run.is_over) or self._queue.has_next:
                raise RefusedError("busy", "A run goes on in this chat.", hint="Wait for its end.")
            self._queue.put_first(
                WaitingPrompt(ask, asker, None, secrets.token_hex(6), compacts=True)
            )
            tab.outbox.send(frames.Accepted(frame.request, frame.chat, queued=False))
            self._work_on()
        self.tell()

    @property
    def branches(self) -> ChatBranches | None:
        """The ways of a prompt that are open; None: there are none."""
        return self._branches

    def branch(self, tab: Tab, ask: frames.Ask, count: int, models: Sequence[str]) -> ChatBranches:
        """Try a prompt in several ways, each over a copy of the notebook's kernel.

        Args:
            tab: The page that asks.
            ask: The prompt.
            count: How many ways; 0: one for each model, else three.
            models: Who is asked; empty: the model of the prompt.

        Raises:
            CellwrightError: It may not be asked, or the kernel cannot be copied.
        """
        prompt = checked_prompt(self._workplace, tab, ask)
        for model in models:
            _check_choices(self._workplace, tab, replace(ask, model=model))
        with self._lock:
            self._check_open()
            self._check_no_branches()
            if self._run is not None or self._queue.has_next:
                raise RefusedError("busy", "A run goes on in this chat.", hint="Wait for its end.")
            run = LiveRun(prompt, self.tell)
            self._branches = branches = self._workplace.open_branches(run, self.tell)
            self._asker = prompt.asker
        self.tell()
        try:
            driver = self._driver(prompt)
            assert driver is not None, "the page showed the notebook"
            with ExitStack() as claim:
                claim.enter_context(self._workplace.chats.claims.held(self._chat.chat_id))
                self._open_answering().branch(branches, driver, claim, count=count, models=models)
        except RunCancelled as error:
            self._end_branches()
            raise RefusedError("stopped", "You stopped it before it began.") from error
        except BaseException:
            self._end_branches()
            raise
        return branches

    def keep_branch(self, number: int) -> str:
        """Let one of the ways take the place of the kernel, and put its run into the chat; its id.

        Raises:
            CellwrightError: There is none of that number, or it cannot be kept.
        """
        branches, shared = self._branches, self._workplace
        if branches is None:
            raise SetupError("There are no ways to choose from.", hint="Reload the page.")
        if branches.is_running:
            raise RefusedError("busy", "The ways still work.", hint="Wait for them, or stop them.")
        with shared.chats.claims.held(self._chat.chat_id):
            run_id = branches.keep(number)
            beside = format_context(shared.redactor().value(branches.run.prompt.ask.context))
            shared.chats.add_run(self._chat.chat_id, run_id, beside=beside)
            shared.chats.notes.forget(self._chat.chat_id, branches.taken_notes)
            self._open_answering().go_on_after(shared.runs.record(run_id))
        with self._lock:
            self._chat, self._branches = shared.chats.get(self._chat.chat_id), None
        self._audience.publish(self._chat.chat_id, shared.runs.events(run_id))
        self.tell()
        return run_id

    def drop_branches(self) -> None:
        """End all ways that are tried: nothing of them happened in the kernel."""
        self._end_branches()

    def stop(self) -> None:
        """Stop the run, if one goes on, or the ways that are tried."""
        with self._lock:
            run, branches = self._run, self._branches
        if branches is not None:
            branches.stop()
        if run is not None:
            self._end(run)

    def answer(self, tab: Tab, frame: frames.AnswerFrame) -> None:
        """What the person says of a call.

        Raises:
            RefusedError: This page may not say so, or nothing of the kind is being asked.
        """
        run = self._driven(tab)
        answer = ApprovalAnswer(
            frame.allowed,
            "person",
            frame.reason,
            frame.for_session,
            adopted=frame.allowed and frame.adopt,
        )
        if not run.approver.answer(frame.call_id, answer):
            raise RefusedError("gone", NOT_WAITING)

    def preview(self, call_id: str) -> Preview:
        """What the call would do that the person is asked about, tried in a copy of the kernel.

        Raises:
            RefusedError: It does not wait for an answer.
            SetupError: It runs no code.
            KernelError: The kernel cannot be copied; the message says why.
            RunCancelled: It was answered meanwhile, or stopped.
        """
        run = self._run
        if run is None or run.notebook is None:
            raise RefusedError("gone", NOT_WAITING)
        approver, kernel_id = run.approver, run.notebook.driver.attach.kernel_id
        had_problem = approver.problem != ""
        with approver.trying(call_id) as (call, stop):
            if had_problem:
                self.tell()
            if approver.previews is None:
                approver.previews = self._workplace.open_previews(kernel_id)
            return approver.previews.look(call, stop)

    def end_preview(self) -> None:
        """End the trial of the call that the person is asked about, if there is one."""
        run = self._run
        if run is not None:
            run.approver.end_trial()

    def type(self, tab: Tab, frame: frames.Input) -> None:
        """What the person typed for a cell.

        Raises:
            RefusedError: This page may not, or nothing of the kind is being asked.
        """
        if not self._driven(tab).keyboard.answer(frame.request, frame.value):
            raise RefusedError("gone", "The cell does not wait for this any more.")

    def extend(self, tab: Tab, frame: frames.Extend) -> None:
        """Let the running cell go on for longer.

        Raises:
            RefusedError: This page may not, or no cell runs.
        """
        kernel, seconds = self._driven(tab).kernel, frame.seconds
        if not 0 < seconds <= EXTENSION_LIMIT_SECONDS:
            raise RefusedError("bad_frame", f"A cell cannot go on for {seconds!r} s longer.")
        if kernel is None or not kernel.extend(seconds):
            raise RefusedError("gone", "No cell runs now.")

    def change_queue(self, tab: Tab, frame: frames.Queue) -> None:
        """Remove, change or move a waiting prompt, or go on with the queue.

        Raises:
            RefusedError: There is no such prompt.
        """
        with self._lock:
            match frame.action:
                case "resume":
                    self._queue.resume()
                    self._work_on()
                case "send_now":
                    self._send_now(frame.id)
                case _:
                    if not self._changed(tab, frame):
                        raise RefusedError("gone", NO_TURN)
        self.tell()

    def drive(self, tab: Tab, frame: frames.Drive) -> None:
        """Let a page insert the cells and answer, if no other one does.

        Raises:
            RefusedError: Another one does, or this one does not have the notebook open.
        """
        with self._lock:
            driving = self._audience.page(self._asker.nonce)
            if driving is not None and driving is not tab:
                raise RefusedError("driven", "Another tab works with this chat.", hint=TAKE_OVER)
            notebook = self._run.notebook if self._run is not None else None
            if notebook is not None:
                attach = tab.attached.get(frame.notebook)
                if attach is None or attach.path != notebook.path:
                    raise RefusedError(
                        "no_notebook",
                        f"The run works with {notebook.path!r}, which is not open here.",
                        hint="Open it first.",
                    )
                notebook.move(attach)
            self._asker = Asker(tab.nonce, tab.name)
        self.tell()

    def attached(self, tab: Tab, attach: frames.Attach) -> None:
        """A page says something new of a notebook; a run goes on with it."""
        notebook = self._run.notebook if self._run is not None else None
        if notebook is None or tab.nonce != self._asker.nonce:
            return
        # What is opened again, or is still open in a second view, has another id.
        is_back = notebook.is_closed and attach.path == notebook.path
        if is_back or attach.notebook == notebook.driver.attach.notebook:
            notebook.move(attach)

    def detached(self, tab: Tab, notebook_id: str) -> None:
        """The person closed a notebook: a run that works with it ends at its next tool."""
        notebook = self._notebook_of(tab, notebook_id)
        if notebook is not None:
            notebook.is_closed = True

    def changed(self, tab: Tab, frame: frames.Changed) -> None:
        """The person changed a notebook."""
        notebook = self._notebook_of(tab, frame.notebook)
        if notebook is not None:
            notebook.changed(frame)

    def page_changed(self, nonce: str) -> None:
        """A page came or went."""
        if nonce == self._asker.nonce:
            self.tell()

    def renamed(self, chat: Chat) -> None:
        """The chat has another title or notebook."""
        with self._lock:
            self._chat = chat
        self.tell()

    def close(self, reason: str) -> None:
        """Stop for good; ``join`` waits for it."""
        with self._lock:
            self._is_closed = True
            if self._run is not None:
                self._run.stop.set(reason)
            if self._branches is not None:
                self._branches.stop(reason)

    def join(self, seconds: float) -> None:
        """Wait for the run to end, and let go of what it worked with."""
        worker = self._worker
        if worker is not None:
            worker.join(seconds)
        branches = self._branches
        if branches is not None:
            branches.join(seconds)
            branches.close()
        if self._answering is not None:
            self._answering.close()

    def _end_branches(self) -> None:
        with self._lock:
            branches = self._branches
        if branches is not None:
            branches.close()
        with self._lock:
            if self._branches is branches:
                self._branches = None
        self.tell()

    def _check_no_branches(self) -> None:
        if self._branches is not None:
            raise RefusedError("busy", BRANCHES_OPEN, hint="Keep one of them, or drop all.")

    def _check_open(self) -> None:
        if self._is_closed:
            raise RefusedError("closed", "The chat was deleted, or the server is stopping.")

    def _changed(self, tab: Tab, frame: frames.Queue) -> bool:
        if frame.action == "remove":
            return self._queue.remove(frame.id) is not None
        found = True
        if frame.prompt is not None:
            found = self._queue.edit(frame.id, frame.prompt, tab)
        if frame.position is not None:
            found = self._queue.move(frame.id, frame.position)
        return found

    def _send_now(self, prompt_id: str) -> None:
        prompt = self._queue.remove(prompt_id)
        if prompt is None:
            raise RefusedError("gone", NO_TURN)
        self._queue.put_first(prompt)
        if self._run is not None:
            self._replace(self._run)
        self._work_on()

    def _driven(self, tab: Tab) -> LiveRun:
        """The run, if this page drives it."""
        with self._lock:
            if not tab.nonce or not secrets.compare_digest(
                tab.nonce.encode(), self._asker.nonce.encode()
            ):
                if self._audience.page(self._asker.nonce) is None:
                    raise RefusedError(
                        "not_driver", "The tab that asked is gone.", hint=DRIVE_FIRST
                    )
                raise RefusedError(
                    "not_driver", "Only the tab that asked may answer.", hint="Answer there."
                )
            if self._run is None:
                raise RefusedError("gone", "No run goes on in this chat.")
            return self._run

    def _notebook_of(self, tab: Tab, notebook_id: str) -> AttachedNotebook | None:
        run = self._run
        notebook = run.notebook if run is not None else None
        if notebook is None or notebook.driver.attach.notebook != notebook_id:
            return None
        return notebook if tab.nonce == self._asker.nonce else None

    def _end(self, run: LiveRun) -> None:
        """Stop a run; where its thread does not react it is let go."""
        run.stop.set()
        patience = threading.Timer(LET_GO_SECONDS, self._let_go, (run,))
        patience.daemon = True
        patience.start()

    def _replace(self, run: LiveRun) -> None:
        """Stop a run so that another prompt can go before it."""
        run.is_replaced = True
        self._end(run)

    def _let_go(self, run: LiveRun) -> None:
        """Go on without the thread of a run that was stopped and does not react."""
        if self._run is not run:
            return
        log.warning("cellwright: a run did not react to Stop and was let go")
        if not run.is_over:
            run.stop.let_go(f"{run.stop.reason}. {LET_GO}")
        with self._lock:
            if self._run is not run:
                return
            left, self._answering = self._answering, None
            self._run = self._worker = None
            if not run.is_replaced:
                self._queue.pause()
        self._workplace.chats.claims.let_go(self._chat.chat_id)
        if left is not None:
            left.close()
        with self._lock:
            self._work_on()
        self.tell()

    def _open_answering(self) -> ChatAnswering:
        """What answers the prompts of this chat; for its worker thread."""

        def hear(recorded: tuple[RecordedEvent, ...]) -> None:
            # A thread that was let go may wake up during a later run.
            if self._answering is answering:
                self._heard(recorded)

        with self._lock:
            if self._answering is None:
                self._answering = self._workplace.open_answering(self._chat.chat_id, hear)
            answering = self._answering
        return answering

    def _work_on(self) -> None:
        if self._queue.has_next and self._worker is None and not self._is_closed:
            self._worker = WorkerThread(self._work, name="run")
            self._worker.start()

    def _work(self) -> None:
        while (run := self._next_run()) is not None:
            self.tell()
            good = self._answer(run)
            with self._lock:
                if self._run is not run:
                    return  # it was let go of
                self._context_limit = run.context_limit or self._context_limit
                self._run = None
                if not good and not run.is_replaced:
                    self._queue.pause()
            self.tell()

    def _next_run(self) -> LiveRun | None:
        with self._lock:
            # What waits on a server that stops is still told: its page keeps it.
            prompt = None if self._is_closed else self._queue.take()
            if prompt is None:
                self._worker = None
                return None
            # The page may have been loaded again: then the one that drives in its place asks.
            nonces = (prompt.asker.nonce, self._asker.nonce)
            page = next(filter(None, map(self._audience.page, nonces)), None)
            if page is not None:
                prompt = asked_by(page, prompt)
            self._run = LiveRun(prompt, self.tell)
            self._asker = prompt.asker
            return self._run

    def _answer(self, run: LiveRun) -> bool:
        """Whether it went well."""
        try:
            with self._workplace.chats.claims.held(self._chat.chat_id):
                answering = self._open_answering()
                if run.prompt.compacts:
                    answering.compact(self._context_tokens)
                else:
                    answering.answer(run, self._driver(run.prompt))
        except RunCancelled:
            return False
        except ChatBusyError as error:
            self._complain(run, RefusedError("busy", error.message, hint=error.hint))
            return False
        except CellwrightError as error:
            self._complain(run, error)
            return False
        except Exception as error:  # the chat goes on; the log has the traceback
            log.exception("cellwright: a run failed")
            self._complain(run, RefusedError("internal", f"cellwright failed: {error!r}"))
            return False
        return run.progress.status == "completed"

    def _complain(self, run: LiveRun, error: CellwrightError) -> None:
        """Tell the page why its prompt was not answered.

        While the page is away, or has the notebook closed, the prompt waits.
        """
        tab = self._audience.page(run.prompt.asker.nonce)
        is_closed = isinstance(error, RefusedError) and error.code == NOTEBOOK_CLOSED
        waits = (tab is None or is_closed) and not run.progress.run and not run.prompt.compacts
        if waits:
            with self._lock:
                self._queue.put_back(run.prompt)
        if tab is not None:
            ask, redactor = run.prompt.ask, self._workplace.redactor()
            # A page takes a prompt that is refused by its name back into its field.
            request = "" if waits else ask.request
            tab.outbox.send(error_frame(error, redactor, request=request, chat=ask.chat))

    def _driver(self, prompt: WaitingPrompt) -> Driver | None:
        """The notebook that a prompt is about, and who draws it; None: it is about none.

        Raises:
            RefusedError: Its page has closed the notebook meanwhile.
        """
        if prompt.attach is None:
            return None
        page = self._audience.page(prompt.asker.nonce)
        attached = page.attached if page is not None else {}
        attach = attached.get(prompt.attach.notebook, prompt.attach)
        if page is not None and attach.notebook not in attached:
            raise _refuse_closed(attach.path, OPEN_FIRST)
        if attach.path != self._chat.notebook_path:
            chat = self._workplace.chats.move(self._chat.chat_id, attach.path)
            self.renamed(chat)
        return Driver(lambda: self._audience.page(self._asker.nonce), attach)

    def _heard(self, recorded: tuple[RecordedEvent, ...]) -> None:
        """Told of every event, from any thread."""
        run = self._run
        if run is None or not recorded:
            return
        if not run.progress.run:
            self._begin(run, recorded[0].run_id)
        before = (run.phase, run.progress.approval, run.progress.context_tokens)
        for item in recorded:
            run.note(item.event)
        self._audience.publish(self._chat.chat_id, recorded)
        if before != (run.phase, run.progress.approval, run.progress.context_tokens):
            self._context_tokens = run.progress.context_tokens or self._context_tokens
            self.tell()

    def _begin(self, run: LiveRun, run_id: str) -> None:
        run.progress.run = run_id
        try:
            beside = format_context(self._workplace.redactor().value(run.prompt.ask.context))
            self._workplace.chats.add_run(self._chat.chat_id, run_id, run.supersedes, beside)
            chat = self._workplace.chats.get(self._chat.chat_id)
            superseded = self._superseded_now()
        except CellwrightError:
            # It was deleted just now; the run is about to be stopped.
            return
        with self._lock:
            self._chat, self._superseded = chat, superseded
        self.tell()

    def _superseded_now(self) -> tuple[frames.SupersededRun, ...]:
        runs = self._workplace.chats.runs(self._chat.chat_id)
        return tuple(
            frames.SupersededRun(run.run_id, run.superseded_by) for run in runs if run.superseded_by
        )
