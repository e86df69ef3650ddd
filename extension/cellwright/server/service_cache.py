"""The model services that chats use: one for all as long as the settings stay the same."""

from __future__ import annotations

import threading

from cellwright.session.services import Service, open_service
from cellwright.settings import Settings


class ServiceCache:
    """Services by address, key and model; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._services: dict[tuple[str, str, str], Service] = {}

    def get(self, settings: Settings, model: str) -> Service:
        """The service that answers.

        Args:
            settings: Endpoint, key, model and waits.
            model: What the person asked for; empty: the set or found one.

        Raises:
            SetupError: There is none for this model.
        """
        service = settings.service
        key = (service.base_url, service.api_key, model or service.model)
        with self._lock:
            if key not in self._services:
                self._services[key] = open_service(settings, model)
            return self._services[key]

    def close(self) -> None:
        """Close all connections, and the demo server if there is one."""
        with self._lock:
            services, self._services = self._services, {}
        for service in services.values():
            service.close()
