"""Tools and context that installed packages add to every conversation."""

from __future__ import annotations

from cellwright.context.assemble import Quoted
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion, TurnSource
from cellwright.installation import CONTEXT, TOOLS, Plugin, list_entry_points, load_plugins
from cellwright.tools import Component
from cellwright.tools.installed import make_tools
from cellwright.tools.registry import ToolSource

CONTEXT_LIMIT = 8_000
"""Characters of one package's context; the rest of it is left out."""


def installed_sources() -> tuple[TurnSource, ...]:
    """Load the plug-ins for conversations; none for whoever has none."""
    points = list_entry_points(TOOLS, CONTEXT)
    if not points:
        return ()
    tools = make_tools(load_plugins(point for point in points if point.group == TOOLS))
    context = load_plugins(point for point in points if point.group == CONTEXT)
    problems = (*tools.problems, *context.problems)
    return (PluginTools(tools.sources, problems), *map(PluginContext, context.loaded))


class PluginTools:
    """The tools of installed packages, and what is wrong with their plug-ins.

    Args:
        sources: The tools, by package.
        problems: What a chat is told once.
    """

    name = "plug-ins"

    def __init__(self, sources: tuple[ToolSource, ...], problems: tuple[str, ...]) -> None:
        self._sources = sources
        self._problems = problems
        self._told: set[str] = set()

    def components(self) -> tuple[Component, ...]:
        """All of them."""
        return tuple(each for source in self._sources for each in source.components)

    def tool_sources(self, *, is_guest: bool = False) -> tuple[ToolSource, ...]:
        """The same by package; a guest gets none, as they run with the rights of the owner."""
        return () if is_guest else self._sources

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Say once in a chat what could not be loaded."""
        if turn.is_guest or turn.chat_id in self._told:
            return RetrievalResult()
        self._told.add(turn.chat_id)
        return RetrievalResult(problems=self._problems)


class PluginContext:
    """A context provider of an installed package: a function of the question that returns text.

    Args:
        plugin: The function.
    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self.name = plugin.name

    def components(self) -> tuple[Component, ...]:
        """None; tools have a group of their own."""
        return ()

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Ask it, except for a guest.

        Raises:
            SetupError: It failed, or returned something else.
        """
        text = "" if turn.is_guest else self._plugin.call(turn)
        if not isinstance(text, str):
            raise self._plugin.refuse(f"returned {type(text).__name__} instead of str")
        return RetrievalResult((Quoted(self.name, text[:CONTEXT_LIMIT]),) if text.strip() else ())
