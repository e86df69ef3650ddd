"""Contents of a stream as they may be shown: text that comes in pieces is redacted as one text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cellwright.record.content import Content
from cellwright.record.content_types import CONTENT_TYPES
from cellwright.record.outputs import safe_json
from cellwright.text.redaction import Redactor, StreamRedactor


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
