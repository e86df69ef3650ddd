"""The tools of one run, by name, in a stable order."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from cellwright.errors import SetupError
from cellwright.record.prompts import Manifest
from cellwright.tools import Component
from cellwright.tools.sources import REQUEST_LIMIT

ADVISED_LIMIT = 40
"""Past this models choose badly; reported, not refused (requirements 002-70)."""


class Registry:
    """Binds tools to their manifests.

    Args:
        components: The tools, in the order in which the model is told of them; keep it the same
            from turn to turn, or the provider's prompt cache is lost.

    Raises:
        SetupError: Two tools have one name, there are too many, or a manifest cannot be made;
            all complaints at once.
    """

    def __init__(self, components: Iterable[Component]) -> None:
        self._components: dict[str, Component] = {}
        manifests: list[Manifest] = []
        complaints: list[str] = []
        for component in components:
            if not component.name:
                complaints.append(f"{_origin(component)} has no name.")
                continue
            try:
                found = component.tool_manifests()
            except SetupError as error:
                complaints.append(error.message)
                continue
            for manifest in found:
                taken = self._components.get(manifest.name)
                if taken is None:
                    self._components[manifest.name] = component
                    manifests.append(manifest)
                else:
                    both = f"{_origin(taken)} and {_origin(component)}"
                    complaints.append(f"{both} are both named {manifest.name!r}.")
        if len(manifests) > REQUEST_LIMIT:
            complaints.append(
                f"There are {len(manifests)} tools; at most {REQUEST_LIMIT} can be sent."
            )
        if complaints:
            raise SetupError(" ".join(complaints), hint="Rename or leave out some of the tools.")
        self._manifests = tuple(manifests)

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """What the model is told, in the order given."""
        return self._manifests

    @property
    def warning(self) -> str:
        """What the person should know of the number of tools; empty when it is fine."""
        count = len(self._manifests)
        if count <= ADVISED_LIMIT:
            return ""
        return f"{count} tools are offered to the model; past {ADVISED_LIMIT} it may choose badly."

    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._components)

    def find(self, name: str) -> Component | None:
        """The tool of that name, or None."""
        return self._components.get(name)

    def unknown(self, name: str) -> str:
        """What the model is told when it calls a tool that is not there."""
        near = difflib.get_close_matches(name, self._components, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        return f"There is no tool {name!r}.{guess} The tools are: {', '.join(self._components)}."


def _origin(component: Component) -> str:
    return f"{type(component).__module__}.{type(component).__qualname__}"
