"""Outside tools of a conversation: which there are, what changes, what goes wrong."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeKernel
from outside.http_service import Answered, HttpService, Received
from scripted_model import ScriptedLM, calls, says

from cellwright.context.turn_sources import RetrievalResult, SourceQuestion, tools_of
from cellwright.errors import SetupError
from cellwright.external.commands import name_of, order, parse
from cellwright.external.consent_store import ToolBook, checked
from cellwright.external.source import OutsideTools, Services, Whereabouts, open_outside
from cellwright.external.web import ProcessEnvironment
from cellwright.record.events import Notice, RunFinished, ToolFinished
from cellwright.record.messages import Parameters
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import Settings
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.store.tools import ToolStore
from cellwright.text.redaction import Redactor

KEY = "-".join(["a", "word", "nobody", "knows"])
Opener = Callable[[], OutsideTools]
PLAIN = {"type": "object", "properties": {}}


def function(name: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "parameters": PLAIN, **changes}


def offer(service: HttpService, *names: str) -> None:
    """Let the service have these functions."""
    service.answers["/tools"] = Answered(
        {
            "name": "Weather",
            "callback_url": f"{service.url}/call",
            "functions": [function(name) for name in names],
        }
    )


@pytest.fixture
def database() -> Iterator[Database]:
    made = open_database(None)
    yield made
    made.close()


@pytest.fixture
def opened(tmp_path: Path, database: Database) -> Iterator[Opener]:
    """Opens the tools of one person, as a new process would."""
    made: list[OutsideTools] = []

    def again() -> OutsideTools:
        store = ToolStore(database, "mi")
        around = ProcessEnvironment({"WEATHER_KEY": KEY, "PATH": os.environ["PATH"]}, str(tmp_path))
        book = ToolBook(store, tmp_path / "home", [tmp_path])
        made.append(OutsideTools(book, Services(store, around)))
        return made[-1]

    yield again
    for each in made:
        each.close()


def say(tools: OutsideTools, *words: str) -> list[str]:
    return order(parse(words), tools)


def discover(tools: OutsideTools, service: HttpService, *more: str) -> list[str]:
    url = f"{service.url}/tools"
    return say(tools, "discover", url, "--name", "weather", "--local", *more)


def names(tools: OutsideTools) -> list[str]:
    return [component.name for component in tools.components()]


def test_002_02_a_service_is_discovered_listed_and_removed(
    opened: Opener, service: HttpService
) -> None:
    offer(service, "today", "tomorrow")
    tools = opened()
    assert discover(tools, service, "--key", "WEATHER_KEY", "--reads", "today") == [
        "'weather' is connected.",
        "  weather__today [read]",
        "  weather__tomorrow [execute]",
    ]
    assert names(tools) == ["weather__today", "weather__tomorrow"]
    assert say(tools, "list") == [
        "weather__today (http): [read] Does today.",
        "weather__tomorrow (http): [execute] Does tomorrow.",
    ]
    assert say(tools, "remove", "weather") == ["'weather' is no longer used."]
    assert names(tools) == []
    assert say(tools, "list")[0].startswith("No outside tools.")


def test_002_02_another_process_has_it_too_and_asks_nothing(
    opened: Opener, service: HttpService
) -> None:
    offer(service, "today")
    discover(opened(), service)
    asked = len(service.received)
    assert names(opened()) == ["weather__today"]
    assert len(service.received) == asked


def test_no_key_is_written_down(opened: Opener, service: HttpService, database: Database) -> None:
    offer(service, "today")
    discover(opened(), service, "--key", "WEATHER_KEY")
    assert service.received[0].headers["Authorization"] == f"Bearer {KEY}"
    rows = [database.read(f"SELECT * FROM {t}") for t in ("outside_tools", "tool_listings")]
    assert "WEATHER_KEY" in repr(rows)
    assert KEY not in repr(rows)


def test_002_02_the_same_address_or_name_twice_is_refused(
    opened: Opener, service: HttpService
) -> None:
    offer(service, "today")
    tools = opened()
    discover(tools, service)
    with pytest.raises(SetupError, match="There is a service 'weather' already"):
        discover(tools, service)
    with pytest.raises(SetupError, match="is there already, as 'weather'"):
        say(tools, "discover", f"{service.url}/tools", "--name", "other", "--local")


def test_002_02_what_an_assistant_names_is_not_removed(
    opened: Opener, service: HttpService, tmp_path: Path
) -> None:
    offer(service, "today")
    tools = opened()
    discover(tools, service)
    folder = tmp_path / ".cellwright" / "assistants"
    folder.mkdir(parents=True)
    (folder / "rainy.toml").write_text('tools = ["weather__*"]', "utf-8")
    with pytest.raises(SetupError, match="are named by the assistant 'rainy'"):
        say(tools, "remove", "weather")
    (folder / "rainy.toml").unlink()
    say(tools, "remove", "weather")


def test_002_02_refresh_asks_again_and_the_change_is_told_once(
    opened: Opener, service: HttpService
) -> None:
    offer(service, "today", "gone")
    tools, turn = opened(), SourceQuestion("q", "chat")
    discover(tools, service)
    first = tools.components()
    assert tools.look_up(turn).notices == ()
    assert tools.components() == first
    offer(service, "today", "new")
    service.answers["/tools"] = replace(_answer(service), body=_renamed(service))
    assert say(tools, "refresh", "weather")[0] == "'weather' was asked again."
    assert tools.look_up(turn).notices == (
        "The tools of 'weather' have changed; new: weather__new; gone: weather__gone; described "
        "otherwise: weather__today.",
    )
    assert tools.look_up(turn).notices == ()
    assert tools.look_up(SourceQuestion("q", "another chat")).notices == ()


def _answer(service: HttpService) -> Answered:
    found = service.answers["/tools"]
    assert isinstance(found, Answered)
    return found


def _renamed(service: HttpService) -> Any:
    body = json.loads(_answer(service).data)
    body["functions"][0]["description"] = "Does it otherwise."
    return body


def test_x_13_each_service_may_have_as_many_tools_as_a_source(
    opened: Opener, service: HttpService
) -> None:
    offer(service, *(f"f{number}" for number in range(64)))
    tools = opened()
    discover(tools, service)
    service.answers["/more"] = service.answers["/tools"]
    say(tools, "discover", f"{service.url}/more", "--name", "more", "--local")
    assert [len(s.components) for s in tools_of([tools])] == [64, 64]
    assert tools_of([tools], is_guest=True) == ()
    assert tools.look_up(SourceQuestion("q", "c", is_guest=True)).problems == ()


def test_names_fit_a_request_and_odd_ones_are_told_apart(
    opened: Opener, service: HttpService
) -> None:
    offer(service, "x" * 80, "a b", "a/b", "plain")
    tools = opened()
    discover(tools, service, "--allowed", "*[!n]")
    made = names(tools)
    assert len(set(made)) == 3
    assert all(len(name) <= 64 and name.startswith("weather__") for name in made)


def test_a_file_of_the_folder_is_used_only_after_the_person_agreed(
    opened: Opener, service: HttpService, tmp_path: Path
) -> None:
    offer(service, "today")
    folder = tmp_path / ".cellwright" / "tools"
    folder.mkdir(parents=True)
    text = f'kind = "http"\nurl = "{service.url}/tools"\nlocal = true\n'
    (folder / "weather.toml").write_text(text, "utf-8")
    (folder / "broken.toml").write_text("kind = 1", "utf-8")
    tools, turn = opened(), SourceQuestion("q", "chat")
    found = tools.look_up(turn)
    (broken,), (unused,) = found.problems, found.notices
    assert broken.startswith("broken.toml: kind")
    assert isinstance(unused, str)
    assert "'weather' of" in unused
    assert f"it asks '{service.url}/tools'. %agent tool connect weather" in unused
    assert tools.look_up(turn) == RetrievalResult()
    assert tools.look_up(SourceQuestion("q", "another chat")).notices == ()
    assert names(tools) == []
    assert service.received == []
    assert [row.enabled for row in tools.rows()] == [False]
    assert say(tools, "check")[1].startswith("- 'weather' of")
    with pytest.raises(SetupError, match="is not used before you agree"):
        say(tools, "refresh", "weather")
    assert say(tools, "connect", "weather")[0].endswith("is used now.")
    assert names(tools) == ["weather__today"]
    (folder / "weather.toml").write_text(text + 'reads = ["*"]\n', "utf-8")
    assert names(tools) == []
    say(tools, "connect", "weather")
    say(tools, "remove", "weather")
    assert names(tools) == []


def test_a_file_of_the_persons_own_folder_is_used_at_once(
    opened: Opener, service: HttpService, tmp_path: Path
) -> None:
    offer(service, "today")
    folder = tmp_path / "home" / "tools"
    folder.mkdir(parents=True)
    text = f'kind = "http"\nurl = "{service.url}/tools"\nlocal = true\n'
    (folder / "weather.toml").write_text(text, "utf-8")
    tools = opened()
    assert [row.problem for row in tools.rows()] == ["It was not asked yet what it can do."]
    assert names(tools) == ["weather__today"]
    with pytest.raises(SetupError, match="is written down in .*weather"):
        say(tools, "remove", "weather")


def test_a_service_that_does_not_answer_is_told_and_nothing_else_suffers(
    opened: Opener, service: HttpService, tmp_path: Path
) -> None:
    folder = tmp_path / "home" / "tools"
    folder.mkdir(parents=True)
    text = f'kind = "http"\nurl = "{service.url}/absent"\nlocal = true\n'
    (folder / "absent.toml").write_text(text, "utf-8")
    offer(service, "today")
    tools = opened()
    discover(tools, service)
    (problem,) = tools.look_up(SourceQuestion("q", "chat")).problems
    assert problem.startswith("'absent': The discovery URL")
    assert names(tools) == ["weather__today"]
    assert len([r for r in service.received if r.path == "/absent"]) == 1
    assert say(tools, "check", "absent")[0].startswith("✗ The discovery URL")


def test_services_that_fail_at_once_are_asked_once_each(
    opened: Opener, service: HttpService, tmp_path: Path
) -> None:
    folder = tmp_path / "home" / "tools"
    folder.mkdir(parents=True)
    wanted = [f"/absent-{number}" for number in range(30)]
    for path in wanted:
        text = f'kind = "http"\nurl = "{service.url}{path}"\nlocal = true\n'
        (folder / f"{path[1:]}.toml").write_text(text, "utf-8")
    assert names(opened()) == []
    assert sorted(received.path for received in service.received) == sorted(wanted)


def test_functions_that_are_left_out_are_told(opened: Opener, service: HttpService) -> None:
    offer(service, "today", "broken")
    body = json.loads(_answer(service).data)
    body["functions"][1].pop("parameters")
    service.answers["/tools"] = Answered(body)
    tools = opened()
    told = "function 'broken' has no 'parameters'"
    assert discover(tools, service)[-1] == f"  left out: {told}"
    assert tools.look_up(SourceQuestion("q", "chat")).problems == (
        f"A function of 'weather' is left out: {told}.",
    )


def test_002_76_the_syntax_of_a_document_can_be_checked(opened: Opener, tmp_path: Path) -> None:
    path = tmp_path / "document.json"
    path.write_text(json.dumps({"name": "x"}), "utf-8")
    found = say(opened(), "check", str(path))
    assert found == [
        f"✗ {path}: it has no 'callback_url'",
        f"✗ {path}: it has no list 'functions'",
    ]
    path.write_text(
        json.dumps(
            {"name": "x", "callback_url": "https://x.example", "functions": [function("a")]}
        ),
        "utf-8",
    )
    assert say(opened(), "check", str(path)) == [f"✓ {path}"]
    with pytest.raises(SetupError, match="cannot be read"):
        say(opened(), "check", str(tmp_path / "none.json"))


def test_an_mcp_server_and_an_openapi_document_are_connected_on_a_line(
    opened: Opener, service: HttpService
) -> None:
    paths = {"/now": {"get": {"operationId": "now"}}}
    document = {"openapi": "3.0.0", "paths": paths, "servers": [{"url": "/"}]}
    service.answers["/openapi.json"] = Answered(document)
    tools = opened()
    url = f"{service.url}/openapi.json"
    assert say(tools, "connect", "clock", "--local", "--openapi", url)[1] == "  clock__now [read]"
    with pytest.raises(SetupError, match="cannot be started|need the package"):
        say(tools, "connect", "none", "--env", "WEATHER_KEY", "--", "no-such-program", "--flag")
    with pytest.raises(SetupError, match="There is no service 'none'. There are: clock"):
        say(tools, "refresh", "none")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fly"], "invalid choice"),
        (["discover"], "required: url"),
        (["discover", "https://1.2.3.4/x"], "gives no name"),
        (["discover", "https://x.example", "--key", "sk-123"], "key: is not the name"),
        (["connect", "a", "https://x.example", "--colour"], "unrecognized arguments"),
    ],
)
def test_lines_that_cannot_be_read_are_told(opened: Opener, words: list[str], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        say(opened(), *words)


def test_an_address_gives_a_name() -> None:
    assert name_of("https://api.weather.example/x") == "weather"


def conversation(tools: OutsideTools, database: Database) -> Conversation:
    store = RunStore(database)
    kernel = FakeKernel(probes={"live_tools": []})
    return Conversation(RunContext(kernel, store, Redactor({}), "cli", sources=(tools,)))


def ask(talk: Conversation, *script: Any, mode: Any = "auto") -> list[Any]:
    question = RunRequest("How is it?", Parameters("scripted"), mode=mode)
    return list(talk.ask(question, ScriptedLM(script)))


def one(events: list[Any], kind: type[Any]) -> Any:
    (found,) = [event for event in events if isinstance(event, kind)]
    return found


def test_002_77_a_call_that_fails_is_a_result_and_the_chat_goes_on(
    opened: Opener, service: HttpService, database: Database
) -> None:
    offer(service, "today")
    tools = opened()
    discover(tools, service)
    service.answers["/call"] = Answered("broken", 500)
    talk = conversation(tools, database)
    events = ask(talk, calls(("weather__today", {})), says("I could not find out."))
    finished = one(events, ToolFinished)
    assert finished.status == "error"
    assert finished.message.is_error
    assert one(events, RunFinished).status == "completed"
    service.answers["/call"] = Answered({"success": True, "content": "Sunny"})
    events = ask(talk, calls(("weather__today", {})), says("Sunny."))
    assert one(events, ToolFinished).shown == "Sunny"


def test_002_77_stop_generation_ends_the_run_without_asking_the_model_again(
    opened: Opener, service: HttpService, database: Database
) -> None:
    offer(service, "today")
    tools = opened()
    discover(tools, service)
    reply = {"success": True, "stop_generation": True, "content": "See the screen."}
    service.answers["/call"] = Answered(reply)
    events = ask(conversation(tools, database), calls(("weather__today", {})))
    assert one(events, RunFinished).status == "completed"
    assert one(events, RunFinished).answer == "See the screen."


def test_what_writes_is_asked_about_and_what_the_person_calls_reading_is_not(
    opened: Opener, service: HttpService, database: Database
) -> None:
    offer(service, "today", "send")
    tools = opened()
    discover(tools, service, "--reads", "today")
    service.answers["/call"] = Answered({"success": True, "content": "done"})
    script = (calls(("weather__today", {}), ("weather__send", {})), says("Yes."))
    events = ask(conversation(tools, database), *script, mode="ask")
    statuses = [event.status for event in events if isinstance(event, ToolFinished)]
    assert statuses == ["ok", "refused"]


def test_000_22_an_mcp_server_in_a_conversation_from_connecting_to_a_change(
    opened: Opener, database: Database
) -> None:
    pytest.importorskip("mcp")
    script = str(Path(__file__).with_name("mcp_sample_server.py"))
    tools = opened()
    offered = say(
        tools, "connect", "sample", "--env", "WEATHER_KEY", "--", sys.executable, script, "stdio"
    )
    assert offered[:2] == ["'sample' is connected.", "  sample__add [execute]"]
    assert "  sample__fail [destroy]" in offered
    talk = conversation(tools, database)
    wanted = calls(("sample__parts", {}), ("sample__fail", {"words": "no"}), ("sample__grow", {}))
    lm = ScriptedLM([wanted, says("Done.")])
    question = RunRequest("Go.", Parameters("scripted"), mode="auto")
    events = list(talk.ask(question, lm))
    parts, failed, _ = [event for event in events if isinstance(event, ToolFinished)]
    assert failed.status == "refused"  # nobody can be asked here
    sent = repr(lm.prompts[-1].messages)
    assert "for the model" in sent
    assert "for the person" not in sent
    assert parts.shown.startswith("for all\nfor the person\n")
    assert one(events, RunFinished).status == "completed"
    until = time.monotonic() + 10
    while "sample__later" not in names(tools) and time.monotonic() < until:
        time.sleep(0.02)
    notice = one(ask(talk, says("Hi.")), Notice)
    assert notice.text == "The tools of 'sample' have changed; new: sample__later."
    assert "sample__later" in names(opened())
    say(tools, "remove", "sample")


def test_a_change_is_told_in_the_conversation(
    opened: Opener, service: HttpService, database: Database
) -> None:
    offer(service, "today")
    tools = opened()
    discover(tools, service)
    talk = conversation(tools, database)
    ask(talk, says("Hi."))
    offer(service, "other")
    say(tools, "refresh", "weather")
    notice = one(ask(talk, says("Hi.")), Notice)
    assert notice.text.startswith("The tools of 'weather' have changed; new: weather__other")


def test_arguments_may_have_any_name(
    opened: Opener, service: HttpService, database: Database
) -> None:
    offer(service)
    schema = {"type": "object", "properties": {"self": {"type": "string"}, "name": {}}}
    service.answers["/tools"] = Answered(
        {
            "name": "W",
            "callback_url": f"{service.url}/call",
            "functions": [function("today", parameters=schema)],
        }
    )
    tools = opened()
    discover(tools, service)
    service.answers["/call"] = Answered({"success": True, "content": "ok"})
    script = (calls(("weather__today", {"self": "x" * 200, "name": 1})), says("Yes."))
    events = ask(conversation(tools, database), *script)
    assert one(events, ToolFinished).status == "ok"
    assert service.received[-1].json["parameters"] == {"self": "x" * 200, "name": 1}


def test_a_slow_first_answer_is_waited_for_only_so_long(
    opened: Opener, service: HttpService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(service, "today")
    document = _answer(service)
    asked = threading.Event()

    def slow(_: Received) -> Answered:
        asked.set()
        service.go_on.wait(10)
        return document

    service.answers["/tools"] = slow
    folder = tmp_path / "home" / "tools"
    folder.mkdir(parents=True)
    text = f'kind = "http"\nurl = "{service.url}/tools"\nlocal = true\n'
    (folder / "weather.toml").write_text(text, "utf-8")
    tools = opened()
    tools.start_seconds = 0.05
    assert tools.look_up(SourceQuestion("q", "chat")).problems == (
        "'weather' is still starting; its tools come with the next question.",
    )
    assert asked.wait(5)
    service.go_on.set()
    tools.start_seconds = 10.0
    assert names(tools) == ["weather__today"]


def test_one_set_of_tools_serves_a_record_whatever_else_is_set(
    tmp_path: Path, database: Database
) -> None:
    settings = Settings(home=tmp_path, user="mi")
    here = Whereabouts((tmp_path,), tmp_path)
    first = open_outside(database, settings, here)
    assert open_outside(database, replace(settings, mode="auto"), here) is first
    assert open_outside(database, settings).name == "outside"
    assert open_outside(database, replace(settings, user="eve"), here) is not first
    first.close()


def test_a_listing_of_another_version_is_asked_for_again(
    opened: Opener, service: HttpService, database: Database
) -> None:
    offer(service, "today")
    discover(opened(), service)
    store = ToolStore(database, "mi")
    (row,) = database.read("SELECT fingerprint FROM tool_listings")
    store.keep_listing(row[0], {"functions": [{"title": "x"}]})
    begun = time.monotonic()
    assert names(opened()) == ["weather__today"]
    assert time.monotonic() - begun < 8


def test_a_tool_needs_a_run(opened: Opener, service: HttpService) -> None:
    offer(service, "today")
    tools = opened()
    discover(tools, service)
    (tool,) = tools.components()
    said = tool.evaluate_merged().content[0]
    assert said.is_error
    assert said.text["info"] == "'weather__today' needs a run. Let the agent call it."
    assert tool.label(city="x") == "weather: today(city='x')"
    assert checked({"name": "a", "kind": "mcp", "command": "x"}, "").command == "x"
