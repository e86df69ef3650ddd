"""The assistants that can be chosen for a chat."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.assistants import Assistant, folders_of, list_assistants
from cellwright.server.routes import Route, RouteTable

__all__ = ["ROUTES"]


class AssistantsRoute(Route):
    """The assistants beside a notebook and in the folder that the server starts from."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What can be chosen, and what is wrong with the files of others."""
        notebook = self.word("notebook")
        listed = await self.answer(
            lambda shared: list_assistants(folders_of(shared.root, notebook))
        )
        shown = [_shown(assistant) for assistant in listed.assistants]
        self.send({"assistants": shown, "problems": list(listed.problems)})


def _shown(assistant: Assistant) -> dict[str, Any]:
    return {
        "name": assistant.name,
        "description": assistant.description,
        "model": assistant.model,
    }


ROUTES: RouteTable = (("assistants", AssistantsRoute),)
