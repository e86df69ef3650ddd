"""Sign-in at an MCP server over HTTP: OAuth as the SDK does it, with tokens that are kept.

A run signs nobody in. It sends the token that is kept, has it renewed when it has run out, and
otherwise says that the user has to sign in. ``sign_in`` is what the user asks for by name; the
page of the service is opened by them, from an address that is shown with its host.

What this does not protect against: the MCP server names the service that people sign in to, and
a page can look like another one. Look at its host before you type a password.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
from mcp.client.auth import (
    AuthorizationCodeResult,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthRegistrationError,
    OAuthTokenError,
)
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    extract_field_from_www_auth,
    union_scopes,
    validate_authorization_response_iss,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from cellwright.errors import CellwrightError, SignInNeededError, ToolError
from cellwright.external import Definition
from cellwright.external.web import FOR_SIGN_IN, Reach, check_secrecy, is_loopback, origin_of
from cellwright.llm.keys import SignIns
from cellwright.stopping import WorkerThread

# What the SDK would log of a sign-in that fails holds answers of the service.
logging.getLogger("mcp.client.auth").addHandler(logging.NullHandler())
logging.getLogger("mcp.client.auth").propagate = False

BASIC: Literal["client_secret_basic"] = "client_secret_basic"
POST: Literal["client_secret_post"] = "client_secret_post"
"""How a client with a secret says who it is: every service takes the first, unless it says so."""
LANDING_PATH = "/callback"
PERSON_SECONDS = 300.0
"""How long a user may take to sign in."""
PROBE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
"""Begins nothing, whatever the server makes of it."""
ACCEPTED = {"Accept": "application/json, text/event-stream"}
LONG_AGO = 1.0
"""As a token's end: 0 would mean that it has none."""
ERROR_CODE = re.compile(r'"error"\s*:\s*"(?P<code>[a-z_]{1,40})"')
STATUS = re.compile(r"\b(?P<code>[45]\d\d)\b")
T = TypeVar("T", bound=BaseModel)
NOBODY_CAME = f"Nobody came back from the sign-in page within {PERSON_SECONDS / 60:g} minutes."


class SignInRedirect:
    """Where the service sends the user back to, and what it says there.

    Args:
        uri: An address that the user's browser reaches.
        show: Told the address of the sign-in page; the user opens it.
    """

    def __init__(self, uri: str, show: Callable[[str], None]) -> None:
        self.uri = uri
        self._show = show
        self._state = ""
        self._answer: Future[Mapping[str, str]] = Future()

    async def show(self, url: str) -> None:
        """Show the address of the sign-in page."""
        self._state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._show(url)

    def deliver(self, parameters: Mapping[str, str]) -> bool:
        """Hand over what stood in the address that the user came back with.

        Returns:
            Whether it belongs to this sign-in.
        """
        given = parameters.get("state", "")
        if not (self._state and secrets.compare_digest(given.encode(), self._state.encode())):
            return False
        if not self._answer.done():
            self._answer.set_result(dict(parameters))
        return True

    async def answer(self) -> Mapping[str, str]:
        """Wait for the user to come back; what stood in the address.

        Raises:
            ToolError: They did not.
        """
        try:
            return await asyncio.wait_for(asyncio.wrap_future(self._answer), PERSON_SECONDS)
        except TimeoutError:
            raise ToolError(NOBODY_CAME, hint="Sign in again.") from None


