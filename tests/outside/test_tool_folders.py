"""Files that name services: the nearest count, and each is agreed to where it is."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from magics.typed_lines import command
from outside.http_service import Answered, HttpService

from cellwright.assistants.files import folders_of
from cellwright.context.turn_sources import SourceQuestion, tools_of
from cellwright.errors import SetupError
from cellwright.external.commands import order, parse
from cellwright.external.source import POOLS, OutsideTools, Whereabouts, open_outside
from cellwright.session.standard_sources import Sources
from cellwright.settings import Settings
from cellwright.store.database import Database, open_database


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The server's root, with a project in it."""
    made = tmp_path.resolve() / "my work"
    (made / "project").mkdir(parents=True)
    return made


@pytest.fixture
def database() -> Iterator[Database]:
    made = open_database(None)
    yield made
    made.close()


class Person:
    """Works in a folder of the root."""

    def __init__(self, root: Path, database: Database) -> None:
        self.root = root
        self.database = database
        self.settings = Settings(home=root / "home", user="mi")

    def at(self, notebook: str) -> OutsideTools:
        """The tools of a notebook."""
        where = Whereabouts(folders_of(self.root, notebook), self.root)
        return open_outside(self.database, self.settings, where)


@pytest.fixture
def person(root: Path, database: Database) -> Person:
    return Person(root, database)


def write(folder: Path, name: str, text: str) -> None:
    place = folder / ".cellwright" / "tools"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.toml").write_text(text, "utf-8")


def weather(service: HttpService, folder: Path, function: str, name: str = "weather") -> None:
    """A file in a folder that names a service with one function."""
    document = {
        "name": "Weather",
        "callback_url": f"{service.url}/call",
        "functions": [{"name": function, "description": "Weather.", "parameters": {}}],
    }
    schema = {"type": "object", "properties": {}}
    document["functions"][0]["parameters"] = schema  # type: ignore[index]
    service.answers[f"/{function}"] = Answered(document)
    write(folder, name, f'kind = "http"\nurl = "{service.url}/{function}"\nlocal = true\n')


def say(tools: OutsideTools, *words: str) -> list[str]:
    return order(parse(words), tools)


def names(tools: OutsideTools) -> list[str]:
    return [component.name for component in tools.components()]


def test_002_02_what_lies_beside_the_notebook_counts_more_than_what_the_root_has(
    person: Person, service: HttpService
) -> None:
    weather(service, person.root, "far")
    weather(service, person.root / "project", "near")
    weather(service, person.root, "more", name="other")
    beside = person.at("project/a.ipynb")
    for name in ("weather", "other"):
        folder = person.root if name == "other" else person.root / "project"
        say(beside, "connect", name, "--in", str(folder))
    assert names(beside) == ["weather__near", "other__more"]
    at_root = person.at("b.ipynb")
    assert names(at_root) == ["other__more"], "the root's own was not agreed to"
    say(at_root, "connect", "weather")
    assert names(at_root) == ["other__more", "weather__far"]
    assert names(beside) == ["weather__near", "other__more"]


def test_002_02_consent_is_for_one_place(person: Person, service: HttpService) -> None:
    for folder in (person.root, person.root / "project"):
        weather(service, folder, "today")
    beside, at_root = person.at("project/a.ipynb"), person.at("b.ipynb")
    say(beside, "connect", "weather")
    assert names(beside) == ["weather__today"]
    assert names(at_root) == []
    say(at_root, "connect", "weather")
    say(beside, "remove", "weather")
    assert names(beside) == []
    assert names(at_root) == ["weather__today"]


def test_what_was_removed_is_not_used_when_an_older_version_of_its_file_comes_back(
    person: Person, service: HttpService
) -> None:
    weather(service, person.root, "first")
    tools = person.at("")
    say(tools, "connect", "weather")
    weather(service, person.root, "second")
    say(tools, "connect", "weather")
    say(tools, "remove", "weather")
    weather(service, person.root, "first")
    assert names(tools) == []


