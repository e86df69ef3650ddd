"""``Message``: what goes into a component and comes out of it when a person calls it."""

from __future__ import annotations

import base64
import io
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cellwright.kernels.figures import describe_figure
from cellwright.kernels.inspection import describe, kind, own_repr
from cellwright.record.content import ComponentOutput, Content, for_person
from cellwright.record.content import content as checked_content
from cellwright.record.mime_bundles import bundle_text, picture_in
from cellwright.record.values import safe_json, safe_text, to_dict

# Whatever a tool returns or yields, as typed and scoped contents (requirements 000-16, 000-26).
#
# What is drawn is for the person and its summary in words for the model; plain text is for both.


REPR_METHODS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
}
PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")
SCALARS = (bool, int, float)


@dataclass(frozen=True)
class ContentReaders:
    """Who reads what is made."""

    sees_images: bool = False


def as_output(value: Any, audience: ContentReaders | None = None) -> ComponentOutput:
    """The output that a value stands for; the value itself when it is one.

    Source: the MIME bundle rules of requirements table 1d.
    """
    if isinstance(value, ComponentOutput):
        return value
    return ComponentOutput(_contents(value, audience or ContentReaders()))


def bundle(value: Any) -> dict[str, Any]:
    """The MIME bundle that a notebook would show of a value; a method that raises is left out."""
    found: dict[str, Any] = {}
    whole = _called(value, "_repr_mimebundle_", include=None, exclude=None)
    if isinstance(whole, tuple):
        whole = whole[0]
    if isinstance(whole, Mapping):
        found.update(whole)
    for method, mime in REPR_METHODS.items():
        if mime not in found:
            said = _called(value, method)
            said = said[0] if isinstance(said, tuple) else said
            if said is not None:
                found[mime] = _encoded(said)
    if kind(value) == "Figure" and "image/png" not in found:
        found["image/png"] = _figure_png(value)
    return {mime: _encoded(data) for mime, data in found.items() if data is not None}


def _contents(value: Any, audience: ContentReaders) -> tuple[Content, ...]:
    if value is None:
        return ()
    if isinstance(value, (Content, ComponentOutput)):
        return value.content if isinstance(value, ComponentOutput) else (value,)
    if isinstance(value, str):
        return (Content("text", {"info": safe_text(value)}),)
    if isinstance(value, (list, tuple)) and any(_is_rich(item) for item in value):
        return tuple(part for item in value for part in _contents(item, audience))
    if isinstance(value, SCALARS) or _is_json_result(value):
        return (_plain(value),)
    drawn = _drawn(value, audience)
    return drawn or (Content("text", {"info": own_repr(value)}),)


def _plain(value: Any) -> Content:
    if isinstance(value, SCALARS):
        return Content("text", {"info": repr(value)})
    return checked_content("json", {"data": safe_json(value)})


def _is_rich(value: Any) -> bool:
    return isinstance(value, (Content, ComponentOutput)) or bool(kind(value))


def _is_json_result(value: Any) -> bool:
    if not isinstance(value, (dict, list, tuple)):
        return False
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _drawn(value: Any, audience: ContentReaders) -> tuple[Content, ...]:
    """What a rich value shows to the person, and its summary for the model."""
    data = {} if isinstance(value, type) else bundle(value)
    if not data:
        return ()
    words = _words(value, data)
    summary = Content("text", {"info": words}, visible_scope="llm")
    picture = next((mime for mime in PICTURES if isinstance(data.get(mime), str)), None)
    if picture is not None:
        return (_picture(picture, data, audience), summary)
    shown = {"info": safe_text(data.get("text/plain") or words), "mime": safe_json(data)}
    return (Content("text", shown, visible_scope="user"), summary)


def _picture(mime: str, data: Mapping[str, Any], audience: ContentReaders) -> Content:
    fields: dict[str, Any] = {"base64": data[mime], "mime_type": mime}
    found = picture_in(data)
    if found is not None and found.width:
        fields |= {"width": found.width, "height": found.height}
    return Content("image", fields, visible_scope="all" if audience.sees_images else "user")


def _words(value: Any, data: Mapping[str, Any]) -> str:
    found = picture_in(data)
    if kind(value) == "Figure":
        size = f" {found.width}x{found.height}" if found is not None and found.width else ""
        return f"Figure{size}: {describe_figure(value)}".rstrip(": ")
    if kind(value):
        return describe(value)
    return bundle_text({"text/plain": own_repr(value), **data})


def _called(value: Any, method: str, **options: Any) -> Any:
    function = getattr(type(value), method, None)
    if function is None:
        return None
    try:
        return function(value, **options)
    except Exception:
        return None  # of an object that cannot show itself, the rest is shown


def _encoded(data: Any) -> Any:
    return base64.b64encode(data).decode() if isinstance(data, bytes) else data


def _figure_png(figure: Any) -> Any:
    buffer = io.BytesIO()
    try:
        figure.savefig(buffer, format="png", bbox_inches="tight")
    except Exception:
        return None  # a broken figure is told of in words
    return base64.b64encode(buffer.getvalue()).decode()


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

    def model_dump(self) -> dict[str, Any]:
        """``to_dict`` by the name that pydantic has for it."""
        return self.to_dict()

    @classmethod
    def model_validate(cls, data: Mapping[str, Any]) -> Message[Any]:
        """``from_dict`` by the name that pydantic has for it."""
        return cls.from_dict(data)


def _is_json(value: Any) -> bool:
    if value is None or isinstance(value, (str, bool, int, float)):
        return True
    if isinstance(value, (list, tuple)):
        return all(_is_json(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    return False
