"""The description of all routes, for programs."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from cellwright.server.openapi import Routes, document
from cellwright.server.routes import Route, RouteTable

__all__ = ["ROUTES", "TABLE_SETTING"]

TABLE_SETTING = "cellwright_routes"
"""Where the table of routes is found, among the settings of the web application."""


class OpenApiRoute(Route):
    """The OpenAPI 3.1 description of the REST routes."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """All routes, what they take and what they answer."""
        routes: Routes = self.settings[TABLE_SETTING]
        address = url_path_join(self.base_url, "cellwright")
        self.send(await self.answer(lambda _: document(routes, address)))


ROUTES: RouteTable = (("/openapi.json", OpenApiRoute),)
