"""The assistants that can be chosen for a chat."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.assistants import Assistant, AssistantList, folders_of, list_assistants
from cellwright.server.application import Application
from cellwright.server.routes import Route, RouteTable
from cellwright.server.usage_types import AssistantSummaries, AssistantSummary
from cellwright.values import to_dict

__all__ = ["ROUTES"]


class AssistantsRoute(Route):
    """The assistants beside a notebook, where the server starts from, and the person's own."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What can be chosen, and what is wrong with the files of others."""
        notebook = self.word("notebook")

        def listed(shared: Application) -> AssistantList:
            return list_assistants(folders_of(shared.root, notebook), shared.settings().home)

        found = await self.answer(listed)
        told = AssistantSummaries(
            tuple(
                _shown(assistant, found)
                for assistant in found.assistants
                if assistant.is_public or not self.is_guest
            ),
            () if self.is_guest else (*found.problems, *found.notes),
        )
        self.send(to_dict(told))


def _shown(assistant: Assistant, found: AssistantList) -> AssistantSummary:
    return AssistantSummary(
        name=assistant.name,
        description=assistant.description,
        model=assistant.model,
        scenes=tuple(scene.label for scene in assistant.scenes),
        is_public=assistant.is_public,
        is_default=assistant is found.default,
    )


ROUTES: RouteTable = (("assistants", AssistantsRoute),)
