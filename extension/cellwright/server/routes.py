"""The REST routes of the server extension, all below ``/cellwright/v1/``."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from cellwright._version import __version__

__all__ = ["handlers"]

ROOT = "cellwright/v1"


class Route(APIHandler):
    """A route of ours, whose use an administrator can allow or refuse under one name."""

    auth_resource = "cellwright"


class HealthRoute(Route):
    """Says that the extension is there, and which version it is."""

    @web.authenticated
    @authorized
    def get(self) -> None:
        """Answer with the version."""
        self.finish({"version": __version__})


def handlers(base_url: str) -> list[tuple[str, type[Route]]]:
    """Every route with its handler, below the server's base URL."""
    return [(url_path_join(base_url, ROOT, "health"), HealthRoute)]
