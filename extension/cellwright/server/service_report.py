"""What is told of the model service: state, checks, models; never a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cellwright.commands.doctor import checks
from cellwright.errors import CellwrightError, SetupError
from cellwright.llm.catalogue import list_models
from cellwright.server.application import Application
from cellwright.server.service_choice import shown_url
from cellwright.session.services import open_service

STATUSES: Mapping[str, str] = {"ok": "ok", "warning": "warn", "failed": "blocked"}


@dataclass(frozen=True)
class _Found:
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


def _found(shared: Application) -> _Found:
    try:
        service = open_service(shared.settings())
    except CellwrightError as error:
        return _Found(problem=str(error))
    service.close()
    if service.is_demo:
        return _Found(service.model, "", service.notice, is_demo=True)
    return _Found(service.model, service.base_url, service.notice)


def _is_allowed(shared: Application, model: str) -> bool:
    try:
        shared.configuration.check_model(model)
    except SetupError:
        return False
    return True


def _check(name: str, status: str, text: str, action: str) -> dict[str, str]:
    return {"name": name, "status": status, "text": text, "action": action}
