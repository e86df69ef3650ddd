"""Signing in to an MCP server of others: FastMCP with its own OAuth provider."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import find_free_port
from foreign.servers import BIN
from outside.test_mcp_servers import wait_for_port
from outside.test_mcp_sign_in import Browser, call, person, say

from cellwright.errors import SetupError, SignInNeededError
from cellwright.external.commands import sign_in, sign_out
from cellwright.llm.keys import SignIns

PYTHON = BIN / "python"
SCRIPT = Path(__file__).with_name("fastmcp_server.py")


@pytest.fixture
def address() -> Iterator[str]:
    known = subprocess.run([PYTHON, "-c", "import fastmcp"], capture_output=True, check=False)
    if known.returncode:
        pytest.skip("make test-foreign installs the server")
    port = find_free_port()
    with subprocess.Popen([PYTHON, SCRIPT, str(port)]) as process:
        try:
            wait_for_port(port, process)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def test_a_server_of_others_is_signed_in_to_renewed_and_signed_out_of(
    tmp_path: Path, address: str
) -> None:
    browser = Browser()
    with person(tmp_path) as tools:
        assert "✗" in say(tools, "connect", "desk", address, "--local")[1]
        assert "desk__double" in "\n".join(sign_in("desk", tools, browser))
        assert call(tools, "double", n=21) == "42"
        first = SignIns(tmp_path).load(address)["tokens"]
        call(tools, "withdraw", refresh=False)
        assert call(tools, "double", n=4) == "8"
        second = SignIns(tmp_path).load(address)["tokens"]
        assert first["refresh_token"] != second["refresh_token"]
        call(tools, "withdraw", refresh=True)
        with pytest.raises(SignInNeededError, match="run out or was withdrawn"):
            call(tools, "double", n=1)
        sign_in("desk", tools, browser)
        sign_out("desk", tools)
        with pytest.raises(SetupError, match="Nobody has signed in"):
            say(tools, "refresh", "desk")
    browser.close()
