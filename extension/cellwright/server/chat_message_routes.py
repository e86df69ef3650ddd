"""What was said in a chat, and what waits for its next question."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.chat_messages import chat_messages, waiting_message, waiting_messages
from cellwright.server.chat_types import ChatMessages, WaitingMessage
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.store.chat_rows import Chat


class ChatMessagesRoute(Route):
    """The messages of one chat."""

    guest_methods = ("GET", "POST")

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """The newest messages; ``debug=1`` with what is hidden and what tools were called with.

        ``waiting=1`` asks only for what waits: of a long chat no run is read for it.
        """
        before, debug = self.word("before"), self.word("debug") == "1"
        only_waiting = self.word("waiting") == "1"
        if debug and self.is_guest:
            raise Refusal(403, "Guests of this server are not shown what is hidden.", code="guest")

        def listed(shared: Application) -> ChatMessages:
            chat = self.chat(shared, chat_id)
            if only_waiting:
                waiting = waiting_messages(shared, chat.chat_id, debug=debug)
                return ChatMessages(chat.chat_id, (), "", waiting)
            return chat_messages(shared, chat.chat_id, before, debug=debug)

        self.send(to_dict(await self.answer(listed)))

    @web.authenticated
    @authorized
    async def post(self, chat_id: str) -> None:
        """Let a message wait for the next question; nobody answers it on its own."""
        given = self.fields(text=str, role=str)
        role, text = given.get("role", "user_later"), given.get("text", "")

        def noted(shared: Application) -> WaitingMessage:
            chat = self.chat(shared, chat_id)
            note = shared.chats.notes.add(chat.chat_id, role, shared.redactor().text(text))
            _tell_pages(shared, chat)
            return waiting_message(note)

        self.send(to_dict(await self.answer(noted)), 201)


class WaitingMessageRoute(Route):
    """One message that waits."""

    guest_methods = ("DELETE",)

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str, message_id: str) -> None:
        """Take it back."""

        def forgotten(shared: Application) -> None:
            chat, notes = self.chat(shared, chat_id), shared.chats.notes
            if message_id not in [note.note_id for note in notes.waiting(chat.chat_id)]:
                raise Refusal(404, f"No message {message_id!r} waits.", "A question took it along.")
            notes.forget(chat.chat_id, [message_id])
            _tell_pages(shared, chat)

        await self.answer(forgotten)
        self.send({})


def _tell_pages(shared: Application, chat: Chat) -> None:
    if shared.live is not None:
        shared.live.chat_changed(chat)


ROUTES: RouteTable = (
    (f"chats/{ROUTE_ID}/messages", ChatMessagesRoute),
    (f"chats/{ROUTE_ID}/messages/{ROUTE_ID}", WaitingMessageRoute),
)
