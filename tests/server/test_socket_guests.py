"""What a guest's frames do to what is the owner's: nothing, whatever frame and whatever object."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, tool_call
from jupyter_server.auth import Authorizer
from recorded_runs import started
from server.frame_cases import Case, cases, free_fields
from server.live_server import Live
from server.live_tab import Document, TabClient, code_cell
from server.named_people import EVE, WITH_GUESTS

from cellwright.record.events import CellAdded, RunFinished
from cellwright.store.chat_rows import guest_owner

pytestmark = pytest.mark.server
guests = pytest.mark.parametrize("jp_server_config", [WITH_GUESTS])
Fetch = Callable[..., Awaitable[Any]]
SECRET = "words that only the owner may read"
OWN = "guest-document"
LIVENESS = "chat_claims"
"""Which process works in which chat: a run of the guest's own comes and goes there."""
FREE_FIELDS = {
    # What the page says of itself.
    *("hello.version", "hello.tab", "hello.nonce"),
    # Made up by the page, and known to its own line alone.
    *("ask.request", "compact.request", "reply.request", "ask.notebook", "drive.notebook"),
    "attach.notebook",
    # A path names a file, which the server's contents routes guard; chats move with it if they
    # are the page's person's own.
    "attach.path",
    # Looked for in the chat that the frame names.
    *("answer.call_id", "input.request", "queue.id"),
    # Cells of the page's own notebook, or of the run that the frame names.
    *("changed.cells.cell.id", "changed.cells.cell.source", "changed.cells.after"),
    *("changed.removed", "reply.cells.id", "reply.cells.source"),
    # Words.
    *("ask.prompt", "ask.model", "ask.assistant", "ask.context.name", "ask.context.cell_id"),
    *("ask.context.text", "answer.reason", "input.value", "queue.prompt", "reply.reason"),
}
"""What names nobody's object; a new field stands here or is marked with ``ObjectName``."""


def test_13_7_every_field_of_every_frame_names_an_object_or_is_known_not_to() -> None:
    assert free_fields() == FREE_FIELDS


def kept(home: Path, chat: str) -> dict[str, list[str]]:
    """Every row of the record but the guest's own chat, and every file beside it."""
    with closing(sqlite3.connect(home / "runs.sqlite")) as database:
        listed = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = [name for (name,) in listed if name != LIVENESS]
        rows = {
            name: sorted(
                repr(row) for row in database.execute(f'SELECT * FROM "{name}"') if row[0] != chat
            )
            for name in tables
        }
    files = [path for path in home.rglob("*") if path.is_file() and "sqlite" not in path.name]
    return rows | {str(path): [path.read_bytes().hex()] for path in files}


class Owner:
    """Ada with something of every kind: a run that waits for her, prompts that wait, files, …"""

    def __init__(self, tab: TabClient, objects: dict[str, tuple[str, ...]], chat: str) -> None:
        self.tab, self.objects, self.chat = tab, objects, chat

    @classmethod
    async def sit_down(cls, live: Live, jp_fetch: Fetch, root: Path) -> Owner:
        shared = await live.load()
        document = Document("folder/work.ipynb", await live.kernel(), code_cell("own", "1"))
        chat = shared.chats.create(document.path, "ada").chat_id
        old = shared.chats.create("folder/old.ipynb").chat_id
        cell = CellAdded("cell-of-the-owner", f"# {SECRET}", "code", "")
        run = shared.runs.start(started(SECRET), cell, RunFinished("completed")).run_id
        shared.chats.add_run(old, run)
        magic = shared.runs.start(started(SECRET), cell, RunFinished("completed")).run_id
        file = shared.uploads.store(SECRET.encode(), "notes.txt").file
        (root / "folder").mkdir()
        (root / "folder" / "work.ipynb").write_text("{}", "utf-8")
        body = {"text": SECRET, "scope": "user"}
        memory = json.loads((await post(jp_fetch, "memories", body)).body)["id"]
        note = json.loads((await post(jp_fetch, f"chats/{chat}/messages", {"text": SECRET})).body)
        tab = await live.tab()
        await tab.open(document)
        await tab.follow(chat)
        await tab.ask(chat, SECRET, mode="ask")
        call = (await tab.phase(chat, "approval"))["approval"]
        await tab.ask(chat, f"{SECRET}, later")
        await tab.until(lambda: tab.states[chat]["queue"])
        state = tab.states[chat]
        objects = {
            "chat": (chat, old),
            "run": (state["run"], run, magic),
            "cell": ("own", "cell-of-the-owner"),
            "notebook": (document.name,),
            "path": (document.path, "folder", "folder/old.ipynb"),
            "kernel": (document.kernel_id,),
            "approval": (call,),
            "prompt": (state["queue"][0]["id"],),
            "file": (file,),
            "memory": (memory,),
            "message": (note["id"],),
            "page": (tab.tab,),
        }
        return cls(tab, objects, chat)

    async def state(self) -> dict[str, Any]:
        """The chat as its owner sees it."""
        await self.tab.handled()
        return self.tab.states[self.chat]