class KeptTokens(OAuthClientProvider):
    """The SDK's OAuth client over tokens that all processes of the user share.

    Args:
        definition: The server.
        sign_ins: Where its tokens are kept.
        redirect: For a sign-in; None: a run sends what is kept.
        client_secret: Of the client that the definition names; empty: it has none.
    """

    def __init__(
        self,
        definition: Definition,
        sign_ins: SignIns,
        redirect: SignInRedirect | None = None,
        client_secret: str = "",
    ) -> None:
        given = definition.client_id
        back = redirect.uri if redirect is not None else "http://127.0.0.1/unused"
        super().__init__(
            definition.url,
            OAuthClientMetadata(
                client_name="cellwright",
                redirect_uris=[AnyUrl(back)],
                token_endpoint_auth_method="none",
                application_type="native" if is_loopback(back) else "web",
            ),
            self,
            self._show_page,
            self._wait_for_code,
            client_metadata_url=given if given.startswith("https://") else None,
        )
        self._url = definition.url
        self._is_local = definition.is_local
        self._sign_ins = sign_ins
        self._redirect = redirect
        self._is_challenged = False
        self._kept: Mapping[str, Any] = {}
        if given and self.context.client_metadata_url is None and redirect is not None:
            self.context.client_info = OAuthClientInformationFull(
                client_id=given,
                client_secret=client_secret or None,
                token_endpoint_auth_method=BASIC if client_secret else "none",
                redirect_uris=[AnyUrl(back)],
            )

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with its token; where that is refused, once more with a newer one."""
        for _ in range(2):
            if self._redirect is None:
                await self._restore()
            flow = super().async_auth_flow(request)
            try:
                sent = await anext(flow)
                while True:
                    if sent is not request:
                        sent.extensions[FOR_SIGN_IN] = True
                    response = yield sent
                    if sent is request and self._redirect is None:
                        break  # the SDK would begin a sign-in if it saw a refusal
                    sent = await flow.asend(self._challenge(response, sent is request))
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()
            if not await self._may_retry(response):
                return
        # What fails now may be renewed later, and the SDK has forgotten what it had.
        self._kept = {}

    async def _may_retry(self, response: httpx2.Response) -> bool:
        """Whether a refused request may be taken with another token."""
        if response.status_code == 403:
            await self._note_scope(response)
        if response.status_code != 401:
            return False
        if await self._restore():
            return True  # another process has renewed the token
        if not self.context.can_refresh_token():
            return False
        self.context.token_expiry_time = LONG_AGO
        return True

    async def _note_scope(self, response: httpx2.Response) -> None:
        """Keep what the server wants a sign-in to allow, for the next one."""
        scope = extract_field_from_www_auth(response, "scope")
        if scope and extract_field_from_www_auth(response, "error") == "insufficient_scope":
            tokens = self._kept.get("tokens") or {}
            given = {**self._kept, "scope": union_scopes(tokens.get("scope"), scope)}
            await asyncio.to_thread(self._sign_ins.save, self._url, given)

    def _challenge(self, response: httpx2.Response, is_of_server: bool) -> httpx2.Response:
        """The refusal that begins a sign-in, whatever the server said to the probe."""
        if not is_of_server or self._is_challenged:
            return response
        self._is_challenged = True
        scope = self._sign_ins.load(self._url).get("scope")
        header = response.headers.get("www-authenticate", "") if response.is_error else ""
        if scope:
            # The first of two scopes is the one that counts.
            header = f'Bearer scope="{scope}", {header.removeprefix("Bearer ")}'
        return httpx2.Response(401, headers={"WWW-Authenticate": header}, request=response.request)

    async def _restore(self) -> bool:
        """Take over what is kept now; whether that is something else than before."""
        kept = await asyncio.to_thread(self._sign_ins.load, self._url)
        if kept == self._kept:
            return False
        context = self.context
        try:
            context.current_tokens = _read(OAuthToken, kept.get("tokens"))
            context.client_info = _read(OAuthClientInformationFull, kept.get("client"))
            context.oauth_metadata = _read(OAuthMetadata, kept.get("server"))
            resource = _read(ProtectedResourceMetadata, kept.get("resource"))
            context.protected_resource_metadata = resource
        except ValidationError:
            context.clear_tokens()
        context.token_expiry_time = kept.get("expires_at")
        self._kept = kept
        return True

    async def _show_page(self, url: str) -> None:
        """Show the page to sign in, unless what comes back from it could be stolen on its way."""
        assert self._redirect is not None
        check_secrecy(origin_of(url), True, Reach(self._is_local))
        server = self.context.oauth_metadata
        if server is not None and "S256" not in (server.code_challenge_methods_supported or ()):
            raise OAuthFlowError("its service does not say that it supports PKCE with S256")
        client = self.context.client_info
        if server is not None and client is not None and client.client_secret:
            ways = server.token_endpoint_auth_methods_supported or (BASIC,)
            if BASIC not in ways and POST in ways:
                client.token_endpoint_auth_method = POST
        await self._redirect.show(url)

    async def _wait_for_code(self) -> AuthorizationCodeResult:
        """Wait for the user to come back with a code.

        Nothing of an answer counts, not even why it refuses, before it is the right service's.
        """
        assert self._redirect is not None
        said = await self._redirect.answer()
        validate_authorization_response_iss(said.get("iss"), self.context.oauth_metadata)
        if "code" not in said:
            why = " ".join(filter(None, (said.get("error"), said.get("error_description"))))
            raise ToolError(f"The service refused the sign-in: {why[:300] or 'no code came'}.")
        return AuthorizationCodeResult(
            code=said["code"], state=said.get("state"), iss=said.get("iss")
        )

    async def revoke(self, client: httpx2.AsyncClient) -> None:
        """Let the service forget the tokens, where it has an address for that."""
        await self._restore()
        context = self.context
        server, tokens = context.oauth_metadata, context.current_tokens
        client_info = context.client_info
        if not (server and server.revocation_endpoint and tokens and client_info):
            return
        for token in filter(None, (tokens.refresh_token, tokens.access_token)):
            # The SDK's server wants a secret to be there; RFC 6749 lets it be empty.
            data = {"token": token, "client_id": client_info.client_id, "client_secret": ""}
            data, headers = context.prepare_token_auth(data, {})
            address, mark = str(server.revocation_endpoint), {FOR_SIGN_IN: True}
            await client.post(
                address, data=data, headers=headers, auth=httpx2.Auth(), extensions=mark
            )

    # The SDK's storage.

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens; they were taken over from the store before."""
        return self.context.current_tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep them, with all that renewing them takes."""
        context = self.context
        given = {
            "tokens": _dump(tokens),
            "expires_at": context.token_expiry_time,
            "client": _dump(context.client_info),
            "server": _dump(context.oauth_metadata),
            "resource": _dump(context.protected_resource_metadata),
        }
        await asyncio.to_thread(self._sign_ins.save, self._url, given)
        self._kept = given

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """What the service knows us by."""
        return self.context.client_info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Kept with the tokens: a sign-in that fails leaves the one before as it was."""


