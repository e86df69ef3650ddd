"""Outside tools beside the standard ones, the same for a whole conversation."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from cellwright.assistants.files import project_folders
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.errors import CellwrightError, SetupError, ToolError
from cellwright.external import Connection, Definition, Function, Listing, fingerprint_of
from cellwright.external.consent_store import Pages, ToolBook
from cellwright.external.discovery import DiscoveredService
from cellwright.external.mcp_server import McpLoop, McpService
from cellwright.external.openapi import OpenapiService
from cellwright.external.web import ProcessEnvironment, Web
from cellwright.llm.keys import SignIns
from cellwright.record.messages import Manifest
from cellwright.record.values import from_dict, to_dict
from cellwright.settings import Settings
from cellwright.stopping import Stop, WorkerThread
from cellwright.store.database import Database
from cellwright.store.tools import ToolStore
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.manifest import tool_name
from cellwright.tools.registry import ToolSource

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

    @property
    def wants_sign_in(self) -> bool:
        """Whether it refused because nobody is signed in to it."""
        return isinstance(self.connection, McpService) and self.connection.wants_sign_in

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

    def is_signed_in(self, definition: Definition) -> bool:
        """Whether tokens of a service are kept; they may have run out."""
        kept = self._surroundings.sign_ins
        return definition.may_sign_in and kept is not None and bool(kept.load(definition.url))

    def sign_in(self, service: ToolService, redirect: Any, stop: Stop | None = None) -> Listing:
        """Have the user sign in to a service, and ask it what it can do.

        Raises:
            SetupError: It has no sign-in.
            ToolError: They did not, or it does not say.
        """
        _mcp_of(service).sign_in(redirect, stop)
        return self.ask(service)

    def sign_out(self, service: ToolService) -> None:
        """Forget the tokens of a service.

        Raises:
            SetupError: It has no sign-in.
        """
        _mcp_of(service).sign_out()
        self._store.forget_listing(fingerprint_of(service.definition))
        service.listing = None
        service.problem = f"You signed out of {service.definition.name!r}."

    def ask_all(self, services: list[ToolService], seconds: float) -> None:
        """Ask those that never answered, at the same time.

        Args:
            services: All that are used.
            seconds: How long to wait at most; nobody waits for one that failed before.
        """
        until = time.monotonic() + seconds
        # With the lock held, no question ends between the look at it and the start of a new one.
        with self._lock:
            due = [s for s in services if s.listing is None and time.monotonic() >= s.retry_at]
            asked = [(each.problem, self._begin(each)) for each in due]
        for earlier_problem, thread in asked:
            if not earlier_problem:
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
                with self._lock:
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


def _mcp_of(service: ToolService) -> McpService:
    definition, connection = service.definition, service.connection
    if isinstance(connection, McpService) and definition.may_sign_in:
        return connection
    raise SetupError(
        f"{definition.name!r} has no sign-in: it is no MCP server with an address, or has a key."
    )


def _mark(listing: Listing) -> str:
    text = json.dumps(to_dict(listing), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


START_SECONDS = 2.0
EVERY_CHAT = "*"
Shape = Mapping[str, str]
"""What a model is told of each tool, by its name."""


@dataclass(frozen=True)
class ToolRow:
    """A tool in a list for people."""

    name: str
    kind: str
    source: str
    description: str
    enabled: bool
    problem: str = ""
    risk: str = ""


class OutsideTools:
    """The tools of all services that a person uses.

    Args:
        book: What is written down.
        services: What is open.
    """

    name = "outside"

    def __init__(self, book: ToolBook, services: Services) -> None:
        self.book = book
        self.services = services
        self.start_seconds = START_SECONDS
        """How long a question waits for services that were never asked what they can do."""
        self._lock = threading.RLock()
        self._shapes: dict[str, Shape] = {}
        self._changes: list[str] = []
        self._told: dict[str, int] = {}
        self._warned: dict[str, set[str]] = {}

    def components(self) -> tuple[Component, ...]:
        """All tools, in the order in which their services are written down."""
        return tuple(tool for source in self.tool_sources() for tool in source.components)

    def tool_sources(self, *, is_guest: bool = False) -> tuple[ToolSource, ...]:
        """The same by service: each may have as many as a source may.

        Args:
            is_guest: Whoever asks is not the person whose keys they are called with: none.
        """
        if is_guest:
            return ()
        return tuple(
            ToolSource(service.definition.name, service.tools().tools)
            for service in self._used(self.book.pages())
        )

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Which tools have changed since the last question, and which are missing."""
        if turn.is_guest:
            return RetrievalResult()
        pages = self.book.pages()
        used = self._used(pages)
        self._note_changes(used)
        unused = [entry.problem for entry in pages.entries if entry.problem]
        with self._lock:
            told = self._told.get(turn.chat_id, len(self._changes))
            changes = self._changes[told:]
            self._told[turn.chat_id] = len(self._changes)
            problems = self._new(turn.chat_id, [*pages.problems, *_problems(used)])
            # files of other programs may lie there on purpose: told in one chat alone
            notices = (*changes, *self._new(EVERY_CHAT, unused))
        return RetrievalResult(notices=notices, problems=problems)

    def rows(self) -> tuple[ToolRow, ...]:
        """What there is, for people; starts nothing."""
        rows: list[ToolRow] = []
        for entry in self.book.pages().entries:
            if entry.problem:
                rows.append(_row(entry.definition, entry.problem))
                continue
            service = self.services.service(entry.definition)
            tools = service.tools().tools
            rows += [_tool_row(tool) for tool in tools]
            if not tools:
                words = service.problem or "It was not asked yet what it can do."
                rows.append(_row(entry.definition, words))
        return tuple(rows)

    def close(self) -> None:
        """End the servers that were started."""
        self.services.close()

    def _new(self, chat: str, told: list[str]) -> tuple[str, ...]:
        known = self._warned.setdefault(chat, set())
        new = tuple(words for words in dict.fromkeys(told) if words not in known)
        known.update(new)
        return new

    def _used(self, pages: Pages) -> list[ToolService]:
        definitions = [entry.definition for entry in pages.entries if entry.is_agreed]
        self.services.keep_only(definitions, self)
        used = [self.services.service(each) for each in definitions]
        self.services.ask_all(used, self.start_seconds)
        return used

    def _note_changes(self, used: list[ToolService]) -> None:
        with self._lock:
            for service in used:
                if service.listing is None:
                    continue
                name, shape = service.definition.name, _shape(service)
                before = self._shapes.get(name, shape)
                self._shapes[name] = shape
                if before != shape:
                    self._changes.append(_change(name, before, shape))


