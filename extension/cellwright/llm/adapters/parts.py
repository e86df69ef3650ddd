"""Content of a message put together from text and typed parts.

Pictures and other media are values from the start. No text is ever searched for them, so what a
person types stays text whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cellwright.record.messages import ImagePart

Chunk = str | Sequence[dict[str, Any]]
"""Text, or parts in OpenAI's shape."""


def media_of(value: Any) -> list[dict[str, Any]]:
    """The parts a value is, in OpenAI's shape; none for a value that is written as text.

    Ours is ``ImagePart``; dspy's ``Image``, ``Audio`` and their like say it with ``format()``.
    """
    if isinstance(value, ImagePart):
        url = f"data:{value.mime};base64,{value.data}"
        return [{"type": "image_url", "image_url": {"url": url}}]
    if isinstance(value, (list, tuple)):
        found = [media_of(item) for item in value]
        return [part for parts in found for part in parts] if all(found) else []
    if isinstance(value, (str, type)) or not hasattr(
        type(value), "extract_custom_type_from_annotation"
    ):
        return []
    made = value.format()
    return [dict(part) for part in made] if isinstance(made, list) else []


def content_of(chunks: Iterable[Chunk]) -> str | list[dict[str, Any]]:
    """One message's content: a plain string unless there is something else than text in it."""
    content: list[dict[str, Any]] = []
    for chunk in chunks:
        if not isinstance(chunk, str):
            content += chunk
        elif content and content[-1]["type"] == "text":
            content[-1] = {"type": "text", "text": content[-1]["text"] + chunk}
        elif chunk:
            content.append({"type": "text", "text": chunk})
    if all(part["type"] == "text" for part in content):
        return "".join(part["text"] for part in content)
    return content


def paragraphs(blocks: Iterable[Sequence[Chunk]]) -> str | list[dict[str, Any]]:
    """Blocks with an empty line between them, as one message's content."""
    chunks: list[Chunk] = []
    for place, block in enumerate(blocks):
        chunks += ["\n\n", *block] if place else block
    return content_of(chunks)
