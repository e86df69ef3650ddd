"""The model service: what is used, choose another, try it, list its models; and the health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright._version import __version__
from cellwright.commands.doctor import checks
from cellwright.errors import (
    CellwrightError,
    LMAccessError,
    LMConnectionError,
    LMQuotaError,
    LMTimeoutError,
    SetupError,
)
from cellwright.llm.capabilities import find_running, list_models
from cellwright.providers import shown_url
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.rest_types import ProviderList, ServiceCheck, ServiceState
from cellwright.server.routes import Route, RouteTable
from cellwright.server.service_choice import NO_CHANGE, ServiceChange
from cellwright.session.services import DEMO_NAMES, open_service

# What is told of the model service: state, checks, models; never a key.


CHANGE: Mapping[str, type] = {"model": str, "base_url": str, "api_key": str, "parameters": dict}
"""What a body may say of the service."""
STATUSES: Mapping[str, Literal["ok", "warn", "blocked"]] = {
    "ok": "ok",
    "warning": "warn",
    "failed": "blocked",
}


@dataclass(frozen=True)
class _ServiceFinding:
    """The service that would answer now."""

    model: str = ""
    base_url: str = ""
    notice: str = ""
    is_demo: bool = False
    problem: str = ""


def service_state(shared: Application) -> ServiceState:
    """The service as the panel shows it, and what an administrator allows."""
    choice, found = shared.chooser.choice(), _found(shared)
    configuration, database = shared.configuration, shared.database
    notices = [f"{notice.text} {notice.action}".rstrip() for notice in database.notices]
    problems = [found.problem] if found.problem else []
    # An address may carry a password, and a message an address.
    return shared.redactor().event(
        ServiceState(
            model=found.model or choice.model,
            base_url=shown_url(found.base_url or choice.base_url),
            has_key=bool(choice.api_key),
            key_source=choice.key_source,
            is_demo=found.is_demo,
            notice=found.notice,
            mode=shared.chooser.unchecked_settings().mode,
            modes=tuple(configuration.allowed_modes),
            models_allowed=tuple(configuration.models),
            endpoints_locked=bool(configuration.endpoints),
            recording=database.is_durable,
            parameters=dict(shared.chooser.keys.parameters()),
            warnings=tuple(dict.fromkeys([*problems, *choice.warnings, *notices])),
        )
    )


def service_checks(
    shared: Application, change: ServiceChange = NO_CHANGE, *, send: bool
) -> list[ServiceCheck]:
    """What was looked at, each with what to do next.

    Args:
        shared: What is set.
        change: What is to be different, without being kept.
        send: Send one small request.
    """
    try:
        settings = shared.chooser.settings(change)
    except SetupError as error:
        return [ServiceCheck("service", "blocked", error.message, error.hint)]
    # Whoever presses a button waits for the answer, and can press it again.
    settings = replace(settings, service=replace(settings.service, retry_limit=0))
    # A check that was skipped has found nothing.
    clean = shared.redactor(settings.service.api_key).event
    return [
        clean(ServiceCheck(found.name, status, found.text, found.action, found.code))
        for found in checks(settings, send=send)
        if (status := STATUSES.get(found.status)) is not None
    ]


def models(shared: Application, change: ServiceChange = NO_CHANGE) -> list[str]:
    """The models that may be used, of the service that is set or of another one.

    Raises:
        SetupError: No service can be used as it is set.
        LMError: The service does not list its models.
    """
    settings = shared.chooser.settings(change)
    named = settings.service
    if not named.base_url or settings.service.model in DEMO_NAMES:
        service = open_service(settings)
        service.close()
        if service.is_demo:
            return [service.model]
        named = replace(named, base_url=service.base_url)
    return [name for name in list_models(named) if _is_allowed(shared, name)]


def provider_list(shared: Application) -> ProviderList:
    """The providers that may be chosen, and which of them run on this machine.

    Raises:
        SetupError: The environment cannot be used.
    """
    chooser = shared.chooser
    offers = chooser.offers()
    # An address that an administrator does not allow is not among them.
    near = [offer.base_url for offer in offers if offer.port and chooser.may_look_around]
    running = find_running(near)
    rows = []
    for offer in offers:
        names = running.get(offer.base_url)
        allowed = names and tuple(name for name in names if _is_allowed(shared, name))
        rows.append(replace(offer, models=allowed))
    place = chooser.keys.place_of_new_keys()
    return ProviderList(tuple(rows), chooser.may_name_any, chooser.set_model, place)


def _found(shared: Application) -> _ServiceFinding:
    try:
        settings = shared.settings()
        service = open_service(settings)
        service.close()
        if not settings.service.model and not service.is_demo:
            shared.configuration.check_model(service.model)
    except CellwrightError as error:
        named = shared.chooser.choice()
        if named.base_url and not named.model:
            # How a model or a key is named elsewhere is nothing to say in the panel.
            text = error.message.replace(named.base_url, shown_url(named.base_url))
            step = _next_step(error.__cause__, has_key=bool(named.api_key))
            return _ServiceFinding(problem=f"{text} {step}")
        return _ServiceFinding(problem=str(error))
    if service.is_demo:
        return _ServiceFinding(service.model, "", service.notice, is_demo=True)
    return _ServiceFinding(service.model, service.base_url, service.notice)


def _next_step(cause: BaseException | None, *, has_key: bool) -> str:
    """What to do in the panel where a service has no model, by what came of asking for its list."""
    if isinstance(cause, LMAccessError):
        return f"Give it {'another' if has_key else 'a'} key in Model settings."
    if isinstance(cause, LMQuotaError):
        return "Add credit in your account there, or choose another one in Model settings."
    if isinstance(cause, (LMConnectionError, LMTimeoutError)):
        return "Start it, or choose another address in Model settings."
    return "Choose one in Model settings."


def _is_allowed(shared: Application, model: str) -> bool:
    try:
        shared.configuration.check_model(model)
    except SetupError:
        return False
    return True


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
        self.send(to_dict(await self.answer(service_state)))

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Choose another model or endpoint; give or forget a key."""
        change = ServiceChange(**self.fields(**CHANGE))

        def changed(shared: Application) -> ServiceState:
            shared.chooser.change(change)
            return service_state(shared)

        self.send(to_dict(await self.answer(changed)))


class ServiceTestRoute(Route):
    """Is everything there that a run needs?"""

    slow_methods = ("POST",)

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Look; only with ``send`` is one small request sent, which may cost money."""
        given = self.fields(**CHANGE, send=bool)
        send = given.pop("send", False)
        change = ServiceChange(**given)
        found = await self.answer(lambda shared: service_checks(shared, change, send=send))
        self.send(to_dict(found))


class ModelsRoute(Route):
    """The models of the service."""

    guest_methods = ("GET",)
    slow_methods = ("GET", "POST")

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Those that may be used here; none where the service keeps no list."""
        self.send({"models": await self.answer(models)})

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Those of another service, before it is chosen; nothing is kept."""
        change = ServiceChange(**self.fields(**CHANGE))
        self.send({"models": await self.answer(lambda shared: models(shared, change))})


class ProvidersRoute(Route):
    """The providers that may be chosen."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Those of the table; servers on this machine that may be used are looked for."""
        self.send(to_dict(await self.answer(provider_list)))


ROUTES: RouteTable = (
    ("health", HealthRoute),
    ("service", ServiceRoute),
    ("service/test", ServiceTestRoute),
    ("models", ModelsRoute),
    ("providers", ProvidersRoute),
)
