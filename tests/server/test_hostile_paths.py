"""Names and paths that want to lead elsewhere: nothing is read, nothing is written (fault A7)."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from recorded_runs import analysis_run
from server_client import Client, with_parameters

from cellwright.server.application import Application

pytestmark = pytest.mark.server

SECRET = "what stands in a file of the person's"
PATHS = (
    "..",
    "../secret.txt",
    "../../../../etc/passwd",
    "/etc/passwd",
    "..\\secret.txt",
    "..\\..\\secret.txt",
    "C:\\secret.txt",
    "\\\\host\\share",
    "%2e%2e%2fsecret.txt",
    "..%2fsecret.txt",
    "%252e%252e%252fsecret.txt",
    "..%c0%afsecret.txt",
    "....//secret.txt",
    "files/../secret.txt",
    "cellwright-secret/x",
    "x\x00.txt",
    "x\n",
    "CON",
    "nul.txt",
    "~/secret.txt",
    "file:///etc/passwd",
    "linked/secret.txt",
    "a" * 5_000,
)
ROUTES = (
    ("GET", "chats/{}/export?to=html"),
    ("GET", "chats/{}/export?to=ipynb"),
    ("PATCH", "chats/{}"),
    ("DELETE", "chats/{}"),
    ("GET", "runs/{}/cells"),
    ("POST", "runs/{}/fates"),
    ("GET", "kernels/{}/variables"),
    ("GET", "kernels/x/variables/{}"),
)
VALUES = {"PATCH": {"title": "t"}, "POST": {"fates": {}}}


@pytest.fixture
def home(shared: Application) -> Path:
    """The home folder, with something beside it and a link out of it."""
    home = shared.chooser.home()
    home.mkdir(parents=True, exist_ok=True)
    outside = home.parent / f"{home.name}-secret"
    outside.mkdir()
    for folder in (home.parent, outside):
        (folder / "secret.txt").write_text(SECRET)
    (home / "linked").symlink_to(outside)
    return home


def files(home: Path) -> dict[str, bytes]:
    """Every file near the home folder that is none of the record's."""
    found = (path for path in home.parent.rglob("*") if path.is_file())
    return {str(p): p.read_bytes() for p in found if not p.name.startswith("runs.sqlite")}


@pytest.mark.parametrize("encoded", [True, False], ids=["encoded", "as it is"])
async def test_no_name_in_an_address_leads_to_a_file(
    client: Client, home: Path, encoded: bool
) -> None:
    before = files(home)
    for method, route in ROUTES:
        for path in PATHS:
            # what no client can send as it is goes encoded
            plain = not encoded and path.isprintable() and len(path) < 4_000
            written = path.replace("\\", "%5c") if plain else quote(path, safe="")
            answer = await client.call(method, route.format(written), VALUES.get(method))
            assert answer.status in (400, 403, 404, 405, 409, 414), (method, route, path)
            assert SECRET.encode() not in answer.body
            assert b"root:" not in answer.body
    assert files(home) == before


async def test_a_notebooks_path_is_a_name_and_nothing_is_opened(
    client: Client, shared: Application, home: Path
) -> None:
    before = files(home)
    for path in PATHS:
        listed = await client.call("GET", "notebooks/missing?" + urlencode({"path": path}))
        assert (listed.status, listed.json) == (200, [])
        made = await client.call("POST", "chats", {"notebook_path": path})
        assert made.status == 201
        moved = await client.call("PATCH", f"chats/{made.json['id']}", {"notebook_path": path})
        assert moved.status == 200
        chats = await client.call("GET", with_parameters("chats", notebook=path))
        assert SECRET.encode() not in chats.body
    assert files(home) == before


async def test_no_title_makes_the_name_of_an_export_a_path(
    client: Client, shared: Application
) -> None:
    chat = shared.chats.create("a.ipynb").chat_id
    shared.chats.add_run(chat, shared.runs.start(*analysis_run()).run_id)
    for title in PATHS:
        await client.call("PATCH", f"chats/{chat}", {"title": title})
        answer = await client.call("GET", f"chats/{chat}/export?to=markdown")
        if answer.status != 200:
            continue
        name = answer.headers["Content-Disposition"].rpartition("''")[2]
        assert name.endswith(".md"), title
        assert not set(name) & set("/\\:\0\r\n~"), title
        assert ".." not in name
        assert len(name) < 300
