"""Every route against everybody who should not get through, and those who should."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from recorded_runs import analysis_run
from server_client import Answer, Client
from tornado.websocket import WebSocketHandler

from cellwright.server.application import Application
from cellwright.server.routes import Route
from cellwright.server.table import MODULES, find_module, load_all_routes, load_routes
from cellwright.store.search_index import FILE

pytestmark = pytest.mark.server

READING = ("GET", "HEAD", "OPTIONS")
COMPONENT = "/v2/components/{name}/version/{version}"
COUNTED = {"arguments": {"text": "one two"}}
MCP_HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
EVIL = "https://evil.example"


class RefusesCellwright(Authorizer):
    """Lets everybody do everything, except what belongs to cellwright."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "cellwright"


class OnlyLooking(Authorizer):
    """Lets everybody read, and nobody do anything."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action == "read"


WITH_CELLWRIGHT = {"jpserver_extensions": {"cellwright": True}}
REFUSING = {"ServerApp": {**WITH_CELLWRIGHT, "authorizer_class": RefusesCellwright}}
LOOKING = {"ServerApp": {**WITH_CELLWRIGHT, "authorizer_class": OnlyLooking}}
OFF = {"ServerApp": WITH_CELLWRIGHT, "Cellwright": {"enabled": False}}


@dataclass(frozen=True)
class Call:
    """A request that succeeds, but for who makes it."""

    route: str
    method: str
    path: str
    value: Any = None
    status: int = 200


def calls(chat: str, run: str) -> list[Call]:
    """One call for every method of every route; what deletes comes last."""
    return [
        Call("health", "GET", "health"),
        Call("service", "GET", "service"),
        Call("service", "PUT", "service", {"model": "cellwright-demo"}),
        Call("service/test", "POST", "service/test", {}),
        Call("models", "GET", "models"),
        Call("models", "POST", "models", {"model": "cellwright-demo"}),
        Call("providers", "GET", "providers"),
        Call("chats", "GET", "chats?query=region"),
        Call("chats", "POST", "chats", {"notebook_path": "b.ipynb"}, 201),
        Call("assistants", "GET", "assistants?notebook=b.ipynb"),
        Call("assistants", "POST", "assistants", {"place": "own", "name": "new"}, 201),
        Call("assistants/{name}", "GET", "assistants/none", status=404),
        Call("assistants/{name}", "PUT", "assistants/none", {"version": "1"}, 404),
        Call("assistants/{name}", "DELETE", "assistants/none?version=1", status=404),
        Call("usage", "GET", "usage?by=chat"),
        Call("budgets", "PUT", "budgets", {"month_dollars": 9.5}),
        Call("chats/{id}/export", "GET", f"chats/{chat}/export?to=html"),
        Call("chats/{id}", "GET", f"chats/{chat}"),
        Call("chats/{id}/messages", "GET", f"chats/{chat}/messages?debug=1"),
        Call("chats/{id}/context", "GET", f"chats/{chat}/context"),
        Call("chats/{id}/context", "PUT", f"chats/{chat}/context", {"words": "All is well."}),
        Call("chats/{id}/project", "GET", f"chats/{chat}/project"),
        Call("chats/{id}/project", "PUT", f"chats/{chat}/project", {"id": "none"}, 400),
        Call("chats/{id}/messages", "POST", f"chats/{chat}/messages", {"text": "A note."}, 201),
        Call("chats/{id}/messages/{id}", "DELETE", f"chats/{chat}/messages/none", status=404),
        Call("chats/{id}/pins/{id}", "PUT", f"chats/{chat}/pins/{run}"),
        Call("chats/{id}/pins/{id}", "DELETE", f"chats/{chat}/pins/{run}"),
        Call("chats/{id}/thumbs/{id}", "PUT", f"chats/{chat}/thumbs/{run}", {"is_up": True}),
        Call("chats/{id}/thumbs/{id}", "DELETE", f"chats/{chat}/thumbs/{run}"),
        Call("chats/{id}/branches", "GET", f"chats/{chat}/branches"),
        Call("chats/{id}/branches", "POST", f"chats/{chat}/branches", {"prompt": "hello"}, 400),
        Call("chats/{id}/branches", "DELETE", f"chats/{chat}/branches"),
        Call("chats/{id}/preview", "POST", f"chats/{chat}/preview", {"call": "call_1"}, 400),
        Call("chats/{id}/preview", "DELETE", f"chats/{chat}/preview"),
        Call("chats/{id}/branches/{id}/keep", "POST", f"chats/{chat}/branches/1/keep", None, 400),
        Call("chats/{id}/branch", "POST", f"chats/{chat}/branch", {"run": run}, 201),
        Call("memories", "GET", "memories?query=region"),
        Call("memories", "POST", "memories", {"text": "I prefer polars"}, 201),
        Call("memories/{id}", "PATCH", "memories/none", {"text": "Use polars"}, 404),
        Call("memories/{id}", "DELETE", "memories/none", status=404),
        Call("memory-setting", "GET", "memory-setting"),
        Call("memory-setting", "PUT", "memory-setting", {"is_on": False}),
        Call("proposals/{id}", "POST", "proposals/none", {"accept": True}, 404),
        Call("library", "GET", "library"),
        Call("library", "POST", "library", {"place": "none.md"}, 400),
        Call("library", "DELETE", "library?library=none", status=404),
        Call("library/search", "GET", "library/search?query=region"),
        Call("library/{id}", "DELETE", "library/none", status=404),
        Call("files", "POST", "files?name=a.csv", b"a,b\n", 201),
        # no kernel runs here, which is told only to those who may ask
        Call("kernels/{id}/files", "GET", "kernels/none/files?run=r", status=404),
        Call("kernels/{id}/files", "POST", "kernels/none/files", {}, status=404),
        Call("kernels/{id}/snapshots", "GET", "kernels/none/snapshots?measured=1", status=404),
        Call("kernels/{id}/snapshots", "DELETE", "kernels/none/snapshots", status=404),
        Call("kernels/{id}/undo", "POST", "kernels/none/undo", {}, status=404),
        Call("kernels/{id}/variables", "GET", "kernels/none/variables", status=404),
        Call("kernels/{id}/variables/{name}", "GET", "kernels/none/variables/df", status=404),
        Call("runs/{id}/cells", "GET", f"runs/{run}/cells"),
        Call("runs/{id}/before", "GET", f"runs/{run}/before?step=2"),
        Call("runs/{id}/fates", "POST", f"runs/{run}/fates", {"fates": {"c": "saved"}}),
        Call("runs", "GET", "runs?query=region"),
        Call("runs/{id}/sample", "GET", f"runs/{run}/sample"),
        Call("results", "GET", "results"),
        # no benchmark was run here, which is told only to those who may ask
        Call("results/summary", "GET", "results/summary?result=runs/a", status=404),
        Call("results/samples", "GET", "results/samples?result=runs/a", status=404),
        Call("results/sample", "GET", "results/sample?result=runs/a&id=1", status=404),
        Call("results/compare", "GET", "results/compare?first=a&second=b", status=404),
        Call("results/leaderboard", "GET", "results/leaderboard?folder=runs", status=400),
        Call("notebooks/missing", "GET", "notebooks/missing?path=a.ipynb"),
        Call("tools", "GET", "tools"),
        Call("tools/sign-in", "POST", "tools/sign-in", {"name": "none"}, 400),
        Call("tools/sign-in", "DELETE", "tools/sign-in?name=none", status=400),
        Call("tools/sign-in/answer", "GET", "tools/sign-in/answer?code=a&state=b"),
        Call("/v2/components", "GET", "/v2/components"),
        Call(COMPONENT, "GET", "/v2/components/word_count/version/v1"),
        Call(COMPONENT, "POST", "/v2/components/word_count/version/v1", COUNTED),
        Call("/v2/mcp", "POST", "/v2/mcp", MCP_HELLO, status=400),
        Call("/v2/mcp", "DELETE", "/v2/mcp", status=400),
        Call("/openapi.json", "GET", "/openapi.json"),
        Call("chats/{id}", "PATCH", f"chats/{chat}", {"title": "New"}),
        Call("chats/{id}", "DELETE", f"chats/{chat}"),
    ]


@pytest.fixture
def all_calls(shared: Application) -> list[Call]:
    chat = shared.chats.create("a.ipynb")
    run = shared.runs.start(*analysis_run()).run_id
    shared.chats.add_run(chat.chat_id, run)
    return calls(chat.chat_id, run)


def mutating(found: list[Call]) -> Iterator[Call]:
    return (call for call in found if call.method not in READING)


def contents(shared: Application) -> list[str]:
    """Everything in the record, and the names of all files beside it but the index of words."""
    path = shared.chooser.home() / "runs.sqlite"
    with sqlite3.connect(path) as connection:
        rows = list(connection.iterdump())
    connection.close()
    derived = ("-wal", "-shm", FILE)
    files = [f for f in shared.chooser.home().rglob("*") if not f.name.endswith(derived)]
    return rows + sorted(str(file) for file in files)


async def made(client: Client, call: Call, **options: Any) -> Answer:
    return await client.call(call.method, call.path, call.value, **options)


def rest_routes() -> list[tuple[str, type[Route]]]:
    return [
        (path, handler)
        for path, handler in load_all_routes()
        if issubclass(handler, Route) and not issubclass(handler, WebSocketHandler)
    ]


def methods_of(handler: type[Route]) -> list[str]:
    names = ("get", "post", "put", "patch", "delete", "head")
    return [name.upper() for name in names if any(name in c.__dict__ for c in ours(handler))]


def ours(handler: type[Route]) -> list[type]:
    return [c for c in handler.__mro__ if c.__module__.startswith("cellwright.")]


def shape(path: str) -> str:
    """A route's pattern as the documentation writes it."""
    names = {
        "([A-Za-z0-9_.-]{1,128})": "{id}",
        "([^/]{1,512})": "{name}",
        "([^/]{1,3072})": "{name}",
        "([A-Za-z0-9_-]{1,64})": "{name}",
        "([A-Za-z0-9_.-]{1,64})": "{version}",
    }
    for pattern, name in names.items():
        path = path.replace(pattern, name)
    return path


