"""The tools of a notebook, as a client is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.agent.policy import RISKS
from cellwright.agent.tool_offer import ToolOffer
from cellwright.mcp_server import Workroom
from cellwright.record.prompts import Manifest
from cellwright.tools import Component, Risk
from cellwright.tools.registry import Registry
from cellwright.tools.sources import ToolSource, within_caps
from cellwright.tools.standard import standard_tools

OPEN_WORLD: tuple[Risk, ...] = ("execute", "install")
"""Code may reach whatever the kernel's machine can reach."""


def tools_of(room: Workroom) -> Registry:
    """What a run that begins now would offer."""
    added = tuple(ToolSource(source.name, source.components()) for source in room.sources)
    if room.kernel is not None:
        offer = ToolOffer()
        offer.renew(room.kernel, room.notebook, added)
        return offer.registry
    standard = ToolSource("standard", standard_tools(room.notebook), is_standard=True)
    return Registry(within_caps([standard, *added]).components)


def tool_list(registry: Registry) -> list[dict[str, Any]]:
    """All tools, in the order in which they are offered."""
    found = [(manifest, registry.find(manifest.name)) for manifest in registry.manifests]
    return [_tool(manifest, component) for manifest, component in found if component is not None]


def _tool(manifest: Manifest, component: Component) -> dict[str, Any]:
    return {
        "name": manifest.name,
        "title": manifest.name.replace("_", " ").capitalize(),
        "description": manifest.description,
        "inputSchema": dict(manifest.parameters),
        "annotations": _annotations(component, manifest.parameters),
    }


def _annotations(component: Component, parameters: Mapping[str, Any]) -> dict[str, Any]:
    risk = _greatest_risk(component, parameters)
    return {
        "readOnlyHint": risk == "read",
        "destructiveHint": risk not in ("read", "edit"),
        "openWorldHint": risk in OPEN_WORLD,
    }


def _greatest_risk(component: Component, parameters: Mapping[str, Any]) -> Risk:
    """The risk with every switch on: an edit that also runs the cell runs code."""
    properties = parameters.get("properties", {})
    switches = {
        name: True for name, schema in properties.items() if schema.get("type") == "boolean"
    }
    return max((component.risk, component.risk_for(**switches)), key=RISKS.index)
