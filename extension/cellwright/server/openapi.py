"""The OpenAPI 3.1 description of all REST routes, made of the table of routes and the types.

Addresses and their parameters are the patterns of the table, the words are the docstrings of the
handlers, bodies and answers the frozen types. Nothing of a route is written down here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cellwright._version import __version__
from cellwright.server.operations import OPERATIONS, Operation
from cellwright.server.rest_types import Problem
from cellwright.server.routes import TEXT_LIMIT_CHARACTERS, Route

METHODS = ("get", "put", "post", "patch", "delete")
GROUP = re.compile(r"\(([^()]*)\)")
SCHEMAS = "#/components/schemas/{model}"
JSON = "application/json"
OWN_ROOT = "/v1/"
SECURITY = {
    "token": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "`token` and the token of the server.",
    },
    "cookie": {
        "type": "apiKey",
        "in": "header",
        "name": "X-XSRFToken",
        "description": "The value of the cookie `_xsrf`, beside the cookie of a person logged in.",
    },
}
Routes = Sequence[tuple[str, type[Any]]]
Json = dict[str, Any]


@dataclass(frozen=True)
class RestOperation:
    """One method of one route."""

    method: str
    route: str
    """As the table has it, with its groups named after the handler's parameters."""
    parameters: Mapping[str, str]
    """The patterns of these groups by name."""
    handler: type[Route]

    @property
    def key(self) -> str:
        """How ``OPERATIONS`` names it."""
        return f"{self.method.upper()} {self.route}"

    @property
    def path(self) -> str:
        """Its address below the folder of all our routes."""
        return self.route if self.route.startswith("/") else f"{OWN_ROOT}{self.route}"

    @property
    def described(self) -> Operation:
        """What it takes and answers."""
        return OPERATIONS.get(self.key, Operation())


def operations(routes: Routes) -> Iterator[RestOperation]:
    """Every method of every REST route; the socket is none."""
    for pattern, handler in routes:
        if not issubclass(handler, Route):
            continue
        for method in METHODS:
            function = _own(handler, method)
            if function is None:
                continue
            names = list(inspect.signature(inspect.unwrap(function)).parameters)[1:]
            groups = dict(zip(names, GROUP.findall(pattern), strict=True))
            yield RestOperation(method, _written(pattern, names), groups, handler)


def _written(pattern: str, names: Sequence[str]) -> str:
    """A pattern with the names of its groups in their places."""
    for name in names:
        pattern = GROUP.sub(f"{{{name}}}", pattern, count=1)
    return pattern


def document(routes: Routes, address: str) -> Json:
    """The whole description.

    Args:
        routes: The table.
        address: Of the folder of all our routes, as the server has it.
    """
    found = list(operations(routes))
    schemas = _Schemas(found)
    paths: Json = {}
    for item in found:
        paths.setdefault(item.path, {})[item.method] = _described(item, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "cellwright", "version": __version__},
        "servers": [{"url": address}],
        "security": [{"token": []}, {"cookie": []}],
        "paths": paths,
        "components": {"schemas": schemas.definitions, "securitySchemes": SECURITY},
    }


def _own(handler: type[Route], method: str) -> Any:
    """A method that is ours; the server's own classes have every one, and refuse."""
    ours = (cls for cls in handler.__mro__ if cls.__module__.startswith("cellwright."))
    return next((vars(cls)[method] for cls in ours if method in vars(cls)), None)


def _described(item: RestOperation, schemas: _Schemas) -> Json:
    wanted = item.described
    said = inspect.getdoc(_own(item.handler, item.method)) or ""
    described: Json = {
        "operationId": re.sub(r"\W+", "_", f"{item.method} {item.route}").strip("_"),
        "summary": said.split("\n")[0],
        "description": inspect.getdoc(item.handler) or "",
        "parameters": [*_in_path(item), *map(_in_query, wanted.query)],
        "responses": _responses(wanted, schemas),
    }
    body = _body(wanted, schemas)
    return {**described, "requestBody": body} if body else described


def _in_path(item: RestOperation) -> Iterator[Json]:
    for name, pattern in item.parameters.items():
        schema = {"type": "string", "pattern": f"^{pattern}$"}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _in_query(name: str) -> Json:
    # No maxLength: what fits into an address ends before our own limit when it is encoded.
    return {"name": name, "in": "query", "required": False, "schema": {"type": "string"}}


def _body(wanted: Operation, schemas: _Schemas) -> Json:
    if wanted.takes_file:
        binary: Json = {"application/octet-stream": {"schema": {}}}
        return {"required": True, "content": binary}
    if wanted.body is None:
        return {}
    return {"required": False, "content": {JSON: {"schema": schemas.body(wanted.body)}}}


def _responses(wanted: Operation, schemas: _Schemas) -> Json:
    answered = {media: _content(media, wanted, schemas) for media in wanted.media}
    responses: Json = {
        str(wanted.status): {"description": "It is done.", "content": answered},
    }
    problem = {JSON: {"schema": schemas.answer(Problem)}}
    for status in sorted({403, *wanted.refusals}):
        responses[str(status)] = {"description": REFUSALS[status], "content": problem}
    return responses


def _content(media: str, wanted: Operation, schemas: _Schemas) -> Json:
    if media == JSON:
        return {"schema": schemas.answer(wanted.answer)}
    # A stream or a file is text; what each event of a stream holds is the JSON answer.
    return {"schema": {"type": "string"}}


REFUSALS: Mapping[int, str] = {
    400: "The request cannot be used.",
    403: "Not allowed.",
    404: "Not there.",
    409: "Not now.",
    413: "Too large.",
}


class _Schemas:
    """The JSON Schemas of all types, each under its name.

    Args:
        found: The operations that use them.
    """

    def __init__(self, found: Sequence[RestOperation]) -> None:
        from pydantic import TypeAdapter

        kinds = [item.described.answer for item in found]
        bodies = [item.described.body for item in found if item.described.body is not None]
        unique = list({repr(kind): kind for kind in (Problem, *kinds)}.values())
        wanted: list[tuple[str, Literal["validation", "serialization"], TypeAdapter[Any]]] = [
            *((repr(kind), "serialization", TypeAdapter(kind)) for kind in unique),
            *((repr(kind), "validation", TypeAdapter(kind)) for kind in dict.fromkeys(bodies)),
        ]
        made: tuple[Any, Json] = TypeAdapter.json_schemas(wanted, ref_template=SCHEMAS)
        self._by_kind = made[0]
        self.definitions: Json = made[1].get("$defs", {})

    def answer(self, kind: Any) -> Json:
        """The schema of what is answered."""
        found: Json = self._by_kind[repr(kind), "serialization"]
        return found

    def body(self, kind: type) -> Json:
        """The schema of a body: no field has to be there, and no others are taken."""
        found: Json = self._by_kind[repr(kind), "validation"]
        name = found["$ref"].rpartition("/")[2] if "$ref" in found else ""
        whole = self.definitions[name] if name else found
        fields = {key: _asked(value) for key, value in whole.get("properties", {}).items()}
        return {"type": "object", "properties": fields, "additionalProperties": False}


def _asked(schema: Json) -> Json:
    """A field that may be missing: what it then is, is the route's own affair."""
    kept = {key: value for key, value in schema.items() if key not in ("default", "title")}
    is_text = kept.get("type") == "string" and "enum" not in kept
    return {**kept, "maxLength": TEXT_LIMIT_CHARACTERS} if is_text else kept
