"""Writes what server and page say to each other as an OpenAPI document, from our own types.

``make wire`` makes ``js/wire/openapi.json`` of it, and of that the types and checks of the page.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from cellwright._version import __version__
from cellwright.kernels.going_back import ChangedFiles, KernelSnapshots
from cellwright.record.events import CellEvent, Event, RunStatus
from cellwright.record.messages import Part
from cellwright.record.outputs import OutputMessage, VariableSummary
from cellwright.record.values import tag_of, to_dict
from cellwright.server.assistant_routes import AssistantDetails, AssistantSummaries
from cellwright.server.branch_routes import KeptBranch
from cellwright.server.branching import BranchesBeginning, BranchList
from cellwright.server.chat_context_routes import ChatContext, WantedSummary
from cellwright.server.chat_routes import ChatMessages, NewMessage, WaitingMessage
from cellwright.server.frames import PROTOCOL, ClientFrame, ServerFrame
from cellwright.server.library_routes import LibraryHits, LibraryState
from cellwright.server.memory_routes import MemoryList
from cellwright.server.project_routes import ProjectConsent, ProjectTextRows
from cellwright.server.rest_types import (
    CellFates,
    ChatBranching,
    ChatChange,
    ChatSummary,
    EarlierCells,
    Health,
    MissingCells,
    Models,
    OneVariable,
    ProviderList,
    RecordedRunCell,
    RunThumb,
    ServiceCheck,
    ServiceState,
    ServiceTest,
    UndoneRun,
    WantedService,
)
from cellwright.server.result_routes import (
    LeaderboardPage,
    ResultComparison,
    ResultListing,
    ResultNumbers,
    RunSample,
    SamplePage,
)
from cellwright.server.run_routes import RunPage
from cellwright.server.tool_routes import ToolList
from cellwright.server.uploads import TakenFile
from cellwright.server.usage_routes import UsageTotals, WantedBudgets
from cellwright.server.wire_events import TRIMMED, EventsFrame
from cellwright.session.previewing import Preview
from cellwright.settings import Mode

PREFIX = "#/components/schemas/"
ANSWERS = (
    AssistantDetails,
    AssistantSummaries,
    BranchList,
    ChangedFiles,
    ChatContext,
    ChatMessages,
    ChatSummary,
    EarlierCells,
    Health,
    KernelSnapshots,
    KeptBranch,
    LibraryHits,
    LibraryState,
    MemoryList,
    MissingCells,
    Models,
    OneVariable,
    Preview,
    ProjectTextRows,
    ProviderList,
    LeaderboardPage,
    ResultComparison,
    ResultListing,
    ResultNumbers,
    RecordedRunCell,
    RunPage,
    RunSample,
    SamplePage,
    ServiceCheck,
    ServiceState,
    TakenFile,
    ToolList,
    UsageTotals,
    UndoneRun,
    VariableSummary,
    WaitingMessage,
)
"""Of requests; ``openapi_routes.OPERATIONS`` says of which."""
RECEIVED: Mapping[str, Any] = {
    **{answer.__name__: answer for answer in ANSWERS},
    "RunStatus": RunStatus,
    "Mode": Mode,
    "Part": Part,
    "OutputMessage": OutputMessage,
    "CellEvent": CellEvent,
    "RunEvent": Event,
    "ServerFrame": ServerFrame | EventsFrame,
}
"""What comes to the page and is checked there; of what these are made is named by its class."""
BODIES = (
    BranchesBeginning,
    CellFates,
    ChatBranching,
    ChatChange,
    NewMessage,
    ProjectConsent,
    RunThumb,
    ServiceTest,
    WantedBudgets,
    WantedService,
    WantedSummary,
)
SENT: Mapping[str, Any] = {"ClientFrame": ClientFrame, **{body.__name__: body for body in BODIES}}
"""What the page sends: a field that has a default may be left out."""
FRAME_FIELDS = {"RecordedEvent": ("sequence", "time", "event")}
"""Of a class, what goes over the wire; the frame says the run."""


class _Schemas(GenerateJsonSchema):
    """Schemas that name the default also where a function makes it."""

    def get_default_value(self, schema: Any) -> Any:
        if "default_factory" in schema:
            return to_dict(schema["default_factory"]())
        return super().get_default_value(schema)


def wire_document() -> dict[str, Any]:
    """The document: schemas alone, since the server describes its routes itself."""
    received = _definitions(RECEIVED)
    sent = {
        name: _without_defaults(schema) | {"writeOnly": True}
        for name, schema in _definitions(SENT).items()
        if name not in received
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "cellwright", "version": __version__, "x-protocol": PROTOCOL},
        "paths": {},
        "components": {"schemas": {**received, **sent}},
    }


def _definitions(roots: Mapping[str, Any]) -> dict[str, Any]:
    """The schemas of these types under their names, and of every class in them."""
    for cls in {cls for root in roots.values() for cls in _classes(root, set())}:
        # What stands below a field is its description, as it is for pydantic's own classes.
        setattr(cls, "__pydantic_config__", {"use_attribute_docstrings": True})  # noqa: B010
    adapters: list[Any] = [
        (name, "serialization", TypeAdapter(root)) for name, root in roots.items()
    ]
    made, whole = TypeAdapter.json_schemas(
        adapters, ref_template=PREFIX + "{model}", schema_generator=_Schemas
    )
    kept = {cls.__name__: _fields_on_wire(cls) for cls in _classes(tuple(roots.values()), set())}
    named = {name: made[name, "serialization"] for name in roots}
    schemas = {
        name: _without_titles(_trimmed(schema, kept.get(name)))
        for name, schema in {**named, **whole["$defs"]}.items()
    }
    reachable = _reachable(schemas, roots)
    return {name: schema for name, schema in schemas.items() if name in reachable}


def _classes(annotation: Any, seen: set[type]) -> set[type]:
    """Every dataclass that a type is made of."""
    if dataclasses.is_dataclass(annotation):
        cls = typing.cast("type", annotation)
        if cls not in seen:
            seen.add(cls)
            for hint in typing.get_type_hints(cls).values():
                _classes(hint, seen)
    for part in annotation if isinstance(annotation, tuple) else typing.get_args(annotation):
        _classes(part, seen)
    return seen


def _fields_on_wire(cls: type) -> tuple[str, ...] | None:
    """Of a class that does not go over the wire as a whole, the fields that do."""
    tag = tag_of(cls)
    return ("kind", *TRIMMED[tag]) if tag and tag in TRIMMED else FRAME_FIELDS.get(cls.__name__)


def _trimmed(schema: dict[str, Any], kept: tuple[str, ...] | None) -> dict[str, Any]:
    if kept is None:
        return schema
    fields = {name: schema["properties"][name] for name in kept}
    required = [name for name in schema.get("required", ()) if name in kept]
    return {**schema, "properties": fields, "required": required}


def _without_titles(schema: Any) -> Any:
    """A schema without the titles that pydantic makes of names."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without_titles(field) for name, field in value.items()}
        if key == "properties"
        else _without_titles(value)
        for key, value in schema.items()
        if key != "title"
    }


def _without_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    fields = {
        name: field if "const" in field else {k: v for k, v in field.items() if k != "default"}
        for name, field in schema.get("properties", {}).items()
    }
    return {**schema, "properties": fields} if fields else schema


def _reachable(schemas: Mapping[str, Any], roots: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    waiting = [name for name in roots if name in schemas]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(schemas[name])
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(PREFIX)
        schema = list(schema.values())
    if isinstance(schema, list):
        for item in schema:
            yield from _references(item)


def wire_text() -> str:
    """The document as the file holds it."""
    return json.dumps(wire_document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(wire_text())
