from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from asking import ask
from fake_service import Answer, FakeService, error, html, text

from cellwright.errors import SetupError
from cellwright.session.services import DEMO_MODEL, ServiceCache, open_service
from cellwright.settings import ServiceSettings, Settings


def settings(ollama_url: str = "", **service: str) -> Settings:
    return Settings(service=ServiceSettings(**service), ollama_url=ollama_url)  # type: ignore[arg-type]


@pytest.fixture
def ollama() -> Iterator[tuple[str, list[str]]]:
    """A server that lists models the way Ollama does, and the list, to be changed."""
    names: list[str] = ["qwen3:8b", "llama4"]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"models": [{"name": name} for name in names]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", names
    server.shutdown()
    server.server_close()


def test_a_set_endpoint_is_used_with_the_model_that_was_asked_for() -> None:
    service = open_service(settings(base_url="http://127.0.0.1:9/v1", model="set"), "asked")
    assert (service.model, service.base_url) == ("asked", "http://127.0.0.1:9/v1")
    assert not service.is_demo
    service.close()


def test_an_endpoint_without_a_model_that_does_not_answer_is_named() -> None:
    with pytest.raises(SetupError, match=r"'http://127\.0\.0\.1:9/v1'.*Nothing answers.*start"):
        open_service(settings(base_url="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (error(401, "Incorrect API key provided: no-key", code="invalid_api_key"),
         "does not accept the key: Incorrect API key provided.*Check CELLWRIGHT_API_KEY"),
        (error(403, "Your team doesn't have any credits or licenses yet."),
         "has no credit left.*Look at the billing page"),
        (html("<html><title>Sign in</title></html>"), "does not list models.*/v1"),
    ],
)  # fmt: skip
def test_why_a_service_without_a_named_model_lists_none_is_said(answer: Answer, said: str) -> None:
    with FakeService([], models=answer) as fake, pytest.raises(SetupError, match=said) as raised:
        open_service(settings(base_url=fake.base_url, api_key="no-key"))
    assert "No model is named" in raised.value.message
    assert "no-key" not in str(raised.value)


def test_a_service_without_a_named_model_answers_with_its_only_one_or_lists_several() -> None:
    with FakeService([], models=["only"]) as fake:
        service = open_service(settings(base_url=fake.base_url))
        assert (service.model, service.base_url) == ("only", fake.base_url)
        assert "only model" in service.notice
        service.close()
    several = [f"m{number}" for number in range(10)]
    with (
        FakeService([], models=several) as fake,
        pytest.raises(SetupError, match="it has m0, m1, .* and 2 more.*-m MODEL"),
    ):
        open_service(settings(base_url=fake.base_url))


def test_a_named_model_without_an_endpoint_is_an_error_and_never_the_demo_model() -> None:
    with pytest.raises(SetupError, match=r"'gpt-5\.6'.*OPENAI_API_KEY"):
        open_service(settings(), "gpt-5.6")


def test_with_nothing_set_a_local_ollama_answers(ollama: tuple[str, list[str]]) -> None:
    service = open_service(settings(ollama[0]))
    assert service.model == "qwen3:8b"
    assert service.base_url == f"{ollama[0]}/v1"
    assert "local Ollama" in service.notice


def test_a_model_of_the_local_ollama_can_be_named(ollama: tuple[str, list[str]]) -> None:
    assert open_service(settings(ollama[0]), "llama4").model == "llama4"
    with pytest.raises(SetupError, match="'gpt-5'"):
        open_service(settings(ollama[0]), "gpt-5")


def test_an_ollama_without_models_or_one_that_is_not_there_leaves_the_demo_model(
    ollama: tuple[str, list[str]],
) -> None:
    ollama[1].clear()
    for url in (ollama[0], "http://127.0.0.1:9", ""):
        service = open_service(settings(url))
        assert service.is_demo
        assert "not a language model" in service.notice
        service.close()


def test_the_demo_model_can_be_asked_for_and_then_says_nothing_of_keys() -> None:
    service = open_service(settings(base_url="http://127.0.0.1:9/v1"), DEMO_MODEL)
    assert service.is_demo
    assert service.notice == ""
    assert service.base_url.startswith("http://127.0.0.1:")
    service.close()


def test_a_model_that_nobody_named_is_looked_for_before_each_question(
    ollama: tuple[str, list[str]],
) -> None:
    names = list(ollama[1])
    ollama[1].clear()
    with closing(ServiceCache()) as services:
        assert services.get(settings(ollama[0]), "").is_demo
        ollama[1].extend(names)
        found = services.get(settings(ollama[0]), "")
        assert found.model == "qwen3:8b"
        assert services.get(settings(ollama[0]), "") is found
        ollama[1].remove("qwen3:8b")
        assert services.get(settings(ollama[0]), "").model == "llama4"


def test_a_service_with_another_model_than_before_answers_with_that_one() -> None:
    models = ["small"]
    with FakeService([], models=models) as fake, closing(ServiceCache()) as services:
        assert services.get(settings(base_url=fake.base_url), "").model == "small"
        models[:] = ["large"]
        assert services.get(settings(base_url=fake.base_url), "").model == "large"


def test_a_service_with_another_key_takes_the_place_of_the_one_before() -> None:
    with (
        FakeService([text("1"), text("2"), text("3")]) as fake,
        closing(ServiceCache()) as services,
    ):
        named = {"base_url": fake.base_url, "model": "m"}
        old = services.get(settings(**named, api_key="old-key"), "")
        ask(old.lm)
        new = services.get(settings(**named, api_key="new-key"), "")
        assert services.get(settings(**named, api_key="new-key"), "") is new
        ask(new.lm)
        ask(old.lm)
        keys = [request.headers["authorization"] for request in fake.requests]
    assert keys == ["Bearer old-key", "Bearer new-key", "Bearer old-key"]
    assert fake.connections == 3
