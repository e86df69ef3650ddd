"""Components called by hand: which there are, and the route that calls one.

A call is the person's own act, and the mode counts all the same: what it allows runs, what it
asks about needs ``confirm`` in the request, what it refuses is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from cellwright.agent.policy import assess, decide
from cellwright.errors import KernelNotReadyError
from cellwright.kernels import CellRequest, Kernel, KernelDescription, OutputSink
from cellwright.record.events import CellOutput
from cellwright.record.messages import Manifest
from cellwright.record.outputs import Execution
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.component_envelopes import (
    VIEWS,
    Envelope,
    View,
    checked_arguments,
    server_sent,
)
from cellwright.server.component_runs import (
    TRACE_HEADER,
    CallEnvironment,
    Catalogue,
    ComponentHost,
    EnvelopeLine,
    HandCall,
    HandRun,
    Listed,
    listed,
    open_components,
    until_ended,
)
from cellwright.server.kernel_access import ConnectedKernel, ServerKernels
from cellwright.server.kernel_routes import KernelRoute
from cellwright.server.rest_types import ComponentList, ComponentSummary, ManifestSummary
from cellwright.server.routes import Refusal, RouteTable
from cellwright.settings import Mode
from cellwright.stopping import Stop
from cellwright.tools import Component
from cellwright.tools.live_tools import discovered

# What a component has for a kernel where nobody named one.


class NoKernel:
    """``kernels.Kernel``: whoever wants something of it is told that none was named."""

    @property
    def session(self) -> str:
        """It has no life that could end."""
        return ""

    def wait_until_free(self, stop: Stop) -> None:
        """Nobody uses it."""
        stop.check()

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Refuse."""
        raise _missing()

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Refuse."""
        raise _missing()

    def describe(self) -> KernelDescription:
        """Refuse."""
        raise _missing()

    def is_alive(self) -> bool:
        """It never was."""
        return False

    def interrupt(self) -> None:
        """There is nothing to interrupt."""


def _missing() -> KernelNotReadyError:
    return KernelNotReadyError("No kernel was named.", hint="Call the route with ?kernel=….")


# From a request to a call: the component, its arguments, and whether the mode lets it run.


CONFIRM_HINT = 'Send "confirm": true if that is what you want.'


@dataclass(frozen=True)
class ComponentRequest:
    """What a request asks for."""

    name: str
    version: str
    fields: Mapping[str, Any]
    """Of the body, each of its type."""
    is_streamed: bool = False
    chat_id: str = ""
    trace: str = ""
    user: str = ""

    @property
    def view(self) -> View:
        """Whose contents are told.

        Raises:
            Refusal: There is no such scope.
        """
        scope = self.fields.get("scope", "user")
        if scope not in VIEWS:
            raise Refusal(400, f"There is no scope {scope!r}.", f"Use one of: {', '.join(VIEWS)}.")
        return cast("View", scope)


@dataclass(frozen=True)
class NamedKernel:
    """The kernel that a request names; no id: it names none."""

    kernel_id: str = ""
    kernels: ServerKernels | None = None

    def open(self) -> Kernel:
        """A connection to it, to be closed by ``close``; for worker threads.

        Raises:
            KernelError: A cell runs in it, or it does not answer.
            SetupError: It is dead.
        """
        if self.kernels is None:
            return NoKernel()
        kernel = self.kernels.connect(self.kernel_id)
        try:
            self.kernels.check_free(self.kernel_id)
            kernel.describe()
        except BaseException:
            kernel.close()
            raise
        return kernel

    def close(self, kernel: Kernel) -> None:
        """Let go of it."""
        if isinstance(kernel, ConnectedKernel):
            kernel.close()

    def catalogue(self, own: Catalogue) -> Catalogue:
        """The server's own components, behind those that live in the kernel."""
        kernel = self.open()
        try:
            return _with_live(own, kernel)
        finally:
            self.close(kernel)


@dataclass(frozen=True)
class PreparedCall:
    """A call that may be made."""

    call: HandCall
    surroundings: CallEnvironment
    close: Callable[[], None]
    """Lets go of the kernel."""


def component_of(catalogue: Catalogue, name: str, version: str) -> Listed:
    """One component.

    Raises:
        Refusal: There is none of that name, or not in that version.
    """
    found = catalogue.find(name, version)
    if found is not None:
        return found
    versions = catalogue.versions(name)
    if not versions:
        raise Refusal(404, f"There is no component {name!r}.", "See the list of components.")
    there = ", ".join(repr(known) for known in versions)
    raise Refusal(404, f"{name!r} has no version {version!r}.", f"There is {there}.")


