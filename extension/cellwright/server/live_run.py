"""One run while it goes on: how far it has got, and everything that a tab can reach of it."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cellwright.agent.policy import ApprovalAnswer
from cellwright.errors import KernelError
from cellwright.kernels.client import ClientKernel
from cellwright.kernels.fresh import LateKernel
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    HistoryCompacted,
    ModelAsked,
    ModelReplied,
    RunFinished,
    RunStatus,
    ToolStarted,
)
from cellwright.server.frames import (
    Ask,
    Attach,
    InputAsked,
    Phase,
    QueuedPrompt,
    RefusedError,
)
from cellwright.server.tab import AttachedNotebook, Tab
from cellwright.stopping import Stop
from cellwright.tools import FormRequest

if TYPE_CHECKING:
    from cellwright.session.previewing import Previews

# What the person is asked while a run goes on, and waited for by its worker thread.
#
# That is whether a call may run, and what a cell wants of ``input()``.
#
# Only the page that asked may answer, and what tells it from others is a nonce that lives in the
# page's memory alone: code in a kernel can find the server's token and open a socket, but not that.
#
# What this does not protect against: code that runs in the page itself, such as a script in an
# output that the person trusts; a page that is gone, whose place any page with the token may take.

NO_RESULT = "There is no result of a preview to keep. Preview it again, or run it."
NOT_WAITING = "That call does not wait for an answer any more."


class PanelApprover:
    """Waits for the person's answer to one call at a time.

    Args:
        stop: Of the run; ends the waiting.
        tell: Called when something goes wrong that the person has to know.
    """

    previews: Previews | None = None
    """Those of the call that waits; None: it was not tried."""
    problem = ""
    """Why the result of its preview could not be kept."""

    def __init__(self, stop: Stop, tell: Callable[[], None] = lambda: None) -> None:
        self._stop, self._tell = stop, tell
        self._changed = threading.Condition()
        self._call_id = ""
        self._call: ToolStarted | None = None
        self._answer: ApprovalAnswer | None = None
        self._trial: Stop | None = None
        self._was_tried = False

    def expect(self, call_id: str) -> None:
        """An answer to this call is welcome from now on."""
        with self._changed:
            if self._call_id != call_id:
                self._call_id, self._answer = call_id, None

    def answer(self, call_id: str, answer: ApprovalAnswer) -> bool:
        """What the person said; False: nothing of the kind is being asked."""
        with self._changed:
            if not self._call_id or call_id != self._call_id or self._answer is not None:
                return False
            self._answer = answer
            self._changed.notify_all()
            self.end_trial("answered")
            return True

    @contextmanager
    def trying(self, call_id: str) -> Iterator[tuple[ToolStarted, Stop]]:
        """The call that waits, and what ends its trial: the answer, another trial, or Stop.

        Raises:
            RefusedError: That call does not wait for an answer.
        """
        with self._changed:
            call = self._call
            if call is None or call.call_id != call_id or self._answer is not None:
                raise RefusedError("gone", NOT_WAITING)
            self.end_trial("begun anew")
            self._trial, self.problem = Stop(), ""
            stop = self._trial
        try:
            yield call, stop
            with self._changed:
                self._was_tried = self._was_tried or self._call is call
        finally:
            with self._changed:
                if self._trial is stop:
                    self._trial = None

    def end_trial(self, reason: str = "stopped by the user") -> None:
        """End the trial of the call that waits, if there is one."""
        with self._changed:
            if self._trial is not None:
                self._trial.set(reason)

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call may run.

        Raises:
            RunCancelled: The person stopped the run instead.
        """
        self.expect(call.call_id)
        self._call = call
        try:
            while True:
                with self._changed:
                    while self._answer is None:
                        self._stop.wait_on(self._changed)
                    answer = replace(self._answer, previewed=self._was_tried)
                if not answer.adopted or self._can_adopt(call):
                    return answer
        finally:
            with self._changed:
                self._call_id, self._call, self._was_tried = "", None, False
                self.end_trial("because the run was stopped")
                previews, self.previews, self.problem = self.previews, None, ""
            if previews is not None:
                previews.drop()

    def _can_adopt(self, call: ToolStarted) -> bool:
        """Whether the result of the call's preview takes its place; else the call goes on to wait.

        Not sooner than here: reading the result is like running the call, so the page that asked
        has to have allowed it.
        """
        try:
            if self.previews is None:
                raise KernelError(NO_RESULT)
            self.previews.keep(call)
        except KernelError as error:
            with self._changed:
                self._answer, self.problem = None, error.message
            self._tell()
            return False
        return True


