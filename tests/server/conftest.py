"""A Jupyter server inside the test process, with cellwright enabled as an installation does it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.paths import jupyter_path

# A plug-in list is allowed in the topmost conftest alone, and only these tests want an event loop.
from pytest_jupyter.jupyter_server import *  # noqa: F403
from server.live_server import live, no_ollama, scripted  # noqa: F401 (fixtures)
from server_client import Client

from cellwright.server.application import Application
from cellwright.server.first_request import FirstRequest


@pytest.fixture  # type: ignore[no-redef]  # this fixture is there to be replaced
def jp_server_config() -> dict[str, Any]:
    return {"ServerApp": {"jpserver_extensions": {"cellwright": True}}}


@pytest.fixture  # type: ignore[no-redef]
def jp_nbconvert_templates(jp_data_dir: Path) -> None:
    """The templates as a link, not as a copy of fifty files for each server."""
    found = next(filter(os.path.exists, jupyter_path("nbconvert", "templates")))
    (jp_data_dir / "nbconvert").mkdir()
    (jp_data_dir / "nbconvert" / "templates").symlink_to(found)


@pytest.fixture(autouse=True)
def _no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a server of the person's own out of the tests."""
    monkeypatch.setenv("CELLWRIGHT_OLLAMA", "off")


@pytest.fixture
def client(jp_serverapp: Any, http_server_client: Any, jp_base_url: str) -> Client:
    """Sends requests to the server's cellwright."""
    return Client(http_server_client, jp_base_url, jp_serverapp.identity_provider.token)


@pytest.fixture
def shared(jp_serverapp: Any) -> Application:
    """What the routes of the server share, as the first request would load it."""
    point = jp_serverapp.extension_manager.extension_points["cellwright.server"]
    routes: FirstRequest = point.app.routes
    return routes.load()