def prepared(
    shared: Application, asked: ComponentRequest, named: NamedKernel, own: Callable[[], Catalogue]
) -> PreparedCall:
    """The call that a request asks for; for worker threads.

    Raises:
        Refusal: It cannot be made, or may not.
        CellwrightError: The kernel cannot be used.
    """
    view = asked.view
    kernel = named.open()
    try:
        found = component_of(_with_live(own(), kernel), asked.name, asked.version)
        manifest = _manifest(found.component, asked.fields.get("tool", ""))
        arguments = checked_arguments(manifest, asked.fields.get("arguments", {}))
        settings = shared.settings_for_tools()
        mode = cast("Mode", asked.fields.get("mode") or settings.mode)
        shared.configuration.check_mode(mode)
        _check_permitted(found.component, arguments, mode, asked.fields.get("confirm", False))
    except BaseException:
        named.close(kernel)
        raise
    call = HandCall(
        found.component,
        manifest.name,
        arguments,
        mode,
        view,
        asked.is_streamed,
        asked.chat_id,
        asked.trace,
    )
    place = CallEnvironment(kernel, shared.runs, shared.redactor(), settings, asked.user)
    return PreparedCall(call, place, lambda: named.close(kernel))


def _with_live(own: Catalogue, kernel: Kernel) -> Catalogue:
    if isinstance(kernel, NoKernel):
        return own
    live = discovered(kernel)
    found = listed([live.source])
    return Catalogue(found.listed, (*live.problems, *found.reports)).before(own)


def _manifest(component: Component, tool: str) -> Manifest:
    manifests = component.tool_manifests()
    names = [manifest.name for manifest in manifests]
    if tool and tool not in names:
        there = ", ".join(repr(name) for name in names)
        raise Refusal(404, f"{component.name!r} has no tool {tool!r}.", f"There is {there}.")
    return manifests[names.index(tool) if tool else 0]


def _check_permitted(
    component: Component, arguments: Mapping[str, Any], mode: Mode, confirmed: bool
) -> None:
    """The mode's rule for the agent is the rule for a call by hand; ``confirm`` answers it."""
    assessment = assess(component, arguments)
    decision = decide(mode, assessment)
    refusal = None
    if decision.kind == "refuse":
        hint = "Choose another mode."
        refusal = Refusal(403, f"Mode {mode!r} only looks. {assessment.reason}", hint, "mode")
    elif decision.kind == "ask" and not confirmed:
        refusal = Refusal(409, assessment.reason, CONFIRM_HINT, "confirm")
    if refusal is not None:
        refusal.details = {"risk": assessment.risk}
        raise refusal


NAME = r"([A-Za-z0-9_-]{1,64})"
VERSION = r"([A-Za-z0-9_.-]{1,64})"
ACTION = "tool_eval"
SPEC = 2
"""Of the component contract: what a component takes and says is not that of the first one."""
EVENT_STREAM = "text/event-stream"
LOOK_SECONDS = 2.0
"""How often it is looked whether a component that was stopped has returned."""
KEEP_ALIVE_LOOKS = 7
"""A proxy may cut a line on which nothing comes."""
GONE = "the caller has gone"
TOO_LONG = "it took too long"


class CatalogueRoute(KernelRoute):
    """A route that looks for components."""

    @property
    def host(self) -> ComponentHost:
        """The server's components."""
        return open_components(self.shared)

    async def named_kernel(self) -> NamedKernel:
        """The kernel that ``?kernel=`` names.

        Raises:
            Refusal: There is no such kernel, or this person may not use it.
        """
        kernel_id = self.word("kernel")
        if not kernel_id:
            return NamedKernel()
        return NamedKernel(kernel_id, cast("ServerKernels", await self.kernels(kernel_id)))


class ComponentsRoute(CatalogueRoute):
    """All components that can be called by hand."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Those of the server, and those that live in a kernel, with their schemas."""
        named = await self.named_kernel()

        def found(_: Application) -> ComponentList:
            catalogue = named.catalogue(self.host.catalogue())
            return ComponentList(tuple(map(_summary, catalogue.listed)), catalogue.reports)

        self.send(to_dict(await self.answer(found)))


