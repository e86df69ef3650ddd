"""An agent of somebody else's in a Jupyter server, over HTTP, driven by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import COMMAND, notebook
from server.live_server import Live
from server.live_tab import SOON_SECONDS, Document, TabClient, code_cell
from server.named_people import NamedPeople
from server_client import Client

from cellwright.knowledge.memory import Whose
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.server import chat_session
from cellwright.tools import cell_running

sdk = pytest.importorskip("mcp")
types = pytest.importorskip("mcp_types")  # the SDK's first line has none

pytestmark = [pytest.mark.server, pytest.mark.kernel]

Connect = Callable[..., Any]
PATH = "cellwright/v2/mcp"
ACCOUNTS = {
    "ServerApp": {
        "jpserver_extensions": {"cellwright": True},
        "identity_provider_class": NamedPeople,
    }
}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


REVISIONS = ["legacy", "2026-07-28"]
ACCEPT = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}


@pytest.fixture
def address(http_server_port: Any, jp_base_url: str) -> str:
    """The server's."""
    return f"http://127.0.0.1:{http_server_port[1]}{jp_base_url}"


@pytest.fixture
def connect(live: Live, address: str, jp_serverapp: Any) -> Connect:
    """A client of the SDK, at the server's address, with its token."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    token = jp_serverapp.identity_provider.token

    @asynccontextmanager
    async def connected(query: str = "", person: str = "", **options: Any) -> AsyncIterator[Any]:
        url = f"{address}{PATH}{query}"
        headers = {"Authorization": f"token {token}", "X-Person": person}
        info = types.Implementation(name="Other agent", version="7")
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(url, http_client=http)
            async with sdk.Client(transport, client_info=info, **options) as client:
                yield client

    return connected


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    """A notebook below the server's root."""
    path = jp_root_dir / "work.ipynb"
    path.write_text(json.dumps(notebook("mine = 1")), encoding="utf-8")
    return path


async def opened(live: Live, *cells: str) -> tuple[TabClient, Document]:
    """A page that has the notebook open; it follows the chats that it is told of."""
    await live.load()
    tab = await live.tab()
    filled = [code_cell(f"own-{number}", source) for number, source in enumerate(cells)]
    document = await tab.open(Document("work.ipynb", await live.kernel(), *filled))
    await tab.handled()
    return tab, document


async def follow_when_told(tab: TabClient) -> str:
    """What a page does that is told of a chat it does not know."""
    chat: str = await tab.until(lambda: next(iter(tab.states), ""))
    await tab.send(type="follow", chat=chat, after=None)
    return chat


def words(result: Any) -> str:
    return "\n".join(item.text for item in result.content if item.type == "text")


async def test_an_agent_works_in_the_open_notebook_and_the_page_draws_it(
    live: Live, connect: Connect, file: Path
) -> None:
    before = file.read_bytes()
    tab, document = await opened(live, "mine = 1")
    async with connect("?notebook=work.ipynb&mode=auto") as client:
        read = await client.call_tool("read_notebook", {})
        assert "own-0" in words(read)
        chat = await follow_when_told(tab)
        assert tab.states[chat]["driver"] == tab.tab
        ran = await client.call_tool("run_cell", {"code": "x = 6 * 7\nprint(x)"})
        assert "42" in words(ran)
        edited = await client.call_tool("edit_cell", {"cell_id": "own-0", "source": "mine = 2"})
        assert not edited.is_error
        await client.call_tool("submit", {"answer": "It is 42."})
        assert (await tab.finished())["answer"] == "It is 42."
        assert document.sources == ["mine = 2", "x = 6 * 7\nprint(x)"]
        assert [document.text(cell) for cell in document.finished] == ["42\n"]
    record = live.application.runs.record(tab.events[-1][0])
    assert (record.lane, record.notebook_path) == ("mcp", "work.ipynb")
    assert record.prompt == "Other-agent/7: read_notebook"
    assert file.read_bytes() == before


