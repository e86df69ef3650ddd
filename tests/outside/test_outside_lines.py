"""``%agent tool discover|connect|…`` and ``cellwright tools``: which lines, and what they say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from magics.typed_lines import answer_tool
from outside.http_service import Answered, HttpService

from cellwright.cli import main
from cellwright.errors import SetupError
from cellwright.external.commands import order, parse
from cellwright.external.source import OutsideTools, Whereabouts, open_outside
from cellwright.settings import Settings
from cellwright.store.database import open_database
from cellwright_magics.commands import Offers, commands_help


@pytest.fixture
def weather(service: HttpService) -> str:
    """The URL of a discovery document."""
    schema = {"type": "object", "properties": {}}
    function = {"name": "today", "description": "Weather.", "parameters": schema}
    callback = f"{service.url}/call"
    document = {"name": "Weather", "callback_url": callback, "functions": [function]}
    service.answers["/tools"] = Answered(document)
    return f"{service.url}/tools"


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[OutsideTools]:
    database = open_database(None)
    where = Whereabouts((tmp_path,), tmp_path)
    made = open_outside(database, Settings(home=tmp_path / "home"), where)
    yield made
    made.close()
    database.close()


def said(line: str, tools: OutsideTools) -> str:
    return answer_tool(line, {}, tools)


def test_services_and_functions_of_the_kernel_are_listed_together(
    tools: OutsideTools, weather: str
) -> None:
    assert said(f"tool discover {weather} --name weather --local", tools) == (
        "'weather' is connected.\n  weather__today [execute]"
    )
    assert said("tool", tools).splitlines() == [
        "No tools of this kernel. %agent tool add NAME offers a function.",
        "weather__today (http): [execute] Weather.",
    ]
    assert said("tool check weather", tools).startswith("✓ weather")
    assert said("tool remove weather", tools) == "'weather' is no longer used."


def test_names_of_the_kernel_go_to_the_kernel(tools: OutsideTools) -> None:
    for line in ("tool check nothing_here", "tool remove nothing_here", "tool add nothing_here"):
        with pytest.raises(SetupError, match="nothing_here"):
            said(line, tools)


def test_the_help_and_the_completion_name_the_actions() -> None:
    assert "/tool discover URL" in commands_help()
    offers = Offers(tuple, tuple)
    assert {"connect", "discover", "refresh"} <= set(offers.after(["tool"], line=True))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    return tmp_path


def test_the_same_in_a_shell(
    folder: Path, weather: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools"]) == 0
    assert capsys.readouterr().out.startswith("No outside tools.")
    assert main(["tools", "discover", weather, "--name", "weather", "--local"]) == 0
    assert capsys.readouterr().out == "'weather' is connected.\n  weather__today [execute]\n"
    assert main(["tools", "list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ok"]
    assert document["tools"][0]["name"] == "weather__today"
    assert main(["tools", "check"]) == 0
    capsys.readouterr()
    assert main(["tools", "discover", weather]) == 2
    assert "gives no name" in capsys.readouterr().err


def test_the_words_of_a_program_are_its_own_in_a_shell(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["connect", "files", "--trusted", "--", "no-such-program", "--json"]
    assert main(["tools", *line]) == 2
    assert "no-such-program" in capsys.readouterr().err
    assert main(["tool", "discover", "--name", "weather", "no-address"]) == 2
    assert "weather: url" in capsys.readouterr().err
    for words in (["tool", "connect"], ["tools", "elsewhere"]):
        assert main(words) == 2
        assert "It is written: cellwright tool" in capsys.readouterr().err


def test_a_check_that_fails_ends_with_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "document.json").write_text("{}", "utf-8")
    assert main(["tools", "check", "document.json"]) == 1
    assert capsys.readouterr().out.startswith("✗ document.json: it has no 'name'")
    (folder / ".mcp.json").write_text('{"mcpServers": {"files": {"command": "x"}}}', "utf-8")
    assert main(["tools", "check"]) == 0
    assert "cellwright tool connect files" in capsys.readouterr().out


def test_a_header_names_the_variable_that_holds_it(
    tools: OutsideTools, weather: str, service: HttpService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHER_WORD", "sunny-side")
    line = f"tool discover {weather} --name weather --local --header X-Key=WEATHER_WORD"
    said(line, tools)
    assert service.received[-1].headers["X-Key"] == "sunny-side"
    (entry,) = tools.book.pages().entries
    assert entry.definition.headers == {"X-Key": "${WEATHER_WORD}"}
    for wrong in ("X-Key", "X-Key=two words", "=NAME"):
        with pytest.raises(SetupError, match="environment variable|has no variable"):
            order(parse(["connect", "web", weather, "--header", wrong]), tools)
