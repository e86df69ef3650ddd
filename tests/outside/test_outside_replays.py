"""Replays of runs with outside tools: their recorded results are used, nobody is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeKernel
from outside.http_service import Answered, HttpService, Received
from scripted_model import ScriptedLM, calls, says

from cellwright.external.commands import order, parse
from cellwright.external.consent_store import ToolBook
from cellwright.external.source import OutsideTools, Services
from cellwright.external.web import ProcessEnvironment
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import compare, replay, rerun
from cellwright.session.services import ModelService
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.store.tools import ToolStore
from cellwright.text.redaction import Redactor

SCRIPT = str(Path(__file__).with_name("mcp_sample_server.py"))
SAID = "Not called again, their recorded results are used: "
SHOP = {
    "openapi": "3.1.0",
    "info": {"title": "Shop"},
    "paths": {"/health": {"get": {"operationId": "health", "summary": "Well?"}}},
}


@pytest.fixture
def database() -> Iterator[Database]:
    made = open_database(None)
    yield made
    made.close()


@pytest.fixture
def tools(tmp_path: Path, database: Database) -> Iterator[OutsideTools]:
    store = ToolStore(database, "mi")
    services = Services(store, ProcessEnvironment({"PATH": os.environ["PATH"]}, str(tmp_path)))
    made = OutsideTools(ToolBook(store, tmp_path / "home", [tmp_path]), services)
    yield made
    made.close()


@pytest.fixture
def place(database: Database, tools: OutsideTools) -> RunContext:
    kernel, store = FakeKernel(), RunStore(database)
    return RunContext(kernel, store, Redactor({}), "cli", sources=(tools,))


def ask(place: RunContext, *made: tuple[str, dict[str, Any]]) -> RunRecord:
    conversation = Conversation(place)
    model = ScriptedLM([calls(*made), says("Done.")])
    list(conversation.ask(RunRequest("Go.", Parameters("m"), mode="auto"), model))
    return place.store.record(conversation.last_run_id)


def again(record: RunRecord, place: RunContext) -> RunRecord:
    list(replay(record, replace(place, kernel=FakeKernel(), lane="replay")))
    assert isinstance(place.store, RunStore)
    return place.store.record(place.store.last_started)


def discover(service: HttpService, tools: OutsideTools) -> None:
    plain = {"type": "object", "properties": {"day": {"type": "string"}}}
    function = {"name": "today", "description": "The weather.", "parameters": plain}
    service.answers["/tools"] = Answered(
        {"name": "W", "callback_url": f"{service.url}/call", "functions": [function]}
    )
    url = f"{service.url}/tools"
    order(parse(["discover", url, "--name", "weather", "--local"]), tools)


def test_a_replay_calls_no_service_and_gives_its_recorded_result(
    service: HttpService, tools: OutsideTools, place: RunContext
) -> None:
    def answer(request: Received) -> Answered:
        return Answered({"success": True, "content": f"rain {len(service.received)}"})

    service.answers["/call"] = answer
    discover(service, tools)
    record = ask(place, ("weather__today", {"day": "Friday"}))
    assert [call.status for call in record.calls] == ["ok"]
    asked = len(service.received)
    repeated = again(record, place)
    assert len(service.received) == asked
    assert (repeated.status, repeated.answer) == ("completed", "Done.")
    assert repeated.messages[-2] == record.messages[-2]
    assert repeated.notices == (f"{SAID}weather__today.",)
    assert compare(record, repeated) == ()


def test_a_call_that_ended_the_run_ends_its_replay(
    service: HttpService, tools: OutsideTools, place: RunContext
) -> None:
    discover(service, tools)
    reply = {"success": True, "stop_generation": True, "content": "See the screen."}
    service.answers["/call"] = Answered(reply)
    record = ask(place, ("weather__today", {}))
    repeated = again(record, place)
    assert (repeated.status, repeated.answer) == ("completed", "See the screen.")
    assert compare(record, repeated) == ()


def test_a_replay_starts_no_service_that_the_run_did_not_call(
    service: HttpService, tools: OutsideTools, place: RunContext
) -> None:
    discover(service, tools)
    record = ask(place, ("run_cell", {"code": "1"}))
    asked = len(service.received)
    repeated = again(record, place)
    assert (len(service.received), repeated.notices, compare(record, repeated)) == (asked, (), ())


def test_a_document_of_openapi_and_its_failures_are_replayed_too(
    service: HttpService, tools: OutsideTools, place: RunContext
) -> None:
    service.answers["/shop.json"] = Answered({**SHOP, "servers": [{"url": service.url}]})
    order(parse(["connect", "shop", f"{service.url}/shop.json", "--openapi", "--local"]), tools)
    record = ask(place, ("shop__health", {}))
    assert [call.status for call in record.calls] == ["error"]
    asked = len(service.received)
    service.answers["/health"] = Answered({"well": True})
    repeated = again(record, place)
    assert len(service.received) == asked
    assert [call.status for call in repeated.calls] == ["error"]
    assert repeated.messages[-2] == record.messages[-2]
    assert compare(record, repeated) == ()


def test_an_mcp_server_is_not_started_and_its_pictures_are_there_again(
    tools: OutsideTools, place: RunContext
) -> None:
    pytest.importorskip("mcp")
    order(parse(["connect", "sample", "--", sys.executable, SCRIPT, "stdio"]), tools)
    record = ask(place, ("sample__parts", {}), ("sample__add", {"a": 2, "b": 3}))
    tools.close()
    repeated = again(record, place)
    assert compare(record, repeated) == ()
    assert repeated.notices == (f"{SAID}sample__add, sample__parts.",)
    assert [message for message in repeated.messages if message.role == "tool"] == [
        message for message in record.messages if message.role == "tool"
    ]
    drawn = [[c.type for c in call.contents] for call in (record.calls[0], repeated.calls[0])]
    assert drawn[0] == [kind for kind in drawn[1] if kind]


def test_a_function_of_the_same_name_is_not_called_in_its_place(
    service: HttpService, tools: OutsideTools, place: RunContext
) -> None:
    service.answers["/call"] = Answered({"success": True, "content": "Rain."})
    discover(service, tools)
    record = ask(place, ("weather__today", {}))
    kernel = FakeKernel()
    list(replay(record, replace(place, kernel=kernel, lane="replay")))
    assert kernel.requests == []


def test_other_arguments_are_a_difference(
    service: HttpService, tools: OutsideTools, place: RunContext
) -> None:
    service.answers["/call"] = Answered({"success": True, "content": "Rain."})
    discover(service, tools)
    record = ask(place, ("weather__today", {"day": "Friday"}))
    (call,) = record.calls
    changed = replace(record, calls=(replace(call, arguments={"day": "Monday"}),))
    (found,) = compare(changed, again(changed, place))
    assert (found.cell_number, found.what) == (0, "arguments of weather__today")
    assert (found.recorded, found.replayed) == ('{"day": "Monday"}', '{"day": "Friday"}')


def test_another_model_may_call_the_services_that_are_connected(
    service: HttpService, tools: OutsideTools, place: RunContext
) -> None:
    service.answers["/call"] = Answered({"success": True, "content": "Rain."})
    discover(service, tools)
    record = ask(place, ("weather__today", {}))
    asked = len(service.received)
    other = ModelService(ScriptedLM([calls(("weather__today", {})), says("Wet.")]), "o")
    list(rerun(record, place, other))
    assert isinstance(place.store, RunStore)
    made = place.store.record(place.store.last_started)
    assert (made.answer, made.notices) == ("Wet.", ())
    assert len(service.received) == asked + 1


def test_the_code_of_a_run_still_runs(place: RunContext) -> None:
    record = ask(place, ("run_cell", {"code": "1 + 1"}))
    kernel = FakeKernel()
    list(replay(record, replace(place, kernel=kernel, lane="replay")))
    assert [request.code for request in kernel.requests] == ["1 + 1"]
