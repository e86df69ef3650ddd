"""Vectors of texts from any OpenAI-compatible service."""

from __future__ import annotations

import array
import json
import math
import os
import threading
import weakref
from collections.abc import Sequence
from typing import Protocol

from cellwright.errors import LMAccessError, LMStreamError
from cellwright.llm.connection import ConnectionPool, renewed
from cellwright.llm.faults import Endpoint, from_exception
from cellwright.llm.openai_format import body_bytes
from cellwright.settings import ServiceSettings, Settings

PATH = "/embeddings"
TEXT_CHARACTERS = 8_000
"""Services refuse texts that are longer than their model reads."""


class Embedder(Protocol):
    """Gives texts vectors."""

    @property
    def model(self) -> str:
        """The model's name, under which vectors are kept."""
        ...

    def embed(self, texts: tuple[str, ...], timeout_seconds: float) -> tuple[bytes, ...]:
        """A vector of each text, as 32-bit numbers of length one.

        Raises:
            LMError: The service failed.
        """
        ...


def embedder_of(settings: Settings) -> Embedder | None:
    """What gives vectors; None: no embedding model is set, or no service is."""
    if not (settings.embedding_model and settings.service.base_url):
        return None
    return ServiceEmbedder(settings.service, settings.embedding_model)


class ServiceEmbedder:
    """An embedding model behind a service.

    Args:
        service: Address and key.
        model: The embedding model's name.
    """

    def __init__(self, service: ServiceSettings, model: str) -> None:
        self._service = service
        self._model = model
        self._lock = threading.Lock()
        self._connections: ConnectionPool | None = None
        self._process = 0

    @property
    def model(self) -> str:
        """The model's name, under which vectors are kept."""
        return self._model

    def embed(self, texts: tuple[str, ...], timeout_seconds: float) -> tuple[bytes, ...]:
        """A vector of each text, as 32-bit numbers of length one.

        Raises:
            LMError: The service failed, or did not give a vector for each text.
        """
        sent = [text[:TEXT_CHARACTERS] for text in texts]
        body = {"model": self._model, "input": sent, "encoding_format": "float"}
        try:
            answer = self._ask(body_bytes(body), timeout_seconds)
        except LMAccessError as error:
            self._renew_key(error)
            answer = self._ask(body_bytes(body), timeout_seconds)
        vectors = _vectors(answer)
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            place = Endpoint(self._service.base_url, self._model).place
            raise LMStreamError(
                f"{place} gave {len(vectors)} vectors for {len(texts)} texts.",
                hint=f"Check that {self._model!r} is an embedding model.",
            )
        return vectors

    def _ask(self, body: bytes, timeout_seconds: float) -> str:
        connections = self._opened()
        line = connections.take()
        try:
            text = line.fetch(PATH, body, timeout_seconds=timeout_seconds)
        except Exception as error:  # whatever the SDK raises; a bug of ours stays what it is
            line.abandon()
            service = self._service
            endpoint = Endpoint(service.base_url, self._model, service.api_key)
            raise from_exception(error, endpoint) from error
        connections.give_back(line)
        return text

    def _renew_key(self, error: LMAccessError) -> None:
        with self._lock:
            self._service = renewed(self._service, error)
            if self._connections is not None:
                self._connections.renew(self._service)

    def _opened(self) -> ConnectionPool:
        """Connections that stay open: making one takes as long as looking all vectors through."""
        with self._lock:
            if self._connections is None or self._process != os.getpid():
                self._connections = ConnectionPool(self._service)
                self._process = os.getpid()  # connections are not shared with a fork
                weakref.finalize(self, self._connections.close)
            return self._connections


def _vectors(answer: str) -> tuple[bytes, ...]:
    """The vectors in a reply, in the order of the texts; none: it is another kind of reply."""
    try:
        ordered = sorted(json.loads(answer)["data"], key=lambda item: item["index"])
        return tuple(_unit(item["embedding"]) for item in ordered)
    except (ValueError, KeyError, TypeError):
        return ()


def _unit(numbers: Sequence[float]) -> bytes:
    length = math.sqrt(sum(number * number for number in numbers)) or 1.0
    return array.array("f", (number / length for number in numbers)).tobytes()
