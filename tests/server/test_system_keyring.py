"""A key that is given in the panel lies in the system's keyring, for all that the person starts.

The ``keyring`` package and a backend of others do it; that backend keeps its secrets in a file, so
it works without a screen. The person's environment names it, as it may for anybody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Shell
from fake_service import FakeService, Request, Wire, error, text
from server.live_process import ServerProcess
from tornado.httpclient import HTTPClientError

pytest.importorskip("keyrings.alt.file")
pytestmark = [pytest.mark.server, pytest.mark.timeout(180)]

KEY = "-".join(["sk", "ring", "0123456789abcdef"])
BACKEND = """
import os
from keyring.errors import KeyringLocked
from keyrings.alt.file import PlaintextKeyring


class Headless(PlaintextKeyring):
    priority = 5

    def get_password(self, service, username):
        if os.path.exists(os.environ["KEYRING_IS_LOCKED"]):
            raise KeyringLocked("Failed to unlock the collection!")
        return super().get_password(service, username)
"""


def answer(request: Request) -> Wire:
    if request.headers.get("authorization") != f"Bearer {KEY}":
        return error(401, "Incorrect API key provided.")(request)
    return text("Yes.")(request)


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Somebody whose processes all have this environment."""
    (tmp_path / "headless.py").write_text(BACKEND)
    environ = {
        "CELLWRIGHT_HOME": str(tmp_path / "home"),
        "KEYRING_IS_LOCKED": str(tmp_path / "locked"),
        "PYTHONPATH": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "headless.Headless",
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return Shell(tmp_path)


@pytest.fixture
def server(person: Shell) -> Iterator[ServerProcess]:
    process = ServerProcess(person.folder)
    yield process
    process.kill()


async def test_a_key_of_the_panel_is_in_the_keyring_and_a_locked_one_is_told(
    person: Shell, server: ServerProcess
) -> None:
    server.start()
    await server.up()
    assert (await server.fetch("providers"))["new_key_place"] == "keyring"
    with FakeService(answer) as service:
        change = {"base_url": service.base_url, "model": "theirs", "api_key": KEY}
        state = await server.fetch("service", method="PUT", body=json.dumps(change))
        assert (state["has_key"], state["key_source"]) == (True, "keyring")
        kept = person.folder / "home" / "service.json"
        assert KEY not in kept.read_text()
        assert service.base_url.removesuffix("/v1") in kept.read_text()

        done = person.run_process("run", "Hello", "--mode", "auto", "--json")
        assert done.code == 0, done.err
        assert "in the system's keyring" in person.run_process("doctor").out

        (person.folder / "locked").touch()
        asked = len(service.requests)
        done = person.run_process("run", "Hello", "--mode", "auto", "--json")
        assert done.code != 0
        assert "keyring, which is locked" in done.err
        assert "Traceback" not in done.err
        assert len(service.requests) == asked, "nothing is sent without the key"
        with pytest.raises(HTTPClientError) as refused:
            await server.fetch("service", method="PUT", body=json.dumps(change))
        assert refused.value.response is not None
        assert b"is locked; the key was not kept" in refused.value.response.body
        assert KEY not in kept.read_text()

        (person.folder / "locked").unlink()
        assert person.run_process("run", "Hello", "--mode", "auto").code == 0


@pytest.mark.parametrize(
    "backend", ["keyring.backends.fail.Keyring", "keyring.backends.null.Keyring", ""]
)
async def test_where_no_keyring_runs_the_file_keeps_it(
    backend: str, person: Shell, server: ServerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no backend named, the package finds what is there: no service, a file in plain text."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", backend)
    if not backend:
        monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
        monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    server.start()
    await server.up()
    assert (await server.fetch("providers"))["new_key_place"] == "file"
    with FakeService(answer) as service:
        change = {"base_url": service.base_url, "model": "theirs", "api_key": KEY}
        state = await server.fetch("service", method="PUT", body=json.dumps(change))
        assert state["key_source"] == "file"
        assert person.run_process("run", "Hello", "--mode", "auto").code == 0
