"""Requests to the server of a test: with the token, as a browser with a cookie, as a stranger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any, Literal
from urllib.parse import quote, urlencode

from tornado.httpclient import HTTPResponse

ROOT = "cellwright/v1"
Who = Literal["token", "cookie", "stranger"]


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class FirstRun:
    """What the server answered to the steps of the panel's first run."""

    models: list[str]
    """That the service lists."""
    checks: list[dict[str, Any]]
    chosen: dict[str, str]
    state: dict[str, Any]
    """Once the service is kept."""


@dataclass
class Client:
    """Sends requests to the extension's routes."""

    http: Any
    base_url: str
    token: str
    cookies: dict[str, str] = field(default_factory=dict)
    seconds: float = 30
    """How long an answer may take."""

    async def log_in(self) -> None:
        """Become a browser in which somebody has logged in."""
        response = await self.fetch("GET", f"{self.base_url}login", {})
        self._keep_cookies(response)
        headers = {"Authorization": f"token {self.token}"}
        self._keep_cookies(await self.fetch("GET", f"{self.base_url}api/status", headers))

    async def call(
        self,
        method: str,
        path: str,
        value: Any = None,
        *,
        who: Who = "token",
        **options: Any,
    ) -> Answer:
        """Send a request below the extension's root; ``value`` becomes its JSON body.

        Args:
            method: HTTP method.
            path: Below the root, with its parameters, written as it goes over the wire; one that
                begins with a slash is below the folder of all routes.
            value: Bytes go as they are.
            who: How it is authenticated; a cookie comes without the XSRF header.
            options: ``headers`` to add, ``xsrf`` to send the header that pages send.
        """
        headers = {**self._identity(who), **options.get("headers", {})}
        if options.get("xsrf"):
            headers["X-XSRFToken"] = self.cookies["_xsrf"]
        root = ROOT.partition("/")[0] if path.startswith("/") else f"{ROOT}/"
        url = f"{self.base_url}{root}{path}"
        response = await self.fetch(method, url, headers, _body(method, value))
        content: bytes | None = response.body
        return Answer(response.code, response.headers, content or b"")

    async def first_run(self, base_url: str, api_key: str) -> FirstRun:
        """Ask what the panel asks at first: for models, a test of the service, that it is kept.

        Where the service lists no model, one is typed.
        """
        wanted = {"base_url": base_url, "api_key": api_key}
        models = (await self.call("POST", "models", wanted)).json["models"]
        chosen = {**wanted, "model": models[0] if models else "typed-by-hand"}
        checks = (await self.call("POST", "service/test", {**chosen, "send": True})).json
        state = (await self.call("PUT", "service", chosen)).json
        return FirstRun(models, checks, chosen, state)

    async def fetch(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> HTTPResponse:
        """Send any request."""
        response: HTTPResponse = await self.http.fetch(
            url,
            raise_error=False,
            method=method,
            headers=dict(headers),
            body=body,
            allow_nonstandard_methods=True,
            follow_redirects=False,
            request_timeout=self.seconds,
        )
        return response

    def _identity(self, who: Who) -> dict[str, str]:
        if who == "token":
            return {"Authorization": f"token {self.token}"}
        if who == "cookie":
            pairs = [f"{name}={value}" for name, value in self.cookies.items()]
            return {"Cookie": "; ".join(pairs)}
        return {}

    def _keep_cookies(self, response: HTTPResponse) -> None:
        for line in response.headers.get_list("Set-Cookie"):
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.coded_value


def _body(method: str, value: Any) -> bytes | None:
    if value is None:
        return b"" if method in ("POST", "PUT", "PATCH") else None
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def with_parameters(path: str, **parameters: str) -> str:
    """A path with its parameters, encoded."""
    return f"{path}?{urlencode(parameters, quote_via=quote)}"