async def test_the_person_is_asked_in_the_panel_and_a_stop_there_ends_the_call(
    live: Live, connect: Connect, file: Path
) -> None:
    tab, document = await opened(live)
    async with connect("?notebook=work.ipynb") as client:
        calling = asyncio.ensure_future(client.call_tool("run_cell", {"code": "print('ran')"}))
        chat = await follow_when_told(tab)
        state = await tab.phase(chat, "approval")
        answer = {"chat": chat, "call_id": state["approval"], "reason": "", "for_session": False}
        await tab.send(type="answer", allowed=True, **answer)
        assert "ran" in words(await calling)
        code = "import time\nwhile True: time.sleep(0.05)"
        calling = asyncio.ensure_future(client.call_tool("run_cell", {"code": code}))
        state = await tab.phase(chat, "approval")
        await tab.send(type="answer", allowed=True, **{**answer, "call_id": state["approval"]})
        await tab.event("cell_started", 2)
        await tab.send(type="stop", chat=chat)
        stopped = await calling
        assert stopped.is_error
        assert (await tab.finished())["status"] == "cancelled"


async def test_a_run_that_does_not_react_to_stop_ends_its_own_call_and_no_later_one(
    live: Live, connect: Connect, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_session, "LET_GO_SECONDS", 0.5)
    reads, may_end = threading.Event(), threading.Event()

    def read_for_ever(_messages: Any) -> Any:
        reads.set()
        may_end.wait(30)
        return ()

    tab, _ = await opened(live)
    async with connect("?notebook=work.ipynb&mode=auto") as client:
        with monkeypatch.context() as held_up:
            held_up.setattr(cell_running, "fold", read_for_ever)
            calling = asyncio.ensure_future(client.call_tool("run_cell", {"code": "print(1)"}))
            chat = await follow_when_told(tab)
            await tab.until(reads.is_set)
            await tab.send(type="stop", chat=chat)
            stopped = await asyncio.wait_for(calling, SOON_SECONDS)
        assert stopped.is_error
        code = "import time; time.sleep(2); print('again')"
        calling = asyncio.ensure_future(client.call_tool("run_cell", {"code": code}))
        await tab.event("cell_started", 2)
        may_end.set()
        assert "again" in words(await calling)


@pytest.mark.parametrize("mode", REVISIONS)
async def test_whoever_answers_first_counts_where_client_and_panel_ask(
    live: Live, connect: Connect, file: Path, mode: str
) -> None:
    tab, document = await opened(live)
    asked: list[str] = []

    async def accept(_: Any, params: Any) -> Any:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "yes"})

    query = "?notebook=work.ipynb"
    async with connect(query, elicitation_callback=accept, mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else mode)
        assert "ran" in words(await client.call_tool("run_cell", {"code": "print('ran')"}))
    assert len(asked) == 1


async def test_without_a_page_code_runs_in_the_notebooks_kernel_and_no_file_changes(
    live: Live, connect: Connect, file: Path, client: Client, jp_serverapp: Any
) -> None:
    before = file.read_bytes()
    manager = jp_serverapp.session_manager
    session = await manager.create_session(path="work.ipynb", type="notebook")
    live.kernels.append(session["kernel"]["id"])
    async with connect("?notebook=work.ipynb&mode=auto") as agent:
        names = [tool.name for tool in (await agent.list_tools()).tools]
        assert "run_cell" in names
        assert "edit_cell" not in names
        outline = await agent.read_resource("cellwright://notebook")
        assert outline.contents[0].text == "# work.ipynb\n\n- cell-1 code: `mine = 1`\n"
        ran = await agent.call_tool("run_cell", {"code": "import os; os.getpid()"})
        assert not ran.is_error
        person = await live.person(session["kernel"]["id"])
        assert await person.run("print(os.getpid())") is not None
        await agent.call_tool("submit", {"answer": "It has a number."})
    missing = (await client.call("GET", "notebooks/missing?path=work.ipynb")).json
    assert [[cell["source"] for cell in run["cells"]] for run in missing] == [
        ["import os; os.getpid()"]
    ]
    assert file.read_bytes() == before


async def test_without_a_person_what_needs_asking_is_refused_with_what_to_do(
    live: Live, connect: Connect
) -> None:
    async with connect() as client:
        refused = await client.call_tool("run_cell", {"code": "1"})
        assert refused.is_error
        assert "?mode=auto" in words(refused)


