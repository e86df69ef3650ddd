"""Calls components by hand, without a server, and keeps what is told of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cellwright.server.component_envelopes import Envelope
from cellwright.server.component_routes import NoKernel
from cellwright.server.component_runs import CallEnvironment, HandCall, HandRun
from cellwright.settings import ServiceSettings, Settings
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.tools import Component

__all__ = ["SECRET", "Place"]

SECRET = "".join(["hunter2", "hunter2", "hunter2"])


class Place:
    """Calls components and keeps what is told of them."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        settings = Settings(ServiceSettings("https://u:p@models.example/v1", SECRET, "large"))
        redactor = Redactor({"SERVICE_TOKEN": SECRET})
        self.surroundings = CallEnvironment(NoKernel(), store, redactor, settings, "ada")
        self.told: list[Envelope] = []

    def call(self, component: Component, tool: str = "", **options: Any) -> Envelope:
        """Call it; what was told last."""
        return self.do(self.made(component, tool, **options))

    def made(self, component: Component, tool: str = "", **options: Any) -> HandRun:
        call = HandCall(component, tool or component.name, options.pop("arguments", {}), "ask")
        tell = options.pop("tell", self.told.append)
        return HandRun(replace(call, **options), self.surroundings, tell)

    def do(self, run: HandRun) -> Envelope:
        self.told.clear()
        run.run()
        return self.told[-1]

    def words(self) -> list[str]:
        """All texts that were told, in order."""
        said = [item for envelope in self.told for item in envelope.content]
        return [item.text["info"] for item in said if "info" in item.text]

    @property
    def record(self) -> Any:
        return self.store.record(self.store.last_started)

    def events(self, kind: type) -> list[Any]:
        found = self.store.events(self.store.last_started)
        return [item.event for item in found if isinstance(item.event, kind)]
