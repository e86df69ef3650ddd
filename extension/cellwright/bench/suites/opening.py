"""A suite by its name, or by the folder that it is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from cellwright.bench.suites import (
    Suite,
    checked_suite,
    folder,
    harbor,
    inspect_logs,
    inspect_tasks,
    lm_eval,
    python_file,
)
from cellwright.errors import SetupError
from cellwright.installation import SUITES, find_plugin, list_own_entry_points, load_own


def public_suites() -> tuple[str, ...]:
    """Name the public suites; their data has to be named where one is opened."""
    return tuple(sorted(list_own_entry_points(SUITES)))


INSPECT = "inspect:"


def _open_inspect(path: Path) -> Suite:
    is_log = path.suffix in (".eval", ".json")
    return inspect_logs.load(path) if is_log else inspect_tasks.load(path)


FORMS: Mapping[str, Callable[[Path], Suite]] = {
    INSPECT: _open_inspect,
    "lm-eval:": lm_eval.load,
    "harbor:": harbor.load,
}
"""What stands before the path of a suite that others wrote, and reads it."""


def split_form(name: str) -> tuple[str, str]:
    """A suite's name as the word before the path, where there is one, and the rest."""
    form = next((form for form in FORMS if name.startswith(form)), "")
    return form, name.removeprefix(form)


def open_suite(name: str, data: Path | None = None) -> Suite:
    """The suite that ``name`` means.

    Args:
        name: A public suite's name, a folder, a Python file, one of ``FORMS`` with a path, or the
            name of a plug-in's suite.
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
    form, path = split_form(name)
    if form:
        return FORMS[form](Path(path))
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
