"""Every route of the server extension, and what they share; the one place that names them all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jupyter_server.utils import url_path_join
from tornado.web import RequestHandler

from cellwright.server import (
    assistant_routes,
    chat_context_routes,
    chat_message_routes,
    chat_pin_routes,
    chat_routes,
    component_routes,
    file_routes,
    kernel_routes,
    library_routes,
    mcp_routes,
    memory_routes,
    openapi_routes,
    result_routes,
    run_list_routes,
    run_routes,
    service_routes,
    socket,
    tool_routes,
    usage_routes,
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
    *chat_message_routes.ROUTES,
    *chat_context_routes.ROUTES,
    *chat_pin_routes.ROUTES,
    *assistant_routes.ROUTES,
    *usage_routes.ROUTES,
    *file_routes.ROUTES,
    *library_routes.ROUTES,
    *kernel_routes.ROUTES,
    *memory_routes.ROUTES,
    *run_routes.ROUTES,
    *run_list_routes.ROUTES,
    *result_routes.ROUTES,
    *component_routes.ROUTES,
    *tool_routes.ROUTES,
    *mcp_routes.ROUTES,
    *openapi_routes.ROUTES,
    *socket.ROUTES,
)


def handlers(base_url: str) -> list[tuple[str, type[RequestHandler]]]:
    """Every route with its handler, below the server's base URL."""
    return [(_pattern(base_url, path), handler) for path, handler in ROUTES]


def open_application(configuration: Cellwright, server: ServerApp) -> Application:
    """What the routes share."""
    application = Application(configuration, server)
    socket.open_hub(application)
    component_routes.open_components(application)
    mcp_routes.open_sessions(application)
    library_routes.open_library(application)
    server.web_app.settings[openapi_routes.TABLE_SETTING] = ROUTES
    return application


def _pattern(base_url: str, path: str) -> str:
    """A path that begins with a slash stands below ``cellwright`` itself."""
    folder = "cellwright" if path.startswith("/") else ROOT
    return f"{re.escape(url_path_join(base_url, folder))}/{path.removeprefix('/')}"
