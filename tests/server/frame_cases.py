"""Frames of every type, from their definitions, with each object named in each of their fields."""

from __future__ import annotations

import copy
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, get_args, get_origin

from cellwright.server.frames import CLIENT_FRAMES, ObjectName

__all__ = ["Case", "cases", "free_fields", "sample_frames"]

Frame = dict[str, Any]
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Case:
    """A frame that names an object in one field."""

    frame: Frame
    field: str
    names_it: bool
    """The field is there to name objects of that kind: the frame must be refused."""


@dataclass(frozen=True)
class _Field:
    path: Path
    mark: ObjectName | None
    words: tuple[str, ...] = ()
    """What it may be; empty: any text."""

    @property
    def name(self) -> str:
        return ".".join(str(step) for step in self.path if step != 0)


def cases(own: Mapping[str, Any], objects: Mapping[str, tuple[str, ...]]) -> Iterator[Case]:
    """Each text of each frame in turn as the name of each object.

    Args:
        own: What the fields say otherwise, by their names: the sender's own objects.
        objects: Names of another person's objects, by kind.
    """
    for base in sample_frames(own):
        found = list(_fields(CLIENT_FRAMES[base["type"]], base))
        for variant in _variants(base, found):
            for each in found:
                for kind, names in objects.items():
                    for name in names if not each.words else ():
                        is_named = each.mark is not None and each.mark.kind == kind
                        yield Case(_with(variant, each.path, name), each.name, is_named)


def sample_frames(own: Mapping[str, Any]) -> Iterator[Frame]:
    """A frame of every type, with a value in each of its fields."""
    for frame_type, frame_class in CLIENT_FRAMES.items():
        yield {**_sample(frame_class, own), "type": frame_type}


def free_fields() -> set[str]:
    """The texts of all frames that are not marked as the name of an object."""
    return {
        f"{frame_type}.{each.name}"
        for frame_type, frame_class in CLIENT_FRAMES.items()
        for each in _fields(frame_class, _sample(frame_class, {}))
        if each.mark is None and not each.words
    }


def _variants(base: Frame, found: list[_Field]) -> Iterator[Frame]:
    """The frame with each word of each field that takes a few; at least as it is."""
    yield base
    for each in found:
        for word in each.words[1:]:
            yield _with(base, each.path, word)


def _sample(cls: type, own: Mapping[str, Any]) -> Frame:
    hints = typing.get_type_hints(cls)
    return {
        each.name: own.get(each.name, _value(hints[each.name], own))
        for each in fields(cls)
        if each.init
    }


def _value(hint: Any, own: Mapping[str, Any]) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return _sample(typing.cast("type", hint), own)
    if origin is tuple:
        return [_value(arguments[0], own)]
    if origin is Literal:
        return arguments[0]
    if origin is not None and type(None) in arguments:
        return _value(arguments[0], own)
    plain: dict[Any, Any] = {str: "x", int: 1, float: 1.0, bool: True}
    return plain.get(hint, {})


def _fields(cls: type, sample: Any, path: Path = ()) -> Iterator[_Field]:
    hints = typing.get_type_hints(cls, include_extras=True)
    for each in fields(cls):
        if each.init:
            yield from _texts(hints[each.name], sample[each.name], (*path, each.name))


def _texts(hint: Any, sample: Any, path: Path) -> Iterator[_Field]:
    marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, ObjectName)]
    bare = hint.__origin__ if marks else hint
    arguments = get_args(bare)
    if get_origin(bare) is Literal:
        yield _Field(path, None, arguments)
    elif is_dataclass(bare):
        yield from _fields(typing.cast("type", bare), sample, path)
    elif get_origin(bare) is tuple:
        yield from _texts(arguments[0], sample[0], (*path, 0))
    elif type(None) in arguments:
        yield from _texts(arguments[0], sample, path)
    elif bare is str:
        yield _Field(path, marks[0] if marks else None)


def _with(frame: Frame, path: Path, value: str) -> Frame:
    changed = copy.deepcopy(frame)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed
