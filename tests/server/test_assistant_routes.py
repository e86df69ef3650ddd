"""Assistants made, read, changed, renamed and deleted over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from assistant_files import write_assistant as write
from server.named_people import EVE, WITH_GUESTS
from server_client import Answer, Client

from cellwright.server.application import Application

pytestmark = pytest.mark.server

BY_HAND = """\
# mine
description = "Looks"   # short
temperature = 0.01
tools = ["read_*"]

[[scenes]]
label = "plot"
prompt = "Axes."
when = { types = ["Figure"] }
"""
DETAILS = {
    "name": "reviewer",
    "description": "Looks",
    "instructions": "",
    "model": "",
    "temperature": 0.1,
    "tools": ["read_*"],
    "adapter": "",
    "library": None,
    "is_public": False,
    "is_default": False,
    "disable_memory": False,
    "memory_for_guests": False,
    "disable_default_prompt": False,
    "effort": "",
    "parameters": {},
    "disable_web_browsing": False,
    "scenes": [{"label": "plot", "prompt": "Axes.", "when": {"types": ["Figure"]}}],
    "place": "root",
    "file": ".cellwright/assistants/reviewer.toml",
}


async def put(client: Client, name: str, notebook: str = "", /, **fields: Any) -> Answer:
    """Change an assistant as somebody does who has just read it."""
    where = f"assistants/{quote(name)}?notebook={quote(notebook)}"
    version = (await client.call("GET", where)).json["version"]
    return await client.call("PUT", where, {"version": version, **fields})


async def test_002_01_the_places_are_told_and_one_is_made_in_each(
    client: Client, jp_root_dir: Path, shared: Application
) -> None:
    (jp_root_dir / "work").mkdir()
    listed = (await client.call("GET", "assistants?notebook=work/a.ipynb")).json
    assert [place["place"] for place in listed["places"]] == ["notebook", "root", "own"]
    near, root, own = (place["folder"] for place in listed["places"])
    assert (near, root) == ("work/.cellwright/assistants", ".cellwright/assistants")
    assert own.endswith("/assistants")
    files = {
        "notebook": jp_root_dir / near / "one.toml",
        "root": jp_root_dir / root / "one.toml",
        "own": shared.chooser.home() / "assistants" / "one.toml",
    }
    for place, file in files.items():
        body = {"place": place, "name": "one", "description": place, "tools": ["read_*"]}
        made = await client.call("POST", "assistants?notebook=work/a.ipynb", body)
        assert (made.status, made.json["place"], made.json["name"]) == (201, place, "one")
        assert made.json["file"].endswith("assistants/one.toml")
        assert file.read_text() == f'description = "{place}"\ntools = ["read_*"]\n'
        again = await client.call("POST", "assistants?notebook=work/a.ipynb", body)
        assert (again.status, again.json["code"]) == (409, "exists")
    listed = (await client.call("GET", "assistants?notebook=work/a.ipynb")).json
    assert [(each["name"], each["place"]) for each in listed["assistants"]] == [("one", "notebook")]
    for alone in ("b.ipynb", "RTC:work/a.ipynb"):
        listed = (await client.call("GET", f"assistants?notebook={alone}")).json
        assert [place["place"] for place in listed["places"]] == ["root", "own"]
    there = await client.call("POST", "assistants", {"place": "notebook", "name": "two"})
    assert (there.status, there.json["hint"]) == (400, "There are: root, own.")


async def test_002_01_one_is_read_changed_and_its_file_stays_the_persons(
    client: Client, jp_root_dir: Path
) -> None:
    file = write(jp_root_dir, "reviewer", BY_HAND)
    read = (await client.call("GET", "assistants/reviewer")).json
    assert {key: value for key, value in read.items() if key != "version"} == DETAILS
    body = {key: value for key, value in read.items() if key not in ("place", "file")}
    same = await client.call("PUT", "assistants/reviewer", body)
    assert (same.status, same.json) == (200, read)
    assert file.read_text() == BY_HAND
    body |= {
        "description": "",
        "instructions": "Check types.\nThen units.",
        "tools": None,
        "temperature": 1,
        "is_public": True,
        "scenes": [{"label": "plot", "prompt": "Name the axes."}],
    }
    changed = await client.call("PUT", "assistants/reviewer", body)
    assert changed.status == 200
    assert file.read_text() == (
        "# mine\ntemperature = 1.0\n"
        'instructions = """\nCheck types.\nThen units."""\npublic = true\n\n'
        '[[scenes]]\nlabel = "plot"\nprompt = "Name the axes."\nwhen = { types = ["Figure"] }\n'
    )
    assert changed.json["version"] != read["version"]
    late = await client.call("PUT", "assistants/reviewer", {**body, "model": "late"})
    assert (late.status, late.json["code"]) == (409, "changed")
    assert "changed by somebody else" in late.json["message"]
    late = await client.call("DELETE", f"assistants/reviewer?version={read['version']}")
    assert (late.status, late.json["code"]) == (409, "changed")
    gone = await client.call("DELETE", f"assistants/reviewer?version={changed.json['version']}")
    assert (gone.status, gone.body, file.exists()) == (204, b"", False)
    assert (await client.call("GET", "assistants/reviewer")).status == 404


async def test_002_01_one_gets_another_name(client: Client, jp_root_dir: Path) -> None:
    write(jp_root_dir / "work", "near")
    write(jp_root_dir, "other")
    renamed = await put(client, "near", "work/a.ipynb", name="ein Kritiker 统", model="auto")
    assert (renamed.status, renamed.json["name"]) == (200, "ein Kritiker 统")
    assert renamed.json["file"] == "work/.cellwright/assistants/ein Kritiker 统.toml"
    folder = jp_root_dir / "work" / ".cellwright" / "assistants"
    assert [file.read_text() for file in folder.iterdir()] == ['model = "auto"\n']
    # the name of one that is farther away is free
    taken = await put(client, "ein Kritiker 统", "work/a.ipynb", name="other")
    assert (taken.status, taken.json["place"]) == (200, "notebook")
    write(jp_root_dir / "work", "long", f'name = "{"统" * 255}"')
    longest = await put(client, "统" * 255, "work/a.ipynb", name="short")
    assert (longest.status, longest.json["file"][-9:]) == (200, "long.toml")
    write(jp_root_dir / "work", "third")
    taken = await put(client, "third", "work/a.ipynb", name="OTHER")
    assert (taken.status, taken.json["code"]) == (409, "exists")


@pytest.mark.parametrize("jp_server_config", [WITH_GUESTS])
async def test_guests_read_no_file_and_write_none(client: Client, jp_root_dir: Path) -> None:
    file = write(jp_root_dir, "open", "public = true\n")
    write(jp_root_dir, "broken", "=")
    write(jp_root_dir, "shared", "public = true\nmodels = 'secret'")
    listed = (await client.call("GET", "assistants", headers=EVE)).json
    assert [each["name"] for each in listed["assistants"]] == ["open"]
    assert (listed["places"], listed["problems"]) == ([], [])
    (unusable,) = listed["unusable"]
    assert (unusable["name"], unusable["file"]) == ("shared", "")
    assert "models" not in unusable["problem"]
    version = (await client.call("GET", "assistants/open")).json["version"]
    for method, where, body in (
        ("GET", "assistants/open", None),
        ("POST", "assistants", {"place": "root", "name": "mine"}),
        ("POST", "assistants", {"place": "own", "name": "mine"}),
        ("PUT", "assistants/open", {"version": version, "instructions": "Obey."}),
        ("DELETE", f"assistants/open?version={version}", None),
    ):
        answer = await client.call(method, where, body, headers=EVE)
        assert (answer.status, answer.json["code"]) == (403, "guest"), where
    assert file.read_text() == "public = true\n"
    names = sorted(each.name for each in file.parent.iterdir())
    assert names == ["broken.toml", "open.toml", "shared.toml"]


HOSTILE = [
    "../x",
    "..",
    "a/b",
    "a\\b",
    "/etc/x",
    "C:x",
    "CON",
    "aux.txt",
    "x.",
    "x ",
    "x\n",
    "\0",
    "",
]


async def test_hostile_names_are_refused_in_words(
    client: Client, jp_root_dir: Path, tmp_path: Path
) -> None:
    file = write(jp_root_dir, "mine")
    before = sorted(tmp_path.rglob("*.toml"))
    for name in HOSTILE:
        made = await client.call("POST", "assistants", {"place": "root", "name": name})
        assert made.status == 400, name
        assert repr(name) in made.json["message"], name
        assert (await put(client, "mine", name=name)).status == 400, name
        if name:
            for method in ("GET", "PUT", "DELETE"):
                where = f"assistants/{quote(name, safe='')}?version=1"
                body = {"version": "1"} if method == "PUT" else None
                assert (await client.call(method, where, body)).status == 404, name
    notebook = quote("../../etc/a.ipynb")
    made = await client.call("POST", f"assistants?notebook={notebook}", {"place": "notebook"})
    assert (made.status, made.json["hint"]) == (400, "There are: root, own.")
    assert sorted(tmp_path.rglob("*.toml")) == before
    assert file.read_text() == ""


async def test_links_out_of_the_root_are_not_followed(
    client: Client, jp_root_dir: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    target = write(outside, "there")
    write(jp_root_dir, "mine").with_name("link.toml").symlink_to(target)
    (jp_root_dir / "work").mkdir()
    (jp_root_dir / "work" / ".cellwright").symlink_to(outside / ".cellwright")
    listed = (await client.call("GET", "assistants?notebook=work/a.ipynb")).json
    assert [place["place"] for place in listed["places"]] == ["root", "own"]
    changed = await put(client, "link", model="x")
    assert (changed.status, changed.json["hint"]) == (400, "Change that file by hand.")
    assert "leads out of its folder" in changed.json["message"]
    changed = await put(client, "there", "work/a.ipynb", model="x")
    assert "leads out of its project" in changed.json["message"]
    body = {"place": "notebook", "name": "new"}
    assert (await client.call("POST", "assistants?notebook=work/a.ipynb", body)).status == 400
    assert (target.read_text(), list(target.parent.iterdir())) == ("", [target])


async def test_what_cannot_be_used_is_told_whole(client: Client, jp_root_dir: Path) -> None:
    file = write(jp_root_dir, "mine", BY_HAND)
    wrong = {"adapter": "telepathy", "tools": [1], "scenes": [{"label": "l" * 21, "prompt": "p"}]}
    answer = await put(client, "mine", **wrong)
    assert answer.status == 400
    for words in ("adapter: 'telepathy'", "tools: [1]", "label of 21 characters"):
        assert words in answer.json["message"]
    for body, words in (
        ({"temperature": True}, "'temperature' is not a number or null"),
        ({"tools": "read_*"}, "'tools' is not a list or null"),
        ({"scenes": None}, "'scenes' is not a list"),
        ({"is_public": 1}, "'is_public' is not true or false"),
        ({"place": "own"}, "'place' is not known"),
    ):
        assert words in (await put(client, "mine", **body)).json["message"]
    for method, unseen in (("PUT", {"model": "x"}), ("DELETE", None)):
        blind = await client.call(method, "assistants/mine", unseen)
        assert (blind.status, blind.json["hint"]) == (400, "Give its version.")
    write(jp_root_dir, "broken", "=")
    gone = await client.call("GET", "assistants/broken")
    assert gone.status == 404
    assert "broken.toml is no TOML" in gone.json["hint"]
    assert file.read_text() == BY_HAND


async def test_where_the_root_is_the_persons_home_a_place_is_named_once(
    client: Client, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_HOME", str(jp_root_dir / ".cellwright"))
    made = await client.call("POST", "assistants", {"place": "own", "name": "mine"})
    assert made.status == 201
    listed = (await client.call("GET", "assistants")).json
    assert [place["place"] for place in listed["places"]] == ["own"]
    assert [each["place"] for each in listed["assistants"]] == ["own"]
    (jp_root_dir / ".cellwright" / "assistants" / "mine.toml").rename(
        jp_root_dir / ".cellwright" / "mine.toml"
    )
    (jp_root_dir / ".cellwright" / "assistants").rmdir()
    (jp_root_dir / ".cellwright" / "assistants").write_text("no folder")
    assert (await client.call("GET", "assistants")).json["places"] == []
    made = await client.call("POST", "assistants", {"place": "own", "name": "mine"})
    assert made.status == 400
    assert "cannot be written" in made.json["message"]
