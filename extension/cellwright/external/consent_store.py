"""What is written down of services, wherever it is, and which of it the person agreed to.

A folder that one works in may come from somebody else, and a definition in it can start a program.
So what a folder says is only offered: it is used after ``%agent tool connect NAME``, and asked for
again when it changes, or stands in another folder.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl

from cellwright.assistants.files import list_assistants
from cellwright.errors import SetupError
from cellwright.external import Definition, Kind, fingerprint_of
from cellwright.external.web import checked_variable, literal_secrets, origin_of
from cellwright.record.values import from_dict, to_dict
from cellwright.store.tools import ToolStore

# Services written down in files: ours in TOML, and the usual ``mcpServers`` JSON.
#
# ``.cellwright/tools/NAME.toml`` in the folder one works in, or ``tools/NAME.toml`` in cellwright's
# own folder::
#
# kind = "mcp"
# command = "weather-server"
# args = ["--metric"]
# env = ["WEATHER_KEY"]
# reads = ["forecast", "list_*"]
# timeout_seconds = 30
#
# A file never holds a key: ``env``, ``key`` and ``${NAME}`` name environment variables.


NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,30}")
FOLDER = Path(".cellwright", "tools")
SERVER_FILES = (Path(".mcp.json"), Path(".cursor", "mcp.json"), Path(".vscode", "mcp.json"))
SIZE_LIMIT_BYTES = 64 * 1024
KINDS: tuple[Kind, ...] = get_args(Kind)
TEXT, TEXTS, TABLE, YES = "a text", "a list of texts", "a table of texts", "true or false"
KEYS: Mapping[str, str] = {
    "name": TEXT,
    "description": TEXT,
    "kind": f"one of {', '.join(KINDS)}",
    "url": TEXT,
    "command": TEXT,
    "args": TEXTS,
    "env": "a list of names of variables, or a table of texts",
    "headers": TABLE,
    "key": "the name of a variable",
    "client_id": TEXT,
    "client_secret": "the name of a variable",
    "allowed": TEXTS,
    "reads": TEXTS,
    "hosts": TEXTS,
    "timeout_seconds": "a number of seconds",
    "local": YES,
    "trusted": YES,
}
"""The keys of a file and what each takes."""
TIMEOUT_LIMIT_SECONDS = 3_600.0


@dataclass(frozen=True)
class WrittenDown:
    """The services of some files, and what is wrong with others."""

    definitions: tuple[Definition, ...] = ()
    problems: tuple[str, ...] = ()


def read_folder(folder: Path) -> WrittenDown:
    """What the files of a folder that one works in say; their programs are started there."""
    found = read_files(_folder_files(folder))
    there = tuple(replace(each, folder=str(folder)) for each in found.definitions)
    return replace(found, definitions=there)


def read_files(paths: Iterable[Path]) -> WrittenDown:
    """The services of files; of two of one name the first counts."""
    found: dict[str, Definition] = {}
    problems: list[str] = []
    for path in paths:
        try:
            each = _one(path) if path.suffix == ".toml" else read_servers(path)
        except SetupError as error:
            each = WrittenDown(problems=(str(error),))
        problems += each.problems
        for definition in each.definitions:
            found.setdefault(definition.name, definition)
    return WrittenDown(tuple(found.values()), tuple(problems))


def read_toml(path: Path) -> Definition:
    """The service of a file.

    Raises:
        SetupError: It cannot be used; all that is wrong is named.
    """
    try:
        data = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{path.name} is no TOML: {error}.", hint="Mend that line.") from error
    return checked({"name": path.stem, **data}, str(path))


def read_servers(path: Path) -> WrittenDown:
    """The MCP servers of a file as other programs have it.

    Raises:
        SetupError: It cannot be read.
    """
    try:
        data = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise SetupError(f"{path.name} is no JSON: {error}.", hint="Mend that line.") from error
    servers = data.get("mcpServers", data.get("servers")) if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        raise SetupError(f"{path.name} has no table 'mcpServers'.")
    found: list[Definition] = []
    problems: list[str] = []
    for name, each in servers.items():
        if not _is_used(each):
            continue
        try:
            found.append(_server(str(name), each, path))
        except SetupError as error:
            problems.append(f"{name!r}: {error.message}")
    return WrittenDown(tuple(found), tuple(problems))


def _folder_files(folder: Path) -> Iterator[Path]:
    yield from sorted((folder / FOLDER).glob("*.toml"))
    yield from (folder / name for name in SERVER_FILES if (folder / name).is_file())


def _one(path: Path) -> WrittenDown:
    return WrittenDown((read_toml(path),))


def checked(data: Mapping[str, Any], source: str) -> Definition:
    """A service as it was written.

    Raises:
        SetupError: It cannot be used; all that is wrong is named.
    """
    where = Path(source).name if source else str(data.get("name"))
    complaints = [f"{key}: {words}" for key, words in _complaints(data)]
    if not source.endswith(".json"):
        complaints += _key_complaints(data)
    if complaints:
        hint = f"The keys are: {', '.join(KEYS)}."
        raise SetupError(f"{where}: {'; '.join(complaints)}.", hint=hint)
    allowed = data.get("allowed")
    return Definition(
        name=data["name"],
        kind=data["kind"],
        url=data.get("url", ""),
        command=data.get("command", ""),
        arguments=tuple(data.get("args", ())),
        environment=_environment(data.get("env", ())),
        headers=dict(data.get("headers", {})),
        key=data.get("key", ""),
        client_id=data.get("client_id", ""),
        client_secret=data.get("client_secret", ""),
        allowed=None if allowed is None else tuple(allowed),
        reads=tuple(data.get("reads", ())),
        hosts=tuple(data.get("hosts", ())),
        timeout_seconds=float(data.get("timeout_seconds", 60.0)),
        is_local=data.get("local", False),
        is_trusted=data.get("trusted", False),
        description=" ".join(data.get("description", "").split()),
        source=source,
    )


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > SIZE_LIMIT_BYTES:
            raise SetupError(f"{path.name}: the file has more than 64 kB.", hint="Shorten it.")
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{path.name} cannot be read: {error}.") from error


def _is_used(server: Any) -> bool:
    return not (isinstance(server, dict) and server.get("disabled") is True)


def _server(name: str, server: Any, path: Path) -> Definition:
    """One entry of ``mcpServers``; what we have no use for is left out."""
    if not isinstance(server, dict):
        raise SetupError(f"{path.name}: it is no table.")
    if server.get("type") == "sse":
        raise SetupError(f"{path.name}: it speaks the older protocol 'sse', which we do not.")
    plain = re.sub(r"[^A-Za-z0-9-]+", "_", name).strip("_-")[:31] or "server"
    keys = ("command", "args", "url", "headers")
    taken = {key: _translated(server[key], path) for key in keys if key in server}
    if isinstance(server.get("env"), dict):
        taken["env"] = {
            str(key): _translated(str(value), path) for key, value in server["env"].items()
        }
    url = str(server.get("url") or "")
    # whoever writes a local address into such a file means it; it is agreed to with the file
    return checked(
        {**taken, "name": plain, "kind": "mcp", "local": _names_this_machine(url)}, str(path)
    )


def _translated(value: Any, path: Path) -> Any:
    """What other programs write in a text for a variable or a folder, as we write it.

    Raises:
        SetupError: It asks the person for something.
    """
    if isinstance(value, list):
        return [_translated(each, path) for each in value]
    if isinstance(value, dict):
        return {key: _translated(each, path) for key, each in value.items()}
    if not isinstance(value, str):
        return value
    if "${input:" in value:
        raise SetupError("it asks for an input; write ${NAME} of an environment variable instead")
    folder = path.parent if path.name == ".mcp.json" else path.parent.parent
    for written, meant in (
        ("${env:", "${"),
        ("${workspaceFolder}", str(folder)),
        ("${userHome}", str(Path.home())),
    ):
        value = value.replace(written, meant)
    return value


def _names_this_machine(url: str) -> bool:
    try:
        host = origin_of(url).host if url else ""
    except SetupError:
        return False
    return host in ("localhost", "::1") or host.startswith("127.")


def _environment(given: Any) -> dict[str, str]:
    if isinstance(given, Mapping):
        return dict(given)
    return {name: f"${{{name}}}" for name in given}


def _complaints(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            yield key, f"is not known{f', did you mean {near[0]!r}' if near else ''}"
        elif not _fits(key, value):
            # the value may be a key that was written here by mistake
            yield key, f"is not {KEYS[key]}"
    name = data.get("name")
    if isinstance(name, str) and not NAME.fullmatch(name):
        yield "name", f"{name!r} has to be letters, digits, '-' or single '_', at most 31"
    yield from _place_complaints(data)


def _key_complaints(data: Mapping[str, Any]) -> list[str]:
    """Keys that were written into a file of ours; those of other programs are read as they are."""
    headers, url = data.get("headers"), data.get("url")
    given: Mapping[str, str] = headers if headers and _is_table(headers) else {}
    words = "holds a key; write ${NAME} of a variable instead"
    found = [f"headers: {name!r} {words}" for name in literal_secrets(given)]
    query = dict(parse_qsl(url.partition("?")[2])) if isinstance(url, str) else {}
    other = "holds a key; name the variable that holds it as the 'key'"
    return found + [f"url: {name!r} {other}" for name in literal_secrets(query)]


def _place_complaints(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    kind, url, command = data.get("kind"), data.get("url"), data.get("command")
    if kind is None:
        yield "kind", f"is missing, {KEYS['kind']}"
    elif kind == "mcp" and bool(url) == bool(command):
        yield "url", "an MCP server has either a 'url' or a 'command'"
    elif kind in ("http", "openapi") and (not url or command):
        yield "url", "is where its document is, and it has no 'command'"
    is_file = kind == "openapi" and isinstance(url, str) and "://" not in url
    if isinstance(url, str) and url and not is_file:
        try:
            origin_of(url)
        except SetupError as error:
            yield "url", f"cannot be used ({error.message})"


def _fits(key: str, value: Any) -> bool:
    wanted = KEYS[key]
    if key in ("key", "client_secret"):
        return isinstance(value, str) and _is_variable(value)
    if key == "env":
        is_names = _are_texts(value) and all(_is_variable(name) for name in value)
        return is_names or _is_table(value)
    if key == "kind":
        return value in KINDS
    if key == "timeout_seconds":
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and 0 < value <= TIMEOUT_LIMIT_SECONDS
    if wanted == YES:
        return isinstance(value, bool)
    if wanted == TEXTS:
        return _are_texts(value)
    return _is_table(value) if wanted == TABLE else isinstance(value, str)


def _is_variable(name: str) -> bool:
    try:
        checked_variable(name)
    except SetupError:
        return False
    return True


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values())


Place = Literal["line", "own", "folder"]

CONNECTED = "connected"


@dataclass(frozen=True)
class ConsentEntry:
    """A service that is written down somewhere."""

    definition: Definition
    is_agreed: bool
    """Whether it is used."""
    place: Place
    """Connected on a line, in a file of the person's own, or in a folder one works in."""
    is_near: bool = True
    """Whether that folder is the nearest one, where a line is said."""

    @property
    def problem(self) -> str:
        """Why it is not used; empty: it is."""
        name = self.definition.name
        if self.is_agreed:
            return ""
        there = "" if self.is_near else f" --in {shlex.quote(self.definition.folder)}"
        return (
            f"{name!r} of {self.definition.source!r} is not used before you agree: it "
            f"{_deed(self.definition)}. %agent tool connect {name}{there}"
        )


