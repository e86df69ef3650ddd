"""Every route of the server extension, and what they share; the one place that names them all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jupyter_server.utils import url_path_join
from tornado.web import RequestHandler

from cellwright.server import (
    chat_routes,
    file_routes,
    kernel_routes,
    run_routes,
    service_routes,
    socket,
)
from cellwright.server.application import Application
from cellwright.server.configuration import Cellwright
from cellwright.server.routes import ROOT

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__ = ["ROUTES", "handlers", "open_application"]

ROUTES: tuple[tuple[str, type[RequestHandler]], ...] = (
    *service_routes.ROUTES,
    *chat_routes.ROUTES,
    *file_routes.ROUTES,
    *kernel_routes.ROUTES,
    *run_routes.ROUTES,
    *socket.ROUTES,
)


def handlers(base_url: str) -> list[tuple[str, type[RequestHandler]]]:
    """Every route with its handler, below the server's base URL."""
    root = re.escape(url_path_join(base_url, ROOT))
    return [(f"{root}/{path}", handler) for path, handler in ROUTES]


def open_application(configuration: Cellwright, server: ServerApp) -> Application:
    """What the routes share."""
    application = Application(configuration, server)
    socket.open_hub(application)
    return application
