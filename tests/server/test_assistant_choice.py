"""Assistants on the server: listed for a notebook, and chosen for a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from assistant_files import write_assistant as write
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
public = true

[[scenes]]
label = "plot"
prompt = "Name the axes."
"""


async def test_they_are_listed_with_what_is_wrong_with_others(
    client: Client, jp_root_dir: Path
) -> None:
    write(jp_root_dir, "careful", CAREFUL)
    write(jp_root_dir / "work", "near", "")
    write(jp_root_dir, "broken", "models = 'x'")
    listed = (await client.call("GET", "assistants?notebook=work/a.ipynb")).json
    careful, near = listed["assistants"]
    assert careful == {
        "name": "careful",
        "description": "Looks for mistakes",
        "model": "fake-careful",
        "scenes": ["plot"],
        "is_public": True,
        "is_default": False,
        "place": "root",
    }
    assert (near["name"], near["scenes"], near["is_public"]) == ("near", [], False)
    (problem,) = listed["problems"]
    assert problem.startswith("broken.toml: models: is not known, did you mean 'model'")
    (unusable,) = listed["unusable"]
    assert unusable == {
        "name": "broken",
        "problem": problem,
        "file": ".cellwright/assistants/broken.toml",
    }
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


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("careful", {"prompt": "look", "assistant": "careful"}),
        ("careful", {"prompt": "@careful look", "assistant": ""}),
        ("default", {"prompt": "look", "assistant": ""}),
    ],
)
async def test_one_whose_file_has_a_misspelt_key_answers_nothing(
    live: Live, scripted: FakeService, jp_root_dir: Path, name: str, ask: dict[str, str]
) -> None:
    write(jp_root_dir, name, "tols = ['read_*']")
    tab, chat, _ = await live.ready()
    await tab.ask(chat, ask["prompt"], assistant=ask["assistant"])
    await tab.until(tab.errors)
    refusal = tab.last("error")
    assert refusal is not None
    assert f"{name}.toml: tols: is not known, did you mean 'tools'" in refusal["message"]
    assert tab.events == []
    assert scripted.requests == []


async def test_002_32_a_name_at_the_start_chooses_for_one_prompt(
    live: Live, scripted: FakeService, jp_root_dir: Path
) -> None:
    write(jp_root_dir, "careful", CAREFUL)
    write(jp_root_dir, "default", 'instructions = "Be brief."')
    scripted.script = [text("First."), text("Second.")]
    tab, chat, _ = await live.ready("x = 1")
    await tab.ask(chat, "@careful plot it")
    await tab.finished()
    first = scripted.requests[0].body
    assert first["model"] == "fake-careful"
    asked = str(first["messages"][-1]["content"])
    assert asked.startswith("plot it")
    assert "Name the axes." in asked
    record = live.application.runs.record(tab.events[0][0])
    assert (record.assistant, record.prompt) == ("careful", "plot it")

    await tab.phase(chat, "idle")
    await tab.ask(chat, "and now?")
    await tab.finished(2)
    second = scripted.requests[1].body
    assert second["messages"][0]["content"].endswith("Be brief.")
    assert second["model"] != "fake-careful"


async def test_002_81_a_months_budget_stops_a_run_and_the_rows_say_what_was_used(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [text("First.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "look")
    await tab.finished()
    told = (await client.call("GET", "usage?by=chat")).json
    (row,) = told["rows"]
    assert (row["key"], row["label"], row["calls"]) == (chat, "look", 1)
    assert row["input_tokens"] > 0
    assert row["cost_dollars"] is None
    told = (await client.call("PUT", "budgets", {"month_tokens": 1})).json
    (budget,) = told["budgets"]
    assert (budget["name"], budget["limit_tokens"], budget["limit_dollars"]) == (
        "month_tokens",
        1,
        None,
    )
    await tab.phase(chat, "idle")
    await tab.ask(chat, "again")
    await tab.finished(2)
    ended = tab.events[-1][-1] if isinstance(tab.events[-1], tuple) else tab.events[-1]
    assert "month_budget" in str(ended)
    assert len(scripted.requests) == 1
    told = (await client.call("PUT", "budgets", {"month_tokens": 0})).json
    assert told["budgets"] == []
