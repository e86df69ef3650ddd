"""What is known of a service's models: which there are, and what each has refused or can hold."""

from __future__ import annotations

import http.client
import json
import math
import re
import socket
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from cellwright.errors import (
    LMContextError,
    LMError,
    LMNotFoundError,
    LMRequestError,
    LMStreamError,
    LMToolsUnsupportedError,
)
from cellwright.llm import Capabilities, MessageShape
from cellwright.llm.connection import ServiceConnection
from cellwright.llm.deltas import object_in
from cellwright.llm.faults import (
    PICTURE_WORDS,
    SHAPE_WORDS,
    TURN_WORDS,
    Endpoint,
    context_tokens_in,
    from_exception,
)
from cellwright.providers import find_provider, models_path, usual_api
from cellwright.record.events import Notice
from cellwright.settings import Api, ModelSettings, ServiceSettings, settings_of
from cellwright.stopping import WorkerThread

TIMEOUT_SECONDS = 5.0


def list_models(
    service: ServiceSettings, *, timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[str, ...]:
    """The names of the models, in the order of the service; none where it keeps no list.

    A service without a list is no fault: any name may still be asked for (fault M45).

    Raises:
        LMError: It does not answer in time, or not as a model service.
    """
    path = models_path(service.base_url)
    if not path:
        return ()
    endpoint = Endpoint(service.base_url, service.model, service.api_key)
    line = ServiceConnection(replace(service, deadline_seconds=timeout_seconds))
    try:
        text = line.fetch(path)
    except Exception as error:
        fault = from_exception(error, endpoint)
        if isinstance(fault, LMNotFoundError) or getattr(fault, "status", None) in (405, 501):
            return ()
        raise fault from error
    finally:
        line.abandon()
    listed = [(name, row) for row in _rows(text, endpoint) if (name := _name(row))]
    for name, row in listed:
        tokens = _count(row.get("inputTokenLimit")) if isinstance(row, Mapping) else None
        if tokens is not None:
            WINDOWS[service.base_url, name] = tokens
    return _names(row for _, row in listed)


def _names(rows: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in map(_name, rows) if name))


def _rows(text: str, endpoint: Endpoint) -> list[Any]:
    try:
        body = json.loads(text)
    except ValueError as error:
        raise _strange(endpoint) from error
    listed = body.get("data", body.get("models")) if isinstance(body, Mapping) else body
    if not isinstance(listed, list):
        raise _strange(endpoint)
    return listed


def _name(item: Any) -> str:
    if isinstance(item, Mapping):
        if GENERATES not in item.get("supportedGenerationMethods", (GENERATES,)):
            return ""  # Google lists models that make vectors or pictures, too
        item = item.get("id") or item.get("name")
    return item.removeprefix(LISTED_START) if isinstance(item, str) else ""


GENERATES = "generateContent"


def is_listed(model: str, names: Collection[str]) -> bool:
    """Whether a model is among those listed; Google's may be named with what we leave out."""
    return model in names or model.removeprefix(LISTED_START) in names


LISTED_START = "models/"


def _strange(endpoint: Endpoint) -> LMError:
    text = f"{endpoint.address!r} does not list models as an API endpoint does."
    return LMStreamError(text, hint="Check the address; it usually ends in /v1.")


LOOK_SECONDS = 0.5
"""A server on this machine that has something to say says it sooner."""
LOOK_LIMIT_BYTES = 1_000_000


def find_running(
    base_urls: Iterable[str], *, seconds: float = LOOK_SECONDS
) -> dict[str, tuple[str, ...]]:
    """The models of those servers on this machine that answer at once, by address.

    All are asked at the same time, without a key and past any proxy; who does not list models in
    time is none.
    """
    found: dict[str, tuple[str, ...]] = {}
    asked = []
    for base_url in base_urls:
        host = urlsplit(base_url).hostname
        if base_url.startswith("http://") and host in ("127.0.0.1", "localhost", "::1"):
            line = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=seconds)
            thread = WorkerThread(_look, base_url, line, found, name="look")
            thread.start()
            asked.append((line, thread))
    deadline = time.monotonic() + seconds
    for line, thread in asked:
        thread.join(max(0.0, deadline - time.monotonic()))
        with suppress(OSError):
            if line.sock is not None:
                line.sock.shutdown(socket.SHUT_RDWR)  # a slow one is not waited for
        thread.join(seconds)
    return dict(found)


