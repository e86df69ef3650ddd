"""``Message``: what goes into a component and comes out of it when a person calls it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from cellwright.record.content import for_person
from cellwright.record.outputs import safe_json, safe_text
from cellwright.record.values import to_dict
from cellwright.tools.coercion import as_output, bundle

T = TypeVar("T")


class Message(Generic[T]):
    """Anything at all with a name and an id of its own; objects are kept by reference.

    Args:
        content: A dict, a list, text, a table, a figure, None.
        name: What it is called.
        id: Its own; empty: a new one.
        **extra: More fields, kept as they are.
    """

    def __init__(
        self,
        content: T = None,  # type: ignore[assignment]
        name: str = "msg",
        id: str = "",  # noqa: A002 (the contract's name)
        **extra: Any,
    ) -> None:
        self.content = content
        self.name = name
        self.id = id or str(uuid.uuid4())
        self.extra = extra

    @property
    def mtype(self) -> str:
        """Name of the content's type."""
        return type(self.content).__name__

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["extra"][name]
        except KeyError:
            raise AttributeError(f"The message has no field {name!r}.") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.id)

    def __str__(self) -> str:
        return for_person(as_output(self.content).content)

    def __repr__(self) -> str:
        return f"Message(name={self.name!r}, mtype={self.mtype!r}, id={self.id!r})"

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return {"text/plain": str(self), **bundle(self.content)}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; an object that is none becomes its ``repr`` and its MIME bundle."""
        data = {"name": self.name, "id": self.id, "mtype": self.mtype, **safe_json(self.extra)}
        if _is_json(self.content):
            return {**data, "content": to_dict(self.content)}
        shown = {"text/plain": safe_text(repr(self.content)), **bundle(self.content)}
        return {**data, "content": shown["text/plain"], "mime": safe_json(shown)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Message[Any]:
        """The message that ``to_dict`` described; of an object, its text."""
        return cls(**{key: value for key, value in data.items() if key != "mtype"})


def _is_json(value: Any) -> bool:
    if value is None or isinstance(value, (str, bool, int, float)):
        return True
    if isinstance(value, (list, tuple)):
        return all(_is_json(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    return False
