"""The recorded runs: a list of them, and each as a sample."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.exports.sampling import sample_of
from cellwright.server.application import Application
from cellwright.server.result_trimming import trimmed
from cellwright.server.routes import ROUTE_ID, RouteTable
from cellwright.server.run_list import RunFilter, run_list
from cellwright.server.run_routes import RunRoute
from cellwright.store.chat_owners import may_open

PAGE = 100


class RunsRoute(RunRoute):
    """The recorded runs."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """A page of those that fit, sorted by a column or the newest first."""
        wanted = RunFilter(
            query=self.word("query"),
            status=self.word("status"),
            model=self.word("model"),
            lane=self.word("lane"),
            sort=self.word("sort"),
            after=self.word("after"),
            count=PAGE,
        )
        since, person = self.word("since"), self.owner

        def listed(shared: Application) -> dict[str, Any]:
            def is_visible(chat_id: str) -> bool:
                if not chat_id:
                    return may_open(person, "")
                chat = shared.chats.find(chat_id)
                return chat is not None and may_open(person, chat.owner)

            return run_list(shared, wanted, since, is_visible)

        self.send(await self.answer(listed))


class RunSampleRoute(RunRoute):
    """One run as a sample."""

    @web.authenticated
    @authorized
    async def get(self, run_id: str) -> None:
        """What was said and run, as ``cellwright.sample/1`` with its chat; nothing was scored."""

        def sample(shared: Application) -> Any:
            self.check_run(shared, run_id)
            record = shared.redactor().event(shared.runs.record(run_id))
            shown: dict[str, Any] = trimmed(sample_of(record, run_id).to_dict())
            return {**shown, "chat": shared.chats.chat_of(run_id)}

        self.send(await self.answer(sample))


ROUTES: RouteTable = (
    ("runs", RunsRoute),
    (f"runs/{ROUTE_ID}/sample", RunSampleRoute),
)
