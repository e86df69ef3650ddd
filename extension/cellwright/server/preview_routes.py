"""A look at what a call would do, before the person allows it."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.errors import RunCancelled
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.hub import open_hub
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.session.previewing import Preview


@dataclass(frozen=True)
class WantedPreview:
    """A call that waits for the person's answer."""

    call: str = ""
    """Its id."""


class PreviewRoute(Route):
    """The call that a chat's run asks the person about."""

    slow_methods = ("POST",)

    @web.authenticated
    @authorized
    async def post(self, chat_id: str) -> None:
        """Run its code in a copy of the kernel that cannot change anything; nothing is recorded."""
        call_id = self.fields(call=str).get("call", "")
        await self.check_kernels()
        hub = open_hub(self.shared)

        def tried(shared: Application) -> Preview:
            session = hub.session(self.owner, self.chat(shared, chat_id).chat_id)
            try:
                return session.preview(call_id)
            except RunCancelled as stopped:
                raise Refusal(409, f"The preview was ended: {stopped.reason}.") from stopped

        self.send(to_dict(await self.answer(tried)))

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str) -> None:
        """End it; the call goes on to wait."""
        hub = open_hub(self.shared)
        await self.answer(
            lambda shared: hub.session(self.owner, self.chat(shared, chat_id).chat_id).end_preview()
        )
        self.send({})


ROUTES: RouteTable = ((f"chats/{ROUTE_ID}/preview", PreviewRoute),)
