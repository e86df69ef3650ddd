"""A key that a command prints and that ends within a run, as tokens of Entra ID do."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asking import QUICK, Asked, ask
from fake_service import FakeService, Request, error, text

from cellwright.errors import LMAccessError, SetupError
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import Notice
from cellwright.settings import GIVEN_KEYS, from_env, renew_key
from cellwright.text import GIVEN_SECRETS
from cellwright.text.redaction import Redactor, StreamRedactor

COUNTING = """
import pathlib, sys
path = pathlib.Path(sys.argv[1])
path.write_text(path.read_text() + "x" if path.exists() else "x")
print(f"token-{len(path.read_text())}")
"""


@pytest.fixture(autouse=True)
def _no_keys() -> Iterator[None]:
    GIVEN_KEYS.clear()
    yield
    GIVEN_KEYS.clear()
    GIVEN_SECRETS.values = ()


def command(path: Path, code: str = COUNTING) -> str:
    return " ".join(map(shlex.quote, (sys.executable, "-c", code, str(path))))


def taking(*keys: str, status: int = 401) -> Any:
    """A service that takes only some keys."""

    def answer(request: Request) -> Any:
        is_good = request.headers["authorization"].removeprefix("Bearer ") in keys
        return text("Yes.") if is_good else error(status, "The access token has expired.")

    return answer


def asked_with(service: FakeService, key_command: str, asked: Asked, times: int = 1) -> None:
    settings = from_env(
        {"CELLWRIGHT_BASE_URL": service.base_url, "CELLWRIGHT_KEY_COMMAND": key_command}
    )
    lm = OpenAILM(settings.service, pace=QUICK)
    try:
        for _ in range(times):
            ask(lm, into=asked)
    finally:
        lm.close()


def test_a_key_that_is_no_longer_taken_is_asked_for_again(tmp_path: Path) -> None:
    asked = Asked()
    with FakeService(taking("token-2")) as service:
        asked_with(service, command(tmp_path / "ran"), asked, times=2)
        keys = [request.headers["authorization"] for request in service.requests]
    assert keys == ["Bearer token-1", "Bearer token-2", "Bearer token-2"]
    assert [notice.code for notice in asked.all(Notice)] == ["key_renewed"]
    assert "token" not in "".join(notice.text for notice in asked.all(Notice))
    assert (tmp_path / "ran").read_text() == "xx"


@pytest.mark.parametrize(
    ("status", "code", "requests"),
    [
        (401, COUNTING, 2),  # another key, not taken either
        (401, "print('token-1')", 1),  # no other key
        (403, COUNTING, 1),  # the key is good, and may not
    ],
)
def test_it_is_asked_once_and_only_where_it_may_help(
    status: int, code: str, requests: int, tmp_path: Path
) -> None:
    with FakeService(taking(status=status)) as service:
        with pytest.raises(LMAccessError):
            asked_with(service, command(tmp_path / "ran", code), Asked())
        assert len(service.requests) == requests


def test_a_command_that_fails_by_then_is_named(tmp_path: Path) -> None:
    once = f"{COUNTING}\nsys.exit(len(path.read_text()) - 1)"
    with FakeService(taking()) as service, pytest.raises(LMAccessError) as caught:
        asked_with(service, command(tmp_path / "ran", once), Asked())
    assert "CELLWRIGHT_KEY_COMMAND" in caught.value.hint


def test_a_file_that_is_renewed_from_outside_is_read_again(tmp_path: Path) -> None:
    """As a Hub or Kubernetes writes tokens of an hour; at 401 the last one may still be there."""
    file, asked = tmp_path / "token", Asked()
    file.write_text("token-1\n")
    good = ["token-1"]
    with FakeService(lambda request: taking(*good)(request)) as service:
        environ = {"CELLWRIGHT_BASE_URL": service.base_url, "CELLWRIGHT_KEY_FILE": str(file)}
        lm = OpenAILM(from_env(environ).service, pace=QUICK)
        ask(lm, into=asked)
        good[:] = ["token-2"]
        file.write_text("token-2\n")
        ask(lm, into=asked)
        good[:] = ["token-3"]
        with pytest.raises(LMAccessError):
            ask(lm, into=asked)
        file.unlink()
        with pytest.raises(LMAccessError) as caught:
            ask(lm, into=asked)
        lm.close()
        keys = [request.headers["authorization"][-7:] for request in service.requests]
    assert keys == ["token-1", "token-1", "token-2", "token-2", "token-2"]
    assert [notice.code for notice in asked.all(Notice)] == ["key_renewed"]
    assert "CELLWRIGHT_KEY_FILE" in caught.value.hint


def test_a_run_that_began_before_takes_a_renewed_key_out_of_what_is_shown(tmp_path: Path) -> None:
    first, second = "zq81mmxx77aabbcc1", "yw92nnvv66ddeeff2"
    file = tmp_path / "token"
    file.write_text(first)
    settings = from_env(
        {"CELLWRIGHT_BASE_URL": "http://127.0.0.1:1/v1", "CELLWRIGHT_KEY_FILE": str(file)}
    )
    redactor = Redactor.from_environment({}, settings.service.api_key)
    stream = StreamRedactor(redactor)
    begun = stream.feed(f"first {first} then {second[:5]}")
    assert redactor.text(f"it is {second}") == f"it is {second}"
    file.write_text(second)
    assert renew_key(settings.service) == second
    shown = begun + stream.feed(second[5:]) + stream.flush() + redactor.text(f"it is {second}")
    assert first not in shown
    assert redactor.text(f"it is {second}").startswith("it is «redacted:api_key:")
    assert second not in redactor.text(f"it is {second}")


@pytest.mark.parametrize("content", [b"", b"two words", "schlüssel".encode(), None])
def test_a_file_without_a_key_is_named_and_not_repeated(
    content: bytes | None, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SetupError, match="CELLWRIGHT_KEY_FILE") as caught:
        from_env({"CELLWRIGHT_KEY_FILE": str(file)})
    assert "words" not in str(caught.value)


def test_a_key_of_another_source_is_not_replaced(tmp_path: Path) -> None:
    """The panel may have set another address and key since; the command's key is not for it."""
    with FakeService(taking("token-2")) as service:
        environ = {"CELLWRIGHT_BASE_URL": service.base_url}
        settings = from_env(environ | {"CELLWRIGHT_KEY_COMMAND": command(tmp_path / "ran")})
        lm = OpenAILM(replace(settings.service, api_key="mine"), pace=QUICK)
        with pytest.raises(LMAccessError):
            ask(lm)
        lm.close()
    assert (tmp_path / "ran").read_text() == "x"