def test_every_method_of_every_route_is_called_here() -> None:
    there = {(shape(path), method) for path, cls in rest_routes() for method in methods_of(cls)}
    assert there == {(call.route, call.method) for call in calls("c", "r")}


def test_002_34_the_routes_are_the_nouns_and_no_assistant_is_a_service_of_its_own() -> None:
    nouns = {path.partition("/")[0] for path, _ in rest_routes()}
    assert {"chats", "assistants", "tools", "library", "memories", "usage", "files"} <= nouns
    paths = {shape(path) for path, _ in rest_routes()}
    assert "chats/{id}/messages" in paths
    assert not [path for path in paths if "completions" in path]


@pytest.mark.parametrize("name", [name for _, name in MODULES])
def test_the_first_request_for_a_route_loads_the_file_that_it_is_in(name: str) -> None:
    for path, _ in load_routes(name):
        address = re.sub(r"\([^()]*\)", "x", path).replace("\\", "")
        address = address.removeprefix("/") if address.startswith("/") else f"v1/{address}"
        assert find_module(address) == name


def test_every_route_names_the_resource_to_authorize() -> None:
    resources = {getattr(handler, "auth_resource", None) for _, handler in load_all_routes()}
    assert resources == {"cellwright"}


def test_no_route_has_its_own_idea_of_origins_and_xsrf() -> None:
    checks = ("check_origin", "check_xsrf_cookie", "check_host", "check_referer")
    for _, handler in rest_routes():
        assert not [name for c in ours(handler) for name in checks if name in c.__dict__]


