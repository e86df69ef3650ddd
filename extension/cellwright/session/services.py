"""Which service and model answer: a setting, the environment, a local Ollama, the demo model."""

from __future__ import annotations

import difflib
import json
import threading
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from urllib.error import URLError

from cellwright.errors import LMError, SetupError
from cellwright.installation import SERVICES, load_own
from cellwright.llm import LM
from cellwright.llm.capabilities import list_models
from cellwright.llm.openai import OpenAILM
from cellwright.providers import OLLAMA, find_provider, shown_url
from cellwright.record.messages import (
    ImagePart,
    Message,
    Price,
    SystemMessage,
    ToolMessage,
    UserMessage,
    price_for,
    text_of,
)
from cellwright.settings import Limits, ServiceSettings, Settings, settings_of
from cellwright.text.file_kinds import HEAD_BYTES, RASTER_TYPES, kind_of

DEMO_MODEL = "cellwright-demo"
DEMO_NAMES = (DEMO_MODEL, "demo")
DEMO_NOTICE = (
    "No key and no endpoint are set, so the demo model answers (rules, not a language model)."
)
DEMO_ACTION = "Set OPENAI_API_KEY, or CELLWRIGHT_BASE_URL and CELLWRIGHT_MODEL, for a real one."
OLLAMA_WAIT_SECONDS = 1.0
"""It is asked before each question, and may be busy with another; where none runs that shows at
once."""
MOST_LISTED = 8
"""Models that an error names."""
NAME_ONE = "Name one: -m MODEL, in Python model=…, or CELLWRIGHT_MODEL."
LOCAL_KEY = "local"
"""Sent to a server that asks for none."""


@dataclass
class ModelService:
    """A model that is ready to answer: behind a service, recorded or scripted."""

    lm: LM
    model: str
    base_url: str = ""
    notice: str = ""
    """Shown once, when the service was not chosen by the person."""
    notice_action: str = ""
    """How to choose another one in a notebook or shell; the panel has a way of its own."""
    is_free: bool = False
    """No request of it is paid for, so any budget can be kept."""

    def learn_window(self) -> None:
        """Find out how much the model holds, where that has to be asked."""


class LocalServer(Protocol):
    """A model that is served from this process."""

    def start(self) -> str:
        """Serve it; the address."""
        ...

    def close(self) -> None:
        """Serve it no more."""
        ...


@dataclass
class Service(ModelService):
    """A service that was opened here, to be closed again."""

    lm: OpenAILM
    demo: LocalServer | None = None

    @property
    def is_demo(self) -> bool:
        """Whether the demo model answers."""
        return self.demo is not None

    def learn_window(self) -> None:
        """Ask the server, once."""
        if self.demo is None:
            self.lm.learn_window(self.model)

    def close(self) -> None:
        """Close the connection, and the demo server if this service started one."""
        self.lm.close()
        if self.demo is not None:
            self.demo.close()


@dataclass(frozen=True)
class _Answerer:
    """Which model answers, before anything of it is opened."""

    service: ServiceSettings
    notice: str = ""
    notice_action: str = ""
    is_free: bool = False
    is_demo: bool = False


def open_service(settings: Settings, model: str = "") -> Service:
    """The service for ``model``, or for whatever is set.

    Args:
        settings: Endpoint, key, model and waits.
        model: What the person asked for in this call; empty for the set or found one.

    Raises:
        SetupError: A model was asked for and there is nowhere to ask it, or the other way round;
            or ``auto`` was, where there is no question for which one could be chosen.
    """
    return _open(_find_answerer(settings, model), settings)


def _find_answerer(settings: Settings, model: str) -> _Answerer:
    if model == AUTO:
        raise SetupError(
            f"{AUTO!r} chooses a model for each question; here one has to be named.",
            hint="Name it: -m MODEL, in Python model=….",
        )
    wanted = model or settings.service.model
    demo = replace(settings.service, base_url="", api_key="demo", model=DEMO_MODEL)
    if wanted in DEMO_NAMES:
        return _Answerer(demo, is_free=True, is_demo=True)
    if settings.service.base_url:
        return _configured(settings, wanted)
    if wanted and not settings.ollama_url:
        raise _no_endpoint(wanted)
    found = _ollama_models(settings.ollama_url)
    if wanted and wanted not in found:
        raise _no_endpoint(wanted)
    if found:
        return _ollama(settings, wanted or found[0])
    return _Answerer(demo, DEMO_NOTICE, DEMO_ACTION, is_free=True, is_demo=True)


