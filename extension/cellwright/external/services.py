"""The services of a process, opened once, with what each last said that it can do."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import weakref
from dataclasses import dataclass, field

from cellwright.errors import CellwrightError
from cellwright.external import Connection, Definition, Listing, fingerprint_of
from cellwright.external.discovery import DiscoveredService
from cellwright.external.mcp_loop import McpLoop
from cellwright.external.mcp_server import McpService
from cellwright.external.openapi import OpenapiService
from cellwright.external.tool import Made, made_tools
from cellwright.external.web import Surroundings, Web
from cellwright.record.values import from_dict, to_dict
from cellwright.store.tools import ToolStore

RETRY_SECONDS = 60.0


@dataclass
class Service:
    """A service that is used."""

    definition: Definition
    connection: Connection
    listing: Listing | None = None
    """None: it was never asked."""
    problem: str = ""
    """Why it could not be asked the last time."""
    retry_at: float = 0.0
    made: Made = field(default_factory=lambda: Made(()))
    made_of: str = ""

    def tools(self) -> Made:
        """Its tools: the same ones for as long as it says the same."""
        if self.listing is None:
            return Made(())
        said = _mark(self.listing)
        if said != self.made_of:
            self.made = made_tools(self.definition, self.listing, self.connection)
            self.made_of = said
        return self.made


class Services:
    """Opens services and asks them what they can do.

    Args:
        store: What they said the last time.
        surroundings: What they are used in.
    """

    def __init__(self, store: ToolStore, surroundings: Surroundings) -> None:
        self._store = store
        self._surroundings = surroundings
        self._loop = McpLoop()
        self._lock = threading.RLock()
        self._open: dict[str, Service] = {}
        self._asking: dict[str, threading.Thread] = {}
        self._held: weakref.WeakKeyDictionary[object, set[str]] = weakref.WeakKeyDictionary()

    def service(self, definition: Definition) -> Service:
        """The service of a definition; it is not started for that."""
        mark = fingerprint_of(definition)
        with self._lock:
            if mark not in self._open:
                self._open[mark] = Service(definition, self._connection(definition, mark))
                self._open[mark].listing = self._remembered(mark)
            return self._open[mark]

    def ask(self, service: Service) -> Listing:
        """What it can do now, from itself.

        Raises:
            ToolError: It does not say.
        """
        try:
            listing = service.connection.listing()
        except CellwrightError as error:
            service.problem = f"{service.definition.name!r}: {error}"
            service.retry_at = time.monotonic() + RETRY_SECONDS
            raise
        self._note(fingerprint_of(service.definition), listing)
        service.listing, service.problem = listing, ""
        return listing

    def ask_all(self, services: list[Service], seconds: float) -> None:
        """Ask those that never answered, at the same time.

        Args:
            services: All that are used.
            seconds: How long to wait at most; nobody waits for one that failed before.
        """
        until = time.monotonic() + seconds
        due = [s for s in services if s.listing is None and time.monotonic() >= s.retry_at]
        waited_for = [self._begin(each) for each in due if not each.problem]
        for each in due:
            self._begin(each)
        for thread in waited_for:
            thread.join(max(0.0, until - time.monotonic()))

    def keep_only(self, definitions: list[Definition], holder: object = None) -> None:
        """Let go of all others that nobody else holds.

        Args:
            definitions: What is used.
            holder: Who uses it; forgotten when it is.
        """
        with self._lock:
            self._held[holder or self] = {fingerprint_of(each) for each in definitions}
            wanted = set().union(*self._held.values())
            gone = [mark for mark in self._open if mark not in wanted]
            services = [self._open.pop(mark) for mark in gone]
        for service in services:
            # a server may take seconds to end, and nobody has to wait for it
            threading.Thread(target=service.connection.close, daemon=True).start()

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            self._open.clear()
        self._loop.close()

    def _connection(self, definition: Definition, mark: str) -> Connection:
        if definition.kind == "mcp":
            heard = lambda listing: self._heard(mark, listing)  # noqa: E731
            return McpService(definition, self._surroundings, self._loop, heard)
        web = Web(definition, self._surroundings)
        if definition.kind == "http":
            return DiscoveredService(definition, web)
        return OpenapiService(definition, web)

    def _begin(self, service: Service) -> threading.Thread:
        mark = fingerprint_of(service.definition)

        def work() -> None:
            try:
                self.ask(service)
            except CellwrightError:
                return  # the service keeps its problem
            finally:
                self._asking.pop(mark, None)

        with self._lock:
            asking = self._asking.get(mark)
            if asking is None:
                asking = self._asking[mark] = threading.Thread(target=work, daemon=True)
                asking.start()
            return asking

    def _heard(self, mark: str, listing: Listing) -> None:
        """A server says what it can do, at its start or because that changed."""
        with self._lock:
            service = self._open.get(mark)
        if service is not None:
            service.listing, service.problem = listing, ""
            self._note(mark, listing)

    def _note(self, mark: str, listing: Listing) -> None:
        self._store.keep_listing(mark, to_dict(listing))

    def _remembered(self, mark: str) -> Listing | None:
        row = self._store.listing(mark)
        try:
            return from_dict(Listing, row) if row is not None else None
        except ValueError:
            return None  # of another version: it is asked again


def _mark(listing: Listing) -> str:
    text = json.dumps(to_dict(listing), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
