"""Turns of a chat that are pinned: their words stay in its context."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.server.application import Application
from cellwright.server.chat_routes import chat_summary
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.store.chat_pins import ChatPins, PinsFullError
from cellwright.store.chat_rows import Chat


class ChatPinRoute(Route):
    """One turn of a chat."""

    guest_methods = ("PUT", "DELETE")

    @web.authenticated
    @authorized
    async def put(self, chat_id: str, run_id: str) -> None:
        """Pin it; it counts from the next question on."""
        await self._change(chat_id, run_id, ChatPins.pin)

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str, run_id: str) -> None:
        """Let it go, with the next turns that are left out."""
        await self._change(chat_id, run_id, ChatPins.unpin)

    async def _change(
        self, chat_id: str, run_id: str, change: Callable[[ChatPins, str, str], None]
    ) -> None:
        def changed(shared: Application) -> Chat:
            chat = self.chat(shared, chat_id)
            if run_id not in shared.chats.active_run_ids(chat.chat_id):
                raise Refusal(404, f"The chat has no run {run_id!r} that counts.", "Reload it.")
            try:
                change(shared.chats.pins, chat.chat_id, run_id)
            except PinsFullError as error:
                raise Refusal(409, error.message, error.hint, "pins_full") from error
            chat = shared.chats.get(chat.chat_id)
            if shared.live is not None:
                shared.live.chat_changed(chat)
            return chat

        self.send(chat_summary(self.shared, await self.answer(changed)))


ROUTES: RouteTable = ((f"chats/{ROUTE_ID}/pins/{ROUTE_ID}", ChatPinRoute),)
