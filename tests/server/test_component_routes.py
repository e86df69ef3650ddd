"""Components called over the wire."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jupyter_server.auth import Authorizer
from key_shapes import MadeUp, made_up_keys, made_up_values
from server import hand_components as tools
from server.live_server import Live
from server_client import Answer, Client

from cellwright.server.application import Application
from cellwright.server.component_runs import RUN_LIMIT
from cellwright.text.redaction import Redactor

pytestmark = pytest.mark.server

CONFIG: dict[str, Any] = {
    "ServerApp": {"jpserver_extensions": {"cellwright": True}},
    "Cellwright": {"components": [tools.SETTING, "no_such_module:x"]},
}


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    return CONFIG


WRONG: tuple[tuple[dict[str, Any], int, str], ...] = (
    ({"arguments": []}, 400, "'arguments' is not an object"),
    ({"confirm": "yes"}, 400, "'confirm' is not true or false"),
    ({"scope": "me"}, 400, "There is no scope 'me'."),
    ({"mode": "wild"}, 400, "Mode 'wild' is not allowed"),
    ({"tool": "other"}, 404, "'shout' has no tool 'other'."),
    ({"query": "?chat=none"}, 404, "There is no chat 'none'."),
    ({"query": "?kernel=none"}, 404, "There is no kernel 'none'."),
)


async def evaluated(
    client: Client, name: str, version: str = "v1", query: str = "", **options: Any
) -> Answer:
    headers = options.pop("headers", {})
    path = f"/v2/components/{name}/version/{version}{query}"
    return await client.call("POST", path, options, headers=headers)


def envelopes(answer: Answer) -> list[Any]:
    """The events of a stream; comments are none."""
    blocks = [block.split("\n") for block in answer.body.decode().split("\n\n") if block]
    events = [dict(line.split(": ", 1) for line in block) for block in blocks]
    return [json.loads(event["data"]) for event in events if "data" in event]


def said(envelope: Any) -> list[str]:
    return [item["text"]["info"] for item in envelope["content"] if "info" in item["text"]]


async def test_000_32_the_list_names_all_with_their_schemas(client: Client) -> None:
    answer = await client.call("GET", "/v2/components")
    found = {(item["name"], item["version"]): item for item in answer.json["components"]}
    assert ("word_count", "v1") in found
    assert {("aged", "v1"), ("aged", "v2.1")} <= set(found)
    shout = found["shout", "v1"]
    assert (shout["risk"], shout["source"], shout["spec"]) == ("read", "settings", 2)
    (manifest,) = shout["manifests"]
    Draft202012Validator.check_schema(manifest["parameters"])
    assert manifest["parameters"]["required"] == ["word"]
    assert len(found["pair", "v1"]["manifests"]) == 2
    assert "no_such_module" in answer.json["reports"][0]
    one = await client.call("GET", "/v2/components/shout/version/v1")
    assert one.json == shout


async def test_000_33_every_component_says_which_contract_it_keeps(client: Client) -> None:
    answer = await client.call("GET", "/v2/components")
    assert {item["spec"] for item in answer.json["components"]} == {2}


async def test_000_32_a_version_is_part_of_the_address(client: Client) -> None:
    assert said((await evaluated(client, "aged", "v1")).json) == ["older"]
    assert said((await evaluated(client, "aged", "v2.1")).json) == ["newer"]
    for method in ("GET", "POST"):
        answer = await client.call(method, "/v2/components/aged/version/v3")
        assert (answer.status, answer.json["message"]) == (404, "'aged' has no version 'v3'.")
        assert answer.json["hint"] == "There is 'v1', 'v2.1'."
        answer = await client.call(method, "/v2/components/gone/version/v1")
        assert (answer.status, answer.json["message"]) == (404, "There is no component 'gone'.")


async def test_000_32_the_action_is_tool_eval_or_nothing(client: Client) -> None:
    for query in ("", "?action=", "?action=tool_eval"):
        answer = await evaluated(client, "shout", query=query, arguments={"word": "a"})
        assert (answer.status, said(answer.json)) == (200, ["A"])
    answer = await evaluated(client, "shout", query="?action=run", arguments={"word": "a"})
    assert (answer.status, answer.json["message"]) == (400, "There is no action 'run'.")


async def test_000_32_wrong_arguments_are_named_with_the_schemas_path(client: Client) -> None:
    answer = await evaluated(client, "shout", arguments={"word": "a", "times": "x"})
    assert (answer.status, answer.json["code"]) == (400, "arguments")
    (error,) = answer.json["errors"]
    assert (error["path"], error["schema_path"]) == ("/times", "/properties/times/type")
    answer = await evaluated(client, "shout", arguments={"word": "a", "_sys_traceid": "x"})
    assert (answer.status, answer.json["code"]) == (400, "reserved")


async def test_000_32_what_cannot_be_asked_for_is_told(client: Client) -> None:
    for options, status, told in WRONG:
        answer = await evaluated(client, "shout", **{"arguments": {"word": "a"}, **options})
        assert answer.status == status, options
        assert told in answer.json["message"]


async def test_000_31_a_stream_is_asked_for_in_the_body_or_by_what_is_accepted(
    client: Client, shared: Application
) -> None:
    chat = shared.chats.create("a.ipynb").chat_id
    accepts: dict[str, Any] = {"headers": {"Accept": "text/event-stream"}}
    both: tuple[dict[str, Any], ...] = ({"stream": True}, accepts)
    for options in both:
        answer = await evaluated(client, "mixed", query=f"?chat={chat}", **options)
        assert answer.headers["Content-Type"] == "text/event-stream"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        told = envelopes(answer)
        assert [envelope["seq"] for envelope in told] == list(range(1, len(told) + 1))
        assert [word for envelope in told for word in said(envelope)] == [
            "one ",
            "for you.",
            "two.",
            "an answer.",
        ]
        assert told[-1]["status"] == "done"
        assert {envelope["chat_id"] for envelope in told} == {chat}
    answer = await evaluated(client, "mixed", stream=False, **accepts)
    assert answer.json["status"] == "done"
    assert shared.runs.record(answer.json["run_id"]).lane == "hand"


async def test_000_31_a_stream_that_is_read_again_calls_nothing_again(client: Client) -> None:
    tools.RAN.clear()
    headers = {"Last-Event-ID": "2", "Accept": "text/event-stream"}
    answer = await evaluated(
        client, "writes", headers=headers, arguments={"text": "a"}, confirm=True
    )
    assert (answer.status, answer.json["code"]) == (409, "no_resume")
    assert tools.RAN == []


async def test_000_31_an_error_ends_the_stream(client: Client) -> None:
    answer = await evaluated(client, "fails", arguments={"how": "tool"}, stream=True)
    told = envelopes(answer)
    assert (told[-1]["status"], told[-1]["is_completion"]) == ("error", True)
    assert told[-1]["content"][0]["event"]["error_code"] == "tool_error"
    answer = await evaluated(client, "fails", arguments={"how": "bug"})
    assert (answer.status, answer.json["status"]) == (200, "error")


async def test_000_35_a_view_decides_whose_contents_are_told(client: Client) -> None:
    answer = await evaluated(client, "mixed")
    assert b"for the model." not in answer.body
    answer = await evaluated(client, "mixed", scope="llm")
    assert b"for the model." in answer.body
    assert b"for you." not in answer.body


CASES = (
    ("ask", "read", 200),
    ("ask", "edit", 409),
    ("ask", "execute", 409),
    ("edits", "edit", 200),
    ("edits", "execute", 409),
    ("auto", "execute", 200),
    ("auto", "install", 409),
    ("auto", "destroy", 409),
    ("plan", "read", 200),
    ("plan", "edit", 403),
    ("plan", "destroy", 403),
)
"""Mode, risk, and what a call without ``confirm`` is answered with."""


class TestModes:
    """What the mode asks about needs a word in the request, what it refuses is refused."""

    async def test_000_32_nothing_runs_that_the_mode_does_not_permit(self, client: Client) -> None:
        for mode, risk, status in CASES:
            for confirm in (False, True):
                tools.RAN.clear()
                options: dict[str, Any] = {"arguments": {"text": "a", "risk": risk}, "mode": mode}
                answer = await evaluated(client, "writes", confirm=confirm, **options)
                expected = 200 if confirm and status == 409 else status
                assert answer.status == expected, (mode, risk, confirm)
                assert len(tools.RAN) == (expected == 200)
                if expected != 200:
                    code = "mode" if expected == 403 else "confirm"
                    assert (answer.json["code"], answer.json["risk"]) == (code, risk)

    @pytest.mark.parametrize(
        "jp_server_config", [{**CONFIG, "Cellwright": {**CONFIG["Cellwright"], "modes": ["plan"]}}]
    )
    async def test_000_32_the_administrators_modes_count(self, client: Client) -> None:
        arguments = {"text": "a"}
        answer = await evaluated(client, "writes", arguments=arguments, confirm=True)
        assert (answer.status, answer.json["code"]) == (403, "mode")
        answer = await evaluated(client, "writes", arguments=arguments, mode="auto", confirm=True)
        assert answer.status == 400


async def test_a_service_that_cannot_be_used_stands_in_no_components_way(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_BASE_URL", "no address")
    answer = await evaluated(client, "shout", arguments={"word": "a"})
    assert said(answer.json) == ["A"]


class NoKernels(Authorizer):
    """Lets everybody do everything, except run code in kernels."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "kernels"


