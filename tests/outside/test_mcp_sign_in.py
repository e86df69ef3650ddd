"""Signing in to an MCP server, against the SDK's own authorization and resource server."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import find_free_port
from fakes import make_context
from outside.oauth_sample_server import KNOWN_SECRET
from outside.test_mcp_servers import wait_for_port

from cellwright.errors import SetupError, SignInNeededError, ToolError
from cellwright.external import Definition, fingerprint_of
from cellwright.external.commands import order, parse, sign_in, sign_out
from cellwright.external.source import OutsideTools, Whereabouts, open_outside
from cellwright.llm.keys import PLACES, SIGN_IN_FILE, SignIns
from cellwright.settings import Settings
from cellwright.store.database import open_database
from cellwright.text.redaction import Redactor

pytest.importorskip("mcp")
SCRIPT = str(Path(__file__).with_name("oauth_sample_server.py"))


@contextmanager
def guarded(*options: str) -> Iterator[str]:
    """The address of an MCP server that wants people to sign in."""
    port = find_free_port()
    with subprocess.Popen([sys.executable, SCRIPT, str(port), *options]) as process:
        try:
            wait_for_port(port, process)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with guarded() as url:
        yield url


@contextmanager
def person(home: Path) -> Iterator[OutsideTools]:
    """The tools of someone, in a process of their own as far as tokens go."""
    PLACES.pop(home / SIGN_IN_FILE, None)
    database = open_database(home / "runs.sqlite")
    tools = open_outside(database, Settings(home=home), Whereabouts((home,), home))
    try:
        yield tools
    finally:
        tools.close()
        del tools
        database.close()


def visit(url: str) -> str:
    """What a browser shows in the end that is sent from page to page."""
    try:
        with urllib.request.urlopen(url, timeout=20) as page:
            return str(page.read().decode())
    except HTTPError as error:
        return str(error.read().decode())


class Browser:
    """Opens what it is shown, as a person who clicks does."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.pages: list[str] = []
        self.threads: list[threading.Thread] = []

    def __call__(self, url: str) -> None:
        self.urls.append(url)
        thread = threading.Thread(target=lambda: self.pages.append(visit(url)))
        self.threads.append(thread)
        thread.start()

    def close(self) -> None:
        for thread in self.threads:
            thread.join(20)


@pytest.fixture
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.close()


def say(tools: OutsideTools, *words: str) -> list[str]:
    return order(parse(words), tools)


def call(tools: OutsideTools, name: str, **arguments: Any) -> str:
    service = tools.services.service(tools.book.find("desk").definition)
    listing = service.listing or tools.services.ask(service)
    function = next(each for each in listing.functions if each.name == name)
    output = service.connection.call(function, arguments, make_context())
    return str(output.content[0].text["info"])


