"""What was said in a chat."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.server.application import Application
from cellwright.server.chat_messages import chat_messages
from cellwright.server.chat_types import ChatMessages
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.values import to_dict

__all__ = ["ROUTES"]


class ChatMessagesRoute(Route):
    """The messages of one chat."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """The newest messages; ``debug=1`` with what is hidden and what tools were called with."""
        before, debug = self.word("before"), self.word("debug") == "1"
        if debug and self.is_guest:
            raise Refusal(403, "Guests of this server are not shown what is hidden.", code="guest")

        def listed(shared: Application) -> ChatMessages:
            chat = self.chat(shared, chat_id)
            return chat_messages(shared, chat.chat_id, before, debug=debug)

        self.send(to_dict(await self.answer(listed)))


ROUTES: RouteTable = ((f"chats/{ROUTE_ID}/messages", ChatMessagesRoute),)
