"""MCP's own conformance suite against our client: it plays the server and judges what comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from foreign.servers import BIN

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
    *("http-custom-headers", "http-invalid-tool-headers"),
)
"""Of the newest revision those that go on with a client that greets in the old way first, as all
servers know it."""


@pytest.mark.parametrize("scenario", [*(f"auth/{name}" for name in SIGN_IN), *OTHERS])
def test_the_suite_of_the_protocol_finds_nothing_wrong(scenario: str, tmp_path: Path) -> None:
    if not SUITE.exists():
        pytest.skip("make test-foreign installs the suite")
    command = f"{sys.executable} -m foreign.conformance_client"
    environ = {
        **os.environ,
        "PATH": f"{NODE_BIN}:{os.environ['PATH']}",  # it needs a newer Node than we do
        "PYTHONPATH": str(TESTS),
    }
    done = subprocess.run(
        [str(SUITE), "client", "--command", command, "--scenario", scenario]
        + ["--timeout", str(SECONDS * 1_000)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environ,
        timeout=2 * SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
