"""An agent of somebody else's, in the place of a model: its next call is the next reply.

The run waits for it as it would wait for a model. No tokens are counted: what its own model costs
is not known here.
"""

from __future__ import annotations

import collections
import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

from cellwright.llm import Capabilities, LMEvent
from cellwright.mcp_server import Line
from cellwright.record.events import ApprovalAnswered, RunFinished, ToolFinished
from cellwright.record.messages import AssistantMessage, TextPart, ToolCall, ToolMessage
from cellwright.record.prompts import Prompt, Reply
from cellwright.record.usage import Usage
from cellwright.stopping import Stop

LOOK_SECONDS = 0.2
IDLE_SECONDS = 900.0
"""A run in which nothing is called for so long has ended; the next call begins another one."""
LEFT = "The client ended its session."
IDLE = "The client called no further tool for {minutes:.0f} minutes."
LIMIT = "The run reached a limit; the next call begins another one."
NO_ROOM = "The call was not made: {reason}"


class OutsideCall:
    """One call of a tool, from when it comes in until it is answered.

    Args:
        number: Which one of its session.
        name: The tool's.
        arguments: As they came.
        line: Back to whoever called.
    """

    def __init__(self, number: int, name: str, arguments: Mapping[str, Any], line: Line) -> None:
        self.call = ToolCall(f"mcp_{number}", name, json.dumps(dict(arguments), ensure_ascii=False))
        self.line = line
        self.is_cancelled = False
        self.is_decided = False
        """Whether it may be made is known: nobody has to be asked any more."""
        self.was_not_asked = False
        """The mode refused it, and nobody was asked."""
        self.status = ""
        """``ok``, ``error``, ``refused`` or ``cancelled``; empty: it is not answered yet."""
        self._answered = threading.Event()
        self._message = ToolMessage(self.call.id, name, ())

    def answer(self, message: ToolMessage, status: str) -> None:
        """This came of it; the first answer stays."""
        if not self._answered.is_set():
            self._message, self.status = message, status
            self._answered.set()

    def fail(self, reason: str) -> None:
        """Nothing came of it."""
        text = (TextPart(NO_ROOM.format(reason=reason)),)
        self.answer(ToolMessage(self.call.id, self.call.name, text, is_error=True), "error")

    def wait(self, seconds: float) -> ToolMessage | None:
        """What came of it; None: it goes on."""
        return self._message if self._answered.wait(seconds) else None


class OutsideAgent:
    """``lm.LM`` for one session.

    Args:
        label: What stands as the model's name in the record.
        clock: Tells how long nothing was called.
        idle_seconds: After so long the run ends.
    """

    def __init__(
        self,
        label: Callable[[], str],
        clock: Callable[[], float] = time.monotonic,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._label, self._clock, self._idle_seconds = label, clock, idle_seconds
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

    def fail_next(self, reason: str) -> None:
        """The call that waits first cannot be made."""
        with self._changed:
            call = self._waiting.popleft() if self._waiting else None
        if call is not None:
            call.fail(reason)

    def heard(self, event: object) -> None:
        """An event of the run: it may answer the call that is made now."""
        call = self.current
        if call is None:
            return
        if isinstance(event, ApprovalAnswered):
            call.is_decided = True
            call.was_not_asked = event.by != "person" and not event.allowed
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
        since = self._clock()
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
                if self._clock() - since > self._idle_seconds:
                    return self._said(IDLE.format(minutes=self._idle_seconds / 60))
                self._changed.wait(LOOK_SECONDS)

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
