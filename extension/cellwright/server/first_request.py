"""Waits for the first request with everything that the server can start without.

Loading the routes and what they stand on takes as long as a small server's own start; a server
whose person never opens the panel is spared it.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from cellwright.server.application import Application as Shared

__all__ = ["SETTING", "FirstRequest"]

SETTING = "cellwright"
"""Where the routes find what they share, among the settings of the web application."""


class FirstRequest(Router):
    """Hands requests on to the routes, which it loads when the first one comes.

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
        self._router: Router | None = None
        self._loading = threading.Lock()

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        """Who answers the request."""
        if self._router is None:
            return _Waiting(self, self._server.web_app, request)
        return self._router.find_handler(request)

    def load(self) -> Shared:
        """Load the routes, unless that is done; waits, so not on the event loop."""
        with self._loading:
            if self.application is None:
                with _collector_paused():
                    # The one import that has to wait: it is what starting is spared.
                    from cellwright.server.table import handlers, open_application

                settings = self._server.web_app.settings
                application = open_application(self.configuration, self._server)
                settings[SETTING] = application
                self._router = _Handlers(self._server.web_app, handlers(settings["base_url"]))
                self.application = application
            return self.application


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

    def __init__(self, web_app: Application, rules: Sequence[tuple[str, type]]) -> None:
        self._web_app = web_app
        super().__init__(list(rules))

    def get_target_delegate(
        self, target: Any, request: HTTPServerRequest, **target_params: Any
    ) -> HTTPMessageDelegate | None:
        return self._web_app.get_handler_delegate(request, target, **target_params)


class _Waiting(HTTPMessageDelegate):
    """Keeps a request until the routes are loaded."""

    def __init__(
        self, routes: FirstRequest, web_app: Application, request: HTTPServerRequest
    ) -> None:
        self._routes = routes
        self._web_app = web_app
        self._request = request
        self._delegate: HTTPMessageDelegate | None = None

    async def _begin(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._routes.load)
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