@pytest.mark.parametrize(
    "jp_server_config",
    [{**CONFIG, "ServerApp": {**CONFIG["ServerApp"], "authorizer_class": NoKernels}}],
)
async def test_a_kernel_is_for_those_who_may_use_it(client: Client) -> None:
    for method, path in (("GET", ""), ("GET", "/shout/version/v1"), ("POST", "/shout/version/v1")):
        answer = await client.call(method, f"/v2/components{path}?kernel=any")
        assert answer.status == 403, (method, path)


async def wait_for(happens: Any) -> None:
    while not happens():
        await asyncio.sleep(0.01)


async def opened(client: Client, port: int, stream: bool) -> Any:
    """A connection over which ``endless`` was called."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"stream": stream}).encode()
    lines = [
        f"POST {client.base_url}cellwright/v2/components/endless/version/v1 HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Authorization: token {client.token}",
        f"Content-Length: {len(body)}",
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()
    return reader, writer


@pytest.mark.parametrize("stream", [True, False])
async def test_who_goes_away_stops_the_component(
    client: Client, shared: Application, jp_http_port: int, stream: bool
) -> None:
    tools.Endless.began.clear()
    tools.Endless.ended.clear()
    reader, writer = await opened(client, jp_http_port, stream)
    if stream:
        await reader.readuntil(b'"0 "')
    else:
        await wait_for(tools.Endless.began.is_set)
    writer.close()
    await wait_for(tools.Endless.ended.is_set)
    run_id = shared.runs.last_started
    await wait_for(lambda: shared.runs.record(run_id).status == "cancelled")
    assert shared.runs.record(run_id).reason == "Stopped: the caller has gone."


@pytest.mark.parametrize(
    "jp_server_config",
    [{**CONFIG, "Cellwright": {**CONFIG["Cellwright"], "wall_seconds": 1.0}}],
)
async def test_what_takes_too_long_is_stopped(client: Client) -> None:
    answer = await evaluated(client, "endless")
    assert answer.json["status"] == "interrupt"
    assert answer.json["content"][-1]["event"]["error_message"] == "Stopped: it took too long."


async def test_only_so_many_are_called_at_once_and_all_end_with_the_server(
    client: Client, shared: Application, jp_http_port: int
) -> None:
    connections = [await opened(client, jp_http_port, True) for _ in range(RUN_LIMIT)]
    for reader, _ in connections:
        await reader.readuntil(b'"0 "')
    answer = await evaluated(client, "shout", arguments={"word": "a"})
    assert (answer.status, answer.json["code"]) == (409, "busy")
    assert shared.hand_runs is not None
    await asyncio.get_running_loop().run_in_executor(None, shared.hand_runs.close)
    for reader, writer in connections:
        assert b'"interrupt"' in await reader.readuntil(b'"is_completion": true')
        writer.close()
    answer = await evaluated(client, "shout", arguments={"word": "a"})
    assert "the server is stopping" in answer.json["message"]


LIVE = '''
from cellwright_magics.tools import agent_tool

@agent_tool(risk="read")
def revenue(region: str) -> str:
    """Revenue of a region.

    Args:
        region: Which one.
    """
    print("looking")
    return f"{region}: 42"
'''


@pytest.mark.kernel
async def test_000_32_tools_that_live_in_a_kernel_are_called_there(
    client: Client, live: Live
) -> None:
    kernel_id = await live.kernel()
    person = await live.person(kernel_id)
    await person.run(LIVE)
    answer = await client.call("GET", f"/v2/components?kernel={kernel_id}")
    assert (answer.json["components"][0]["name"], answer.json["components"][0]["source"]) == (
        "revenue",
        "kernel",
    )
    query = f"?kernel={kernel_id}"
    answer = await evaluated(client, "revenue", query=query, arguments={"region": "north"})
    assert answer.json["status"] == "done", answer.json
    assert said(answer.json) == ["looking\n", "'north: 42'"]
    answer = await evaluated(client, "revenue", arguments={"region": "north"})
    assert answer.status == 404
    running = person.start("import time\nwhile True: time.sleep(0.01)")
    kernel = live.serverapp.kernel_manager.get_kernel(kernel_id)
    await wait_for(lambda: kernel.execution_state == "busy")
    answer = await evaluated(client, "revenue", query=query, arguments={"region": "north"})
    assert (answer.status, answer.json["message"]) == (409, "The kernel is busy.")
    await live.serverapp.kernel_manager.interrupt_kernel(kernel_id)
    assert await running == "error"


KNOWN = "swordfish-swordfish"
SECRETS = [*made_up_keys(), *made_up_values(), MadeUp("known", KNOWN, f"it is {KNOWN}, see?")]


def streamed_texts(answer: Answer) -> dict[str, str]:
    """The texts that a reader puts together by the id of their pieces; by their name."""
    texts: dict[str, str] = {}
    names: dict[str, str] = {}
    for envelope in envelopes(answer):
        for item in envelope["content"]:
            words = item["text"].get("info", item["text"].get("code"))
            if words is not None:
                stream = item["event"]["id"]
                texts[stream] = texts.get(stream, "") + words
                names[item["name"]] = stream
    return {name: texts[stream] for name, stream in names.items()}


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("group", range(8))
async def test_13_8_a_secret_cut_anywhere_is_in_no_stream(
    client: Client, monkeypatch: pytest.MonkeyPatch, group: int, fails: bool
) -> None:
    """Every format, cut at every character, through the route, in every text that has pieces."""
    monkeypatch.setenv("SERVICE_TOKEN", KNOWN)
    redact = Redactor({"SERVICE_TOKEN": KNOWN}).text
    for secret in SECRETS[group::8]:
        monkeypatch.setattr(tools.Parts, "texts", [secret.text])
        answer = await evaluated(client, "parts", stream=True, arguments={"fails": fails})
        texts = streamed_texts(answer)
        for cut in range(1, len(secret.text)):
            said = secret.text[:cut] if fails else secret.text
            assert texts[str(cut - 1)] == redact(said), (secret.name, cut)
        if not fails:
            assert secret.secret.encode() not in answer.body
        else:
            assert envelopes(answer)[-1]["content"][0]["event"]["error_message"] == "It cannot."
