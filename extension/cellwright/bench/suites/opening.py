"""A suite by its name, or by the folder that it is in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cellwright.bench.suites import Suite, checked_suite, ds1000, dseval, folder, humaneval
from cellwright.errors import SetupError
from cellwright.installation import SUITES, find_plugin

PUBLIC: dict[str, Callable[[Path], Suite]] = {
    "ds1000": ds1000.load,
    "dseval": dseval.load,
    "dseval-errors": dseval.load_with_errors,
    "humaneval": humaneval.load,
}


def open_suite(name: str, data: Path | None = None) -> Suite:
    """The suite that ``name`` means.

    Args:
        name: A public suite's name, a folder, or the name of a plug-in's suite.
        data: The data of the suite, where it does not come with it.

    Raises:
        SetupError: There is none, or its data is not named.
    """
    if name in PUBLIC:
        if data is None:
            raise SetupError(
                f"The suite {name!r} does not come with its data.", hint="Name it: --data PATH."
            )
        return PUBLIC[name](data)
    if Path(name).is_dir():
        return folder.load(Path(name))
    plugin = find_plugin(SUITES, name)
    if plugin is not None:
        suite = plugin.call(data)
        if not isinstance(suite, Suite):
            raise plugin.refuse(f"returned {type(suite).__name__} instead of Suite")
        return checked_suite(suite)
    raise SetupError(
        f"There is no suite {name!r}.",
        hint=f"Name a folder of samples, or one of: {', '.join(sorted(PUBLIC))}.",
    )
