"""Frozen dataclasses to plain JSON data and back, by their annotations alone.

A union of dataclasses is told apart by a ``kind`` or ``role`` field of type ``Literal``. Unknown
keys are ignored, so that a record written by a newer version can still be read.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, Union

T = TypeVar("T")
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
