"""Where tools come from, and the tools of one run: by name, in a stable order.

Source: requirements 002-70, X-13.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cellwright.errors import SetupError
from cellwright.record.messages import Manifest
from cellwright.tools import Component

SOURCE_LIMIT = 64
ASSISTANT_LIMIT = 100
"""Of all sources that a person or an assistant added."""
REQUEST_LIMIT = 128
"""What providers take in one request."""


@dataclass(frozen=True)
class ToolSource:
    """Tools that come together: the standard ones, those of the live kernel, a server's."""

    name: str
    components: tuple[Component, ...]
    is_standard: bool = False
    """The agent cannot do without: these are never dropped for others."""


@dataclass(frozen=True)
class OfferedTools:
    """What the model is offered, and what was left out."""

    components: tuple[Component, ...]
    reports: tuple[str, ...] = ()
    """One sentence for each cap that left something out."""


@dataclass(frozen=True)
class Distinct:
    """Sources in which every name is there once, and what was left out."""

    sources: tuple[ToolSource, ...]
    reports: tuple[str, ...] = ()
    """One sentence for each source that something was left out of."""


def within_caps(sources: Iterable[ToolSource]) -> OfferedTools:
    """The tools of all sources within the caps, standard ones first; nothing goes in silence.

    A component that is several tools counts as many, and is offered whole or not at all.
    """
    ordered = sorted(sources, key=lambda source: not source.is_standard)
    chosen: list[Component] = []
    count = added = 0
    reports: list[str] = []
    for source in ordered:
        room = {
            f"a source may have {SOURCE_LIMIT}": SOURCE_LIMIT,
            f"an assistant may have {ASSISTANT_LIMIT}": ASSISTANT_LIMIT - added,
            f"a request may have {REQUEST_LIMIT}": REQUEST_LIMIT - count,
        }
        if source.is_standard:
            room = {"": sys.maxsize}
        reason, limit = min(room.items(), key=lambda item: item[1])
        taken = _within(source.components, limit)
        chosen += taken.components
        count += taken.tools
        added += 0 if source.is_standard else taken.tools
        dropped = source.components[len(taken.components) :]
        if dropped:
            reports.append(_report(source.name, dropped, reason))
    return OfferedTools(tuple(chosen), tuple(reports))


def distinct(sources: Iterable[ToolSource]) -> Distinct:
    """The sources with every name once: of two tools of one name the first source's stays.

    A person's function may be called as a tool that comes with a memory or a server is.
    """
    kept: list[ToolSource] = []
    names: set[str] = set()
    reports: list[str] = []
    for source in sources:
        twice = tuple(each for each in source.components if names & set(_names_of(each)))
        if twice:
            reports.append(_report(source.name, twice, "another tool has the name"))
        once = tuple(each for each in source.components if each not in twice)
        kept.append(replace(source, components=once))
        names |= {name for component in once for name in _names_of(component)}
    return Distinct(tuple(kept), tuple(reports))


@dataclass(frozen=True)
class _Taken:
    components: tuple[Component, ...]
    tools: int


def _within(components: tuple[Component, ...], limit: int) -> _Taken:
    """The first components that are not more tools than the limit."""
    count = 0
    for index, component in enumerate(components):
        tools = _tools_of(component)
        if count + tools > limit:
            return _Taken(components[:index], count)
        count += tools
    return _Taken(components, count)


def _tools_of(component: Component) -> int:
    return len(_names_of(component))


def _names_of(component: Component) -> tuple[str, ...]:
    try:
        return tuple(manifest.name for manifest in component.tool_manifests())
    except SetupError:
        return (component.name,)  # whoever binds it says what is wrong with it


def _report(source: str, dropped: tuple[Component, ...], reason: str) -> str:
    names = ", ".join(repr(component.name) for component in dropped[:5])
    more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
    what = "tool" if len(dropped) == 1 else "tools"
    return f"{len(dropped)} {what} of {source!r} not offered, {reason}: {names}{more}."


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

    def told_as(self, manifests: Iterable[Manifest]) -> Registry:
        """The same tools, told in other words."""
        other = Registry(())
        other._components, other._manifests = self._components, tuple(manifests)
        return other

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


SPARE_TOOLS = frozenset({"list_variables", "inspect_variable", "submit"})
"""What code and an answer in words do as well."""
SPARE_IN_TINY = SPARE_TOOLS | {"add_cell", "arrange_cell", "install_package"}
EXPLANATIONS = frozenset({"description", "title", "default", "examples"})


def brief_tools(
    registry: Registry, *, whole: Collection[str] = (), left_out: Collection[str] = SPARE_TOOLS
) -> Registry:
    """The tools for a model whose window is small: fewer, and told in few words.

    Args:
        registry: All that it may use.
        whole: Names of those that are told as they are.
        left_out: Names of those that it has to do without.
    """
    names = [name for name in registry.names() if name not in left_out]
    kept = Registry(dict.fromkeys(filter(None, map(registry.find, names))))
    return kept.told_as(
        manifest if manifest.name in whole else _brief(manifest) for manifest in kept.manifests
    )


def _brief(manifest: Manifest) -> Manifest:
    """The first sentence, and the arguments without what explains them."""
    first = manifest.description.partition(". ")[0].removesuffix(".")
    return replace(manifest, description=f"{first}.", parameters=_unexplained(manifest.parameters))


def _unexplained(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_unexplained(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {}
    for key, value in schema.items():
        if key == "properties":  # its keys are names, which may be any
            plain[key] = {name: _unexplained(item) for name, item in value.items()}
        elif key not in EXPLANATIONS:
            plain[key] = value if key in ("enum", "const", "required") else _unexplained(value)
    return plain


def _origin(component: Component) -> str:
    return f"{type(component).__module__}.{type(component).__qualname__}"
