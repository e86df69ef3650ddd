"""The Jupyter Server extension: the only part of cellwright that knows the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellwright._version import __version__
from cellwright.server.routes import handlers

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__: list[str] = []


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Add the routes to a running server."""
    routes = handlers(server.web_app.settings["base_url"])
    # tornado leaves this method without annotations
    server.web_app.add_handlers(".*$", routes)  # type: ignore[no-untyped-call]
    server.log.info("cellwright %s", __version__)
