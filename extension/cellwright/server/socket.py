"""The panel's WebSocket: who may connect, and frames in and out. Everything else is the hub's.

The check of the Origin is the server's own: a page with the person's cookie connects only from the
server's address. XSRF tokens do not exist for WebSockets, so that check must not be weakened.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from cellwright.server.application import Application, Person
from cellwright.server.hub import Hub, open_hub
from cellwright.server.routes import owner_of
from cellwright.server.tab import LineClosedError, Tab
from cellwright.server.table import SETTING

MESSAGE_LIMIT_BYTES = 256 * 1024 * 1024
"""A tab sends whole notebooks, outputs included."""
HELLO_LIMIT_BYTES = 16 * 1024
"""Until a page has said hello, nothing larger than that is read into memory."""
BACKLOG_LIMIT = 1_000
BACKLOG_SECONDS = 0.02


class SocketLine:
    """``tab.TabConnection`` over a WebSocket; for the thread that sends.

    Args:
        handler: The connection.
    """

    def __init__(self, handler: PanelSocket) -> None:
        self._handler = handler
        self._loop = asyncio.get_running_loop()

    def send(self, text: str) -> None:
        """Send a frame; return when the connection can take another.

        Raises:
            LineClosedError: The tab is gone.
        """
        writing = self._write(text)
        try:
            asyncio.run_coroutine_threadsafe(writing, self._loop).result()
        except (WebSocketClosedError, StreamClosedError, asyncio.CancelledError):
            raise LineClosedError from None
        except RuntimeError:
            # The server has ended, and its loop with it.
            writing.close()
            raise LineClosedError from None

    def close(self) -> None:
        """Let go of the tab."""
        try:
            self._loop.call_soon_threadsafe(self._handler.close)
        except RuntimeError:
            return

    async def _write(self, text: str) -> None:
        await self._handler.write_message(text)


class PanelSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """``GET cellwright/v1/socket``."""

    auth_resource = "cellwright"
    _tab: Tab | None = None
    _may_use_kernels = False

    @property
    def hub(self) -> Hub:
        """The live side of this server."""
        return open_hub(self.settings[SETTING])

    @property
    def max_message_size(self) -> int:
        """The largest frame that a page may send that has said hello."""
        return MESSAGE_LIMIT_BYTES

    def set_default_headers(self) -> None:
        """None: what the server sets for pages makes no sense here."""

    def get_compression_options(self) -> dict[str, Any] | None:
        """As the server is set for kernels' sockets."""
        options: dict[str, Any] | None = self.settings.get("websocket_compression_options")
        return options

    @ws_authenticated
    async def get(self, *args: str, **kwargs: str) -> None:
        """Let a page connect that may."""
        allowed = await self._may_execute(self.auth_resource)
        self._may_use_kernels = await self._may_execute("kernels")
        application: Application = self.settings[SETTING]
        if not allowed or not application.configuration.is_enabled:
            raise web.HTTPError(403)
        await super().get(*args, **kwargs)

    async def _may_execute(self, resource: str) -> bool:
        is_authorized = self.authorizer.is_authorized
        return await ensure_async(is_authorized(self, self.current_user, "execute", resource))

    def open(self, *args: str, **kwargs: str) -> None:
        """A page has connected."""
        super().open(*args, **kwargs)
        owner = owner_of(self.current_user, self.hub.configuration.people)
        person = Person(owner, may_use_kernels=self._may_use_kernels)
        self._tab = self.hub.open(SocketLine(self), person)
        self._limit_frames(HELLO_LIMIT_BYTES)

    async def on_message(self, message: str | bytes) -> None:
        """A page has sent a frame; the next one is read when there is room for it."""
        tab = self._tab
        if tab is None:
            return
        knew_it = tab.hello is not None
        self.hub.receive(tab, message)
        if not knew_it:
            await self._await_hello(tab)
        # A look now and then, because the worker thread that takes the frames knows no event loop.
        while tab.is_open and tab.backlog > BACKLOG_LIMIT:
            await asyncio.sleep(BACKLOG_SECONDS)

    async def _await_hello(self, tab: Tab) -> None:
        """Read no more until the frame is handled, and longer frames once it was ``hello``."""
        handled = threading.Event()
        tab.work(handled.set)
        while tab.is_open and not handled.is_set():
            await asyncio.sleep(BACKLOG_SECONDS)
        if tab.hello is not None:
            self._limit_frames(self.max_message_size)

    def _limit_frames(self, limit_bytes: int) -> None:
        # tornado asks for the limit when a page connects, and looks here for every frame.
        connection: Any = self.ws_connection
        if connection is not None:
            connection.params.max_message_size = limit_bytes

    def on_close(self) -> None:
        """A page is gone."""
        tab, self._tab = self._tab, None
        if tab is not None:
            self.hub.leave(tab)


ROUTES = (("socket", PanelSocket),)