def _open(answerer: _Answerer, settings: Settings) -> Service:
    service, server = answerer.service, None
    if answerer.is_demo:
        # An entry point names it: most services are others, and its rules may be left out.
        server = load_own(SERVICES, DEMO_MODEL)()
        service = replace(service, base_url=server.start())
    return Service(
        OpenAILM(service, models=settings.models),
        service.model,
        service.base_url,
        answerer.notice,
        answerer.notice_action,
        is_free=answerer.is_free,
        demo=server,
    )


def _configured(settings: Settings, model: str) -> _Answerer:
    if not model:
        return _only_model(settings)
    service, url = replace(settings.service, model=model), settings.service.base_url
    if not settings.found_key:
        return _Answerer(service)
    notice = f"{model} of {find_provider(url).name or url} answers."
    action = (
        f"That is because of {settings.found_key}; choose another with -m, or with "
        "CELLWRIGHT_BASE_URL and CELLWRIGHT_MODEL."
    )
    return _Answerer(service, notice, action)


def _only_model(settings: Settings) -> _Answerer:
    """The model of a service for which none is named; of several the person chooses one.

    Raises:
        SetupError: There are several, or the service does not list them; its cause says why.
    """
    service, address = settings.service, shown_url(settings.service.base_url)
    try:
        known = list_models(service, timeout_seconds=CATALOGUE_SECONDS)
    except LMError as error:
        text = f"No model is named for {address!r}, and it lists none: {error.message}"
        raise SetupError(text, hint=error.hint or NAME_ONE) from error
    if len(known) == 1:
        notice = f"{known[0]} answers: it is the only model of {address}."
        return _Answerer(replace(service, model=known[0]), notice)
    raise SetupError(
        f"No model is named for {address!r}{_listed(known)}.",
        hint=NAME_ONE,
    )


def _listed(known: Sequence[str]) -> str:
    if not known:
        return ""
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return f"; it has {', '.join(known[:MOST_LISTED])}{more}"


def _ollama(settings: Settings, model: str) -> _Answerer:
    service = replace(
        settings.service, base_url=f"{settings.ollama_url}/v1", api_key=LOCAL_KEY, model=model
    )
    notice = f"No key is set; {model} of the local {OLLAMA.name} answers."
    return _Answerer(service, notice, "Choose another with -m.", is_free=True)


def _no_endpoint(model: str) -> SetupError:
    return SetupError(
        f"There is no endpoint for the model {model!r}.",
        hint="Set OPENAI_API_KEY, or CELLWRIGHT_BASE_URL for another service, "
        f"or use the model {DEMO_MODEL}.",
    )


