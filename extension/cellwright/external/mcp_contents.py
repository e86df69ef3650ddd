"""What an MCP server says, part by part: none is lost, and each goes to whom it is meant for.

Works on the wire's own JSON, which is the same for every version of the SDK.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from cellwright.errors import SetupError
from cellwright.external import Function, Listing
from cellwright.external.schemas import object_schema, told
from cellwright.record.content import ComponentOutput, Content, ContentType, Scope, capped
from cellwright.record.pictures import picture_in, sendable
from cellwright.text.file_kinds import RASTER_TYPES
from cellwright.tools import ToolContext

AUDIENCES: Mapping[frozenset[str], Scope] = {
    frozenset({"user"}): "user",
    frozenset({"assistant"}): "llm",
}


def listed(tools: Iterable[Mapping[str, Any]]) -> Listing:
    """The functions that a server lists."""
    functions: dict[str, Function] = {}
    problems: list[str] = []
    for tool in tools:
        name = str(tool.get("name") or "")
        if not name or name in functions:
            problems.append(f"the name {name!r} is there twice" if name else "a tool has no name")
            continue
        try:
            schema = object_schema(tool.get("inputSchema") or {})
        except SetupError as error:
            problems.append(f"{name!r}: {error}")
            continue
        hints = tool.get("annotations") or {}
        words = told(tool.get("description") or tool.get("title") or hints.get("title"))
        functions[name] = Function(
            name, words, schema, hints.get("readOnlyHint"), hints.get("destructiveHint")
        )
    return Listing(tuple(functions.values()), tuple(problems))


def called_output(result: Mapping[str, Any], context: ToolContext) -> ComponentOutput:
    """The contents of a tool's result, in their order."""
    contents = [item for part in result.get("content") or () for item in _contents(part)]
    contents = _with_structured(contents, result.get("structuredContent"))
    contents = _within_limits(contents, context)
    if result.get("isError"):
        contents = contents or [_content("text", {"info": "The tool failed without saying why."})]
        contents = [replace(item, is_error=item.type == "text") for item in contents]
        if not any(item.is_error for item in contents):
            contents.append(Content("text", {"info": "The tool failed."}, is_error=True))
    return ComponentOutput(tuple(contents))


def _contents(part: Mapping[str, Any]) -> list[Content]:
    read = READERS.get(str(part.get("type")))
    item = read(part) if read is not None else _content("json", {"data": dict(part)})
    annotations = part.get("annotations") or {}
    audience = frozenset(annotations.get("audience") or ())
    return [replace(item, visible_scope=AUDIENCES.get(audience, "all"))]


def _content(kind: ContentType, fields: Mapping[str, Any]) -> Content:
    return Content(kind, fields)


def _text(part: Mapping[str, Any]) -> Content:
    return _content("text", {"info": str(part.get("text") or "")})


def _image(part: Mapping[str, Any]) -> Content:
    return _picture(str(part.get("data") or ""), str(part.get("mimeType") or ""), "")


def _picture(data: str, mime: str, name: str) -> Content:
    """A picture that can be drawn and sent; anything else is told of as a file."""
    picture = picture_in({mime: data}) if mime in RASTER_TYPES else None
    if picture is None:
        return _file(name or "picture", mime, data)
    fields: dict[str, Any] = {"base64": picture.data, "mime_type": picture.mime}
    if picture.width:
        fields |= {"width": picture.width, "height": picture.height}
    return _content("image", {**fields, "filename": name} if name else fields)


def _audio(part: Mapping[str, Any]) -> Content:
    mime = str(part.get("mimeType") or "audio/wav")
    return _content("audio", {"base64": str(part.get("data") or ""), "mime_type": mime})


def _link(part: Mapping[str, Any]) -> Content:
    uri, name = str(part.get("uri") or ""), str(part.get("title") or part.get("name") or "")
    fields: dict[str, Any] = {"id": uri, "url": uri, "title": name or uri}
    words = [str(part.get("description") or ""), str(part.get("mimeType") or "")]
    if any(words):
        fields["content"] = ", ".join(filter(None, words))
    return _content("references", fields)


def _resource(part: Mapping[str, Any]) -> Content:
    resource = part.get("resource") or {}
    uri, mime = str(resource.get("uri") or ""), str(resource.get("mimeType") or "")
    if "text" in resource:
        return _content("text", {"info": f"[{uri}]\n{resource['text']}"})
    blob = str(resource.get("blob") or "")
    return _picture(blob, mime, uri) if mime in RASTER_TYPES else _file(uri, mime, blob)


def _file(name: str, mime: str, data: str) -> Content:
    size = len(data) * 3 // 4
    fields = {"filename": name or "file", "size_bytes": size, "mime_type": mime}
    return _content("files", fields)


READERS = {
    "text": _text,
    "image": _image,
    "audio": _audio,
    "resource_link": _link,
    "resource": _resource,
}


def _with_structured(contents: list[Content], structured: Any) -> list[Content]:
    """With the structured result, unless a text says the same."""
    if structured is None:
        return contents
    if any(_says(item, structured) for item in contents):
        first, *others = contents
        return [replace(first, raw_data=capped({"structured": structured})), *others]
    return [*contents, _content("json", {"data": structured})]


def _says(item: Content, structured: Any) -> bool:
    if item.type != "text" or item.visible_scope == "user":
        return False
    try:
        said = json.loads(item.text["info"])
    except (ValueError, RecursionError):
        said = item.text["info"]
    # a plain value is wrapped by servers as {"result": value}
    return bool(said == structured or {"result": said} == structured)


def _within_limits(contents: list[Content], context: ToolContext) -> list[Content]:
    """Pictures that are too many or too large for the model are shown and told of in words."""
    made: list[Content] = []
    sent = 0
    for item in contents:
        if item.type != "image" or item.visible_scope == "user" or not context.sees_images:
            made.append(item)
            continue
        sent += 1
        made += _sent(item) if sent <= context.limits.images else _only_shown(item)
    return made


def _sent(item: Content) -> list[Content]:
    """As it is where it is small; else a small copy for the model, the whole for the person."""
    mime = str(item.text["mime_type"])
    picture = picture_in({mime: item.text["base64"]})
    small = sendable(picture) if picture is not None else None
    if small is None:
        return _only_shown(item)
    if small.data == item.text["base64"]:
        return [item]
    copy = replace(item, text={"base64": small.data, "mime_type": small.mime}, visible_scope="llm")
    return [copy] if item.visible_scope == "llm" else [replace(item, visible_scope="user"), copy]


def _only_shown(item: Content) -> list[Content]:
    words = Content("text", {"info": "[a picture more was not sent]"}, visible_scope="llm")
    shown = [] if item.visible_scope == "llm" else [replace(item, visible_scope="user")]
    return [*shown, words]
