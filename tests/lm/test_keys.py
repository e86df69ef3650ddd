"""Keys: cleaned, kept in the keyring or a file of the person's own, never shown."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cellwright.errors import SetupError, StoreError
from cellwright.llm.keys import (
    KeyPlaces,
    clean_key,
    key_hint,
    open_keyring,
    origin_of,
    with_choice,
)
from cellwright.providers import OPENAI
from cellwright.settings import Settings, from_env

KEY = "-".join(["sk", "proj", "0123456789abcdef"])
PLACE = "https://api.example.com:443"


class WorkingKeyring:
    """Keeps secrets in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.asked = 0

    def get_password(self, service_name: str, username: str) -> str | None:
        self.asked += 1
        return self.kept.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self.kept[service_name, username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        del self.kept[service_name, username]


class KeyringLockedError(Exception):
    """Named as the one of the package."""


class LockedKeyring(WorkingKeyring):
    """Lets nobody in; the message may hold what was to be kept."""

    def get_password(self, service_name: str, username: str) -> str | None:
        raise KeyringLockedError

    def set_password(self, service_name: str, username: str, password: str) -> None:
        raise KeyringLockedError(password)


class SilentKeyring(WorkingKeyring):
    """Waits for a password that nobody can type."""

    def get_password(self, service_name: str, username: str) -> str | None:
        time.sleep(2.0)
        return None


def in_a_file(path: Path) -> KeyPlaces:
    return KeyPlaces(path / "home" / "service.json", open_keyring=lambda: None)


class TestTheFile:
    def test_a_key_is_kept_for_its_origin_alone(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        assert places.key(PLACE) == ("", "")
        places.keep_key(PLACE, KEY)
        assert places.key(PLACE) == (KEY, "file")
        assert places.key("https://evil.example:443") == ("", "")
        assert in_a_file(tmp_path).key(PLACE) == (KEY, "file")

    def test_its_owner_alone_can_read_it(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        old = os.umask(0)
        try:
            places.keep_key(PLACE, KEY)
        finally:
            os.umask(old)
        assert stat.S_IMODE(places.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(places.path.parent.stat().st_mode) == 0o700

    def test_a_file_that_others_could_read_is_closed_to_them(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        places.keep_key(PLACE, KEY)
        places.path.chmod(0o644)
        assert places.key(PLACE)[0] == KEY
        assert stat.S_IMODE(places.path.stat().st_mode) == 0o600

    def test_a_forgotten_key_is_gone_from_the_disk(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        places.choose(model="m", base_url="https://api.example.com/v1")
        places.keep_key(PLACE, KEY)
        places.keep_key(PLACE, "")
        assert places.key(PLACE) == ("", "")
        left = {file.name: file.read_bytes() for file in places.path.parent.iterdir()}
        assert sorted(left) == ["service.json", "service.json.lock"]
        assert not any(KEY.encode() in content for content in left.values())
        assert KEY not in places.path.read_text("utf-8")
        assert places.choice("model") == "m"

    def test_forgetting_what_was_never_known_makes_no_file(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        places.keep_key(PLACE, "")
        assert not places.path.exists()

    @pytest.mark.parametrize(
        ("content", "complaint"),
        [
            ("{", "is not JSON"),
            ("[]", "holds no object"),
            ('{"model": 1}', "'model'"),
            ('{"keys": [1]}', "'keys'"),
            ('{"colour": "red"}', "'colour'"),
            ("\\xff", "is not JSON"),
        ],
    )
    def test_what_cannot_be_used_of_it_is_told_and_the_file_is_left(
        self, tmp_path: Path, content: str, complaint: str
    ) -> None:
        places = in_a_file(tmp_path)
        places.path.parent.mkdir()
        places.path.write_text(content)
        assert complaint in places.complaint()
        assert places.choice("model") == ""
        assert places.key(PLACE) == ("", "")
        assert places.path.read_text() == content

    def test_a_file_that_is_no_text_is_told(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        places.path.parent.mkdir()
        places.path.write_bytes(b"\xff\xfe\x00")
        assert "cannot be read" in places.complaint()

    def test_one_that_is_not_json_is_set_aside_when_something_is_kept(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        places.path.parent.mkdir()
        places.path.write_text("{precious")
        places.choose(model="m")
        assert places.complaint() == ""
        aside = places.path.with_name("service.json.unusable")
        assert aside.read_text() == "{precious"

    def test_entries_of_a_newer_version_survive(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        places.path.parent.mkdir()
        places.path.write_text('{"colour": "red"}')
        places.choose(model="m")
        assert json.loads(places.path.read_text()) == {"colour": "red", "model": "m"}

    def test_a_folder_that_cannot_be_made_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "home").write_text("in the way")
        with pytest.raises(StoreError, match="service.json") as error:
            in_a_file(tmp_path).keep_key(PLACE, KEY)
        assert KEY not in str(error.value)

    def test_one_that_cannot_be_set_aside_is_told(self, tmp_path: Path) -> None:
        places = in_a_file(tmp_path)
        places.path.mkdir(parents=True)
        (places.path.parent / "service.json.unusable" / "x").mkdir(parents=True)
        with pytest.raises(StoreError, match="cannot be written"):
            places.choose(model="m")


class TestTheKeyring:
    def test_a_key_goes_there_and_not_to_the_file(self, tmp_path: Path) -> None:
        ring = WorkingKeyring()
        places = KeyPlaces(tmp_path / "service.json", lambda: ring)
        places.keep_key(PLACE, KEY)
        assert places.key(PLACE) == (KEY, "keyring")
        assert ring.kept == {("cellwright", PLACE): KEY}
        # The file says only that there is one, so that others need not ask the keyring.
        assert json.loads(places.path.read_text("utf-8")) == {"keys": {}, "keyring": [PLACE]}
        again = KeyPlaces(tmp_path / "service.json", lambda: ring)
        assert again.key(PLACE) == (KEY, "keyring")
        again.keep_key(PLACE, "")
        assert ring.kept == {}
        assert again.key(PLACE) == ("", "")

    def test_it_is_asked_once_and_for_nothing_that_is_not_there(self, tmp_path: Path) -> None:
        ring = WorkingKeyring()
        KeyPlaces(tmp_path / "service.json", lambda: ring).keep_key(PLACE, KEY)
        before = ring.asked
        places = KeyPlaces(tmp_path / "service.json", lambda: ring)
        for _ in range(5):
            assert places.key(origin_of("https://other.example")) == ("", "")
            assert places.key(PLACE) == (KEY, "keyring")
        assert ring.asked == before + 1

    def test_a_key_that_was_replaced_elsewhere_is_read_again(self, tmp_path: Path) -> None:
        ring = WorkingKeyring()
        kernel, server = (KeyPlaces(tmp_path / "service.json", lambda: ring) for _ in range(2))
        server.keep_key(PLACE, "an-old-key")
        assert kernel.key(PLACE) == ("an-old-key", "keyring")
        server.keep_key(PLACE, KEY)
        assert kernel.key(PLACE) == (KEY, "keyring")

    def test_a_key_moves_there_from_the_file(self, tmp_path: Path) -> None:
        KeyPlaces(tmp_path / "service.json", lambda: None).keep_key(PLACE, KEY)
        places = KeyPlaces(tmp_path / "service.json", WorkingKeyring)
        assert places.key(PLACE) == (KEY, "file")
        places.keep_key(PLACE, KEY)
        assert places.key(PLACE) == (KEY, "keyring")
        assert KEY not in (tmp_path / "service.json").read_text()

    def test_one_that_is_locked_is_told_and_keeps_nothing(self, tmp_path: Path) -> None:
        places = KeyPlaces(tmp_path / "service.json", LockedKeyring)
        with pytest.raises(StoreError, match="is locked; the key was not kept") as error:
            places.keep_key(PLACE, KEY)
        assert KEY not in str(error.value)
        assert not places.path.exists()

    def test_a_key_in_one_that_is_locked_is_no_missing_key(self, tmp_path: Path) -> None:
        path = tmp_path / "service.json"
        KeyPlaces(path, WorkingKeyring).keep_key(PLACE, KEY)
        for ring, why in ((LockedKeyring, "is locked"), (lambda: None, "cannot be reached")):
            places = KeyPlaces(path, ring)
            assert places.key(PLACE) == ("", "")
            with pytest.raises(SetupError, match=why):
                places.check_key(PLACE)
        silent = KeyPlaces(path, SilentKeyring, patience_seconds=0.05)
        with pytest.raises(SetupError, match="does not answer"):
            silent.check_key(PLACE)

    def test_one_that_never_answers_is_replaced_by_the_file(self, tmp_path: Path) -> None:
        places = KeyPlaces(tmp_path / "service.json", SilentKeyring, patience_seconds=0.05)
        places.keep_key(PLACE, KEY)
        assert places.key(PLACE) == (KEY, "file")

    def test_one_that_keeps_the_key_against_our_will_is_told(self, tmp_path: Path) -> None:
        class Stubborn(WorkingKeyring):
            def delete_password(self, service_name: str, username: str) -> None:
                raise RuntimeError("no")

        places = KeyPlaces(tmp_path / "service.json", Stubborn)
        places.keep_key(PLACE, KEY)
        with pytest.raises(StoreError, match="still has the key") as error:
            places.keep_key(PLACE, "")
        assert KEY not in str(error.value)


class TestSettings:
    """What the magics, the command line and Python take from the panel's choice."""

    def settings(self, home: Path, ring: Any = None, **environ: str) -> Settings:
        places = KeyPlaces(home / "service.json", lambda: ring)
        return with_choice(from_env({"CELLWRIGHT_HOME": str(home), **environ}), places, environ)

    def test_a_key_given_in_the_panel_is_theirs_too(self, tmp_path: Path) -> None:
        places = KeyPlaces(tmp_path / "service.json", lambda: None)
        places.keep_key(origin_of("https://api.groq.com/v1"), KEY)
        places.choose(base_url="https://api.groq.com/openai/v1")
        service = self.settings(tmp_path).service
        assert (service.base_url, service.api_key) == ("https://api.groq.com/openai/v1", KEY)
        assert service.model == "openai/gpt-oss-120b"
        places.choose(model="other")
        assert self.settings(tmp_path).service.model == "other"

    def test_one_for_the_official_service_needs_no_address(self, tmp_path: Path) -> None:
        KeyPlaces(tmp_path / "service.json", lambda: None).keep_key(origin_of(OPENAI.base_url), KEY)
        found = self.settings(tmp_path)
        assert (found.service.base_url, found.service.api_key) == (OPENAI.base_url, KEY)
        assert found.service.model == OPENAI.model
        assert found.source["api_key"] == "file"

    def test_the_keyring_is_asked_only_where_the_file_says_so(self, tmp_path: Path) -> None:
        ring = WorkingKeyring()
        assert self.settings(tmp_path, ring).service.api_key == ""
        assert ring.asked == 0
        KeyPlaces(tmp_path / "service.json", lambda: ring).keep_key(origin_of(OPENAI.base_url), KEY)
        assert self.settings(tmp_path, ring).service.api_key == KEY

    def test_the_environment_wins(self, tmp_path: Path) -> None:
        places = KeyPlaces(tmp_path / "service.json", lambda: None)
        places.keep_key(PLACE, KEY)
        places.choose(base_url="https://api.example.com/v1", model="theirs")
        mine = {"CELLWRIGHT_BASE_URL": "http://127.0.0.1:9/v1", "CELLWRIGHT_MODEL": "mine"}
        service = self.settings(tmp_path, **mine).service
        assert (service.base_url, service.api_key) == ("http://127.0.0.1:9/v1", "")
        assert service.model == "mine"

    def test_a_key_of_the_environment_is_not_sent_to_the_chosen_address(
        self, tmp_path: Path
    ) -> None:
        KeyPlaces(tmp_path / "service.json", lambda: None).choose(base_url="https://x.example/v1")
        service = self.settings(tmp_path, ANTHROPIC_API_KEY=KEY).service
        assert (service.base_url, service.api_key, service.model) == (
            "https://x.example/v1",
            "",
            "",
        )

    def test_without_a_choice_nothing_changes(self, tmp_path: Path) -> None:
        assert self.settings(tmp_path) == from_env({"CELLWRIGHT_HOME": str(tmp_path)})
        assert not (tmp_path / "service.json").exists()


class TestFindingTheKeyring:
    PACKAGE = (
        "class Backend:\n    priority = {priority}\ndef get_keyring():\n    return Backend()\n"
    )

    WEAK = (
        f"{PACKAGE.format(priority=0.6)}class Chain:\n    priority = 10\n"
        "    backends = [Backend(), Backend()]\nget_keyring = Chain\n"
    )
    """As the package chains files of others where no service runs."""

    def install(self, folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / "keyring.py").write_text(text)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(__import__("sys").modules, "keyring", raising=False)

    def test_one_with_a_real_backend_is_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.install(tmp_path, self.PACKAGE.format(priority=5), monkeypatch)
        assert open_keyring() is not None

    def test_of_a_chain_the_first_alone_is_asked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The next ones may be files whose password is asked for on the terminal."""
        chain = f"{self.PACKAGE.format(priority=5)}Backend.backends = [Backend()]\n"
        self.install(tmp_path, chain, monkeypatch)
        found = open_keyring()
        assert found is not None
        assert found is __import__("keyring").Backend.backends[0]

    @pytest.mark.parametrize("text", [PACKAGE.format(priority=0.5), "raise RuntimeError", "", WEAK])
    def test_one_without_is_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        self.install(tmp_path, text, monkeypatch)
        assert open_keyring() is None


class TestCleaning:
    @pytest.mark.parametrize(
        "text",
        [
            f"  {KEY}\n",
            f'"{KEY}"',
            f"'{KEY}' ",
            f"Bearer {KEY}",
            f"{KEY[:9]}\n  {KEY[9:]}",
            f"“{KEY}”",
        ],
    )
    def test_what_came_along_with_the_key_is_taken_off(self, text: str) -> None:
        assert clean_key(text) == KEY

    def test_nothing_stays_nothing(self) -> None:
        assert clean_key(" '' ") == ""

    @pytest.mark.parametrize("text", [f"{KEY}é", f"{KEY}\x00", "k" * 5_000])
    def test_what_no_key_holds_is_refused_without_repeating_it(self, text: str) -> None:
        with pytest.raises(SetupError) as error:
            clean_key(text)
        assert KEY not in str(error.value)
        assert "kkk" not in str(error.value)


class TestHints:
    @pytest.mark.parametrize(
        ("start", "url", "name"),
        [
            ("sk-ant-", "https://api.openai.com/v1", "Anthropic"),
            ("sk-or-", "https://api.openai.com/v1", "OpenRouter"),
            ("gsk_", "https://openrouter.ai/api/v1", "Groq"),
            ("sk-proj-", "https://api.groq.com/openai/v1", "OpenAI"),
        ],
    )
    def test_a_key_of_another_service_is_noticed(self, start: str, url: str, name: str) -> None:
        hint = key_hint(f"{start}secret", url)
        assert name in hint
        assert "secret" not in hint

    @pytest.mark.parametrize(
        ("start", "url"),
        [
            ("sk-proj-", "https://api.openai.com/v1"),
            ("sk-proj-", "https://eu.api.openai.com/v1"),
            ("sk-or-", "https://openrouter.ai/api/v1"),
            ("sk-or-", "http://localhost:8000/v1"),
            ("sk-or-", ""),
            ("sk-", "https://anything.example/v1"),
            ("", "https://api.openai.com/v1"),
        ],
    )
    def test_a_key_that_may_be_right_is_not(self, start: str, url: str) -> None:
        assert key_hint(f"{start}secret", url) == ""


def test_a_key_belongs_to_scheme_host_and_port() -> None:
    assert origin_of("https://API.example.com/v1") == "https://api.example.com:443"
    assert origin_of("http://127.0.0.1:8000/v1") == "http://127.0.0.1:8000"
    assert origin_of("http://host") != origin_of("https://host")
    assert [origin_of(url) for url in ("", "http://", "http://host:port", "http://[x")] == [""] * 4


def test_what_keeps_the_keys_does_not_show_them(tmp_path: Path) -> None:
    places = in_a_file(tmp_path)
    places.keep_key(PLACE, KEY)
    assert KEY not in repr(places)
    assert KEY not in repr(vars(places))


def test_of_two_processes_that_save_at_once_neither_loses_a_key(tmp_path: Path) -> None:
    def save(name: str) -> None:
        places = KeyPlaces(tmp_path / "sign-ins.json", lambda: None)
        for number in range(30):
            places.keep_key(f"mcp https://{name}{number}", "token")

    # What keeps two of them apart in one process keeps two processes apart.
    savers = [threading.Thread(target=save, args=(name,)) for name in "ab"]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert len(KeyPlaces(tmp_path / "sign-ins.json", lambda: None).names()) == 60
