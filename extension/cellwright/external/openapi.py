"""An OpenAPI 3 document as tools: each operation is one.

Only what the document itself holds is read: a reference that leads out of it is any value. Bodies
are JSON; an operation that takes nothing else is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urljoin

from cellwright.errors import SetupError, ToolError
from cellwright.external import Definition, Function, Listing
from cellwright.external.schemas import object_schema, pointed_at, told
from cellwright.external.web import HttpReply, HttpRequest, Web, check_host
from cellwright.record.content import ComponentOutput, Content
from cellwright.tools import ToolContext
from cellwright.tools.registry import SOURCE_LIMIT

# Documents that strangers wrote: JSON, or YAML where it can be read.


def parsed(text: str, where: str) -> Any:
    """The value of a document.

    Raises:
        ToolError: It is neither JSON nor YAML, or YAML and nothing here reads it.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip()[:1] in ("{", "["):
            raise ToolError(f"The document {where!r} is no JSON: {error}.") from error
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ToolError(
            f"The document {where!r} is no JSON.", hint="pip install pyyaml reads YAML too."
        ) from None
    if "*" in text and "&" in text and _has_aliases(yaml, text):
        # a few lines of aliases can be gigabytes
        raise ToolError(f"The document {where!r} has YAML aliases, which are not read.")
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ToolError(f"The document {where!r} is neither JSON nor YAML: {error}.") from error


def _has_aliases(yaml: Any, text: str) -> bool:
    try:
        return any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text))
    except yaml.YAMLError:
        return False


METHODS = ("get", "head", "post", "put", "patch", "delete")
READING = ("get", "head")
BODY = "body"
PLACES = ("path", "query", "header")
HEADERS_OF_OURS = ("authorization", "content-type", "accept", "host", "content-length", "cookie")
ANSWER_CHARACTERS = 400_000
TEXTS = ("text/", "application/json", "application/xml", "application/problem+json")


class OpenapiService:
    """A service that an OpenAPI document describes.

    Args:
        definition: Where the document is.
        web: Makes its requests.
    """

    def __init__(self, definition: Definition, web: Web) -> None:
        self._definition = definition
        self._web = web

    def listing(self, stop: Any = None) -> Listing:
        """The operations of its document."""
        where = self._definition.url
        if "://" not in where:
            return read_openapi(parsed(self._web.file_text(where), where), self._definition)
        reply = self._web.ask(HttpRequest(where), stop)
        if reply.status != 200:
            raise ToolError(f"The document {where!r} answered with status {reply.status}.")
        return read_openapi(parsed(reply.text(), where), self._definition)

    def call(
        self, function: Function, arguments: Mapping[str, Any], context: ToolContext
    ) -> ComponentOutput:
        """Make the operation's request."""
        request = _request(function, arguments)
        check_host(request.url, self._definition)
        return _answer(self._web.ask(request, context.stop), function.name)

    def close(self) -> None:
        """Nothing is kept open."""


@dataclass(frozen=True)
class _Operation:
    """One operation of the document."""

    path: str
    method: str
    spec: Mapping[str, Any]
    shared: tuple[Any, ...]
    """Parameters of all operations of the path."""

    @property
    def name(self) -> str:
        written = self.spec.get("operationId")
        if isinstance(written, str) and written.strip():
            return written.strip()
        words = re.sub(r"[^A-Za-z0-9]+", "_", self.path).strip("_")
        return f"{self.method}_{words or 'root'}"


def read_openapi(document: Any, definition: Definition) -> Listing:
    """What an OpenAPI document offers.

    Raises:
        ToolError: It is none, or of a version that is not read.
    """
    base = _base_url(document, definition)
    functions: dict[str, Function] = {}
    problems: list[str] = []
    count = 0
    for operation in _operations(document):
        count += 1
        if len(functions) >= SOURCE_LIMIT:
            continue
        if operation.name in functions:
            problems.append(f"the name {operation.name!r} is there twice")
            continue
        try:
            functions[operation.name] = _function(operation, document, base)
        except SetupError as error:
            problems.append(f"{operation.name!r}: {error}")
    if count > SOURCE_LIMIT:
        problems.append(f"it has {count} operations; {SOURCE_LIMIT} at most are taken")
    info = document.get("info")
    info = info if isinstance(info, Mapping) else {}
    words = told(info.get("description") or info.get("title"))
    return Listing(tuple(functions.values()), tuple(problems), words)


def _base_url(document: Any, definition: Definition) -> str:
    if not isinstance(document, Mapping):
        raise ToolError(f"The document of {definition.name!r} is no object.")
    version = str(document.get("openapi") or "")
    if not version.startswith("3."):
        found = f"version {version!r}" if version else "no version"
        raise ToolError(
            f"The document of {definition.name!r} has {found} of OpenAPI.", hint="3.x is read."
        )
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else {}
    written = first.get("url") if isinstance(first, Mapping) else None
    for name, variable in (first.get("variables") or {}).items() if written else ():
        default = variable.get("default", "") if isinstance(variable, Mapping) else ""
        written = str(written).replace(f"{{{name}}}", str(default))
    base = urljoin(definition.url, str(written or "/"))
    if "://" not in base:
        raise ToolError(f"The document {definition.url!r} does not say where its server is.")
    check_host(base, definition)
    return base.rstrip("/")


def _operations(document: Mapping[str, Any]) -> Iterator[_Operation]:
    paths = document.get("paths")
    for path, item in paths.items() if isinstance(paths, Mapping) else ():
        whole = _resolved(item, document)
        shared = whole.get("parameters")
        for method in METHODS:
            spec = whole.get(method)
            if isinstance(spec, Mapping):
                common = tuple(shared) if isinstance(shared, list) else ()
                yield _Operation(str(path), method, spec, common)


