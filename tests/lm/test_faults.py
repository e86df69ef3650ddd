"""Errors on the way, as ours."""

from __future__ import annotations

import socket
import ssl

import openai
import pytest

from cellwright.errors import (
    LMAccessError,
    LMConnectionError,
    LMContextError,
    LMError,
    LMQuotaError,
    LMRateLimitError,
    LMServerError,
    LMStreamError,
    LMTimeoutError,
    LMToolsUnsupportedError,
)
from cellwright.llm.faults import (
    Endpoint,
    context_tokens_in,
    from_exception,
    from_status,
    from_stream,
)

KEY = "sk-" + "a1B2c3D4" * 4
ENDPOINT = Endpoint("https://models.example/v1", "big", KEY)
OLLAMA = Endpoint("http://localhost:11434/v1", "qwen3")


class ProxyError(OSError):
    """Named as httpx names it."""


class ConnectTimeout(OSError):  # noqa: N818
    """Named as httpx names it."""


def raised(cause: BaseException) -> LMError:
    """What becomes of an error that the SDK wraps."""
    request = openai.OpenAI(api_key="none")._client.build_request("GET", "http://localhost")
    wrapped = openai.APIConnectionError(request=request)
    wrapped.__cause__ = cause
    found = from_exception(wrapped, ENDPOINT)
    assert isinstance(found, LMError)
    assert found.__cause__ is wrapped
    return found


def test_a_name_that_cannot_be_found_is_named() -> None:
    """M31"""
    found = raised(socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
    assert isinstance(found, LMConnectionError)
    assert found.message == (
        "The name of models.example:443 cannot be found: Name or service not known."
    )
    assert not found.retryable


def test_a_proxy_that_refuses_is_named() -> None:
    """U11"""
    found = raised(ProxyError("407 Proxy Authentication Required"))
    assert "The proxy on the way to models.example:443 refused: 407" in found.message
    assert "HTTPS_PROXY" in found.hint


def test_a_host_that_does_not_answer_is_named() -> None:
    found = raised(ConnectTimeout())
    assert isinstance(found, LMTimeoutError)
    assert "models.example:443 did not accept a connection in time" in found.message


def test_an_unknown_end_of_a_connection_is_told_in_its_own_words_without_the_key() -> None:
    found = raised(OSError(f"broken by {KEY}"))
    assert isinstance(found, LMConnectionError)
    assert found.message == "The connection to models.example:443 broke: broken by [key]."
    assert found.retryable


def test_an_end_without_words_is_told_by_its_name() -> None:
    assert "broke: ConnectionResetError." in raised(ConnectionResetError()).message


def test_tls_trouble_is_told_with_its_reason() -> None:
    """M31"""
    assert "does not speak TLS as expected: odd" in raised(ssl.SSLError(1, "odd")).message


def test_a_tls_stream_that_ends_in_the_middle_is_a_broken_connection() -> None:
    """M32"""
    assert raised(ssl.SSLEOFError("EOF occurred in violation of protocol")).retryable


def test_broken_bytes_are_a_broken_stream() -> None:
    """M24"""
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert isinstance(from_exception(error, ENDPOINT), LMStreamError)


def test_a_key_that_cannot_be_a_header_is_a_key_to_copy_again() -> None:
    """M30"""
    error = UnicodeEncodeError("ascii", "ü", 0, 1, "ordinal not in range")
    assert isinstance(from_exception(error, ENDPOINT), LMAccessError)


@pytest.mark.parametrize("error", [KeyError("ours"), LMServerError("told before")])
def test_errors_of_our_own_come_back_as_they_are(error: Exception) -> None:
    assert from_exception(error, ENDPOINT) is error


def test_causes_that_go_in_circles_come_to_an_end() -> None:
    first, second = OSError("first"), OSError("second")
    first.__cause__, second.__cause__ = second, first
    assert isinstance(from_exception(first, ENDPOINT), LMConnectionError)


def test_a_refused_connection_to_ollama_says_how_to_start_it() -> None:
    """M31"""
    found = from_exception(ConnectionRefusedError(111, "refused"), OLLAMA)
    assert isinstance(found, LMConnectionError)
    assert found.hint == "Start Ollama with: ollama serve"


def test_a_model_that_ollama_lacks_can_be_pulled() -> None:
    """M30"""
    body = {"error": {"message": "model 'qwen3' not found"}}
    assert from_status(404, body, {}, OLLAMA).hint == "Run: ollama pull qwen3"


def test_a_request_that_is_too_large_is_too_long() -> None:
    """M41"""
    assert isinstance(from_status(413, "", {}, ENDPOINT), LMContextError)


def test_a_busy_service_that_does_not_say_how_long_leaves_it_to_the_person() -> None:
    """M26"""
    found = from_status(429, {"error": "Slow down."}, {}, ENDPOINT)
    assert isinstance(found, LMRateLimitError)
    assert (found.retry_after_seconds, found.hint) == (
        None,
        "Wait a little, or choose another model.",
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"message": "prompt is too long: 9 > 5"}}, LMContextError),
        ({"error": {"message": "x does not support tools"}}, LMToolsUnsupportedError),
        ({"error": {"message": "No.", "code": "insufficient_quota"}}, LMQuotaError),
        ({"error": {"message": "No.", "code": 401}}, LMAccessError),
        ({"error": {"message": "No.", "code": 7}}, LMServerError),
    ],
)
def test_errors_in_a_stream_are_told_apart(body: object, kind: type[LMError]) -> None:
    """M37"""
    found = from_stream(body, ENDPOINT)
    assert isinstance(found, kind)
    assert not found.retryable


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("This model's maximum context length is 8192 tokens.", 8192),
        ("exceeds the available context size (4096 tokens)", 4096),
        ("context length of only 32,768 tokens", 32_768),
        ("longer than the maximum model length of 2048", None),
        ("too long", None),
    ],
)
def test_the_size_of_the_window_is_read_where_it_is_told(text: str, tokens: int | None) -> None:
    """M41"""
    assert context_tokens_in(text) == tokens


def test_the_key_is_taken_out_of_every_form() -> None:
    """M30"""
    odd = Endpoint("https://models.example/v1", "big", "odd/key+1")
    assert odd.without_key("a odd/key+1 b odd%2Fkey%2B1") == "a [key] b [key]"
    assert ENDPOINT.without_key("other sk-" + "x" * 20) == "other [key]"
    assert Endpoint("http://localhost/v1", "big", "none").without_key("none") == "none"
    assert "key" not in repr(ENDPOINT)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://API.example/v1", "api.example:443"),
        ("http://localhost/v1", "localhost:80"),
        ("http://localhost:8080/v1", "localhost:8080"),
    ],
)
def test_a_place_is_a_host_and_a_port(url: str, place: str) -> None:
    assert Endpoint(url, "big").place == place