def _look(
    base_url: str, line: http.client.HTTPConnection, found: dict[str, tuple[str, ...]]
) -> None:
    try:
        line.request("GET", f"{urlsplit(base_url).path}/models")
        response = line.getresponse()
        if response.status == 200:
            text = response.read(LOOK_LIMIT_BYTES).decode()
            found[base_url] = _names(_rows(text, Endpoint(base_url, "")))
    except (OSError, http.client.HTTPException, ValueError, LMError):
        pass  # something else listens there, or nothing does
    finally:
        line.close()


def template_takes_tools(service: ServiceSettings) -> bool | None:
    """Whether the chat template that a llama-server has loaded knows tools; None: nobody says.

    One without them answers 200 and drops the tools. ``GET /props`` at the root of the server has
    ``chat_template_caps.supports_tools``. Source: tools/server/README.md and common/jinja/caps.h of
    ggml-org/llama.cpp, as its clients read them, 2026-11-23; seen in a trial with the server.
    """
    line = ServiceConnection(replace(service, deadline_seconds=TIMEOUT_SECONDS))
    try:
        body = json.loads(line.fetch(f"{service.base_url.removesuffix('/v1')}/props"))
    except Exception:  # whatever it answers, it does not say
        return None
    finally:
        line.abandon()
    caps = body.get("chat_template_caps") if isinstance(body, Mapping) else None
    said = caps.get("supports_tools") if isinstance(caps, Mapping) else None
    return said if isinstance(said, bool) else None


WINDOW_SECONDS = 2.0
"""How long a server is asked for its window before a question; it answers at once or not at all."""


def window_at(service: ServiceSettings, model: str) -> int | None:
    """How many tokens a model holds at a server of one's own; None: the server does not say.

    Raises:
        LMError: It does not answer.
    """
    line = ServiceConnection(replace(service, deadline_seconds=WINDOW_SECONDS))
    root = service.base_url.removesuffix("/v1")
    try:
        row = _row(_json(line.fetch("/models")), model)
        if isinstance(row.get("meta"), Mapping):
            # The window of a slot; n_ctx_train is what the model was trained for.
            props = object_in(_optional(line, f"{root}/props"), "default_generation_settings")
            return _count(props.get("n_ctx")) or _count(row["meta"].get("n_ctx"))
        if row.get("owned_by") == OLLAMA_OWNER:
            return _window_of_ollama(line, root, model)
        if tokens := _count(row.get("max_model_len")) or _count(row.get("inputTokenLimit")):
            return tokens
        if path := find_provider(service.base_url).window_path:
            row = _row(_optional(line, f"{root}{path}"), model)
            return _count(row.get("loaded_context_length"))
        if row.get("owned_by") == LLAMA_CPP_PYTHON_OWNER:
            SILENT_SERVERS.add(service.base_url)
        if row.get("created") == LITELLM_DATE:
            SILENT_SERVERS.add(service.base_url)
            return _window_of_litellm(line, root, model)
        return None
    except Exception as error:
        raise from_exception(error, Endpoint(service.base_url, model, service.api_key)) from error
    finally:
        line.abandon()


"""Where servers say it, read 2026-11-23: llama.cpp in ``/props`` and in ``meta`` of ``/v1/models``
(tools/server/README.md), vLLM and SGLang in ``max_model_len`` of ``/v1/models``
(vllm/entrypoints/openai/protocol.py), Google's API in ``inputTokenLimit`` of ``/models``
(ai.google.dev/api/models), Ollama in ``/api/ps`` of a model that is loaded, else in the
parameters that ``/api/show`` tells (docs.ollama.com/api), LM Studio in ``/api/v0/models``
(lmstudio.ai/docs/api/rest-api), LiteLLM's proxy in ``/model/info`` (docs.litellm.ai/docs/proxy)."""
OLLAMA_OWNER = "library"
LITELLM_DATE = 1677610602
"""On which each model of its list was made, whoever made it (seen at version 1.106)."""
LLAMA_CPP_PYTHON_OWNER = "me"
NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


def _window_of_ollama(line: ServiceConnection, root: str, model: str) -> int | None:
    running = _row(_optional(line, f"{root}/api/ps"), model)
    if tokens := _count(running.get("context_length")):
        return tokens
    try:
        body = json.dumps({"model": model}).encode()
        shown = _json(line.fetch(f"{root}/api/show", body))
    except Exception:  # an older one, or a proxy before it
        return None
    set_size = NUM_CTX.search(str(shown.get("parameters") or ""))
    return int(set_size[1]) if set_size else None


