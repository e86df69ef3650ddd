"""Vectors of texts from any OpenAI-compatible service."""

from __future__ import annotations

import array
import math
import os
import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cellwright.errors import LMStreamError
from cellwright.llm.faults import Endpoint, from_exception
from cellwright.settings import ServiceSettings, Settings

if TYPE_CHECKING:
    import openai

PLACEHOLDER_KEY = "none"
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
        self._client: openai.OpenAI | None = None
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
        service = self._service
        endpoint = Endpoint(service.base_url, self._model, service.api_key)
        sent = [text[:TEXT_CHARACTERS] for text in texts]
        try:
            answer = self._opened().embeddings.create(
                model=self._model, input=sent, encoding_format="float", timeout=timeout_seconds
            )
            ordered = sorted(answer.data, key=lambda item: item.index)
            vectors = tuple(_unit(item.embedding) for item in ordered)
        except Exception as error:  # whatever the SDK raises; a bug of ours stays what it is
            raise from_exception(error, endpoint) from error
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise LMStreamError(
                f"{endpoint.place} gave {len(vectors)} vectors for {len(texts)} texts.",
                hint=f"Check that {self._model!r} is an embedding model.",
            )
        return vectors

    def _opened(self) -> openai.OpenAI:
        """The service's client; making one takes as long as looking all vectors through."""
        import openai

        with self._lock:
            if self._client is None or self._process != os.getpid():
                self._client = openai.OpenAI(
                    base_url=self._service.base_url,
                    api_key=self._service.api_key or PLACEHOLDER_KEY,
                    max_retries=0,
                )
                self._process = os.getpid()  # connections are not shared with a fork
                weakref.finalize(self, self._client.close)
            return self._client


def _unit(numbers: Sequence[float]) -> bytes:
    length = math.sqrt(sum(number * number for number in numbers)) or 1.0
    return array.array("f", (number / length for number in numbers)).tobytes()