def test_a_person_signs_in_works_for_long_and_signs_out(
    tmp_path: Path, address: str, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    with person(tmp_path) as tools:
        said = "\n".join(say(tools, "connect", "desk", address, "--local"))
        assert "'desk' is connected." in said
        assert "Nobody has signed in to it." in said
        assert "%agent mcp login desk" in said
        assert "desk__token" in "\n".join(sign_in("desk", tools, browser))
        browser.close()
        asked = parse_qs(urlsplit(browser.urls[0]).query)
        assert urlsplit(browser.urls[0]).hostname == "localhost"
        assert asked["code_challenge_method"] == ["S256"]
        assert asked["resource"] == [address]
        assert urlsplit(asked["redirect_uri"][0]).hostname == "127.0.0.1"
        assert "close this page" in browser.pages[0]
        # The tokens are nobody else's, and nobody reads them in what the server says.
        file = tmp_path / SIGN_IN_FILE
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        kept = SignIns(tmp_path)
        access = kept.load(address)["tokens"]["access_token"]
        assert call(tools, "token") == "[key] of 1"
        clean = Redactor.from_environment({}, "", kept.secrets()).text(f"it is {access}")
        assert access not in clean
        assert call(tools, "renewals") == "0 of 2 clients"
    with person(tmp_path) as tools:
        # Another process, an hour later: the token has run out, and is renewed without a word.
        given = kept.load(address)
        SignIns(tmp_path).save(address, {**given, "expires_at": 1.0})
        assert call(tools, "renewals") == "1 of 2 clients"
        newer = SignIns(tmp_path).load(address)["tokens"]["access_token"]
        assert newer != access
        # The service has forgotten its tokens: the same.
        call(tools, "withdraw")
        assert call(tools, "renewals") == "2 of 2 clients"
        # It has withdrawn all of it: the person has to come.
        call(tools, "withdraw", refresh=True)
        with pytest.raises(ToolError, match="run out or was withdrawn") as refused:
            call(tools, "token")
        assert isinstance(refused.value, SignInNeededError)
        assert "cellwright mcp login desk" in str(refused.value)
        assert "✗" in say(tools, "check", "desk")[0]
        sign_in("desk", tools, browser)
        assert call(tools, "token").startswith("[key]")
        last = SignIns(tmp_path).load(address)["tokens"]["access_token"]
        assert "signed out" in sign_out("desk", tools)[0]
        assert SignIns(tmp_path).load(address) == {}
        assert SignIns(tmp_path).secrets() == {}
        request = urllib.request.Request(address, b"{}", {"Authorization": f"Bearer {last}"})
        with pytest.raises(HTTPError, match="401"):  # the service was told
            urllib.request.urlopen(request, timeout=20)
    with person(tmp_path) as tools:
        service = tools.services.service(tools.book.find("desk").definition)
        assert service.listing is None  # another process does not offer what nobody can call
        with pytest.raises(SetupError, match="Nobody has signed in"):
            say(tools, "refresh", "desk")
    tokens = {access, newer, last, *(given["tokens"]["refresh_token"],)}
    assert not any(token in caplog.text for token in tokens)
    record = (tmp_path / "runs.sqlite").read_bytes()
    assert not any(token.encode() in record for token in tokens)


def test_two_processes_share_what_one_of_them_renews(
    tmp_path: Path, address: str, browser: Browser
) -> None:
    with ExitStack() as stack:
        tools = stack.enter_context(person(tmp_path))
        say(tools, "connect", "desk", address, "--local")
        sign_in("desk", tools, browser)
        before = call(tools, "renewals")
        # Another process has used the refresh token, which serves once.
        other = stack.enter_context(person(tmp_path))
        given = SignIns(tmp_path).load(address)
        SignIns(tmp_path).save(address, {**given, "expires_at": 1.0})
        assert call(other, "renewals") != before
        assert call(tools, "token").startswith("[key]")


@pytest.mark.parametrize(
    ("options", "more", "words"),
    [
        (("deny",), (), "The service refused the sign-in: access_denied Not today."),
        (("closed",), (), r"does not let cellwright register itself \(404\)"),
        (("closed",), ("--client-id", "stranger"), "Nobody came back"),
        (("impostor",), (), "Signing in to 'desk' failed: Authorization response iss mismatch"),
        (("bare",), (), "does not say that it supports PKCE"),
    ],
)
def test_a_sign_in_that_is_refused_says_why_and_keeps_nothing(
    tmp_path: Path, browser: Browser, options: tuple[str, ...], more: tuple[str, ...], words: str
) -> None:
    with guarded(*options) as url, person(tmp_path) as tools, pytest.MonkeyPatch.context() as m:
        m.setattr("cellwright.external.oauth.PERSON_SECONDS", 5.0)
        say(tools, "connect", "desk", url, "--local", *more)
        with pytest.raises(SetupError, match=words) as refused:
            sign_in("desk", tools, browser)
        assert "555" not in str(refused.value), "another service says what it likes"
        assert SignIns(tmp_path).load(url) == {}
        is_shown = options != ("bare",) and (more or options != ("closed",))
        assert len(browser.urls) == bool(is_shown)


@pytest.mark.parametrize("way", ["", "post"])
def test_a_client_that_the_service_knows_says_its_secret_as_the_service_wants_it(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("DESK_SECRET", KNOWN_SECRET)
    with guarded("closed", way) as url, person(tmp_path) as tools:
        more = ("--client-id", "known", "--client-secret", "DESK_SECRET")
        say(tools, "connect", "desk", url, "--local", *more)
        sign_in("desk", tools, browser)
        call(tools, "withdraw")
        monkeypatch.delenv("DESK_SECRET")  # it is kept with the tokens that it renews
        assert call(tools, "renewals") == "1 of 1 clients"
        assert KNOWN_SECRET in SignIns(tmp_path).secrets().values()
    assert KNOWN_SECRET.encode() not in (tmp_path / "runs.sqlite").read_bytes()


def test_only_a_server_with_an_address_and_no_key_has_a_sign_in(tmp_path: Path) -> None:
    with person(tmp_path) as tools:
        (tmp_path / "tools").mkdir()
        given = tmp_path / "tools" / "keyed.toml"
        given.write_text('kind = "mcp"\nurl = "https://w.example/mcp"\nkey = "W_KEY"\n', "utf-8")
        with pytest.raises(SetupError, match="has no sign-in"):
            sign_in("keyed", tools, print)
        with pytest.raises(SetupError, match="has no sign-in"):
            sign_out("keyed", tools)


def test_a_stranger_on_this_machine_cannot_end_a_sign_in(
    tmp_path: Path, address: str, browser: Browser
) -> None:
    def show(url: str) -> None:
        back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        assert "none that cellwright waits for" in visit(f"{back}?code=theirs&state=wrong")
        browser(url)

    with person(tmp_path) as tools:
        say(tools, "connect", "desk", address, "--local")
        assert "You are signed in" in sign_in("desk", tools, show)[0]


def test_what_was_agreed_to_before_there_was_a_client_id_is_agreed_to() -> None:
    bare = Definition("desk", "mcp", "https://w.example/mcp")
    assert fingerprint_of(bare) == BEFORE
    assert fingerprint_of(replace(bare, client_id="a")) != BEFORE
    assert fingerprint_of(replace(bare, client_secret="A")) != BEFORE


BEFORE = "161ddec7f93a20775d5a8d903c16b4862f8af6d7eac9a398bdfe6c7c97719f5c"


def test_a_file_of_tokens_that_was_spoiled_means_nobody_is_signed_in(tmp_path: Path) -> None:
    path = tmp_path / SIGN_IN_FILE
    path.write_text(json.dumps({"keys": {"mcp https://w.example": "{no json"}}), "utf-8")
    assert SignIns(tmp_path).load("https://w.example") == {}
    assert SignIns(tmp_path).secrets() == {}
