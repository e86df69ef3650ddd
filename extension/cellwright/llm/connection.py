"""One connection to a service: a request goes out, and a thread reads what comes back.

The thread hands over what it read in a queue, so that whoever waits can look up at once when
somebody stops the run; then the socket is shut and the service sees it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import queue
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from cellwright.installation import install_hint
from cellwright.llm.faults import Endpoint, from_exception, redirected_elsewhere
from cellwright.providers import AUTHORIZATION, headers_for, key_header, signer_of
from cellwright.settings import ServiceSettings, renew_key

if TYPE_CHECKING:
    import ssl

    import openai
import json

from cellwright.errors import LMAccessError, LMStreamError, LMTimeoutError, SetupError
from cellwright.llm.faults import from_stream, read_complaint
from cellwright.stopping import WorkerThread

# Server-sent events out of bytes, however the bytes are cut.


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_STARTS = (b"{", b"[")
JSON_GOES_ON = (b" ", b"\t", b'"', b"}", b"]")


class SSEDecoder:
    """Collects bytes and gives out the data of whole events.

    Lines of JSON count as data: some services send an error as bare JSON, on one line or on many,
    in what they call an event stream.
    """

    def __init__(self) -> None:
        self._pending = b""
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._started = False

    @property
    def kept_bytes(self) -> int:
        """How much there is of an event that is not whole."""
        return len(self._pending) + self._data_bytes

    def feed(self, received: bytes) -> list[str]:
        """The data of the events that are whole now.

        Raises:
            UnicodeDecodeError: An event is not UTF-8.
        """
        self._pending += received
        if not self._started:
            self._pending = self._pending.removeprefix(BYTE_ORDER_MARK)
            self._started = True
        *lines, self._pending = self._pending.replace(b"\r\n", b"\n").split(b"\n")
        return self._events(lines)

    def end(self) -> list[str]:
        """What is left when the stream is over: an event that lacks its blank line.

        Raises:
            UnicodeDecodeError: It is not UTF-8.
        """
        lines, self._pending = [self._pending.rstrip(b"\r"), b""], b""
        return self._events(lines)

    def _events(self, lines: list[bytes]) -> list[str]:
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._keep(line[5:].removeprefix(b" "))
            elif line.startswith(JSON_STARTS) or (self._data and line.startswith(JSON_GOES_ON)):
                self._keep(line)
            elif not line and self._data:
                events.append(b"\n".join(self._data).decode("utf-8"))
                self._data.clear()
                self._data_bytes = 0
        return events

    def _keep(self, line: bytes) -> None:
        self._data.append(line)
        self._data_bytes += len(line)


# The body of a reply as chunks: an event stream, one JSON object, or neither and then why.


Chunk = Mapping[str, Any]
DONE = "[DONE]"
SHOWN_CHARACTERS = 200
LIMIT_BYTES = 64 * 2**20
"""Of what is read before it can be used. No reply is so long, nor a list of models."""
REPLY_FIELDS = frozenset({"choices", "candidates", "promptFeedback"})


class BodyReader:
    """Takes the bytes of one body as they come and gives the chunks in them.

    Args:
        content_type: As the service named it; where it says nothing of use, the first bytes do.
        endpoint: Named in errors.
    """

    def __init__(self, content_type: str, endpoint: Endpoint) -> None:
        self._content_type = content_type.partition(";")[0].strip().lower()
        self._endpoint = endpoint
        self._events = SSEDecoder()
        self._whole = bytearray()
        self._shape = ""
        self.done = False
        """Whether the service said that this is all."""

    def feed(self, received: bytes) -> list[Chunk]:
        """The chunks that are whole now.

        Raises:
            LMError: The body is a page, is broken, holds an error, or does not end.
        """
        if len(self._whole) + self._events.kept_bytes > LIMIT_BYTES:
            raise _endless(self._endpoint)
        if not self._shape:
            self._whole += received
            received = bytes(self._whole)
            if not received.strip():
                return []
            self._shape = self._shape_of(received.lstrip())
            self._whole.clear()
        if self._shape == "events":
            return self._chunks(self._decoded(received))
        self._whole += received
        return []

    def end(self) -> list[Chunk]:
        """The chunks that were waiting for the end.

        Raises:
            LMError: As for ``feed``.
        """
        if self._shape == "events":
            return self._chunks(self._decoded(None))
        if self._shape == "page":
            raise self._page()
        if not self._shape:
            return []
        chunk = self._parsed(self._text())
        kind = chunk.get("object") or chunk.get("type")
        if REPLY_FIELDS.isdisjoint(chunk) and kind not in ("response", "message"):
            shown = json.dumps(chunk, ensure_ascii=False)[:SHOWN_CHARACTERS]
            raise self._strange(f"{self._endpoint.place} sent JSON that is no chat reply.", shown)
        self.done = True
        return [chunk]

    def _shape_of(self, start: bytes) -> str:
        if start.startswith((b"data:", b":", b"event:", b"id:", b"retry:")):
            return "events"
        if self._content_type == "text/html" or start.startswith(b"<"):
            return "page"
        return "events" if self._content_type == "text/event-stream" else "object"

    def _decoded(self, received: bytes | None) -> list[str]:
        try:
            return self._events.end() if received is None else self._events.feed(received)
        except UnicodeDecodeError as error:
            text = f"{self._endpoint.place} sent bytes that are not UTF-8."
            raise LMStreamError(text, detail=str(error)) from error

    def _chunks(self, events: list[str]) -> list[Chunk]:
        chunks = []
        for event in events:
            if event.strip() == DONE:
                self.done = True
            elif event.strip() and not self.done:
                chunks.append(self._parsed(event))
        return chunks

    def _parsed(self, text: str) -> Chunk:
        try:
            chunk = json.loads(text)
        except (ValueError, RecursionError) as error:
            shown = self._endpoint.without_key(text[:SHOWN_CHARACTERS])
            message = f"{self._endpoint.place} sent data that is not JSON: {error}."
            raise LMStreamError(message, detail=shown) from error
        if isinstance(chunk, list) and len(chunk) == 1:
            chunk = chunk[0]  # Google's endpoint wraps an error in a list
        if not isinstance(chunk, Mapping):
            raise self._strange(f"{self._endpoint.place} sent {chunk!r:.80} as a reply.", "")
        failed = _failed(chunk)
        if failed is not None:
            raise from_stream(failed, self._endpoint)
        return chunk

    def _text(self) -> str:
        try:
            return self._whole.decode("utf-8")
        except UnicodeDecodeError as error:
            text = f"{self._endpoint.place} sent bytes that are not UTF-8."
            raise LMStreamError(text, detail=str(error)) from error

    def _page(self) -> LMStreamError:
        title = read_complaint(self._whole.decode("utf-8", "replace")).message
        text = f"{self._endpoint.address!r} is not an API endpoint: got HTML"
        shown = self._endpoint.without_key(title)[:SHOWN_CHARACTERS]
        return self._strange(f"{text} ({shown})." if shown else f"{text}.", shown)

    def _strange(self, text: str, detail: str) -> LMStreamError:
        return _lasting(text, detail)


def _lasting(text: str, detail: str = "") -> LMStreamError:
    """An error that another try does not mend."""
    hint = "Check the address; behind a portal or proxy, sign in first."
    error = LMStreamError(text, hint=hint, detail=detail)
    error.retryable = False
    return error


def _endless(endpoint: Endpoint) -> LMStreamError:
    return _lasting(f"{endpoint.place} sent {LIMIT_BYTES // 2**20} MB and did not come to an end.")


def _failed(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The error that a chunk is; Responses has events for it beside the plain object."""
    if chunk.get("error") or chunk.get("type") == "error":
        return chunk
    response = chunk.get("response")
    if chunk.get("type") == "response.failed" and isinstance(response, Mapping):
        return response
    return None


