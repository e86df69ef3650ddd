"""The tools beside the standard ones: of packages, and of services that the person connected."""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.assistants.files import folders_of
from cellwright.errors import CellwrightError, RunCancelled, SetupError
from cellwright.external import Definition, fingerprint_of
from cellwright.external.mcp_session import load_oauth
from cellwright.external.source import OutsideTools, ToolService, Whereabouts, open_outside
from cellwright.external.web import is_loopback
from cellwright.record.values import from_dict, to_dict
from cellwright.server.application import Application
from cellwright.server.component_runs import open_components
from cellwright.server.routes import Refusal, Route, RouteTable
from cellwright.stopping import Stop, WorkerThread

PAGE_SECONDS = 30.0
"""How long the address of a sign-in page may take to be found."""
LANDING = "cellwright/v1/tools/sign-in/answer"
"""Where a sign-in page sends the person back to, below the server's base address."""


@dataclass(frozen=True)
class ListedTool:
    """A tool beside the standard ones."""

    name: str
    kind: str
    """``python``, ``mcp``, ``http`` or ``openapi``."""
    source: str
    description: str
    enabled: bool
    problem: str
    """Why it cannot be called; empty: it can."""


@dataclass(frozen=True)
class ListedSignIn:
    """An MCP server that the person has signed in to, or has to."""

    name: str
    host: str
    state: Literal["offered", "wanted", "waiting", "done"]
    """``offered``: it was not asked from here yet, and may want it."""
    page: str = ""
    """The address of the sign-in page that they are waited for from."""
    problem: str = ""
    """Why the last try failed."""


@dataclass(frozen=True)
class ToolList:
    """All of them."""

    tools: tuple[ListedTool, ...]
    sign_ins: tuple[ListedSignIn, ...] = ()


@dataclass(frozen=True)
class WantedSignIn:
    """The MCP server that the person wants to sign in to."""

    name: str = ""
    notebook: str = ""
    """Beside which the server is looked for; empty: none."""
    origin: str = ""
    """Scheme, host and base address of this server, as the person's browser reaches it."""


@dataclass
class _OpenSignIn:
    """A sign-in that goes on, or failed."""

    redirect: Any
    """An ``oauth.SignInRedirect``."""
    page: Future[str]
    stop: Stop = field(default_factory=Stop)
    problem: str = ""
    is_over: bool = False


OPEN: weakref.WeakKeyDictionary[Application, dict[str, _OpenSignIn]] = weakref.WeakKeyDictionary()
"""What people have begun to sign in to, by the fingerprint of the server's definition."""
LOCK = threading.Lock()


class ToolsRoute(Route):
    """The tools that an assistant may be given; guests have none of them."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What there is for a notebook; nothing is started or asked for it."""
        notebook = self.word("notebook")
        found = await self.answer(lambda shared: list_tools(shared, notebook))
        self.send(to_dict(found))


class SignInRoute(Route):
    """Signs the person in to an MCP server, and out of it."""

    slow_methods = ("POST", "DELETE")

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Begin; the answer has the address of the page that the person opens."""
        wanted = WantedSignIn(**self.fields(name=str, notebook=str, origin=str))
        back = f"{wanted.origin.rstrip('/')}/{LANDING}"
        if not self._is_here(back):
            raise Refusal(400, "The 'origin' is not the address of this server.")
        if urlsplit(back).scheme != "https" and not is_loopback(back):
            raise Refusal(
                400,
                "This page is not encrypted, so a sign-in could be stolen on its way back.",
                "Open JupyterLab by an address that begins with https, and sign in there.",
            )

        def begin(shared: Application) -> ToolList:
            tools = open_tools(shared, wanted.notebook)
            begin_sign_in(shared, tools, wanted.name, back)
            return list_tools(shared, wanted.notebook)

        self.send(to_dict(await self.answer(begin)))

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Sign out: tokens are deleted here and, where the service can, there."""
        name, notebook = self.word("name"), self.word("notebook")

        def sign_out(shared: Application) -> ToolList:
            tools = open_tools(shared, notebook)
            service = tools.services.service(tools.book.find(name).definition)
            tools.services.sign_out(service)
            return list_tools(shared, notebook)

        self.send(to_dict(await self.answer(sign_out)))

    def _is_here(self, address: str) -> bool:
        """Whether an address is below the one that the person's browser asked."""
        given = urlsplit(address)
        asked = self.request.headers.get("Origin", "")
        host = urlsplit(asked).netloc if asked else self.request.host
        return given.scheme in ("http", "https") and given.netloc == host


