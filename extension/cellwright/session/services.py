"""Which model answers: an explicit setting, the environment, a local Ollama, the demo model."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.error import URLError

from cellwright.errors import SetupError
from cellwright.llm.openai import OpenAILM
from cellwright.settings import ServiceSettings, Settings

if TYPE_CHECKING:
    from cellwright.demo.server import DemoServer

DEMO_MODEL = "cellwright-demo"
DEMO_NOTICE = (
    "No key and no endpoint are set, so the demo model answers (rules, not a language model). "
    "Set OPENAI_API_KEY, or CELLWRIGHT_BASE_URL and CELLWRIGHT_MODEL, for a real one."
)
OLLAMA_WAIT_SECONDS = 0.3


@dataclass
class Service:
    """A model service that is ready to answer."""

    lm: OpenAILM
    model: str
    base_url: str
    notice: str = ""
    """Shown once, when the service was not chosen by the person."""
    demo: DemoServer | None = None

    @property
    def is_demo(self) -> bool:
        """Whether the demo model answers."""
        return self.demo is not None

    def close(self) -> None:
        """Close the connection, and the demo server if this service started one."""
        self.lm.close()
        if self.demo is not None:
            self.demo.close()


def open_service(settings: Settings, model: str = "") -> Service:
    """The service for ``model``, or for whatever is set.

    Args:
        settings: Endpoint, key, model and waits.
        model: What the person asked for in this call; empty for the set or found one.

    Raises:
        SetupError: A model was asked for and there is nowhere to ask it, or the other way round.
    """
    wanted = model or settings.service.model
    if wanted == DEMO_MODEL:
        return _demo(settings, "")
    if settings.service.base_url:
        return _configured(settings, wanted)
    if wanted and not settings.ollama_url:
        raise _no_endpoint(wanted)
    found = _ollama_models(settings.ollama_url)
    if wanted and wanted not in found:
        raise _no_endpoint(wanted)
    if found:
        return _ollama(settings, wanted or found[0])
    return _demo(settings, DEMO_NOTICE)


def _configured(settings: Settings, model: str) -> Service:
    service = settings.service
    if not model:
        raise SetupError(
            f"No model is named for {service.base_url!r}.",
            hint="Name one with -m MODEL or CELLWRIGHT_MODEL.",
        )
    return Service(_lm(settings, service), model, service.base_url)


def _ollama(settings: Settings, model: str) -> Service:
    service = replace(
        settings.service, base_url=f"{settings.ollama_url}/v1", api_key="ollama", model=model
    )
    notice = f"No key is set; {model} of the local Ollama answers. Choose another with -m."
    return Service(_lm(settings, service), model, service.base_url, notice)


def _demo(settings: Settings, notice: str) -> Service:
    # Imported where it answers: most services are others, and its rules take long to load.
    from cellwright.demo.server import DemoServer

    server = DemoServer()
    url = server.start()
    service = replace(settings.service, base_url=url, api_key="demo", model=DEMO_MODEL)
    return Service(_lm(settings, service), DEMO_MODEL, url, notice, server)


def _lm(settings: Settings, service: ServiceSettings) -> OpenAILM:
    return OpenAILM(service, vision_models=settings.vision_models, models=settings.models)


def _no_endpoint(model: str) -> SetupError:
    return SetupError(
        f"There is no endpoint for the model {model!r}.",
        hint="Set OPENAI_API_KEY, or CELLWRIGHT_BASE_URL for another service, "
        f"or use -m {DEMO_MODEL}.",
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
