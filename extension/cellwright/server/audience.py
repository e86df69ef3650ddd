"""Who hears of what happens in a chat."""

from __future__ import annotations

from typing import Protocol

from cellwright.record.run_record import RecordedEvent
from cellwright.server import frames
from cellwright.server.tab import Tab


class Audience(Protocol):
    """The tabs of this server."""

    def publish(self, chat: str, recorded: tuple[RecordedEvent, ...]) -> None:
        """Send events to the tabs that follow a chat."""
        ...

    def tell(self, state: frames.ChatState) -> None:
        """Send a chat's state to the tabs that follow it."""
        ...

    def page(self, nonce: str) -> Tab | None:
        """The page with that nonce; None: it is not connected."""
        ...
