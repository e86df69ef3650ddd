"""The ground the other tests stand on."""

from __future__ import annotations

import os
import socket
import urllib.request
from pathlib import Path

import pytest
from IPython.paths import get_ipython_dir
from jupyter_core.paths import jupyter_config_dir, jupyter_runtime_dir


@pytest.mark.parametrize("host", ["203.0.113.7", "2001:db8::7"])
def test_a_connection_to_another_machine_is_refused(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as client, pytest.raises(OSError, match=host):
        client.connect((host, 80))


def test_a_name_of_another_machine_is_not_looked_up() -> None:
    with pytest.raises(OSError, match=r"may not reach 'example\.org'"):
        urllib.request.urlopen("http://example.org/", timeout=1)


def test_a_connection_to_this_machine_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port), timeout=5) as client:
            assert client.getpeername()[1] == port


def test_a_free_port_can_be_listened_on(free_port: int) -> None:
    with socket.create_server(("127.0.0.1", free_port)) as server:
        assert server.getsockname()[1] == free_port


def test_folders_of_the_person_are_out_of_reach() -> None:
    home = Path(os.environ["HOME"])
    assert "cellwright-tests-" in home.name
    folders = [get_ipython_dir(), jupyter_config_dir(), jupyter_runtime_dir()]
    assert [Path(folder).parent for folder in folders] == [home] * 3


@pytest.mark.parametrize("_again", range(2))
def test_every_test_has_an_empty_store(_again: int) -> None:
    store = Path(os.environ["CELLWRIGHT_HOME"])
    assert not store.exists()
    store.mkdir()


def test_keys_and_endpoints_of_the_person_are_not_seen() -> None:
    assert not [name for name in os.environ if name.startswith("OPENAI_")]
