"""Folders of documents, and small web servers that give pages and vectors."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from openai_description import problems

from cellwright.knowledge.library import Document, Hit, IndexingProgress
from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.searching import Scope
from cellwright.stopping import Stop

__all__ = ["Page", "Shelf", "serving", "vector_of", "vectors_like"]

DIMENSION = 32
SAME = {"automobile": "car", "vehicle": "car"}
"""Words that mean the same have the same vector."""


@dataclass
class Shelf:
    """A project's folder and its libraries."""

    folder: Path
    libraries: Libraries

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a document."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def add(self, *places: str, name: str = "", stop: Stop | None = None) -> IndexingProgress:
        """Read places to the end."""
        work = self.libraries.adding(places or (".",), str(self.folder), name)
        return list(work(stop or Stop()))[-1]

    def update(self) -> IndexingProgress:
        """Look at all places again."""
        return list(self.libraries.updating(str(self.folder))(Stop()))[-1]

    def documents(self) -> dict[str, Document]:
        """The documents by name."""
        libraries = self.libraries.above(str(self.folder))
        return {each.name: each for each in self.libraries.documents(libraries)}

    def search(self, query: str, limit: int = 7) -> tuple[Hit, ...]:
        """The best pieces."""
        scope = Scope(self.libraries.above(str(self.folder)))
        return self.libraries.searcher.search(scope, query, limit).hits

    def found(self, query: str) -> list[str]:
        """Names of the documents of the best pieces."""
        return [hit.name for hit in self.search(query)]


@dataclass(frozen=True)
class Page:
    """What a server answers."""

    body: bytes = b""
    mime: str = "text/html"
    status: int = 200
    location: str = ""


@dataclass
class Served:
    """A server and what it was asked."""

    url: str
    asked: list[Any] = field(default_factory=list)
    """Bodies of requests, and paths of those without one."""


@contextmanager
def serving(answer: Callable[[str, Any], Page]) -> Iterator[Served]:
    """A server on this machine that answers paths and bodies with pages."""
    served = Served("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            self._send(answer(self.path, None))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.asked.append(body)
            self._send(answer(self.path, body))

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

        def _send(self, page: Page) -> None:
            self.send_response(page.status)
            self.send_header("Content-Type", page.mime)
            self.send_header("Content-Length", str(len(page.body)))
            if page.location:
                self.send_header("Location", page.location)
            self.end_headers()
            self.wfile.write(page.body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def vectors_like(path: str, body: Any) -> Page:
    """Vectors of texts: those that share words are near each other."""
    assert path == "/v1/embeddings"
    assert problems(path, body) == []
    data = [
        {"object": "embedding", "index": index, "embedding": vector_of(text)}
        for index, text in enumerate(body["input"])
    ]
    answer = {"object": "list", "data": data, "model": body["model"], "usage": {}}
    return Page(json.dumps(answer).encode(), "application/json")


def vector_of(text: str) -> list[float]:
    """How often words are there, in any order."""
    numbers = [0.0] * DIMENSION
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.sha256(SAME.get(word, word).encode()).digest()
        numbers[digest[0] % DIMENSION] += 1.0
    return numbers
