"""One connection to a service: a request goes out, and a thread reads what comes back.

The thread hands over what it read in a queue, so that whoever waits can look up at once when
somebody stops the run; then the socket is shut and the service sees it.
"""

from __future__ import annotations

import importlib
import queue
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cellwright.llm.bodies import BodyReader
from cellwright.llm.endpoints import Endpoint
from cellwright.llm.faults import from_exception
from cellwright.settings import ServiceSettings

if TYPE_CHECKING:
    import openai

PLACEHOLDER_KEY = "none"
"""The SDK demands a key, and would take OPENAI_API_KEY for a server that needs none."""
SETTLE_SECONDS = 0.02
"""How long the end of a body, which says nothing any more, is waited for."""


@dataclass(frozen=True)
class Arrived:
    """Something came: chunks, or only a sign of life."""

    chunks: tuple[Mapping[str, Any], ...] = ()
    ended: bool = False
    done: bool = False
    """With ``ended``: the service said that this is all."""
    request_id: str = ""
    failure: Exception | None = None


class Line:
    """A client of its own with its sockets, used for one request at a time.

    Its sockets are nobody else's, so shutting them breaks off this request alone. A line that
    was broken off is not used again.
    """

    def __init__(self, service: ServiceSettings) -> None:
        self._service = service
        self._client: openai.OpenAI | None = None
        self._http: ModuleType | None = None
        self._sockets: list[socket.socket] = []
        self._exchange: Exchange | None = None
        self._abandoned = threading.Event()

    def connect(self) -> openai.OpenAI:
        """The client, made on first use: it takes half a second to import."""
        if self._client is None:
            import openai

            self._http = _http_library(openai.DefaultHttpxClient)
            http_client = openai.DefaultHttpxClient(event_hooks={"request": [self._watch]})
            self._client = openai.OpenAI(
                base_url=self._service.base_url,
                api_key=self._service.api_key or PLACEHOLDER_KEY,
                max_retries=0,
                timeout=openai.Timeout(
                    self._service.deadline_seconds, connect=self._service.connect_timeout_seconds
                ),
                http_client=http_client,
            )
        return self._client

    def post(self, body: bytes) -> Any:
        """Send a chat request; the response comes back as soon as its head is there.

        Raises:
            Exception: Whatever the SDK raises.
        """
        client = self.connect()
        assert self._http is not None
        return client.post(
            "/chat/completions", cast_to=self._http.Response, content=body, stream=True
        )

    def get(self, path: str) -> str:
        """The text at a path of the service.

        Raises:
            Exception: Whatever the SDK raises.
        """
        client = self.connect()
        assert self._http is not None
        response = client.get(path, cast_to=self._http.Response)
        return str(response.text)

    def start(self, body: bytes, endpoint: Endpoint) -> Exchange:
        """Begin a request."""
        self._exchange = Exchange(self, body, endpoint)
        return self._exchange

    def is_free(self) -> bool:
        """Whether the last response is read to its end, which is waited for for a moment."""
        return self._exchange is None or self._exchange.wait(SETTLE_SECONDS)

    def abandon(self) -> None:
        """Break off what is under way; whoever ends last, this or the thread, closes the client."""
        self._abandoned.set()
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        if self.is_free():
            self.leave()

    def leave(self) -> None:
        """Close the client of a line that was given up."""
        if self._abandoned.is_set() and self._client is not None:
            self._client.close()

    def _watch(self, request: Any) -> None:
        request.extensions = {**request.extensions, "trace": self._trace}

    def _trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Note the sockets as they are opened: the only way to them before a response is there."""
        stream: Any = info.get("return_value")
        if hasattr(stream, "get_extra_info"):
            opened = stream.get_extra_info("socket")
            self._sockets = [each for each in self._sockets if each.fileno() >= 0]
            self._sockets.append(opened)
            if self._abandoned.is_set():
                opened.shutdown(socket.SHUT_RDWR)


class Exchange:
    """One request and the thread that reads its response."""

    def __init__(self, line: Line, body: bytes, endpoint: Endpoint) -> None:
        self._line = line
        self._body = body
        self._endpoint = endpoint
        self._arrived: queue.SimpleQueue[Arrived] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="cellwright-model", daemon=True)
        self._thread.start()

    def next(self, timeout_seconds: float) -> Arrived | None:
        """What arrived next; None when nothing did in so long."""
        try:
            return self._arrived.get(timeout=max(0.0, timeout_seconds))
        except queue.Empty:
            return None

    def wait(self, timeout_seconds: float) -> bool:
        """Whether the response is read to its end within so long."""
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._line.connect()
            # Silence is the service's only from here on.
            self._arrived.put(Arrived())
            response = self._line.post(self._body)
            try:
                self._read(response)
            finally:
                response.close()
        except Exception as error:  # raised again by whoever waits, in its own thread
            self._arrived.put(Arrived(failure=from_exception(error, self._endpoint)))
        finally:
            self._line.leave()

    def _read(self, response: Any) -> None:
        reader = BodyReader(response.headers.get("content-type", ""), self._endpoint)
        request_id = response.headers.get("x-request-id", "")
        self._arrived.put(Arrived(request_id=request_id))
        for received in response.iter_bytes():
            if not reader.done:
                self._arrived.put(self._item(reader, received))
        if not reader.done:
            chunks = tuple(reader.end())
            self._arrived.put(Arrived(chunks, ended=True, done=reader.done))

    def _item(self, reader: BodyReader, received: bytes) -> Arrived:
        chunks = tuple(reader.feed(received))
        return Arrived(chunks, ended=reader.done, done=reader.done)


def _http_library(client_class: type) -> ModuleType:
    """httpx or httpx2, whichever the installed SDK is built on."""
    modules = (each.__module__.partition(".")[0] for each in client_class.__mro__)
    return importlib.import_module(next(name for name in modules if name.startswith("httpx")))
