"""Suites of tasks, run and scored; the room can be called itself. Stability of that: provisional.

``cellwright.bench("suite", ["model"], limit=5)`` runs a suite and returns its result;
``cellwright.api.benchmarks.bench`` says what else it takes.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any


class CallableRoom(ModuleType):
    """A module that is a function of the public API, too.

    Python sets ``cellwright.bench`` to this module when a file of the room is imported, so a
    function of that name in the package would be gone as soon as anything runs a benchmark.
    """

    def __call__(
        self, suite: str | os.PathLike[str], models: str | Iterable[str] = (), **options: Any
    ) -> dict[str, Any]:
        """Score models on a suite of tasks."""
        # By name: the function stands above this room, which it runs.
        run: Any = importlib.import_module("cellwright.api.benchmarks")
        result: dict[str, Any] = run.bench(suite, models, **options)
        return result


sys.modules[__name__].__class__ = CallableRoom
