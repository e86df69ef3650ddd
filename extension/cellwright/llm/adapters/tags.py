"""Values between tags, and values within values as tags within tags.

<order><number>7</number><labels><item>new</item></labels></order>

All are found by their tags alone: no XML parser, which refuses program text.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cellwright.llm.adapters.field_values import (
    BadValueError,
    Unions,
    is_code,
    is_live,
    plain_value,
    read_value,
    validated,
)
from cellwright.llm.adapters.sections import in_fence

CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
ATTRIBUTES = r"""(?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*"""
ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
ENTITY = re.compile("|".join(ENTITIES))
LOOSE = re.compile(r"<|&(?!(?:lt|gt|quot|apos|amp);)")
"""Text with one of these was not escaped by whoever wrote it."""


def write_tag(name: str, value: str) -> str:
    """A value between its tags."""
    return f"<{name}>\n{cdata(value)}\n</{name}>"


def cdata(value: str, *, always: bool = False) -> str:
    """The value as it may stand between tags: in a CDATA section if it holds ``<`` or ``&``."""
    if not always and "<" not in value and "&" not in value:
        return value
    # The end mark cannot stand inside, so it is divided between two sections.
    return f"<![CDATA[{value.replace(']]>', ']]]]><![CDATA[>')}]]>"


def escape(value: str) -> str:
    """Text as it may stand between tags, with entities for ``<`` and ``&``."""
    return value.replace("&", "&amp;").replace("<", "&lt;")


def unescape(value: str) -> str:
    """Text whose entities are what they stand for."""
    return ENTITY.sub(lambda match: ENTITIES[match[0]], value)


@dataclass(frozen=True)
class Element:
    """A pair of tags and what stands between them."""

    tag: str
    attribute: str
    body: str
    start: int
    end: int


def elements(
    text: str, names: Collection[str], nested: Collection[str] | None = None
) -> list[Element]:
    """The elements in order; what looks like one inside another is part of that one's body.

    Args:
        text: What a model wrote.
        names: The tags that count.
        nested: Those of them that hold tags, each closed by its own end tag, whatever is within it.
            With it, ``<name />`` is an element, too.
    """
    empty = "(/?)" if nested is not None else "()"
    opening = re.compile(f'<({_any(names)})(?:\\s+\\w+="([^"\\n]*)")?\\s*{empty}>')
    found: list[Element] = []
    start = opening.search(text)
    while start is not None:
        tag, place = start[1], start.end()
        if start[3]:
            found.append(Element(tag, start[2] or "", "", start.start(), place))
        elif tag in (nested or ()):
            closing = find_end_tag(text, place, tag)
            if closing is not None:
                body = text[place : closing.start()]
                place = closing.end()
                found.append(Element(tag, start[2] or "", body, start.start(), place))
        elif (end := _end(text, place, f"</{tag}>", names)) >= 0:
            body = text[place:end]
            place = end + len(tag) + 3
            found.append(Element(tag, start[2] or "", body, start.start(), place))
        start = opening.search(text, place)
    return found


def read_body(body: str, *, raw: bool = False) -> str:
    """The value that stands between tags.

    Args:
        body: What stands there.
        raw: Program text: entities in it are part of it.
    """
    value = body.removeprefix("\r").removeprefix("\n").removesuffix("\n")
    stripped = value.strip()
    if stripped.startswith("<![CDATA[") and stripped.endswith("]]>"):
        pieces = CDATA.findall(stripped)
        if "".join(f"<![CDATA[{piece}]]>" for piece in pieces) == stripped:
            return "".join(pieces)
    return value if raw or LOOSE.search(value) else unescape(value)


def find_end_tag(text: str, start: int, tag: str) -> re.Match[str] | None:
    """The end tag of an element that holds tags, some of its own name perhaps.

    Args:
        text: What a model wrote.
        start: Where the element's body begins.
        tag: Its name.
    """
    name = re.escape(tag)
    marks = re.compile(rf"{CDATA.pattern}|<{name}{ATTRIBUTES}\s*/?>|</{name}\s*>", re.DOTALL)
    depth = 1
    for mark in marks.finditer(text, start):
        if mark[0].startswith("</"):
            depth -= 1
        elif not mark[0].startswith("<!") and not mark[0].endswith("/>"):
            depth += 1
        if not depth:
            return mark
    return None


def _end(text: str, start: int, closing: str, names: Collection[str]) -> int:
    """Where the element ends: at the first end tag that is neither in CDATA nor inside a line.

    Program text may hold the end tag in a string. So one that stands at the start of a line, or
    before another element or the end, goes before one that does not.
    """
    places = []
    skipped = [match.span() for match in CDATA.finditer(text, start)]
    place = text.find(closing, start)
    while place >= 0:
        if not any(first <= place < last for first, last in skipped):
            places.append(place)
        place = text.find(closing, place + 1)
    after = re.compile(f"\\s*(?:$|<(?:{_any(names)})[\\s>])")
    good = [p for p in places if after.match(text, p + len(closing))]
    return (good or places or [-1])[0]


def _any(names: Collection[str]) -> str:
    return "|".join(map(re.escape, names)) or "(?!)"


# Values within values: the fields of a model, the items of a list, the entries of a dictionary.
#
# A type says which parts its values have. What it does not say (``Any``) is read as what it looks
# like: JSON where it is JSON, else text. JSON between the tags is read in place of tags, too.


ITEM, ENTRY = "item", "entry"
OPENING = re.compile(rf"\s*<(?P<tag>[^\W\d][\w.:-]*)(?P<attributes>{ATTRIBUTES})\s*(?P<closed>/?)>")
KEY = re.compile(r"""\skey\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def has_parts(annotation: Any) -> bool:
    """Whether values are written as tags within tags."""
    return any(
        _item_type(kind) is not None or _entry_type(kind) is not None or _fields_of(kind)
        for kind in _kinds(annotation)
    )


def write_value(name: str, value: Any, annotation: Any) -> str:
    """A value with its parts between its tags."""
    return _write(name, json.loads(json.dumps(value, default=plain_value)), annotation)


def write_structure(head: str, annotation: Any, seen: frozenset[Any] = frozenset()) -> str:
    """The tags of a value, with dots for what is to stand in them.

    Args:
        head: What stands in the first tag.
        annotation: The type.
        seen: The types that this one is part of; one that is part of itself is not repeated.
    """
    kind = next((kind for kind in _kinds(annotation) if has_parts(kind)), None)
    if kind is None or kind in seen:
        return _between(head, "...")
    within = seen | {kind}
    if (item := _item_type(kind)) is not None:
        return _between(head, write_structure(ITEM, item, within))
    if (entry := _entry_type(kind)) is not None:
        return _between(head, write_structure(_entry_head("NAME"), entry, within))
    parts = _fields_of(kind).items()
    return _between(head, "".join(write_structure(name, part, within) for name, part in parts))


def read_element(element: Element, name: str, annotation: Any) -> Any:
    """The value of an element that may hold tags.

    Raises:
        BadValueError: It does not fit, or its tags are not whole.
    """
    try:
        return validated(_read([element], name, annotation), name, annotation)
    except RecursionError:
        raise BadValueError(f"{name!r} is nested too deeply") from None


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The types that a value may have; one of them, unless it is a union."""
    if typing.get_origin(annotation) is Annotated:
        return _kinds(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in Unions:
        return tuple(kind for each in typing.get_args(annotation) for kind in _kinds(each))
    return (annotation,)


def _item_type(kind: Any) -> Any:
    """The type of a list's items; None for another type and for items with a form of their own."""
    if (typing.get_origin(kind) or kind) not in (list, set, frozenset):
        return None
    item = (*typing.get_args(kind), Any)[0]
    return None if is_code(item) or is_live(item) or _is_dspys(item) else item


def _entry_type(kind: Any) -> Any:
    """The type of a dictionary's values; None for another type."""
    if (typing.get_origin(kind) or kind) is not dict:
        return None
    return (*typing.get_args(kind), Any, Any)[1]


def _fields_of(kind: Any) -> Mapping[str, Any]:
    """The types of the fields of a pydantic model or a typed dictionary, by name; else empty."""
    is_list_by_another_name = getattr(kind, "__pydantic_root_model__", False)
    if not isinstance(kind, type) or _is_dspys(kind) or is_list_by_another_name:
        return {}
    fields = getattr(kind, "model_fields", None)
    if isinstance(fields, Mapping):
        return {name: info.annotation for name, info in fields.items()}
    return typing.get_type_hints(kind) if hasattr(kind, "__total__") else {}


def _is_dspys(kind: Any) -> bool:
    """Whether it is one of dspy's own types: they are described, and written, as JSON."""
    is_theirs = str(getattr(kind, "__module__", "")).startswith("dspy.")
    return is_theirs or hasattr(kind, "extract_custom_type_from_annotation")


def _between(head: str, body: str) -> str:
    return f"<{head}>{body}</{head.partition(' ')[0]}>" if body else f"<{head} />"


def _entry_head(key: str) -> str:
    return f'{ENTRY} key="{escape(key).replace(chr(34), "&quot;")}"'


def _write(head: str, value: Any, annotation: Any) -> str:
    """What JSON knows, as a model is to write it."""
    kinds = _kinds(annotation)
    if value is None and type(None) in kinds:
        return f"<{head} />"
    kind = _kind_of(value, kinds)
    parts: Iterable[str] | None = None
    if isinstance(value, list) and (item := _item_type(kind)) is not None:
        parts = [_write(ITEM, each, item) for each in value]
    elif isinstance(value, dict) and (entry := _entry_type(kind)) is not None:
        parts = [_write(_entry_head(key), each, entry) for key, each in value.items()]
    elif isinstance(value, dict) and (fields := _fields_of(kind)):
        parts = [_write(key, each, fields.get(key, Any)) for key, each in value.items()]
    # With nothing between the tags it could be any of several types.
    if parts is None or (not value and len(kinds) > 1):
        return _between(head, _leaf(value, kind, annotation))
    return _between(head, "".join(parts))


def _kind_of(value: Any, kinds: Sequence[Any]) -> Any:
    """Which of the types a value has."""
    candidates = [kind for kind in kinds if kind is not type(None)] or [Any]
    for kind in candidates[:-1]:
        try:
            validated(value, "", kind)
        except BadValueError:
            continue
        return kind
    return candidates[-1]


def _leaf(value: Any, kind: Any, annotation: Any) -> str:
    """A value without parts; a text that would be read as something else stands as JSON."""
    if isinstance(value, str) and is_code(kind):
        return cdata(in_fence(value), always=True)
    if isinstance(value, str):
        # A line break on either side is not part of what is read.
        has_break = value[:1] in ("\r", "\n") or value[-1:] == "\n"
        plain = escape(f"\n{value}\n" if has_break else value)
        for body in (plain, cdata(value, always=True)):
            if annotation is str or _is_read_as(value, body, annotation):
                return body
    return escape(json.dumps(value, ensure_ascii=False))


def _is_read_as(text: str, body: str, annotation: Any) -> bool:
    """Whether a body is read as a text; also where that text is no value, as in a demo."""
    try:
        read = _read([Element("", "", body, 0, 0)], "", annotation)
        return bool(validated(read, "", annotation) == validated(text, "", annotation))
    except BadValueError:
        return True


def _read(found: Sequence[Element], name: str, annotation: Any) -> Any:
    """The value that the elements of one name stand for, as it can be validated."""
    kinds = _kinds(annotation)
    if type(None) in kinds and _is_nothing(found):
        return None
    kind, *others = [kind for kind in kinds if kind is not type(None)] or kinds
    if others:
        return _read_union(found, name, annotation, (kind, *others))
    if (item := _item_type(kind)) is not None:
        return _read_items(found, name, kind, item)
    if len(found) > 1:
        if kind is Any:
            return [_read([each], name, Any) for each in found]
        raise BadValueError(f"{name!r} is there {len(found)} times")
    [element] = found
    is_text = kind is str or is_code(kind) or _is_dspys(kind)
    inner = None if is_text else _children(element, name)
    if inner is None:
        return _read_leaf(element, name, kind)
    if not has_parts(kind) and all(each.tag == ITEM for each in inner):
        return [_read([each], name, Any) for each in inner]
    return _read_parts(inner, name, kind)


def _read_leaf(element: Element, name: str, kind: Any) -> Any:
    text = read_body(element.body, raw=is_code(kind))
    if not text.strip() and has_parts(kind):
        return {}
    return read_value(text, name, object if kind is Any else kind)


def _read_items(found: Sequence[Element], name: str, kind: Any, item: Any) -> Any:
    """Items in tags of their own, or tags that are there several times; else one item."""
    if len(found) == 1:
        inner = _children(found[0], name)
        if inner is None:
            text = read_body(found[0].body).strip()
            if not text or text.startswith(("[", "```")):
                return read_value(text, name, kind) if text else []
        elif all(each.tag == ITEM for each in inner):
            found = inner
    return [_read([each], f"{name}.{place}", item) for place, each in enumerate(found)]


def _read_parts(inner: Sequence[Element], name: str, kind: Any) -> dict[str, Any]:
    groups: dict[str, list[Element]] = {}
    for each in inner:
        groups.setdefault(each.attribute, []).append(each)
    entry = _entry_type(kind)
    fields = _fields_of(kind)
    return {
        _input_name(kind, key): _read(
            group, f"{name}.{key}", fields.get(key, Any) if entry is None else entry
        )
        for key, group in groups.items()
    }


def _input_name(kind: Any, name: str) -> str:
    """What pydantic takes a field under: its alias, where it has one."""
    info = getattr(kind, "model_fields", {}).get(name)
    alias = getattr(info, "validation_alias", None)
    return alias if isinstance(alias, str) else name


def _read_union(found: Sequence[Element], name: str, annotation: Any, kinds: Sequence[Any]) -> Any:
    """The value of the first type that it fits; those with parts first, where it has some."""
    problem: BadValueError | None = None
    if len(found) == 1 and (not has_parts(annotation) or _children(found[0], name) is None):
        try:
            return read_value(read_body(found[0].body), name, annotation)
        except BadValueError as error:
            problem = error
    for kind in sorted(kinds, key=lambda kind: not has_parts(kind)):
        try:
            value = _read(found, name, kind)
            validated(value, name, annotation)
        except BadValueError as error:
            problem = problem or error
        else:
            return value
    assert problem is not None
    raise problem


def _is_nothing(found: Sequence[Element]) -> bool:
    return len(found) == 1 and found[0].body.strip() in ("", "null", "None")


def _children(element: Element, name: str) -> list[Element] | None:
    """The elements that one consists of, with the name of each; None where it holds text.

    Raises:
        BadValueError: It begins with a tag, and is not made of whole elements.
    """
    body, place = element.body.rstrip(), 0
    found: list[Element] = []
    while place < len(body):
        opening = OPENING.match(body, place)
        if opening is None:
            if not found:
                return None
            raise BadValueError(f"{name!r} has text between its tags")
        tag, start, end = opening["tag"], opening.end(), opening.end()
        if not opening["closed"]:
            closing = find_end_tag(body, start, tag)
            if closing is None:
                raise BadValueError(f"{name!r} has a <{tag}> that is never closed")
            start, end = closing.start(), closing.end()
        key = KEY.search(opening["attributes"])
        entry = unescape(key[1] or key[2] or "") if key is not None and tag == ENTRY else tag
        found.append(Element(tag, entry, body[opening.end() : start], place, end))
        place = end
    return found or None


# What stands between one pair of tags, shown while the reply still comes.


OPEN_CDATA, CLOSE_CDATA = "<![CDATA[", "]]>"
UNSURE = re.compile(r"\s*(?:<[^<>]*|\]{1,2}>?|&\w{0,4})?\s*\Z")
"""The end of a text that may become a tag, the end of a CDATA section or an entity."""


class TagText:
    """Hands on the text of one element; what may become a tag waits.

    Args:
        tag: The element.
        until: Where the part of the reply ends that is looked at; empty: nowhere.
        escaped: Whether entities stand for what they say.
    """

    def __init__(self, tag: str, until: str = "", *, escaped: bool = False) -> None:
        self._element = re.compile(rf"<{tag}>(?P<body>.*?)(?:(?P<end></{tag}>)|\Z)", re.DOTALL)
        self._until = until
        self._escaped = escaped
        self._text = ""
        self._shown = 0

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        self._text += text
        seen = self._text.partition(self._until)[0] if self._until else self._text
        whole = "".join(_visible(found, self._escaped) for found in self._element.finditer(seen))
        shown, self._shown = whole[self._shown :], max(self._shown, len(whole))
        return shown

    def finish(self) -> str:
        """Nothing is held back that is whole."""
        return ""


def _visible(found: re.Match[str], escaped: bool) -> str:
    body = found["body"].lstrip()
    if not found["end"]:
        if OPEN_CDATA.startswith(body):
            return ""
        body = UNSURE.sub("", body)
    body = body.rstrip()
    if body.startswith(OPEN_CDATA):
        return body.removeprefix(OPEN_CDATA).removesuffix(CLOSE_CDATA).rstrip()
    return unescape(body) if escaped else body