def test_what_is_said_of_one_further_up_agrees_to_it_from_anywhere(
    person: Person, service: HttpService
) -> None:
    weather(service, person.root, "today")
    beside = person.at("project/a.ipynb")
    (notice,) = beside.look_up(SourceQuestion("q", "chat")).notices
    assert isinstance(notice, str)
    assert notice.endswith(f"%agent tool connect weather --in '{person.root}'")
    (row,) = beside.rows()
    assert row.problem == notice
    words = command(notice.partition("%agent ")[2]).words
    say(person.at("elsewhere/c.ipynb"), *words[1:])
    assert names(beside) == ["weather__today"]
    with pytest.raises(SetupError, match="--in is for what a file names"):
        say(beside, "connect", "weather", "https://weather.example", "--in", "x")


def test_a_program_of_a_file_is_started_in_the_files_folder(person: Person) -> None:
    pytest.importorskip("mcp")
    project = person.root / "project"
    (project / "server.py").write_text("raise SystemExit('here I am')", "utf-8")
    text = f'kind = "mcp"\ncommand = "{sys.executable}"\nargs = ["server.py"]'
    write(project, "sample", text)
    with pytest.raises(SetupError, match="It said: here I am"):
        say(person.at("project/a.ipynb"), "connect", "sample")


def test_a_document_that_is_a_file_is_read_beside_the_notebook_and_from_home(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = '{"openapi": "3.0.0", "servers": [{"url": "https://shop.example"}], "paths": {}}'
    (person.root / "project" / "shop.json").write_text(document, "utf-8")
    beside = person.at("project/a.ipynb")
    assert say(beside, "connect", "shop", "shop.json", "--openapi")[0] == "'shop' is connected."
    assert beside.book.find("shop").definition.folder == str(person.root / "project")
    assert say(person.at("b.ipynb"), "refresh", "shop")[0] == "'shop' was asked again."
    monkeypatch.setenv("HOME", str(person.root / "project"))
    assert say(beside, "connect", "own", "~/shop.json", "--openapi")[0] == "'own' is connected."


def test_a_service_is_open_once_for_all_folders_and_for_as_long_as_one_uses_it(
    person: Person, service: HttpService
) -> None:
    weather(service, person.root, "today")
    beside, at_root = person.at("project/a.ipynb"), person.at("b.ipynb")
    say(at_root, "connect", "weather")
    (one,), (other,) = beside.components(), at_root.components()
    assert one is other
    write(person.root / "project", "weather", 'kind = "http"\nurl = "https://a.example"')
    assert names(beside) == []
    assert at_root.components() == (other,)
    services = at_root.services
    del beside
    assert person.at("project/a.ipynb").services is services
    assert _is_open(person)
    del at_root
    gc.collect()
    assert not _is_open(person)


def _is_open(person: Person) -> bool:
    return any(key[-1] == person.root for key in POOLS)


def test_002_02_what_an_assistant_of_ones_own_names_is_not_removed(
    person: Person, service: HttpService
) -> None:
    weather(service, person.root, "today")
    tools = person.at("project/a.ipynb")
    say(tools, "connect", "weather", "--in", str(person.root))
    own = person.root / "home" / "assistants"
    own.mkdir(parents=True)
    (own / "rainy.toml").write_text('tools = ["weather__*"]', "utf-8")
    with pytest.raises(SetupError, match="are named by the assistant 'rainy'"):
        say(tools, "remove", "weather")


def test_a_cell_that_goes_to_another_folder_keeps_the_servers(
    root: Path, database: Database, monkeypatch: pytest.MonkeyPatch, service: HttpService
) -> None:
    weather(service, root / "project", "today")
    monkeypatch.chdir(root)
    sources, settings = Sources(), Settings(home=root / "home")
    before = sources.outside(database, settings)
    assert not any(source.name == "weather" for source in tools_of(sources.of(database, settings)))
    monkeypatch.chdir(root / "project")
    after = sources.outside(database, settings)
    assert after.services is before.services
    say(after, "connect", "weather")
    (found,) = [each for each in tools_of(sources.of(database, settings)) if each.name == "weather"]
    assert [tool.name for tool in found.components] == ["weather__today"]
