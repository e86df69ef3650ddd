"""Chats over the wire: begun, listed, searched, renamed, moved, exported, deleted."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import nbformat
import pytest
from recorded_runs import analysis_run, record_of, started
from server.named_people import NamedPeople
from server_client import Client, with_parameters

from cellwright.record.events import RunFinished
from cellwright.server.application import Application
from cellwright.server.chat_routes import chat_markdown
from cellwright.store.chat_rows import Chat

pytestmark = pytest.mark.server

WITH_CELLWRIGHT = {"jpserver_extensions": {"cellwright": True}}


ACCOUNTS = {"ServerApp": {**WITH_CELLWRIGHT, "identity_provider_class": NamedPeople}}


class Watcher:
    """Notes what it is told; runs go on where it is said so."""

    is_busy = False

    def __init__(self) -> None:
        self.changed: list[Chat] = []
        self.deleted: list[str] = []
        self.runs: dict[str, str] = {}

    def running(self, chat_id: str) -> str:
        return self.runs.get(chat_id, "")

    def waits_for_answer(self, chat_id: str) -> bool:
        return self.runs.get(chat_id, "").startswith("asking")

    def is_open_elsewhere(self, path: str, tab: str, owner: str) -> bool:
        return False

    def chat_changed(self, chat: Chat) -> None:
        self.changed.append(chat)

    def chat_deleted(self, chat_id: str) -> None:
        self.deleted.append(chat_id)

    def close(self) -> None:
        pass


@pytest.fixture
def watcher(shared: Application) -> Watcher:
    watcher = Watcher()
    shared.live = watcher
    return watcher


def asked(shared: Application, chat_id: str, prompt: str, answer: str) -> str:
    run = shared.runs.start(started(prompt), RunFinished("completed", answer)).run_id
    shared.chats.add_run(chat_id, run)
    return run


async def test_a_chat_is_begun_and_listed(client: Client, shared: Application) -> None:
    made = (await client.call("POST", "chats", {"notebook_path": "a b/数据.ipynb"})).json
    assert made.pop("updated_at") > 0
    assert made == {
        "id": made["id"],
        "title": "",
        "notebook_path": "a b/数据.ipynb",
        "runs": 0,
        "run": "",
        "waits_for_answer": False,
        "branched_from": "",
        "prompt": "",
        "prompt_adds": False,
        "expires_at": 0.0,
        "pins": [],
        "thumbs": {},
        "undone": {},
        "text_filters": ["line_ends", "terminal_colours", "blank_lines"],
    }
    asked(shared, made["id"], "哪个地区?", "North, \ud800 of course")
    (listed,) = (await client.call("GET", "chats")).json
    assert (listed["id"], listed["title"], listed["runs"]) == (made["id"], "哪个地区?", 1)


async def test_a_chat_needs_no_notebook(client: Client) -> None:
    assert (await client.call("POST", "chats")).json["notebook_path"] == ""
    assert (await client.call("POST", "chats", {})).json["notebook_path"] == ""


async def test_chats_are_listed_by_notebook_and_words(client: Client, shared: Application) -> None:
    first = shared.chats.create("a b.ipynb").chat_id
    second = shared.chats.create("数据.ipynb").chat_id
    asked(shared, first, "Which region?", "North")
    asked(shared, second, "销售最多?", "100% South")

    async def found(**parameters: str) -> list[str]:
        answer = await client.call("GET", with_parameters("chats", **parameters))
        return [chat["id"] for chat in answer.json]

    assert await found() == [second, first]
    assert await found(notebook="a b.ipynb") == [first]
    assert await found(notebook="数据.ipynb") == [second]
    assert await found(query="销售") == [second]
    assert await found(query="NORTH region") == [first]
    assert await found(query="100%") == [second]
    assert await found(notebook="a b.ipynb", query="south") == []


async def test_a_chat_that_runs_says_so(client: Client, watcher: Watcher) -> None:
    chat = (await client.call("POST", "chats", {})).json["id"]
    watcher.runs[chat] = "a-run"
    assert (await client.call("GET", "chats")).json[0]["run"] == "a-run"


async def test_a_chat_is_renamed_and_moved(client: Client, watcher: Watcher) -> None:
    chat = (await client.call("POST", "chats", {"notebook_path": "a.ipynb"})).json["id"]
    answer = await client.call("PATCH", f"chats/{chat}", {"title": " New\nname "})
    assert (answer.json["title"], answer.json["notebook_path"]) == ("New name", "a.ipynb")
    answer = await client.call("PATCH", f"chats/{chat}", {"notebook_path": "b.ipynb"})
    assert (answer.json["title"], answer.json["notebook_path"]) == ("New name", "b.ipynb")
    key = "sk-proj-Abcdefghij0123456789Klmnop"
    assert key not in (await client.call("PATCH", f"chats/{chat}", {"title": key})).json["title"]
    assert [told.notebook_path for told in watcher.changed] == ["a.ipynb", "b.ipynb", "b.ipynb"]


async def test_002_47_a_chat_keeps_which_text_filters_are_on_and_in_which_order(
    client: Client, shared: Application, watcher: Watcher
) -> None:
    chat = shared.chats.create().chat_id
    for names in (["blank_lines", "line_ends"], [], ["terminal_colours"]):
        answer = await client.call("PATCH", f"chats/{chat}", {"text_filters": names})
        assert (answer.status, answer.json["text_filters"]) == (200, names)
        assert (await client.call("GET", f"chats/{chat}")).json["text_filters"] == names
    assert len(watcher.changed) == 3
    other = (await client.call("POST", "chats")).json
    assert other["text_filters"] == ["line_ends", "terminal_colours", "blank_lines"]


@pytest.mark.parametrize("names", [["blank_lines", "vowels"], "blank_lines", [7], None, {}])
async def test_002_47_filters_that_there_are_not_change_nothing_of_the_chat(
    client: Client, shared: Application, names: object
) -> None:
    chat = shared.chats.create().chat_id
    answer = await client.call("PATCH", f"chats/{chat}", {"title": "New", "text_filters": names})
    assert answer.status == 400
    if names == ["blank_lines", "vowels"]:
        assert answer.json["message"] == "There is no text filter 'vowels'."
        assert answer.json["hint"] == "There are: line_ends, terminal_colours, blank_lines."
    assert (shared.chats.get(chat).title, shared.chats.get(chat).settings) == ("", {})


async def test_a_chat_is_deleted_with_its_runs(
    client: Client, shared: Application, watcher: Watcher
) -> None:
    chat = shared.chats.create().chat_id
    run = asked(shared, chat, "hello", "world")
    assert (await client.call("DELETE", f"chats/{chat}")).status == 200
    assert watcher.deleted == [chat]
    assert shared.runs.events(run) == ()
    assert (await client.call("DELETE", f"chats/{chat}")).status == 404
    assert (await client.call("GET", "chats")).json == []


async def test_a_chat_in_which_a_run_goes_on_is_not_deleted(
    client: Client, shared: Application, watcher: Watcher
) -> None:
    chat = shared.chats.create().chat_id
    watcher.runs[chat] = "a-run"
    answer = await client.call("DELETE", f"chats/{chat}")
    assert (answer.status, answer.json["code"]) == (409, "running")
    assert shared.chats.find(chat) is not None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PATCH", "chats/nothing"),
        ("DELETE", "chats/nothing"),
        ("GET", "chats/nothing/export?to=html"),
    ],
)
async def test_a_chat_that_is_not_there_is_told(client: Client, method: str, path: str) -> None:
    answer = await client.call(method, path, {"title": "x"} if method == "PATCH" else None)
    assert answer.status == 404
    assert "'nothing'" in answer.json["message"]
    assert answer.json["hint"]


class TestBodies:
    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"{", "not JSON"),
            (b"\xff", "not JSON"),
            (b"[" * 100_000, "not JSON"),
            (b"[]", "not an object"),
            (b'"text"', "not an object"),
            (b'{"title": 1, "colour": "red"}', "'colour' is not known; 'title' is not text"),
            (b'{"title": null}', "'title' is not text"),
            (b'{"title": "' + b"x" * 9_000 + b'"}', "'title' is too long"),
            (b"{}", "Nothing is to be changed"),
        ],
    )
    async def test_what_cannot_be_used_is_named(
        self, client: Client, body: bytes, words: str
    ) -> None:
        answer = await client.call("PATCH", "chats/any", body)
        assert answer.status == 400
        assert words in answer.json["message"]

    async def test_one_that_is_too_large_is_refused(self, client: Client) -> None:
        answer = await client.call("PATCH", "chats/any", b" " * 1_100_000)
        assert answer.status == 413

    async def test_a_parameter_that_is_too_long_is_refused(self, client: Client) -> None:
        answer = await client.call("GET", "chats?query=" + "x" * 9_000)
        assert answer.status == 400


class TestExport:
    @pytest.fixture
    def chat(self, shared: Application) -> str:
        chat = shared.chats.create("a.ipynb").chat_id
        shared.chats.add_run(chat, shared.runs.start(*analysis_run()).run_id)
        shared.chats.add_run(chat, shared.runs.start(*analysis_run()).run_id)
        shared.chats.rename(chat, "Which <region>/../sold: most?")
        return chat

    async def test_a_notebook_holds_all_runs(self, client: Client, chat: str) -> None:
        answer = await client.call("GET", f"chats/{chat}/export?to=ipynb")
        disposition = answer.headers["Content-Disposition"]
        assert disposition == "attachment; filename*=utf-8''Which-region-sold-most.ipynb"
        document: Any = nbformat.reads(answer.body.decode(), as_version=4)
        nbformat.validate(document)
        prompts = [c for c in document.cells if c.metadata["cellwright"].get("role") == "prompt"]
        assert len(prompts) == 2
        assert len(document.metadata["cellwright"]["chat"]["runs"]) == 2

    async def test_a_page_holds_all_runs_and_loads_nothing(self, client: Client, chat: str) -> None:
        answer = await client.call("GET", f"chats/{chat}/export?to=html")
        page = answer.body.decode()
        assert page.count("<!DOCTYPE html>") == page.count("</html>") == page.count("<body>") == 1
        assert page.count("cellwright run <code>") == 2
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["Content-Disposition"].startswith("attachment")

    async def test_markdown_holds_prompts_code_outputs_and_answers(
        self, client: Client, chat: str
    ) -> None:
        answer = await client.call("GET", f"chats/{chat}/export?to=markdown")
        text = answer.body.decode()
        assert text.startswith("# Which")
        assert text.count("> Which region sold most?") == 2
        assert "```python\nimport pandas as pd" in text
        assert "KeyError: 'regoin'" in text

    async def test_secrets_of_the_environment_are_left_out(
        self, client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = "".join(["hunter2", "hunter2", "hunter2"])
        chat = shared.chats.create().chat_id
        asked(shared, chat, f"use {secret}", f"used {secret}")
        monkeypatch.setenv("SOME_SERVICE_TOKEN", secret)
        for to in ("markdown", "ipynb", "html"):
            answer = await client.call("GET", f"chats/{chat}/export?to={to}")
            assert answer.status == 200
            assert secret.encode() not in answer.body
            assert secret not in answer.headers["Content-Disposition"]

    @pytest.mark.parametrize("to", ["", "exe", "../etc"])
    async def test_an_unknown_format_is_told(self, client: Client, chat: str, to: str) -> None:
        answer = await client.call("GET", with_parameters(f"chats/{chat}/export", to=to))
        assert answer.status == 400
        assert "markdown, ipynb, html" in answer.json["hint"]

    async def test_a_chat_without_runs_has_nothing_to_export(
        self, client: Client, shared: Application
    ) -> None:
        chat = shared.chats.create().chat_id
        answer = await client.call("GET", f"chats/{chat}/export?to=html")
        assert answer.status == 400
        assert "nothing in this chat" in answer.json["message"]

    async def test_a_chat_whose_title_is_no_file_name_has_one_all_the_same(
        self, client: Client, shared: Application, chat: str
    ) -> None:
        shared.chats.rename(chat, "?!/..")
        answer = await client.call("GET", f"chats/{chat}/export?to=html")
        assert answer.headers["Content-Disposition"].endswith("''chat.html")


class TestPeople:
    async def test_everybody_who_shares_one_token_sees_the_same_chats(
        self, client: Client, shared: Application
    ) -> None:
        await client.call("POST", "chats", {})
        await client.log_in()
        answer = await client.call("GET", "chats", who="cookie")
        assert len(answer.json) == 1
        assert shared.chats.list()[0].owner == ""

    @pytest.mark.parametrize("jp_server_config", [ACCOUNTS])
    async def test_people_with_accounts_see_their_own(
        self, client: Client, shared: Application
    ) -> None:
        chat = (await client.call("POST", "chats", {"notebook_path": "a.ipynb"})).json["id"]
        run = asked(shared, chat, "hello", "world")
        assert shared.chats.get(chat).owner == "ada"
        eve = {"X-Person": "eve"}
        assert (await client.call("GET", "chats", headers=eve)).json == []
        missing = await client.call("GET", "notebooks/missing?path=a.ipynb", headers=eve)
        assert missing.json == []
        for method, path, value in (
            ("PATCH", f"chats/{chat}", {"title": "mine"}),
            ("DELETE", f"chats/{chat}", None),
            ("GET", f"chats/{chat}/export?to=html", None),
            ("GET", f"runs/{run}/cells", None),
            ("POST", f"runs/{run}/fates", {"fates": {}}),
        ):
            answer = await client.call(method, path, value, headers=eve)
            assert answer.status == 404, path
            assert (await client.call(method, path, value)).status == 200 or method == "DELETE"
            if method == "DELETE":
                break


class TestRenames:
    async def moved(self, client: Client, old: str, new: str) -> None:
        url = f"{client.base_url}api/contents/{old}"
        headers = {"Authorization": f"token {client.token}"}
        body = json.dumps({"path": new}).encode()
        assert (await client.fetch("PATCH", url, headers, body)).code == 200

    @pytest.mark.parametrize(("old", "new"), [("dir/a.ipynb", "dir/b.ipynb"), ("dir", "other")])
    async def test_chats_follow_what_is_moved_in_the_browser(
        self, client: Client, watcher: Watcher, jp_root_dir: Any, old: str, new: str
    ) -> None:
        (jp_root_dir / "dir").mkdir()
        (jp_root_dir / "dir" / "a.ipynb").write_text("{}")
        await client.call("POST", "chats", {"notebook_path": "dir/a.ipynb"})
        await self.moved(client, old, new)
        for _ in range(100):
            if watcher.changed:
                break
            await asyncio.sleep(0.02)
        moved = new if new.endswith(".ipynb") else f"{new}/a.ipynb"
        assert [told.notebook_path for told in watcher.changed] == [moved]
        assert (await client.call("GET", "chats")).json[0]["notebook_path"] == moved


def test_a_chat_of_several_assistants_tells_whose_each_answer_is() -> None:
    run = record_of(analysis_run())
    text = chat_markdown("Talk", [replace(run, assistant="reviewer"), run])
    assert [line for line in text.split("\n") if line.startswith("*") and "completed" in line] == [
        f"*@reviewer · {run.parameters.model} · completed*",
        f"*{run.parameters.model} · completed*",
    ]