def _function(operation: _Operation, document: Mapping[str, Any], base: str) -> Function:
    properties: dict[str, Any] = {}
    required: list[str] = []
    places: dict[str, list[str]] = {}
    for parameter in _parameters(operation, document):
        name, place = str(parameter["name"]), str(parameter["in"])
        told_name = name if name not in properties else f"{place}_{name}"
        properties[told_name] = _parameter_schema(parameter, document)
        places[told_name] = [place, name]
        if parameter.get("required") or place == "path":
            required.append(told_name)
    body = _body_schema(operation, document)
    if body is not None:
        told_name = BODY if BODY not in properties else "request_body"
        properties[told_name] = body.schema
        places[told_name] = [BODY, ""]
        required += [told_name] if body.is_required else []
    whole = {"type": "object", "properties": properties, "required": required}
    spec = operation.spec
    words = [told(spec.get("summary")), told(spec.get("description"))]
    is_reading = operation.method in READING
    return Function(
        operation.name,
        told("\n".join(filter(None, dict.fromkeys(words))))
        or f"{operation.method.upper()} {operation.path}",
        object_schema(whole, document),
        is_read_only=is_reading,
        is_destructive=operation.method == "delete",
        details={
            "method": operation.method.upper(),
            "url": base + operation.path,
            "places": places,
        },
    )


def _parameters(operation: _Operation, document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    own = operation.spec.get("parameters")
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for each in (*operation.shared, *(own if isinstance(own, list) else ())):
        parameter = _resolved(each, document)
        name, place = parameter.get("name"), parameter.get("in")
        is_ours = place == "header" and str(name).lower() in HEADERS_OF_OURS
        if isinstance(name, str) and place in PLACES and not is_ours:
            found[(name, str(place))] = parameter
        elif place == "cookie" and parameter.get("required"):
            raise SetupError(f"it needs the cookie {name!r}")
    return list(found.values())


def _parameter_schema(parameter: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    schema = parameter.get("schema")
    if not isinstance(schema, Mapping):
        content = parameter.get("content")
        media = content.get("application/json") if isinstance(content, Mapping) else None
        schema = media.get("schema") if isinstance(media, Mapping) else None
    whole = dict(schema) if isinstance(schema, Mapping) else {"type": "string"}
    if parameter.get("description"):
        whole["description"] = parameter["description"]
    return whole


@dataclass(frozen=True)
class _Body:
    schema: Mapping[str, Any]
    is_required: bool


def _body_schema(operation: _Operation, document: Mapping[str, Any]) -> _Body | None:
    if operation.spec.get("requestBody") is None:
        return None
    body = _resolved(operation.spec["requestBody"], document)
    content = body.get("content")
    media = content.get("application/json") if isinstance(content, Mapping) else None
    is_required = bool(body.get("required"))
    if not isinstance(media, Mapping):
        if is_required:
            raise SetupError("it takes a body that is not JSON")
        return None
    schema = media.get("schema")
    whole = dict(schema) if isinstance(schema, Mapping) else {}
    whole.setdefault("description", str(body.get("description") or "What is sent, as JSON."))
    return _Body(whole, is_required)


def _resolved(item: Any, document: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(5):
        if not isinstance(item, Mapping):
            return {}
        if not isinstance(item.get("$ref"), str):
            return item
        item = pointed_at(document, item["$ref"])
    return {}


def _request(function: Function, arguments: Mapping[str, Any]) -> HttpRequest:
    """The request of a call.

    Raises:
        ToolError: A part of the path would lead elsewhere.
    """
    details = function.details
    url, query = str(details["url"]), []
    headers = {"Accept": "application/json, text/*;q=0.8"}
    body: bytes | None = None
    for name, value in arguments.items():
        place, wire = details["places"].get(name, ("", ""))
        if place == "path":
            url = url.replace(f"{{{wire}}}", _path_part(name, value))
        elif place == "query":
            query += [(wire, _plain(item)) for item in _several(value)]
        elif place == "header":
            headers[wire] = _header(name, value)
        elif place == BODY:
            body = json.dumps(value, ensure_ascii=False).encode()
            headers["Content-Type"] = "application/json"
    if query:
        url += ("&" if "?" in url else "?") + urlencode(query)
    return HttpRequest(url, str(details["method"]), headers, body)


def _path_part(name: str, value: Any) -> str:
    text = _plain(value)
    if text in ("", ".", ".."):
        raise ToolError(f"The argument {name!r} is {text!r}, which is no part of a path.")
    return quote(text, safe="")


def _header(name: str, value: Any) -> str:
    text = _plain(value)
    if not (text.isascii() and text.isprintable()):
        raise ToolError(f"The argument {name!r} cannot be sent as a header: {text!r}.")
    return text


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _plain(value: Any) -> str:
    if isinstance(value, (bool, dict, list)) or value is None:
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _answer(reply: HttpReply, name: str) -> ComponentOutput:
    is_text = not reply.mime or reply.mime.startswith(TEXTS) or reply.mime.endswith("+json")
    words = reply.text() if is_text else f"[{reply.mime}, {len(reply.body):,} bytes]"
    if reply.status >= 400 or 300 <= reply.status < 400:
        raise ToolError(
            f"The operation {name!r} answered with status {reply.status}: {words[:2000]}"
        )
    if reply.mime.endswith("json") and len(words) <= ANSWER_CHARACTERS:
        try:
            data = json.loads(words)
        except (ValueError, RecursionError):
            return _said(words)
        return ComponentOutput((Content("json", {"data": data}),))
    return _said(words or f"(status {reply.status})")


def _said(words: str) -> ComponentOutput:
    return ComponentOutput((Content("text", {"info": words}),))
