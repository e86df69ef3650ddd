"""What a tool says: typed pieces, each for the model, for the person or for both.

Source: requirements tables 1c and 1d (the component contract).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.messages import ImagePart, Part, TextPart

__all__ = ["ComponentOutput", "Content", "ContentType", "Scope", "for_model", "for_person", "text"]

Scope = Literal["all", "llm", "user"]
ContentType = Literal["text", "code", "image", "json", "files"]
Role = Literal["tool", "user", "assistant"]


@dataclass(frozen=True)
class Content:
    """One typed piece of a tool's output."""

    type: ContentType
    text: Mapping[str, Any]
    """The fields of the type: ``info`` for text, ``code`` for code, ``mime_type``, ``base64`` and
    ``filename`` for image, ``data`` for json."""
    name: str = ""
    visible_scope: Scope = "all"
    """``llm``: only the model reads it. ``user``: it is drawn and never sent."""
    is_error: bool = False


@dataclass(frozen=True)
class ComponentOutput:
    """What a tool yields at once; contents in order."""

    content: tuple[Content, ...]
    role: Role = "tool"
    final: bool = False
    """True when the run is to end with this answer (``submit``)."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def text(info: str, *, scope: Scope = "all", is_error: bool = False) -> ComponentOutput:
    """A single piece of text."""
    return ComponentOutput((Content("text", {"info": info}, "", scope, is_error),))


def for_model(contents: tuple[Content, ...]) -> tuple[Part, ...]:
    """The parts of a tool message: everything whose scope is not ``user``."""
    parts = tuple(_part(content) for content in contents if content.visible_scope != "user")
    return parts or (TextPart("(no output)"),)


def for_person(contents: tuple[Content, ...]) -> str:
    """The text that is drawn for the person: everything whose scope is not ``llm``."""
    shown = [content for content in contents if content.visible_scope != "llm"]
    return "\n".join(_plain(content) for content in shown)


def _part(content: Content) -> Part:
    if content.type == "image":
        fields = content.text
        return ImagePart(fields["mime_type"], fields["base64"], fields.get("filename", ""))
    return TextPart(_plain(content))


def _plain(content: Content) -> str:
    fields = content.text
    if content.type == "json":
        import json

        return json.dumps(fields["data"], ensure_ascii=False)
    for name in ("info", "code", "filename"):
        if name in fields:
            return str(fields[name])
    return ""
