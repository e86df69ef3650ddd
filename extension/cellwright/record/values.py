"""Frozen dataclasses to plain JSON data and back, by their annotations; JSON from outside.

A union of dataclasses is told apart by a ``kind`` or ``role`` field of type ``Literal``. Unknown
keys are ignored, so that a record written by a newer version can still be read.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union

TAG_NAMES = ("kind", "role")
Decoder = Callable[[Any], Any]


def to_dict(value: Any) -> Any:
    """Plain JSON data for a value: dataclasses become dicts, tuples become lists."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_dict(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_dict(item) for key, item in value.items()}
    kind: Any = type(value)
    return {name: to_dict(getattr(value, name)) for name in _field_names(kind)}


def from_dict(cls: Any, data: Any) -> Any:
    """The value of type ``cls`` (a dataclass, or a union of tagged ones) that ``data`` describes.

    Raises:
        ValueError: ``data`` has no or an unknown tag, or lacks a field.
    """
    return _decoder(cls)(data)


@functools.cache
def tag_of(cls: Any) -> str | None:
    """The tag of a dataclass (the value of its ``kind`` or ``role``), or None."""
    hints = typing.get_type_hints(cls)
    for name in TAG_NAMES:
        if typing.get_origin(hints.get(name)) is Literal:
            return str(typing.get_args(hints[name])[0])
    return None


@functools.cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


@functools.cache
def _decoder(annotation: Any) -> Decoder:
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return _dataclass_decoder(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        return _tuple_decoder(arguments[0])
    if origin in (Union, types.UnionType):
        return _union_decoder(arguments)
    if origin is not None and issubclass(dict, _as_class(origin)) and arguments:
        item = _decoder(arguments[1])
        return lambda data: {key: item(value) for key, value in data.items()}
    return lambda data: data


def _as_class(origin: Any) -> type:
    return origin if isinstance(origin, type) else type(origin)


def _tuple_decoder(item_annotation: Any) -> Decoder:
    item = _decoder(item_annotation)
    return lambda data: tuple(item(value) for value in data)


def _union_decoder(members: tuple[Any, ...]) -> Decoder:
    classes = [m for m in members if isinstance(m, type) and dataclasses.is_dataclass(m)]
    if not classes:
        inner = [_decoder(member) for member in members if member is not type(None)]
        return lambda data: None if data is None else inner[0](data)
    if len(classes) == 1 and tag_of(classes[0]) is None:
        only = _decoder(classes[0])
        return lambda data: None if data is None else only(data)
    return functools.partial(_decode_tagged, {tag_of(c): c for c in classes})


def _decode_tagged(by_tag: dict[str | None, Any], data: Any) -> Any:
    if data is None:
        return None
    tag = next((data[name] for name in TAG_NAMES if name in data), None)
    if tag not in by_tag:
        known = ", ".join(sorted(str(name) for name in by_tag))
        raise ValueError(f"unknown kind {tag!r}; known: {known}")
    return _decoder(by_tag[tag])(data)


def _dataclass_decoder(cls: type) -> Decoder:
    # Fields are resolved on first use, so that classes may refer to each other.
    @functools.cache
    def decoders() -> dict[str, Decoder]:
        hints = typing.get_type_hints(cls)
        return {f.name: _decoder(hints[f.name]) for f in dataclasses.fields(cls) if f.init}

    def decode(data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise ValueError(f"{cls.__name__} needs an object, got {data!r}")
        known = {name: item(data[name]) for name, item in decoders().items() if name in data}
        try:
            return cls(**known)
        except TypeError as error:
            raise ValueError(f"{cls.__name__}: {error}") from error

    return decode


# Reads JSON that comes from outside: what could not be stored or sent on again is refused here.
#
# Python reads more than that: numbers that no column holds, NaN, and halves of surrogate pairs,
# which cannot be encoded. They would fail anywhere later, as a fault of ours.


INTEGER_LIMIT = 2**63
"""SQLite's integers, and those of most programs that read our JSON, end here."""
INTEGER_DIGITS = 20
MAY_BE_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Valid UTF-8 has no surrogates, so half of a pair can only come as an escape."""


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is not JSON, not UTF-8, is nested too deeply, or holds a number beyond 64
            bits, NaN, an infinity or a lone surrogate.
    """
    # json.loads decodes bytes itself, surrogates included.
    written = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    try:
        value = json.loads(
            written, parse_int=_integer, parse_float=_finite, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if MAY_BE_HALF.search(written):
        _check_encodable(value)
    return value


NESTING_LIMIT = 500
"""Python reads and writes about twice as many levels, fewer while many functions are called."""


def json_or_none(text: str) -> Any:
    """The value of a text that somebody else wrote as JSON; None where it cannot be used as that.

    Unlike ``read_json`` it takes numbers of any size. What is nested more than 500 deep is not
    taken: it could be read here and then not be written at another place.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    brackets = text.count("[") + text.count("{")
    return value if brackets <= NESTING_LIMIT or _depth(value) <= NESTING_LIMIT else None


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [
        inner
        for each in level
        if isinstance(each, list | dict)
        for inner in (each.values() if isinstance(each, dict) else each)
    ]:
        depth += 1
    return depth


def _integer(digits: str) -> int:
    # The length first: Python refuses thousands of digits, and takes its time for hundreds.
    if len(digits) > INTEGER_DIGITS or not -INTEGER_LIMIT <= int(digits) < INTEGER_LIMIT:
        raise ValueError("it holds a whole number of more than 64 bits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("it holds a number that is too large")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is not JSON")


def _check_encodable(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


# Whatever somebody else made, as JSON that can be kept.


DEPTH_LIMIT = 60
"""JSON nested deeper than this (or a cycle) is cut."""


def safe_text(value: Any) -> str:
    """Text that UTF-8 can hold: halves of surrogate pairs are joined, lone ones replaced."""
    text = value if isinstance(value, str) else str(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def safe_json(value: Any, *, depth: int = 0) -> Any:
    """The value as strict JSON can hold it: NaN is null, bytes are base64, the rest is text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > DEPTH_LIMIT:
        return safe_text(type(value).__name__)
    if isinstance(value, Mapping):
        return {safe_text(key): safe_json(item, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [safe_json(item, depth=depth + 1) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    return _foreign(value, depth)


def _foreign(value: Any, depth: int) -> Any:
    """A scalar of another library (numpy) as its plain value, anything else as text."""
    try:
        plain = value.item() if hasattr(value, "item") else repr(value)
        return safe_json(plain, depth=depth + 1)
    except Exception:
        # Somebody else's code, which may raise anything at all.
        return f"<{type(value).__name__} object>"
