import json
import shlex
import sys
from pathlib import Path

import pytest

from cellwright.errors import SetupError
from cellwright.providers import OPENAI, PROVIDERS, VARIABLE, Provider, fill_in
from cellwright.settings import GIVEN_KEYS, from_env, normalise_base_url


def test_without_any_variable_nothing_is_set() -> None:
    settings = from_env({})
    assert (settings.service.base_url, settings.service.api_key, settings.service.model) == (
        "",
        "",
        "",
    )
    assert settings.mode == "ask"
    assert settings.source == {"api_key": "default", "base_url": "default", "model": "default"}
    assert settings.ollama_url == "http://127.0.0.1:11434"


def test_a_key_alone_means_openai_and_its_default_model() -> None:
    settings = from_env({"OPENAI_API_KEY": " 'k' \n"})
    assert settings.service.api_key == "k"
    assert settings.service.base_url == "https://api.openai.com/v1"
    assert settings.service.model == OPENAI.model
    assert settings.source["api_key"] == "OPENAI_API_KEY"


def test_our_own_variables_win_over_openai_ones() -> None:
    env = {
        "CELLWRIGHT_API_KEY": "ours",
        "OPENAI_API_KEY": "theirs",
        "CELLWRIGHT_BASE_URL": "http://127.0.0.1:8000",
        "OPENAI_BASE_URL": "http://127.0.0.1:9000/v1",
        "CELLWRIGHT_MODEL": "m",
    }
    settings = from_env(env)
    assert settings.service.api_key == "ours"
    assert settings.service.base_url == "http://127.0.0.1:8000/v1"
    assert settings.service.model == "m"
    assert settings.source["base_url"] == "CELLWRIGHT_BASE_URL"


def test_a_key_is_never_part_of_a_repr() -> None:
    key = "k" * 20
    assert key not in repr(from_env({"OPENAI_API_KEY": key}))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        (" 'http://127.0.0.1:8000/v1/' ", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1/v1/chat/completions", "http://127.0.0.1/v1"),
        ("https://host.example/openai/v1/models", "https://host.example/openai/v1"),
        ("", ""),
    ],
)
def test_an_endpoint_is_brought_into_shape(given: str, wanted: str) -> None:
    """Fault U3."""
    assert normalise_base_url(given) == wanted


def test_an_endpoint_that_is_no_address_is_named() -> None:
    with pytest.raises(SetupError, match="'localhost:8000'") as caught:
        normalise_base_url("localhost:8000")
    assert "http://" in caught.value.hint


@pytest.mark.parametrize(
    "wrong",
    [
        *("http://127.0.0.1:99999/v1", "http://127.0.0.1:abc/v1", "http://127.0.0.1:8000 /v1"),
        *("http://[::1/v1", "https:///v1", "http://my host/v1", "http://host:0/v1"),
    ],
)
def test_an_endpoint_with_no_host_or_port_that_can_be_is_named(wrong: str) -> None:
    with pytest.raises(SetupError, match="names no host, or no port") as caught:
        from_env({"CELLWRIGHT_BASE_URL": f"{wrong}?api-key=abcdefgh"})
    assert repr(wrong) in caught.value.message
    assert "abcdefgh" not in caught.value.message


def test_a_mode_that_is_none_is_named_with_the_ones_there_are() -> None:
    with pytest.raises(SetupError, match=r"CELLWRIGHT_MODE is 'yolo'.*ask, edits, auto"):
        from_env({"CELLWRIGHT_MODE": "yolo"})


def test_home_mode_and_ollama_come_from_the_environment(tmp_path: Path) -> None:
    env = {
        "CELLWRIGHT_HOME": str(tmp_path),
        "CELLWRIGHT_MODE": " auto ",
        "CELLWRIGHT_OLLAMA": "off",
    }
    settings = from_env(env)
    assert settings.home == tmp_path
    assert settings.mode == "auto"
    assert settings.ollama_url == ""


