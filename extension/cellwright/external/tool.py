"""One function of a service as a tool of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, ClassVar
from urllib.parse import urlsplit

from cellwright.errors import ToolError
from cellwright.external import Connection, Definition, Function, Listing
from cellwright.record.prompts import Manifest
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.manifest import tool_name

SHOWN_CHARACTERS = 120


class OutsideTool(Component):
    """A function of a service; ``made_tools`` makes them."""

    service: ClassVar[Connection]
    definition: ClassVar[Definition]
    function: ClassVar[Function]
    reaches_web: ClassVar[bool] = False
    """Whether it is not for assistants that must not look into the web."""

    def tool_manifests(self) -> tuple[Manifest, ...]:
        """As the service told it."""
        described = self.function.description or self.function.name.replace("_", " ")
        return (Manifest(self.name, described, self.function.parameters),)

    # Names of arguments are a stranger's: "self" may be one of them.
    def label(self, /, **arguments: object) -> str:
        """Which service does what."""
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        short = given if len(given) <= SHOWN_CHARACTERS else given[:SHOWN_CHARACTERS] + "…"
        return f"{self.definition.name}: {self.function.name}({short})"

    def risk_for(self, /, **arguments: object) -> Risk:
        """The same whatever the arguments."""
        return self.risk

    def code_for(self, /, **arguments: object) -> str:
        """None of ours."""
        return ""

    def begin(self, context: ToolContext | None, /, **arguments: Any) -> Iterator[ToolYield]:
        """Ask the service."""
        if context is None:
            raise ToolError(f"{self.name!r} needs a run.", hint="Let the agent call it.")
        yield self.service.call(self.function, arguments, context)


@dataclass(frozen=True)
class Made:
    """The tools of one service, and why some of its functions are none."""

    tools: tuple[OutsideTool, ...]
    problems: tuple[str, ...] = ()


def made_tools(definition: Definition, listing: Listing, service: Connection) -> Made:
    """A tool for each function that is allowed, named ``service__function``."""
    tools: dict[str, OutsideTool] = {}
    problems = list(listing.problems)
    for function in listing.functions:
        if definition.allowed is not None and not _matches(function.name, definition.allowed):
            continue
        name = tool_name(f"{definition.name}__{function.name}")
        if name in tools:
            problems.append(f"{function.name!r} has the same name as another function")
            continue
        body = {
            "name": name,
            "risk": risk_of(definition, function),
            "asks": _deed(definition),
            "reaches_web": bool(definition.url) and not definition.is_local,
            "service": service,
            "definition": definition,
            "function": function,
        }
        tools[name] = type(name, (OutsideTool,), body)()
    return Made(tuple(tools.values()), tuple(problems))


def risk_of(definition: Definition, function: Function) -> Risk:
    """How risky a function is: as the person says, then as the service does.

    A hint may make a function riskier. It makes one less risky only where the person trusts the
    service, or where what is read is the person's own document (``GET`` of an OpenAPI one).
    """
    if _matches(function.name, definition.reads):
        return "read"
    is_believed = definition.is_trusted or definition.kind == "openapi"
    if function.is_read_only and is_believed:
        return "read"
    return "destroy" if function.is_destructive else "execute"


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _deed(definition: Definition) -> str:
    """What the person is asked about."""
    host = urlsplit(definition.url).hostname or ""
    there = f" at {host}" if host else ""
    return f"sends this to the service {definition.name!r}{there}, which may do what it says"
