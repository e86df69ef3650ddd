"""The routes of the library: added in the background, listed, searched, taken out."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from server_client import Client, with_parameters

from cellwright.server.application import Application
from cellwright.server.library_routes import open_library

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


async def test_a_library_is_deleted_with_its_documents_where_that_is_said(
    client: Client, root: Path
) -> None:
    await client.call("POST", "library", {"place": "docs/returns.md"})
    (document,) = await read(client)
    (library,) = (await client.call("GET", "library")).json["libraries"]
    assert library == {
        "id": document["library"],
        "name": "default",
        "place": ".",
        "is_default": True,
        "documents": 1,
    }
    here = with_parameters("library", library=library["id"])
    refused = await client.call("DELETE", here)
    assert (refused.status, "has documents" in refused.json["message"]) == (409, True)
    assert (await client.call("DELETE", "library")).status == 400
    left = await client.call("DELETE", f"{here}&all=1")
    assert (left.status, left.json) == (200, {"documents": [], "indexing": None, "libraries": []})
    assert (root / "docs" / "returns.md").exists()


async def test_all_libraries_are_deleted_or_none(client: Client, root: Path) -> None:
    await client.call("POST", "library", {"place": "docs/returns.md"})
    await read(client)
    file = root / ".cellwright" / "assistants" / "clerk.toml"
    file.parent.mkdir(parents=True)
    file.write_text('library = ["default"]')
    refused = await client.call("DELETE", "library?all=1")
    assert (refused.status, "used by clerk" in refused.json["message"]) == (409, True)
    assert len(await read(client)) == 1
    file.unlink()
    assert (await client.call("DELETE", "library?all=1")).json["libraries"] == []


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
    assert (document["name"], document["place"]) == ("rules.md", "")  # nothing to open
    wrong = {"place": "0" * 64, "name": "x.md"}
    assert (await client.call("POST", "library", wrong)).status == 400


async def test_places_wait_for_each_other_and_closing_stops_them(
    client: Client, shared: Application, root: Path
) -> None:
    desk = open_library(shared)
    for number in range(300):
        (root / f"{number}.md").write_text(f"words of {number}")
    for place in ("docs", "."):
        await client.call("POST", "library", {"place": place})
    assert desk.is_busy
    desk.close()
    assert not desk.is_busy
    assert desk.state() is None


async def test_002_90_an_upload_says_which_library_would_take_it(
    client: Client, shared: Application, root: Path
) -> None:
    async def offered(name: str, **words: str) -> str:
        address = with_parameters("files", name=name, **words)
        return str((await client.call("POST", address, b"# Rules\nzebra")).json["library"])

    assert await offered("rules.md") == ""  # there is no library yet
    await client.call("POST", "library", {"place": "docs/returns.md"})
    await read(client)
    assert [await offered(name) for name in ("rules.md", "a.ipynb", "a.csv", "a.png")] == [
        "default",
        "default",
        "",
        "",
    ]
    folder = root / ".cellwright" / "assistants"
    folder.mkdir(parents=True)
    (folder / "clerk.toml").write_text('library = ["rule*"]')
    (folder / "poet.toml").write_text("library = []")
    assert [await offered("a.md", assistant=name) for name in ("clerk", "poet", "gone")] == [
        "",
        "",
        "default",
    ]
    desk = open_library(shared)
    desk._current().store.open(str(root), "rules")
    assert await offered("a.md", assistant="clerk", notebook="a.ipynb") == "rules"


async def test_002_90_an_uploaded_file_goes_into_the_library_that_was_offered(
    client: Client, shared: Application, root: Path
) -> None:
    await client.call("POST", "library", {"place": "docs/returns.md"})
    await read(client)
    libraries = open_library(shared)._current()
    number = libraries.store.open(str(root), "rules").number
    stored = shared.uploads.store(b"# Rules\nzebra crossing", "rules.md")
    body = {"place": stored.file, "name": "rules.md", "library": "rules"}
    assert (await client.call("POST", "library", body)).status == 202
    await read(client)
    assert [each.name for each in libraries.store.documents(number)] == ["rules.md"]
    os.utime(shared.uploads.path(stored.file), (0, 0))
    assert shared.uploads.expire() == 0  # the library holds it
    gone = await client.call("POST", "library", {**body, "library": "gone"})
    assert (gone.status, gone.json["message"]) == (400, "There is no library 'gone' here.")
    odd = await client.call("POST", "library", {**body, "name": "a.zip"})
    assert odd.status == 400
    assert "'a.zip' is of a kind that the library cannot read" in odd.json["message"]