@dataclass(frozen=True)
class Pages:
    """All that is written down."""

    entries: tuple[ConsentEntry, ...] = ()
    problems: tuple[str, ...] = ()
    """What is wrong with files."""


class ToolBook:
    """The services of one person.

    Args:
        store: What was connected on a line, and agreed to.
        home: Cellwright's own folder: what is there is the person's own.
        folders: Where the person works, the nearest first.
    """

    def __init__(self, store: ToolStore, home: Path, folders: Iterable[Path]) -> None:
        self._store = store
        self._home = home
        self._folders = tuple(folders)

    @property
    def folder(self) -> str:
        """The nearest folder; empty: there is none."""
        return str(self._folders[0]) if self._folders else ""

    def seen_from(self, folder: Path) -> ToolBook:
        """What there is in one folder alone."""
        return ToolBook(self._store, self._home, (folder,))

    def pages(self) -> Pages:
        """What there is now; of two of one name the first counts."""
        stored = [self._stored(row) for row in self._store.definitions()]
        own = read_files(sorted((self._home / "tools").glob("*.toml")))
        foreign = [read_folder(folder) for folder in self._folders]
        agreed = self._store.agreed()
        entries = [ConsentEntry(each, True, "line") for each in stored]
        entries += [ConsentEntry(each, True, "own") for each in own.definitions]
        entries += [
            ConsentEntry(each, fingerprint_of(each) in agreed, "folder", each.folder == self.folder)
            for found in foreign
            for each in found.definitions
        ]
        by_name: dict[str, ConsentEntry] = {}
        for entry in entries:
            by_name.setdefault(entry.definition.name, entry)
        problems = [words for found in (own, *foreign) for words in found.problems]
        return Pages(tuple(by_name.values()), tuple(problems))

    def find(self, name: str) -> ConsentEntry:
        """The service of that name.

        Raises:
            SetupError: There is none.
        """
        pages = self.pages()
        for entry in pages.entries:
            if entry.definition.name == name:
                return entry
        known = ", ".join(entry.definition.name for entry in pages.entries)
        hint = f"There are: {known}." if known else "See %agent tool discover and connect."
        raise SetupError(f"There is no service {name!r}.", hint=" ".join([*pages.problems, hint]))

    def check_new(self, definition: Definition) -> None:
        """Refuse a name or an address that is there already.

        Raises:
            SetupError: It is.
        """
        for entry in self.pages().entries:
            other = entry.definition
            if other.name == definition.name:
                raise SetupError(
                    f"There is a service {other.name!r} already.",
                    hint="Remove it first, or choose another name.",
                )
            if definition.url and other.url == definition.url:
                raise SetupError(
                    f"The address {definition.url!r} is there already, as {other.name!r}.",
                    hint=f"%agent tool refresh {other.name} reads it again.",
                )

    def keep(self, definition: Definition) -> None:
        """Write one down that a person connected on a line."""
        self._store.keep(definition.name, to_dict(replace(definition, source="")))

    def agree(self, definition: Definition) -> None:
        """The person wants it, as it is in its file."""
        self._store.agree(fingerprint_of(definition), _consent(definition))

    def remove(self, name: str) -> None:
        """Forget one, or no longer agree to it.

        Raises:
            SetupError: There is none, it is in a file of the person's own, or an assistant names
                its tools.
        """
        entry = self.find(name)
        users = self._users(name)
        if users:
            raise SetupError(
                f"The tools of {name!r} are named by the assistant {users[0]!r}.",
                hint="Take them out of its 'tools' first.",
            )
        if entry.place == "own":
            raise SetupError(
                f"{name!r} is written down in {entry.definition.source!r}.",
                hint="Delete that file, or move it elsewhere.",
            )
        if entry.place == "folder":
            self._store.disagree(_consent(entry.definition))
        else:
            self._store.remove(name)

    def _users(self, name: str) -> list[str]:
        assistants = list_assistants(self._folders, self._home).assistants
        start = f"{name}__"
        return [
            assistant.name
            for assistant in assistants
            if any(pattern.startswith(start) for pattern in assistant.tools or ())
        ]

    def _stored(self, row: object) -> Definition:
        made: Definition = from_dict(Definition, row)
        return replace(made, source=CONNECTED)


def _consent(definition: Definition) -> str:
    """What all that was agreed to is called, whatever stood in the file then."""
    return f"{definition.name} in {definition.folder}"


def _deed(definition: Definition) -> str:
    """What using it would do."""
    if definition.command:
        return f"runs {' '.join([definition.command, *definition.arguments])!r}"
    return f"asks {definition.url!r}"