@pytest.mark.parametrize("jp_server_config", [ACCOUNTS])
async def test_each_person_has_a_memory_of_their_own(live: Live, connect: Connect) -> None:
    keeper = MemoryKeeper((await live.load()).database)
    keeper.keep(Whose("", ""), "Sales are in euros", "user", "")
    keeper.keep(Whose("bob", ""), "Costs are in francs", "user", "")
    async with connect(person="bob") as client:
        recalled = words(await client.call_tool("recall", {}))
    assert "francs" in recalled
    assert "euros" not in recalled


@pytest.mark.parametrize("mode", REVISIONS)
async def test_a_cancelled_call_interrupts_the_cell_and_the_kernel_lives(
    live: Live, connect: Connect, mode: str
) -> None:
    goes = asyncio.Event()

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        if message == "it goes":
            goes.set()

    async with connect("?mode=auto", mode=mode) as client:
        code = "import time\nmark = 1\nprint('it goes')\nwhile True: time.sleep(0.05)"
        call = client.call_tool("run_cell", {"code": code}, progress_callback=heard)
        calling = asyncio.ensure_future(call)
        await asyncio.wait_for(goes.wait(), 30)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert "mark: int" in words(await client.call_tool("list_variables", {}))
    runs = [live.application.runs.record(run.run_id) for run in live.application.runs.list()]
    assert sorted(run.status for run in runs) == [
        "cancelled",
        # Only an older client says that it goes.
        "completed" if mode == "legacy" else "running",
    ]


async def test_a_mode_that_is_not_allowed_and_a_notebook_that_is_not_there_are_refused(
    live: Live, client: Client, monkeypatch: pytest.MonkeyPatch, jp_root_dir: Path
) -> None:
    shared = await live.load()
    (jp_root_dir / ".hidden.ipynb").write_text(json.dumps(notebook()), encoding="utf-8")
    hidden = await client.call("POST", "/v2/mcp?notebook=.hidden.ipynb", HELLO)
    assert hidden.status == 404, "the server shows no hidden files"
    missing = await client.call("POST", "/v2/mcp?notebook=none.ipynb", HELLO)
    assert (missing.status, missing.json["message"]) == (404, "There is no notebook 'none.ipynb'.")
    outside = await client.call("POST", "/v2/mcp?notebook=../../etc/passwd", HELLO)
    assert outside.status == 404
    shared.configuration.modes = ["plan", "ask"]
    refused = await client.call("POST", "/v2/mcp?mode=auto", HELLO)
    assert (refused.status, "not allowed" in refused.json["message"]) == (400, True)


async def test_a_session_is_its_clients_alone_and_ends_when_it_says_so(client: Client) -> None:
    begun = await client.call("POST", "/v2/mcp", HELLO, headers=ACCEPT)
    name = {**ACCEPT, "Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert '"result":{}' in str((await client.call("POST", "/v2/mcp", ping, headers=name)).body)
    assert (await client.call("POST", "/v2/mcp", ping, headers=ACCEPT)).status == 400
    wrong = {**ACCEPT, "Mcp-Session-Id": "guessed"}
    assert (await client.call("POST", "/v2/mcp", ping, headers=wrong)).status == 404
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.call("POST", "/v2/mcp", told, headers=name)).status == 202
    assert (await client.call("POST", "/v2/mcp", [ping], headers=name)).status == 400
    assert (await client.call("GET", "/v2/mcp", headers=name)).status == 405
    assert (await client.call("DELETE", "/v2/mcp", headers=name)).status == 200
    assert (await client.call("DELETE", "/v2/mcp", headers=name)).status == 404
    assert (await client.call("POST", "/v2/mcp", ping, headers=name)).status == 404