async def test_the_token_opens_every_route(client: Client, all_calls: list[Call]) -> None:
    answers = [(call, (await made(client, call)).status) for call in all_calls]
    assert [(call.path, status) for call, status in answers if status != call.status] == []


async def test_a_page_that_sends_its_cookie_and_xsrf_header_gets_in(
    client: Client, all_calls: list[Call]
) -> None:
    await client.log_in()
    for call in all_calls:
        headers = {"Sec-Fetch-Site": "same-origin"}
        answer = await made(client, call, who="cookie", xsrf=True, headers=headers)
        assert answer.status == call.status, call


async def test_002_34_strangers_are_refused_on_every_route(
    client: Client, all_calls: list[Call], shared: Application
) -> None:
    before = contents(shared)
    for call in all_calls:
        assert (await made(client, call, who="stranger")).status == 403, call
        headers = {"Authorization": "token wrong"}
        assert (await made(client, call, who="stranger", headers=headers)).status == 403, call
    assert contents(shared) == before


@pytest.mark.parametrize("kind", ["json", "x-www-form-urlencoded", "octet-stream"])
async def test_002_34_a_cookie_without_the_xsrf_header_changes_nothing(
    client: Client, all_calls: list[Call], shared: Application, kind: str
) -> None:
    await client.log_in()
    before = contents(shared)
    for call in mutating(all_calls):
        headers = {"Content-Type": f"application/{kind}"}
        assert (await made(client, call, who="cookie", headers=headers)).status == 403, call
    assert contents(shared) == before


