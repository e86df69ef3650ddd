"""Any event at all, for tests that hold for every one of them."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

from hypothesis import strategies as st

from cellwright.record.events import Event

__all__ = ["events", "json_values", "values_of"]

texts = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(),
    float: numbers,
    bool: st.booleans(),
    type(None): st.none(),
    Any: json_values,
}


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of an annotated type, made from what the annotation says and nothing else."""
    if annotation in PLAIN:
        return PLAIN[annotation]
    if dataclasses.is_dataclass(annotation):
        return st.deferred(lambda: _dataclass(typing.cast(type, annotation)))
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(member) for member in arguments])
    assert origin is not None
    assert issubclass(origin, Mapping)
    return st.dictionaries(texts, values_of(arguments[1]), max_size=2)


def _dataclass(cls: type) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(cls)
    made = {f.name: values_of(hints[f.name]) for f in dataclasses.fields(cls) if f.init}
    return st.builds(cls, **made)


EVENT_CLASSES: tuple[type, ...] = typing.get_args(Event)
events: st.SearchStrategy[Event] = st.one_of([values_of(cls) for cls in EVENT_CLASSES])
