"""What a tool says: typed pieces, each for the model, for the person or for both.

Source: requirements tables 1c and 1d (the component contract).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from cellwright.content_types import CONTENT_TYPES, ContentType, canonical_type, plain
from cellwright.errors import ToolError
from cellwright.messages import ImagePart, Part, TextPart
from cellwright.usage import ModelUsage

__all__ = [
    "ComponentOutput",
    "Content",
    "ContentType",
    "Metrics",
    "Scope",
    "content",
    "for_model",
    "for_person",
    "text",
]

Scope = Literal["all", "llm", "user"]
SCOPES: tuple[Scope, ...] = ("all", "llm", "user")
Role = Literal["tool", "user", "assistant"]
ROLES: tuple[Role, ...] = ("tool", "user", "assistant")


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
    return Content(cast(ContentType, kind), fields, name, shown, raw_data=dict(raw_data or {}))


def text(info: str, *, scope: Scope = "all", is_error: bool = False) -> ComponentOutput:
    """A single piece of text."""
    return ComponentOutput((Content("text", {"info": info}, "", scope, is_error),))


def for_model(contents: tuple[Content, ...]) -> tuple[Part, ...]:
    """The parts of a tool message: everything whose scope is not ``user``."""
    parts = [part for item in contents if item.visible_scope != "user" for part in _parts(item)]
    return tuple(parts) or (TextPart("(no output)"),)


def for_person(contents: tuple[Content, ...]) -> str:
    """The text that is drawn for the person: everything whose scope is not ``llm``."""
    shown = [item for item in contents if item.visible_scope != "llm"]
    return "\n".join(filter(None, (_for_person(item) for item in shown)))


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


def _parts(item: Content) -> tuple[Part, ...]:
    fields = item.text
    if item.type == "image" and fields.get("base64"):
        mime = str(fields.get("mime_type") or "image/png")
        mime = mime if "/" in mime else f"image/{mime}"
        return (ImagePart(mime, fields["base64"], fields.get("filename", "")),)
    words = plain(item.type, fields)
    return (TextPart(words),) if words else ()


def _for_person(item: Content) -> str:
    if item.type in ("code", "thought"):
        return str(item.text.get("code") or item.text.get("info") or "")
    if item.type == "progress":
        return f"{item.text['progress']:.0%} {item.text.get('message', '')}".strip()
    if item.type == "image":
        return str(item.text.get("filename") or "")
    return plain(item.type, item.text)
