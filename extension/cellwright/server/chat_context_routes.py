"""What is in a chat's context, and its summary."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.chat_context import ChatContext, change_summary, chat_context
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable


class ChatContextRoute(Route):
    """The context of one chat."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """What the next request begins with, part by part, and what it costs."""

        def found(shared: Application) -> ChatContext:
            return chat_context(shared, self.chat(shared, chat_id).chat_id)

        self.send(to_dict(await self.answer(found)))

    @web.authenticated
    @authorized
    async def put(self, chat_id: str) -> None:
        """Put other words of the person's above the summary of older turns."""
        words = self.fields(words=str).get("words", "")

        def changed(shared: Application) -> ChatContext:
            chat = self.chat(shared, chat_id)
            if shared.live is not None and shared.live.running(chat.chat_id):
                raise Refusal(
                    409, "A run of this chat is going on.", "Wait for its end.", "running"
                )
            return change_summary(shared, chat.chat_id, words)

        self.send(to_dict(await self.answer(changed)))


ROUTES: RouteTable = ((f"chats/{ROUTE_ID}/context", ChatContextRoute),)
