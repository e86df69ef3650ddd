"""Waits with everything that the server can start without until a request needs it.

Loading all routes and what they stand on takes longer than a small server's own start. A server
whose user never opens the panel is spared it, and the panel's first request loads what answers it.
The end of the server and files that it moves are followed here, too, without loading the routes.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.services.contents.manager import ContentsManager
from jupyter_server.utils import url_path_join
from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.routing import Router, RuleRouter
from tornado.web import Application

from cellwright.server.configuration import Cellwright
from cellwright.server.table import ROOT, SETTING, find_module, find_pattern, load_routes
from cellwright.stopping import join_threads

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from cellwright.server.application import Application as Shared


class FirstRequest(Router):
    """Hands requests on to the routes, which it loads when the first one of their file comes.

    Args:
        configuration: What the administrator set.
        server: The server it runs in.
    """

    SUPPORTED_METHODS: tuple[str, ...] = ()
    """The server looks for methods that are open to strangers; those of the routes are not here."""

    def __init__(self, configuration: Cellwright, server: ServerApp) -> None:
        self.configuration = configuration
        self.application: Shared | None = None
        """None: nobody has asked for anything yet."""
        self._server = server
        self._routers: dict[str, Router] = {}
        """By the file that the routes are in."""
        self._loading = threading.Lock()

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        """Who answers the request; None: nobody."""
        below = url_path_join(self._server.web_app.settings["base_url"], ROOT)
        name = find_module(request.path.removeprefix(below).lstrip("/"))
        if name and name not in self._routers:
            return _Waiting(self, name, self._server.web_app, request)
        return self._routers[name].find_handler(request) if name else None

    def load(self) -> Shared:
        """Load what all routes share, unless that is done; waits, so not on the event loop."""
        with self._loading:
            if self.application is None:
                with _collector_paused():
                    # This import waits: starting is spared it.
                    from cellwright.server.application import Application

                self.application = Application(self.configuration, self._server)
                self._server.web_app.settings[SETTING] = self.application
            return self.application

    def load_routes(self, name: str) -> None:
        """Load a file of routes, unless that is done; waits, so not on the event loop."""
        self.load()
        base_url = self._server.web_app.settings["base_url"]
        with self._loading:
            if name not in self._routers:
                with _collector_paused():
                    routes = load_routes(name)
                rules = [(find_pattern(base_url, path), handler) for path, handler in routes]
                self._routers[name] = _Handlers(self._server.web_app, rules)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the collector from looking, again and again, at modules that all stay.

    That takes a quarter of the time of loading them.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


class _Handlers(RuleRouter):
    """Makes handlers as the web application itself does."""

    def __init__(self, web_app: Application, rules: list[tuple[str, type]]) -> None:
        self._web_app = web_app
        super().__init__(list(rules))

    def get_target_delegate(
        self, target: Any, request: HTTPServerRequest, **target_params: Any
    ) -> HTTPMessageDelegate | None:
        return self._web_app.get_handler_delegate(request, target, **target_params)


class _Waiting(HTTPMessageDelegate):
    """Keeps a request until the routes are loaded."""

    def __init__(
        self, routes: FirstRequest, name: str, web_app: Application, request: HTTPServerRequest
    ) -> None:
        self._routes = routes
        self._name = name
        self._web_app = web_app
        self._request = request
        self._delegate: HTTPMessageDelegate | None = None

    async def _begin(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._routes.load_routes, self._name)
        self._delegate = self._web_app.find_handler(self._request)
        begun = self._delegate.headers_received(start_line, headers)
        if begun is not None:
            await begun

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None]:
        return self._begin(start_line, headers)

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        return self._delegate.data_received(chunk) if self._delegate is not None else None

    def finish(self) -> None:
        if self._delegate is not None:
            self._delegate.finish()

    def on_connection_close(self) -> None:
        if self._delegate is not None:
            self._delegate.on_connection_close()


# The end of the server.


CLOSE_SECONDS = 10.0


class Lifetime(ExtensionApp):
    """Keeps a server alive while an agent works, and lets go of everything when it stops."""

    name = "cellwright"
    routes: FirstRequest | None = None

    def current_activity(self) -> bool | None:
        """Whether an agent works; a server that stops for want of activity then waits."""
        application = self.routes.application if self.routes is not None else None
        if application is None:
            return False
        working = (application.live, application.hand_runs)
        return any(each is not None and each.is_busy for each in working)

    async def stop_extension(self) -> None:
        """Stop runs and threads, close files; a service that does not answer is not waited for."""
        application = self.routes.application if self.routes is not None else None
        if application is None:
            return
        closing = asyncio.get_running_loop().run_in_executor(None, application.close)
        try:
            await asyncio.wait_for(asyncio.shield(closing), CLOSE_SECONDS)
        except TimeoutError:
            names = ", ".join(thread.name for thread in join_threads(0)) or "its files"
            self.log.warning("cellwright: something still runs (%s); not waiting any more", names)


def end_with(server: ServerApp, routes: FirstRequest) -> None:
    """Let the routes be closed when the server stops."""
    lifetime = Lifetime()
    lifetime.routes = routes
    for point in server.extension_manager.extension_points.values():
        if point.module_name == __package__:
            # Only an extension that is an application is told of the end, and ours is named by
            # its module alone.
            point._app = lifetime


# Files and folders that are moved in the browser: chats follow their notebooks.


def follow_renames(server: ServerApp, routes: FirstRequest) -> None:
    """Watch what the server moves."""

    async def moved(logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        if data.get("action") == "rename" and routes.configuration.is_enabled:
            old, new = str(data["source_path"]).strip("/"), str(data["path"]).strip("/")
            await asyncio.get_running_loop().run_in_executor(None, _follow, routes, old, new)

    if server.event_logger is not None:
        server.event_logger.add_listener(schema_id=ContentsManager.event_schema_id, listener=moved)


def _follow(routes: FirstRequest, old: str, new: str) -> None:
    shared = routes.load()
    for chat in shared.chats.rename_path(old, new):
        if shared.live is not None:
            shared.live.chat_changed(chat)
