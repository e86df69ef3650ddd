"""The description of all routes, for programs."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from cellwright.server.openapi import document
from cellwright.server.routes import Route, RouteTable
from cellwright.server.table import load_all_routes


class OpenApiRoute(Route):
    """The OpenAPI 3.1 description of the REST routes."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """All routes, what they take and what they answer."""
        address = url_path_join(self.base_url, "cellwright")
        self.send(await self.answer(lambda _: document(load_all_routes(), address)))


ROUTES: RouteTable = (("/openapi.json", OpenApiRoute),)
