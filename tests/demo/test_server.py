"""The demo server as a client sees it: OpenAI's protocol over a real socket."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from demo_session import HELLO, ask, send, tool

from cellwright.demo.server import DemoServer
from cellwright.demo.wire import MODEL

RUN_CELL: Any = tool("run_cell", "code")
PROFILE: list[Any] = [{"role": "user", "content": "profile sales.csv"}]


@pytest.fixture
def client(server: DemoServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.base_url, api_key="demo", max_retries=0) as opened:
        yield opened


def raw_events(server: DemoServer, **changes: Any) -> list[str]:
    """The ``data:`` lines of a streamed reply."""
    port = int(server.base_url.split(":")[2].split("/")[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    body = {"model": MODEL, "messages": PROFILE, "tools": [RUN_CELL], "stream": True, **changes}
    with contextlib.closing(connection):
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        answer = connection.getresponse()
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        text = answer.read().decode()
    return [line.removeprefix("data: ") for line in text.split("\n\n") if line]


def test_a_whole_reply_reads_as_a_chat_completion(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model=MODEL, messages=HELLO)
    assert reply.object == "chat.completion"
    assert reply.choices[0].finish_reason == "stop"
    assert (reply.choices[0].message.content or "").startswith("I am cellwright's demo model")
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_a_tool_call_has_arguments_of_its_schema(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model=MODEL, messages=PROFILE, tools=[RUN_CELL])
    choice = reply.choices[0]
    assert choice.finish_reason == "tool_calls"
    calls: Any = choice.message.tool_calls
    (call,) = calls
    assert call.function.name == "run_cell"
    assert 'pd.read_csv("sales.csv")' in json.loads(call.function.arguments)["code"]


def test_a_streamed_reply_puts_together_to_the_whole_one(client: openai.OpenAI) -> None:
    asked: Any = {"model": MODEL, "messages": PROFILE, "tools": [RUN_CELL]}
    whole = client.chat.completions.create(**asked).choices[0].message
    text, arguments, call_ids, finished = "", "", [], []
    for chunk in client.chat.completions.create(**asked, stream=True):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finished += [choice.finish_reason] if choice.finish_reason else []
            for call in choice.delta.tool_calls or ():
                arguments += call.function.arguments or ""
                call_ids += [call.id] if call.id else []
    assert text == whole.content
    assert arguments == whole.tool_calls[0].function.arguments
    assert call_ids == [whole.tool_calls[0].id]
    assert finished == ["tool_calls"]


def test_a_stream_ends_with_usage_and_done_when_usage_is_wanted(server: DemoServer) -> None:
    *chunks, done = raw_events(server, stream_options={"include_usage": True})
    assert done == "[DONE]"
    pieces = [json.loads(chunk) for chunk in chunks]
    assert pieces[-1]["choices"] == []
    assert pieces[-1]["usage"]["completion_tokens"] > 0
    assert all(piece["usage"] is None for piece in pieces[:-1])
    assert pieces[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert len({piece["id"] for piece in pieces}) == 1


def test_a_stream_has_no_usage_when_nobody_asked(server: DemoServer) -> None:
    *chunks, done = raw_events(server)
    assert done == "[DONE]"
    assert not any("usage" in json.loads(chunk) for chunk in chunks)


def test_cached_tokens_are_what_was_sent_before(server: DemoServer) -> None:
    first = [{"role": "user", "content": f"hello {time.monotonic_ns()} {'x' * 4_000}"}]
    _, reply = ask(server, messages=first)
    longer = [*first, {"role": "assistant", "content": "Hi."}, *HELLO]
    _, second = ask(server, messages=longer)
    assert reply["usage"]["prompt_tokens_details"]["cached_tokens"] < 100
    cached = second["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert 1_000 <= cached <= second["usage"]["prompt_tokens"]


def test_a_picture_counts_as_much_whatever_its_size_in_bytes(server: DemoServer) -> None:
    def count(data: str) -> int:
        address = {"url": f"data:image/png;base64,{data}"}
        parts = [{"type": "text", "text": "hello"}, {"type": "image_url", "image_url": address}]
        _, reply = ask(server, messages=[{"role": "user", "content": parts}])
        return int(reply["usage"]["prompt_tokens"])

    assert count("A" * 90_000) == count("A" * 9_000) < 1_500


def test_the_models_are_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).owned_by == "cellwright"


def test_the_root_says_what_this_is(server: DemoServer) -> None:
    status, body = send(server, "GET", "/")
    assert status == 200
    assert body["is_language_model"] is False


def test_no_tool_is_called_when_the_choice_is_none(server: DemoServer) -> None:
    _, body = ask(server, messages=PROFILE, tools=[RUN_CELL], tool_choice="none")
    message = body["choices"][0]["message"]
    assert "tool_calls" not in message
    assert "no `run_cell` tool" in message["content"]


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "submit"}}]
)
def test_a_call_that_must_be_is_made(server: DemoServer, choice: Any) -> None:
    tools = [RUN_CELL, tool("submit", "answer")]
    _, body = ask(server, tools=tools, tool_choice=choice)
    (call,) = body["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "submit"
    assert json.loads(call["function"]["arguments"])["answer"]


def test_a_required_call_of_a_foreign_tool_gets_plain_arguments(server: DemoServer) -> None:
    properties = {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "unit": {"enum": ["C", "F"]},
        "deep": {"type": "boolean", "default": True},
        "note": {"type": "string"},
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["text", "count", "unit", "deep"],
    }
    weather = {"type": "function", "function": {"name": "weather", "parameters": schema}}
    _, body = ask(server, tools=[weather], tool_choice="required")
    arguments = json.loads(body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])
    assert arguments == {"text": arguments["text"], "count": 0, "unit": "C", "deep": True}
    assert arguments["text"]


def test_code_goes_to_whatever_text_the_tool_requires(server: DemoServer) -> None:
    _, body = ask(server, messages=PROFILE, tools=[tool("run_cell", "source")])
    arguments = json.loads(body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])
    assert "read_csv" in arguments["source"]


def test_a_tool_without_parameters_gets_what_it_is_given(server: DemoServer) -> None:
    bare = {"type": "function", "function": {"name": "run_cell"}}
    _, body = ask(server, messages=PROFILE, tools=[bare])
    arguments = json.loads(body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])
    assert "read_csv" in arguments["code"]


def test_a_tool_named_in_the_prompt_is_called_and_its_answer_told(server: DemoServer) -> None:
    messages: list[Any] = [{"role": "user", "content": "Call the ping tool."}]
    _, body = ask(server, messages=messages, tools=[tool("ping")])
    message = body["choices"][0]["message"]
    (call,) = message["tool_calls"]
    messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": "pong 42"}]
    _, body = ask(server, messages=messages, tools=[tool("ping")])
    assert "pong 42" in body["choices"][0]["message"]["content"]


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_a_token_limit_cuts_the_reply(server: DemoServer, limit: str) -> None:
    _, body = ask(server, messages=PROFILE, tools=[RUN_CELL], **{limit: 5})
    choice = body["choices"][0]
    assert choice["finish_reason"] == "length"
    assert len(choice["message"]["content"]) == 20
    assert "tool_calls" not in choice["message"]


def test_a_large_token_limit_changes_nothing(server: DemoServer) -> None:
    assert ask(server, max_tokens=4_000)[1]["choices"][0]["finish_reason"] == "stop"


def test_the_same_conversation_gets_the_same_reply(server: DemoServer) -> None:
    replies = [ask(server, messages=PROFILE, tools=[RUN_CELL])[1] for _ in range(2)]
    assert replies[0]["choices"] == replies[1]["choices"]
    assert replies[0]["id"] != replies[1]["id"]


def test_many_clients_are_answered_at_once() -> None:
    with DemoServer(delay_seconds=0.01) as server:
        found: list[int] = []

        def one() -> None:
            found.append(len(raw_events(server)))

        threads = [threading.Thread(target=one) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert len(found) == 8
        assert len(set(found)) == 1


def test_the_delay_spreads_a_streamed_reply() -> None:
    with DemoServer(delay_seconds=0.02) as server:
        started = time.monotonic()
        pieces = raw_events(server, messages=HELLO)
        assert time.monotonic() - started >= 0.02 * (len(pieces) - 1)


def test_a_client_that_goes_away_leaves_the_server_quiet_and_well(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with DemoServer(delay_seconds=0.01) as server:
        port = int(server.base_url.split(":")[2].split("/")[0])
        body = json.dumps(
            {"model": MODEL, "messages": PROFILE, "tools": [RUN_CELL], "stream": True}
        )
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall((head + body).encode())
            connection.recv(100)
        time.sleep(0.3)
        assert ask(server)[0] == 200
    assert capfd.readouterr().err == ""


def test_closing_ends_open_connections_and_frees_the_port() -> None:
    server = DemoServer()
    port = int(server.start().split(":")[2].split("/")[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/v1/models")
        connection.getresponse().read()
        server.close()
        server.close()
        assert server.base_url == ""
        with pytest.raises((http.client.HTTPException, OSError)):
            read_again(connection)
    again = DemoServer(port=port)
    assert again.start() == f"http://127.0.0.1:{port}/v1"
    again.close()


def read_again(connection: http.client.HTTPConnection) -> None:
    connection.request("GET", "/v1/models")
    connection.getresponse()


def test_a_second_start_keeps_the_port(server: DemoServer) -> None:
    assert server.start() == server.base_url


def test_a_port_that_is_taken_is_an_error(server: DemoServer) -> None:
    port = int(server.base_url.split(":")[2].split("/")[0])
    with pytest.raises(OSError, match="in use"):
        DemoServer(port=port).start()


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6 here")
def test_an_ipv6_address_is_written_in_brackets() -> None:
    try:
        server = DemoServer(host="::1")
        url = server.start()
    except OSError:
        pytest.skip("IPv6 is off")
    assert url.startswith("http://[::1]:")
    server.close()


def test_serving_forever_ends_when_the_server_is_closed(free_port: int) -> None:
    server = DemoServer(port=free_port)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    while not server.base_url:
        time.sleep(0.01)
    assert send(server, "GET", "/v1/models")[0] == 200
    server.close()
    thread.join(5)
    assert not thread.is_alive()


def test_a_fault_of_the_server_itself_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with DemoServer() as server:
        http_server = server._http
        assert http_server is not None
        for error in (ValueError("ours"), ConnectionResetError("theirs")):
            try:
                raise error
            except Exception:
                http_server.handle_error(None, ("127.0.0.1", 1))
    said = capsys.readouterr().err
    assert "ours" in said
    assert "theirs" not in said


def test_the_server_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys, cellwright.demo.server; print(*sorted({n.split('.')[0] for n in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    foreign = set(done.stdout.split()) - set(sys.stdlib_module_names) - {"cellwright"}
    loaded = {name for name in foreign if not name.startswith(("_", "site", "distutils"))}
    assert not loaded & {"pandas", "numpy", "openai", "matplotlib", "IPython", "pydantic"}
