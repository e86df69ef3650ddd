"""The types of content a tool can yield: which fields each has, and how it reads as plain text.

Source: requirements tables 1c and 1d (the component contract).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

ContentType = Literal[
    "text",
    "code",
    "files",
    "urls",
    "oral_text",
    "references",
    "image",
    "chart",
    "audio",
    "json",
    "thought",
    "plan",
    "function_call",
    "progress",
    "browser",
]
ALIASES = {"reasoning_content": "thought", "tought": "thought"}
"""Names that other writers of the format use, a well-known typing error among them."""


@dataclass(frozen=True)
class TypeRule:
    """What a type's ``text`` holds."""

    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    """At least one of these has to be there."""
    optional: tuple[str, ...] = ()
    shorthand: str = ""
    """The field that a plain string stands for."""
    joined: str = ""
    """The field whose text is put together when a stream is merged; empty: each stays."""
    identity: tuple[str, ...] = ()
    """Fields that tell two elements apart; the first one that is there counts."""


CONTENT_TYPES: Mapping[str, TypeRule] = {
    "text": TypeRule(("info",), shorthand="info", joined="info"),
    "code": TypeRule(("code",), optional=("language",), shorthand="code", joined="code"),
    "files": TypeRule(
        ("filename",),
        optional=("url", "file_id", "size_bytes", "mime_type"),
        identity=("file_id", "url"),
    ),
    "urls": TypeRule(("url",), optional=("title",), shorthand="url", identity=("url",)),
    "oral_text": TypeRule(("info",), shorthand="info", joined="info"),
    "references": TypeRule(
        one_of=("doc_id", "id", "url", "title", "content"),
        optional=("type", "source", "extra", "web_anchor", "icon", "date", "image", "video"),
        identity=("doc_id", "id", "url"),
    ),
    "image": TypeRule(
        one_of=("base64", "url", "file_id"),
        optional=("filename", "mime_type", "width", "height"),
        identity=("file_id", "url", "base64"),
    ),
    "chart": TypeRule(("type", "data"), optional=("filename",)),
    "audio": TypeRule(
        one_of=("base64", "url", "file_id"),
        optional=("filename", "mime_type", "transcript"),
        identity=("file_id", "url", "base64"),
    ),
    "json": TypeRule(("data",), optional=("unknown_type",), shorthand="data"),
    "thought": TypeRule(("info",), shorthand="info", joined="info"),
    "plan": TypeRule(one_of=("goal", "thought", "tasks", "detail", "steps")),
    "function_call": TypeRule(("name", "arguments"), optional=("thought",)),
    "progress": TypeRule(("progress",), optional=("step", "next_step_name", "message")),
    "browser": TypeRule(one_of=("query", "result", "screenshot", "action", "thought")),
}
assert set(CONTENT_TYPES) == set(get_args(ContentType))


def canonical_type(name: str) -> str:
    """The name we use for a type; empty for one that is not known."""
    known = ALIASES.get(name, name)
    return known if known in CONTENT_TYPES else ""


def content_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one content."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "oneOf": [_type_schema(name, rule) for name, rule in CONTENT_TYPES.items()],
    }


def _type_schema(name: str, rule: TypeRule) -> dict[str, Any]:
    fields = (*rule.required, *rule.one_of, *rule.optional)
    text: dict[str, Any] = {"type": "object", "properties": {field: {} for field in fields}}
    if rule.required:
        text["required"] = list(rule.required)
    if rule.one_of:
        text["anyOf"] = [{"required": [field]} for field in rule.one_of]
    if name == "progress":
        text["properties"]["progress"] = {"type": "number", "minimum": 0, "maximum": 1}
    properties = {
        "type": {"const": name},
        "text": text,
        "name": {"type": "string"},
        "visible_scope": {"enum": ["all", "llm", "user"]},
    }
    return {"type": "object", "properties": properties, "required": ["type", "text"]}


def plain(kind: str, fields: Mapping[str, Any]) -> str:
    """What a model, or a person without pictures, reads of a content; empty: nothing."""
    words = WORDS.get(kind)
    return words(fields) if words is not None else _as_json(fields)


def _info(fields: Mapping[str, Any]) -> str:
    return str(fields["info"])


def _code(fields: Mapping[str, Any]) -> str:
    fence = "```" if "```" not in str(fields["code"]) else "~~~~"
    return f"{fence}{fields.get('language', '')}\n{fields['code']}\n{fence}"


def _file(fields: Mapping[str, Any]) -> str:
    known = [fields.get("size_bytes"), fields.get("mime_type")]
    size = [f"{known[0]:,} bytes"] if isinstance(known[0], int) else []
    details = ", ".join([*size, *([str(known[1])] if known[1] else [])])
    return f"{fields['filename']} ({details})" if details else str(fields["filename"])


def _url(fields: Mapping[str, Any]) -> str:
    title = fields.get("title")
    return f"{title}: {fields['url']}" if title else str(fields["url"])


def _reference(fields: Mapping[str, Any]) -> str:
    name = fields.get("id") or fields.get("doc_id") or fields.get("url") or ""
    words = ": ".join(str(fields[key]) for key in ("title", "content") if fields.get(key))
    # a source of the library says its number itself
    return f"[{name}] {words}".strip() if name and not words.startswith(f"[{name}]") else words


def _image(fields: Mapping[str, Any]) -> str:
    size = f" {fields['width']}x{fields['height']}" if _has_size(fields) else ""
    name = f" {fields['filename']}" if fields.get("filename") else ""
    return f"Image{name}{size} shown to the user"


def _has_size(fields: Mapping[str, Any]) -> bool:
    return bool(fields.get("width") and fields.get("height"))


def _chart(fields: Mapping[str, Any]) -> str:
    data = fields["data"] if isinstance(fields["data"], str) else _as_json(fields["data"])
    return f"Chart ({fields['type']}): {data[:CHART_CHARACTERS]}"


def _audio(fields: Mapping[str, Any]) -> str:
    name = f" {fields['filename']}" if fields.get("filename") else ""
    return str(fields.get("transcript") or f"Audio{name} shown to the user")


def _json_data(fields: Mapping[str, Any]) -> str:
    return _as_json(fields["data"])


def _nothing(_fields: Mapping[str, Any]) -> str:
    return ""


def _call(fields: Mapping[str, Any]) -> str:
    return f"{fields['name']}({_as_json(fields['arguments'])})"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


CHART_CHARACTERS = 600
WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "text": _info,
    "code": _code,
    "files": _file,
    "urls": _url,
    "oral_text": _info,
    "references": _reference,
    "image": _image,
    "chart": _chart,
    "audio": _audio,
    "json": _json_data,
    "thought": _nothing,
    "function_call": _call,
    "progress": _nothing,
}
