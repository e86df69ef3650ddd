"""A suite in Python: a file whose function ``samples`` yields them.

A sample is a dict with the keys that a YAML file has; a check may be a function as well, which is
given the run and scores it here.

What this does not protect against: the file's code runs in this process, with your rights.
"""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellwright.bench.checks import STOPS
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.bench.suites.folder import make_item
from cellwright.errors import SetupError

FUNCTION = "samples"
EXAMPLE = "Write: def samples(): yield {'id': …, 'prompt': …, 'checks': […]}"


def load(path: Path) -> Suite:
    """The suite of a file; its name is the file's.

    Raises:
        SetupError: It cannot be run, or what it yields is no sample.
    """
    try:
        function = runpy.run_path(str(path)).get(FUNCTION)
        given = list(function()) if callable(function) else None
    except STOPS:
        raise
    except BaseException as error:  # whatever the file's own code raises
        raise SetupError(f"{str(path)!r} cannot be run: {error!r}.", hint="Mend it.") from error
    if given is None:
        raise SetupError(f"{str(path)!r} has no function {FUNCTION!r}.", hint=EXAMPLE)
    items = tuple(_item(data, path, number) for number, data in enumerate(given, start=1))
    return checked_suite(Suite(path.stem, items, source=str(path), hidden=(path,)))


def _item(data: Any, path: Path, number: int) -> Item:
    source = f"{path}, sample {number}"
    if not isinstance(data, Mapping):
        raise SetupError(f"{source!r} is {data!r}, not a dict.", hint=EXAMPLE)
    return make_item(data, path.parent, f"{path.stem}-{number}", source)
