"""The model service: what is used, choose another, try it, list its models; and the health."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright._version import __version__
from cellwright.server.routes import Route, RouteTable
from cellwright.server.service_choice import ServiceChange
from cellwright.server.service_report import models, service_checks, service_state


class HealthRoute(Route):
    """Says that the extension is there, which version it is and whether it may work."""

    guest_methods = ("GET",)

    needs_enabled = False

    @web.authenticated
    @authorized
    def get(self) -> None:
        """Answer with the version."""
        self.send({"version": __version__, "enabled": self.shared.configuration.is_enabled})


class ServiceRoute(Route):
    """The service, model and key that runs use; the key itself is never told."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What is used, and what the administrator allows."""
        self.send(await self.answer(service_state))

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Choose another model or endpoint; give or forget a key."""
        change = ServiceChange(**self.fields(model=str, base_url=str, api_key=str))

        def changed(shared: Any) -> dict[str, Any]:
            shared.chooser.change(change)
            return service_state(shared)

        self.send(await self.answer(changed))


class ServiceTestRoute(Route):
    """Is everything there that a run needs?"""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Look; only with ``send`` is one small request sent, which may cost money."""
        send = self.fields(send=bool).get("send", False)
        self.send(await self.answer(lambda shared: service_checks(shared, send=send)))


class ModelsRoute(Route):
    """The models of the service."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Those that may be used here; none where the service keeps no list."""
        self.send({"models": await self.answer(models)})


ROUTES: RouteTable = (
    ("health", HealthRoute),
    ("service", ServiceRoute),
    ("service/test", ServiceTestRoute),
    ("models", ModelsRoute),
)
