"""Chats follow their notebooks when files and folders are moved in the browser."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_server.services.contents.manager import ContentsManager

from cellwright.server.first_request import FirstRequest

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def follow_renames(server: ServerApp, routes: FirstRequest) -> None:
    """Watch what the server moves."""

    async def moved(logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        if data.get("action") == "rename" and routes.configuration.is_enabled:
            old, new = str(data["source_path"]).strip("/"), str(data["path"]).strip("/")
            await asyncio.get_running_loop().run_in_executor(None, _follow, routes, old, new)

    if server.event_logger is not None:
        server.event_logger.add_listener(schema_id=ContentsManager.event_schema_id, listener=moved)


def _follow(routes: FirstRequest, old: str, new: str) -> None:
    shared = routes.load()
    for chat in shared.chats.rename_path(old, new):
        if shared.live is not None:
            shared.live.chat_changed(chat)