async def test_an_agent_goes_to_another_notebook_and_restarts_its_kernel(
    live: Live, connect: Connect, file: Path, jp_root_dir: Path
) -> None:
    (jp_root_dir / "other.ipynb").write_text(json.dumps(notebook("y = 2")), encoding="utf-8")
    tab, document = await opened(live, "mine = 1")
    chats: list[str] = []
    async with connect("?notebook=other.ipynb&mode=auto") as client:
        ran = await client.call_tool("run_scratch", {"code": "mine = 6"})
        assert not ran.is_error
        listed = words(await client.call_tool("list_notebooks", {}))
        assert "- other.ipynb (current)" in listed
        assert "- work.ipynb (open)" in listed
        assert (await client.call_tool("use_notebook", {"path": "../x.ipynb"})).is_error
        assert not (await client.call_tool("use_notebook", {"path": "work.ipynb"})).is_error
        ran = await client.call_tool("run_existing_cell", {"cell_id": "own-0"})
        assert not ran.is_error
        chats.append(await follow_when_told(tab))
        shown = await client.call_tool("run_cell", {"code": "mine + 1"})
        assert "2" in words(shown), "the notebook's own kernel"
        cleared = await client.call_tool("clear_outputs", {})
        assert not cleared.is_error
        calling = asyncio.ensure_future(client.call_tool("restart_kernel", {}))
        state = await tab.phase(chats[0], "approval")
        answer = {"call_id": state["approval"], "reason": "", "for_session": False}
        await tab.send(type="answer", chat=chats[0], allowed=True, **answer)
        assert not (await calling).is_error
        gone = await client.call_tool("run_scratch", {"code": "mine"})
        assert "NameError" in words(gone)
    assert document.sources == ["mine = 1", "mine + 1"]
    record = live.application.runs.record(live.application.runs.last_started)
    assert record.notebook_path == "work.ipynb"


async def test_a_token_is_needed_and_other_sites_are_refused(client: Client) -> None:
    elsewhere = {**ACCEPT, "Origin": "https://evil.example"}
    refused = await client.call("POST", "/v2/mcp", HELLO, headers=elsewhere)
    assert (refused.status, refused.json["code"]) == (403, "cross_site")
    stranger = await client.call("POST", "/v2/mcp", HELLO, who="stranger", headers=ACCEPT)
    assert stranger.status == 403
    assert (await client.call("POST", "/v2/mcp", HELLO, headers=ACCEPT)).status == 200


async def test_a_question_is_answered_once_and_by_its_client_alone(
    live: Live, client: Client
) -> None:
    def asked(name: str, **more: Any) -> tuple[dict[str, Any], dict[str, str]]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
        }
        params = {"name": "run_scratch", "arguments": {"code": "6 * 7"}, "_meta": meta, **more}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}
        headers |= {**ACCEPT, "Mcp-Name": "run_scratch"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return message, headers

    async def post(name: str, **more: Any) -> Any:
        message, headers = asked(name, **more)
        answer = await client.call("POST", "/v2/mcp", message, headers=headers)
        text = answer.body.decode()
        return json.loads(text.rpartition("data: ")[2] or text)

    await live.load()
    first = (await post("one"))["result"]
    assert first["resultType"] == "input_required"
    assert "6 * 7" in first["inputRequests"]["approval"]["params"]["message"]
    state = {"requestState": first["requestState"]}
    yes = {"inputResponses": {"approval": {"action": "accept", "content": {"answer": "yes"}}}}
    assert "error" in await post("another", **state, **yes), "it is not their call"
    assert "error" in await post("one", requestState="guessed", **yes)
    ran = (await post("one", **state, **yes))["result"]
    assert "42" in str(ran["content"])
    assert "error" in await post("one", **state, **yes), "once"


@pytest.mark.parametrize("mode", REVISIONS)
async def test_a_client_that_speaks_over_its_streams_reaches_the_server(
    live: Live, address: str, jp_serverapp: Any, file: Path, mode: str
) -> None:
    await live.load()
    asked: list[str] = []

    async def accept(_: Any, params: Any) -> Any:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "yes"})

    parameters = sdk.StdioServerParameters(
        command=str(COMMAND),
        args=["mcp", "--kernel-of", f"{address}lab", "--notebook", "work.ipynb"],
        env={**os.environ, "JUPYTER_TOKEN": jp_serverapp.identity_provider.token},
    )
    async with sdk.Client(parameters, elicitation_callback=accept, mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else mode)
        ran = await client.call_tool("run_scratch", {"code": "6 * 7"})
        assert "42" in words(ran)
        outline = await client.read_resource("cellwright://notebook")
        assert "mine = 1" in outline.contents[0].text
    assert len(asked) == 1
