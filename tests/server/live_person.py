"""The person at the notebook: runs cells of their own in the same kernel."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["Person"]


class Person:
    """A front end's own connection to a kernel.

    Args:
        manager: The kernel's manager.
    """

    def __init__(self, manager: Any) -> None:
        self._client = manager.client()

    async def sit_down(self) -> Person:
        self._client.start_channels()
        await self._client.wait_for_ready(timeout=30)
        return self

    async def run(self, code: str) -> str:
        """Run a cell to its end; how that went."""
        reply = await self._client.execute_interactive(
            code, timeout=30, output_hook=lambda message: None, allow_stdin=False
        )
        return str(reply["content"]["status"])

    def start(self, code: str) -> asyncio.Future[str]:
        """Run a cell without waiting for it."""
        return asyncio.ensure_future(self.run(code))

    def leave(self) -> None:
        self._client.stop_channels()
