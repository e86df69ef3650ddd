"""``cellwright bench export``: the samples of a benchmark in another format."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from cellwright.bench.results import samples_in
from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.records import make_redactor
from cellwright.errors import SetupError
from cellwright.exports.formats import export_samples
from cellwright.exports.sample import SampleRecord
from cellwright.text.redaction import Redactor

NOTEBOOKS = "notebooks"


def bench(invocation: Invocation) -> int:
    """Write all samples of a folder."""
    options = invocation.options
    folder = Path(options.folder)
    redactor = make_redactor(invocation.settings)
    groups = {
        _place(runs, folder): functools.partial(_samples, runs, redactor, passed=options.passed)
        for runs in sorted(folder.glob("**/runs.jsonl"))
    }
    if not groups:
        raise SetupError(
            f"There are no results in {str(folder)!r}.",
            hint="Name the folder that `cellwright bench run` wrote.",
        )
    name = "ipynb" if options.to == NOTEBOOKS else options.to
    target = Path(options.output or f"{str(folder.resolve())}-{options.to}").expanduser()
    written = [str(path) for path in export_samples(name, groups, target)]
    document = {"format": options.to, "path": str(target), "files": written}
    invocation.console.result(document, "\n".join(written))
    return COMPLETED


def _place(runs: Path, folder: Path) -> str:
    """``AGENT/TASK``, with what is before it where the folder holds several benchmarks."""
    parts = runs.parent.relative_to(folder).parts
    return "/".join(parts if len(parts) >= 2 else runs.resolve().parts[-3:-1])


def _samples(runs: Path, redactor: Redactor, *, passed: bool) -> Iterator[SampleRecord]:
    for sample in samples_in(runs):
        if sample.passed or not passed:
            yield redactor.event(sample)
