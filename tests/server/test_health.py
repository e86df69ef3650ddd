"""The health route and the extension itself: found by name, loaded by the first request."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from server_client import Client

import cellwright
from cellwright.server.application import Application

pytestmark = pytest.mark.server

WITH_CELLWRIGHT = {"jpserver_extensions": {"cellwright": True}}
OFF = {"ServerApp": WITH_CELLWRIGHT, "Cellwright": {"enabled": False}}
WRONG = {"ServerApp": WITH_CELLWRIGHT, "Cellwright": {"modes": ["everything"]}}
HEAVY = ("openai", "pandas", "pydantic", "nbformat", "numpy", "httpx", "httpx2", "matplotlib")
"""What neither starting nor the first request may bring in."""
SERVER = "import jupyter_server.serverapp, jupyter_server.services.contents.manager"


async def test_health_tells_the_version(client: Client) -> None:
    answer = await client.call("GET", "health")
    assert answer.json == {"version": cellwright.__version__, "enabled": True}
    assert answer.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("jp_server_config", [OFF])
async def test_health_tells_that_cellwright_is_switched_off(client: Client) -> None:
    assert (await client.call("GET", "health")).json["enabled"] is False


async def test_health_tells_that_the_environment_switched_cellwright_off(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_DISABLED", "1")
    assert (await client.call("GET", "health")).json["enabled"] is False
    monkeypatch.setenv("CELLWRIGHT_DISABLED", "no")
    assert (await client.call("GET", "health")).json["enabled"] is True


async def test_the_server_extension_is_found_by_the_name_of_the_package(
    jp_serverapp: Any,
) -> None:
    extension = jp_serverapp.extension_manager.extensions["cellwright"]
    assert extension.enabled
    assert extension.version == cellwright.__version__
    assert extension.extension_points["cellwright.server"].module_name == "cellwright.server"


async def test_the_first_requests_are_answered_while_the_routes_are_loaded(
    client: Client, jp_serverapp: Any
) -> None:
    assert "cellwright" not in jp_serverapp.web_app.settings
    answers = await asyncio.gather(*(client.call("GET", "health") for _ in range(5)))
    assert [answer.status for answer in answers] == [200] * 5
    assert isinstance(jp_serverapp.web_app.settings["cellwright"], Application)


async def test_the_very_first_request_may_have_a_body(client: Client) -> None:
    answer = await client.call("POST", "chats", {"notebook_path": "a.ipynb"})
    assert (answer.status, answer.json["notebook_path"]) == (201, "a.ipynb")


async def test_the_very_first_request_may_be_for_nothing(client: Client) -> None:
    assert (await client.call("GET", "nothing")).status == 404
    assert (await client.call("GET", "nothing")).status == 404


async def test_a_server_that_stops_lets_go_of_the_record(
    client: Client, shared: Application, jp_serverapp: Any
) -> None:
    assert (await client.call("GET", "chats")).status == 200
    await jp_serverapp.extension_manager.stop_all_extensions()
    assert (await client.call("GET", "chats")).status == 503
    assert shared.chooser.home().joinpath("runs.sqlite").exists()


async def test_a_server_that_nobody_asked_anything_stops(jp_serverapp: Any) -> None:
    await jp_serverapp.extension_manager.stop_all_extensions()


class BusyChats:
    """Chats in which a run goes on."""

    is_busy = True

    def running(self, chat_id: str) -> str:
        return "run"

    def waits_for_answer(self, chat_id: str) -> bool:
        return False

    def is_open_elsewhere(self, path: str, tab: str, owner: str) -> bool:
        return False

    def chat_changed(self, chat: Any) -> None:
        pass

    def chat_deleted(self, chat_id: str) -> None:
        pass

    def close(self) -> None:
        self.is_busy = False


async def test_a_server_on_which_an_agent_works_counts_as_active(
    shared: Application, jp_serverapp: Any
) -> None:
    assert not jp_serverapp.extension_manager.any_activity()
    shared.live = BusyChats()
    assert jp_serverapp.extension_manager.any_activity()


@pytest.mark.parametrize("jp_server_config", [WRONG])
async def test_with_a_setting_that_cannot_be_used_nothing_answers(client: Client) -> None:
    assert (await client.call("GET", "health")).status == 404


@cache
def modules_after(code: str) -> frozenset[str]:
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return frozenset(done.stdout.split())


def test_starting_loads_next_to_nothing() -> None:
    added = modules_after(f"{SERVER}, cellwright.server") - modules_after(SERVER)
    assert not added & set(HEAVY)
    assert "cellwright.events" not in added
    assert "cellwright.server.application" not in added


PANEL = "\n".join(
    f"load_routes({name!r})" for name in ("socket", "service_routes", "chat_routes", "usage_routes")
)


def test_showing_the_panel_loads_half_of_what_the_routes_stand_on() -> None:
    """Counted in modules, as time differs with the machine; the first request took 1.6 s once."""
    load = "from cellwright.server.table import load_all_routes, load_routes"
    first = "cellwright.server\nimport cellwright.server.application"
    before = modules_after(SERVER)
    shown = modules_after(f"{SERVER}, {first}\n{load}\n{PANEL}") - before
    every = modules_after(f"{SERVER}, {first}\n{load}\nload_all_routes()") - before
    assert not every & set(HEAVY)
    own = [name for name in shown if name.startswith("cellwright")]
    assert len(own) <= 230
    for name in ("session.conversation", "agent.loop", "session.standard_sources"):
        assert f"cellwright.{name}" not in shown
