"""All formats that runs and samples are written in, by name; one way for one run and for many."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.errors import SetupError
from cellwright.exports import SecretsFilter, fine_tuning, inspect_log, spans
from cellwright.exports.agentbench import line_of, text_of_line
from cellwright.exports.html import page_start, sample_page, shown_text
from cellwright.exports.notebook import sample_notebook
from cellwright.exports.sample import SampleRecord
from cellwright.exports.sampling import sample_of
from cellwright.exports.tables import write_csv, write_parquet
from cellwright.installation import EXPORTS, find_plugin
from cellwright.record.run_record import RunRecord

Write = Callable[[Iterable[SampleRecord], Path], tuple[Path, ...]]


@dataclass(frozen=True)
class Format:
    """A kind of file."""

    ending: str
    write: Write
    """Writes samples to a file; the files it wrote."""
    one_each: bool = False
    """Each sample has a file of its own."""
    one_for_all: bool = False
    """Samples of all agents and suites go into one file."""


def write_run(
    record: RunRecord, name: str, path: Path, redactor: SecretsFilter
) -> tuple[Path, ...]:
    """Write one run, as a sample of its own; the files that were written.

    Args:
        record: The run.
        name: The format's.
        path: Where to.
        redactor: Takes out what is known as secret by now.

    Raises:
        SetupError: The file cannot be written, or a package is missing.
    """
    sample = redactor.event(sample_of(record, record.run_id, whole=True))
    try:
        # Whole or not at all: whoever reads a file sees the old one or the new one.
        with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".cellwright-") as made:
            files = find_format(name).write([sample], Path(made) / path.name)
            return tuple(file.replace(path.with_name(file.name)) for file in files)
    except OSError as error:
        raise SetupError(f"{str(path)!r} cannot be written: {error}.") from error


def export_samples(
    name: str, groups: Mapping[str, Callable[[], Iterator[SampleRecord]]], target: Path
) -> tuple[Path, ...]:
    """Write samples that were made together; the files that were written.

    Args:
        name: The format's.
        groups: The samples by where they were, such as ``AGENT/TASK``.
        target: A folder that comes into being; where one file holds all, that file's stem.

    Raises:
        SetupError: The files cannot be written, or a package is missing.
    """
    format_ = find_format(name)
    try:
        if format_.one_for_all:
            target.parent.mkdir(parents=True, exist_ok=True)
            every = (sample for samples in groups.values() for sample in samples())
            return format_.write(every, target.with_name(target.name + format_.ending))
        return tuple(_written(format_, groups, target))
    except OSError as error:
        raise SetupError(f"{str(target)!r} cannot be written: {error}.") from error


def _written(
    format_: Format, groups: Mapping[str, Callable[[], Iterator[SampleRecord]]], target: Path
) -> Iterator[Path]:
    for place, samples in groups.items():
        folder = target / place
        if not format_.one_each:
            folder.parent.mkdir(parents=True, exist_ok=True)
            yield from format_.write(samples(), folder.with_name(folder.name + format_.ending))
            continue
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for number, sample in enumerate(samples(), start=1):
            path = folder / f"{number:05d}{format_.ending}"
            rows.append((path.name, sample.id, sample.status, sample.passed))
            yield from format_.write([sample], path)
        if format_.ending == ".html":
            yield _index(folder, rows)


def _index(folder: Path, rows: list[tuple[str, str, str, bool]]) -> Path:
    """A page that leads to those of the samples."""
    lines = "".join(
        f'<tr><td><a href="{name}">{shown_text(sample)}</a></td><td>{shown_text(status)}</td>'
        f"<td>{'passed' if passed else 'not passed'}</td></tr>"
        for name, sample, status, passed in rows
    )
    start = "\n".join(page_start(f"{len(rows)} samples"))
    head = f"<h1>{len(rows)} samples</h1>"
    page = (
        f'{start}{head}<table class="plain"><tbody>{lines}</tbody></table></main></body></html>\n'
    )
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8", errors="replace")
    return path


def _lines(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    with path.open("w", encoding="utf-8", errors="replace") as file:
        for sample in samples:
            file.write(text_of_line(line_of(sample)))
    return (path,)


def _page(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    for sample in samples:
        path.write_text(sample_page(sample), encoding="utf-8")
    return (path,)


def _notebook(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    for sample in samples:
        text = json.dumps(sample_notebook(sample), ensure_ascii=False, indent=1) + "\n"
        path.write_text(text, encoding="utf-8")
    return (path,)


FORMAT_TABLE: Mapping[str, Format] = {
    "ipynb": Format(".ipynb", _notebook, one_each=True),
    "html": Format(".html", _page, one_each=True),
    "agentbench": Format(".agentbench.json", _lines),
    "inspect": Format(".eval", inspect_log.write),
    "openai": Format(".jsonl", fine_tuning.write),
    "otel": Format(".otlp.jsonl", spans.write),
    "csv": Format(".csv", write_csv, one_for_all=True),
    "parquet": Format(".parquet", write_parquet, one_for_all=True),
}


def find_format(name: str) -> Format:
    """Find a format: ours, or a plug-in's.

    Raises:
        SetupError: There is none of that name, or its plug-in cannot be loaded.
    """
    if name in FORMAT_TABLE:
        return FORMAT_TABLE[name]
    plugin = find_plugin(EXPORTS, name)
    if plugin is None:
        raise SetupError(f"There is no format {name!r}.")
    if not isinstance(plugin.value, Format):
        raise plugin.refuse(f"is {type(plugin.value).__name__} instead of Format")
    return replace(plugin.value, write=replace(plugin, value=plugin.value.write).call)
