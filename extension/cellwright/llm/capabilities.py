"""What is known of a service's models: which there are, and what each has refused or can hold."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from cellwright.errors import (
    LMContextError,
    LMError,
    LMNotFoundError,
    LMRequestError,
    LMStreamError,
    LMToolsUnsupportedError,
)
from cellwright.llm import Capabilities
from cellwright.llm.connection import ServiceConnection
from cellwright.llm.faults import Endpoint, context_tokens_in, from_exception
from cellwright.settings import ModelSettings, ServiceSettings, settings_of

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
    line = ServiceConnection(replace(service, deadline_seconds=timeout_seconds))
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


# What a service taught us of its models: refused parameters, no tools, no pictures, the window.


VISION_MODELS = ("gpt-4o", "gpt-4.1", "gpt-5", "o3", "o4")
"""Names that models which see begin with."""
NOTHING_KNOWN: Mapping[str, ModelSettings] = {}
LENGTH_PARAMETERS = ("max_tokens", "max_completion_tokens")
REFUSAL_WORDS = re.compile(
    r"unsupported|not support|unrecognized|unrecognised|unknown|unexpected|not permitted"
    r"|extra (?:inputs|fields|parameters)|not allowed|deprecated|invalid|incompatible"
)
PICTURE_WORDS = re.compile(
    r"image(?:_url|s| input| content)?.{0,40}not (?:be )?support"
    r"|not support.{0,20}image|not a multimodal|no image|invalid content type.{0,40}image"
)

TURN_WORDS = re.compile(
    r"roles must alternate|must alternate between|unexpected role \S+ after role"
    r"|consecutive (?:user|assistant)"
)
"""A template that wants the person's and the model's words in turn."""


class Learned:
    """Capabilities by model; threads may share it.

    Args:
        vision_models: Names that models which see begin with.
        prefers_completion_limit: Whether the service wants ``max_completion_tokens`` rather than
            ``max_tokens``.
        models: What the person knows of models, by name or pattern.
    """

    def __init__(
        self,
        vision_models: tuple[str, ...],
        *,
        prefers_completion_limit: bool,
        models: Mapping[str, ModelSettings] = NOTHING_KNOWN,
    ) -> None:
        self._vision_models = vision_models
        self._models = models
        self._length = LENGTH_PARAMETERS[prefers_completion_limit]
        self._known: dict[str, Capabilities] = {}
        self._lock = threading.Lock()

    def capabilities(self, model: str) -> Capabilities:
        """What is known of ``model`` so far."""
        with self._lock:
            known = self._known.get(model)
        return known or self._told(model)

    def length_parameter(self, model: str) -> str:
        """Under which name this model takes a limit of its answer."""
        other = next(name for name in LENGTH_PARAMETERS if name != self._length)
        refused = self.capabilities(model).refused_parameters
        return other if self._length in refused and other not in refused else self._length

    def from_refusal(
        self, model: str, error: LMRequestError, sent: Collection[str], *, pictures: bool
    ) -> str:
        """Learn from a request that was refused; what to leave out, or empty if nothing helps.

        Args:
            model: The model asked.
            error: What the service said.
            sent: The parameters that can be left out.
            pictures: Whether pictures were sent.
        """
        known = self.capabilities(model)
        if isinstance(error, LMToolsUnsupportedError):
            self._keep(model, replace(known, tools=False))
            return ""
        if isinstance(error, LMContextError):
            tokens = context_tokens_in(error.detail) or known.context_tokens
            self._keep(model, replace(known, context_tokens=tokens))
            return ""
        if parameter := _refused_parameter(error, sent):
            refused = known.refused_parameters | {parameter}
            parallel = known.parallel_tool_calls and parameter != "parallel_tool_calls"
            self._keep(
                model, replace(known, refused_parameters=refused, parallel_tool_calls=parallel)
            )
            return parameter
        if pictures and PICTURE_WORDS.search(error.detail.lower()):
            self._keep(model, replace(known, vision=False))
            return "pictures"
        if TURN_WORDS.search(error.detail.lower()):
            self._keep(model, replace(known, alternates=True))
        return ""

    def _told(self, model: str) -> Capabilities:
        """What a model can before it was asked anything."""
        row = settings_of(model, self._models)
        return Capabilities(
            vision=_plain_name(model).startswith(self._vision_models),
            context_tokens=row.context_tokens,
            alternates=row.alternates,
            system_position=row.system_position,
            system_notes=row.system_notes,
        )

    def _keep(self, model: str, capabilities: Capabilities) -> None:
        with self._lock:
            self._known[model] = capabilities


def _refused_parameter(error: LMRequestError, sent: Collection[str]) -> str:
    if error.parameter in sent:
        return error.parameter
    words = error.detail.lower()
    if not REFUSAL_WORDS.search(words):
        return ""
    named = [(words.find(name), name) for name in sent if re.search(rf"\b{name}\b", words)]
    # "max_tokens is not supported, use max_completion_tokens": the first one is the culprit.
    return min(named)[1] if named else ""


def _plain_name(model: str) -> str:
    """The name without the provider that a router puts before it, such as ``openai/``."""
    return model.rpartition("/")[2]
