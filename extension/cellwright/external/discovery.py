"""A service that says at one URL what it can do (requirements 002-76, 002-77).

The document is JSON: ``name``, ``description``, ``homepage_url``, ``callback_url`` and
``functions``, each with ``name``, ``description`` and ``parameters``. A call is a POST to the
callback URL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cellwright.errors import SetupError, ToolError
from cellwright.external import Definition, Function, Listing
from cellwright.external.schemas import object_schema, told
from cellwright.external.web import HttpReply, HttpRequest, Web, check_host, origin_of
from cellwright.record.content import ComponentOutput, Content, capped
from cellwright.tools import ToolContext
from cellwright.tools.registry import SOURCE_LIMIT

NAME_LIMIT = 255


class DiscoveredService:
    """A service behind a discovery URL.

    Args:
        definition: Where it is.
        web: Makes its requests.
    """

    def __init__(self, definition: Definition, web: Web) -> None:
        self._definition = definition
        self._web = web

    def listing(self, stop: Any = None) -> Listing:
        """What its document says."""
        reply = self._web.ask(HttpRequest(self._definition.url), stop)
        return read_document(_document(reply, self._definition.url), self._definition)

    def call(
        self, function: Function, arguments: Mapping[str, Any], context: ToolContext
    ) -> ComponentOutput:
        """Let it do something."""
        body = {
            "function_name": function.name,
            "parameters": dict(arguments),
            "user": {"id": context.user_id},
            "chat": {"id": context.chat_id},
        }
        request = HttpRequest(
            str(function.details["callback_url"]),
            "POST",
            {"Content-Type": "application/json"},
            json.dumps(body, ensure_ascii=False).encode(),
        )
        return _answer(self._web.ask(request, context.stop), function.name)

    def close(self) -> None:
        """Nothing is kept open."""


def read_document(document: Any, definition: Definition) -> Listing:
    """What a discovery document offers.

    Raises:
        ToolError: It is none; all that is wrong with its head is named.
    """
    problems = list(_head_problems(document))
    if problems:
        raise ToolError(f"The document of {definition.name!r} cannot be used: {_joined(problems)}.")
    callback = str(document["callback_url"])
    check_host(callback, definition)
    functions: dict[str, Function] = {}
    left_out: list[str] = []
    given = document["functions"]
    for number, each in enumerate(given[:SOURCE_LIMIT], 1):
        found = list(_function_problems(each, number, functions))
        if found:
            left_out.append(_joined(found))
            continue
        try:
            schema = object_schema(each["parameters"])
        except SetupError as error:
            left_out.append(f"function {each['name']!r}: {error}")
            continue
        words = told(each.get("description"))
        details = {"callback_url": callback}
        functions[each["name"]] = Function(each["name"], words, schema, details=details)
    if len(given) > SOURCE_LIMIT:
        left_out.append(
            f"it has {len(given)} functions; a document may have {SOURCE_LIMIT}, the rest is "
            "left out"
        )
    return Listing(
        tuple(functions.values()),
        tuple(left_out),
        told(document.get("description")),
    )


def syntax_problems(document: Any) -> tuple[str, ...]:
    """All that is wrong with a discovery document, for whoever writes it."""
    problems = list(_head_problems(document))
    functions = document.get("functions") if isinstance(document, Mapping) else None
    names: dict[str, Any] = {}
    for number, each in enumerate(functions if isinstance(functions, list) else (), 1):
        found = list(_function_problems(each, number, names))
        problems += found
        if not found:
            names[each["name"]] = each
            problems += _schema_problems(each)
    if isinstance(functions, list) and len(functions) > SOURCE_LIMIT:
        problems.append(f"it has {len(functions)} functions; at most {SOURCE_LIMIT} are taken")
    return tuple(problems)


def _schema_problems(function: Mapping[str, Any]) -> list[str]:
    name, found = function["name"], []
    try:
        schema = object_schema(function["parameters"])
    except SetupError as error:
        return [f"function {name!r}: {error}"]
    for parameter, each in schema["properties"].items():
        if not isinstance(each, Mapping) or not each.get("description"):
            found.append(f"function {name!r}: the parameter {parameter!r} has no 'description'")
    return found


def _head_problems(document: Any) -> Iterator[str]:
    if not isinstance(document, Mapping):
        yield "it is no JSON object"
        return
    yield from _text_problems(document)
    if isinstance(document.get("callback_url"), str):
        try:
            origin_of(document["callback_url"])
        except SetupError as error:
            yield f"its 'callback_url' cannot be used ({error.message})"
    functions = document.get("functions")
    if not isinstance(functions, list):
        yield "it has no list 'functions'"
    elif not functions:
        yield "its list 'functions' is empty"


def _text_problems(document: Mapping[str, Any]) -> Iterator[str]:
    for key in ("name", "description", "homepage_url", "callback_url"):
        value = document.get(key)
        if value is None:
            if key in ("name", "callback_url"):
                yield f"it has no {key!r}"
        elif not isinstance(value, str):
            yield f"its {key!r} is no text"
        elif len(value) > NAME_LIMIT and key != "description":
            yield f"its {key!r} has more than {NAME_LIMIT} characters"


def _function_problems(function: Any, number: int, known: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(function, Mapping):
        yield f"function {number} is no JSON object"
        return
    name = function.get("name")
    if not isinstance(name, str) or not name:
        yield f"function {number} has no 'name'"
        return
    if name in known:
        yield f"the name {name!r} is there twice"
    if not function.get("description"):
        yield f"function {name!r} has no 'description'"
    yield from _parameter_problems(f"function {name!r}", function.get("parameters"))


def _parameter_problems(function: str, parameters: Any) -> Iterator[str]:
    if parameters is None:
        yield f"{function} has no 'parameters'"
        return
    if not isinstance(parameters, Mapping):
        yield f"{function}: its 'parameters' are no JSON object"
        return
    if "type" not in parameters:
        yield f"{function}: its 'parameters' have no 'type'"
    elif parameters["type"] != "object":
        yield f"{function}: its 'parameters' are of type {parameters['type']!r}, not 'object'"
    properties = parameters.get("properties")
    if properties is None:
        yield f"{function}: its 'parameters' have no 'properties'"
        return
    if not isinstance(properties, Mapping):
        yield f"{function}: its 'properties' are no JSON object"
        return
    required = parameters.get("required") or []
    if not isinstance(required, list):
        yield f"{function}: its 'required' is no list"
        return
    for name in required:
        if name not in properties:
            yield f"{function}: its 'required' names {name!r}, which is no property"


def _document(reply: HttpReply, url: str) -> Any:
    if reply.status != 200:
        raise ToolError(f"The discovery URL {url!r} answered with status {reply.status}.")
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise ToolError(f"The discovery URL {url!r} does not answer with JSON: {error}.") from error


def _answer(reply: HttpReply, name: str) -> ComponentOutput:
    """What a reply to a call says.

    Raises:
        ToolError: It failed; the text is for the model.
    """
    try:
        said = json.loads(reply.body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, Mapping):
        start = told(reply.text(), 300)
        raise ToolError(
            f"The function {name!r} answered with status {reply.status} and no JSON object: "
            f"{start!r}."
        )
    words = _words(said.get("content"))
    if reply.status >= 400 or said.get("success") is not True:
        status = f" (status {reply.status})" if reply.status >= 400 else ""
        raise ToolError(f"The function {name!r} failed{status}: {words or 'it does not say why'}")
    raw = capped({"reply": dict(said)})
    content = Content("text", {"info": words or "(no output)"}, raw_data=raw)
    return ComponentOutput((content,), final=said.get("stop_generation") is True)


def _words(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, ensure_ascii=False)


def _joined(problems: list[str]) -> str:
    shown = problems[:8]
    more = f"; and {len(problems) - 8} more" if len(problems) > 8 else ""
    return "; ".join(shown) + more