async def find_sign_in(client: httpx2.AsyncClient, url: str) -> bool:
    """Whether a server has metadata of a sign-in where a client is to look for it."""
    for address in (
        *build_protected_resource_metadata_discovery_urls(None, url),
        *build_oauth_authorization_server_metadata_discovery_urls(None, url),
    ):
        try:
            answer = await client.get(address, auth=None)
            found = answer.json() if answer.status_code == httpx2.codes.OK else {}
        except (httpx2.HTTPError, ValueError):
            continue
        if isinstance(found, dict) and {"authorization_servers", "authorization_endpoint"} & set(
            found
        ):
            return True
    return False


async def sign_in(client: httpx2.AsyncClient, definition: Definition) -> None:
    """Have the user sign in; the client's ``auth`` knows the way.

    Raises:
        ToolError: They did not, or the service does not allow it.
    """
    name = definition.name
    try:
        async with client.stream("POST", definition.url, json=PROBE, headers=ACCEPTED) as answer:
            status = answer.status_code
    except CellwrightError:
        raise
    except OAuthRegistrationError as error:
        raise ToolError(
            f"The sign-in of {name!r} does not let cellwright register itself{_code(error)}.",
            hint="Register it on the service's pages and name the id you get: --client-id ID.",
        ) from None
    except OAuthTokenError as error:
        raise ToolError(f"The sign-in of {name!r} gave no token{_code(error)}.") from None
    except OAuthFlowError as error:
        raise ToolError(f"Signing in to {name!r} failed: {str(error)[:300]}.") from None
    except httpx2.HTTPError as error:
        raise ToolError(f"The sign-in of {name!r} cannot be reached: {error}.") from None
    except (ValueError, ValidationError) as error:
        # its text would quote what the service sent, tokens among it
        kind = type(error).__name__
        raise ToolError(f"The sign-in of {name!r} cannot be understood ({kind}).") from None
    if status in (401, 403):
        raise SignInNeededError(f"The server {name!r} refuses the token of its own sign-in.")


# A browser on this machine.


SIGNED_IN = "You can close this page and go back to cellwright."
NOT_OURS = "This sign-in is none that cellwright waits for."


def landing_page(parameters: Mapping[str, str], *, is_ours: bool) -> str:
    """The page that the user comes back to; it repeats nothing of the address."""
    words = SIGNED_IN if is_ours else NOT_OURS
    if is_ours and "code" not in parameters:
        words = "The service refused the sign-in. You can close this page."
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>cellwright</title>"
        f"<p style='font: 1rem system-ui; margin: 3rem'>{words}</p></html>"
    )


class _LandingServer(ThreadingHTTPServer):
    redirect: SignInRedirect


class _LandingHandler(BaseHTTPRequestHandler):
    server: _LandingServer

    def do_GET(self) -> None:
        given = dict(parse_qsl(urlsplit(self.path).query))
        is_ours = urlsplit(self.path).path == LANDING_PATH and self.server.redirect.deliver(given)
        page = landing_page(given, is_ours=is_ours).encode()
        self.send_response(200 if is_ours else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        """Nothing: the address holds the code."""


@contextmanager
def open_loopback(show: Callable[[str], None]) -> Iterator[SignInRedirect]:
    """Wait on this machine alone for the user to come back from the sign-in page.

    Args:
        show: Told the address of that page.
    """
    with _LandingServer(("127.0.0.1", 0), _LandingHandler) as server:
        redirect = SignInRedirect(f"http://127.0.0.1:{server.server_port}{LANDING_PATH}", show)
        server.redirect = redirect
        thread = WorkerThread(server.serve_forever, name="sign-in")
        thread.start()
        try:
            yield redirect
        finally:
            server.shutdown()
            thread.join()


def _code(error: Exception) -> str:
    """The error's code, as the protocol names it: the rest may quote what was sent."""
    found = ERROR_CODE.search(str(error)) or STATUS.search(str(error))
    return f" ({found['code']})" if found else ""


def _dump(value: BaseModel | None) -> dict[str, Any] | None:
    return value.model_dump(mode="json", exclude_none=True) if value is not None else None


def _read(kind: type[T], given: Any) -> T | None:
    return kind.model_validate(given) if given else None
