"""Files that people put beside their prompts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.httputil import HTTPFile, HTTPInputError, parse_body_arguments

from cellwright.errors import CellwrightError
from cellwright.server.application import Application
from cellwright.server.library_routes import open_library
from cellwright.server.routes import Refusal, Route, RouteTable
from cellwright.server.uploads import FILE_LIMIT_BYTES, StoredFile, TakenFile, TooLargeError

ENVELOPE_BYTES = 64 * 1024
"""Room for what multipart puts around a file."""
HOPELESS_BYTES = 4 * FILE_LIMIT_BYTES
"""Who announces more than this is refused before a byte of it is read."""


@dataclass(frozen=True)
class _Upload:
    data: bytes
    name: str


@web.stream_request_body
class FilesRoute(Route):
    """Takes a file, as the whole body or as the one part of a form.

    The body is taken piece by piece, so that nobody fills the memory of the server.
    """

    guest_methods = ("POST",)

    def initialize(self) -> None:
        """Nothing has come yet."""
        self._received = bytearray()
        self._received_bytes = 0

    # the server's own APIHandler narrows it in the same way
    async def prepare(self) -> None:  # type: ignore[override]
        """Refuse before the body is read."""
        await super().prepare()
        if not self.current_user:
            raise web.HTTPError(403)
        if int(self.request.headers.get("Content-Length") or 0) > HOPELESS_BYTES:
            raise _too_large()

    def data_received(self, chunk: bytes) -> None:
        """Keep a piece; what is too much is read, so that the answer is read too, and dropped."""
        self._received_bytes += len(chunk)
        if self._received_bytes <= FILE_LIMIT_BYTES + ENVELOPE_BYTES:
            self._received += chunk

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Store the file and say what it is named by."""
        if self._received_bytes > len(self._received):
            raise _too_large()
        upload, notebook, assistant = self._upload(), self.word("notebook"), self.word("assistant")
        guest = self.owner if self.is_guest else ""

        def store(shared: Application) -> StoredFile:
            try:
                return shared.uploads.store(upload.data, upload.name, guest)
            except TooLargeError as error:
                raise Refusal(413, error.message, error.hint) from error

        stored = await self.answer(store)
        library = await self._library(stored.name, notebook, assistant)
        self.send(asdict(TakenFile(**asdict(stored), library=library)), 201)

    async def _library(self, name: str, notebook: str, assistant: str) -> str:
        """The library that the file could go into; a library that fails keeps no file away."""

        def offered() -> str:
            with suppress(CellwrightError):
                return open_library(self.shared).offer(name, notebook, assistant)
            return ""

        return "" if self.is_guest else await self.shared.in_thread(offered)

    def _upload(self) -> _Upload:
        content_type = self.request.headers.get("Content-Type", "")
        body = bytes(self._received)
        if not content_type.startswith("multipart/"):
            return _Upload(body, self.word("name"))
        files: dict[str, list[HTTPFile]] = {}
        try:
            parse_body_arguments(content_type, body, {}, files)
        except HTTPInputError:
            raise Refusal(400, "The form of the request cannot be read.") from None
        found = [file for group in files.values() for file in group]
        if len(found) != 1:
            raise Refusal(400, f"The form holds {len(found)} files.", "Send one file at a time.")
        return _Upload(found[0].body, self.word("name") or found[0].filename)


def _too_large() -> Refusal:
    limit = FILE_LIMIT_BYTES // (1024 * 1024)
    return Refusal(
        413,
        f"The file is larger than {limit} MB.",
        "Put it into the folder of the notebook and name it in the prompt instead.",
    )


ROUTES: RouteTable = (("files", FilesRoute),)
