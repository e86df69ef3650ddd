"""A chat in a cell, for front ends without the panel: one conversation in this kernel.

Each answer runs on a thread of its own (``own_kernel``), so that the buttons work and the person's
cells get their turn while the model thinks.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from cellwright.errors import CellwrightError
from cellwright.record.events import (
    ApprovalAsked,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelAsked,
    Notice,
    ToolFinished,
)
from cellwright.record.outputs import ErrorOutput
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import Place, Question
from cellwright.session.run import Run
from cellwright.session.services import Service
from cellwright.stopping import Stop
from cellwright_magics.chat_outputs import ChatOutputs
from cellwright_magics.chat_view import ChatView
from cellwright_magics.display import NotebookTranscript
from cellwright_magics.run_view import as_html
from cellwright_magics.shown_at_once import ShownAtOnce

CLOSING_SECONDS = 2.0
ENDING_SECONDS = 0.2
"""So long an answer may still hold on after Send can be pressed again."""
DOING = {
    ModelAsked: "waiting for the model…",
    CellStarted: "code runs…",
    ApprovalAsked: "may this run?",
    ToolFinished: "",
}


@dataclass(frozen=True)
class Asking:
    """A question on its way: where, what and whom."""

    place: Place
    question: Question
    service: Service


@dataclass(frozen=True)
class ChatParts:
    """What a chat works with."""

    asking: Callable[[str, Stop], AbstractContextManager[Asking]]
    """For a prompt; while it is entered, no other run goes on in this kernel."""
    keep: Callable[[RunRecord], None]
    """Told of a run that has ended."""
    let_go: Callable[[], None]
    """Called when the chat is closed."""
    short_errors: bool = True
    """Whether errors of the code are shown in brief."""


class Chat:
    """One conversation behind one view.

    Args:
        view: What the person sees and presses.
        parts: What it works with.
    """

    def __init__(self, view: ChatView, parts: ChatParts) -> None:
        self._view = view
        self._parts = parts
        self._conversation: Conversation | None = None
        self._stop = Stop()
        self._free = threading.Lock()
        """Held while an answer is on its way, and once the chat is closed."""
        self._thread: threading.Thread | None = None
        self._is_closed = False
        view.on_send(self.send)
        view.on_stop(self.stop)
        view.on_close(self.close)

    def send(self, prompt: str) -> None:
        """Begin to answer, unless an answer is on its way."""
        if not self._free.acquire(timeout=ENDING_SECONDS):
            return
        self._stop = Stop()
        shown = as_html(prompt).replace("\n", "<br>")
        self._view.begin(f"<b>{shown}</b>")
        self._thread = threading.Thread(
            target=self._answer, args=(prompt, self._stop), name="cellwright-chat", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop the answer that is on its way."""
        self._stop.set()

    def close(self) -> None:
        """Stop what goes on, wait a moment until its end is recorded, and go from the page."""
        if self._is_closed:
            return
        self._is_closed = True
        self.stop()
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)
        self._free.acquire(timeout=ENDING_SECONDS)
        self._parts.let_go()
        self._view.close()

    def _answer(self, prompt: str, stop: Stop) -> None:
        transcript = NotebookTranscript(self._view, short_errors=self._parts.short_errors)
        try:
            record = self._run(prompt, stop, transcript)
            transcript.finish(Run(record))
            self._parts.keep(record)
        except CellwrightError as error:
            transcript.show(Notice("error", error.message, error.hint))
        except Exception as error:  # nobody else would ever see it
            words = "".join(traceback.format_exception_only(error)).strip()
            transcript.show(Notice("error", f"cellwright failed: {words}"))
        finally:
            self._view.end()
            self._free.release()

    def _run(self, prompt: str, stop: Stop, transcript: NotebookTranscript) -> RunRecord:
        outputs = ChatOutputs(self._view)
        showing = ShownAtOnce(lambda event: self._show(event, transcript, outputs))
        with self._parts.asking(prompt, stop) as asking:
            place = replace(asking.place, on_progress=showing.at_once)
            conversation = self._conversation_at(place)
            for event in conversation.ask(asking.question, asking.service.lm, stop):
                showing.show(event)
        return asking.place.store.record(conversation.last_run_id)

    def _conversation_at(self, place: Place) -> Conversation:
        if self._conversation is None:
            self._conversation = Conversation(place)
        conversation = self._conversation
        conversation.move(place)
        if conversation.last_run_id:
            # What counts the cells of earlier answers as ours is new with every connection.
            record = place.store.record(conversation.last_run_id)
            log = (*record.start_executed, *(ran.source for ran in record.executions))
            conversation.resume(conversation.messages, log)
        return conversation

    def _show(self, event: Event, transcript: NotebookTranscript, outputs: ChatOutputs) -> None:
        if isinstance(event, CellOutput):
            if not (self._parts.short_errors and isinstance(event.message, ErrorOutput)):
                outputs.add(event)
            return
        doing = DOING.get(type(event))
        if doing is not None:
            self._view.tell(doing)
        if isinstance(event, CellFinished):
            outputs.finish(event.cell_id)
        transcript.show(event)
