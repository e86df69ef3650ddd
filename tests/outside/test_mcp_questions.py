"""What an MCP server asks the person, and what it has to be read, with the SDK's own servers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fakes import make_context
from outside.test_mcp_servers import ENVIRON, PROGRAM, served

from cellwright.errors import RunCancelled
from cellwright.external import Definition
from cellwright.external.elicitation import _form_field, _read_form
from cellwright.external.mcp_server import McpLoop, McpService
from cellwright.external.source import risk_of
from cellwright.external.web import ProcessEnvironment
from cellwright.llm.budget import RunBudget
from cellwright.settings import Limits
from cellwright.stopping import Stop
from cellwright.tools import FormOption, FormRequest


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


class Clicker:
    """A person with a page: each click is what they send to a form."""

    def __init__(self, *clicks: Any) -> None:
        self.clicks = list(clicks)
        self.forms: list[FormRequest] = []
        self.seconds = 0.0

    def __call__(self, form: FormRequest) -> Clicker:
        self.forms.append(form)
        return self

    def value(self) -> str:
        time.sleep(self.seconds)
        click = self.clicks.pop(0)
        return click if isinstance(click, str) else json.dumps(click)

    def close(self) -> None:
        pass


def clicked(service: McpService, name: str, clicker: Clicker, **more: Any) -> str:
    function = next(each for each in service.listing().functions if each.name == name)
    arguments = {"url": more.pop("url")} if "url" in more else {}
    context = replace(make_context(), form_asker=clicker, **more)
    return str(service.call(function, arguments, context).content[0].text["info"])


def accepted(**content: list[str]) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def test_a_form_is_made_of_what_the_server_wants_and_asked_until_it_fits(
    program: McpService,
) -> None:
    email = ["a@b.example"]
    clicker = Clicker(
        accepted(guests=["12"], email=email),
        accepted(guests=["3"], name=["Ada"], window=["true"], email=email),
    )
    answer = clicked(program, "book", clicker)
    assert answer == 'accept {"guests":3,"name":"Ada","window":true,"email":"a@b.example"}'
    first, second = clicker.forms
    assert (first.server, first.message) == ("sample", "Which table?")
    kinds = {field.name: (field.kind, field.required) for field in first.fields}
    assert kinds["guests"] == ("number", True)
    assert kinds["window"][0] == "boolean"
    assert "12 is greater than the maximum of 8" in second.problem
    assert {field.name: field.given for field in second.fields}["guests"] == ("12",)


@pytest.mark.parametrize(
    ("click", "answer"),
    [
        ({"action": "decline"}, "decline"),
        ({"action": "cancel"}, "cancel"),
        ("typed by an older page", "decline"),
        ("[]", "decline"),
    ],
)
def test_a_form_is_refused_with_a_button(program: McpService, click: Any, answer: str) -> None:
    assert clicked(program, "book", Clicker(click)) == answer


def test_an_address_is_put_into_a_form_as_it_is_and_bad_ones_are_not(program: McpService) -> None:
    clicker = Clicker({"action": "accept"})
    url = "https://sign.example/in?x=1"
    assert clicked(program, "visit", clicker, url=url) == "accept"
    assert clicker.forms[0].url == url
    assert clicked(program, "visit", Clicker(), url="javascript:alert(1)") == "decline"


def test_thinking_over_a_form_is_no_time_of_the_run(program: McpService) -> None:
    budget = RunBudget(Limits())
    clicker = Clicker({"action": "decline"})
    clicker.seconds = 0.5
    clicked(program, "book", clicker, waiting=budget.waiting)
    assert budget.waited_seconds >= 0.5


def test_choices_of_every_kind_are_read_from_a_form() -> None:
    several = {"type": "array", "items": {"enum": ["a, b", "c"]}, "minItems": 1}
    named = {"type": "string", "oneOf": [{"const": "x", "title": "The X"}], "default": "x"}
    fields: dict[str, Any] = {
        "several": several,
        "named": named,
        "flag": {"type": "boolean", "default": True},
    }
    shown = {name: _form_field(name, each, False) for name, each in fields.items()}
    assert shown["several"].kind == "choices"
    assert shown["named"].options == (FormOption("x", "The X"),)
    assert shown["named"].given == ("x",)
    assert shown["flag"].given == ("true",)
    given = {"several": ["a, b", "c"], "named": ["x"], "flag": ["false"]}
    read, problems = _read_form(fields, (), given)
    assert (read, problems) == ({"several": ["a, b", "c"], "named": "x", "flag": False}, [])
    assert _read_form(fields, ("named",), {}) == ({}, ["named: it is needed."])


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
