"""The components of the server: those of installed packages, of the settings, and one of our own.

A package offers its components under the entry point group ``cellwright.components``; an
administrator names others in ``c.Cellwright.components``. What cannot be offered is left out and
reported, and keeps nothing else from being offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cellwright.errors import CellwrightError, SetupError
from cellwright.server.demo_component import WordCount
from cellwright.tools import Component
from cellwright.tools.live_registry import RESERVED_TOOLS
from cellwright.tools.loading import as_component
from cellwright.tools.manifest import tool_name
from cellwright.tools.sources import ToolSource, within_caps
from cellwright.tools.system_names import reserved_names

GROUP = "cellwright.components"
OWN, SETTINGS = "cellwright", "settings"


@dataclass(frozen=True)
class Listed:
    """A component and where it is from."""

    component: Component
    source: str

    @property
    def name(self) -> str:
        """How it is called in an address."""
        return tool_name(self.component.name)

    @property
    def version(self) -> str:
        """Which of its versions this is."""
        return self.component.version


@dataclass(frozen=True)
class Catalogue:
    """The components that can be called, and why others cannot."""

    listed: tuple[Listed, ...] = ()
    reports: tuple[str, ...] = ()
    """One sentence for each thing that was left out."""

    def find(self, name: str, version: str) -> Listed | None:
        """The component of that name and version."""
        return next((i for i in self.listed if (i.name, i.version) == (name, version)), None)

    def versions(self, name: str) -> tuple[str, ...]:
        """Which versions of a component there are."""
        return tuple(item.version for item in self.listed if item.name == name)

    def before(self, other: Catalogue) -> Catalogue:
        """Both together; of what both have, ours is found."""
        return Catalogue((*self.listed, *other.listed), (*self.reports, *other.reports))


def installed(targets: Sequence[str] = ()) -> Catalogue:
    """The components of this environment.

    Args:
        targets: Those of the settings, as ``module:name``.
    """
    points: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=GROUP), key=_place):
        points.setdefault(_distribution(point), []).append(point)
    if targets:
        points[SETTINGS] = [EntryPoint(target, target, GROUP) for target in targets]
    reports: list[str] = []
    sources = [ToolSource(OWN, (WordCount(),))]
    sources += [
        ToolSource(name, tuple(_loaded(name, each, reports))) for name, each in points.items()
    ]
    found = listed(sources)
    return Catalogue(found.listed, (*reports, *found.reports))


def listed(sources: Iterable[ToolSource]) -> Catalogue:
    """What can be called of some sources: within the caps, each name and version once."""
    reports: list[str] = []
    kept = [_usable(source, reports) for source in sources]
    places = {id(component): source.name for source in kept for component in source.components}
    offer = within_caps(kept)
    found: dict[tuple[str, str], Listed] = {}
    for component in offer.components:
        item = Listed(component, places[id(component)])
        first = found.setdefault((item.name, item.version), item)
        if first is not item:
            both = f"{first.source!r} and {item.source!r}"
            what = f"{item.name!r} in version {item.version!r}"
            reports.append(f"{both} both have {what}; that of {first.source!r} is offered.")
    return Catalogue(tuple(found.values()), (*reports, *offer.reports))


def _place(point: EntryPoint) -> tuple[str, str]:
    return _distribution(point), point.name


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "?"


def _loaded(source: str, points: Iterable[EntryPoint], reports: list[str]) -> Iterator[Component]:
    for point in points:
        try:
            value = point.load()
            yield from _components(value)
        except CellwrightError as error:
            reports.append(f"{point.value!r} of {source!r} is not offered: {error}")
        # Whatever the import of somebody else's module may raise.
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            reports.append(f"{point.value!r} of {source!r} cannot be loaded: {why}.")


def _components(value: Any) -> list[Component]:
    several = value if isinstance(value, (list, tuple)) else [value]
    return [as_component(item) for item in several]


def _usable(source: ToolSource, reports: list[str]) -> ToolSource:
    """The source without components that no model and no person could call."""
    kept = []
    for component in source.components:
        try:
            _check(component)
        except SetupError as error:
            reports.append(f"{component.name!r} of {source.name!r} is not offered: {error}")
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
