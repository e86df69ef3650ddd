"""A project's AGENTS.md beside a notebook of the panel: asked about, sent after consent."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from fake_service import FakeService, text
from server.live_server import Live
from server_client import Client

from cellwright.commands import VerbContext
from cellwright.commands.instructions import allow, list_texts
from cellwright.server.application import Application

pytestmark = [pytest.mark.server, pytest.mark.kernel]
RULES = "Round to one decimal."
EXTENSION = {"ServerApp": {"jpserver_extensions": {"cellwright": True}}}


def sent(service: FakeService) -> str:
    return json.dumps([request.body for request in service.requests])


def allow_all(shared: Application, ids: tuple[str, ...] = ()) -> None:
    """Do what ``%agent instructions allow ID`` does in the notebook's folder and record."""
    context = VerbContext(ids, shared.settings(), lambda: nullcontext(shared.runs))
    if ids:
        allow(context)
    else:
        allow_all(shared, tuple(item.text_id for item in list_texts(context).items))


async def test_the_panel_asks_and_sends_what_was_allowed(
    live: Live, scripted: FakeService, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(jp_root_dir)
    (jp_root_dir / "AGENTS.md").write_text(RULES)
    scripted.script = [text("One."), text("Two."), text("Three.")]
    tab, chat, _ = await live.ready("a = 1")
    await tab.ask(chat, "How much?")
    await tab.finished()
    assert RULES not in sent(scripted)
    (notice,) = (each for each in tab.of_kind("notice") if each["code"] == "project_asked")
    assert str(jp_root_dir.resolve() / "AGENTS.md") in notice["text"]
    assert "%agent instructions" in notice["action"]
    allow_all(live.application)
    await tab.ask(chat, "And now?")
    await tab.finished(2)
    assert sent(scripted).count(RULES) == 1
    (jp_root_dir / "AGENTS.md").write_text("Other words.")
    await tab.ask(chat, "And then?")
    await tab.finished(3)
    assert "Other words." not in sent(scripted)
    assert len([each for each in tab.of_kind("notice") if each["code"] == "project_asked"]) == 2


async def test_the_panel_allows_a_text_that_it_was_shown(
    live: Live, scripted: FakeService, client: Client, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "AGENTS.md"
    file.write_text(RULES)
    scripted.script = [text("One."), text("Two."), text("Three.")]
    tab, chat, _ = await live.ready("a = 1")
    await tab.ask(chat, "How much?")
    await tab.finished()
    address = f"chats/{chat}/project"
    (row,) = (await client.call("GET", address)).json["texts"]
    assert (row["state"], row["text"], row["size_bytes"]) == ("asked", RULES, len(RULES))
    assert row["path"] == str(file.resolve())
    # What was not shown is not agreed to.
    file.write_text("Other words.")
    late = await client.call("PUT", address, {"id": row["id"], "is_allowed": True})
    assert late.status == 400
    file.write_text(RULES)
    agreed = await client.call("PUT", address, {"id": row["id"], "is_allowed": True})
    assert [each["state"] for each in agreed.json["texts"]] == ["used"]
    await tab.ask(chat, "And now?")
    await tab.finished(2)
    assert sent(scripted).count(RULES) == 1
    refused = await client.call("PUT", address, {"id": row["id"], "is_allowed": False})
    assert [each["state"] for each in refused.json["texts"]] == ["refused"]


@pytest.mark.parametrize("jp_server_config", [EXTENSION | {"Cellwright": {"project_files": False}}])
async def test_where_the_administrator_forbids_it_nothing_is_sent_or_asked(
    live: Live, scripted: FakeService, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(jp_root_dir)
    (jp_root_dir / "AGENTS.md").write_text(RULES)
    scripted.script = [text("One.")]
    tab, chat, _ = await live.ready("a = 1")
    allow_all(live.application)
    await tab.ask(chat, "How much?")
    await tab.finished()
    assert RULES not in sent(scripted)
    assert tab.of_kind("notice") == []
