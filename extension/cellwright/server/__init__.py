"""The Jupyter Server extension: the only part of cellwright that knows the server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jupyter_server.utils import url_path_join

from cellwright._version import __version__
from cellwright.server.configuration import Cellwright
from cellwright.server.first_request import FirstRequest, end_with, follow_renames
from cellwright.server.table import ROOT

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Add the routes to a running server."""
    routes = FirstRequest(Cellwright(parent=server), server)
    below = re.escape(url_path_join(server.web_app.settings["base_url"], ROOT))
    # tornado leaves this method without annotations
    server.web_app.add_handlers(".*$", [(f"{below}/.*", routes)])  # type: ignore[no-untyped-call]
    end_with(server, routes)
    follow_renames(server, routes)
    server.log.info("cellwright %s", __version__)
