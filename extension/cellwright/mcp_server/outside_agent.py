"""An agent of somebody else's in the place of a model, and the runs that its calls make up.

The run waits for it as it would wait for a model. No tokens are counted: what its own model costs
is not known here.
"""

from __future__ import annotations

import collections
import itertools
import json
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from cellwright.agent.policy import Approver
from cellwright.context.turn_sources import TurnSource
from cellwright.errors import CellwrightError, RunCancelled
from cellwright.llm import Capabilities, LMEvent
from cellwright.mcp_server import INSTRUCTIONS, ClientFacts, OutsideRun, Workroom
from cellwright.record.events import (
    ApprovalAnswered,
    CellOutput,
    Event,
    RunFinished,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.messages import (
    AssistantMessage,
    Parameters,
    Prompt,
    Reply,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from cellwright.record.outputs import StreamOutput
from cellwright.session.composer import RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.services import ModelService
from cellwright.settings import Limits
from cellwright.stopping import Stop, WorkerThread

IDLE_SECONDS = 900.0
"""A run in which nothing is called for so long has ended; the next call begins another one."""
LEFT = "The client ended its session."
IDLE = "The client called no further tool for {minutes:.0f} minutes."
MOVED = "The next call works elsewhere, or in a kernel that was started anew."
LIMIT = "The run reached a limit; the next call begins another one."
PROGRESS_CHARACTERS = 200
NOT_MADE = "The call was not made: {reason}"
NOT_FINISHED = "The call was not finished: {reason} What it had done by then stays."


@dataclass(frozen=True)
class CallQuestion:
    """What whoever sits before the client is asked about a call."""

    message: str
    schema: Mapping[str, Any]
    """JSON Schema of the answer's fields."""


class OutsideCall:
    """One call of a tool, from when it comes in until it is answered; safe to use from any thread.

    Args:
        number: Which one of its session.
        name: The tool's.
        arguments: As they came.
    """

    def __init__(self, number: int, name: str, arguments: Mapping[str, Any]) -> None:
        self.call = ToolCall(f"mcp_{number}", name, json.dumps(dict(arguments), ensure_ascii=False))
        self.on_change: Callable[[], None] = lambda: None
        """Called when there is something new to tell the client; from any thread."""
        self.is_cancelled = False
        self.has_begun = False
        """The run has looked at it; cells may have run for it."""
        self.was_not_asked = False
        """The mode refused it, and nobody was asked."""
        self.status = ""
        """``ok``, ``error``, ``refused`` or ``cancelled``; empty: it is not answered yet."""
        self.question: CallQuestion | None = None
        """What the client is to ask; None: nothing, or no more."""
        self._changed = threading.Condition()
        self._said = ""
        self._reply: Mapping[str, Any] | None = None
        self._message: ToolMessage | None = None

    @property
    def message(self) -> ToolMessage | None:
        """What came of it; None: it goes on."""
        return self._message

    def answer(self, message: ToolMessage, status: str) -> None:
        """This came of it; the first answer stays."""
        with self._changed:
            if self._message is None:
                self._message, self.status = message, status
        self._tell()

    def fail(self, reason: str) -> None:
        """No result came of it."""
        words = NOT_FINISHED if self.has_begun else NOT_MADE
        text = (TextPart(words.format(reason=f"{reason.removesuffix('.')}.")),)
        self.answer(ToolMessage(self.call.id, self.call.name, text, is_error=True), "error")

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Tell how far it is; the last line counts."""
        lines = [line for line in text.splitlines() if line.strip()]
        share = "" if fraction is None else f" {fraction:.0%}"
        self._said = (lines or [""])[-1][:PROGRESS_CHARACTERS] + share
        self._tell()

    def take_progress(self) -> str:
        """What was said last, once."""
        said, self._said = self._said, ""
        return said

    def ask(self, question: CallQuestion, stop: Stop) -> Mapping[str, Any] | None:
        """What the client answers; None: it failed, or nobody needs to know any more.

        Raises:
            RunCancelled: The call was cancelled meanwhile.
        """
        with self._changed:
            self.question, self._reply = question, None
        self._tell()
        try:
            with self._changed:
                while self._is_asked():
                    stop.wait_on(self._changed)
                return self._reply
        finally:
            self.reply(None)

    def reply(self, said: Mapping[str, Any] | None) -> None:
        """The client has answered, or need not any more; the first time counts."""
        with self._changed:
            if self.question is not None:
                self.question, self._reply = None, said
            self._changed.notify_all()
        self._tell()

    def _is_asked(self) -> bool:
        return self.question is not None

    def _tell(self) -> None:
        self.on_change()


class OutsideAgent:
    """``lm.LM`` for one session.

    Args:
        label: What stands as the model's name in the record.
        idle_seconds: After so long the run ends.
        is_over: Whether the run has to end before another call.
    """

    def __init__(
        self,
        label: Callable[[], str],
        idle_seconds: float = IDLE_SECONDS,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._label, self._idle_seconds, self._is_over = label, idle_seconds, is_over
        self._changed = threading.Condition()
        self._waiting: collections.deque[OutsideCall] = collections.deque()
        self._is_closed = False
        self.current: OutsideCall | None = None
        """The call that is made now."""

    def put(self, call: OutsideCall) -> bool:
        """Make a call in its turn; False: the session has ended."""
        with self._changed:
            if not self._is_closed:
                self._waiting.append(call)
                self._changed.notify_all()
            return not self._is_closed

    def close(self) -> None:
        """Nothing more is called."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def next_call(self) -> OutsideCall | None:
        """The call that waits first, once there is one; None: the session has ended."""
        with self._changed:
            while True:
                while self._waiting and self._waiting[0].is_cancelled:
                    self._waiting.popleft()
                if self._waiting or self._is_closed:
                    return self._waiting[0] if self._waiting else None
                self._changed.wait()

    def fail(self, reason: str) -> None:
        """The run has failed: so has the call that it was making, or was begun for."""
        call, self.current = self.current, None
        if call is None:
            with self._changed:
                call = self._waiting.popleft() if self._waiting else None
        if call is not None:
            call.fail(reason)

    def heard(self, event: object) -> None:
        """An event of the run: it may answer the call that is made now."""
        call = self.current
        if call is None:
            return
        if isinstance(event, ToolStarted) and event.call_id == call.call.id:
            call.has_begun = True
        elif isinstance(event, ApprovalAnswered):
            call.was_not_asked = event.by != "person" and not event.allowed
            call.reply(None)
        elif isinstance(event, ToolFinished) and event.call_id == call.call.id:
            call.answer(event.message, event.status)
        elif isinstance(event, RunFinished):
            self.settle(event.reason or event.status)

    def settle(self, reason: str = "the run has ended.") -> None:
        """No call is made now; one that was not answered has failed."""
        call, self.current = self.current, None
        if call is not None:
            call.fail(reason)

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        """Wait for the next call and return it as a reply.

        Raises:
            RunCancelled: ``stop`` was set.
        """
        self.current = None
        if not prompt.tools:
            return self._said(LIMIT)
        if self._is_over():
            return self._said(MOVED)
        until = time.monotonic() + self._idle_seconds
        yield from ()
        while True:
            stop.check()
            with self._changed:
                call = self._taken()
                if call is not None:
                    self.current = call
                    return self._reply(AssistantMessage("", (call.call,)), "tool_calls")
                if self._is_closed:
                    return self._said(LEFT)
                left = until - time.monotonic()
                if left <= 0:
                    return self._said(IDLE.format(minutes=self._idle_seconds / 60))
                stop.wait_on(self._changed, left)

    def capabilities(self, model: str) -> Capabilities:
        """Pictures are sent; what becomes of them is the client's affair."""
        return Capabilities(vision=True)

    def _taken(self) -> OutsideCall | None:
        while self._waiting:
            call = self._waiting.popleft()
            if not call.is_cancelled:
                return call
        return None

    def _said(self, text: str) -> Reply:
        return self._reply(AssistantMessage(text), "stop")

    def _reply(self, message: AssistantMessage, finish_reason: str) -> Reply:
        return Reply(message, finish_reason, Usage(), self._label())


# The runs of one session: begun by its first call, gone on with by its next ones.


log = logging.getLogger(__name__)
STEP_LIMIT = 100_000
WALL_SECONDS = 30 * 86_400.0
"""The loop is the client's, and so are its limits."""
PROMPT_CHARACTERS = 200
CANCELLED = "stopped by the client"
CLOSE_SECONDS = 10.0


class SessionRuns:
    """Takes calls from any thread and makes them one after another, in runs that are recorded.

    Args:
        room: Where they work.
        idle_seconds: After so long without a call a run ends.
    """

    def __init__(self, room: Workroom, idle_seconds: float = IDLE_SECONDS) -> None:
        self.facts = ClientFacts()
        self.approver: Approver | None = None
        self._room = room
        self._agent = OutsideAgent(
            lambda: self.facts.label, idle_seconds, lambda: room.boundary.is_due
        )
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._stop = Stop()
        self._worker: threading.Thread | None = None

    @property
    def current(self) -> OutsideCall | None:
        """The call that is made now."""
        return self._agent.current

    @property
    def stop(self) -> Stop:
        """Of the run that goes on, or of the last one."""
        return self._stop

    def call(self, name: str, arguments: Mapping[str, Any]) -> OutsideCall:
        """Make a call in its turn; returns at once."""
        call = OutsideCall(next(self._numbers), name, arguments)
        if not self._agent.put(call):
            call.fail("the session has ended.")
            return call
        with self._lock:
            if self._worker is None:
                self._worker = WorkerThread(self._work, name="mcp")
                self._worker.start()
        return call

    def cancel(self, call: OutsideCall) -> None:
        """Do not make a call, or interrupt it: then its run ends, and the next call begins one."""
        call.is_cancelled = True
        if self._agent.current is call and not call.status:
            self._stop.set(CANCELLED)
        elif not call.status:
            call.fail(f"{CANCELLED}.")

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """End the run in order; what runs is interrupted."""
        self._agent.close()
        current = self._agent.current
        if current is not None and not current.status:
            self._stop.set("stopped: the client ended its session")
        if self._worker is not None:
            self._worker.join(seconds)

    def _work(self) -> None:
        while (call := self._agent.next_call()) is not None:
            self._stop = Stop()
            try:
                # What could not be done at the end of the last run fails the next call.
                self._room.boundary.settle()
                self._run(call)
            except RunCancelled as stopped:
                self._agent.fail(f"{stopped.reason}.")
            except CellwrightError as error:
                self._agent.fail(str(error))
            except Exception as error:  # the session goes on; the log has the traceback
                log.exception("cellwright: a run of an MCP session failed")
                self._agent.fail(f"cellwright failed: {error!r}.")
            finally:
                self._agent.settle()

    def _run(self, call: OutsideCall) -> None:
        request = self._request(call)
        run = OutsideRun(
            request, self._agent, self._stop, self._heard, self._progress, self.approver
        )
        self._room.run(run)

    def _heard(self, event: Event) -> None:
        current = self._agent.current
        match event:
            case CellOutput(message=StreamOutput(text=text)) if current is not None:
                current.progress(text)
        self._agent.heard(event)

    def _progress(self, event: ToolProgress) -> None:
        """Told at once, from the thread of the tool."""
        current = self._agent.current
        if current is not None:
            current.progress(event.text, event.fraction)

    def _request(self, call: OutsideCall) -> RunRequest:
        prompt = f"{self.facts.label}: {_in_words(call)}"
        limits = self._room.limits
        return RunRequest(
            prompt=prompt,
            parameters=Parameters(self.facts.label),
            mode=self._room.mode,
            limits=_own_loop(limits),
            message=UserMessage((TextPart(prompt),)),
            adapter="native",
        )


def _own_loop(limits: Limits) -> Limits:
    return replace(limits, step_limit=STEP_LIMIT, wall_seconds=WALL_SECONDS)


def _in_words(call: OutsideCall) -> str:
    """The first call, as the name of the run that it begins."""
    arguments = json.loads(call.call.arguments)
    title = arguments.get("title") or arguments.get("code") or arguments.get("source") or ""
    words = " ".join(f"{call.call.name} {title}".split())
    return words if len(words) <= PROMPT_CHARACTERS else f"{words[: PROMPT_CHARACTERS - 1]}…"


# Runs of an outside agent as a conversation of ours, where no chat keeps one.


SERVICES, PROJECT = "outside", "project"


class OutsideConversation:
    """What was said and done in the runs so far; each run goes on from there."""

    def __init__(self) -> None:
        self._conversation: Conversation | None = None

    def run(self, place: RunContext, run: OutsideRun) -> None:
        """Do a run at a place.

        Raises:
            CellwrightError: It could not begin.
            RunCancelled: It was stopped before it began.
        """
        place = replace(place, approver=run.approver, on_progress=run.on_progress)
        if self._conversation is None:
            self._conversation = Conversation(place)
            _introduce(self._conversation)
        else:
            self._conversation.move(place)
        conversation = self._conversation
        service = ModelService(run.agent, run.request.parameters.model, is_free=True)
        environment = RunEnvironment(lambda _: service, lambda _: nullcontext(conversation))
        for event in start_run(run.request, environment, run.stop):
            run.heard(event)


def own_sources(sources: Iterable[TurnSource]) -> tuple[TurnSource, ...]:
    """Those that go to an outside agent: not other servers and skills, which it has itself.

    One of those servers may well be this one.
    """
    return tuple(source for source in sources if source.name not in (SERVICES, PROJECT))


def _introduce(conversation: Conversation) -> None:
    """Let a conversation in which nothing was said begin with what clients are told."""
    if not conversation.messages:
        conversation.resume((SystemMessage(INSTRUCTIONS),))
