"""The requests of one service, with its headers and its key, within its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cellwright.errors import SetupError, ToolError
from cellwright.external import Definition
from cellwright.external.addresses import Origin, Reach, Resolver, origin_of, system_addresses
from cellwright.external.requests import Reply, Request, fetch
from cellwright.external.variables import Hidden, expanded, literal_secrets, used_values
from cellwright.stopping import Stop


@dataclass(frozen=True)
class Surroundings:
    """What services need of the process they are used in."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: str = ""
    """Where programs are started that name no folder; empty: where the process is."""
    resolve: Resolver = system_addresses


class Web:
    """Makes the requests of one service.

    Args:
        definition: The service.
        surroundings: Variables, and how names are resolved.
    """

    def __init__(self, definition: Definition, surroundings: Surroundings) -> None:
        self._definition = definition
        self._surroundings = surroundings

    def ask(self, request: Request, stop: Stop | None = None) -> Reply:
        """The answer to a request.

        Raises:
            ToolError: There is none, a variable is missing, or it is not allowed.
            RunCancelled: The run was stopped.
        """
        headers = headers_of(self._definition, self._surroundings)
        reach = reach_of(self._definition, self._surroundings)
        try:
            check_secrecy(origin_of(request.url), bool(headers), reach)
            reply = fetch(replace(request, headers={**headers, **request.headers}), reach, stop)
        except SetupError as error:
            raise ToolError(error.message, hint=error.hint) from error
        hidden = hidden_of(self._definition, self._surroundings)
        return replace(reply, body=hidden.text(reply.text()).encode())

    def file_text(self, path: str) -> str:
        """The text of a document that is a file.

        Raises:
            ToolError: It cannot be read, or is too large.
        """
        folder = self._definition.folder or self._surroundings.folder
        place = Path(folder, Path(path).expanduser())
        limit = reach_of(self._definition, self._surroundings).size_limit_bytes
        try:
            if place.stat().st_size > limit:
                raise ToolError(f"The document {path!r} has more than {limit:,} bytes.")
            return place.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ToolError(f"The document {path!r} cannot be read: {error}.") from error


def check_host(url: str, definition: Definition) -> None:
    """Refuse calls that go elsewhere than the document came from, unless the person agreed.

    Raises:
        ToolError: They would.
    """
    if "://" not in definition.url:
        return  # the document is a file of the person's own
    try:
        host, own = origin_of(url).host, origin_of(definition.url).host
    except SetupError as error:
        raise ToolError(error.message, hint=error.hint) from error
    if host not in (own, *definition.hosts):
        raise ToolError(
            f"Calls of {definition.name!r} would go to {host!r}, and its document is from {own!r}.",
            hint=f"If you mean it, allow that host: --host {host}, or hosts = [{host!r}].",
        )


def check_secrecy(origin: Origin, has_headers: bool, reach: Reach) -> None:
    """Refuse to send a key in the clear to another machine.

    Raises:
        ToolError: It would be.
    """
    if not has_headers or origin.scheme == "https" or reach.is_local:
        return
    raise ToolError(
        f"The key of {origin.host!r} would be sent without encryption.",
        hint="Use an https address, or allow a local one with local = true.",
    )


def reach_of(definition: Definition, surroundings: Surroundings) -> Reach:
    """How far its requests may go."""
    return Reach(definition.is_local, definition.timeout_seconds, resolve=surroundings.resolve)


def headers_of(definition: Definition, surroundings: Surroundings) -> dict[str, str]:
    """Its headers with the keys put in.

    Raises:
        ToolError: A variable is not set, or a value cannot be sent.
    """
    environ = surroundings.environ
    made = {name: expanded(value, environ) for name, value in definition.headers.items()}
    if definition.key:
        made["Authorization"] = "Bearer " + expanded(f"${{{definition.key}}}", environ)
    for name, value in made.items():
        if not (value.isascii() and value.isprintable()):
            raise ToolError(f"The header {name!r} of {definition.name!r} cannot be sent.")
    return made


def hidden_of(definition: Definition, surroundings: Surroundings) -> Hidden:
    """Takes the keys of a service out of what it says."""
    environ = surroundings.environ
    templates = [*definition.headers.values(), *definition.environment.values()]
    templates += [f"${{{definition.key}}}"] if definition.key else []
    templates += definition.arguments
    written = {**definition.headers, **definition.environment}
    literal = [written[name] for name in literal_secrets(written)]
    literal += [part for value in literal for part in value.split() if len(part) > 12]
    return Hidden((*used_values(templates, environ), *literal))
