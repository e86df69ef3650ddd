"""The routes of the library: added in the background, listed, searched, taken out."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from server_client import Client, with_parameters

from cellwright.server.application import Application
from cellwright.server.library_desk import LibraryDesk

pytestmark = pytest.mark.server


@pytest.fixture
def root(shared: Application) -> Path:
    assert shared.root is not None
    (shared.root / "docs").mkdir()
    (shared.root / "docs" / "returns.md").write_text("# Returns\nGoods come back in thirty days.")
    (shared.root / "docs" / "broken.ipynb").write_text("{")
    return shared.root


async def read(client: Client) -> Any:
    """The documents, once all were read."""
    for _ in range(200):
        state = (await client.call("GET", "library")).json
        if state["indexing"] is None:
            return state["documents"]
        await asyncio.sleep(0.02)
    raise AssertionError("it never ends")


async def test_a_folder_is_read_in_the_background_and_searched(client: Client, root: Path) -> None:
    assert await read(client) == []
    added = await client.call("POST", "library", {"place": "docs"})
    assert added.status == 202
    broken, returns = await read(client)
    assert (returns["name"], returns["place"], returns["kind"]) == (
        "docs/returns.md",
        "docs/returns.md",
        "text",
    )
    assert (returns["chunks"], returns["is_embedded"], returns["problem"]) == (1, False, "")
    assert "cannot be read" in broken["problem"]
    found = (await client.call("GET", with_parameters("library/search", query="goods"))).json
    (hit,) = found["hits"]
    assert (hit["number"], hit["document_id"], hit["place"], hit["anchor"]) == (
        1,
        returns["id"],
        "docs/returns.md",
        "line 1",
    )
    assert hit["heading"] == "docs/returns.md › Returns"


async def test_a_document_is_taken_out(client: Client, root: Path) -> None:
    await client.call("POST", "library", {"place": "docs/returns.md"})
    (document,) = await read(client)
    assert (await client.call("DELETE", f"library/{document['id']}")).status == 200
    assert await read(client) == []
    assert (root / "docs" / "returns.md").exists()
    assert (await client.call("DELETE", f"library/{document['id']}")).status == 404


async def test_what_may_not_be_read_is_refused(client: Client, root: Path) -> None:
    for place in ("", "nowhere.md", "../outside", "/etc/hosts", "http://x.test/"):
        assert (await client.call("POST", "library", {"place": place})).status == 400
    assert await read(client) == []


async def test_002_90_an_uploaded_file_is_added_under_its_name(
    client: Client, shared: Application, root: Path
) -> None:
    stored = shared.uploads.store(b"# Rules\nzebra crossing", "rules.md")
    body = {"place": stored.file, "name": stored.name}
    assert (await client.call("POST", "library", body)).status == 202
    (document,) = await read(client)
    assert document["name"] == "rules.md"
    wrong = {"place": "0" * 64, "name": "x.md"}
    assert (await client.call("POST", "library", wrong)).status == 400


async def test_places_wait_for_each_other_and_closing_stops_them(
    client: Client, shared: Application, root: Path
) -> None:
    desk = cast("LibraryDesk", shared.library)
    for number in range(300):
        (root / f"{number}.md").write_text(f"words of {number}")
    for place in ("docs", "."):
        await client.call("POST", "library", {"place": place})
    assert desk.is_busy
    desk.close()
    assert not desk.is_busy
    assert desk.state() is None
