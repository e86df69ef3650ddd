"""What a component says by other means than its outputs, as outputs: progress, and its cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.errors import ToolError
from cellwright.record.content import ComponentOutput, Content
from cellwright.record.content_drawing import OUTPUT_MIME
from cellwright.record.outputs import (
    ClearOutput,
    DisplayData,
    DisplayUpdate,
    ErrorOutput,
    ExecuteResult,
    OutputMessage,
    StreamOutput,
    safe_json,
)
from cellwright.record.values import from_dict

PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")


def progress_output(text: str, fraction: float | None) -> ComponentOutput:
    """How far it is: for the person, and no part of the answer."""
    if fraction is None:
        said = Content("text", {"info": text}, "progress", "user")
    else:
        said = Content("progress", {"progress": fraction, "message": text}, "progress", "user")
    return ComponentOutput((said,))


def cell_output(message: OutputMessage) -> ComponentOutput:
    """What the cell of a tool in the kernel shows: for the person; the model has its summary."""
    match message:
        case StreamOutput(name=name, text=text):
            return _for_person(Content("text", {"info": text}, name))
        case ErrorOutput(ename=ename, evalue=evalue):
            return _for_person(Content("text", {"info": f"{ename}: {evalue}"}, is_error=True))
        case DisplayData(data=data) | ExecuteResult(data=data) | DisplayUpdate(data=data):
            return _whole(data) or _for_person(_drawn(data))
        case ClearOutput():
            return ComponentOutput(())


def _for_person(item: Content) -> ComponentOutput:
    return ComponentOutput((Content(item.type, item.text, item.name, "user", item.is_error),))


def _whole(data: Mapping[str, Any]) -> ComponentOutput | None:
    """The person's part of what a component in the kernel made, where the bundle is that."""
    if OUTPUT_MIME not in data:
        return None
    try:
        whole: ComponentOutput = from_dict(ComponentOutput, data[OUTPUT_MIME])
    except (ValueError, ToolError):
        return None  # of a newer version: its text is there all the same
    return ComponentOutput(
        tuple(item for item in whole.content if item.visible_scope != "llm"), whole.role
    )


def _drawn(data: Mapping[str, Any]) -> Content:
    for mime in PICTURES:
        if isinstance(data.get(mime), str):
            return Content("image", {"base64": data[mime], "mime_type": mime})
    words = str(data.get("text/plain", ""))
    return Content("text", {"info": words, "mime": safe_json(dict(data))})
