"""A provider of the table that is played on this machine, and what was proven with it or itself.

    with simulated(provider, script) as played: …   # at an address that counts as the provider's
    prove(provider.name, "main job")                # fails where the checked-in file does not

``WRITE_DOCS=1`` writes ``provider_proofs.json`` anew, of the tests that pass, and with ``make
test-foreign`` what real servers were seen to do (``live_rows.json``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fake_anthropic import AnthropicMessages
from fake_providers import ROWS, ChatProvider, OpenAIResponses, PerplexityAgent
from fake_service import FakeService

from cellwright.providers import VARIABLE, Provider, fill_in
from cellwright.settings import ServiceSettings

__all__ = [
    *("CLAIMS", "LIVE", "LIVE_CLAIMS", "LIVE_SERVERS", "PROOFS"),
    *("Played", "prove", "simulated", "write_row"),
]

PROOFS = Path(__file__).with_suffix(".json")
LIVE = PROOFS.with_name("live_rows.json")
LIVE_SERVERS = {
    "llama": "llama.cpp",
    "tools_llama": "llama.cpp with a template that has tools",
    "litellm": "LiteLLM before llama.cpp",
    "python_llama": "llama-cpp-python",
    "litellm_python": "LiteLLM before llama-cpp-python",
}
"""Which real servers ``make test-foreign`` asks, and what the documentation calls them."""
CLAIMS = {
    "main job": "tests/test_provider_matrix.py",
    "replay": "tests/test_provider_matrix.py",
    "rerun": "tests/test_provider_matrix.py",
    "first run": "tests/server/test_provider_first_run.py",
}
"""What is tried with each provider, and where."""
LIVE_CLAIMS = dict.fromkeys(CLAIMS, "tests/foreign/test_main_job.py")
"""The same with real servers."""
NAMES_PICTURES = ('"image_url"', '"input_image"', '"type":"image"')
OTHERS = {
    "OpenAI": OpenAIResponses,
    # The same models behind the same two APIs; which are deployed is not known from outside.
    "Azure OpenAI": OpenAIResponses,
    "Anthropic": AnthropicMessages,
    "Perplexity": PerplexityAgent,
}
"""Those that speak an API of their own."""


@dataclass(frozen=True)
class Played:
    """A provider as it is played."""

    provider: Provider
    service: FakeService
    script: Any

    @property
    def base_url(self) -> str:
        """Its address, with the path that the provider's has."""
        told = self.provider.base_url
        value = "https://somewhere" if told.startswith("{") else "somewhere"
        path = urlsplit(fill_in(told, dict.fromkeys(VARIABLE.findall(told), value))).path
        return f"http://{self.service.host}:{self.service.port}{path}"

    @property
    def settings(self) -> ServiceSettings:
        """Settings that lead there."""
        model = "" if VARIABLE.search(self.provider.model) else self.provider.model
        layer = self.provider.name in ROWS
        return ServiceSettings(
            self.base_url, "the-key", model or "their-model", api="chat" if layer else "auto"
        )

    @property
    def was_sent_pictures(self) -> bool:
        """Whether a request had one."""
        sent = "".join(request.raw.decode() for request in self.service.requests)
        return any(name in sent for name in NAMES_PICTURES)


@contextmanager
def simulated(provider: Provider, script: Sequence[Sequence[Any]]) -> Iterator[Played]:
    """Play a provider; while it lasts, its row of the table says this address."""
    make = OTHERS.get(provider.name, partial(ChatProvider, name=provider.name))
    played = make(script)
    played.chunk_bytes = 23
    with FakeService(played, models=[provider.model or "their-model"]) as service:
        told = {"hosts": (service.host,)} if provider.hosts else {"port": service.port}
        before = {name: getattr(provider, name) for name in told}
        for name, value in told.items():
            object.__setattr__(provider, name, value)
        try:
            yield Played(provider, service, played)
        finally:
            for name, value in before.items():
                object.__setattr__(provider, name, value)


def prove(name: str, claim: str) -> None:
    """Hold a claim that a test has just proven against the checked-in file.

    Args:
        name: Of the provider that was played, or of the real server's fixture.
        claim: One of ``CLAIMS``.
    """
    proven: dict[str, list[str]] = json.loads(PROOFS.read_text("utf-8"))
    known = proven.get(name, [])
    if os.environ.get("WRITE_DOCS") and claim not in known:
        proven[name] = [each for each in CLAIMS if each in (*known, claim)]
        rows = (f"  {json.dumps(n)}: {json.dumps(told)}" for n, told in sorted(proven.items()))
        PROOFS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    assert claim in known or os.environ.get("WRITE_DOCS"), "run this with WRITE_DOCS=1"


def write_row(name: str, model: str, date: str, verdicts: Mapping[str, str]) -> None:
    """Keep what the probes of ``doctor`` found at a real server, if that is asked for."""
    if os.environ.get("WRITE_DOCS"):
        rows = {**json.loads(LIVE.read_text("utf-8")), name: [model, date, *verdicts.values()]}
        lines = (f"  {json.dumps(n)}: {json.dumps(rows[n])}" for n in LIVE_SERVERS if n in rows)
        LIVE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
