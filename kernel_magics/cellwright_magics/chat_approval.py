"""Asks the person with buttons, on the thread of a chat's run."""

from __future__ import annotations

import queue

from cellwright.agent.policy import Answer
from cellwright.record.asked_calls import ASKED_ALONE, deed_of
from cellwright.record.events import ToolStarted
from cellwright.stopping import Stop
from cellwright_magics.chat_view import ChatView, Pressed

LOOK_SECONDS = 0.1
SETTLE_SECONDS = 0.4
"""The second click of a double click must not answer the next question, which nobody has read."""


class ButtonApprover:
    """Shows buttons under what would run and waits until one is pressed, or Stop is.

    Args:
        view: Where they are.
        stop: Of the run that asks.
    """

    def __init__(self, view: ChatView, stop: Stop) -> None:
        self._view = view
        self._stop = stop
        self._all = False

    def ask(self, call: ToolStarted, reason: str) -> Answer:
        """Whether the call may run.

        Raises:
            RunCancelled: The person stopped the run instead.
        """
        if self._all and call.risk in ("edit", "execute"):
            return Answer(True, reason="all in this run")
        pressed = self._wait(call)
        self._all = self._all or pressed.word == "all"
        if pressed.word == "no":
            return Answer(False, reason=pressed.reason)
        return Answer(True)

    def _wait(self, call: ToolStarted) -> Pressed:
        # One for each question: a press that comes late cannot answer the next one.
        answers: queue.SimpleQueue[Pressed] = queue.SimpleQueue()
        offers_all = call.risk not in ASKED_ALONE
        self._view.ask(answers.put, f"{deed_of(call).capitalize()} it", offers_all=offers_all)
        try:
            self._stop.wait(SETTLE_SECONDS)
            self._view.take_answers()
            while True:
                self._stop.check()
                try:
                    return answers.get(timeout=LOOK_SECONDS)
                except queue.Empty:
                    continue
        finally:
            self._view.end_question()
