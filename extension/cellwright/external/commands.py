"""What a person says about services on a line, in a cell or in a shell; the answer as lines."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from cellwright.errors import CellwrightError, SetupError, ToolError
from cellwright.external import Definition, Listing
from cellwright.external.consent_store import NAME, checked
from cellwright.external.discovery import syntax_problems
from cellwright.external.mcp_session import load_oauth
from cellwright.external.source import OutsideTools
from cellwright.external.web import checked_variable

USAGE = (
    "discover URL | connect NAME [URL [--openapi] | -- PROGRAM … | --in FOLDER] | refresh NAME | "
    "list | check [NAME] | remove NAME; options: --name --key VARIABLE --env VARIABLE --local "
    "--header NAME=VARIABLE --client-id ID --client-secret VARIABLE --trusted --reads NAME "
    "--allowed NAME --host HOST --timeout S"
)
NOTHING = "No outside tools. 'tool discover URL' or 'tool connect NAME …' brings some."


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The words of an order.

    Raises:
        SetupError: They are none.
    """
    split = words.index("--") if "--" in words else len(words)
    options = _parser().parse_args(list(words[:split]))
    if split < len(words) and options.action == "connect":
        # argparse keeps a "--" only where an option stands before it
        options.rest = [*options.rest, *words[split:]]
    return options


