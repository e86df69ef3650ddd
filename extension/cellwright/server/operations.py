"""What each operation of the routes takes and answers, by its method and route.

A route without a row here is described by its address, its words and its refusals alone; the tests
say so. They also hold every row against what its route really takes and answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.record.cells import VariableSummary
from cellwright.server import assistant_types, memory_types
from cellwright.server import rest_types as types
from cellwright.server.chat_context import ChatContext, WantedSummary
from cellwright.server.chat_types import ChatMessages, NewMessage, WaitingMessage
from cellwright.server.component_envelopes import Envelope
from cellwright.server.library_types import LibraryHits, LibraryState, NewPlace
from cellwright.server.tool_types import ToolList
from cellwright.server.uploads import TakenFile
from cellwright.server.usage_types import Usage, WantedBudgets

JSON = "application/json"
EVENTS = "text/event-stream"
FILE = "application/octet-stream"
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
        tuple[types.Check, ...], body=types.ServiceTest, refusals=(400, 409, 413)
    ),
    "GET models": Operation(types.Models, refusals=(400, 409)),
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
    "POST chats/{chat_id}/messages": Operation(
        WaitingMessage, 201, NewMessage, refusals=(400, 404, 409, 413)
    ),
    "PUT chats/{chat_id}/pins/{run_id}": Operation(types.ChatSummary, refusals=(404, 409)),
    "DELETE chats/{chat_id}/pins/{run_id}": Operation(types.ChatSummary, refusals=(404, 409)),
    "DELETE chats/{chat_id}/messages/{message_id}": Operation(types.Nothing, refusals=(404, 409)),
    "PATCH chats/{chat_id}": Operation(
        types.ChatSummary, body=types.ChatChange, refusals=(400, 404, 409, 413)
    ),
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
    "GET usage": Operation(Usage, query=("by",), refusals=(400, 409)),
    "PUT budgets": Operation(Usage, body=WantedBudgets, refusals=(400, 409, 413)),
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
    "GET runs/{run_id}/cells": Operation(tuple[types.RunCell, ...], refusals=(400, 404, 409)),
    "POST runs/{run_id}/fates": Operation(
        types.CellFates, body=types.CellFates, refusals=(400, 404, 409, 413)
    ),
    "GET runs": Operation(
        query=("query", "status", "model", "lane", "sort", "after", "since"), refusals=(400, 409)
    ),
    "GET runs/{run_id}/sample": Operation(refusals=(400, 404, 409)),
    "GET results": _result("folder", "since"),
    "GET results/summary": _result("result"),
    "GET results/samples": _result(
        "result", "status", "outcome", "group", "query", "sort", "start", "count"
    ),
    "GET results/sample": _result("result", "id"),
    "GET results/compare": _result("first", "second", "start", "count"),
    "GET tools": Operation(ToolList, query=("notebook",), refusals=(400, 409)),
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
        media=(JSON, EVENTS),
    ),
    "POST /v2/mcp": Operation(
        query=("notebook", "mode"), refusals=(400, 404, 409, 413), media=(JSON, EVENTS)
    ),
    "DELETE /v2/mcp": Operation(status=204, refusals=(404, 409), media=()),
    "GET /openapi.json": Operation(),
}
