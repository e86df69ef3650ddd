"""What a tool says: typed pieces, each for the model, for the person or for both.

Source: requirements tables 1c and 1d (the component contract).
"""

from __future__ import annotations

import hashlib
import html
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from cellwright.errors import ToolError
from cellwright.record.content_drawing import (
    CONTEXT_MIME,
    OUTPUT_MIME,
    drawn_contents,
    person_text,
)
from cellwright.record.content_types import CONTENT_TYPES, ContentType, canonical_type, plain
from cellwright.record.messages import ImagePart, Part, TextPart
from cellwright.record.usage import ModelUsage
from cellwright.record.values import to_dict
from cellwright.text.safe_markdown import fenced

Scope = Literal["all", "llm", "user"]
SCOPES: tuple[Scope, ...] = ("all", "llm", "user")
Role = Literal["tool", "user", "assistant"]
ROLES: tuple[Role, ...] = ("tool", "user", "assistant")
RAW_CHARACTERS = 20_000
METRIC_NAMES = {
    "begin": ("begin", "begin_timestamp", "begin_time"),
    "end": ("end", "end_timestamp", "end_time"),
    "duration_seconds": ("duration_seconds", "duration", "total_time", "total_time(s)"),
    "first_output_seconds": ("first_output_seconds", "first_token_time", "first_token_time(s)"),
    "memory_delta_megabytes": ("memory_delta_megabytes", "memory_used", "memory_used(MB)"),
    "kernel_cpu_seconds": ("kernel_cpu_seconds",),
}
"""The names that writers of the format use for a measure."""


@dataclass(frozen=True)
class Metrics:
    """What producing something took."""

    begin: float = 0.0
    """Seconds since the epoch."""
    end: float = 0.0
    duration_seconds: float = 0.0
    """By a clock that nobody sets."""
    first_output_seconds: float | None = None
    memory_delta_megabytes: float | None = None
    kernel_cpu_seconds: float | None = None


@dataclass(frozen=True)
class Content:
    """One typed piece of a tool's output.

    ``content`` makes one from what a tool's author wrote and says what is wrong with it.
    """

    type: ContentType
    text: Mapping[str, Any]
    """The fields of the type, such as ``info`` for text; see ``content_types``."""
    name: str = ""
    """Tells apart what a tool streams at the same time."""
    visible_scope: Scope = "all"
    """``llm``: only the model reads it. ``user``: it is drawn and never sent."""
    is_error: bool = False
    raw_data: Mapping[str, Any] = field(default_factory=dict)
    """What the tool got from elsewhere; recorded, neither sent nor drawn."""
    usage: tuple[ModelUsage, ...] = ()
    """Tokens that producing it took."""
    metrics: Metrics | None = None

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return ComponentOutput((self,))._repr_mimebundle_()


