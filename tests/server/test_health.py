"""The health route: who may ask, and what it says."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from tornado.httpclient import HTTPClientError

import cellwright
from cellwright.server import routes

Fetch = Callable[..., Awaitable[Any]]


class RefusesCellwright(Authorizer):
    """Lets everybody do everything, except what belongs to cellwright."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "cellwright"


REFUSING = {
    "ServerApp": {
        "jpserver_extensions": {"cellwright": True},
        "authorizer_class": RefusesCellwright,
    }
}

pytestmark = pytest.mark.server


async def test_health_tells_the_version(jp_fetch: Fetch) -> None:
    response = await jp_fetch("cellwright", "v1", "health")
    assert json.loads(response.body) == {"version": cellwright.__version__}
    assert response.headers["Content-Type"].startswith("application/json")


async def test_health_is_closed_to_strangers(jp_fetch: Fetch) -> None:
    with pytest.raises(HTTPClientError) as error:
        await jp_fetch("cellwright", "v1", "health", headers={"Authorization": "token wrong"})
    assert error.value.code == 403


@pytest.mark.parametrize("jp_server_config", [REFUSING])
async def test_health_asks_the_authorizer(jp_fetch: Fetch) -> None:
    with pytest.raises(HTTPClientError) as error:
        await jp_fetch("cellwright", "v1", "health")
    assert error.value.code == 403


async def test_the_server_extension_is_found_by_the_name_of_the_package(
    jp_serverapp: Any,
) -> None:
    extension = jp_serverapp.extension_manager.extensions["cellwright"]
    assert extension.enabled
    assert extension.version == cellwright.__version__
    assert extension.extension_points["cellwright.server"].module_name == "cellwright.server"


def test_every_route_names_the_resource_to_authorize() -> None:
    assert {handler.auth_resource for _, handler in routes.handlers("/")} == {"cellwright"}
