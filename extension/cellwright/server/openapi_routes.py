"""The OpenAPI 3.1 description of all REST routes, made of the table of routes and the types.

Addresses and their parameters are the patterns of the table, the words are the docstrings of the
handlers, bodies and answers the frozen types that ``OPERATIONS`` names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from cellwright._version import __version__
from cellwright.kernels.going_back import ChangedFiles, KernelSnapshots
from cellwright.record.outputs import VariableSummary
from cellwright.server import assistant_routes as assistant_types
from cellwright.server import memory_routes as memory_types
from cellwright.server import rest_types as types
from cellwright.server import result_routes as result_types
from cellwright.server.branch_routes import KeptBranch
from cellwright.server.branching import BranchesBeginning, BranchList
from cellwright.server.chat_context_routes import ChatContext, WantedSummary
from cellwright.server.chat_routes import ChatMessages, NewMessage, WaitingMessage
from cellwright.server.component_envelopes import Envelope
from cellwright.server.component_routes import EVENT_STREAM
from cellwright.server.library_routes import LibraryHits, LibraryState, NewPlace
from cellwright.server.preview_routes import WantedPreview
from cellwright.server.project_routes import ProjectConsent, ProjectTextRows
from cellwright.server.rest_types import Problem
from cellwright.server.routes import TEXT_LIMIT_CHARACTERS, Route, RouteTable
from cellwright.server.run_routes import RunPage
from cellwright.server.table import load_all_routes
from cellwright.server.tool_routes import ToolList, WantedSignIn
from cellwright.server.uploads import TakenFile
from cellwright.server.usage_routes import UsageTotals, WantedBudgets
from cellwright.session.previewing import Preview

# What each operation takes and answers. A route without a row is described by its address, its
# words and its refusals alone. The tests hold every row against what its route takes and answers.


JSON = "application/json"
Document = Mapping[str, Any]
"""An answer that is described elsewhere."""


@dataclass(frozen=True)
class Operation:
    """What a method of a route takes and answers."""

    answer: Any = Document
    status: int = 200
    body: type | None = None
    """Type of the JSON body; all of its fields may be missing, and no others are taken."""
    query: tuple[str, ...] = ()
    refusals: tuple[int, ...] = ()
    """Beside 403, which everything may be answered with."""
    media: tuple[str, ...] = (JSON,)
    """What the answer may be."""
    takes_file: bool = False


def _result(*query: str, answer: Any = Document) -> Operation:
    return Operation(answer, query=query, refusals=(400, 404))


OPERATIONS: Mapping[str, Operation] = {
    "GET health": Operation(types.Health),
    "GET service": Operation(types.ServiceState, refusals=(400, 409)),
    "PUT service": Operation(
        types.ServiceState, body=types.WantedService, refusals=(400, 409, 413)
    ),
    "POST service/test": Operation(
        tuple[types.ServiceCheck, ...], body=types.ServiceTest, refusals=(400, 409, 413)
    ),
    "GET models": Operation(types.Models, refusals=(400, 409)),
    "POST models": Operation(types.Models, body=types.WantedService, refusals=(400, 409, 413)),
    "GET providers": Operation(types.ProviderList, refusals=(400, 409)),
    "GET chats": Operation(
        tuple[types.ChatSummary, ...], query=("notebook", "query"), refusals=(400, 409)
    ),
    "POST chats": Operation(types.ChatSummary, 201, types.ChatBeginning, refusals=(400, 409, 413)),
    "GET chats/{chat_id}": Operation(types.ChatSummary, refusals=(400, 404, 409)),
    "GET chats/{chat_id}/messages": Operation(
        ChatMessages, query=("before", "debug", "waiting"), refusals=(400, 404, 409)
    ),
    "GET chats/{chat_id}/context": Operation(ChatContext, refusals=(400, 404, 409)),
    "PUT chats/{chat_id}/context": Operation(
        ChatContext, body=WantedSummary, refusals=(400, 404, 409, 413)
    ),
    "GET chats/{chat_id}/project": Operation(ProjectTextRows, refusals=(400, 404, 409)),
    "PUT chats/{chat_id}/project": Operation(
        ProjectTextRows, body=ProjectConsent, refusals=(400, 404, 409, 413)
    ),
    "POST chats/{chat_id}/messages": Operation(
        WaitingMessage, 201, NewMessage, refusals=(400, 404, 409, 413)
    ),
    "PUT chats/{chat_id}/pins/{run_id}": Operation(types.ChatSummary, refusals=(404, 409)),
    "DELETE chats/{chat_id}/pins/{run_id}": Operation(types.ChatSummary, refusals=(404, 409)),
    "PUT chats/{chat_id}/thumbs/{run_id}": Operation(
        types.ChatSummary, body=types.RunThumb, refusals=(400, 404, 409, 413)
    ),
    "DELETE chats/{chat_id}/thumbs/{run_id}": Operation(types.ChatSummary, refusals=(404, 409)),
    "DELETE chats/{chat_id}/messages/{message_id}": Operation(types.Nothing, refusals=(404, 409)),
    "PATCH chats/{chat_id}": Operation(
        types.ChatSummary, body=types.ChatChange, refusals=(400, 404, 409, 413)
    ),
    "GET chats/{chat_id}/branches": Operation(BranchList, refusals=(400, 404, 409)),
    "POST chats/{chat_id}/branches": Operation(
        BranchList, 201, BranchesBeginning, refusals=(400, 404, 409, 413)
    ),
    "DELETE chats/{chat_id}/branches": Operation(types.Nothing, refusals=(404, 409)),
    "POST chats/{chat_id}/branches/{branch_id}/keep": Operation(
        KeptBranch, refusals=(400, 404, 409)
    ),
    "POST chats/{chat_id}/preview": Operation(
        Preview, body=WantedPreview, refusals=(400, 404, 409, 413)
    ),
    "DELETE chats/{chat_id}/preview": Operation(types.Nothing, refusals=(404, 409)),
    "POST chats/{chat_id}/branch": Operation(
        types.ChatSummary, 201, types.ChatBranching, refusals=(400, 404, 409, 413)
    ),
    "DELETE chats/{chat_id}": Operation(types.Nothing, refusals=(404, 409)),
    "GET chats/{chat_id}/export": Operation(
        query=("to",),
        refusals=(400, 404, 409),
        media=("text/markdown", "application/x-ipynb+json", "text/html"),
    ),
    "GET assistants": Operation(
        assistant_types.AssistantSummaries, query=("notebook",), refusals=(400, 409)
    ),
    "POST assistants": Operation(
        assistant_types.AssistantDetails,
        201,
        assistant_types.NewAssistant,
        query=("notebook",),
        refusals=(400, 409, 413),
    ),
    "GET assistants/{name}": Operation(
        assistant_types.AssistantDetails, query=("notebook",), refusals=(400, 404)
    ),
    "PUT assistants/{name}": Operation(
        assistant_types.AssistantDetails,
        body=assistant_types.AssistantChange,
        query=("notebook",),
        refusals=(400, 404, 409, 413),
    ),
    "DELETE assistants/{name}": Operation(
        status=204, query=("notebook", "version"), refusals=(400, 404, 409), media=()
    ),
    "GET usage": Operation(UsageTotals, query=("by",), refusals=(400, 409)),
    "PUT budgets": Operation(UsageTotals, body=WantedBudgets, refusals=(400, 409, 413)),
    "GET memories": Operation(memory_types.MemoryList, query=("query",), refusals=(400, 409)),
    "POST memories": Operation(
        memory_types.KeptMemory, 201, memory_types.NewMemory, refusals=(400, 409, 413)
    ),
    "PATCH memories/{memory_id}": Operation(
        memory_types.KeptMemory, body=memory_types.MemoryChange, refusals=(400, 404, 409, 413)
    ),
    "DELETE memories/{memory_id}": Operation(types.Nothing, refusals=(404, 409)),
    "GET memory-setting": Operation(memory_types.MemorySetting, refusals=(400, 409)),
    "PUT memory-setting": Operation(
        memory_types.MemorySetting, body=memory_types.MemorySetting, refusals=(400, 409, 413)
    ),
    "POST proposals/{proposal_id}": Operation(
        memory_types.Decided, body=memory_types.Decision, refusals=(400, 404, 409, 413)
    ),
    "POST files": Operation(
        TakenFile,
        201,
        query=("name", "notebook", "assistant"),
        refusals=(400, 409, 413),
        takes_file=True,
    ),
    "GET library": Operation(LibraryState, refusals=(400, 409)),
    "POST library": Operation(LibraryState, 202, NewPlace, refusals=(400, 404, 409, 413)),
    "DELETE library": Operation(LibraryState, query=("library", "all"), refusals=(400, 404, 409)),
    "DELETE library/{document_id}": Operation(types.Nothing, refusals=(404, 409)),
    "GET library/search": Operation(LibraryHits, query=("query",), refusals=(400, 409)),
    "GET kernels/{kernel_id}/variables": Operation(
        tuple[VariableSummary, ...], refusals=(404, 409)
    ),
    "GET kernels/{kernel_id}/variables/{name}": Operation(
        types.OneVariable, refusals=(400, 404, 409)
    ),
    "GET kernels/{kernel_id}/files": Operation(
        ChangedFiles, query=("run", "step"), refusals=(400, 404, 409)
    ),
    "POST kernels/{kernel_id}/files": Operation(
        ChangedFiles, body=types.WantedFiles, refusals=(400, 404, 409, 413)
    ),
    "POST kernels/{kernel_id}/undo": Operation(
        types.UndoneRun, body=types.WantedUndo, refusals=(400, 404, 409, 413)
    ),
    "GET kernels/{kernel_id}/snapshots": Operation(
        KernelSnapshots, query=("measured",), refusals=(400, 404, 409)
    ),
    "DELETE kernels/{kernel_id}/snapshots": Operation(KernelSnapshots, refusals=(400, 404, 409)),
    "GET runs/{run_id}/cells": Operation(
        tuple[types.RecordedRunCell, ...], refusals=(400, 404, 409)
    ),
    "GET runs/{run_id}/before": Operation(
        types.EarlierCells, query=("step",), refusals=(400, 404, 409)
    ),
    "POST runs/{run_id}/fates": Operation(
        types.CellFates, body=types.CellFates, refusals=(400, 404, 409, 413)
    ),
    "GET runs": Operation(
        RunPage,
        query=("query", "status", "model", "lane", "sort", "after", "since"),
        refusals=(400, 409),
    ),
    "GET runs/{run_id}/sample": Operation(result_types.RunSample, refusals=(400, 404, 409)),
    "GET results": _result("folder", "since", answer=result_types.ResultListing),
    "GET results/summary": _result("result", answer=result_types.ResultNumbers),
    "GET results/samples": _result(
        *("result", "status", "outcome", "group", "query", "sort", "start", "count"),
        answer=result_types.SamplePage,
    ),
    "GET results/sample": _result("result", "id", answer=result_types.RunSample),
    "GET results/leaderboard": _result("folder", answer=result_types.LeaderboardPage),
    "GET results/compare": _result(
        *("first", "second", "start", "count"), answer=result_types.ResultComparison
    ),
    "GET tools": Operation(ToolList, query=("notebook",), refusals=(400, 409)),
    "POST tools/sign-in": Operation(ToolList, body=WantedSignIn, refusals=(400, 409, 413)),
    "DELETE tools/sign-in": Operation(ToolList, query=("name", "notebook"), refusals=(400, 409)),
    "GET tools/sign-in/answer": Operation(
        query=("code", "state", "iss", "error", "error_description"),
        refusals=(400,),
        media=("text/html",),
    ),
    "GET notebooks/missing": Operation(
        tuple[types.MissingCells, ...], query=("path", "tab"), refusals=(400, 409)
    ),
    "GET /v2/components": Operation(
        types.ComponentList, query=("kernel",), refusals=(400, 404, 409)
    ),
    "GET /v2/components/{name}/version/{version}": Operation(
        types.ComponentSummary, query=("kernel",), refusals=(400, 404, 409)
    ),
    "POST /v2/components/{name}/version/{version}": Operation(
        Envelope,
        body=types.Evaluation,
        query=("action", "kernel", "chat"),
        refusals=(400, 404, 409, 413),
        media=(JSON, EVENT_STREAM),
    ),
    "POST /v2/mcp": Operation(
        query=("notebook", "mode"),
        refusals=(400, 404, 406, 409, 413, 501, 503),
        media=(JSON, EVENT_STREAM),
    ),
    "DELETE /v2/mcp": Operation(refusals=(400, 404, 409, 501), media=()),
    "GET /openapi.json": Operation(),
}


# Making the description.


METHODS = ("get", "put", "post", "patch", "delete")
GROUP = re.compile(r"\(([^()]*)\)")
SCHEMAS = "#/components/schemas/{model}"
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
    406: "An answer of this kind is not wanted.",
    413: "Too large.",
    501: "A package is missing.",
    503: "Too many clients.",
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


class OpenApiRoute(Route):
    """The OpenAPI 3.1 description of the REST routes."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """All routes, what they take and what they answer."""
        address = url_path_join(self.base_url, "cellwright")
        self.send(await self.answer(lambda _: document(load_all_routes(), address)))


ROUTES: RouteTable = (("/openapi.json", OpenApiRoute),)
