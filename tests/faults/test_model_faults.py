"""Services that refuse, are busy, or are not there: faults over a real socket."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from contextlib import closing
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from asking import QUICK, RUN_CELL, Asked, answer_to, ask, prompt_of, serving
from fake_service import (
    MODEL,
    Answer,
    FakeService,
    Wire,
    error,
    hang_up,
    html,
    status,
    text,
)

from cellwright.errors import (
    LMAccessError,
    LMConnectionError,
    LMError,
    LMNotFoundError,
    LMQuotaError,
    LMRateLimitError,
    LMServerError,
    LMStreamError,
    RunCancelled,
)
from cellwright.llm.capabilities import list_models
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import ModelRetrying
from cellwright.settings import ServiceSettings
from cellwright.stopping import Stop

SECRET = "sk-" + "proj-" + "a1B2" * 8


def failure_of(answer: Answer, **settings: Any) -> LMError:
    """The error that an answer leads to when nothing is tried again."""
    with serving([answer], retry_limit=0, **settings) as (_, lm), pytest.raises(LMError) as caught:
        ask(lm, prompt_of("hi", tools=(RUN_CELL,)))
    return caught.value


def busy(**headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return error(429, "Too many requests.", headers=named)


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (busy(retry_after="0.2"), 0.2),
        (busy(retry_after_ms="150"), 0.15),
        (error(429, "Rate limit reached. Please try again in 180ms."), 0.18),
    ],
)
def test_the_wait_a_busy_service_asks_for_is_kept_and_told(answer: Answer, seconds: float) -> None:
    """M26"""
    started = time.monotonic()
    with serving([answer, text("Yes.")]) as (_, lm):
        asked = ask(lm)
    assert time.monotonic() - started >= seconds
    (retrying,) = asked.all(ModelRetrying)
    assert (retrying.attempt, retrying.delay_seconds) == (2, pytest.approx(seconds))
    assert "asks to slow down" in retrying.reason


def test_a_date_to_wait_for_is_held_against_the_clock_of_the_service() -> None:
    """M26, M49: our clock may be an hour off"""
    now = time.time() + 3600
    dates = {"retry_after": formatdate(now + 40, usegmt=True), "date": formatdate(now, usegmt=True)}
    caught = failure_of(busy(**dates))
    assert isinstance(caught, LMRateLimitError)
    assert caught.retry_after_seconds == pytest.approx(40)


@pytest.mark.parametrize("value", [formatdate(0, usegmt=True), "-5", "0"])
def test_a_moment_that_is_over_is_the_shortest_wait(value: str) -> None:
    """M49"""
    caught = failure_of(busy(retry_after=value))
    assert isinstance(caught, LMRateLimitError)
    assert caught.retry_after_seconds == pytest.approx(0.1)


def test_stop_acts_during_the_wait() -> None:
    """M26"""
    stop = Stop()
    timer = threading.Timer(0.2, stop.set)
    with serving([busy(retry_after="30")]) as (_, lm):
        timer.start()
        started = time.monotonic()
        with pytest.raises(RunCancelled):
            ask(lm, stop=stop)
        assert time.monotonic() - started < 1
    timer.join()


def test_a_long_wait_is_not_made_in_silence() -> None:
    """M27"""
    asked = Asked()
    with serving([busy(retry_after="300")]) as (service, lm):
        with pytest.raises(
            LMRateLimitError, match="Ask again in 300 s, or choose another"
        ) as caught:
            ask(lm, into=asked)
        assert len(service.requests) == 1
    assert caught.value.retry_after_seconds == 300
    assert asked.events == []


@pytest.mark.parametrize(
    "answer",
    [
        error(429, "You exceeded your current quota.", type="insufficient_quota"),
        error(402, "Payment required."),
    ],
)
def test_no_credit_is_not_waited_for(answer: Answer) -> None:
    """M28"""
    with serving([answer] * 2) as (service, lm):
        with pytest.raises(LMQuotaError, match="billing"):
            ask(lm)
        assert len(service.requests) == 1


@pytest.mark.parametrize("code", [500, 502, 503, 529, 408, 409])
def test_a_failing_service_is_asked_again(code: int) -> None:
    """M29"""
    with serving([html("<title>Bad gateway</title>", status=code)] * 2 + [text("Yes.")]) as (_, lm):
        asked = ask(lm)
    assert asked.reply is not None
    assert asked.reply.attempts == 3
    first, second = asked.all(ModelRetrying)
    assert (first.attempt, second.attempt) == (2, 3)
    assert str(code) in first.reason


def test_a_service_that_keeps_failing_is_asked_four_times() -> None:
    """M29"""
    with serving([error(503, "Down.")] * 9) as (service, lm):
        with pytest.raises(LMServerError, match="Down") as caught:
            ask(lm)
        assert len(service.requests) == 4
    assert (caught.value.status, caught.value.detail) == (503, "Down.")


def test_a_connection_that_is_reset_before_the_answer_is_made_again() -> None:
    """M29, M32"""
    assert answer_to([hang_up(), text("Yes.")]).attempts == 2


def test_a_wrong_key_is_not_echoed_and_not_tried_again() -> None:
    """M30"""
    answers = [error(401, f"Incorrect API key provided: {SECRET}.")] * 2
    with serving(answers, api_key=SECRET) as (service, lm):
        with pytest.raises(LMAccessError) as caught:
            ask(lm)
        assert len(service.requests) == 1
    shown = f"{caught.value!s} {caught.value!r} {caught.value.detail}"
    assert SECRET not in shown
    assert "127.0.0.1" in shown
    assert "The key looks like one of OpenAI" in caught.value.hint


@pytest.mark.parametrize(
    ("code", "key", "hint"),
    [
        (401, "", "No key is set: set CELLWRIGHT_API_KEY or OPENAI_API_KEY."),
        (401, "abcdef", "Check CELLWRIGHT_API_KEY or OPENAI_API_KEY."),
        (403, "abcdef", "The key may not use this model; choose another with -m."),
    ],
)
def test_a_refused_key_leads_to_what_is_to_be_set(code: int, key: str, hint: str) -> None:
    """M30"""
    caught = failure_of(error(code, "No."), api_key=key)
    assert isinstance(caught, LMAccessError)
    assert (caught.hint, caught.status) == (hint, code)


@pytest.mark.parametrize("key", ["two words", "schlüssel", "line\n"])
def test_a_key_that_cannot_be_one_is_told_before_anything_is_sent(key: str) -> None:
    """M30"""
    with serving([], api_key=key) as (service, lm):
        with pytest.raises(LMAccessError, match="blanks or characters that no key has"):
            ask(lm)
        assert service.requests == []


def test_a_model_that_is_not_there_is_named() -> None:
    """M30"""
    caught = failure_of(error(404, "The model `fake-model` does not exist."))
    assert isinstance(caught, LMNotFoundError)
    assert f"no model {MODEL!r}" in caught.message
    assert caught.hint == "Choose another with -m."


def test_a_path_that_is_not_there_is_named() -> None:
    """M30"""
    caught = failure_of(status(404, "404 page not found"))
    assert isinstance(caught, LMNotFoundError)
    assert "no chat service at 'http://127.0.0.1" in caught.message
    assert "/v1" in caught.hint


def test_a_redirect_is_told_with_the_address_to_set() -> None:
    """U3: http where the service wants https"""
    caught = failure_of(status(301, "", {"location": "/elsewhere/chat/completions-2"}))
    assert isinstance(caught, LMNotFoundError)
    assert "was redirected to http://127.0.0.1" in caught.hint
    assert "/elsewhere/" in caught.hint


@pytest.mark.parametrize("api", ["chat", "messages", "gemini"])
def test_a_redirect_to_another_server_is_not_followed(api: Any) -> None:
    """It would be sent the key, in whatever header, and the prompt."""
    with FakeService([text("I am another.")]) as other:
        other.openai = False
        target = {"location": f"{other.base_url}/elsewhere/chat/completions?key=abc"}
        headers = {"X-Api-Key": "of-the-gateway"}
        with FakeService([status(307, "", target)], models=status(307, "", target)) as service:
            service.openai = False
            settings = service.settings(api=api, headers=headers)
            with closing(OpenAILM(settings, pace=QUICK)) as lm, pytest.raises(LMError) as caught:
                ask(lm)
            with pytest.raises(LMConnectionError, match="redirects to another server"):
                list_models(settings)
    assert caught.value.message == (
        f"127.0.0.1:{service.port} redirects to another server, which was not asked."
    )
    assert caught.value.hint == (
        f"The request was redirected to {other.base_url}/elsewhere/chat/completions; "
        "set that address instead."
    )
    assert len(service.requests) == 1
    assert other.requests == other.other_requests == []


def test_a_redirect_on_the_same_server_is_followed() -> None:
    script = [status(307, "", {"location": "/v2/chat/completions"}), text("Here.")]
    assert answer_to(script).message.text == "Here."


@pytest.mark.parametrize(
    "answer",
    [status(404, "Not Found"), html(), status(307, "", {"location": "/x?sig=abcdefgh1"})],
    ids=["no path", "page", "redirect"],
)
def test_keys_in_the_query_of_an_address_are_never_told(answer: Answer) -> None:
    gone = {"/x?sig=abcdefgh1": status(404, "Gone")}
    with FakeService([answer], others=gone) as service:
        query = "api-version=2026-01-01&subscription-key=3f9d0c71b5e84a2e&code=Zq81kPw0"
        settings = service.settings(base_url=f"{service.base_url}?{query}", retry_limit=0)
        with closing(OpenAILM(settings, pace=QUICK)) as lm, pytest.raises(LMError) as caught:
            ask(lm)
    assert service.requests[0].path.endswith(query)
    told = f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    assert service.base_url in told
    assert not any(secret in told for secret in ("3f9d0c71", "Zq81kPw0", "abcdefgh1", "?"))


def test_keys_in_an_address_are_not_told_in_the_words_of_a_service() -> None:
    with FakeService(
        [error(400, "GET /v1?subscription-key=3f9d0c71b5e84a2e is wrong.")]
    ) as service:
        base_url = f"{service.base_url}?subscription-key=3f9d0c71b5e84a2e"
        settings = service.settings(base_url=base_url, retry_limit=0)
        with closing(OpenAILM(settings, pace=QUICK)) as lm, pytest.raises(LMError) as caught:
            ask(lm)
    assert "subscription-key=[key] is wrong" in caught.value.message


def endless(code: int) -> Answer:
    """A body of 70 MB, which nobody reads to its end."""
    return lambda _: Wire((b"x" * 2**20,) * 70, code, {"content-type": "text/plain"}, chunked=True)


def test_an_error_that_does_not_end_is_read_no_further_than_needed() -> None:
    with serving([endless(500)], retry_limit=0) as (service, lm):
        with pytest.raises(LMServerError, match="failed with status 500: xxx"):
            ask(lm)
        assert service.wait_for_break()


def test_a_list_of_models_that_does_not_end_is_given_up() -> None:
    with FakeService(models=endless(200)) as service:
        with pytest.raises(LMStreamError, match="sent 64 MB and did not come to an end"):
            list_models(service.settings())
        assert service.wait_for_break()


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def fail_to_reach(base_url: str) -> LMError:
    lm = OpenAILM(ServiceSettings(base_url=base_url, model=MODEL))
    with pytest.raises(LMError) as caught:
        ask(lm)
    lm.close()
    return caught.value


def test_a_refused_connection_names_host_and_port_and_is_not_tried_again() -> None:
    """M31"""
    port = closed_port()
    caught = fail_to_reach(f"http://127.0.0.1:{port}/v1")
    assert isinstance(caught, LMConnectionError)
    assert caught.message == f"Nothing answers at 127.0.0.1:{port}: connection refused."
    assert "start the server" in caught.hint


def test_a_port_without_tls_is_named() -> None:
    """M31"""
    with FakeService() as service:
        caught = fail_to_reach(service.base_url.replace("http:", "https:"))
    assert isinstance(caught, LMConnectionError)
    assert f"127.0.0.1:{service.port} does not speak TLS" in caught.message
    assert "http:// or https://" in caught.hint


@pytest.fixture(scope="module")
def self_signed(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A certificate that nobody vouches for."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("needs the openssl program")
    folder: Path = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def test_a_certificate_that_is_not_trusted_is_the_named_cause(self_signed: ssl.SSLContext) -> None:
    """M31, U11"""
    with FakeService(tls=self_signed) as service:
        caught = fail_to_reach(service.base_url)
    assert isinstance(caught, LMConnectionError)
    assert f"certificate of 127.0.0.1:{service.port} is not trusted" in caught.message
    assert "SSL_CERT_FILE" in caught.hint


def test_a_proxy_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """U11: proxies of the environment are used"""
    port = closed_port()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.delenv("no_proxy", raising=False)
    caught = fail_to_reach("http://models.invalid/v1")
    assert isinstance(caught, LMConnectionError)
    assert "connection refused" in caught.message
