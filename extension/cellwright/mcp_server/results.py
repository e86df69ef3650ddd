"""What came of a call, in the protocol's words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cellwright.record.messages import ImagePart, Part, ToolMessage


def call_result(message: ToolMessage, notices: Iterable[str] = ()) -> dict[str, Any]:
    """The result of a call: what a model of ours would be given, pictures as pictures.

    Args:
        message: Of the call.
        notices: What else the client should know, such as a file that was not saved.
    """
    content = [_content(part) for part in message.parts]
    content += [{"type": "text", "text": notice} for notice in notices if notice]
    return {"content": content or [{"type": "text", "text": "Done."}], "isError": message.is_error}


def _content(part: Part) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"type": "image", "data": part.data, "mimeType": part.mime}
    return {"type": "text", "text": part.text}