def _ollama_models(url: str) -> tuple[str, ...]:
    """The models a local Ollama has; none when it does not answer at once."""
    if not url:
        return ()
    try:
        with urllib.request.urlopen(f"{url}/api/tags", timeout=OLLAMA_WAIT_SECONDS) as answer:
            return tuple(str(item["name"]) for item in json.load(answer).get("models", ()))
    except (URLError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


class ServiceCache:
    """Services by address and model; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._services: dict[tuple[str, ...], _CachedService] = {}

    def get(self, settings: Settings, model: str) -> Service:
        """The service that answers now: one that nobody named is looked for each time.

        Args:
            settings: Endpoint, key, model and waits.
            model: What the person asked for; empty: the set or found one.

        Raises:
            SetupError: There is none for this model.
        """
        answerer = _find_answerer(settings, model)
        service = answerer.service
        # What is sent with each request may be set anew while a kernel runs.
        sent = json.dumps(
            [service.api_key, dict(service.parameters), dict(service.headers)], sort_keys=True
        )
        # A run may still ask a demo model, which is closed for good: another stands beside it.
        variant = sent if answerer.is_demo else ""
        key = (service.base_url, service.model, answerer.notice, variant)
        with self._lock:
            cached = self._services.get(key)
            if cached is None or cached.sent != sent:
                if cached is not None:
                    cached.service.close()  # a run that still asks it opens a connection again
                cached = _CachedService(sent, _open(answerer, settings))
                self._services[key] = cached
            return cached.service

    def close(self) -> None:
        """Close all connections, and the demo server if there is one."""
        with self._lock:
            services, self._services = self._services, {}
        for cached in services.values():
            cached.service.close()


@dataclass(frozen=True)
class _CachedService:
    sent: str
    """Key, parameters and headers with which it was opened."""
    service: Service


# Which model ``auto`` means for a question, and what a mistyped name may have meant.
#
# A model that was named is never switched: where it cannot do what a question needs, that is said.


AUTO = "auto"
LONG_BYTES = 100_000
TOO_LONG_BYTES = 1_000_000
SUGGESTED = 3
CATALOGUE_SECONDS = 3.0


@dataclass(frozen=True)
class RequestWindow:
    """What a model would be sent."""

    has_pictures: bool = False
    size_bytes: int = 0

    @classmethod
    def of(
        cls, prompt: str, files: Iterable[str], messages: Iterable[Message] = ()
    ) -> RequestWindow:
        """The window of a question after these messages; files are paths."""
        said = [m for m in messages if not isinstance(m, SystemMessage)]
        pictures = any(isinstance(part, ImagePart) for m in said for part in _parts(m))
        size = len(prompt.encode("utf-8", "replace"))
        size += sum(len(text_of(message).encode("utf-8", "replace")) for message in said)
        return cls(pictures or any(_is_picture(file) for file in files), size)


@dataclass(frozen=True)
class ModelChoice:
    """The model that answers; empty: the set one."""

    model: str
    notice: str = ""
    """For the person, where another than the set one was chosen."""
    action: str = ""


def choose_model(wanted: str, settings: Settings, window: RequestWindow) -> ModelChoice:
    """The model for a question.

    Args:
        wanted: What was asked for: a name, ``auto``, or nothing for the set one.
        settings: Which models there are for pictures and for long conversations.
        window: What the model would be sent.

    Raises:
        SetupError: No model could take so much.
    """
    if wanted != AUTO:
        return ModelChoice(wanted)
    if window.size_bytes > TOO_LONG_BYTES:
        size = f"{window.size_bytes:,} bytes"
        hint = "Begin a new chat, or make this one shorter."
        raise SetupError(f"The conversation has {size}, too much for any model.", hint=hint)
    usual = settings.service.model
    sees = settings_of(usual, settings.models).vision
    if window.has_pictures and settings.vision_model and not sees:
        return _other(settings.vision_model, "it sees pictures")
    if window.has_pictures and sees is False:
        told = f"{usual} does not see pictures, and no model that does is set."
        return ModelChoice("", told, "CELLWRIGHT_VISION_MODEL names one.")
    if window.size_bytes > LONG_BYTES and settings.long_model and not window.has_pictures:
        return _other(settings.long_model, "the conversation is long")
    return ModelChoice("")


def check_budget(service: ModelService, limits: Limits, prices: Mapping[str, Price]) -> None:
    """Refuse a budget of money that nobody could keep, before anything is paid for.

    Raises:
        SetupError: There is one, and what the model costs is not known.
    """
    budget = limits.cost_limit_dollars
    if budget is None or service.is_free or price_for(service.model, prices) is not None:
        return
    raise SetupError(
        f"The budget of ${budget:g} cannot be kept: the price of {service.model!r} is not known.",
        hint="Name a table of prices in CELLWRIGHT_PRICES, or limit the tokens instead.",
    )


def unseen_pictures(files: Mapping[str, str], *, sees: bool, model: str) -> str:
    """What is to be said where a model is given pictures that it does not see.

    Args:
        files: Paths, by the names that the user knows them by.
        sees: Whether it sees pictures.
        model: Its name.
    """
    names = [Path(name).name for name, file in files.items() if _is_picture(file)]
    if sees or not names:
        return ""
    return f"{model} does not see pictures; of {', '.join(names)} it is told that they are there."


def models_like(name: str, settings: Settings, base_url: str) -> tuple[str, ...]:
    """Names of the service's models that are close to one it does not know; none: not known."""
    service = replace(settings.service, base_url=base_url, model=name)
    try:
        known = list_models(service, timeout_seconds=CATALOGUE_SECONDS)
    except LMError:
        return ()
    return tuple(difflib.get_close_matches(name, known, n=SUGGESTED, cutoff=0.5))


def _other(model: str, reason: str) -> ModelChoice:
    return ModelChoice(model, f"{model} answers: {reason}.")


def _parts(message: Message) -> tuple[object, ...]:
    return message.parts if isinstance(message, (UserMessage, ToolMessage)) else ()


def _is_picture(file: str) -> bool:
    """What is in it counts, not its name; whoever attaches it says why it cannot be read."""
    path = Path(file).expanduser()
    try:
        if not path.is_file():
            return False  # a pipe would be waited for
        with path.open("rb") as opened:
            return kind_of(opened.read(HEAD_BYTES), file) in RASTER_TYPES
    except (OSError, ValueError):
        return False