def _window_of_litellm(line: ServiceConnection, root: str, model: str) -> int | None:
    """The smallest window of those that answer under the name: the proxy chooses among them."""
    rows = _optional(line, f"{root}/model/info").get("data")
    own = [row for row in rows or () if isinstance(row, Mapping) and row.get("model_name") == model]
    found = (_count(object_in(row, "model_info").get("max_input_tokens")) for row in own)
    return min((tokens for tokens in found if tokens is not None), default=None)


def _optional(line: ServiceConnection, path: str) -> Mapping[str, Any]:
    """What stands at a path that a server may not have."""
    try:
        return _json(line.fetch(path))
    except Exception:  # whatever it answers, it does not say
        return {}


def _json(text: str) -> Mapping[str, Any]:
    """The object in a body; empty: it holds something else."""
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, Mapping) else {}


def _row(body: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """What a list of models says of one; of the only one, whatever it is called."""
    listed = body.get("data", body.get("models"))
    rows = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []
    named = [row for row in rows if model in (_name(row), row.get("model"))]
    return next(iter(named or (rows if len(rows) == 1 else [])), {})


def _count(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None


# What a service taught us of its models: refused parameters, no tools, no pictures, the window.


NOTHING_KNOWN: Mapping[str, ModelSettings] = {}
LENGTH_PARAMETERS = ("max_tokens", "max_completion_tokens")
LIMIT_NAMES = frozenset({*LENGTH_PARAMETERS, "max_output_tokens", "maxOutputTokens"})
"""What a limit of the answer is called in any API."""
REFUSAL_WORDS = re.compile(
    r"unsupported|not support|unrecognized|unrecognised|unknown|unexpected|not permitted"
    r"|extra (?:inputs|fields|parameters)|not allowed|deprecated|invalid|incompatible"
)
STREAM_WORDS = re.compile(r"must be verified to stream|not support stream(?:ing)?\b(?!_)")
"""OpenAI's to an organisation that is not verified: "Your organization must be verified to stream
this model", read 2026-11-28 as its users quote it."""
RESPONSES_WORDS = re.compile(r"\bv1/responses\b|\bresponses api\b")
ITEM_WORDS = re.compile(
    r"invalid_encrypted_content|encrypted content .*(?:verified|match|parsed)"
    r"|(?:invalid|corrupted) thought signature|items? with id .*not found"
    r"|without its required (?:following|'reasoning') item"
    r"|invalid `?signature`? in `?(?:redacted_)?thinking|thinking`? blocks .*cannot be modified"
)
"""Items that a provider no longer takes back: another organisation, route or key, or, with
Anthropic's, a conversation whose beginning was changed since."""
REQUIRED_WORDS = {
    "reasoning_content": re.compile(
        r"reasoning_content.{0,60}(?:must be passed|is missing)|missing.{0,20}reasoning_content"
    ),
    "extra_content": re.compile(r"missing a .?thought_signature"),
}
"""As DeepSeek and Moonshot, and Google, word it that a call lacks what they sent with it."""


SHAPES: Mapping[MessageShape, str] = {
    "short_ids": "short ids of calls",
    "single_calls": "one call in a message",
    "text_content": "an empty text beside calls",
}
LIMIT_WORDS = re.compile(
    r"in the completion\)"
    r"|max_(?:completion_|output_)?tokens\W.{0,80}(?:too large|at most|less than)"
    r"|(?:too large|at most).{0,60}(?:completion tokens|max_(?:completion_|output_)?tokens)"
    r"|maximum allowed number of output tokens|maxoutputtokens value of"
)
"""As vLLM and OpenAI word it that the limit of the answer does not fit. Sources: vLLM's messages
"(2000 in the messages, 8192 in the completion)" and "'max_tokens' … is too large", OpenAI's "This
model supports at most 16384 completion tokens", as their users quote them, read 2026-11-23."""
MESSAGES_TOKENS = re.compile(r"(\d+) in the messages")
TEMPLATES: dict[tuple[str, str], bool] = {}
"""Of which service and model it is known in this process whether the template drops tools."""
SILENT_SERVERS: set[str] = set()
"""Addresses whose lists of models give away what drops tools unseen: llama-cpp-python's server,
which counts nothing in a stream, and LiteLLM's proxy before others."""
WINDOWS: dict[tuple[str, str], int | None] = {}
"""The windows of models at servers that were asked in this process; of Google's, listed."""
REFUSED_ITEMS: dict[tuple[str, str], str] = {}
"""Which items (``key_of``) a service no longer takes back, in this process, and in which words.

A new question has a new client; without this it would have the same thinking refused again, and
lose with it what was thought since.
"""
LEARNED: dict[tuple[str, str], Capabilities] = {}
"""What was learned in this process, by the address of the service and the model.

A question opens a client and closes it; what a model refused once is not tried with the next one.
"""


class Learned:
    """Capabilities by model; threads may share it.

    Args:
        service: Where the models are, and through which API they are to be asked.
        models: What the person knows of models, by name or pattern.
    """

    def __init__(
        self,
        service: ServiceSettings,
        *,
        models: Mapping[str, ModelSettings] = NOTHING_KNOWN,
    ) -> None:
        self._service = service
        self._models = models
        self._length = find_provider(service.base_url).length_parameter

    def capabilities(self, model: str) -> Capabilities:
        """What is known of ``model`` so far."""
        told = self._told(model)
        learned = LEARNED.get((self._service.base_url, model))
        if learned is None:
            return told
        # What the person set may have changed since, and wins.
        row = settings_of(model, self._models)
        return replace(
            learned,
            vision=learned.vision and row.vision is not False,
            api=learned.api if self._api(model) == "auto" else told.api,
            system_position=row.system_position,
            system_notes=row.system_notes,
        )

    def length_parameter(self, model: str) -> str:
        """Under which name this model takes a limit of its answer."""
        other = next(name for name in LENGTH_PARAMETERS if name != self._length)
        refused = self.capabilities(model).refused_parameters
        return other if self._length in refused and other not in refused else self._length

    def from_refusal(
        self,
        model: str,
        error: LMRequestError | LMNotFoundError,
        sent: Collection[str],
        *,
        pictures: bool,
        fields: Collection[str] = (),
    ) -> Notice | None:
        """Learn from a request that was refused; what to tell the person, None if nothing helps.

        Args:
            model: The model asked.
            error: What the service said.
            sent: The parameters that can be left out.
            pictures: Whether pictures were sent.
            fields: Fields of messages that were sent back to their provider.
        """
        known, words = self.capabilities(model), error.detail.lower()
        if isinstance(error, LMToolsUnsupportedError):
            self._keep(model, replace(known, tools=False))
            return None
        if limit := self._refused_limit(error, sent):
            return self.leave_out(model, limit)
        if isinstance(error, LMContextError):
            tokens = context_tokens_in(error.detail) or known.context_tokens
            self._keep(model, replace(known, context_tokens=tokens))
            return None
        if known.api == "chat" and self._api(model) == "auto" and RESPONSES_WORDS.search(words):
            self._keep(model, replace(known, api="responses"))
            text = f"{model!r} is asked through OpenAI's Responses API from now on: {error.detail}"
            return Notice("info", text, code="api_switched")
        if known.streams and STREAM_WORDS.search(words):
            self._keep(model, replace(known, streams=False))
            text = f"{model!r} answers in one piece from now on: {error.detail}"
            return Notice("info", text, code="stream_refused")
        notice = self._about_shape(model, known, words)
        if notice := notice or self._about_fields(model, known, words, fields):
            return notice
        if pictures and PICTURE_WORDS.search(words):
            self._keep(model, replace(known, vision=False))
            text = f"{model!r} does not see pictures; it is sent their captions from now on."
            return Notice("info", text, code="pictures_refused")
        if parameter := _refused_parameter(error, sent):
            return self.leave_out(model, parameter)
        if TURN_WORDS.search(words):
            self._keep(model, replace(known, alternates=True))
        return None

    def leave_out(self, model: str, parameter: str) -> Notice:
        """Send a model a parameter no more; what to tell the person."""
        known = self.capabilities(model)
        refused = known.refused_parameters | {parameter}
        parallel = known.parallel_tool_calls and parameter != "parallel_tool_calls"
        self._keep(model, replace(known, refused_parameters=refused, parallel_tool_calls=parallel))
        return _dropped(model, parameter)

    def _refused_limit(self, error: LMError, sent: Collection[str]) -> str:
        """The limit of the answer, where it alone makes a request too long; empty: it does not."""
        asked = MESSAGES_TOKENS.search(error.detail)
        if asked and int(asked[1]) >= (context_tokens_in(error.detail) or math.inf):
            return ""  # it would be too long without any answer
        names = LIMIT_NAMES & set(sent)
        return next(iter(names), "") if LIMIT_WORDS.search(error.detail.lower()) else ""

    def learn_window(self, model: str) -> None:
        """Ask a server of one's own for the window of a model, once.

        Its list tells what kind of server it is, too, so it is asked where the window is known.
        """
        key = (self._service.base_url, model)
        # Companies have windows that are larger than what is sent.
        provider = find_provider(self._service.base_url)
        if provider.hosts or key in WINDOWS:
            return
        try:
            tokens = window_at(self._service, model)
        except LMError:
            return  # the question will tell what is wrong
        known = self.capabilities(model)
        if known.context_tokens is not None or tokens is not None or not provider.loads_late:
            WINDOWS[key] = tokens
        if known.context_tokens is None and tokens is not None:
            self._keep(model, replace(known, context_tokens=tokens))

    def template_drops_tools(self, model: str, *, ask: bool) -> bool:
        """Whether the server is known to drop the tools in silence; it is asked once, if at all."""
        key = (self._service.base_url, model)
        if ask and key not in TEMPLATES:
            TEMPLATES[key] = template_takes_tools(self._service) is False
        return TEMPLATES.get(key, False)

    def _about_shape(self, model: str, known: Capabilities, words: str) -> Notice | None:
        """Learn in which shape a model takes messages with calls."""
        for shape, pattern in SHAPE_WORDS.items():
            if shape not in known.shapes and pattern.search(words):
                self._keep(model, replace(known, shapes=known.shapes | {shape}))
                text = f"{model!r} is sent {SHAPES[shape]} from now on."
                return Notice("info", text, code="shape_learned")
        return None

    def _about_fields(
        self, model: str, known: Capabilities, words: str, sent: Collection[str]
    ) -> Notice | None:
        """Learn which fields of messages a model demands or refuses."""
        for name, pattern in REQUIRED_WORDS.items():
            if pattern.search(words) and name not in known.required_fields:
                self._keep(model, replace(known, required_fields=known.required_fields | {name}))
                text = f"{model!r} wants {name!r} with each call; one that is missing is made up."
                return Notice("info", text, code="field_required")
        if REFUSAL_WORDS.search(words) or "must not" in words or "forbidden" in words:
            # What is still refused when it is no longer sent cannot be helped.
            for name in sorted(set(sent) - known.refused_fields):
                if not re.search(rf"\b{name}\b", words):
                    continue
                self._keep(model, replace(known, refused_fields=known.refused_fields | {name}))
                return _dropped(model, name)
        return None

    def _told(self, model: str) -> Capabilities:
        """What a model can before it was asked anything."""
        row, api = settings_of(model, self._models), self._api(model)
        return Capabilities(
            vision=row.vision is not False,
            api=usual_api(self._service.base_url, model) if api == "auto" else api,
            context_tokens=row.context_tokens or WINDOWS.get((self._service.base_url, model)),
            alternates=row.alternates,
            system_position=row.system_position,
            system_notes=row.system_notes,
        )

    def _api(self, model: str) -> Api:
        """What the person set."""
        row = settings_of(model, self._models)
        return self._service.api if row.api == "auto" else row.api

    def _keep(self, model: str, capabilities: Capabilities) -> None:
        LEARNED[self._service.base_url, model] = capabilities


def _dropped(model: str, name: str) -> Notice:
    text = f"{model!r} does not take {name!r}; the request goes on without it."
    return Notice("info", text, code="parameter_dropped")


def _refused_parameter(error: LMError, sent: Collection[str]) -> str:
    parameter = getattr(error, "parameter", "")
    if parameter in sent:
        return str(parameter)
    words = error.detail.lower()
    if not REFUSAL_WORDS.search(words):
        return ""
    named = [(words.find(name), name) for name in sent if re.search(rf"\b{name}\b", words)]
    # "max_tokens is not supported, use max_completion_tokens": the first one is the culprit.
    return min(named)[1] if named else ""