SIGNERS = "openai.providers"
PLACEHOLDER_KEY = "none"
"""The SDK demands a key, and would take OPENAI_API_KEY for a server that needs none."""
SETTLE_SECONDS = 0.02
"""How long the end of a body, which says nothing any more, is waited for."""
SDK_GRACE_SECONDS = 1.0
"""How much later than the deadline, which is ours to watch, the SDK gives up."""


@dataclass(frozen=True)
class Arrived:
    """Something came: chunks, or only a sign of life."""

    chunks: tuple[Mapping[str, Any], ...] = ()
    ended: bool = False
    done: bool = False
    """With ``ended``: the service said that this is all."""
    request_id: str = ""
    failure: Exception | None = None


class ServiceConnection:
    """A client of its own with its sockets, used for one request at a time.

    Its sockets are nobody else's, so shutting them breaks off this request alone. A line that
    was broken off is not used again.
    """

    def __init__(self, service: ServiceSettings) -> None:
        self._service = service
        self._client: openai.OpenAI | None = None
        self._http: ModuleType | None = None
        self._sockets: list[socket.socket] = []
        self._reader: threading.Thread | None = None
        self._abandoned = threading.Event()

    def connect(self) -> openai.OpenAI:
        """The client, made on first use: it takes half a second to import."""
        if self._client is None:
            import openai

            self._http = _http_library(openai.DefaultHttpxClient)
            # Certificates take 20 ms to read. Where an address needs them only for a proxy, as that
            # of a model on this machine, they are read once.
            has_tls = not self._service.base_url.startswith("http:")
            http_client = openai.DefaultHttpxClient(
                event_hooks={"request": [self._watch], "response": [self._read_error]},
                verify=True if has_tls else _read_certificates(self._http),
            )
            self._client = openai.OpenAI(
                **_authentication(self._service),
                default_headers=dict(self._service.headers),
                max_retries=0,
                # The deadline is ours to watch: the SDK would call the same end an outage.
                timeout=openai.Timeout(
                    self._service.deadline_seconds + SDK_GRACE_SECONDS,
                    connect=self._service.connect_timeout_seconds,
                ),
                http_client=http_client,
            )
        return self._client

    def post(self, path: str, body: bytes) -> Any:
        """Send a request to a path; the response comes back as soon as its head is there.

        Raises:
            Exception: Whatever the SDK raises.
        """
        client = self.connect()
        assert self._http is not None
        return client.post(
            path,
            cast_to=self._http.Response,
            content=body,
            options={"headers": self._headers(path)},
            stream=True,
        )

    def fetch(
        self, path: str, body: bytes | None = None, *, timeout_seconds: float | None = None
    ) -> str:
        """The text at a path of the service; the whole of it has to be here in time.

        Args:
            path: Below the service's address, or an address.
            body: Sent there; None: it is asked for only.
            timeout_seconds: For the answer, from when the SDK is imported, which takes seconds from
                a slow disk; None: the service's deadline.

        Raises:
            LMTimeoutError: It is not; the connection is given up.
            Exception: Whatever the SDK raises.
        """
        limit = self._service.deadline_seconds if timeout_seconds is None else timeout_seconds
        arrived: queue.SimpleQueue[str | Exception] = queue.SimpleQueue()
        imported = threading.Event()

        def ask() -> None:
            try:
                try:
                    self.connect()
                finally:
                    imported.set()
                arrived.put(self._ask(path, body))
            except Exception as error:  # raised again by whoever waits, in its own thread
                arrived.put(error)
            finally:
                self.leave()

        self._reader = WorkerThread(ask, name="model-look")
        self._reader.start()
        imported.wait()
        try:
            text = arrived.get(timeout=limit)
        except queue.Empty:
            self.abandon()
            place = Endpoint(self._service.base_url, "").place
            raise LMTimeoutError(f"{place} did not answer within {limit:g} s.") from None
        if isinstance(text, Exception):
            raise text
        return text

    def _ask(self, path: str, body: bytes | None) -> str:
        client = self.connect()
        assert self._http is not None
        ask: Callable[..., Any] = (
            client.get if body is None else functools.partial(client.post, content=body)
        )
        options = {"headers": self._headers(path)}
        response = ask(path, cast_to=self._http.Response, options=options, stream=True)
        text = bytearray()
        try:
            for received in response.iter_bytes():
                text += received
                if len(text) > LIMIT_BYTES:
                    raise _endless(Endpoint(self._service.base_url, ""))
        finally:
            response.close()
        return text.decode(response.encoding or "utf-8", "replace")

    def _headers(self, path: str) -> dict[str, str | openai.Omit]:
        """What the service wants there, where the person sets nothing else."""
        service = self._service
        own = {name.lower() for name in service.headers}
        wanted: dict[str, str | openai.Omit] = {**headers_for(service.base_url, path)}
        header = key_header(service.base_url, path, service.api, service.api_key)
        if header != AUTHORIZATION:
            import openai

            # With both, the one that is no token is refused.
            wanted |= {header: service.api_key or PLACEHOLDER_KEY, AUTHORIZATION: openai.Omit()}
        return {name: value for name, value in wanted.items() if name.lower() not in own}

    def start(self, path: str, body: bytes, endpoint: Endpoint) -> Exchange:
        """Begin a request."""
        exchange = Exchange(self, path, body, endpoint)
        self._reader = exchange.thread
        return exchange

    def is_free(self) -> bool:
        """Whether the last response is read to its end, which is waited for for a moment."""
        if self._reader is not None:
            self._reader.join(SETTLE_SECONDS)
        return self._reader is None or not self._reader.is_alive()

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
        """Look at a request before it goes out, also at each that a redirect leads to.

        Raises:
            LMConnectionError: A redirect leads to another server, which may have neither key nor
                prompt.
        """
        assert self._client is not None
        own, asked = self._client.base_url, request.url
        if (asked.scheme, asked.host, asked.port) != (own.scheme, own.host, own.port):
            raise redirected_elsewhere(str(asked), Endpoint(self._service.base_url, ""))
        request.extensions = {**request.extensions, "trace": self._trace}

    def _read_error(self, response: Any) -> None:
        """Read what is no reply up to the limit; the SDK would read on for as long as it comes."""
        if response.is_success:
            return
        assert self._http is not None
        body = bytearray()
        for received in response.stream:
            body += received
            if len(body) > LIMIT_BYTES:
                break
        response.stream.close()
        response.stream = self._http.ByteStream(bytes(body))

    def _trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Note the sockets as they are opened: the only way to them before a response is there."""
        stream: Any = info.get("return_value")
        if hasattr(stream, "get_extra_info"):
            opened = stream.get_extra_info("socket")
            self._sockets = [each for each in self._sockets if each.fileno() >= 0]
            self._sockets.append(opened)
            if self._abandoned.is_set():
                opened.shutdown(socket.SHUT_RDWR)


def _authentication(service: ServiceSettings) -> dict[str, Any]:
    """The address and what opens it: a key, or credentials with which each request is signed.

    Raises:
        LMAccessError: The libraries that sign are not installed.
    """
    signer = signer_of(service.base_url, service.api_key)
    if not signer:
        key = service.api_key or PLACEHOLDER_KEY
        address, _, query = service.base_url.partition("?")
        # The SDK would write what is asked behind the query.
        return {"base_url": address, "api_key": key, "default_query": dict(parse_qsl(query))}
    if importlib.util.find_spec("botocore") is None or not importlib.util.find_spec(SIGNERS):
        text = "There is no key, and the libraries that sign requests are not installed."
        raise LMAccessError(text, hint=install_hint(signer))
    sign = getattr(importlib.import_module(SIGNERS), signer)
    return {"provider": sign(base_url=service.base_url, api_key=None)}


class ConnectionPool:
    """The connections that are not in use, so that the next request finds an open one."""

    def __init__(self, service: ServiceSettings) -> None:
        self._service = service
        self._idle: list[ServiceConnection] = []
        self._lock = threading.Lock()

    def take(self) -> ServiceConnection:
        """One that nobody uses."""
        while True:
            with self._lock:
                line = self._idle.pop() if self._idle else ServiceConnection(self._service)
            if line.is_free():
                return line
            line.abandon()

    def give_back(self, line: ServiceConnection) -> None:
        """Keep one for the next request."""
        with self._lock:
            self._idle.append(line)

    def renew(self, service: ServiceSettings) -> None:
        """Open new ones from now on, with another key."""
        self._service = service
        self.close()

    def close(self) -> None:
        """Close those that nobody uses."""
        with self._lock:
            lines, self._idle = self._idle, []
        for line in lines:
            line.abandon()


def renewed(service: ServiceSettings, error: LMAccessError) -> ServiceSettings:
    """A service with the key that its command or file gives now: some end within a run.

    Raises:
        LMAccessError: Neither a command nor a file gave the key, or it gives no other one.
    """
    if error.status != 401:
        raise error
    try:
        key = renew_key(service)
    except SetupError as failed:
        error.hint = f"{failed.message} {failed.hint}"
        raise error from failed
    if key in ("", service.api_key):
        raise error
    return replace(service, api_key=key)


class Exchange:
    """One request and the thread that reads its response."""

    def __init__(self, line: ServiceConnection, path: str, body: bytes, endpoint: Endpoint) -> None:
        self._line = line
        self._path = path
        self._body = body
        self._endpoint = endpoint
        self._arrived: queue.SimpleQueue[Arrived] = queue.SimpleQueue()
        self.thread = WorkerThread(self._run, name="model")
        self.thread.start()

    def next(self, timeout_seconds: float) -> Arrived | None:
        """What arrived next; None when nothing did in so long."""
        try:
            return self._arrived.get(timeout=max(0.0, timeout_seconds))
        except queue.Empty:
            return None

    def wait(self, timeout_seconds: float) -> bool:
        """Whether the response is read to its end within so long."""
        self.thread.join(timeout_seconds)
        return not self.thread.is_alive()

    def _run(self) -> None:
        try:
            self._line.connect()
            # Silence is the service's only from here on.
            self._arrived.put(Arrived())
            response = self._line.post(self._path, self._body)
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
        headers = response.headers
        request_id = headers.get("x-request-id") or headers.get("request-id", "")
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


@functools.cache
def _read_certificates(http: ModuleType) -> ssl.SSLContext:
    context: ssl.SSLContext = http.create_ssl_context()
    return context


def _http_library(client_class: type) -> ModuleType:
    """httpx or httpx2, whichever the installed SDK is built on."""
    modules = (each.__module__.partition(".")[0] for each in client_class.__mro__)
    return importlib.import_module(next(name for name in modules if name.startswith("httpx")))
