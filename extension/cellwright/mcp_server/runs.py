"""The runs of one session: begun by its first call, gone on with by its next ones."""

from __future__ import annotations

import itertools
import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cellwright.agent.policy import Approver
from cellwright.errors import CellwrightError, RunCancelled
from cellwright.mcp_server import ClientFacts, Line, OutsideRun, Workroom
from cellwright.mcp_server.outside_agent import OutsideAgent, OutsideCall
from cellwright.record.events import CellOutput, Event, ToolProgress
from cellwright.record.messages import TextPart, UserMessage
from cellwright.record.outputs import StreamOutput
from cellwright.record.prompts import Parameters
from cellwright.session.questions import Question
from cellwright.settings import Limits
from cellwright.stopping import Stop

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
    """

    def __init__(self, room: Workroom) -> None:
        self.facts = ClientFacts()
        self.approver: Approver | None = None
        self._room = room
        self._agent = OutsideAgent(lambda: self.facts.label)
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

    def call(self, name: str, arguments: Mapping[str, Any], line: Line) -> OutsideCall:
        """Make a call in its turn; returns at once."""
        call = OutsideCall(next(self._numbers), name, arguments, line)
        if not self._agent.put(call):
            call.fail("the session has ended.")
            return call
        with self._lock:
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="cellwright-mcp")
                self._worker.daemon = True
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
                self._run(call)
            except RunCancelled as stopped:
                self._agent.fail_next(f"{stopped.reason}.")
            except CellwrightError as error:
                self._agent.fail_next(str(error))
            except Exception as error:  # the session goes on; the log has the traceback
                log.exception("cellwright: a run of an MCP session failed")
                self._agent.fail_next(f"cellwright failed: {error!r}")
            finally:
                self._agent.settle()

    def _run(self, call: OutsideCall) -> None:
        question = self._question(call)
        run = OutsideRun(
            question, self._agent, self._stop, self._heard, self._progress, self.approver
        )
        self._room.run(run)

    def _heard(self, event: Event) -> None:
        current = self._agent.current
        match event:
            case CellOutput(message=StreamOutput(text=text)) if current is not None:
                current.line.progress(text)
        self._agent.heard(event)

    def _progress(self, event: ToolProgress) -> None:
        """Told at once, from the thread of the tool."""
        current = self._agent.current
        if current is not None:
            current.line.progress(event.text, event.fraction)

    def _question(self, call: OutsideCall) -> Question:
        prompt = f"{self.facts.label}: {_in_words(call)}"
        limits = self._room.limits
        return Question(
            prompt=prompt,
            parameters=Parameters(self.facts.label),
            mode=self._room.mode,
            limits=_own_loop(limits),
            message=UserMessage((TextPart(prompt),)),
        )


def _own_loop(limits: Limits) -> Limits:
    return replace(limits, step_limit=STEP_LIMIT, wall_seconds=WALL_SECONDS)


def _in_words(call: OutsideCall) -> str:
    """The first call, as the name of the run that it begins."""
    arguments = json.loads(call.call.arguments)
    title = arguments.get("title") or arguments.get("code") or arguments.get("source") or ""
    words = " ".join(f"{call.call.name} {title}".split())
    return words if len(words) <= PROMPT_CHARACTERS else f"{words[: PROMPT_CHARACTERS - 1]}…"
