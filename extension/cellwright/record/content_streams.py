"""Streams of a tool's outputs: merged to one output for each role, and redacted as one text.

Source: requirements 000-30. Contents are grouped by role, type, name and scope in the order in
which each group was first seen; text is put together, elements stay in order and each comes once.
``merge`` may be applied to any pieces of a stream, in any number of steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cellwright.record.content import CONTENT_TYPES, ComponentOutput, Content, Metrics
from cellwright.record.messages import ModelUsage, sum_by_model
from cellwright.record.values import safe_json
from cellwright.text.redaction import Redactor, StreamRedactor

Key = tuple[str, str, str, bool]


def merge(outputs: Iterable[ComponentOutput]) -> tuple[ComponentOutput, ...]:
    """One output for each role, in the order in which the roles were first seen."""
    by_role: dict[str, list[ComponentOutput]] = {}
    for output in outputs:
        by_role.setdefault(output.role, []).append(output)
    return tuple(_merged(same) for same in by_role.values())


def merged_metrics(found: Iterable[Metrics | None]) -> Metrics | None:
    """From the first begin to the last end; CPU time added up."""
    known = [metrics for metrics in found if metrics is not None]
    if not known:
        return None
    begin = min(metrics.begin for metrics in known)
    end = max(metrics.end for metrics in known)
    return Metrics(
        begin=begin,
        end=end,
        duration_seconds=max(end - begin, *(metrics.duration_seconds for metrics in known)),
        first_output_seconds=_least(metrics.first_output_seconds for metrics in known),
        memory_delta_megabytes=_greatest(metrics.memory_delta_megabytes for metrics in known),
        kernel_cpu_seconds=_greatest(metrics.kernel_cpu_seconds for metrics in known),
    )


def _merged(outputs: list[ComponentOutput]) -> ComponentOutput:
    contents = [content for output in outputs for content in output.content]
    groups: dict[Key, list[Content]] = {}
    usage: list[ModelUsage] = []
    for output in outputs:
        for content in output.content:
            usage.extend(content.usage)
            if not _is_empty(content):
                _add(groups.setdefault(_key(content), []), content)
        usage.extend(output.usage)
    metadata: dict[str, Any] = {}
    for output in outputs:
        metadata.update(output.metadata)
    metrics = [content.metrics for content in contents] + [o.metrics for o in outputs]
    return ComponentOutput(
        tuple(content for group in groups.values() for content in group),
        outputs[0].role,
        any(output.final for output in outputs),
        metadata,
        sum_by_model(usage),
        merged_metrics(metrics),
    )


def _key(content: Content) -> Key:
    return content.type, content.name, content.visible_scope, content.is_error


def _is_empty(content: Content) -> bool:
    field = CONTENT_TYPES[content.type].joined
    return bool(field) and not content.text.get(field) and not content.raw_data


def _add(group: list[Content], content: Content) -> None:
    """Put a content where it belongs in its group; its usage and metrics are counted elsewhere."""
    content = replace(content, usage=(), metrics=None)
    field = CONTENT_TYPES[content.type].joined
    if field and group:
        words = str(group[0].text.get(field, "")) + str(content.text.get(field, ""))
        group[0] = _joined(group[0], content, {field: words})
    elif content.type == "progress" and group:
        group[0] = _joined(group[0], content, {})
    else:
        same = next((i for i, kept in enumerate(group) if _is_same(kept, content)), None)
        if same is None:
            group.append(content)
        else:
            group[same] = replace(
                group[same], raw_data={**group[same].raw_data, **content.raw_data}
            )


def _joined(kept: Content, content: Content, fields: Mapping[str, Any]) -> Content:
    return replace(
        kept,
        text={**kept.text, **content.text, **fields},
        raw_data={**kept.raw_data, **content.raw_data},
    )


def _is_same(kept: Content, content: Content) -> bool:
    mine = _identity(kept)
    return mine is not None and mine == _identity(content)


def _identity(content: Content) -> tuple[str, Any] | None:
    fields = CONTENT_TYPES[content.type].identity
    return next(((name, content.text[name]) for name in fields if content.text.get(name)), None)


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _greatest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


# Contents of a stream as they may be shown: text that comes in pieces is redacted as one text.


class ContentRedactor:
    """Redacts contents one after another.

    Whoever reads them puts pieces of one type, name and scope together, so they are one text here
    too, whatever else is said between them. Other contents, and other fields, are each redacted
    as a whole.

    Args:
        redactor: Knows the secrets.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._streams: dict[tuple[Any, ...], tuple[Content, StreamRedactor]] = {}

    def feed(self, item: Content) -> Content | None:
        """The part of a content that is safe to show now; None: all of it is held back."""
        return self._fed(item, is_last=False)

    def end(self, item: Content) -> Content | None:
        """A content that is the last of its kind, with what was held back before it."""
        return self._fed(item, is_last=True)

    def flush(self) -> Iterator[Content]:
        """What was held back; nothing more is said."""
        for sample, stream in self._streams.values():
            words = stream.flush()
            if words:
                field = CONTENT_TYPES[sample.type].joined
                yield replace(self._redactor.event(sample), text={field: words})

    def _fed(self, item: Content, *, is_last: bool) -> Content | None:
        fields = safe_json(item.text)
        field = CONTENT_TYPES[item.type].joined
        words = fields.get(field) if field else None
        if not isinstance(words, str):
            return self._redactor.event(replace(item, text=fields))
        stream = self._stream(item)
        shown = stream.feed(words) + (stream.flush() if is_last else "")
        has_more = len(fields) > 1 or item.raw_data or item.usage or item.metrics
        if words and not shown and not has_more:
            return None
        clean = self._redactor.event(replace(item, text={**fields, field: ""}))
        return replace(clean, text={**clean.text, field: shown})

    def _stream(self, item: Content) -> StreamRedactor:
        key = (item.type, item.name, item.visible_scope, item.is_error)
        if key not in self._streams:
            sample = replace(item, text={}, raw_data={}, usage=(), metrics=None)
            self._streams[key] = sample, StreamRedactor(self._redactor)
        return self._streams[key][1]
