"""MCP's own conformance suite: it plays the server to our client, and the client to our server."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from foreign.servers import BIN
from nbformat.v4 import new_notebook
from server.live_process import TOKEN, ServerProcess

NODE_BIN = BIN.parent / "node_modules" / ".bin"
SUITE = NODE_BIN / "conformance"
TESTS = Path(__file__).parents[1]
SECONDS = 120
SIGN_IN = (
    *("2025-03-26-oauth-metadata-backcompat", "authorization-server-migration", "basic-cimd"),
    *("iss-normalized", "iss-not-advertised", "iss-supported", "iss-supported-missing"),
    *("iss-unexpected", "iss-wrong-issuer", "metadata-default", "metadata-issuer-mismatch"),
    *("metadata-var1", "metadata-var2", "metadata-var3", "offline-access-not-supported"),
    *("offline-access-scope", "pre-registration", "resource-mismatch"),
    *("scope-from-scopes-supported", "scope-from-www-authenticate"),
    *("scope-omitted-when-undefined", "scope-retry-limit", "scope-step-up"),
    *("token-endpoint-auth-basic", "token-endpoint-auth-none", "token-endpoint-auth-post"),
)
"""All of revision 2026-07-28 and those before; not that of servers without any metadata, which
revision 2025-06-18 took out, and not the extensions."""
OTHERS = (
    *("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"),
    *("http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref"),
    "sep-2322-client-request-state",
)
"""Of the newest revision those that go on with a client that greets in the old way first, as all
servers know it."""

ASKED = (
    *("server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list"),
    *("server-sse-multiple-streams", "dns-rebinding-protection"),
)
"""What asks for no tool or prompt that only a server made for the suite has. Without
``http-header-validation``, which loses the token of the address; with none it passed."""


def run_suite(folder: Path, *words: str) -> None:
    if not SUITE.exists():
        pytest.skip("make test-foreign installs the suite")
    environ = {
        **os.environ,
        "PATH": f"{NODE_BIN}:{os.environ['PATH']}",  # it needs a newer Node than we do
        "PYTHONPATH": str(TESTS),
    }
    done = subprocess.run(
        [str(SUITE), *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environ,
        timeout=2 * SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("scenario", [*(f"auth/{name}" for name in SIGN_IN), *OTHERS])
def test_it_finds_nothing_wrong_with_our_client(scenario: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m foreign.conformance_client"
    limit = str(SECONDS * 1_000)
    run_suite(tmp_path, "client", "--command", command, "--scenario", scenario, "--timeout", limit)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of the MCP server beside a notebook."""
    folder = tmp_path_factory.mktemp("served")
    nbformat.write(new_notebook(), folder / "work.ipynb")
    server = ServerProcess(folder)
    server.start()
    asyncio.run(server.up())
    yield f"http://{server.address[:-1]}2/mcp?notebook=work.ipynb&mode=plan&token={TOKEN}"
    server.kill()


@pytest.mark.parametrize("scenario", ASKED)
def test_it_finds_nothing_wrong_with_our_server(
    scenario: str, address: str, tmp_path: Path
) -> None:
    run_suite(tmp_path, "server", "--url", address, "--scenario", scenario)