def test_the_idle_wait_can_be_raised_for_a_slow_local_model() -> None:
    assert from_env({}).service.idle_timeout_seconds == 60
    assert from_env({"CELLWRIGHT_IDLE_SECONDS": "300"}).service.idle_timeout_seconds == 300


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf"])
def test_an_idle_wait_that_is_no_number_of_seconds_is_named(text: str) -> None:
    with pytest.raises(SetupError, match=f"CELLWRIGHT_IDLE_SECONDS is '{text}'"):
        from_env({"CELLWRIGHT_IDLE_SECONDS": text})


def test_prices_are_read_from_the_named_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"m": {"prompt": 1, "completion": 2, "cached": 0.1}}))
    price = from_env({"CELLWRIGHT_PRICES": str(path)}).prices["m"]
    assert (price.prompt, price.completion, price.cached) == (1, 2, 0.1)


@pytest.mark.parametrize("text", ["not json", "[1]", '{"m": {"wrong": 1}}', None])
def test_a_price_file_that_cannot_be_used_is_named(tmp_path: Path, text: str | None) -> None:
    """Fault U4."""
    path = tmp_path / "prices.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SetupError, match=r"prices\.json"):
        from_env({"CELLWRIGHT_PRICES": str(path)})


def test_settings_are_read_from_the_process_when_nothing_is_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CELLWRIGHT_MODE", "edits")
    assert from_env().mode == "edits"


def test_the_api_is_set_by_its_name() -> None:
    assert from_env({}).service.api == "auto"
    assert from_env({"CELLWRIGHT_API": " Responses "}).service.api == "responses"
    with pytest.raises(SetupError, match="CELLWRIGHT_API is 'soap'"):
        from_env({"CELLWRIGHT_API": "soap"})


@pytest.mark.parametrize(
    "provider", [p for p in PROVIDERS if p.key_variable], ids=lambda provider: provider.name
)
def test_a_key_of_a_provider_is_enough(provider: Provider) -> None:
    variables = VARIABLE.findall(provider.base_url + provider.model)
    environ = {name: "https://a.example" if "ENDPOINT" in name else "a" for name in variables}
    settings = from_env({**environ, provider.key_variable: "the-key"})
    service = settings.service
    assert service.base_url == fill_in(provider.base_url, environ)
    assert (service.api_key, service.model) == ("the-key", fill_in(provider.model, environ))
    assert settings.source["api_key"] == provider.key_variable
    assert settings.found_key == ("" if provider is OPENAI else provider.key_variable)
    assert "the-key" not in repr(settings)


def test_of_several_keys_the_first_of_the_table_counts_and_ours_before_all() -> None:
    theirs = {"GROQ_API_KEY": "g", "ANTHROPIC_API_KEY": "a"}
    assert from_env(theirs).service.api_key == "a"
    assert from_env({**theirs, "OPENAI_API_KEY": "o"}).service.api_key == "o"
    assert from_env({**theirs, "CELLWRIGHT_API_KEY": "c"}).service.base_url == OPENAI.base_url
    assert from_env({**theirs, "CELLWRIGHT_API_KEY": "c"}).found_key == ""


def test_a_named_address_gets_the_key_of_its_own_provider() -> None:
    keys = {"GROQ_API_KEY": "g", "OPENAI_API_KEY": "o"}
    groq = from_env({**keys, "CELLWRIGHT_BASE_URL": "https://api.groq.com/openai/v1"})
    assert (groq.service.api_key, groq.service.model) == ("g", "openai/gpt-oss-120b")
    assert groq.source["api_key"] == "GROQ_API_KEY"
    gateway = from_env({**keys, "CELLWRIGHT_BASE_URL": "https://gateway.example/v1"})
    assert gateway.service.api_key == "o"
    foreign = {"GROQ_API_KEY": "g", "CELLWRIGHT_BASE_URL": "https://gateway.example/v1"}
    assert from_env(foreign).service.api_key == "", "no key goes where it is not known"


