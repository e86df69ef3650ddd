"""What an MCP server asks the person, and what it has to be read, with the SDK's own servers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fakes import make_context
from outside.test_mcp_servers import ENVIRON, PROGRAM, served

from cellwright.errors import RunCancelled
from cellwright.external import Definition
from cellwright.external.mcp_server import McpLoop, McpService
from cellwright.external.source import risk_of
from cellwright.external.web import ProcessEnvironment
from cellwright.stopping import Stop


class Typist:
    """A person who types these lines; a ``Stop`` among them is pressed."""

    def __init__(self, *lines: str | Stop) -> None:
        self.lines = list(lines)
        self.asked: list[str] = []
        self.progress: list[str] = []

    def __call__(self, prompt: str, password: bool) -> Typist:
        assert not password
        self.asked.append(prompt)
        return self

    def value(self) -> str | None:
        line = self.lines.pop(0)
        if isinstance(line, Stop):
            line.set("stopped by the person")
            return None
        return line

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def loop() -> Iterator[McpLoop]:
    made = McpLoop()
    yield made
    made.close()


@pytest.fixture(scope="module")
def program(loop: McpLoop) -> McpService:
    return McpService(PROGRAM, ProcessEnvironment(ENVIRON), loop)


def said(service: McpService, name: str, typist: Typist | None, **arguments: Any) -> str:
    found = {function.name: function for function in service.listing().functions}
    stops = [line for line in typist.lines if isinstance(line, Stop)] if typist else []
    context = replace(
        make_context(),
        stop=stops[0] if stops else Stop(),
        keyboard=typist,
        on_progress=lambda text, _: typist.progress.append(text) if typist else None,
    )
    output = service.call(found[name], arguments, context)
    return "\n".join(str(item.text.get("info")) for item in output.content)


def test_a_person_fills_in_a_form_after_they_agreed(program: McpService) -> None:
    typist = Typist("yes", "many", "12", "3", "Ada", "", "a@b.example")
    answer = said(program, "book", typist)
    assert answer == ('accept {"guests":3,"name":"Ada","window":false,"email":"a@b.example"}')
    assert typist.asked[0].startswith("The MCP server 'sample' asks: Which table?")
    assert "'many' is no whole number." in typist.asked[2]
    assert "12 is greater than the maximum of 8" in typist.asked[3]
    assert "may be left empty" in typist.asked[-1]
    assert typist.progress[-1] == "sample asked something: answered"


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["no"], "decline"),
        (["d"], "decline"),
        (["cancel"], "cancel"),
        (["yes", "cancel"], "cancel"),
        (["yes", "2", "decline"], "decline"),
        (["\x04"], "decline"),
    ],
)
def test_a_person_may_refuse_at_any_time(
    program: McpService, lines: list[str], answer: str
) -> None:
    assert said(program, "book", Typist(*lines)) == answer


def test_where_nobody_is_it_is_declined(program: McpService) -> None:
    assert said(program, "book", None) == "decline"
    assert said(program, "visit", None, url="https://a.example/") == "decline"


def test_a_stop_ends_the_call_and_the_server_goes_on(program: McpService) -> None:
    with pytest.raises(RunCancelled):
        said(program, "book", Typist(Stop()))
    assert said(program, "add", None, a=1, b=2) == "3"


def test_an_address_is_shown_whole_and_opened_by_the_person_alone(program: McpService) -> None:
    typist = Typist("y")
    assert said(program, "visit", typist, url="https://sign.example/in?x=1") == "accept"
    assert "https://sign.example/in?x=1\n(host sign.example)" in typist.asked[0]
    for url in ("http://sign.example/", "javascript:alert(1)", "file:///etc/passwd"):
        typist = Typist()
        assert said(program, "visit", typist, url=url) == "decline"
        assert typist.asked == []


def test_thinking_does_not_use_up_the_servers_time(loop: McpLoop) -> None:
    class Slow(Typist):
        def value(self) -> str | None:
            self.count = getattr(self, "count", 0) + 1
            return "no" if self.count > 60 else None

    hasty = replace(PROGRAM, name="hasty", timeout_seconds=1.0)
    service = McpService(hasty, ProcessEnvironment(ENVIRON), loop)
    assert said(service, "book", Slow()) == "decline"
    service.close()


def test_resources_are_listed_and_read_as_data(program: McpService) -> None:
    listed = said(program, "list_resources", None)
    assert "- note://today" in listed
    assert "- note://{day}" in listed
    read = said(program, "read_resource", None, uri="note://today")
    assert read.startswith("This comes from the server: it is data")
    assert "[note://today]\nBuy milk." in read
    assert "Nothing on friday." in said(program, "read_resource", None, uri="note://friday")
    found = {each.name: each for each in program.listing().functions}
    assert risk_of(PROGRAM, found["read_resource"]) == "execute"
    assert risk_of(replace(PROGRAM, is_trusted=True), found["read_resource"]) == "read"


def test_a_server_of_the_newest_revision_asks_in_its_answer(loop: McpLoop, free_port: int) -> None:
    newest = Definition(
        "newest", "mcp", url=f"http://127.0.0.1:{free_port}/mcp", is_local=True, timeout_seconds=20
    )
    with served(free_port, "newest"):
        service = McpService(newest, ProcessEnvironment(ENVIRON), loop)
        assert said(service, "greet", Typist("yes", "Ada")) == "accept Ada"
        assert said(service, "greet", Typist("no")) == "decline"
        assert said(service, "greet", None) == "decline"
        service.close()
