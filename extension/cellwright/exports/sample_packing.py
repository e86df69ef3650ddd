"""A sample as small as it can be stored: no defaults, and what many samples share said once.

What is the same in sample after sample (instructions, tools, limits, the kernel) is kept in a file
of its own, one text a line under the first digits of its hash, and named where it stood. Only known
places are looked at, so that nothing an agent says can be taken for such a name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from cellwright.exports.sample import SCHEMA, SampleRecord
from cellwright.record.outputs import safe_json
from cellwright.record.values import tag_of, to_dict

Keep = Callable[[Any], str]
"""Keeps a value and gives its name."""
Take = Callable[[str], Any]
"""The value of a name."""
SHARED = "shared"
WHOLE_FIELDS = ("tools", "env", "run")
SHORT_CHARACTERS = 120
"""Shorter values stand where they are."""


def trimmed(record: SampleRecord) -> dict[str, Any]:
    """The record as plain JSON data, without what is as a new record has it."""
    plain: dict[str, Any] = safe_json(_without_defaults(record))
    return {"schema": record.schema or SCHEMA, **plain}


def pack(record: SampleRecord, keep: Keep) -> dict[str, Any]:
    """The record as it is stored beside others."""
    packed = trimmed(record)
    for name in WHOLE_FIELDS:
        if name in packed:
            packed[name] = _kept(packed[name], keep)
    if _is_name(packed.get("tools")):
        packed["tools"] = [packed["tools"]]
    packed["messages"] = [
        {**message, "content": _kept(message["content"], keep)}
        if message.get("role") == "system"
        else message
        for message in packed.get("messages", ())
    ]
    return packed


def unpack(packed: Mapping[str, Any], take: Take) -> dict[str, Any]:
    """What ``SampleRecord.from_dict`` reads; of a record that is not packed, the same."""
    whole = dict(packed)
    tools = whole.get("tools")
    if isinstance(tools, list) and len(tools) == 1 and _is_name(tools[0]):
        whole["tools"] = tools[0]
    for name in WHOLE_FIELDS:
        if name in whole:
            whole[name] = _taken(whole[name], take)
    whole["messages"] = [
        {**message, "content": _taken(message.get("content"), take)}
        if message.get("role") == "system"
        else message
        for message in whole.get("messages") or ()
    ]
    return whole


def resolved(record: SampleRecord, take: Take) -> SampleRecord:
    """A record that was read as it was packed, with what it shares put in its place."""
    return SampleRecord.from_dict(unpack(record.to_dict(), take))


def name_of(value: Any) -> str:
    """Sixteen digits that name a JSON value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _kept(value: Any, keep: Keep) -> Any:
    if _is_name(value) or len(json.dumps(value)) > SHORT_CHARACTERS:
        return {SHARED: keep(value)}
    return value


def _taken(value: Any, take: Take) -> Any:
    return take(value[SHARED]) if _is_name(value) else value


def _is_name(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {SHARED}


def _without_defaults(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_without_defaults(item) for item in value]
    if not dataclasses.is_dataclass(value):
        return to_dict(value)
    kind: Any = type(value)
    is_tagged = tag_of(kind) is not None
    return {
        field.name: _without_defaults(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if not _is_default(field, getattr(value, field.name), is_tagged=is_tagged)
    }


def _is_default(field: dataclasses.Field[Any], value: Any, *, is_tagged: bool) -> bool:
    if is_tagged and not field.init:
        return False
    if field.default_factory is not dataclasses.MISSING:
        return bool(value == field.default_factory())
    # 0 and False, 1 and True are equal, and are not the same JSON.
    return type(value) is type(field.default) and bool(value == field.default)