def test_our_key_goes_to_whom_its_shape_names() -> None:
    key = "-".join(["sk", "ant", "0123456789"])
    assert from_env({"CELLWRIGHT_API_KEY": key}).service.model == "claude-sonnet-5-5"


def test_an_incomplete_provider_is_passed_over() -> None:
    settings = from_env({"AZURE_OPENAI_API_KEY": "k", "GROQ_API_KEY": "g"})
    assert settings.service.api_key == "g"


class TestKeyCommand:
    @pytest.fixture(autouse=True)
    def forget(self) -> None:
        GIVEN_KEYS.clear()

    def command(self, code: str) -> dict[str, str]:
        words = [sys.executable, "-c", code]
        return {"CELLWRIGHT_KEY_COMMAND": " ".join(map(shlex.quote, words))}

    def test_what_it_prints_is_the_key(self, tmp_path: Path) -> None:
        path = tmp_path / "ran"
        code = f"open({str(path)!r}, 'a').write('x'); print('the-key')"
        for _ in range(3):
            settings = from_env(self.command(code))
        assert (settings.service.api_key, settings.service.base_url) == (
            "the-key",
            OPENAI.base_url,
        )
        assert settings.source["api_key"] == "CELLWRIGHT_KEY_COMMAND"
        assert path.read_text() == "x", "it is asked once"
        assert "the-key" not in repr(settings)

    def test_no_shell_reads_it(self, tmp_path: Path) -> None:
        path = tmp_path / "made"
        settings = from_env({"CELLWRIGHT_KEY_COMMAND": f"printf %s key;touch${{IFS}}{path}"})
        assert settings.service.api_key == f"key;touch${{IFS}}{path}"
        assert not path.exists()

    def test_a_named_key_spares_it(self) -> None:
        settings = from_env({"CELLWRIGHT_API_KEY": "mine", **self.command("raise SystemExit(1)")})
        assert settings.service.api_key == "mine"

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            ("import sys; print('the-secret'); sys.exit('the-secret')", "ended with status 1"),
            ("print('')", "did not print a key"),
            ("print('the-secret'); print('and more')", "did not print a key"),
            ("print('the-secret\\xe9')", "did not print a key"),
        ],
    )
    def test_a_failure_is_named_and_repeats_nothing(self, code: str, words: str) -> None:
        with pytest.raises(SetupError, match=words) as caught:
            from_env(self.command(code))
        assert "the-secret" not in f"{caught.value!r} {caught.value}"

    @pytest.mark.parametrize("command", ["/nowhere/at-all", "'open"])
    def test_one_that_cannot_be_run_is_named(self, command: str) -> None:
        with pytest.raises(SetupError, match="cannot be run"):
            from_env({"CELLWRIGHT_KEY_COMMAND": command})


@pytest.mark.parametrize(
    ("value", "is_on"),
    [("yes", True), (" On", True), ("1", True), ("off", False), ("false", False)],
)
def test_a_switch_is_written_as_people_write_it(value: str, is_on: bool) -> None:
    assert from_env({"CELLWRIGHT_PROJECT_FILES": value}).project_files is is_on


def test_a_switch_that_is_neither_on_nor_off_is_refused() -> None:
    with pytest.raises(SetupError, match="'perhaps'"):
        from_env({"CELLWRIGHT_PROJECT_FILES": "perhaps"})


def test_what_cannot_be_used_says_what_it_is_and_how_it_is_written() -> None:
    with pytest.raises(SetupError, match="the object has 'temperatur'; known are"):
        from_env({"CELLWRIGHT_PARAMETERS": '{"temperatur": 0.2}'})
    with pytest.raises(SetupError) as refused:  # a file is named, and JSON was given
        from_env({"CELLWRIGHT_MODELS": '{"qwen": {"vision": false}}'})
    assert refused.value.hint.startswith("The file holds JSON such as")