# What a running cell asks with ``input()``, or a service, put to the person in the panel.


class PanelKeyboard:
    """The one question that may be open at a time.

    Args:
        tell: Called whenever the question has changed.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._open: _Question | None = None

    @property
    def asked(self) -> InputAsked | None:
        """What is being asked; None: nothing."""
        question = self._open
        return question.asked if question is not None else None

    def ask(self, prompt: str, password: bool) -> _Question:
        """Put a question to the person."""
        return self._put(_Question(InputAsked(secrets.token_hex(8), prompt, password), self._close))

    def ask_form(self, form: FormRequest) -> _Question:
        """Put a form of a service to the person: a ``FormAsker``."""
        asked = InputAsked(secrets.token_hex(8), form.message, form=form)
        return self._put(_Question(asked, self._close))

    def answer(self, request: str, value: str) -> bool:
        """What the person typed; False: nothing of the kind is being asked."""
        with self._lock:
            question = self._open
            if question is None or question.asked.request != request:
                return False
            question.typed = value
        return True

    def _put(self, question: _Question) -> _Question:
        with self._lock:
            self._open = question
        self._tell()
        return question

    def _close(self, question: _Question) -> None:
        with self._lock:
            if self._open is not question:
                return
            self._open = None
        self._tell()


class _Question:
    """A question that waits: ``kernels.PendingInput``."""

    def __init__(self, asked: InputAsked, on_close: Callable[[_Question], None]) -> None:
        self.asked = asked
        self.typed: str | None = None
        self._on_close = on_close

    def value(self) -> str | None:
        """What they typed; None: nothing yet."""
        return self.typed

    def close(self) -> None:
        """Nobody waits for it any more."""
        self._on_close(self)


# Prompts that wait their turn in a chat.


PROMPTS = 50


@dataclass(frozen=True)
class Asker:
    """The page that asked."""

    nonce: str
    tab: str


@dataclass(frozen=True)
class WaitingPrompt:
    """A prompt and who asked it."""

    ask: Ask
    asker: Asker
    attach: Attach | None
    """The notebook it is about, as it was then; None: none."""
    id: str
    compacts: bool = False
    """Nothing is asked: the conversation is made shorter."""


def asked_by(tab: Tab, prompt: WaitingPrompt) -> WaitingPrompt:
    """The prompt with a page as the one that asks; unchanged if its notebook is not open there."""
    before, asker = prompt.attach, Asker(tab.nonce, tab.name)
    if before is None:
        return replace(prompt, asker=asker)
    # Each page names notebooks itself, and anew when it opens one again.
    by_path = {attach.path: attach for attach in tuple(tab.attached.values())}
    shown = tab.attached.get(before.notebook) or by_path.get(before.path)
    if shown is None:
        return prompt
    ask = replace(prompt.ask, notebook=shown.notebook)
    return replace(prompt, ask=ask, asker=asker, attach=shown)


class PromptQueue:
    """Prompts in their order; the owner holds its own lock."""

    def __init__(self) -> None:
        self.is_paused = False
        """Nothing is taken until the person says so: the last run failed or was stopped."""
        self._prompts: list[WaitingPrompt] = []
        self._next: WaitingPrompt | None = None

    def __len__(self) -> int:
        return len(self._prompts)

    @property
    def is_full(self) -> bool:
        """Whether no more prompts fit."""
        return len(self._prompts) >= PROMPTS

    @property
    def has_next(self) -> bool:
        """Whether a prompt's turn has come."""
        return self._next is not None or bool(self._prompts and not self.is_paused)

    @property
    def shown(self) -> tuple[QueuedPrompt, ...]:
        """What waits, as it is shown."""
        return tuple(QueuedPrompt(item.id, item.ask.prompt) for item in self._prompts)

    def add(self, prompt: WaitingPrompt) -> None:
        """Put a prompt at the end."""
        self._prompts.append(prompt)

    def put_first(self, prompt: WaitingPrompt) -> None:
        """Let a prompt be the next one, paused or not."""
        if self._next is not None:
            self._prompts.insert(0, self._next)
        self._next = prompt

    def put_back(self, prompt: WaitingPrompt) -> None:
        """Let a prompt that was taken wait again, before all others, until the person goes on."""
        self._prompts.insert(0, prompt)
        self.is_paused = True

    def take(self) -> WaitingPrompt | None:
        """The prompt whose turn it is."""
        prompt, self._next = self._next, None
        if prompt is None and self._prompts and not self.is_paused:
            prompt = self._prompts.pop(0)
        return prompt

    def pause(self) -> None:
        """Take nothing more, if anything waits."""
        self.is_paused = bool(self._prompts)

    def resume(self) -> None:
        """Go on."""
        self.is_paused = False

    def remove(self, prompt_id: str) -> WaitingPrompt | None:
        """Take a prompt out; None: it does not wait any more."""
        for prompt in self._prompts:
            if prompt.id == prompt_id:
                self._prompts.remove(prompt)
                self.is_paused = self.is_paused and bool(self._prompts)
                return prompt
        return None

    def edit(self, prompt_id: str, text: str, tab: Tab) -> bool:
        """Change a prompt's text; the page asks it from now on if it has its notebook open."""
        for index, prompt in enumerate(self._prompts):
            if prompt.id == prompt_id:
                changed = replace(prompt, ask=replace(prompt.ask, prompt=text))
                self._prompts[index] = asked_by(tab, changed)
                return True
        return False

    def move(self, prompt_id: str, position: int) -> bool:
        """Put a prompt elsewhere; 0 is the first place."""
        was_paused = self.is_paused
        prompt = self.remove(prompt_id)
        if prompt is None:
            return False
        self._prompts.insert(max(0, position), prompt)
        self.is_paused = was_paused
        return True


