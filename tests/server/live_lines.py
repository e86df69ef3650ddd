"""Lines without a network, and a record that is a list: what outboxes are tested with."""

from __future__ import annotations

import json
import threading
from typing import Any

from cellwright.server.tab import LineClosedError
from cellwright.server.wire_events import WireEvent

__all__ = ["CHAT", "ListLine", "ListSource", "delta", "sequences"]

CHAT = "chat-1"


class ListLine:
    """Keeps what is sent; can be held up, as a tab that does not read."""

    def __init__(self, *, held: bool = False) -> None:
        self.texts: list[str] = []
        self.is_closed = False
        self._free = threading.Event()
        self._changed = threading.Condition()
        if not held:
            self._free.set()

    def send(self, text: str) -> None:
        self._free.wait()
        with self._changed:
            if self.is_closed:
                raise LineClosedError
            self.texts.append(text)
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self.is_closed = True
            self._free.set()
            self._changed.notify_all()

    def release(self) -> None:
        self._free.set()

    @property
    def frames(self) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self.texts]

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        start = f'{{"type":"{kind}"'
        found = [
            text
            for text in self.texts
            if text.startswith(start) or f'"type":"{kind}"}}' in text[-40:]
        ]
        return [json.loads(text) for text in found]

    def wait_for(self, kind: str, count: int = 1, seconds: float = 10.0) -> list[dict[str, Any]]:
        with self._changed:
            there = self._changed.wait_for(lambda: len(self.of_type(kind)) >= count, seconds)
        assert there, f"no {kind!r} came, only {[frame['type'] for frame in self.frames]}"
        return self.of_type(kind)

    def wait_until_sent(
        self, sequence: int, run: str = "a", seconds: float = 30.0
    ) -> list[tuple[str, int]]:
        """Every event so far, once the one of this number has come."""

        def is_there() -> bool:
            text = self.texts[-1] if self.texts else ""
            return f'"run":"{run}"' in text and f'"sequence":{sequence},' in text

        with self._changed:
            assert self._changed.wait_for(is_there, seconds), f"event {sequence} never came"
        return sequences(self.frames)


def sequences(frames: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Run and number of every event, in the order in which they came."""
    return [
        (frame["run"], item["sequence"])
        for frame in frames
        if frame["type"] == "events"
        for item in frame["items"]
    ]


class ListSource:
    """The record of one chat."""

    def __init__(self, page_size: int = 500) -> None:
        self.recorded: dict[str, list[WireEvent]] = {}
        self.pages_read = 0
        self._page_size = page_size

    def record(self, run: str, count: int, text: str = "x") -> list[WireEvent]:
        """Record so many events more; what was recorded."""
        events = self.recorded.setdefault(run, [])
        new = [delta(run, len(events) + 1 + number, text) for number in range(count)]
        events.extend(new)
        return new

    def runs(self, chat: str) -> tuple[str, ...]:
        return tuple(self.recorded)

    def page(self, run: str, after: int) -> tuple[WireEvent, ...]:
        self.pages_read += 1
        return tuple(self.recorded[run][after : after + self._page_size])

    def context_tokens(self, chat: str) -> int:
        return 0


def delta(run: str, sequence: int, text: str = "x") -> WireEvent:
    event = f'{{"kind":"text_delta","text":"{text}"}}'
    item = f'{{"sequence":{sequence},"time":1700000000.0,"event":{event}}}'
    return WireEvent(run, sequence, item)
