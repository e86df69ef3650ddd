"""What every REST route shares: who may ask, how a body is read, how an error is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from http.client import responses
from typing import Any, TypeVar, cast

from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import APIHandler
from tornado import web

from cellwright.errors import CellwrightError, KernelError, LMError, StoreError
from cellwright.record.values import read_json
from cellwright.server.application import (
    STOPPING_STATUS,
    Application,
    check_run,
    open_chat,
)
from cellwright.server.frames import RefusedError
from cellwright.server.table import SETTING
from cellwright.store.chat_rows import Chat, guest_owner, is_guest
from cellwright.store.process_claims import ChatBusyError

T = TypeVar("T")
RouteTable = tuple[tuple[str, type["Route"]], ...]
ROUTE_ID = r"([A-Za-z0-9_.-]{1,128})"
NO_JSON_HINT = "Send UTF-8 with whole characters, and numbers of 64 bits at most."
BODY_LIMIT_BYTES = 1024 * 1024
TEXT_LIMIT_CHARACTERS = 8_192
REFUSAL_STATUS = {"not_found": 404, "no_run": 404, "busy": 409, "running": 409}
RANDOM_USER = re.compile(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}")
TYPE_WORDS: Mapping[Any, str] = {
    str: "text",
    dict: "an object",
    list: "a list",
    list | None: "a list or null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    float | None: "a number or null",
}


class Refusal(web.HTTPError):
    """An answer that is an error, in words for the person.

    Args:
        status: HTTP status.
        message: What happened.
        hint: What to do next.
        code: A short name for programs.
    """

    def __init__(self, status: int, message: str, hint: str = "", code: str = "") -> None:
        super().__init__(status)
        self.message = message
        self.hint = hint
        self.code = code
        self.details: Mapping[str, Any] = {}
        """More of the answer, for programs."""


def owner_of(user: Any, owners: Sequence[str] = ()) -> str:
    """The name that a person's chats are kept under; empty: everybody here shares one token.

    Without accounts the server makes up a name for every browser, and another one for it later.

    Args:
        user: As the server knows them.
        owners: Names or patterns of those whose server it is, all others are guests; empty: nobody
            is.
    """
    name = str(getattr(user, "username", "") or "")
    if owners and not any(fnmatchcase(name, owner) for owner in owners):
        return guest_owner(name)
    return "" if RANDOM_USER.fullmatch(name) else name


class Route(APIHandler):
    """A route of ours, whose use an administrator can allow or refuse under one name."""

    auth_resource = "cellwright"
    needs_enabled = True
    guest_methods: tuple[str, ...] = ()
    """What a guest may ask here; nothing unless a route says so."""
    slow_methods: tuple[str, ...] = ()
    """What waits for kernels, services or copies; other requests do not wait for its threads."""

    @property
    def shared(self) -> Application:
        """What all routes share."""
        return cast("Application", self.settings[SETTING])

    @property
    def owner(self) -> str:
        """The name that this person's chats are kept under."""
        return owner_of(self.current_user, self.shared.configuration.people)

    @property
    def is_guest(self) -> bool:
        """Whether this is not the person whose record this is."""
        return is_guest(self.owner)

    # the server's own APIHandler narrows it in the same way
    async def prepare(self) -> None:  # type: ignore[override]
        """Refuse what came from another site, and everything where cellwright is switched off."""
        await super().prepare()
        if self._finished or not self.current_user:
            return
        if self._is_from_elsewhere():
            raise Refusal(403, "This request came from another site.", code="cross_site")
        if self.needs_enabled and not self.shared.configuration.is_enabled:
            raise Refusal(403, "cellwright is switched off on this server.", code="disabled")
        if self.request.method not in self.guest_methods and self.is_guest:
            raise Refusal(403, "Guests of this server may not do this.", code="guest")

    async def answer(self, work: Callable[[Application], T]) -> T:
        """What ``work`` returns, done in a thread; our own errors become answers.

        Raises:
            Refusal: It could not be done.
        """
        shared = self.shared

        def worked() -> T:
            try:
                return work(shared)
            except CellwrightError as error:
                raise _refusal(error, shared) from error

        is_slow = self.request.method in self.slow_methods
        return await shared.in_thread(worked, is_slow=is_slow)

    def fields(self, **types: Any) -> dict[str, Any]:
        """The fields of the JSON body, each of its type; all may be missing.

        Raises:
            Refusal: The body is not an object of such fields; all that is wrong is named.
        """
        body = self._object()
        wrong = [f"{name!r} is not known" for name in body if name not in types]
        wrong += [
            f"{name!r} is not {TYPE_WORDS[types[name]]}"
            for name, value in body.items()
            if name in types and not _is_a(value, types[name])
        ]
        wrong += [
            f"{name!r} is too long"
            for name, value in body.items()
            if isinstance(value, str) and len(value) > TEXT_LIMIT_CHARACTERS
        ]
        if wrong:
            known = ", ".join(types)
            raise Refusal(
                400, f"The request cannot be used: {'; '.join(wrong)}.", f"Known: {known}."
            )
        return body

    def word(self, name: str) -> str:
        """A parameter of the address; empty: it is not there.

        Raises:
            Refusal: It is too long.
        """
        value = self.get_query_argument(name, "") or ""
        if len(value) > TEXT_LIMIT_CHARACTERS:
            raise Refusal(400, f"The parameter {name!r} is too long.")
        return value

    def chat(self, shared: Application, chat_id: str) -> Chat:
        """A chat that this person may see; for use in the work of ``answer``.

        Raises:
            RefusedError: There is none.
        """
        return open_chat(shared, self.owner, chat_id)

    def check_run(self, shared: Application, run_id: str, *, may_be_gone: bool = False) -> None:
        """Return if this person may see a run; for use in the work of ``answer``.

        Raises:
            RefusedError: There is no such run for them.
        """
        check_run(shared, self.owner, run_id, may_be_gone=may_be_gone)

    async def check_kernels(self) -> None:
        """Return if this person may run code in the server's kernels.

        Raises:
            Refusal: They may not.
        """
        user = self.current_user
        if not await ensure_async(self.authorizer.is_authorized(self, user, "execute", "kernels")):
            raise Refusal(403, "You may not run code in kernels on this server.")

    def send_file(self, text: str, name: str, mime: str) -> None:
        """Answer with a file that the browser saves and does not show."""
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_attachment_header(name)
        self.finish(text, set_content_type=mime)

    def send(self, value: Any, status: int = 200) -> None:
        """Answer with JSON."""
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.finish(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Tell an error in two sentences; nothing of the request is repeated in the log."""
        error = (kwargs.get("exc_info") or (None, None, None))[1]
        if isinstance(error, Refusal):
            reply: dict[str, Any] = {"message": error.message, "hint": error.hint}
            reply |= {"code": error.code} if error.code else {}
            reply |= error.details
        elif status_code == STOPPING_STATUS:
            reply = {"message": "The server is stopping.", "hint": "Ask when it is back."}
        elif status_code >= 500:
            hint = "The log of the server says more."
            reply = {"message": "Something went wrong in cellwright.", "hint": hint}
        else:
            reply = {"message": responses.get(status_code, "Unknown error"), "hint": ""}
        self.finish(json.dumps(reply))

    def _log(self) -> None:
        """Tell the server's log; not of what an ordinary stop could no longer answer."""
        if not (self.shared.is_stopping and self.get_status() in (409, STOPPING_STATUS)):
            super()._log()

    def _object(self) -> dict[str, Any]:
        body = self.request.body
        if len(body) > BODY_LIMIT_BYTES:
            raise Refusal(413, "The request is too large.")
        try:
            value = read_json(body) if body.strip() else {}
        except ValueError:
            # The body may hold a key, so nothing of it is told or logged.
            raise Refusal(
                400, "The body of the request is not JSON that can be used.", NO_JSON_HINT
            ) from None
        if not isinstance(value, dict):
            raise Refusal(400, "The body of the request is not an object.")
        return value

    def _is_from_elsewhere(self) -> bool:
        """Whether a page of another site had this asked with the person's cookie.

        Where the browser sends an Origin the server has looked at it already.
        """
        headers = self.request.headers
        if self.token_authenticated or "Origin" in headers:
            return False
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return True
        return "Referer" in headers and not self.check_referer()


def _is_a(value: Any, wanted: Any) -> bool:
    # JSON writes 1.0 as 1; and to Python true is a number.
    is_number = wanted in (float, float | None)
    return isinstance(value, int | wanted if is_number else wanted) and (
        wanted is bool or not isinstance(value, bool)
    )


def _refusal(error: CellwrightError, shared: Application) -> Refusal:
    redactor = shared.redactor()
    message, hint = redactor.text(error.message), redactor.text(error.hint)
    if shared.is_stopping and isinstance(error, (KernelError, StoreError)):
        return Refusal(STOPPING_STATUS, message, hint)
    code = type(error).__name__ if isinstance(error, LMError) else ""
    return Refusal(_status(error), message, hint, code)


def _status(error: CellwrightError) -> int:
    if isinstance(error, RefusedError):
        return REFUSAL_STATUS.get(error.code, 400)
    is_conflict = isinstance(error, (KernelError, LMError, StoreError, ChatBusyError))
    return 409 if is_conflict else 400
