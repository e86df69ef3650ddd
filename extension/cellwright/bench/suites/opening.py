"""A suite by its name, or by the folder that it is in."""

from __future__ import annotations

from pathlib import Path

from cellwright.bench.suites import Suite, checked_suite, folder, inspect_logs, python_file
from cellwright.errors import SetupError
from cellwright.installation import SUITES, find_plugin, list_own_entry_points, load_own


def public_suites() -> tuple[str, ...]:
    """Name the public suites; their data has to be named where one is opened."""
    return tuple(sorted(list_own_entry_points(SUITES)))


def open_suite(name: str, data: Path | None = None) -> Suite:
    """The suite that ``name`` means.

    Args:
        name: A public suite's name, a folder, a Python file, ``inspect:LOG``, or the name of a
            plug-in's suite.
        data: The data of the suite, where it does not come with it.

    Raises:
        SetupError: There is none, or its data is not named.
    """
    if name in public_suites():
        if data is None:
            raise SetupError(
                f"The suite {name!r} does not come with its data.", hint="Name it: --data PATH."
            )
        suite: Suite = load_own(SUITES, name)(data)
        return suite
    if name.startswith(inspect_logs.PREFIX):
        return inspect_logs.load(Path(name.removeprefix(inspect_logs.PREFIX)))
    if Path(name).is_dir():
        return folder.load(Path(name))
    if Path(name).is_file() and Path(name).suffix == ".py":
        return python_file.load(Path(name))
    plugin = find_plugin(SUITES, name)
    if plugin is not None:
        made = plugin.call(data)
        if not isinstance(made, Suite):
            raise plugin.refuse(f"returned {type(made).__name__} instead of Suite")
        return checked_suite(made)
    raise SetupError(
        f"There is no suite {name!r}.",
        hint=f"Name a folder of samples, or one of: {', '.join(public_suites())}.",
    )
