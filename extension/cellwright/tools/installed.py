"""Tools that installed packages offer, checked before anybody may call them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.errors import SetupError
from cellwright.installation import Plugins
from cellwright.tools import Component
from cellwright.tools.evaluation import reserved_names
from cellwright.tools.functions import as_component
from cellwright.tools.live_registry import RESERVED_TOOLS
from cellwright.tools.registry import ToolSource


@dataclass(frozen=True)
class InstalledTools:
    """The tools of some packages, and why others cannot be offered."""

    sources: tuple[ToolSource, ...] = ()
    """One for each package."""
    problems: tuple[str, ...] = ()


def make_tools(plugins: Plugins) -> InstalledTools:
    """Make components of plug-ins: of a class, a component, a function or a list of them."""
    problems = list(plugins.problems)
    packages: dict[str, list[Component]] = {}
    for plugin in plugins.loaded:
        made = packages.setdefault(plugin.package, [])
        try:
            made += _components(plugin.value)
        except SetupError as error:
            problems.append(f"{plugin.name!r} of {plugin.package!r} is not offered: {error}")
        # A class of somebody else is made here.
        except Exception as error:
            problems.append(str(plugin.refuse(f"failed with {type(error).__name__}: {error}")))
    sources = [ToolSource(name, tuple(made)) for name, made in packages.items()]
    return InstalledTools(tuple(leave_out_unusable(s, problems) for s in sources), tuple(problems))


def _components(value: Any) -> list[Component]:
    several: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
    return [as_component(item) for item in several]


def leave_out_unusable(source: ToolSource, problems: list[str]) -> ToolSource:
    """Leave out the components that no model and no person could call.

    Args:
        source: Where they are from.
        problems: One sentence is added for each that is left out.
    """
    kept = []
    for component in source.components:
        try:
            _check(component)
        except SetupError as error:
            problems.append(f"{component.name!r} of {source.name!r} is not offered: {error}")
        else:
            kept.append(component)
    return ToolSource(source.name, tuple(kept), source.is_standard)


def _check(component: Component) -> None:
    if not component.name:
        where = f"{type(component).__module__}.{type(component).__qualname__}"
        raise SetupError(f"{where} has no name.", hint="Give it one.")
    names = [manifest.name for manifest in component.tool_manifests()]
    taken = [name for name in (component.name, *names) if name in RESERVED_TOOLS]
    if taken or reserved_names([component.name, *names]):
        name = (taken or reserved_names([component.name, *names]))[0]
        raise SetupError(f"{name!r} is a name of the agent's own.", hint="Give it another one.")
