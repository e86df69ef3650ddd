"""The tools beside the standard ones: of packages, and of services that the person connected."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.assistants.files import folders_of
from cellwright.external.source import Whereabouts, open_outside
from cellwright.record.values import from_dict, to_dict
from cellwright.server.application import Application
from cellwright.server.component_runs import open_components
from cellwright.server.routes import Route, RouteTable


@dataclass(frozen=True)
class ListedTool:
    """A tool beside the standard ones."""

    name: str
    kind: str
    """``python``, ``mcp``, ``http`` or ``openapi``."""
    source: str
    description: str
    enabled: bool
    problem: str
    """Why it cannot be called; empty: it can."""


@dataclass(frozen=True)
class ToolList:
    """All of them."""

    tools: tuple[ListedTool, ...]


class ToolsRoute(Route):
    """The tools that an assistant may be given; guests have none of them."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What there is for a notebook; nothing is started or asked for it."""
        notebook = self.word("notebook")
        found = await self.answer(lambda shared: self._listed(shared, notebook))
        self.send(to_dict(ToolList(found)))

    def _listed(self, shared: Application, notebook: str) -> tuple[ListedTool, ...]:
        host = open_components(shared)
        own = tuple(
            ListedTool(manifest.name, "python", item.source, manifest.description, True, "")
            for item in host.catalogue().listed
            for manifest in item.component.tool_manifests()
        )
        folders = folders_of(shared.root, notebook)
        where = Whereabouts(folders, shared.root or Path.cwd())
        rows = open_outside(shared.database, shared.settings(), where).rows()
        text = shared.redactor().text
        outside = [from_dict(ListedTool, to_dict(row)) for row in rows]
        shown = (
            ListedTool(
                each.name,
                each.kind,
                each.source,
                text(each.description),
                each.enabled,
                text(each.problem),
            )
            for each in outside
        )
        return (*own, *shown)


ROUTES: RouteTable = (("tools", ToolsRoute),)
