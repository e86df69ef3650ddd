"""The model service over the wire: shown, chosen, tried; its key never told."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from fake_service import FakeService, Request, Wire, after, error, html, json_body, tool_call
from server_client import Client

from cellwright.llm.capabilities import find_running
from cellwright.llm.keys import load_settings
from cellwright.providers import PROVIDERS
from cellwright.server.application import Application

pytestmark = pytest.mark.server

KEY = "-".join(["sk", "svcacct", "4f9a1c7e2b8d6035"])
WITH_CELLWRIGHT = {"jpserver_extensions": {"cellwright": True}}
STRICT = {
    "ServerApp": WITH_CELLWRIGHT,
    "Cellwright": {
        "modes": ["ask", "plan"],
        "models": ["demo-*", "qwen*"],
        "endpoints": ["http://127.0.0.1"],
    },
}
ELSEWHERE = {
    "ServerApp": WITH_CELLWRIGHT,
    "Cellwright": {"endpoints": ["https://models.example.com/v1"]},
}


async def test_without_any_setting_the_demo_model_answers(client: Client) -> None:
    answer = await client.call("GET", "service")
    state = answer.json
    assert "demo model answers" in state.pop("notice")
    assert state == {
        "model": "cellwright-demo",
        "base_url": "",
        "has_key": False,
        "key_source": "",
        "is_demo": True,
        "mode": "ask",
        "modes": ["plan", "ask", "edits", "auto"],
        "models_allowed": [],
        "endpoints_locked": False,
        "recording": True,
        "parameters": {},
        "warnings": [],
    }


async def test_a_service_is_chosen_and_shown(client: Client) -> None:
    change = {"base_url": "http://127.0.0.1:9/v1/", "model": "qwen", "api_key": KEY}
    state = (await client.call("PUT", "service", change)).json
    assert (state["model"], state["base_url"]) == ("qwen", "http://127.0.0.1:9/v1")
    assert (state["has_key"], state["key_source"], state["is_demo"]) == (True, "file", False)
    assert (await client.call("GET", "service")).json == state
    state = (await client.call("PUT", "service", {"api_key": ""})).json
    assert (state["has_key"], state["key_source"]) == (False, "")


FOR_A_SHELL = re.compile(r"CELLWRIGHT_|_API_KEY|%agent|-m MODEL")


class TestNoModelIsNamed:
    """What the panel shows of a service for which nobody named a model."""

    async def state(self, client: Client, models: Any, **change: Any) -> Any:
        with FakeService([], models=models) as service:
            wanted = {"base_url": service.base_url, **change}
            state = (await client.call("PUT", "service", wanted)).json
        assert not FOR_A_SHELL.search(str(state["warnings"]))
        return state

    async def test_its_only_one_is_chosen(self, client: Client) -> None:
        state = await self.state(client, ["only"])
        assert (state["model"], state["warnings"]) == ("only", [])
        assert "only model" in state["notice"]

    async def test_of_several_one_has_to_be_chosen(self, client: Client) -> None:
        state = await self.state(client, ["a", "b"])
        assert state["model"] == ""
        assert "it has a, b. Choose one in Model settings." in state["warnings"][0]

    async def test_a_key_that_is_refused_is_told_with_who_refused_it(self, client: Client) -> None:
        state = await self.state(client, answers_with_key("another", "a"), api_key=KEY)
        assert state["model"] == ""
        assert re.search(r"127\.0\.0\.1:\d+ does not accept the key", state["warnings"][0])
        assert state["warnings"][0].endswith("Give it another key in Model settings.")
        assert KEY not in str(state)

    async def test_one_that_does_not_answer_is_told(self, client: Client) -> None:
        state = (await client.call("PUT", "service", {"base_url": "http://127.0.0.1:9"})).json
        assert "Nothing answers at 127.0.0.1:9" in state["warnings"][0]
        assert state["warnings"][0].endswith("choose another address in Model settings.")

    @pytest.mark.parametrize("jp_server_config", [STRICT])
    async def test_an_only_one_that_is_not_allowed_is_not_chosen(
        self, client: Client, shared: Application
    ) -> None:
        shared.configuration.endpoints = []
        state = await self.state(client, ["gpt-9"])
        assert state["model"] == ""
        assert "'gpt-9' is not allowed" in state["warnings"][0]


async def test_an_environment_that_cannot_be_used_is_shown(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_MODE", "yolo")
    state = (await client.call("GET", "service")).json
    assert any("'yolo'" in warning for warning in state["warnings"])
    assert len(state["warnings"]) == 1
    (check,) = (await client.call("POST", "service/test")).json
    assert (check["name"], check["status"]) == ("service", "blocked")
    assert (await client.call("GET", "models")).status == 400


async def test_a_record_that_cannot_be_written_is_shown(
    client: Client, shared: Application
) -> None:
    home = shared.chooser.home()
    home.mkdir(parents=True)
    (home / "runs.sqlite").mkdir()
    state = (await client.call("GET", "service")).json
    assert state["recording"] is False
    assert any("runs.sqlite" in warning for warning in state["warnings"])


@pytest.mark.parametrize("jp_server_config", [STRICT])
async def test_what_an_administrator_allows_is_shown_and_kept_to(client: Client) -> None:
    state = (await client.call("GET", "service")).json
    assert (state["mode"], state["modes"]) == ("ask", ["plan", "ask"])
    assert state["models_allowed"] == ["demo-*", "qwen*"]
    assert state["endpoints_locked"] is True
    for change in ({"base_url": "https://evil.example/v1"}, {"model": "gpt-9"}):
        answer = await client.call("PUT", "service", change)
        assert answer.status == 400
        assert "not allowed" in answer.json["message"]


@pytest.mark.parametrize("jp_server_config", [ELSEWHERE])
async def test_an_endpoint_of_the_environment_that_is_not_allowed_is_not_used(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    state = (await client.call("GET", "service")).json
    assert any("not allowed" in warning for warning in state["warnings"])
    assert (await client.call("GET", "models")).status == 400


class TestModels:
    async def test_those_of_the_service_are_listed(self, client: Client) -> None:
        with FakeService([]) as service:
            await client.call("PUT", "service", {"base_url": service.base_url, "model": "m"})
            listed = (await client.call("GET", "models")).json["models"]
        assert listed

    @pytest.mark.parametrize("jp_server_config", [STRICT])
    async def test_those_that_are_not_allowed_are_left_out(
        self, client: Client, jp_serverapp: Any
    ) -> None:
        with FakeService([]) as service:
            endpoints = [service.base_url]
            jp_serverapp.extension_manager.extension_points[
                "cellwright.server"
            ].app.routes.configuration.endpoints = endpoints
            change = {"base_url": service.base_url, "model": "qwen"}
            assert (await client.call("PUT", "service", change)).status == 200
            assert (await client.call("GET", "models")).json["models"] == []

    async def test_the_demo_has_one(self, client: Client) -> None:
        assert (await client.call("GET", "models")).json == {"models": ["cellwright-demo"]}

    async def test_a_service_that_does_not_answer_is_told(
        self, client: Client, free_port: int
    ) -> None:
        url = f"http://127.0.0.1:{free_port}/v1"
        await client.call("PUT", "service", {"base_url": url, "model": "m", "api_key": KEY})
        answer = await client.call("GET", "models")
        assert answer.status == 409
        assert str(free_port) in answer.json["message"]


class TestTest:
    async def test_every_check_says_what_to_do_next(self, client: Client) -> None:
        checks = (await client.call("POST", "service/test", {})).json
        found = {check["name"]: check for check in checks}
        assert found["key"]["status"] == "warn"
        assert found["tool calling"]["status"] == "ok"
        assert found["record"]["status"] == "ok"
        assert all(check["action"] for check in checks if check["status"] != "ok")

    async def test_nothing_that_may_cost_is_sent_unasked(self, client: Client) -> None:
        with FakeService([]) as service:
            await client.call("PUT", "service", {"base_url": service.base_url, "model": "m"})
            checks = (await client.call("POST", "service/test")).json
            assert not [r for r in service.requests if r.path.endswith("/chat/completions")]
        assert "tool calling" not in {check["name"] for check in checks}

    async def test_an_endpoint_that_does_not_answer_blocks(
        self, client: Client, free_port: int
    ) -> None:
        url = f"http://127.0.0.1:{free_port}/v1"
        await client.call("PUT", "service", {"base_url": url, "model": "m"})
        checks = (await client.call("POST", "service/test")).json
        found = {check["name"]: check for check in checks}
        assert found["endpoint"]["status"] == "blocked"


def answers_with_key(key: str, *names: str) -> Any:
    """A service whose models only this key may see."""

    def listed(request: Request) -> Wire:
        given = request.headers.get("authorization", "")
        if given != f"Bearer {key}":
            return error(401, f"Incorrect API key provided: {given[7:]}")(request)
        body = {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
        return json_body(body)(request)

    return listed


class TestCandidate:
    """A service is looked at before it is chosen."""

    async def test_its_models_are_listed_and_nothing_is_kept(
        self, client: Client, shared: Application
    ) -> None:
        with FakeService([], models=answers_with_key(KEY, "a", "b")) as service:
            wanted = {"base_url": service.base_url, "api_key": KEY + "0"}
            refused = await client.call("POST", "models", wanted)
            listed = await client.call("POST", "models", {**wanted, "api_key": KEY})
        assert (refused.status, refused.json["code"]) == (409, "LMAccessError")
        assert KEY.encode() not in refused.body
        assert listed.json == {"models": ["a", "b"]}
        assert (await client.call("GET", "service")).json["is_demo"] is True
        assert not (shared.chooser.home() / "service.json").exists()

    async def test_it_is_tried_with_one_small_request(self, client: Client) -> None:
        script = [tool_call("ping", {"word": "hello"}), error(404, "The model does not exist")]
        with FakeService(script, models=["m"]) as service:
            wanted = {"base_url": service.base_url, "model": "m", "send": True}
            knobs = {"temperature": 0.5, "reasoning_effort": "low"}
            works = (
                await client.call("POST", "service/test", {**wanted, "parameters": knobs})
            ).json
            fails = (await client.call("POST", "service/test", {**wanted, "model": "n"})).json
        assert [c["name"] for c in works if c["status"] == "blocked"] == []
        assert {c["code"] for c in fails if c["status"] == "blocked"} == {"LMNotFoundError"}
        body = service.requests[0].body
        assert (body["temperature"], body["reasoning_effort"]) == (0.5, "low")
        assert (await client.call("GET", "service")).json["is_demo"] is True

    async def test_the_key_of_another_address_is_not_sent_to_it(self, client: Client) -> None:
        change = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key": KEY}
        await client.call("PUT", "service", change)
        with FakeService([], models=["m"]) as service:
            await client.call("POST", "models", {"base_url": service.base_url})
        assert KEY not in str(service.other_requests[0].headers)

    @pytest.mark.parametrize("jp_server_config", [STRICT])
    async def test_what_an_administrator_forbids_is_not_asked(self, client: Client) -> None:
        wanted = {"base_url": "https://evil.example/v1"}
        for path in ("models", "service/test"):
            answer = await client.call("POST", path, wanted)
            assert b"not allowed" in answer.body

    async def test_an_address_without_a_model_lists_its_models(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with FakeService([], models=["a", "b"]) as service:
            monkeypatch.setenv("CELLWRIGHT_BASE_URL", service.base_url)
            listed = await client.call("GET", "models")
        assert listed.json == {"models": ["a", "b"]}


class TestParameters:
    async def test_those_that_are_chosen_are_sent_until_others_are(
        self, client: Client, shared: Application
    ) -> None:
        for wanted in ({"temperature": 0.5, "verbosity": ""}, {"top_p": 0.9}):
            state = (await client.call("PUT", "service", {"parameters": wanted})).json
            assert state["parameters"] == {name: value for name, value in wanted.items() if value}
            assert shared.settings().service.parameters == state["parameters"]

    async def test_those_of_the_environment_win(
        self, client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CELLWRIGHT_PARAMETERS", '{"top_p": 0.1}')
        wanted = {"top_p": 0.9, "temperature": 0.5}
        state = (await client.call("PUT", "service", {"parameters": wanted})).json
        assert any("top_p" in warning for warning in state["warnings"])
        assert shared.settings().service.parameters == {"top_p": 0.1, "temperature": 0.5}

    async def test_one_that_cannot_be_is_refused(self, client: Client) -> None:
        for wanted in ({"temperature": "hot"}, {"colour": 1}, {"max_output_tokens": -1}):
            answer = await client.call("PUT", "service", {"parameters": wanted})
            assert answer.status == 400


class TestProviders:
    async def test_those_of_the_table_are_offered_with_what_is_known_of_their_keys(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CELLWRIGHT_OLLAMA", "off")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        answer = await client.call("GET", "providers")
        rows = {row["name"]: row for row in answer.json["providers"]}
        assert list(rows) == [provider.name for provider in PROVIDERS]
        keyed = [name for name, row in rows.items() if row["has_key"]]
        assert keyed == ["OpenAI", "Google Gemini"]
        assert rows["Azure OpenAI"]["base_url"] == ""
        assert rows["Azure OpenAI"]["example"] == "…/openai/v1"
        assert not rows["Ollama"]["needs_key"]
        assert (answer.json["any_address"], answer.json["set_model"]) == (True, "")
        assert KEY.encode() not in answer.body

    async def test_a_key_of_the_environment_is_used_for_the_provider_that_is_chosen(
        self, client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("GROQ_API_KEY", KEY[::-1])
        (groq,) = (provider for provider in PROVIDERS if provider.name == "Groq")
        await client.call("PUT", "service", {"base_url": groq.base_url})
        assert shared.settings().service.api_key == KEY[::-1]
        assert load_settings().service.api_key == KEY[::-1]
        refused = await client.call("PUT", "service", {"api_key": "another"})
        assert (refused.status, "GROQ_API_KEY" in refused.json["message"]) == (400, False)
        assert "was set when this server was started" in refused.json["message"]

    async def test_a_server_on_this_machine_is_found_by_its_port(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with FakeService([], models=["qwen3"]) as service:
            monkeypatch.setenv("CELLWRIGHT_OLLAMA", service.base_url.removesuffix("/v1"))
            rows = (await client.call("GET", "providers")).json["providers"]
            (ollama,) = (row for row in rows if row["name"] == "Ollama")
            assert (ollama["base_url"], ollama["models"]) == (service.base_url, ["qwen3"])
            asked = len(service.other_requests)
            monkeypatch.setenv("CELLWRIGHT_OLLAMA", "off")
            await client.call("GET", "providers")
            assert len(service.other_requests) == asked
        assert "authorization" not in service.other_requests[-1].headers

    @pytest.mark.parametrize("jp_server_config", [ELSEWHERE])
    async def test_where_an_administrator_names_endpoints_they_alone_are_offered(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with FakeService([], models=["qwen3"]) as service:
            monkeypatch.setenv("CELLWRIGHT_OLLAMA", service.base_url.removesuffix("/v1"))
            answer = (await client.call("GET", "providers")).json
        assert [row["base_url"] for row in answer["providers"]] == ["https://models.example.com/v1"]
        assert answer["any_address"] is False
        assert service.connections == 0

    async def test_where_the_environment_names_the_service_it_alone_is_offered(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CELLWRIGHT_BASE_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("CELLWRIGHT_MODEL", "m")
        answer = (await client.call("GET", "providers")).json
        assert [row["base_url"] for row in answer["providers"]] == ["http://127.0.0.1:9/v1"]
        assert (answer["any_address"], answer["set_model"]) == (False, "m")


def test_who_answers_slowly_or_otherwise_is_not_found() -> None:
    good = FakeService([], models=["m"])
    slow = FakeService([], models=after(json_body({"data": [{"id": "m"}]}), 5))
    page = FakeService([], models=html("<html>A hub</html>"))
    with good, slow, page:
        began = time.monotonic()
        found = find_running(
            [good.base_url, slow.base_url, page.base_url, "http://example.com/v1"], seconds=0.3
        )
        assert time.monotonic() - began < 2
    assert found == {good.base_url: ("m",)}


class TestSecrecy:
    async def test_a_key_is_never_told_logged_or_recorded(
        self, client: Client, shared: Application, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("DEBUG")
        change = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key": f' "{KEY}" '}
        told = [(await client.call("PUT", "service", change)).body]
        chat = (await client.call("POST", "chats", {})).json["id"]
        broken = json.dumps({"api_key": KEY}).encode()[:-1]
        for value in (broken, {"api_key": [KEY]}, {"api_keys": KEY}, {"api_key": KEY + "é"}):
            told.append((await client.call("PUT", "service", value)).body)
        for path in (
            "health",
            "service",
            "models",
            "chats",
            f"chats/{chat}/export?to=html",
            "notebooks/missing?path=a",
        ):
            told.append((await client.call("GET", path)).body)
        told.append((await client.call("POST", "service/test", {"send": True})).body)
        assert not [body for body in told if KEY.encode() in body]
        assert KEY not in caplog.text
        assert "PUT" in caplog.text
        home = shared.chooser.home()
        holders = [
            f.name for f in home.rglob("*") if f.is_file() and KEY.encode() in f.read_bytes()
        ]
        assert holders == ["service.json"]
        assert (home / "service.json").stat().st_mode & 0o777 == 0o600

    async def test_a_key_of_the_environment_is_not_told_either(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://me:{KEY}@127.0.0.1:9/v1")
        monkeypatch.setenv("CELLWRIGHT_MODEL", "m")
        for method, path in (("GET", "service"), ("GET", "models"), ("POST", "service/test")):
            answer = await client.call(method, path)
            assert KEY.encode() not in answer.body, path
        assert (await client.call("GET", "service")).json["key_source"] == "environment"

    async def test_a_key_is_not_in_a_traceback(self, shared: Application) -> None:
        from cellwright.server.service_choice import ServiceChange

        assert KEY not in repr(ServiceChange(api_key=KEY))
        shared.chooser.keys.keep_key("https://api.openai.com:443", KEY)
        assert KEY not in repr(shared.settings())
        assert KEY not in repr(shared.chooser.choice())
