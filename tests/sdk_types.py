"""Holds JSON against the types of an SDK, which are generated from the published description.

    problems(body, MessageCreateParamsStreaming)        # [] or where what is wrong

A ``TypedDict`` has to have what it requires and nothing that it does not know; pydantic would take
unknown keys and look at ``Iterable`` fields only when somebody reads them.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, Union

import typing_extensions
from typing_extensions import is_typeddict

__all__ = ["problems"]

PLAIN: Mapping[Any, Any] = {
    str: str, int: int, float: (int, float), bool: bool, type(None): type(None),
}  # fmt: skip
WRAPPERS = (Annotated, Required, NotRequired)
SEQUENCES = (list, collections.abc.Iterable, collections.abc.Sequence)


def problems(value: Any, annotation: Any, where: str = "body") -> list[str]:
    """What of a JSON value does not fit a type."""
    return list(_problems(value, annotation, where))


def _problems(value: Any, annotation: Any, where: str) -> Iterator[str]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in WRAPPERS:
        yield from _problems(value, arguments[0], where)
    elif origin in (Union, types.UnionType):
        yield from _of_union(value, arguments, where)
    elif is_typeddict(annotation):
        yield from _of_typed_dict(value, annotation, where)
    elif origin in SEQUENCES and isinstance(value, list):
        for place, item in enumerate(value):
            yield from _problems(item, arguments[0], f"{where}[{place}]")
    elif not _fits(value, annotation):
        yield f"{where}: {value!r} is no {annotation}"


def _fits(value: Any, annotation: Any) -> bool:
    """Whether a value is of a type that holds no others."""
    origin = typing.get_origin(annotation)
    if origin is Literal:
        return value in typing.get_args(annotation)
    if origin is dict:
        return isinstance(value, Mapping)
    if isinstance(value, bool):
        return annotation is bool
    return annotation is object or (annotation in PLAIN and isinstance(value, PLAIN[annotation]))


def _of_union(value: Any, members: tuple[Any, ...], where: str) -> Iterator[str]:
    found = [problems(value, member, where) for member in members]
    if all(found):
        # The member that fits best says most.
        yield from min(found, key=len)


def _of_typed_dict(value: Any, annotation: Any, where: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{where}: {value!r} is no object"
        return
    hints = typing_extensions.get_type_hints(annotation, include_extras=True)
    # The class itself knows too little: its annotations are text.
    required = {name for name, hint in hints.items() if typing.get_origin(hint) is Required}
    for name in (required | annotation.__required_keys__) - set(value):
        yield f"{where}: {name!r} is missing"
    for name, item in value.items():
        if name not in hints:
            yield f"{where}: {name!r} is not known"
        else:
            yield from _problems(item, hints[name], f"{where}.{name}")
