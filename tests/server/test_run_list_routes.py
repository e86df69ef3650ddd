"""The list of recorded runs, and each run as a sample."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_runs import analysis_run, started
from server_client import Client, with_parameters

from cellwright.record.events import RunFinished
from cellwright.server.application import Application

pytestmark = pytest.mark.server


def a_run(shared: Application, prompt: str, *, ends: bool = True, owner: str = "") -> str:
    """Id of a run in a chat."""
    ending = [RunFinished("completed", "Done.")] if ends else []
    run = shared.runs.start(started(prompt), *ending).run_id
    shared.chats.add_run(shared.chats.create("a.ipynb", owner).chat_id, run)
    return run


async def listed(client: Client, **parameters: str) -> Any:
    return (await client.call("GET", with_parameters("runs", **parameters))).json


async def test_runs_are_listed_with_what_they_took(client: Client, shared: Application) -> None:
    run = shared.runs.start(*analysis_run()).run_id
    answer = await listed(client)
    (row,) = answer["runs"]
    assert (row["id"], row["prompt"], row["model"]) == (
        run,
        "Which region sold most?",
        "demo-analyst",
    )
    assert (row["chat"], row["lane"], row["status"]) == ("", "magic", "completed")
    assert row["tokens"] > 0
    assert (answer["after"], answer["models"]) == (None, ["demo-analyst"])


async def test_the_newest_comes_first_and_filters_leave_out(
    client: Client, shared: Application
) -> None:
    done, going = a_run(shared, "Sum the wheat"), a_run(shared, "Plot the corn", ends=False)
    assert {row["id"] for row in (await listed(client))["runs"]} == {done, going}
    for parameters, expected in [
        ({"query": "wheat"}, [done]),
        ({"status": "running"}, [going]),
        ({"model": "other"}, []),
        ({"lane": "panel"}, []),
    ]:
        assert [row["id"] for row in (await listed(client, **parameters))["runs"]] == expected


async def test_pages_follow_each_other(
    client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellwright.server.run_routes.PAGE", 2)
    runs = {a_run(shared, f"Question {number}") for number in range(3)}
    first = await listed(client)
    second = await listed(client, after=first["after"])
    assert (len(first["runs"]), len(second["runs"]), second["after"]) == (2, 1, None)
    assert {row["id"] for row in first["runs"] + second["runs"]} == runs


async def test_a_column_sorts_over_all_pages(
    client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellwright.server.run_routes.PAGE", 2)
    runs = [a_run(shared, prompt) for prompt in ("b", "C", "a")]
    first = await listed(client, sort="-prompt")
    second = await listed(client, sort="-prompt", after=first["after"])
    assert [row["id"] for row in first["runs"] + second["runs"]] == [runs[1], runs[0], runs[2]]
    assert len((await listed(client, sort="no such column"))["runs"]) == 2


async def test_nothing_is_sent_again_until_something_changed(
    client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellwright.server.run_routes.STALE_SECONDS", 10**9)
    a_run(shared, "Question")
    version = (await listed(client))["version"]
    same = await listed(client, since=version)
    assert (same["version"], same["runs"]) == (version, None)
    a_run(shared, "Another one")
    assert len((await listed(client, since=version))["runs"]) == 2


async def test_a_run_of_another_person_is_not_there(client: Client, shared: Application) -> None:
    mine, other = a_run(shared, "Mine"), a_run(shared, "Yours", owner="somebody")
    assert [row["id"] for row in (await listed(client))["runs"]] == [mine]
    assert (await client.call("GET", f"runs/{other}/sample")).status == 404


async def test_a_run_comes_as_a_sample(client: Client, shared: Application) -> None:
    run = shared.runs.start(*analysis_run()).run_id
    found = (await client.call("GET", f"runs/{run}/sample")).json
    assert (found["schema"], found["id"], found["scores"]) == ("cellwright.sample/1", run, [])
    assert found["chat"] == ""
    asked = a_run(shared, "Question")
    answer = await client.call("GET", f"runs/{asked}/sample")
    assert answer.json["chat"] == shared.chats.chat_of(asked) != ""
    assert found["messages"][0]["role"] == "system"
    assert any(cell["outputs"] for cell in found["cells"])
    assert (await client.call("GET", "runs/nothing/sample")).status == 404
