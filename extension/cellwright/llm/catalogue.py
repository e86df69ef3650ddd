"""The models a service says it has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cellwright.errors import LMError, LMNotFoundError, LMStreamError
from cellwright.llm.connection import Line
from cellwright.llm.endpoints import Endpoint
from cellwright.llm.faults import from_exception
from cellwright.settings import ServiceSettings

TIMEOUT_SECONDS = 5.0


def list_models(
    service: ServiceSettings, *, timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[str, ...]:
    """The names of the models, in the order of the service; none where it keeps no list.

    A service without a list is no fault: any name may still be asked for (fault M45).

    Raises:
        LMError: It does not answer in time, or not as a model service.
    """
    endpoint = Endpoint(service.base_url, service.model, service.api_key)
    line = Line(replace(service, deadline_seconds=timeout_seconds))
    try:
        text = line.get("/models")
    except Exception as error:
        fault = from_exception(error, endpoint)
        if isinstance(fault, LMNotFoundError) or getattr(fault, "status", None) in (405, 501):
            return ()
        raise fault from error
    finally:
        line.abandon()
    return _names(text, endpoint)


def _names(text: str, endpoint: Endpoint) -> tuple[str, ...]:
    try:
        body = json.loads(text)
    except ValueError as error:
        raise _strange(endpoint) from error
    listed = body.get("data", body.get("models")) if isinstance(body, Mapping) else body
    if not isinstance(listed, list):
        raise _strange(endpoint)
    return tuple(dict.fromkeys(name for name in map(_name, listed) if name))


def _name(item: Any) -> str:
    if isinstance(item, Mapping):
        item = item.get("id") or item.get("name")
    return item if isinstance(item, str) else ""


def _strange(endpoint: Endpoint) -> LMError:
    text = f"{endpoint.base_url!r} does not list models as an API endpoint does."
    return LMStreamError(text, hint="Check the address; it usually ends in /v1.")
