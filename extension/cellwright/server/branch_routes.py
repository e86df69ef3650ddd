"""Several ways of one prompt, side by side: begin them, look, keep one, drop all."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.record.values import from_dict, to_dict
from cellwright.server.application import Application, check_objects
from cellwright.server.branching import BranchList, check_mode
from cellwright.server.frames import Ask, ContextItem
from cellwright.server.hub import Hub, open_hub
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable

NONE_OPEN = BranchList("", "", ())


@dataclass(frozen=True)
class KeptBranch:
    """The run that is part of the chat now."""

    run: str


class BranchesRoute(Route):
    """The ways in which a prompt of a chat is tried."""

    slow_methods = ("POST", "DELETE")

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """How far each is, and what those came to that have ended."""
        hub = open_hub(self.shared)

        def listed(shared: Application) -> BranchList:
            branches = hub.session(self.owner, self.chat(shared, chat_id).chat_id).branches
            return branches.summary if branches is not None else NONE_OPEN

        self.send(to_dict(await self.answer(listed)))

    @web.authenticated
    @authorized
    async def post(self, chat_id: str) -> None:
        """Begin them, each over a copy of the kernel of a notebook that is open in a page."""
        given = self.fields(
            prompt=str,
            notebook=str,
            mode=str,
            model=str,
            assistant=str,
            context=list,
            count=int,
            models=list,
        )
        count, models = given.pop("count", 0), given.pop("models", [])
        if not all(isinstance(model, str) for model in models):
            raise Refusal(400, "'models' is not a list of texts.")
        context: tuple[ContextItem, ...] | None = None
        with suppress(ValueError, TypeError):
            context = from_dict(tuple[ContextItem, ...], given.pop("context", []))
        if context is None:
            raise Refusal(400, "'context' is not a list of what can stand beside a prompt.")
        ask = Ask("", chat_id, **{"prompt": "", "mode": "auto", **given}, context=context)
        hub = open_hub(self.shared)
        self.send(to_dict(await self.answer(lambda _: self._begun(hub, ask, count, models))), 201)

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str) -> None:
        """Stop and drop them all; nothing of them happened in the kernel."""
        hub = open_hub(self.shared)
        await self.answer(lambda _: hub.session(self.owner, chat_id).drop_branches())
        self.send({})

    def _begun(self, hub: Hub, ask: Ask, count: int, models: list[str]) -> BranchList:
        session = hub.session(self.owner, ask.chat)
        check_mode(ask.mode)
        tab = hub.page_showing(ask.notebook, self.owner)
        check_objects(self.shared, tab.person, ask, tab.attached)
        return session.branch(tab, ask, count, models).summary


class KeptBranchRoute(Route):
    """One of them."""

    slow_methods = ("POST",)

    @web.authenticated
    @authorized
    async def post(self, chat_id: str, branch_id: str) -> None:
        """Let its copy take the place of the kernel, and put its run at the end of the chat."""
        if not branch_id.isdecimal():
            raise Refusal(404, f"There is no branch {branch_id!r}.", "They are numbered from 1.")
        hub = open_hub(self.shared)
        keep = lambda _: hub.session(self.owner, chat_id).keep_branch(int(branch_id))  # noqa: E731
        self.send(to_dict(KeptBranch(await self.answer(keep))))


ROUTES: RouteTable = (
    (f"chats/{ROUTE_ID}/branches", BranchesRoute),
    (f"chats/{ROUTE_ID}/branches/{ROUTE_ID}/keep", KeptBranchRoute),
)
