"""What is installed around us: which distribution of ours, what one feature needs, plug-ins.

The same packages come as ``cellwright``, with the server and the panel, and as
``cellwright-kernel``, without. An environment holds one of the two.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.errors import CellwrightError, SetupError

if TYPE_CHECKING:
    # At run time where they are used: reading metadata is slow to import.
    from importlib.metadata import EntryPoint

DISTRIBUTIONS = ("cellwright", "cellwright-kernel")
"""The whole one first."""


def find_distributions() -> tuple[str, ...]:
    """Name those of our distributions that are installed; two are one too many."""
    from importlib.metadata import PackageNotFoundError, distribution

    found = []
    for name in DISTRIBUTIONS:
        try:
            distribution(name)
        except PackageNotFoundError:
            continue
        found.append(name)
    return tuple(found)


def install_hint(extra: str) -> str:
    """Say how to install what one feature needs: an extra of the distribution that is here."""
    name = (find_distributions() or DISTRIBUTIONS)[0]
    return f"Install it: pip install '{name}[{extra}]'."


def missing_extra(text: str, extra: str) -> SetupError:
    """Make the error to raise where the library of one feature is not installed.

    Args:
        text: What cannot be done without which library.
        extra: The extra that brings the library.
    """
    return SetupError(text, hint=install_hint(extra))


# Plug-ins: what installed packages add under entry points of these groups.


TOOLS, CONTEXT, COMMANDS = "cellwright.tools", "cellwright.context", "cellwright.commands"
EXPORTS, SUITES = "cellwright.exports", "cellwright.suites"
GROUPS = (TOOLS, CONTEXT, COMMANDS, EXPORTS, SUITES)
SOURCES, SERVICES = "cellwright.sources", "cellwright.services"
"""Points for parts of our own alone: what is looked up for a question, models served from here."""


@dataclass(frozen=True)
class Plugin:
    """What an installed package adds under one name of a group."""

    name: str
    package: str
    value: Any

    def call(self, *arguments: Any) -> Any:
        """Call it; what it raises that is not meant for people becomes a sentence.

        Raises:
            SetupError: It failed; the sentence names it and its package.
        """
        try:
            return self.value(*arguments)
        except (CellwrightError, OSError):
            raise
        # Whatever the code of somebody else may raise.
        except Exception as error:
            raise self.refuse(f"failed with {type(error).__name__}: {error}") from error

    def refuse(self, what: str) -> SetupError:
        """Make the error that says what is wrong with it."""
        return SetupError(f"The plug-in {self.name!r} of {self.package!r} {what}.")


@dataclass(frozen=True)
class Plugins:
    """What could be loaded of a group, and what could not."""

    loaded: tuple[Plugin, ...] = ()
    problems: tuple[str, ...] = ()
    """One sentence for each that cannot be loaded."""


def list_entry_points(*groups: str) -> list[EntryPoint]:
    """List what packages beside cellwright offer under some groups; imports nothing of theirs.

    Packages that lie in the working directory do not count: whoever opens a notebook in a folder
    has not agreed to run the code in it.
    """
    from importlib.metadata import distributions

    path = [place for place in sys.path if place and not is_working_directory(place)]
    first: dict[str, list[EntryPoint]] = {}
    for each in distributions(path=path):
        wanted = [point for point in each.entry_points if point.group in groups]
        # to read the names of all the others takes five times as long
        if wanted and each.name not in DISTRIBUTIONS:
            first.setdefault(each.name, wanted)
    found = [point for points in first.values() for point in points]
    return sorted(found, key=lambda point: (package_of(point), point.name))


def list_own_entry_points(group: str) -> dict[str, EntryPoint]:
    """List by name what the installed cellwright itself has under a group; imports nothing."""
    from importlib.metadata import distributions

    path = [place for place in sys.path if place and not is_working_directory(place)]
    for name in DISTRIBUTIONS:
        for each in distributions(name=name, path=path):
            return {point.name: point for point in each.entry_points if point.group == group}
    return {}


def load_own(group: str, name: str) -> Any:
    """Import a part of cellwright that only an entry point names, so that it may be left out.

    Raises:
        SetupError: It is not installed, or cannot be imported.
    """
    point = list_own_entry_points(group).get(name)
    if point is not None:
        return load_plugin(point).value
    distribution = (find_distributions() or DISTRIBUTIONS)[0]
    raise SetupError(
        f"The installed cellwright has no {name!r} ({group}).",
        hint=f"Install it again: pip install --force-reinstall --no-deps {distribution}.",
    )


def is_working_directory(place: str) -> bool:
    """Whether a folder is the one that the process works in."""
    try:
        return Path(place).samefile(os.curdir)
    except OSError:  # either is not there
        return False


def package_of(point: EntryPoint) -> str:
    """Name the distribution that an entry point is of."""
    return point.dist.name if point.dist is not None else "settings"


def load_plugins(points: Iterable[EntryPoint]) -> Plugins:
    """Import what entry points name; one that fails keeps nothing else from being loaded."""
    loaded, problems = [], []
    for point in points:
        try:
            loaded.append(load_plugin(point))
        except SetupError as error:
            problems.append(str(error))
    return Plugins(tuple(loaded), tuple(problems))


def load_plugin(point: EntryPoint) -> Plugin:
    """Import what an entry point names.

    Raises:
        SetupError: It cannot be imported.
    """
    package = package_of(point)
    try:
        return Plugin(point.name, package, point.load())
    # Whatever the import of somebody else's module may raise, or its sys.exit().
    except (Exception, SystemExit) as error:
        why = (
            str(error) if isinstance(error, CellwrightError) else f"{type(error).__name__}: {error}"
        )
        raise SetupError(f"{point.value!r} of {package!r} cannot be loaded: {why}.") from error


def find_plugin(group: str, name: str) -> Plugin | None:
    """Load the plug-in of a name; of two packages that have it, the first by its own name.

    Raises:
        SetupError: It cannot be imported.
    """
    point = next((each for each in list_entry_points(group) if each.name == name), None)
    return load_plugin(point) if point is not None else None