class ComponentRoute(CatalogueRoute):
    """One component in one version."""

    _run: HandRun | None = None
    _is_gone = False
    _has_begun = False

    @web.authenticated
    @authorized
    async def get(self, name: str, version: str) -> None:
        """What it is and takes."""
        named = await self.named_kernel()

        def found(_: Application) -> ComponentSummary:
            catalogue = named.catalogue(self.host.catalogue())
            return _summary(component_of(catalogue, name, version))

        self.send(to_dict(await self.answer(found)))

    @web.authenticated
    @authorized
    async def post(self, name: str, version: str) -> None:
        """Call it by hand: a stream of server-sent events, or one answer when it has ended."""
        asked, named = self._asked(name, version), await self.named_kernel()
        ready = await self.answer(lambda shared: self._prepared(shared, asked, named))
        line = EnvelopeLine(LOOK_SECONDS)
        self._run = run = HandRun(ready.call, ready.surroundings, line.put)
        if self._is_gone:
            run.stop.set(GONE)
        seconds = ready.surroundings.settings.limits.wall_seconds
        limit = asyncio.get_running_loop().call_later(seconds, run.stop.set, TOO_LONG)
        try:
            self.host.start(run, line, ready.close)
            await self._tell(run, line, is_streamed=asked.is_streamed)
        finally:
            limit.cancel()
            line.close()

    def on_connection_close(self) -> None:
        """Whoever asked has gone: the component is stopped."""
        super().on_connection_close()
        self._is_gone = True
        if self._run is not None:
            self._run.stop.set(GONE)

    def _asked(self, name: str, version: str) -> ComponentRequest:
        action = self.word("action") or ACTION
        if action != ACTION:
            raise Refusal(400, f"There is no action {action!r}.", f"Use {ACTION!r}.")
        if "Last-Event-ID" in self.request.headers:
            # What reads a stream again by itself would call the component a second time.
            raise Refusal(409, "A call is not resumed.", "Its run is in the record.", "no_resume")
        fields = self.fields(
            arguments=dict, tool=str, confirm=bool, mode=str, scope=str, stream=bool
        )
        wants_stream = EVENT_STREAM in self.request.headers.get("Accept", "")
        return ComponentRequest(
            name,
            version,
            fields,
            fields.get("stream", wants_stream),
            self.word("chat"),
            self.request.headers.get(TRACE_HEADER, ""),
            self.owner,
        )

    def _prepared(
        self, shared: Application, asked: ComponentRequest, named: NamedKernel
    ) -> PreparedCall:
        if asked.chat_id:
            self.chat(shared, asked.chat_id)
        return prepared(shared, asked, named, self.host.catalogue)

    async def _tell(self, run: HandRun, line: EnvelopeLine, *, is_streamed: bool) -> None:
        """Send what the call says, the last envelope whatever happens."""
        last: Envelope | None = None
        looks = 0
        async for envelope in until_ended(run, line):
            looks += 1
            if is_streamed and not await self._send_event(envelope, looks):
                return
            last = envelope or last
        if last is None:
            raise Refusal(500, "The component could not be called.", "See the log of the server.")
        if is_streamed:
            self.finish(set_content_type=EVENT_STREAM)
        elif not self._is_gone:
            self.send(to_dict(last))

    async def _send_event(self, envelope: Envelope | None, looks: int) -> bool:
        """Send a piece of the stream; False: nobody reads it any more."""
        if envelope is None and looks % KEEP_ALIVE_LOOKS:
            return True
        if not self._has_begun:
            self._has_begun = True
            self.set_header("Content-Type", EVENT_STREAM)
            self.set_header("Cache-Control", "no-store")
            self.set_header("X-Accel-Buffering", "no")
            self.set_header("X-Content-Type-Options", "nosniff")
        self.write(": nothing yet\n\n" if envelope is None else server_sent(envelope))
        try:
            await self.flush()
        except StreamClosedError:
            return False
        return True


def _summary(item: Listed) -> ComponentSummary:
    manifests = tuple(
        ManifestSummary(manifest.name, manifest.description, manifest.parameters)
        for manifest in item.component.tool_manifests()
    )
    return ComponentSummary(
        item.name, item.version, item.source, item.component.risk, SPEC, manifests
    )


ROUTES: RouteTable = (
    ("/v2/components", ComponentsRoute),
    (f"/v2/components/{NAME}/version/{VERSION}", ComponentRoute),
)
