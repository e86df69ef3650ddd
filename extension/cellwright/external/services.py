"""The services of a process, opened once, and each of their functions as a tool of the model."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, ClassVar
from urllib.parse import urlsplit

from cellwright.errors import CellwrightError, ToolError
from cellwright.external import Connection, Definition, Function, Listing, fingerprint_of
from cellwright.external.discovery import DiscoveredService
from cellwright.external.mcp_server import McpLoop, McpService
from cellwright.external.openapi import OpenapiService
from cellwright.external.web import ProcessEnvironment, Web
from cellwright.record.messages import Manifest
from cellwright.record.values import from_dict, to_dict
from cellwright.stopping import WorkerThread
from cellwright.store.tools import ToolStore
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.manifest import tool_name

# One function of a service as a tool of the model.


SHOWN_CHARACTERS = 120


class OutsideTool(Component):
    """A function of a service; ``made_tools`` makes them."""

    service: ClassVar[Connection]
    definition: ClassVar[Definition]
    function: ClassVar[Function]
    reaches_web: ClassVar[bool] = False
    """Whether it is not for assistants that must not look into the web."""

    def tool_manifests(self) -> tuple[Manifest, ...]:
        """As the service told it."""
        described = self.function.description or self.function.name.replace("_", " ")
        return (Manifest(self.name, described, self.function.parameters),)

    # Names of arguments are a stranger's: "self" may be one of them.
    def label(self, /, **arguments: object) -> str:
        """Which service does what."""
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        short = given if len(given) <= SHOWN_CHARACTERS else given[:SHOWN_CHARACTERS] + "…"
        return f"{self.definition.name}: {self.function.name}({short})"

    def risk_for(self, /, **arguments: object) -> Risk:
        """The same whatever the arguments."""
        return self.risk

    def code_for(self, /, **arguments: object) -> str:
        """None of ours."""
        return ""

    def begin(self, context: ToolContext | None, /, **arguments: Any) -> Iterator[ToolYield]:
        """Ask the service."""
        if context is None:
            raise ToolError(f"{self.name!r} needs a run.", hint="Let the agent call it.")
        yield self.service.call(self.function, arguments, context)


@dataclass(frozen=True)
class ServiceTools:
    """The tools of one service, and why some of its functions are none."""

    tools: tuple[OutsideTool, ...]
    problems: tuple[str, ...] = ()


def made_tools(definition: Definition, listing: Listing, service: Connection) -> ServiceTools:
    """A tool for each function that is allowed, named ``service__function``."""
    tools: dict[str, OutsideTool] = {}
    problems = list(listing.problems)
    for function in listing.functions:
        if definition.allowed is not None and not _matches(function.name, definition.allowed):
            continue
        name = tool_name(f"{definition.name}__{function.name}")
        if name in tools:
            problems.append(f"{function.name!r} has the same name as another function")
            continue
        body = {
            "name": name,
            "risk": risk_of(definition, function),
            "asks": _deed(definition),
            "reaches_web": bool(definition.url) and not definition.is_local,
            "service": service,
            "definition": definition,
            "function": function,
        }
        tools[name] = type(name, (OutsideTool,), body)()
    return ServiceTools(tuple(tools.values()), tuple(problems))


def risk_of(definition: Definition, function: Function) -> Risk:
    """How risky a function is: as the person says, then as the service does.

    A hint may make a function riskier. It makes one less risky only where the person trusts the
    service, or where what is read is the person's own document (``GET`` of an OpenAPI one).
    """
    if _matches(function.name, definition.reads):
        return "read"
    is_believed = definition.is_trusted or definition.kind == "openapi"
    if function.is_read_only and is_believed:
        return "read"
    return "destroy" if function.is_destructive else "execute"


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _deed(definition: Definition) -> str:
    """What the person is asked about."""
    host = urlsplit(definition.url).hostname or ""
    there = f" at {host}" if host else ""
    return f"sends this to the service {definition.name!r}{there}, which may do what it says"


RETRY_SECONDS = 60.0


@dataclass
class ToolService:
    """A service that is used."""

    definition: Definition
    connection: Connection
    listing: Listing | None = None
    """None: it was never asked."""
    problem: str = ""
    """Why it could not be asked the last time."""
    retry_at: float = 0.0
    made: ServiceTools = field(default_factory=lambda: ServiceTools(()))
    made_of: str = ""

    def tools(self) -> ServiceTools:
        """Its tools: the same ones for as long as it says the same."""
        if self.listing is None:
            return ServiceTools(())
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

    def __init__(self, store: ToolStore, surroundings: ProcessEnvironment) -> None:
        self._store = store
        self._surroundings = surroundings
        self._loop = McpLoop()
        self._lock = threading.RLock()
        self._open: dict[str, ToolService] = {}
        self._asking: dict[str, threading.Thread] = {}
        self._held: weakref.WeakKeyDictionary[object, set[str]] = weakref.WeakKeyDictionary()

    def service(self, definition: Definition) -> ToolService:
        """The service of a definition; it is not started for that."""
        mark = fingerprint_of(definition)
        with self._lock:
            if mark not in self._open:
                self._open[mark] = ToolService(definition, self._connection(definition, mark))
                self._open[mark].listing = self._remembered(mark)
            return self._open[mark]

    def ask(self, service: ToolService) -> Listing:
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

    def ask_all(self, services: list[ToolService], seconds: float) -> None:
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
            WorkerThread(service.connection.close, name="tool-close").start()

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

    def _begin(self, service: ToolService) -> threading.Thread:
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
                asking = self._asking[mark] = WorkerThread(work, name="tool-list")
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
