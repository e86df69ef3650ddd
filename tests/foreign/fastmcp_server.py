"""FastMCP's server behind its own OAuth provider: ``python fastmcp_server.py PORT``."""

import sys

# it is in .venv-foreign alone
from fastmcp import FastMCP  # type: ignore[import-not-found]
from fastmcp.server.auth.auth import (  # type: ignore[import-not-found]
    ClientRegistrationOptions,
    RevocationOptions,
)
from fastmcp.server.auth.providers.in_memory import (  # type: ignore[import-not-found]
    InMemoryOAuthProvider,
)

port = int(sys.argv[1])
auth = InMemoryOAuthProvider(
    base_url=f"http://127.0.0.1:{port}",
    client_registration_options=ClientRegistrationOptions(
        enabled=True, valid_scopes=["read"], default_scopes=["read"]
    ),
    revocation_options=RevocationOptions(enabled=True),
    required_scopes=["read"],
)
server = FastMCP("theirs", auth=auth)


@server.tool
def double(n: int) -> int:
    """Twice the number."""
    return 2 * n


@server.tool
def withdraw(refresh: bool) -> str:
    """Forget access tokens, and refresh tokens."""
    auth.access_tokens.clear()
    if refresh:
        auth.refresh_tokens.clear()
    return "withdrawn"


server.run(transport="http", host="127.0.0.1", port=port, show_banner=False)