class RunProgress:
    """Fed with events, in order."""

    def __init__(self) -> None:
        self.run = ""
        """The run's id; empty: nothing was recorded yet."""
        self.status: RunStatus = "running"
        self.approval = ""
        """The call that waits for the person; empty: none."""
        self.context_tokens = 0
        """Of the last request; 0: there was none yet."""
        self.is_waiting = False
        """Somebody else's cell is waited for."""
        self._phase: Phase = "starting"

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.status != "running"

    @property
    def phase(self) -> Phase:
        """What it is doing."""
        if self.is_over:
            return "idle"
        return "kernel_busy" if self.is_waiting else self._phase

    def note(self, event: Event) -> None:
        """Something happened."""
        match event:
            case ModelAsked():
                self._phase = "model"
            case ModelReplied():
                self.context_tokens = event.usage.prompt_tokens
            case HistoryCompacted():
                self.context_tokens = event.tokens_after
            case ToolStarted():
                self._phase = "tool"
            case ApprovalAsked():
                self._phase, self.approval = "approval", event.call_id
            case ApprovalAnswered():
                self._phase, self.approval = "tool", ""
            case RunFinished():
                self.status, self.approval = event.status, ""
            case _:
                pass


RunKernel = ClientKernel | LateKernel[Any]
NOTEBOOK_CLOSED = "ended: its notebook was closed"


class LiveRun:
    """A prompt that is being answered.

    Args:
        prompt: What is asked, and by which page.
        tell: Called whenever a tab would see a difference.
    """

    def __init__(self, prompt: WaitingPrompt, tell: Callable[[], None]) -> None:
        self.prompt = prompt
        self.stop = Stop()
        self.progress = RunProgress()
        self.approver = PanelApprover(self.stop, tell)
        self.keyboard = PanelKeyboard(tell)
        self.notebook: AttachedNotebook | None = None
        self.kernel: RunKernel | None = None
        self.is_replaced = False
        """It was stopped so that another prompt can go before it."""
        self.supersedes = ""
        """The run that it takes the place of, with all that followed; empty: none."""
        self.context_limit = 0
        """How many tokens the model takes; 0: not known."""
        self._tell = tell

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.progress.is_over

    @property
    def phase(self) -> Phase:
        """What it is doing."""
        phase = self.progress.phase
        return "input" if phase != "idle" and self.input is not None else phase

    @property
    def input(self) -> InputAsked | None:
        """What its cell asks the person; None: nothing."""
        return self.keyboard.asked

    def note(self, event: Event) -> None:
        """Something happened in it."""
        self.progress.note(event)
        if isinstance(event, ApprovalAsked):
            self.approver.expect(event.call_id)
        closed = self.notebook is not None and self.notebook.is_closed
        if closed and isinstance(event, ToolStarted):
            self.stop.set(NOTEBOOK_CLOSED)

    def waits(self, waiting: bool) -> None:
        """Somebody else's cell is waited for, or no longer."""
        self.progress.is_waiting = waiting
        self._tell()
