"""Components called by hand: which there are, and the route that calls one.

A call is the person's own act, and the mode counts all the same: what it allows runs, what it
asks about needs ``confirm`` in the request, what it refuses is refused.
"""

from __future__ import annotations

import asyncio
from typing import cast

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.component_catalogue import Listed
from cellwright.server.component_envelopes import Envelope, server_sent
from cellwright.server.component_host import (
    ComponentHost,
    EnvelopeLine,
    open_components,
    until_ended,
)
from cellwright.server.component_preparing import (
    Asked,
    NamedKernel,
    Prepared,
    component_of,
    prepared,
)
from cellwright.server.component_runs import HandRun
from cellwright.server.incoming_trace import TRACE_HEADER
from cellwright.server.kernel_access import ServerKernels
from cellwright.server.kernel_routes import KernelRoute
from cellwright.server.rest_types import ComponentList, ComponentSummary, ManifestSummary
from cellwright.server.routes import Refusal, RouteTable

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

    def _asked(self, name: str, version: str) -> Asked:
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
        return Asked(
            name,
            version,
            fields,
            fields.get("stream", wants_stream),
            self.word("chat"),
            self.request.headers.get(TRACE_HEADER, ""),
            self.owner,
        )

    def _prepared(self, shared: Application, asked: Asked, named: NamedKernel) -> Prepared:
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
