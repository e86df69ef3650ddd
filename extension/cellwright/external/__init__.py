"""Tools that are not ours: MCP servers, services with a discovery URL, OpenAPI documents.

What this does not protect against: a service is told what the model sends it, and what it answers
is read by the model. Its descriptions and answers are data, but a model may take them for orders;
so what writes is asked about, whatever the service says of itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from cellwright.record.content import ComponentOutput
from cellwright.record.values import to_dict
from cellwright.stopping import Stop
from cellwright.tools import ToolContext

Kind = Literal["mcp", "http", "openapi"]


@dataclass(frozen=True)
class Definition:
    """Where a service is and how it may be used; holds names of variables, never a key."""

    name: str
    kind: Kind
    url: str = ""
    """Of the MCP server, the discovery document or the OpenAPI document; empty: a program."""
    command: str = ""
    """The program of an MCP server that talks over its standard streams."""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the program is given beside the bare minimum; ``${NAME}`` stands for a variable."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request; ``${NAME}`` stands for a variable."""
    key: str = ""
    """Name of the variable that holds the key; sent as a Bearer token."""
    allowed: tuple[str, ...] | None = None
    """Names or patterns of the functions that are offered; None: all."""
    reads: tuple[str, ...] = ()
    """Names or patterns of those that the person says only look: they run unasked."""
    hosts: tuple[str, ...] = ()
    """Other hosts that its calls, and its key with them, may go to."""
    timeout_seconds: float = 60.0
    is_local: bool = False
    """It may be on this machine or in a private network."""
    is_trusted: bool = False
    """What it says of its own functions is believed."""
    description: str = ""
    source: str = ""
    """Where it is written down, for people."""
    folder: str = ""
    """Where its program is started and a document that is a file lies; empty: where we work.

    Part of what a person agrees to: the same words start another program in another folder.
    """
    client_id: str = ""
    """What an MCP server's sign-in knows cellwright by; empty: cellwright registers itself."""
    client_secret: str = ""
    """Name of the variable that holds the secret which belongs to that id; empty: it has none."""

    @property
    def may_sign_in(self) -> bool:
        """Whether it is an MCP server that the person can sign in to: it is sent no key."""
        has_key = self.key or any(name.lower() == "authorization" for name in self.headers)
        return self.kind == "mcp" and bool(self.url) and not has_key


@dataclass(frozen=True)
class Function:
    """One thing that a service can do."""

    name: str
    """As the service calls it."""
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of an object, without references."""
    is_read_only: bool | None = None
    """As the service says; None: it does not say."""
    is_destructive: bool | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """What a call of it needs to know, such as an address."""


@dataclass(frozen=True)
class Listing:
    """What a service says it can do."""

    functions: tuple[Function, ...] = ()
    problems: tuple[str, ...] = ()
    """Why others are not among them."""
    description: str = ""


class Connection(Protocol):
    """A service that can be asked; from any thread."""

    def listing(self, stop: Stop | None = None) -> Listing:
        """Ask it what it can do.

        Raises:
            ToolError: It does not answer, or its answer cannot be used.
        """
        ...

    def call(
        self, function: Function, arguments: Mapping[str, Any], context: ToolContext
    ) -> ComponentOutput:
        """Let it do something; wait for the answer, or for Stop.

        Raises:
            ToolError: It could not.
            RunCancelled: The run was stopped.
        """
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def fingerprint_of(definition: Definition) -> str:
    """The same for the same definition, wherever it is written down."""
    bare = to_dict(replace(definition, source="", description=""))
    for name in ("client_id", "client_secret"):
        if not bare[name]:
            del bare[name]  # what people agreed to before there was one
    text = json.dumps(bare, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