@dataclass(frozen=True)
class ComponentOutput:
    """What a tool yields at once; contents in order."""

    content: tuple[Content, ...]
    role: Role = "tool"
    final: bool = False
    """True when the run is to end with this answer (``submit``)."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    usage: tuple[ModelUsage, ...] = ()
    """Tokens of all contents together, once it was merged."""
    metrics: Metrics | None = None

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ToolError(f"The role is {self.role!r}.", hint=f"Use one of {', '.join(ROLES)}.")

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """What a cell shows of it: the person's part drawn, the model's part beside it."""
        shown = [item for item in self.content if item.visible_scope != "llm"]
        read = [part.text for part in for_model(self.content) if isinstance(part, TextPart)]
        bundle = {
            "text/plain": for_person(self.content),
            CONTEXT_MIME: "\n".join(read),
            OUTPUT_MIME: to_dict(replace(self, content=tuple(map(_without_copies, self.content)))),
        }
        if any("mime" in item.text or item.text.get("base64") for item in shown):
            return {**bundle, "text/html": "\n".join(map(_html, shown))}
        drawn = list(drawn_contents(shown))
        if len(drawn) == 1 and drawn[0].rich:
            return {**bundle, **drawn[0].rich}
        words = [piece.markdown or fenced(piece.plain) for piece in drawn]
        return {**bundle, "text/markdown": "\n\n".join(words)} if words else bundle


def content(
    type: str,  # noqa: A002 (the contract's name)
    text: object,
    *,
    name: str = "",
    scope: str = "all",
    raw_data: Mapping[str, Any] | None = None,
) -> Content:
    """A content, checked.

    A type that is not known is kept as ``json``, so that a newer writer's output is not lost.

    Args:
        type: One of ``ContentType``, or ``reasoning_content`` for ``thought``.
        text: The type's fields; a plain string stands for the main one where the type has it.
        name: Tells apart what is streamed at the same time.
        scope: ``all``, ``llm`` or ``user``; empty: all.
        raw_data: Recorded, neither sent nor drawn.

    Raises:
        ToolError: Fields are missing or wrong (all of them are named), or the scope is.
    """
    kind = canonical_type(type)
    if not kind:
        warnings.warn(f"The content type {type!r} is not known; kept as json.", stacklevel=2)
        kind, text = "json", {"data": text, "unknown_type": type}
    if scope not in ("", *SCOPES):
        raise ToolError(f"The scope is {scope!r}.", hint=f"Use one of {', '.join(SCOPES)}.")
    fields = _fields(kind, text)
    complaints = _complaints(kind, fields)
    if complaints:
        raise ToolError(f"The content of type {kind!r} {'; '.join(complaints)}.")
    shown = cast(Scope, scope or "all")
    return Content(cast(ContentType, kind), fields, name, shown, raw_data=capped(raw_data or {}))


def text(info: str, *, scope: Scope = "all", is_error: bool = False) -> ComponentOutput:
    """A single piece of text."""
    return ComponentOutput((Content("text", {"info": info}, "", scope, is_error),))


def for_model(contents: tuple[Content, ...], *, sees_images: bool = True) -> tuple[Part, ...]:
    """The parts of a tool message: everything whose scope is not ``user``.

    Args:
        contents: What the tool said.
        sees_images: False: pictures are told of in words.
    """
    meant = [item for item in contents if item.visible_scope != "user"]
    parts = [part for item in meant for part in _parts(item, sees_images)]
    return tuple(parts) or (TextPart("(no output)"),)


def metrics_of(given: Metrics | Mapping[str, Any] | None) -> Metrics | None:
    """Metrics as tools write them, in any of their three shapes (X-04).

    Raises:
        ToolError: A measure is no number.
    """
    if given is None or isinstance(given, Metrics):
        return given
    found: dict[str, float] = {}
    for field_name, names in METRIC_NAMES.items():
        value = next((given[name] for name in names if given.get(name) is not None), None)
        if value is None:
            continue
        try:
            found[field_name] = float(value)
        except (TypeError, ValueError):
            message = f"The metric {field_name!r} is {value!r}, which is no number."
            raise ToolError(message) from None
    if not found:
        return None
    if "end" not in found and "begin" in found and "duration_seconds" in found:
        found["end"] = found["begin"] + found["duration_seconds"]
    if "duration_seconds" not in found and "end" in found:
        found["duration_seconds"] = max(0.0, found["end"] - found.get("begin", found["end"]))
    return Metrics(**found)


def capped(raw_data: Mapping[str, Any]) -> dict[str, Any]:
    """Raw data that can be recorded: JSON, and of what is too long the beginning and a hash."""
    text = json.dumps(dict(raw_data), ensure_ascii=False, default=str, skipkeys=True)
    if len(text) <= RAW_CHARACTERS:
        return cast(dict[str, Any], json.loads(text))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"sha256": digest, "characters": len(text), "beginning": text[:1_000]}


def for_person(contents: tuple[Content, ...]) -> str:
    """The text that is drawn for the person: everything whose scope is not ``llm``."""
    shown = [item for item in contents if item.visible_scope != "llm"]
    return "\n".join(filter(None, (person_text(item.type, item.text) for item in shown)))


def _fields(kind: str, text: object) -> Mapping[str, Any]:
    shorthand = CONTENT_TYPES[kind].shorthand
    if isinstance(text, Mapping):
        if kind == "json" and "data" not in text:
            return {"data": dict(text)}
        return dict(text)
    if shorthand and (isinstance(text, str) or kind == "json"):
        return {shorthand: text}
    return {}


def _complaints(kind: str, fields: Mapping[str, Any]) -> list[str]:
    rule = CONTENT_TYPES[kind]
    found = [f"has no {name!r}" for name in rule.required if name not in fields]
    if rule.one_of and not any(name in fields for name in rule.one_of):
        found.append(f"has none of {', '.join(map(repr, rule.one_of))}")
    share = fields.get("progress") if kind == "progress" else None
    if share is not None and not (isinstance(share, (int, float)) and 0 <= share <= 1):
        found.append(f"has progress {share!r}, which is not between 0 and 1")
    return found


def _parts(item: Content, sees_images: bool) -> tuple[Part, ...]:
    fields = item.text
    if item.type == "image" and fields.get("base64") and sees_images:
        return (ImagePart(_picture_mime(fields), fields["base64"], fields.get("filename", "")),)
    words = plain(item.type, fields)
    return (TextPart(words),) if words else ()


def _without_copies(item: Content) -> Content:
    """A content as a notebook keeps it: without raw data, and what is drawn only once."""
    if item.visible_scope != "user":
        return replace(item, raw_data={})
    told = {name: value for name, value in item.text.items() if name not in ("base64", "mime")}
    return replace(item, raw_data={}, text=told)


def _picture_mime(fields: Mapping[str, Any]) -> str:
    mime = str(fields.get("mime_type") or "image/png")
    return mime if "/" in mime else f"image/{mime}"


def _html(item: Content) -> str:
    drawn = item.text.get("mime", {}).get("text/html")
    if drawn:
        return str(drawn)
    words = html.escape(person_text(item.type, item.text))
    if item.type == "image" and item.text.get("base64"):
        source = f"data:{_picture_mime(item.text)};base64,{item.text['base64']}"
        return f'<img src="{html.escape(source)}" alt="{words}">'
    return f"<pre>{words}</pre>"
