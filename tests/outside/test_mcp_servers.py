"""MCP servers over standard streams and HTTP, with the SDK's own server on the other side."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import make_context
from outside.http_service import Answered, HttpService, Received

from cellwright.errors import RunCancelled, SignInNeededError, ToolError
from cellwright.external import Definition, Function, Listing
from cellwright.external.mcp_server import McpLoop, McpService
from cellwright.external.source import risk_of
from cellwright.external.web import ProcessEnvironment
from cellwright.tools import ToolContext

pytest.importorskip("mcp")

SCRIPT = str(Path(__file__).with_name("mcp_sample_server.py"))
KEY = "-".join(["word", "of", "the", "day"])
INFO = {"name": "w", "version": "1"}
ENVIRON = {**os.environ, "SAMPLE_KEY": KEY}
PROGRAM = Definition(
    "sample",
    "mcp",
    command=sys.executable,
    arguments=(SCRIPT, "stdio"),
    environment={"GIVEN": "${SAMPLE_KEY}"},
    timeout_seconds=20,
)


@pytest.fixture(scope="module")
def loop() -> Iterator[McpLoop]:
    made = McpLoop()
    yield made
    made.close()
    made.close()
    with pytest.raises(ToolError, match="are closed"):
        made.run(lambda: None)  # type: ignore[arg-type,return-value]


@pytest.fixture(scope="module")
def listings() -> list[Listing]:
    return []


@pytest.fixture(scope="module")
def program(loop: McpLoop, listings: list[Listing]) -> McpService:
    return McpService(PROGRAM, ProcessEnvironment(ENVIRON), loop, listings.append)


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return when a server listens, or has ended."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)


@contextmanager
def served(port: int, how: str = "http") -> Iterator[None]:
    """The sample server over HTTP, at this port."""
    silent = subprocess.DEVNULL
    command = [sys.executable, SCRIPT, how, str(port)]
    with subprocess.Popen(command, stdout=silent, stderr=silent) as process:
        wait_for_port(port, process)
        yield
        process.kill()


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        number: int = taken.getsockname()[1]
        return number


@pytest.fixture(scope="module")
def running(port: int) -> Iterator[ExitStack]:
    """Holds the server; closing it ends the server."""
    with ExitStack() as stack:
        stack.enter_context(served(port))
        yield stack


@pytest.fixture(scope="module")
def address(port: int, running: ExitStack) -> str:
    return f"http://127.0.0.1:{port}/mcp"


def named(service: McpService, name: str) -> Function:
    return next(f for f in service.listing().functions if f.name == name)


def call(
    service: McpService, name: str, context: ToolContext | None = None, /, **arguments: Any
) -> Any:
    return service.call(named(service, name), arguments, context or make_context()).content


def until(is_so: Callable[[], bool]) -> bool:
    """Whether it comes to be so soon."""
    end = time.monotonic() + 10
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return is_so()


def test_a_server_is_started_on_first_use_and_called(program: McpService) -> None:
    assert call(program, "add", a=2, b=3)[0].text == {"info": "5"}
    assert named(program, "add").is_read_only
    assert named(program, "fail").is_destructive
    assert named(program, "parts").is_read_only is None


def test_000_22_a_result_keeps_all_of_its_parts(program: McpService) -> None:
    contents = call(program, "parts", make_context(sees_images=True))
    assert [(item.type, item.visible_scope) for item in contents] == [
        ("text", "all"),
        ("text", "user"),
        ("text", "llm"),
        ("image", "all"),
        ("text", "all"),
    ]
    (measured,) = call(program, "measure")
    assert measured.raw_data == {"structured": {"width": 2.5}}


def test_a_tool_that_fails_is_an_error_and_the_server_goes_on(program: McpService) -> None:
    (failed,) = call(program, "fail", words="no")
    assert failed.is_error
    assert call(program, "add", a=1, b=1)[0].text == {"info": "2"}
    try:
        (unknown,) = program.call(Function("nothing", "", {}), {}, make_context()).content
        words = str(unknown.text)  # as a result, or as an error of the protocol
    except ToolError as error:
        words = error.message
    assert "nothing" in words


def test_a_server_is_given_what_is_named_and_its_keys_are_not_said_back(
    program: McpService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "not for it")
    assert call(program, "variable", name="GIVEN")[0].text == {"info": "[key]"}
    assert call(program, "variable", name="OTHER_KEY")[0].text == {"info": "not set"}


def test_progress_is_told_and_stop_ends_the_call(program: McpService) -> None:
    said: list[Any] = []
    context = make_context()

    def note(text: str, fraction: float | None) -> None:
        said.append((text, fraction))
        context.stop.set()

    begun = time.monotonic()
    with pytest.raises(RunCancelled):
        call(program, "slow", replace(context, on_progress=note))
    assert said == [("a quarter", 0.25)]
    assert time.monotonic() - begun < 8
    assert call(program, "add", a=1, b=1)


def test_a_call_that_takes_too_long_is_given_up(loop: McpLoop, address: str) -> None:
    short = Definition("web", "mcp", address, is_local=True, timeout_seconds=0.3)
    service = McpService(short, ProcessEnvironment(ENVIRON), loop)
    with pytest.raises(ToolError, match=r"'slow' did not answer within 0\.3 s"):
        call(service, "slow")
    service.close()


def test_a_list_that_changes_is_told(program: McpService, listings: list[Listing]) -> None:
    call(program, "grow")
    assert until(lambda: "later" in [f.name for f in listings[-1].functions])


def test_a_server_that_dies_is_a_tool_error_and_is_started_again(program: McpService) -> None:
    with pytest.raises(ToolError, match=r"ended while it worked\. (?s:It said last: .*going down)"):
        call(program, "die")
    assert call(program, "add", a=4, b=4)[0].text == {"info": "8"}
    program.close()
    program.close()
    assert call(program, "add", a=4, b=5)[0].text == {"info": "9"}


def test_a_server_over_http_is_called(loop: McpLoop, address: str) -> None:
    made = Definition(
        "web", "mcp", address, headers={"X-Key": "${SAMPLE_KEY}"}, is_local=True, timeout_seconds=20
    )
    service = McpService(made, ProcessEnvironment(ENVIRON), loop)
    assert call(service, "add", a=2, b=2)[0].text == {"info": "4"}
    assert len(call(service, "parts")) == 5
    service.close()


def test_002_78_an_http_server_is_guarded_like_everything_else(loop: McpLoop, address: str) -> None:
    def listing(definition: Definition, **resolve: Any) -> Listing:
        return McpService(definition, ProcessEnvironment(ENVIRON, **resolve), loop).listing()

    with pytest.raises(ToolError, match="private network"):
        listing(Definition("web", "mcp", address))
    metadata = Definition("web", "mcp", "http://169.254.169.254/mcp", is_local=True)
    with pytest.raises(ToolError, match="no tool may reach"):
        listing(metadata, resolve=lambda host, port: (host,))
    named_host = address.replace("127.0.0.1", "localhost")
    asked: list[str] = []

    def once(host: str, port: int) -> tuple[str, ...]:
        asked.append(host)
        return ("127.0.0.2", "127.0.0.1") if len(asked) == 1 else ("169.254.169.254",)

    assert listing(Definition("web", "mcp", named_host, is_local=True), resolve=once).functions
    assert asked == ["localhost"]
    clear = Definition("web", "mcp", "http://tool.example/mcp", key="SAMPLE_KEY")
    with pytest.raises(ToolError, match="without encryption"):
        listing(clear, resolve=lambda host, port: ("93.184.216.34",))


def test_a_server_that_cannot_be_started_is_told_and_tried_again_later(loop: McpLoop) -> None:
    code = "import sys; print('my config is missing', file=sys.stderr); sys.exit(2)"
    broken = replace(PROGRAM, arguments=("-c", code))
    service = McpService(broken, ProcessEnvironment(ENVIRON), loop)
    with pytest.raises(ToolError, match="cannot be started: .* It said: my config is missing"):
        service.listing()
    with pytest.raises(ToolError, match="did not start; it is tried again in"):
        service.listing()
    service.close()


def test_a_program_that_is_not_there_is_told(loop: McpLoop) -> None:
    absent = replace(PROGRAM, command="no-such-program-anywhere", environment={})
    with pytest.raises(ToolError, match="cannot be started: .*No such file"):
        McpService(absent, ProcessEnvironment(ENVIRON), loop).listing()
    unset = replace(PROGRAM, environment={"A": "${NOT_SET_ANYWHERE}"})
    with pytest.raises(ToolError, match="'NOT_SET_ANYWHERE' is not set"):
        McpService(unset, ProcessEnvironment(ENVIRON), loop).listing()


def test_hints_of_a_stranger_make_nothing_less_risky() -> None:
    def risk(**options: Any) -> str:
        hints = options.pop("hints", (None, None))
        return risk_of(replace(PROGRAM, **options), Function("f", "", {}, *hints))

    assert risk() == "execute"
    assert risk(hints=(True, None)) == "execute"
    assert risk(hints=(None, False)) == "execute"
    assert risk(hints=(None, True)) == "destroy"
    assert risk(hints=(True, None), is_trusted=True) == "read"
    assert risk(hints=(False, None), is_trusted=True) == "execute"
    assert risk(hints=(None, True), is_trusted=True) == "destroy"
    assert risk(reads=("f*",)) == "read"


MORE = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="write"'}
OAUTH = {"WWW-Authenticate": 'Bearer resource_metadata="https://w.example"'}


@pytest.mark.parametrize(
    ("answered", "key", "words"),
    [
        (Answered("", 401), "", "refused: 401 Unauthorized. Put a token into an environment"),
        (Answered("", 401, OAUTH), "", "Nobody has signed in to it. The person signs in with"),
        (Answered("", 403, MORE), "", "It wants a sign-in that allows more. The person signs in"),
        (Answered("", 403), "SAMPLE_KEY", "403 Forbidden. What SAMPLE_KEY holds was not taken"),
        (Answered("", 404), "", "404 Not Found. Look at its address: http"),
        (Answered("", 500), "", "refused: 500 Internal Server Error."),
        (Answered("", 599), "", "refused: 599."),
        (Answered("", 400), "", "cannot be started"),
    ],
)
def test_an_http_server_that_refuses_says_what_it_wants(
    loop: McpLoop, service: HttpService, answered: Answered, key: str, words: str
) -> None:
    service.answers["/mcp"] = answered
    made = Definition("web", "mcp", f"{service.url}/mcp", key=key, is_local=True)
    with pytest.raises(ToolError) as refused:
        McpService(made, ProcessEnvironment(ENVIRON), loop).listing()
    assert words in str(refused.value)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    ("place", "metadata"),
    [
        ("/.well-known/oauth-protected-resource/mcp", {"authorization_servers": ["https://w.x"]}),
        ("/.well-known/oauth-protected-resource", {"authorization_servers": ["https://w.x"]}),
        ("/.well-known/oauth-authorization-server", {"authorization_endpoint": "https://w.x"}),
    ],
)
def test_a_sign_in_that_a_refusal_does_not_name_is_looked_for(
    loop: McpLoop, service: HttpService, place: str, metadata: Any
) -> None:
    service.answers["/mcp"] = Answered("", 401)
    service.answers[place] = Answered(metadata)
    made = Definition("web", "mcp", f"{service.url}/mcp", is_local=True)
    web = McpService(made, ProcessEnvironment(ENVIRON), loop)
    with pytest.raises(SignInNeededError, match="Nobody has signed in to it"):
        web.listing()
    assert web.wants_sign_in


def test_a_token_is_sent_with_every_message_and_one_that_runs_out_is_told(
    loop: McpLoop, service: HttpService
) -> None:
    """The server speaks as little of the protocol as a call needs."""
    tool = {"name": "today", "inputSchema": {"type": "object"}}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": INFO}
    said = {"initialize": hello, "tools/list": {"tools": [tool]}}

    def answer(request: Received) -> Answered:
        message = request.json if request.body else {}
        if message.get("method") == "tools/call":
            return Answered("", 401)
        if "id" not in message:
            return Answered("", 202 if message else 405)
        result = said[message["method"]]
        return Answered({"jsonrpc": "2.0", "id": message["id"], "result": result})

    service.answers["/mcp"] = answer
    made = Definition("web", "mcp", f"{service.url}/mcp", key="SAMPLE_KEY", is_local=True)
    web = McpService(made, ProcessEnvironment(ENVIRON), loop)
    with pytest.raises(ToolError, match="What SAMPLE_KEY holds was not taken"):
        call(web, "today")
    web.close()
    assert {r.headers.get("Authorization") for r in service.received} == {f"Bearer {KEY}"}


def test_a_server_that_greets_with_a_version_without_greetings_is_asked_in_the_new_way(
    loop: McpLoop, service: HttpService
) -> None:
    newest = {"protocolVersion": "2026-07-28", "capabilities": {}, "serverInfo": INFO}
    tool = {"name": "today", "inputSchema": {"type": "object"}}
    what = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    fresh = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    said = {
        "initialize": newest,
        "server/discover": {**what, **fresh},
        "tools/list": {"tools": [tool], **fresh},
    }

    def answer(request: Received) -> Answered:
        message = request.json if request.body else {}
        if "id" not in message:
            return Answered("", 202 if message else 405)
        result = said[message["method"]]
        return Answered({"jsonrpc": "2.0", "id": message["id"], "result": result})

    service.answers["/mcp"] = answer
    made = Definition("web", "mcp", f"{service.url}/mcp", is_local=True)
    listing = McpService(made, ProcessEnvironment(ENVIRON), loop).listing()
    assert [function.name for function in listing.functions] == ["today"]


def test_an_http_server_that_was_started_anew_is_greeted_again(
    loop: McpLoop, address: str, port: int, running: ExitStack
) -> None:
    made = Definition("web", "mcp", address, is_local=True, timeout_seconds=20)
    service = McpService(made, ProcessEnvironment(ENVIRON), loop)
    assert call(service, "add", a=1, b=1)[0].text == {"info": "2"}
    running.close()
    running.enter_context(served(port))
    assert call(service, "add", a=1, b=2)[0].text == {"info": "3"}
    service.close()