def order(options: argparse.Namespace, tools: OutsideTools) -> list[str]:
    """Do it; lines for people.

    Raises:
        SetupError: It cannot be done.
    """
    return ORDERS[options.action](options, tools)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SetupError(f"{self.prog}: {message}.", hint=f"It is: {USAGE}.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("tool", add_help=False)
    actions = parser.add_subparsers(dest="action", required=True, parser_class=_Parser)
    made = {name: actions.add_parser(name, add_help=False) for name in ORDERS}
    made["discover"].add_argument("url")
    made["discover"].add_argument("--name", default="")
    _add_options(made["discover"])
    made["connect"].add_argument("name")
    made["connect"].add_argument("rest", nargs=argparse.REMAINDER)
    for name, count in (("refresh", "+"), ("remove", "+"), ("check", "*")):
        made[name].add_argument("names", nargs=count)
    for each in made.values():
        each.add_argument("--json", action="store_true")
    return parser


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--key", default="")
    parser.add_argument("--client-id", default="")
    parser.add_argument("--client-secret", default="")
    for name in ("--local", "--trusted"):
        parser.add_argument(name, action="store_true")
    for name in ("--reads", "--allowed", "--host", "--header"):
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("--timeout", type=float, default=60.0)


def _place(rest: Sequence[str]) -> argparse.Namespace:
    """Where a service is: an address with options, or options and a program after ``--``."""
    split = rest.index("--") if "--" in rest else len(rest)
    parser = _Parser("tool connect NAME", add_help=False)
    parser.add_argument("url", nargs="?", default="")
    parser.add_argument("--openapi", action="store_true")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--in", dest="folder", default="")
    _add_options(parser)
    found = parser.parse_intermixed_args(list(rest[:split]))
    found.program = list(rest[split + 1 :])
    return found


def _list(_options: argparse.Namespace, tools: OutsideTools) -> list[str]:
    rows = tools.rows()
    lines = []
    for row in rows:
        words = f"not used: {row.problem}" if row.problem else f"[{row.risk}] {row.description}"
        lines.append(f"{row.name} ({row.kind}): {' '.join(words.split())[:200]}")
    return [*lines, *tools.book.pages().problems] or [NOTHING]


def _discover(options: argparse.Namespace, tools: OutsideTools) -> list[str]:
    name = options.name or name_of(options.url)
    return _added(_written(options, {"name": name, "kind": "http", "url": options.url}), tools)


def _connect(options: argparse.Namespace, tools: OutsideTools) -> list[str]:
    place = _place(options.rest)
    if place.folder and (place.url or place.program):
        raise SetupError("--in is for what a file names.", hint=f"It is: {USAGE}.")
    if not options.rest or place.folder:
        return _agreed(tools, options.name, place.folder)
    data: dict[str, Any] = {"name": options.name, "kind": "mcp", "env": place.env}
    if place.url:
        data |= {"url": place.url, "kind": "openapi" if place.openapi else "mcp"}
    if place.program:
        data |= {"command": place.program[0], "args": place.program[1:]}
    return _added(_written(place, data), tools)


def _agreed(tools: OutsideTools, name: str, folder: str) -> list[str]:
    book = tools.book.seen_from(Path(folder).expanduser().resolve()) if folder else tools.book
    definition = book.find(name).definition
    said = f"{name!r} of {definition.source} is used now."
    return _used(definition, tools, tools.book.agree, said)


def _added(definition: Definition, tools: OutsideTools) -> list[str]:
    if "://" not in definition.url:
        # a program, or a document that is a file: the same in whatever folder it is asked for
        definition = replace(definition, folder=tools.book.folder)
    tools.book.check_new(definition)
    return _used(definition, tools, tools.book.keep, f"{definition.name!r} is connected.")


def _used(
    definition: Definition, tools: OutsideTools, keep: Callable[[Definition], None], said: str
) -> list[str]:
    """Use a service that answers, or would after a sign-in."""
    try:
        _asked(definition, tools)
    except SetupError as error:
        if not tools.services.service(definition).wants_sign_in:
            raise
        keep(definition)
        return [said, f"✗ {error}"]
    keep(definition)
    return [said, *_offered(definition, tools)]


def _refresh(options: argparse.Namespace, tools: OutsideTools) -> list[str]:
    lines = []
    for name in options.names:
        entry = tools.book.find(name)
        if not entry.is_agreed:
            raise SetupError(entry.problem)
        _asked(entry.definition, tools)
        lines += [f"{name!r} was asked again.", *_offered(entry.definition, tools)]
    return lines


def _remove(options: argparse.Namespace, tools: OutsideTools) -> list[str]:
    lines = []
    for name in options.names:
        tools.book.remove(name)
        lines.append(f"{name!r} is no longer used.")
    return lines


def _check(options: argparse.Namespace, tools: OutsideTools) -> list[str]:
    pages = tools.book.pages()
    names = options.names or [entry.definition.name for entry in pages.entries]
    lines = [f"✗ {problem}" for problem in pages.problems]
    for name in names:
        lines += _checked_file(name) if name.endswith(".json") else _checked_service(name, tools)
    return lines or [NOTHING]


def _checked_file(name: str) -> list[str]:
    """The syntax of a discovery document, for whoever writes one."""
    try:
        document = json.loads(Path(name).expanduser().read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SetupError(f"The document {name!r} cannot be read: {error}.") from error
    problems = syntax_problems(document)
    return [f"✗ {name}: {problem}" for problem in problems] or [f"✓ {name}"]


def _checked_service(name: str, tools: OutsideTools) -> list[str]:
    entry = tools.book.find(name)
    if not entry.is_agreed:
        return [f"- {entry.problem}"]
    try:
        _asked(entry.definition, tools)
    except CellwrightError as error:
        return [f"✗ {error}"]
    return [f"✓ {name}", *_offered(entry.definition, tools)]


def _asked(definition: Definition, tools: OutsideTools) -> Listing:
    try:
        return tools.services.ask(tools.services.service(definition))
    except ToolError as error:
        raise SetupError(error.message, hint=error.hint) from error


def _offered(definition: Definition, tools: OutsideTools) -> list[str]:
    """What the agent can call, and how each is asked about."""
    made = tools.services.service(definition).tools()
    lines = [f"  {tool.name} [{tool.risk}]" for tool in made.tools]
    lines += [f"  left out: {problem}" for problem in made.problems]
    return lines or ["  It offers nothing."]


def _written(options: argparse.Namespace, data: Mapping[str, Any]) -> Definition:
    given: dict[str, Any] = {
        "key": options.key,
        "client_id": options.client_id,
        "client_secret": options.client_secret,
        "headers": dict(map(_header, options.header)),
        "local": options.local,
        "trusted": options.trusted,
        "reads": options.reads,
        "hosts": options.host,
        "allowed": options.allowed or None,
        "timeout_seconds": options.timeout,
    }
    whole = {**{name: value for name, value in given.items() if value}, **data}
    return replace(checked(whole, ""), source="")


def _header(words: str) -> tuple[str, str]:
    """A header and the variable that holds its value."""
    name, sign, variable = words.partition("=")
    if not (name and sign):
        raise SetupError("--header has no variable.", hint="It is --header NAME=VARIABLE.")
    return name.strip(), f"${{{checked_variable(variable.strip())}}}"


def name_of(url: str) -> str:
    """A name from an address: the first part of its host that says something."""
    host = urlsplit(url).hostname or ""
    parts = [part for part in host.split(".") if part not in ("www", "api")]
    name = parts[0] if parts else ""
    if not NAME.fullmatch(name) or name.isdecimal():
        raise SetupError(f"The address {url!r} gives no name.", hint="Give one with --name.")
    return name


def sign_in(name: str, tools: OutsideTools, show: Callable[[str], None]) -> list[str]:
    """Have the user sign in to a service, with a browser on this machine; lines for people.

    Args:
        name: The service.
        tools: Where it is written down.
        show: Told what the user has to open.

    Raises:
        SetupError: It has no sign-in, or they did not sign in.
    """
    entry = tools.book.find(name)
    if not entry.is_agreed:
        raise SetupError(entry.problem)
    try:
        with load_oauth().open_loopback(show) as redirect:
            tools.services.sign_in(tools.services.service(entry.definition), redirect)
    except ToolError as error:
        raise SetupError(error.message, hint=error.hint) from error
    return [f"You are signed in to {name!r}.", *_offered(entry.definition, tools)]


def sign_out(name: str, tools: OutsideTools) -> list[str]:
    """Forget the tokens of a service; lines for people.

    Raises:
        SetupError: It has no sign-in.
    """
    tools.services.sign_out(tools.services.service(tools.book.find(name).definition))
    return [f"You are signed out of {name!r}; its tokens are deleted here."]


ORDERS: Mapping[str, Callable[[argparse.Namespace, OutsideTools], list[str]]] = {
    "check": _check,
    "connect": _connect,
    "discover": _discover,
    "list": _list,
    "refresh": _refresh,
    "remove": _remove,
}
