"""The cells of runs: as a run left them, missing from a notebook, and what became of them."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.server.application import Application
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.server.run_cells import missing_cells, run_cells

CELLS_LIMIT = 2_000


class RunRoute(Route):
    """A route of one run."""

    guest_methods = ("GET", "POST")


class RunCellsRoute(RunRoute):
    """The cells that a run added or changed."""

    @web.authenticated
    @authorized
    async def get(self, run_id: str) -> None:
        """Each with its outputs and what became of it."""

        def cells(shared: Application) -> list[dict[str, Any]]:
            self.check_run(shared, run_id)
            return run_cells(shared.runs.events(run_id), shared.fates.of(run_id))

        self.send(await self.answer(cells))


class RunFatesRoute(RunRoute):
    """What became of a run's cells."""

    @web.authenticated
    @authorized
    async def post(self, run_id: str) -> None:
        """Keep it."""
        fates = self.fields(fates=dict).get("fates", {})
        if len(fates) > CELLS_LIMIT or not all(isinstance(fate, str) for fate in fates.values()):
            raise Refusal(400, "'fates' is not an object of cell ids and words.")

        def keep(shared: Application) -> dict[str, str]:
            self.check_run(shared, run_id)
            shared.fates.set(run_id, fates)
            return dict(shared.fates.of(run_id))

        self.send({"fates": await self.answer(keep)})


class MissingCellsRoute(Route):
    """What was made for a notebook while it was closed."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Agents' cells of the notebook's chats of which nothing is known.

        None while another page has the notebook open: it shows them and can save them.
        """
        path, tab, owner = self.word("path"), self.word("tab"), self.owner
        if not path:
            raise Refusal(400, "The parameter 'path' is missing.", "Give a notebook's path.")

        def missing(shared: Application) -> list[dict[str, Any]]:
            if shared.live is not None and shared.live.is_open_elsewhere(path, tab, owner):
                return []
            return missing_cells(shared, path, owner)

        self.send(await self.answer(missing))


ROUTES: RouteTable = (
    (f"runs/{ROUTE_ID}/cells", RunCellsRoute),
    (f"runs/{ROUTE_ID}/fates", RunFatesRoute),
    ("notebooks/missing", MissingCellsRoute),
)
