"""What was said in a chat, as a list: without what tools were called with, and nothing hidden."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from cellwright.context.roles import ROLES
from cellwright.context.summary import is_summary
from cellwright.context.turns import pinned_run, question_of
from cellwright.errors import SetupError
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.record.run_record import RunRecord
from cellwright.server.application import Application
from cellwright.server.chat_types import (
    ChatMessage,
    ChatMessages,
    MessageAuthor,
    MessageCall,
    WaitingMessage,
)
from cellwright.store.chat_notes import ChatNote
from cellwright.text.redaction import Redactor

RUNS_AT_ONCE = 50


def chat_messages(
    shared: Application, chat_id: str, before: str = "", *, debug: bool = False
) -> ChatMessages:
    """The messages of the newest runs that count.

    Args:
        shared: Where the record is.
        chat_id: The chat.
        before: Only runs before this one; empty: the newest.
        debug: With hidden messages, what was put beside them and what tools were called with.
    """
    runs = shared.chats.active_run_ids(chat_id)
    end = runs.index(before) if before in runs else len(runs)
    start = max(0, end - RUNS_AT_ONCE)
    redactor = shared.redactor()
    found: list[ChatMessage] = []
    for run_id in runs[start:end]:
        with suppress(SetupError):  # it has written nothing yet
            found += messages_of(shared.runs.record(run_id), redactor, debug=debug)
    waiting = waiting_messages(shared, chat_id, debug=debug)
    return ChatMessages(chat_id, tuple(found), runs[start] if start else "", waiting)


def waiting_messages(
    shared: Application, chat_id: str, *, debug: bool = False
) -> tuple[WaitingMessage, ...]:
    """What the next question takes along, in the order in which it was said."""
    return tuple(
        waiting_message(note)
        for note in shared.chats.notes.waiting(chat_id)
        if debug or ROLES[note.role].is_shown
    )


def waiting_message(note: ChatNote) -> WaitingMessage:
    """What waits in a chat, as it is listed."""
    return WaitingMessage(note.note_id, note.role, note.text)


def messages_of(record: RunRecord, redactor: Redactor, *, debug: bool) -> Iterator[ChatMessage]:
    """What was said in one run."""
    asked = record.prompt
    for message in record.messages[record.earlier_messages :]:
        role = _role(message)
        is_hidden = not ROLES[role].is_shown
        if is_hidden and not debug:
            continue
        text = text_of(message) if debug else _shown_text(message, asked)
        if role == "user":
            asked = ""
        shown = ChatMessage(record.run_id, role, is_hidden, redactor.text(text))
        yield _with_calls(shown, message, redactor, debug=debug)


def _role(message: Message) -> str:
    """What it was sent as; what the person did not say, such as our instructions, is hidden."""
    match message:
        case SystemMessage():
            return message.sent_as if message.origin == "user" else "system_hide"
        case UserMessage():
            stands_for_more = is_summary(message) or pinned_run(message)
            return "user_hide" if stands_for_more else message.sent_as
        case AssistantMessage():
            return "assistant_call" if message.tool_calls else "assistant"
        case ToolMessage():
            return "tool"


def _shown_text(message: Message, asked: str) -> str:
    """The person's own words, without what stood beside them."""
    if isinstance(message, UserMessage):
        return asked if asked and message.sent_as == "user" else question_of(message)
    return text_of(message)


def _with_calls(
    shown: ChatMessage, message: Message, redactor: Redactor, *, debug: bool
) -> ChatMessage:
    match message:
        case AssistantMessage(author=author):
            calls = tuple(
                MessageCall(call.id, call.name, redactor.text(call.arguments) if debug else None)
                for call in message.tool_calls
            )
            assistant = MessageAuthor(author, author) if author else None
            return replace(shown, assistant=assistant, calls=calls)
        case ToolMessage():
            name, call = message.name, message.call_id
            return replace(shown, tool=name, call=call, is_error=message.is_error)
        case _:
            return shown
