"""Which file answers which addresses; the one place that names all routes.

A file of routes is loaded by the first request for one of them: together they stand on most of
cellwright, of which a page that only shows its panel needs a part.
"""

from __future__ import annotations

import re
from importlib import import_module

from jupyter_server.utils import url_path_join
from tornado.web import RequestHandler

ROOT = "cellwright"
"""Below it are all routes."""
SETTING = "cellwright"
"""Where the routes find what they share, among the settings of the web application."""
Routes = tuple[tuple[str, type[RequestHandler]], ...]
MODULES: tuple[tuple[str, str], ...] = (
    (r"v1/(health|service|service/test|models|providers)", "service_routes"),
    (r"v1/chats/[^/]+/branches(/.*)?", "branch_routes"),
    (r"v1/chats/[^/]+/preview", "preview_routes"),
    (r"v1/chats/[^/]+/context", "chat_context_routes"),
    (r"v1/chats/[^/]+/project", "project_routes"),
    (r"v1/chats(/.*)?", "chat_routes"),
    (r"v1/assistants(/.*)?", "assistant_routes"),
    (r"v1/(usage|budgets)", "usage_routes"),
    (r"v1/files", "file_routes"),
    (r"v1/library(/.*)?", "library_routes"),
    (r"v1/kernels/.*", "kernel_routes"),
    (r"v1/(memories(/.*)?|memory-setting|proposals/.*)", "memory_routes"),
    (r"v1/(runs(/.*)?|notebooks/missing)", "run_routes"),
    (r"v1/results(/.*)?", "result_routes"),
    (r"v2/components(/.*)?", "component_routes"),
    (r"v1/tools(/.*)?", "tool_routes"),
    (r"v2/mcp", "mcp_routes"),
    (r"openapi\.json", "openapi_routes"),
    (r"v1/socket", "socket"),
)
"""Addresses below ``cellwright/`` and the file of their routes; the first that fits answers."""


def find_module(path: str) -> str:
    """The file with the routes of an address below ``cellwright/``; empty: there is none."""
    return next((name for paths, name in MODULES if re.fullmatch(paths, path)), "")


def load_routes(name: str) -> Routes:
    """The routes of a file: addresses, and what answers them.

    An address stands below ``cellwright/v1``, or below ``cellwright`` if it begins with a slash.
    """
    routes: Routes = import_module(f"cellwright.server.{name}").ROUTES
    return routes


def load_all_routes() -> Routes:
    """All routes: for what describes them, not for what answers."""
    return tuple(route for _, name in MODULES for route in load_routes(name))


def find_pattern(base_url: str, path: str) -> str:
    """The address of a route on a server, as tornado wants it."""
    folder = ROOT if path.startswith("/") else f"{ROOT}/v1"
    return f"{re.escape(url_path_join(base_url, folder))}/{path.removeprefix('/')}"
