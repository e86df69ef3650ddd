"""``cellwright.bench``: ``cellwright bench run`` for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from cellwright.cli import make_parser
from cellwright.commands import Invocation
from cellwright.commands.bench_starting import run
from cellwright.commands.terminal import Console
from cellwright.errors import RunCancelled
from cellwright.llm.keys import load_settings

NOT_OPTIONS = frozenset({"action", "command", "json", "model", "module", "suite"})


class KeptResult(Console):
    """Keeps a command's result in place of printing it."""

    def __init__(self) -> None:
        super().__init__(sys.stdin, sys.stdout, sys.stderr)
        self.is_quiet = True
        self.document: dict[str, Any] = {}

    def result(self, document: Any, text: str) -> None:
        """Keep the document."""
        self.document = dict(document)


def bench(
    suite: str | os.PathLike[str], models: str | Iterable[str] = (), **options: Any
) -> dict[str, Any]:
    """Score models on a suite of tasks. Stability: provisional.

    Args:
        suite: A folder or file with a suite, or the name of a public one
            (``docs/how-to/bench.md``).
        models: Who is asked; none: the model of the settings.
        **options: Those of ``cellwright bench run``, with underscores: ``limit=5``, ``epochs=3``,
            ``output="results"``, ``jobs=4``, ``budget=1.0``. ``quiet=False`` shows progress on
            stderr.

    Returns:
        What ``cellwright bench run --json`` prints: ``passed``, ``total``, ``by_status``,
        ``failures`` (samples that could not be run), ``agents`` and the ``folder`` of the results.

    Raises:
        SetupError: There is no such suite or model, or the folder holds a benchmark already.
        TypeError: There is no such option.
        KeyboardInterrupt: Ctrl-C; what has ended is kept, and ``cellwright bench resume`` goes on.
    """
    parsed = make_parser().parse_args(["bench", "run", os.fspath(suite)])
    parsed.model = [models] if isinstance(models, str) else list(models)
    known = set(vars(parsed)) - NOT_OPTIONS
    for name, value in options.items():
        if name not in known:
            raise TypeError(f"bench has no option {name!r}. There are: {', '.join(sorted(known))}.")
        setattr(parsed, name, os.fspath(value) if isinstance(value, os.PathLike) else value)
    console = KeptResult()
    console.is_quiet = bool(options.get("quiet", True))
    try:
        run(Invocation(parsed, load_settings(), console))
    except RunCancelled:
        raise KeyboardInterrupt from None
    return console.document