async def test_another_origin_is_refused(
    client: Client, all_calls: list[Call], shared: Application
) -> None:
    await client.log_in()
    before = contents(shared)
    for call in all_calls:
        headers = {"Origin": EVIL, "Sec-Fetch-Site": "cross-site"}
        answer = await made(client, call, who="cookie", xsrf=True, headers=headers)
        assert answer.status in (403, 404), call
        assert b"chat" not in answer.body
        answer = await made(client, call, who="cookie", headers=headers)
        assert answer.status in (403, 404), call
    assert contents(shared) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Referer": f"{EVIL}/page"},
    ],
    ids=["another site", "another port", "referer"],
)
async def test_what_a_page_of_another_site_loads_as_a_script_is_refused(
    client: Client, all_calls: list[Call], headers: dict[str, str]
) -> None:
    await client.log_in()
    for call in all_calls:
        if call.method == "GET":
            answer = await made(client, call, who="cookie", headers=headers)
            assert (answer.status, answer.json["code"]) == (403, "cross_site"), call


async def test_a_link_to_an_export_may_be_typed_into_the_address_bar(
    client: Client, all_calls: list[Call]
) -> None:
    await client.log_in()
    (export,) = [call for call in all_calls if call.path.endswith("to=html")]
    answer = await made(client, export, who="cookie", headers={"Sec-Fetch-Site": "none"})
    assert answer.status == 200


async def test_a_name_that_was_bound_to_this_address_is_refused(
    client: Client, all_calls: list[Call]
) -> None:
    for call in all_calls:
        answer = await made(client, call, headers={"Host": "evil.example:8888"})
        assert answer.status == 403, call


@pytest.mark.parametrize("jp_server_config", [REFUSING])
async def test_the_authorizer_can_close_every_route(client: Client, all_calls: list[Call]) -> None:
    for call in all_calls:
        assert (await made(client, call)).status == 403, call


@pytest.mark.parametrize("jp_server_config", [LOOKING])
async def test_who_may_only_look_changes_nothing(
    client: Client, all_calls: list[Call], shared: Application
) -> None:
    before = contents(shared)
    for call in all_calls:
        asks_a_kernel = call.route.startswith("kernels")
        expected = 403 if call.method not in READING or asks_a_kernel else call.status
        assert (await made(client, call)).status == expected, call
    assert contents(shared) == before


@pytest.mark.parametrize("jp_server_config", [OFF])
async def test_switched_off_only_health_answers(client: Client, all_calls: list[Call]) -> None:
    for call in all_calls:
        answer = await made(client, call)
        if call.route == "health":
            assert answer.json["enabled"] is False
        else:
            assert (answer.status, answer.json["code"]) == (403, "disabled"), call


async def test_no_get_changes_anything(
    client: Client, all_calls: list[Call], shared: Application
) -> None:
    before = contents(shared)
    for call in all_calls:
        if call.method == "GET":
            await made(client, call)
    assert contents(shared) == before


async def test_other_methods_are_not_there(client: Client) -> None:
    for path, handler in rest_routes():
        where = re.sub(r"{\w+}", "x", shape(path))
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - set(methods_of(handler)):
            assert (await client.call(method, where)).status == 405, (method, path)


async def test_every_answer_forbids_guessing_at_what_it_is(
    client: Client, all_calls: list[Call]
) -> None:
    for call in all_calls:
        answer = await made(client, call)
        assert answer.headers["X-Content-Type-Options"] == "nosniff", call
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