class LandingRoute(Route):
    """Where the person comes back to from a sign-in page; ``state`` says which one."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Hand on what stands in the address; the page repeats nothing of it."""
        words = {
            "code": self.word("code"),
            "state": self.word("state"),
            "iss": self.word("iss"),
            "error": self.word("error"),
            "error_description": self.word("error_description"),
        }
        given = {name: word for name, word in words.items() if word}

        def deliver(shared: Application) -> str:
            with LOCK:
                waiting = list(OPEN.get(shared, {}).values())
            is_ours = any(each.redirect.deliver(given) for each in waiting)
            page: str = load_oauth().landing_page(given, is_ours=is_ours)
            return page

        page = await self.answer(deliver)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        self.finish(page, set_content_type="text/html; charset=utf-8")

    def _is_from_elsewhere(self) -> bool:
        """Whether it is no visit: the sign-in page sends the person here from another site.

        ``state``, which nobody can guess, says that they were sent out from here.
        """
        is_visit = self.request.headers.get("Sec-Fetch-Mode") == "navigate"
        return not is_visit and super()._is_from_elsewhere()

    def _log(self) -> None:
        """Nothing: the address holds the code."""


def open_tools(shared: Application, notebook: str) -> OutsideTools:
    """The services that a notebook can use; nothing is started."""
    where = Whereabouts(folders_of(shared.root, notebook), shared.root or Path.cwd())
    return open_outside(shared.database, shared.settings(), where)


def list_tools(shared: Application, notebook: str) -> ToolList:
    """All tools beside the standard ones, and where the person may sign in."""
    own = tuple(
        ListedTool(manifest.name, "python", item.source, manifest.description, True, "")
        for item in open_components(shared).catalogue().listed
        for manifest in item.component.tool_manifests()
    )
    tools = open_tools(shared, notebook)
    text = shared.redactor().text
    outside = [from_dict(ListedTool, to_dict(row)) for row in tools.rows()]
    shown = (
        ListedTool(
            each.name,
            each.kind,
            each.source,
            text(each.description),
            each.enabled,
            text(each.problem),
        )
        for each in outside
    )
    return ToolList((*own, *shown), _list_sign_ins(shared, tools))


def begin_sign_in(shared: Application, tools: OutsideTools, name: str, back: str) -> None:
    """Find the sign-in page of a server, and wait for the person in a thread.

    Args:
        shared: This server.
        tools: Where the MCP server is written down.
        name: Its name.
        back: Where the person comes back to.

    Raises:
        SetupError: It has no sign-in, or its page cannot be found.
        ToolError: The same, in the words of the service.
    """
    entry = tools.book.find(name)
    if not entry.is_agreed:
        raise SetupError(entry.problem)
    service = tools.services.service(entry.definition)
    page: Future[str] = Future()
    opened = _OpenSignIn(load_oauth().SignInRedirect(back, page.set_result), page)
    with LOCK:
        before = OPEN.setdefault(shared, {}).get(fingerprint_of(entry.definition))
        OPEN[shared][fingerprint_of(entry.definition)] = opened
    if before is not None:
        before.stop.set()
    WorkerThread(_wait_for_person, tools, service, opened, name="sign-in").start()
    try:
        page.result(PAGE_SECONDS)
    except TimeoutError:
        opened.stop.set()
        raise SetupError(f"The sign-in page of {name!r} was not found in time.") from None
    except CancelledError:
        raise SetupError(
            f"The sign-in to {name!r} was begun anew.", hint="Go on with the newer one."
        ) from None


def _wait_for_person(tools: OutsideTools, service: ToolService, opened: _OpenSignIn) -> None:
    try:
        tools.services.sign_in(service, opened.redirect, opened.stop)
    except (RunCancelled, CancelledError):
        opened.page.cancel()  # they began anew, or the server stops
    except CellwrightError as error:
        opened.problem = str(error)
        if not opened.page.done():
            opened.page.set_exception(error)
    finally:
        opened.is_over = True


def _list_sign_ins(shared: Application, tools: OutsideTools) -> tuple[ListedSignIn, ...]:
    with LOCK:
        begun = dict(OPEN.get(shared, {}))
    found = []
    for entry in tools.book.pages().entries:
        if not (entry.is_agreed and entry.definition.may_sign_in):
            continue
        opened = begun.get(fingerprint_of(entry.definition))
        row = _sign_in_row(tools, entry.definition, opened)
        if row is not None:
            found.append(row)
    return tuple(found)


def _sign_in_row(
    tools: OutsideTools, definition: Definition, opened: _OpenSignIn | None
) -> ListedSignIn | None:
    """How far a sign-in is; None: the server did not ask for one."""
    name, host = definition.name, urlsplit(definition.url).hostname or ""
    if opened is not None and not opened.is_over and opened.page.done():
        return ListedSignIn(name, host, "waiting", opened.page.result())
    problem = opened.problem if opened is not None else ""
    service = tools.services.service(definition)
    if service.wants_sign_in:
        return ListedSignIn(name, host, "wanted", problem=problem)
    if tools.services.is_signed_in(definition):
        return ListedSignIn(name, host, "done", problem=problem)
    if problem or service.listing is None:
        return ListedSignIn(name, host, "offered", problem=problem)
    return None


ROUTES: RouteTable = (
    ("tools", ToolsRoute),
    ("tools/sign-in", SignInRoute),
    ("tools/sign-in/answer", LandingRoute),
)
