"""The body of a reply as chunks: an event stream, one JSON object, or neither and then why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cellwright.errors import LMStreamError
from cellwright.llm.complaints import read_complaint
from cellwright.llm.endpoints import Endpoint
from cellwright.llm.faults import from_stream
from cellwright.llm.sse import SSEDecoder

Chunk = Mapping[str, Any]
DONE = "[DONE]"
SHOWN_CHARACTERS = 200


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
            LMError: The body is a page, is broken, or holds an error.
        """
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
        if "choices" not in chunk:
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
        except ValueError as error:
            shown = self._endpoint.without_key(text[:SHOWN_CHARACTERS])
            message = f"{self._endpoint.place} sent data that is not JSON: {error}."
            raise LMStreamError(message, detail=shown) from error
        if isinstance(chunk, list) and len(chunk) == 1:
            chunk = chunk[0]  # Google's endpoint wraps an error in a list
        if not isinstance(chunk, Mapping):
            raise self._strange(f"{self._endpoint.place} sent {chunk!r:.80} as a reply.", "")
        if chunk.get("error"):
            raise from_stream(chunk, self._endpoint)
        return chunk

    def _text(self) -> str:
        try:
            return self._whole.decode("utf-8")
        except UnicodeDecodeError as error:
            text = f"{self._endpoint.place} sent bytes that are not UTF-8."
            raise LMStreamError(text, detail=str(error)) from error

    def _page(self) -> LMStreamError:
        title = read_complaint(self._whole.decode("utf-8", "replace")).message
        text = f"{self._endpoint.base_url!r} is not an API endpoint: got HTML"
        shown = self._endpoint.without_key(title)[:SHOWN_CHARACTERS]
        return self._strange(f"{text} ({shown})." if shown else f"{text}.", shown)

    def _strange(self, text: str, detail: str) -> LMStreamError:
        """An error that another try does not mend."""
        hint = "Check the address; behind a portal or proxy, sign in first."
        error = LMStreamError(text, hint=hint, detail=detail)
        error.retryable = False
        return error
