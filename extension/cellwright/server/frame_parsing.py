"""A frame's text as a value, with every complaint at once; and a value as a frame's text."""

from __future__ import annotations

import functools
import json
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, Literal, Union, cast

from cellwright.record.json_input import INTEGER_LIMIT, read_json
from cellwright.record.outputs import safe_json
from cellwright.record.values import to_dict
from cellwright.server.frames import ErrorFrame, ServerFrame
from cellwright.server.tab_frames import CLIENT_FRAMES, ClientFrame

FRAMES_WITH_CELLS = ("reply", "changed")
"""An output may hold half of a character, and integers of 64 bits without a sign."""
SHOWN_CHARACTERS = 60
COMPLAINT_LIMIT = 5


class FrameError(ValueError):
    """A text that is no frame.

    Args:
        code: ``bad_frame`` or ``unknown_frame``.
        message: What is wrong with it.
        data: What could be read of it.
    """

    def __init__(self, code: str, message: str, data: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.code = code
        self._data = data

    @property
    def frame(self) -> ErrorFrame:
        """What the tab is told."""
        return ErrorFrame(
            self.code,
            str(self),
            "Reload the page; its version may differ from the server's.",
            request=self._text("request"),
            chat=self._text("chat"),
        )

    def _text(self, name: str) -> str:
        value = self._data.get(name)
        return value if isinstance(value, str) else ""


def parse_frame(text: str | bytes) -> ClientFrame:
    """The frame that a tab sent.

    Raises:
        FrameError: It is none; the text names all that is wrong with it.
    """
    try:
        data = _read(text)
    except ValueError as error:
        raise FrameError("bad_frame", f"A frame is not JSON: {error}.", {}) from None
    if not isinstance(data, dict):
        raise FrameError("bad_frame", f"A frame is an object, not {_shown(data)}.", {})
    kind = data.get("type")
    frame_class = CLIENT_FRAMES.get(kind) if isinstance(kind, str) else None
    if frame_class is None:
        raise FrameError("unknown_frame", f"There is no frame of type {_shown(kind)}.", data)
    checking = _Checking()
    frame = checking.value(frame_class, data, "")
    if checking.complaints:
        told = "; ".join(checking.complaints[:COMPLAINT_LIMIT])
        raise FrameError("bad_frame", f"A frame of type {kind!r} is wrong: {told}.", data)
    return cast("ClientFrame", frame)


def _read(text: str | bytes) -> Any:
    """The value of a frame's text; what a person's cells hold is mended and not refused.

    Raises:
        ValueError: It is not JSON that can be used.
    """
    try:
        return read_json(text)
    except ValueError:
        with suppress(ValueError, RecursionError):
            data = json.loads(text)
            if isinstance(data, dict) and data.get("type") in FRAMES_WITH_CELLS:
                return safe_json(data)
        raise


def format_frame(frame: ServerFrame) -> str:
    """The text of a frame."""
    return json.dumps(to_dict(frame), separators=(",", ":"))


@dataclass(frozen=True)
class _Shape:
    """A field of a dataclass and what it takes."""

    field: Field[Any]
    annotation: Any

    @property
    def is_required(self) -> bool:
        return self.field.default is MISSING and self.field.default_factory is MISSING


@functools.cache
def _shapes(cls: type) -> tuple[_Shape, ...]:
    hints = typing.get_type_hints(cls)
    return tuple(_Shape(item, hints[item.name]) for item in fields(cls) if item.init)


class _Checking:
    """Makes values of JSON data and collects what does not fit."""

    def __init__(self) -> None:
        self.complaints: list[str] = []

    def value(self, annotation: Any, data: Any, where: str) -> Any:
        """The value; anything at all where it does not fit, which is complained about."""
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if is_dataclass(annotation):
            return self._dataclass(cast("type", annotation), data, where)
        if origin is tuple:
            return self._tuple(arguments[0], data, where)
        if origin in (Union, types.UnionType):
            return None if data is None else self.value(arguments[0], data, where)
        if origin is Literal:
            if data not in arguments or not isinstance(data, str):
                self._complain(where, f"one of {', '.join(arguments)}", data)
            return data
        return self._plain(dict if origin is not None else annotation, data, where)

    def _dataclass(self, cls: type, data: Any, where: str) -> Any:
        if not isinstance(data, dict):
            self._complain(where, "an object", data)
            return None
        found: dict[str, Any] = {}
        for shape in _shapes(cls):
            name = shape.field.name
            path = f"{where}.{name}" if where else name
            if name in data:
                found[name] = self.value(shape.annotation, data[name], path)
            elif shape.is_required:
                self.complaints.append(f"{path!r} is missing")
        return None if self.complaints else cls(**found)

    def _tuple(self, annotation: Any, data: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            self._complain(where, "a list", data)
            return ()
        return tuple(
            self.value(annotation, item, f"{where}[{index}]") for index, item in enumerate(data)
        )

    def _plain(self, wanted: type, data: Any, where: str) -> Any:
        if wanted in (int, float) and type(data) is int and abs(data) >= INTEGER_LIMIT:
            self._complain(where, "a number of 64 bits at most", data)
        elif wanted is float and type(data) is int:
            return float(data)
        elif type(data) is not wanted:
            self._complain(where, WORDS[wanted], data)
        return data

    def _complain(self, where: str, wanted: str, data: Any) -> None:
        self.complaints.append(f"{where!r} must be {wanted}, not {_shown(data)}")


WORDS: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
}


def _shown(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
