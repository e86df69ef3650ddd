"""Assistants on the server: listed for a notebook, and chosen for a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_service import FakeService, text
from server.live_server import Live
from server_client import Client

pytestmark = [pytest.mark.server, pytest.mark.kernel]

CAREFUL = """
description = "Looks for mistakes"
instructions = "Check types before all else."
model = "fake-careful"
temperature = 0.25
tools = ["list_variables", "read_*"]
"""


def write(root: Path, name: str, content: str) -> None:
    folder = root / ".cellwright" / "assistants"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(content, "utf-8")


async def test_they_are_listed_with_what_is_wrong_with_others(
    client: Client, jp_root_dir: Path
) -> None:
    write(jp_root_dir, "careful", CAREFUL)
    write(jp_root_dir / "work", "near", "")
    write(jp_root_dir, "broken", "models = 'x'")
    listed = (await client.call("GET", "assistants?notebook=work/a.ipynb")).json
    assert listed["assistants"] == [
        {"name": "careful", "description": "Looks for mistakes", "model": "fake-careful"},
        {"name": "near", "description": "", "model": ""},
    ]
    (problem,) = listed["problems"]
    assert problem.startswith("broken.toml: models: is not known, did you mean 'model'")
    elsewhere = (await client.call("GET", "assistants?notebook=../../etc/a.ipynb")).json
    assert [found["name"] for found in elsewhere["assistants"]] == ["careful"]


async def test_the_chosen_one_answers_and_the_record_names_it(
    live: Live, scripted: FakeService, jp_root_dir: Path
) -> None:
    write(jp_root_dir, "careful", CAREFUL)
    scripted.script = [text("First."), text("Second.")]
    tab, chat, _ = await live.ready("x = 1")
    await tab.ask(chat, "look", assistant="careful")
    await tab.finished()
    first = scripted.requests[0].body
    assert first["model"] == "fake-careful"
    assert first["temperature"] == 0.25
    assert first["messages"][0]["content"].endswith("Check types before all else.")
    offered = {tool["function"]["name"] for tool in first["tools"]}
    assert "list_variables" in offered
    assert not offered & {"run_cell", "edit_cell"}
    run = tab.events[0][0]
    assert live.application.runs.record(run).assistant == "careful"

    await tab.phase(chat, "idle")
    await tab.ask(chat, "and without?", model="fake-model")
    await tab.finished(2)
    second = scripted.requests[1].body
    assert second["model"] == "fake-model"
    assert "temperature" not in second
    assert "Check types" not in str(second["messages"][0])
    assert "run_cell" in {tool["function"]["name"] for tool in second["tools"]}


async def test_one_that_is_not_there_is_refused_before_anything_is_recorded(
    live: Live, scripted: FakeService
) -> None:
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "look", assistant="nobody")
    await tab.until(tab.errors)
    refusal = tab.last("error")
    assert refusal is not None
    assert "There is no assistant 'nobody'." in refusal["message"]
    assert tab.events == []
    assert scripted.requests == []
