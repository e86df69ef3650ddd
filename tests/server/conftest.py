"""A Jupyter server inside the test process, with cellwright enabled as an installation does it."""

from __future__ import annotations

from typing import Any

import pytest

# A plug-in list is allowed in the topmost conftest alone, and only these tests want an event loop.
from pytest_jupyter.jupyter_server import *  # noqa: F403


@pytest.fixture  # type: ignore[no-redef]  # this fixture is there to be replaced
def jp_server_config() -> dict[str, Any]:
    return {"ServerApp": {"jpserver_extensions": {"cellwright": True}}}