def alikeness(case: Case) -> tuple[str, str, bool]:
    return str(case.frame["type"]), case.field, case.names_it


def attaching_last(case: Case) -> tuple[bool, tuple[str, str, bool]]:
    """A page that has attached a notebook may also speak of it."""
    return case.frame["type"] == "attach", alikeness(case)


async def post(jp_fetch: Fetch, path: str, body: Any) -> Any:
    return await jp_fetch("cellwright", "v1", path, method="POST", body=json.dumps(body))


async def sit_down_as_a_guest(live: Live) -> tuple[TabClient, str]:
    """A page of a guest, who has a chat and a notebook of their own."""
    chat = live.application.chats.create("theirs.ipynb", guest_owner("eve")).chat_id
    tab = TabClient(await live.socket(headers=EVE))
    live.tabs.append(tab)
    await tab.hello()
    await tab.send(type="attach", notebook=OWN, path="own.ipynb")
    await tab.follow(chat)
    return tab, chat


@pytest.mark.kernel
@guests
async def test_13_7_no_frame_of_a_guest_touches_anything_of_the_owner(
    live: Live, scripted: FakeService, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    scripted.script = tool_call("run_cell", {"code": "1"})
    owner = await Owner.sit_down(live, jp_fetch, jp_root_dir)
    guest, chat = await sit_down_as_a_guest(live)
    home = live.application.chooser.home()
    # Without a kernel no run of the guest's own begins, so nothing at all may change.
    own: dict[str, Any] = {
        "chat": chat,
        "notebook": OWN,
        "mode": "auto",
        "path": "own.ipynb",
        "kernel_id": "",
    }
    own |= {"file": "", "supersedes": "", "after": {"run": "", "sequence": 0}}
    before, state = kept(home, chat), await owner.state()
    tried = 0
    # Alike frames go together, so that the record is not compared a thousand times.
    for (kind, field, names_it), alike in groupby(
        sorted(cases(own, owner.objects), key=attaching_last), key=alikeness
    ):
        if kind == "hello":
            continue  # a page says it once, and the guest's has
        sent, errors = list(alike), len(guest.errors())
        tried += len(sent)
        for case in sent:
            await guest.send(**case.frame)
            if kind == "attach":
                await guest.send(**{**case.frame, "path": "stolen.ipynb"})
        await guest.handled()
        refused = len(guest.errors()) - errors
        # Which kernels a person may use is the authorizer's to say, which the last test is of.
        assert refused >= len(sent) * (names_it and field != "kernel_id"), f"accepted: {sent}"
        if field == "path":
            assert refused >= 2, "nobody said that the owner's chats stay where they are"
        assert kept(home, chat) == before, f"the record was changed by one of: {sent}"
    assert tried > 500
    assert await owner.state() == state
    assert SECRET not in json.dumps(guest.frames)
    # What waited for the owner waits still, and is the owner's to answer.
    answer = {"allowed": False, "reason": "no", "for_session": False}
    await owner.tab.send(type="answer", chat=owner.chat, call_id=state["approval"], **answer)
    assert (await owner.tab.event("approval_answered"))["by"] == "person"
    await owner.tab.send(type="stop", chat=owner.chat)
    await owner.tab.finished()


@guests
async def test_13_7_a_page_moves_the_chats_of_its_own_person_alone(live: Live) -> None:
    chats = (await live.load()).chats
    mine = chats.create("folder/a.ipynb", "ada").chat_id
    below = chats.create("folder/a.ipynb/b.ipynb", "ada").chat_id
    guest, _ = await sit_down_as_a_guest(live)
    theirs = chats.create("folder/a.ipynb", guest_owner("eve")).chat_id
    for path in ("folder/a.ipynb", "folder/b.ipynb"):
        await guest.send(type="attach", notebook=OWN, path=path)
    await guest.handled()
    assert chats.get(theirs).notebook_path == "folder/b.ipynb"
    assert chats.get(mine).notebook_path == "folder/a.ipynb"
    assert guest.errors() == ["not_allowed"]
    # A page has a notebook open, never a folder: what lies below a path does not move with it.
    owner = await live.tab()
    for path in ("folder/a.ipynb", "moved.ipynb"):
        await owner.send(type="attach", notebook="n", path=path)
    await owner.handled()
    assert chats.get(mine).notebook_path == "moved.ipynb"
    assert chats.get(below).notebook_path == "folder/a.ipynb/b.ipynb"
    assert not owner.errors()


@guests
async def test_13_7_a_guest_names_only_files_of_their_own(live: Live, jp_fetch: Fetch) -> None:
    shared = await live.load()
    secret = shared.uploads.store(SECRET.encode(), "notes.txt").file
    uploaded = await jp_fetch(
        *("cellwright", "v1", "files"), method="POST", body=b"a,b", params={"name": "a.csv"},
        headers=EVE,
    )  # fmt: skip
    guest, chat = await sit_down_as_a_guest(live)
    codes = []
    for file in (secret, json.loads(uploaded.body)["file"]):
        item = {"kind": "file", "name": "a", "file": file}
        codes.append((await guest.ask(chat, "look", mode="auto", context=[item]))["code"])
    assert codes == ["no_file", "not_allowed"]  # the second one goes on to the mode


@guests
async def test_13_7_another_persons_page_hides_no_cells_of_the_owner(
    live: Live, jp_fetch: Fetch
) -> None:
    shared = await live.load()
    chat = shared.chats.create("a.ipynb", "ada").chat_id
    cell = CellAdded("made", "1", "code", "")
    shared.chats.add_run(
        chat, shared.runs.start(started("x"), cell, RunFinished("completed")).run_id
    )
    guest, _ = await sit_down_as_a_guest(live)
    await guest.send(type="attach", notebook=OWN, path="a.ipynb")
    await guest.handled()
    missing = await jp_fetch("cellwright", "v1", "notebooks", "missing", params={"path": "a.ipynb"})
    assert [found["chat"] for found in json.loads(missing.body)] == [chat]


class NoKernels(Authorizer):
    """Lets everybody do everything but run code in kernels."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return (action, resource) != ("execute", "kernels")


NO_KERNELS = {
    "ServerApp": {"jpserver_extensions": {"cellwright": True}, "authorizer_class": NoKernels}
}


@pytest.mark.parametrize("jp_server_config", [NO_KERNELS])
async def test_13_7_whoever_may_not_run_code_in_kernels_may_not_through_the_socket(
    live: Live, scripted: FakeService
) -> None:
    tab, chat = await live.tab(), await live.chat()
    assert (await tab.ask(chat, "run it", mode="plan"))["code"] == "not_allowed"
    await tab.send(type="attach", notebook="n", path="a.ipynb", kernel_id=await live.kernel())
    await tab.handled()
    assert tab.errors() == ["not_allowed", "not_allowed"]
    assert not scripted.requests