def _problems(used: list[ToolService]) -> list[str]:
    found: list[str] = []
    for service in used:
        name = service.definition.name
        if service.listing is None:
            still = f"{name!r} is still starting; its tools come with the next question."
            found.append(service.problem or still)
        found += [f"A function of {name!r} is left out: {p}." for p in service.tools().problems]
    return found


def _shape(service: ToolService) -> Shape:
    manifests = [tool.tool_manifests()[0] for tool in service.tools().tools]
    return {m.name: f"{m.description}\n{m.parameters!r}" for m in manifests}


def _change(name: str, before: Shape, now: Shape) -> str:
    new = [tool for tool in now if tool not in before]
    gone = [tool for tool in before if tool not in now]
    other = [tool for tool in now if tool in before and now[tool] != before[tool]]
    parts = [
        f"{word} {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
        for word, names in (("new:", new), ("gone:", gone), ("described otherwise:", other))
        if names
    ]
    return f"The tools of {name!r} have changed; {'; '.join(parts)}."


def _row(definition: Definition, problem: str) -> ToolRow:
    return ToolRow(
        definition.name,
        definition.kind,
        definition.source,
        definition.description,
        enabled=False,
        problem=problem,
    )


def _tool_row(tool: OutsideTool) -> ToolRow:
    definition = tool.definition
    words = tool.function.description
    return ToolRow(tool.name, definition.kind, definition.name, words, enabled=True, risk=tool.risk)


# The outside tools of a process: one set for a record, whatever else is set meanwhile.


Key = tuple[int, str, str, Path]


@dataclass(frozen=True)
class Whereabouts:
    """Where a person works."""

    folders: tuple[Path, ...]
    """Where files that name services are looked for, the nearest first."""
    start: Path
    """Where programs are started that name no folder."""


@dataclass
class _Pool:
    """Services that are started once, for all folders in which they are used."""

    services: Services
    users: int = 0


LOCK = threading.RLock()
"""May be taken again by what is collected while it is held."""
OPEN: weakref.WeakValueDictionary[tuple[Key, tuple[Path, ...]], OutsideTools] = (
    weakref.WeakValueDictionary()
)
"""Settings change from question to question; servers that run must not be started anew for it."""
POOLS: dict[Key, _Pool] = {}


def open_outside(
    database: Database, settings: Settings, where: Whereabouts | None = None
) -> OutsideTools:
    """The tools that are written down for this person and these folders; nothing is started.

    Args:
        database: What was connected and agreed to.
        settings: Whose they are, and cellwright's own folder.
        where: Where the person works; None: where the process does, up to the folder of git.
    """
    where = where or Whereabouts(project_folders(Path.cwd()), Path.cwd())
    key = (id(database), str(settings.home), settings.user, where.start)
    with LOCK:
        found = OPEN.get((key, where.folders))
        if found is None:
            store = ToolStore(database, settings.user)
            pool = POOLS.setdefault(key, _Pool(_services(store, where.start, settings.home)))
            pool.users += 1
            found = OutsideTools(ToolBook(store, settings.home, where.folders), pool.services)
            weakref.finalize(found, _let_go, key)
            OPEN[(key, where.folders)] = found
        return found


def _services(store: ToolStore, start: Path, home: Path) -> Services:
    environment = ProcessEnvironment(os.environ, str(start), sign_ins=SignIns(home))
    return Services(store, environment)


def _let_go(key: Key) -> None:
    """The last one to use a pool ends it."""
    with LOCK:
        pool = POOLS[key]
        pool.users -= 1
        if pool.users:
            return
        del POOLS[key]
    pool.services.close()
