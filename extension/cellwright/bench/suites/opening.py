"""A suite by its name, or by the folder that it is in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cellwright.bench.suites import Suite, ds1000, dseval, folder, humaneval
from cellwright.errors import SetupError

PUBLIC: dict[str, Callable[[Path], Suite]] = {
    "ds1000": ds1000.load,
    "dseval": dseval.load,
    "dseval-errors": dseval.load_with_errors,
    "humaneval": humaneval.load,
}


def open_suite(name: str, data: Path | None = None) -> Suite:
    """The suite that ``name`` means.

    Args:
        name: A public suite's name, or a folder.
        data: The data of a public suite.

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
    raise SetupError(
        f"There is no suite {name!r}.",
        hint=f"Name a folder of samples, or one of: {', '.join(sorted(PUBLIC))}.",
    )
