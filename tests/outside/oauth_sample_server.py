"""An MCP server behind OAuth for tests: the SDK's authorization and resource server, in memory.

``python oauth_sample_server.py PORT [deny] [closed] [impostor] [bare] [post]``: ``deny`` refuses
each sign-in, ``closed`` registers nobody, ``impostor`` sends people back as another service,
``bare`` does not say that it supports PKCE, ``post`` takes secrets in forms alone. It knows one
client, ``known``, by a secret. The resource is at ``127.0.0.1``, the authorization server at
``localhost``: two hosts.
"""

from __future__ import annotations

import secrets
import sys
import time
from typing import Any

from mcp.server.auth import routes
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, AuthorizationCode, AuthorizeError, RefreshToken
from mcp.server.auth.provider import construct_redirect_uri as redirected
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl

LIFE_SECONDS = 3600
KNOWN_SECRET = "7f3b0c52-a9e1-4d68-b1f0-2c64e0d19a55"


class KnownClient(OAuthClientInformationFull):
    """One that was registered on the pages of the service, with a loopback address."""

    def validate_redirect_uri(self, redirect_uri: Any) -> Any:
        return redirect_uri  # its port counts for nothing, as RFC 8252 has it


class Provider:
    """The SDK's ``OAuthAuthorizationServerProvider``; a user always agrees, or never does."""

    def __init__(
        self, *, denies: bool, poses_as: str = "", way: str = "client_secret_basic"
    ) -> None:
        self.denies = denies
        self.poses_as = poses_as
        self.clients: dict[str, OAuthClientInformationFull] = {
            "known": KnownClient(
                client_id="known",
                client_secret=KNOWN_SECRET,
                redirect_uris=None,
                scope="look",
                token_endpoint_auth_method=way,
            )
        }
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.renewals = 0
        self.life_seconds = LIFE_SECONDS

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: Any) -> str:
        if self.poses_as:
            said = {"error": "access_denied", "error_description": "Call 555-0100."}
            return redirected(
                str(params.redirect_uri), **said, state=params.state, iss=self.poses_as
            )
        if self.denies:
            raise AuthorizeError("access_denied", "Not today.")
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or ["look"],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return redirected(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client: Any, authorization_code: str) -> Any:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: Any) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self.tokens(client.client_id, authorization_code.scopes)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: Any, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]  # used once, as OAuth 2.1 wants it
        self.renewals += 1
        return self.tokens(client.client_id, scopes or refresh_token.scopes)

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = self.access.get(token)
        return found if found and (found.expires_at or 0) > time.time() else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def tokens(self, client: str, scopes: list[str]) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        until = int(time.time()) + self.life_seconds
        self.access[access] = AccessToken(
            token=access, client_id=client, scopes=scopes, expires_at=until
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client, scopes=scopes)
        return OAuthToken(
            access_token=access,
            expires_in=self.life_seconds,
            refresh_token=refresh,
            scope=" ".join(scopes),
        )


def make(port: int, options: list[str]) -> Any:
    """The server; ``options`` are words of the command line."""
    poses_as = "https://else.example" if "impostor" in options else ""
    way = "client_secret_post" if "post" in options else "client_secret_basic"
    provider: Any = Provider(denies="deny" in options, poses_as=poses_as, way=way)
    registration = ClientRegistrationOptions(enabled="closed" not in options)
    server = MCPServer(
        "guarded",
        auth_server_provider=provider,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(f"http://localhost:{port}"),
            client_registration_options=registration,
            revocation_options=RevocationOptions(enabled=True),
            required_scopes=["look"],
            resource_server_url=AnyHttpUrl(f"http://127.0.0.1:{port}/mcp"),
            validate_token_resource=False,
        ),
    )

    @server.tool(structured_output=False)
    def token() -> str:
        """What the request was sent with, as no server should tell it."""
        found = get_access_token()
        return f"{found.token} of {len(provider.access)}" if found else "none"

    @server.tool(structured_output=False)
    def withdraw(refresh: bool = False) -> str:
        """Forget all access tokens; and refresh tokens."""
        provider.access.clear()
        if refresh:
            provider.refresh.clear()
        return "withdrawn"

    @server.tool(structured_output=False)
    def renewals() -> str:
        """How often a token was renewed."""
        return f"{provider.renewals} of {len(provider.clients)} clients"

    return server


def alter_metadata(**changes: Any) -> None:
    """Let the SDK's authorization server say something else of itself."""
    build = routes.build_metadata
    routes.build_metadata = lambda *given, **more: build(*given, **more).model_copy(update=changes)


def main() -> None:
    import uvicorn

    port = int(sys.argv[1])
    if "bare" in sys.argv:
        alter_metadata(code_challenge_methods_supported=None)
    if "post" in sys.argv:
        alter_metadata(token_endpoint_auth_methods_supported=["client_secret_post"])
    app = make(port, sys.argv[2:]).streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    main()
