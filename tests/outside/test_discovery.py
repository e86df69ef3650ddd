"""A service that says at one URL what it can do (requirements 002-76 and 002-77)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from fakes import make_context
from outside.http_service import Answered, HttpService, Received

from cellwright.errors import ToolError
from cellwright.external import Definition, Function, Listing
from cellwright.external.discovery import DiscoveredService, read_document, syntax_problems
from cellwright.external.web import ProcessEnvironment, Web

KEY = "-".join(["rather", "secret", "4711"])
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Which."}},
    "required": ["city"],
}


def function(name: str = "today", **changes: Any) -> dict[str, Any]:
    whole = {"name": name, "description": "Weather of today.", "parameters": PARAMETERS}
    return {key: value for key, value in {**whole, **changes}.items() if value is not ...}


def document(*functions: Any, url: str = "https://weather.example", **changes: Any) -> Any:
    whole = {
        "name": "Weather",
        "description": "Knows the weather.",
        "homepage_url": url,
        "callback_url": f"{url}/call",
        "functions": list(functions) or [function()],
    }
    return {key: value for key, value in {**whole, **changes}.items() if value is not ...}


def definition(url: str = "https://weather.example", **options: Any) -> Definition:
    return Definition("weather", "http", f"{url}/tools", **options)


def connected(service: HttpService, **options: Any) -> DiscoveredService:
    service.answers.setdefault("/tools", Answered(document(url=service.url)))
    made = definition(service.url, is_local=True, key="WEATHER_KEY", **options)
    return DiscoveredService(made, Web(made, ProcessEnvironment({"WEATHER_KEY": KEY})))


def listed(service: DiscoveredService) -> Function:
    return service.listing().functions[0]


def test_002_76_a_document_is_read() -> None:
    found = read_document(document(), definition())
    assert found == Listing(
        (
            Function(
                "today",
                "Weather of today.",
                PARAMETERS,
                details={"callback_url": "https://weather.example/call"},
            ),
        ),
        (),
        "Knows the weather.",
    )


@pytest.mark.parametrize("required", [None, [], ...])
def test_002_76_a_missing_required_is_none(required: Any) -> None:
    schema = {key: v for key, v in PARAMETERS.items() if key != "required"}
    given = schema if required is ... else {**schema, "required": required}
    (found,) = read_document(document(function(parameters=given)), definition()).functions
    assert found.parameters == schema


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (..., "function 'today' has no 'parameters'"),
        (None, "function 'today' has no 'parameters'"),
        ([], "function 'today': its 'parameters' are no JSON object"),
        ({"properties": {}}, "function 'today': its 'parameters' have no 'type'"),
        (
            {"type": "array", "properties": {}},
            "function 'today': its 'parameters' are of type 'array', not 'object'",
        ),
        ({"type": "object"}, "function 'today': its 'parameters' have no 'properties'"),
        (
            {"type": "object", "properties": []},
            "function 'today': its 'properties' are no JSON object",
        ),
        (
            {"type": "object", "properties": {}, "required": "x"},
            "function 'today': its 'required' is no list",
        ),
        (
            {"type": "object", "properties": {}, "required": ["x"]},
            "function 'today': its 'required' names 'x', which is no property",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "texts"}}},
            "function 'today': its parameters are no JSON Schema (properties.a.type: 'texts' is "
            "not valid under any of the given schemas)",
        ),
    ],
)
def test_002_76_each_fault_of_parameters_has_its_own_message(parameters: Any, message: str) -> None:
    broken = document(function(parameters=parameters), function("other"))
    found = read_document(broken, definition())
    assert [each.name for each in found.functions] == ["other"]
    assert found.problems == (message,)
    assert message in syntax_problems(broken)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ([], "it is no JSON object"),
        (document(name=...), "it has no 'name'"),
        (document(name=1), "its 'name' is no text"),
        (document(name="x" * 256), "its 'name' has more than 255 characters"),
        (document(callback_url=...), "it has no 'callback_url'"),
        (document(callback_url="ftp://x"), "its 'callback_url' cannot be used"),
        (document(functions=...), "it has no list 'functions'"),
        (document(functions=[]), "its list 'functions' is empty"),
    ],
)
def test_002_76_a_document_with_a_broken_head_is_refused(broken: Any, message: str) -> None:
    with pytest.raises(ToolError) as failed:
        read_document(broken, definition())
    assert message in failed.value.message
    assert any(message in problem for problem in syntax_problems(broken))


def test_002_76_functions_without_a_name_or_twice_are_left_out() -> None:
    given = document(
        function(), function(), "x", {"description": "Nameless."}, function("d", description="")
    )
    found = read_document(given, definition())
    assert len(found.functions) == 1
    assert found.problems == (
        "the name 'today' is there twice",
        "function 3 is no JSON object",
        "function 4 has no 'name'",
        "function 'd' has no 'description'",
    )


def test_x_13_a_document_has_64_functions_at_most() -> None:
    given = document(*(function(f"f{number}") for number in range(66)))
    found = read_document(given, definition())
    assert len(found.functions) == 64
    assert found.problems[0].startswith("it has 66 functions; a document may have 64")
    assert "at most 64 are taken" in syntax_problems(given)[-1]


def test_the_syntax_check_names_parameters_without_a_description() -> None:
    given = document(function(parameters={"type": "object", "properties": {"a": {}}}))
    assert syntax_problems(given) == ("function 'today': the parameter 'a' has no 'description'",)
    assert syntax_problems(document()) == ()


def test_calls_that_would_go_to_another_host_need_consent() -> None:
    given = document(callback_url="https://other.example/call")
    with pytest.raises(ToolError, match=r"would go to 'other\.example'.*--host other\.example"):
        read_document(given, definition())
    assert read_document(given, definition(hosts=("other.example",))).functions


def test_002_77_a_call_is_a_post_with_the_key(service: HttpService) -> None:
    weather = connected(service)
    service.answers["/call"] = Answered({"success": True, "content": "Sunny"})
    context = replace(make_context(), user_id="mi", chat_id="chat-1")
    output = weather.call(listed(weather), {"city": "Łódź"}, context)
    assert output.content[0].text == {"info": "Sunny"}
    assert not output.final
    read, called = service.received
    assert read.headers["Authorization"] == called.headers["Authorization"] == f"Bearer {KEY}"
    assert called.method == "POST"
    assert called.json == {
        "function_name": "today",
        "parameters": {"city": "Łódź"},
        "user": {"id": "mi"},
        "chat": {"id": "chat-1"},
    }
    weather.close()


def test_002_77_stop_generation_makes_the_answer_the_last_word(service: HttpService) -> None:
    weather = connected(service)
    reply = {"success": True, "stop_generation": True, "content": {"degrees": 21}}
    service.answers["/call"] = Answered(reply)
    output = weather.call(listed(weather), {}, make_context())
    assert output.final
    assert output.content[0].text == {"info": '{"degrees": 21}'}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answered({"success": False, "content": "no such city"}), "'today' failed: no such city"),
        (Answered({"content": "?"}), "'today' failed: ?"),
        (Answered({"success": False}), "'today' failed: it does not say why"),
        (Answered({"success": True, "content": "x"}, 500), r"'today' failed \(status 500\): x"),
        (Answered("<html>Oops", 500), "status 500 and no JSON object: '<html>Oops'"),
        (Answered("[1]"), r"status 200 and no JSON object: '\[1\]'"),
    ],
)
def test_002_77_a_call_that_fails_is_a_tool_error(
    service: HttpService, answer: Answered, message: str
) -> None:
    weather = connected(service)
    service.answers["/call"] = answer
    with pytest.raises(ToolError, match=message):
        weather.call(listed(weather), {}, make_context())


def test_002_77_a_call_has_a_timeout(service: HttpService) -> None:
    weather = connected(service, timeout_seconds=0.3)

    def wait(_: Received) -> Answered:
        service.go_on.wait(10)
        return Answered({})

    found = listed(weather)
    service.answers["/call"] = wait
    with pytest.raises(ToolError, match=r"did not answer within 0\.3 s"):
        weather.call(found, {}, make_context())
    assert Definition("x", "http").timeout_seconds == 60


def test_a_key_that_is_said_back_is_not_recorded(service: HttpService) -> None:
    weather = connected(service)
    service.answers["/call"] = Answered({"success": True, "content": f"You are {KEY}!"})
    output = weather.call(listed(weather), {}, make_context())
    assert output.content[0].text == {"info": "You are [key]!"}
    assert KEY not in json.dumps(output.content[0].raw_data)


def test_a_key_that_is_not_set_is_told(service: HttpService) -> None:
    made = definition(service.url, is_local=True, key="WEATHER_KEY")
    with pytest.raises(ToolError, match="The environment variable 'WEATHER_KEY' is not set"):
        DiscoveredService(made, Web(made, ProcessEnvironment({}))).listing()
    assert service.received == []


def test_a_key_is_not_sent_in_the_clear_to_another_machine() -> None:
    made = definition("http://weather.example", key="WEATHER_KEY")
    with pytest.raises(ToolError, match="would be sent without encryption"):
        DiscoveredService(made, Web(made, ProcessEnvironment({"WEATHER_KEY": KEY}))).listing()


def test_a_key_that_no_header_can_hold_is_told(service: HttpService) -> None:
    made = definition(service.url, is_local=True, headers={"X-A": "${A}"})
    with pytest.raises(ToolError, match="The header 'X-A' of 'weather' cannot be sent"):
        DiscoveredService(made, Web(made, ProcessEnvironment({"A": "two\nlines"}))).listing()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answered("", 404), "answered with status 404"),
        (Answered("<html>"), "does not answer with JSON"),
    ],
)
def test_an_address_without_a_document_is_told(
    service: HttpService, answer: Answered, message: str
) -> None:
    service.answers["/tools"] = answer
    with pytest.raises(ToolError, match=message):
        connected(service).listing()


def test_an_address_that_cannot_be_used_is_a_tool_error() -> None:
    made = Definition("weather", "http", "nowhere")
    with pytest.raises(ToolError, match="'nowhere' cannot be used"):
        DiscoveredService(made, Web(made, ProcessEnvironment())).listing()
