"""A record cut to a size that a page can take; what is left out is said where it was."""

from __future__ import annotations

from typing import Any

WHOLE_CHARACTERS = 6_000_000
TEXT_CHARACTERS = 200_000
PICTURE_CHARACTERS = 2_000_000
SHORTEST_CUT = 200
"""What is shorter stays, also when there is no room left."""


def trimmed(document: Any) -> Any:
    """Plain JSON data of at most a few megabytes."""
    return _Trimmer(WHOLE_CHARACTERS).value(document)


class _Trimmer:
    """Takes from the start of a document what there is room for."""

    def __init__(self, room: int) -> None:
        self._room = room

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return self._object(value)
        return value

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        kept, left_out = {}, 0
        for key, item in value.items():
            if isinstance(item, str) and (key.startswith("image/") or key == "application/pdf"):
                if len(item) > min(PICTURE_CHARACTERS, self._room):
                    left_out += len(item)
                    continue
                self._room -= len(item)
                kept[key] = item
            else:
                kept[key] = self.value(item)
        if left_out:
            kept["text/plain"] = f"(a picture of {left_out // 1_333:,} kB is left out here)"
        return kept

    def _text(self, text: str) -> str:
        is_picture = text.startswith("data:")
        limit = min(PICTURE_CHARACTERS if is_picture else TEXT_CHARACTERS, self._room)
        if len(text) <= max(limit, SHORTEST_CUT):
            self._room = max(0, self._room - len(text))
            return text
        if is_picture:
            return ""
        limit = max(limit, SHORTEST_CUT)
        self._room = max(0, self._room - limit)
        return f"{text[:limit]}\n… ({len(text) - limit:,} more characters are left out here)"
