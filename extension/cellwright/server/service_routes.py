"""The model service: what is used, choose another, try it, list its models; and the health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright._version import __version__
from cellwright.commands.doctor import checks
from cellwright.errors import CellwrightError, SetupError
from cellwright.llm.capabilities import list_models
from cellwright.server.application import Application
from cellwright.server.routes import Route, RouteTable
from cellwright.server.service_choice import ServiceChange, shown_url
from cellwright.session.services import open_service

# What is told of the model service: state, checks, models; never a key.


STATUSES: Mapping[str, str] = {"ok": "ok", "warning": "warn", "failed": "blocked"}


@dataclass(frozen=True)
class _ServiceFinding:
    """The service that would answer now."""

    model: str = ""
    base_url: str = ""
    notice: str = ""
    is_demo: bool = False
    problem: str = ""


def service_state(shared: Application) -> dict[str, Any]:
    """The service as the panel shows it, and what an administrator allows."""
    choice, found = shared.chooser.choice(), _found(shared)
    configuration, database = shared.configuration, shared.database
    notices = [f"{notice.text} {notice.action}".rstrip() for notice in database.notices]
    problems = [found.problem] if found.problem else []
    # An address may carry a password, and a message an address.
    return shared.redactor().value(
        {
            "model": found.model or choice.model,
            "base_url": shown_url(found.base_url or choice.base_url),
            "has_key": bool(choice.api_key),
            "key_source": choice.key_source,
            "is_demo": found.is_demo,
            "notice": found.notice,
            "mode": shared.chooser.unchecked_settings().mode,
            "modes": list(configuration.allowed_modes),
            "models_allowed": list(configuration.models),
            "endpoints_locked": bool(configuration.endpoints),
            "recording": database.is_durable,
            "warnings": list(dict.fromkeys([*problems, *choice.warnings, *notices])),
        }
    )


def service_checks(shared: Application, *, send: bool) -> list[dict[str, str]]:
    """What was looked at, each with what to do next."""
    try:
        settings = shared.settings()
    except SetupError as error:
        return [_check("service", "blocked", error.message, error.hint)]
    # A check that was skipped has found nothing.
    return shared.redactor().value(
        [
            _check(check.name, STATUSES[check.status], check.text, check.action)
            for check in checks(settings, send=send)
            if check.status in STATUSES
        ]
    )


def models(shared: Application) -> list[str]:
    """The models that may be used.

    Raises:
        SetupError: No service can be used as it is set.
        LMError: The service does not list its models.
    """
    settings = shared.settings()
    service = open_service(settings)
    service.close()
    if service.is_demo:
        return [service.model]
    names = list_models(replace(settings.service, base_url=service.base_url))
    return [name for name in names if _is_allowed(shared, name)]


def _found(shared: Application) -> _ServiceFinding:
    try:
        service = open_service(shared.settings())
    except CellwrightError as error:
        return _ServiceFinding(problem=str(error))
    service.close()
    if service.is_demo:
        return _ServiceFinding(service.model, "", service.notice, is_demo=True)
    return _ServiceFinding(service.model, service.base_url, service.notice)


def _is_allowed(shared: Application, model: str) -> bool:
    try:
        shared.configuration.check_model(model)
    except SetupError:
        return False
    return True


def _check(name: str, status: str, text: str, action: str) -> dict[str, str]:
    return {"name": name, "status": status, "text": text, "action": action}


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
