"""All formats that runs and samples are written in, by name; one way for one run and for many."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cellwright.errors import SetupError
from cellwright.exports import SecretsFilter, fine_tuning, inspect_log, spans, trajectories
from cellwright.exports.agentbench import line_of, text_of_line
from cellwright.exports.html import sample_page
from cellwright.exports.index_page import IndexRow, write_gradebook, write_index
from cellwright.exports.notebook import RunMaterial, sample_notebook
from cellwright.exports.sample import SampleRecord
from cellwright.exports.sampling import sample_of
from cellwright.exports.tables import write_csv, write_parquet
from cellwright.installation import EXPORTS, find_plugin
from cellwright.record.run_record import RunRecord

Write = Callable[[Iterable[SampleRecord], Path], tuple[Path, ...]]
Carry = Callable[[SampleRecord], RunMaterial | None]
UNSAFE = re.compile(r"[^\w.@+=-]+")


def _nothing(sample: SampleRecord) -> None:
    return None


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


@dataclass(frozen=True)
class FolderOptions:
    """What is written of a folder of samples besides a file each."""

    carry: Carry = _nothing
    """What the notebook of a sample carries besides its record."""
    with_gradebook: bool = False


def write_run(
    record: RunRecord,
    name: str,
    path: Path,
    redactor: SecretsFilter,
    material: RunMaterial | None = None,
) -> tuple[Path, ...]:
    """Write one run, as a sample of its own; the files that were written.

    Args:
        record: The run.
        name: The format's.
        path: Where to.
        redactor: Takes out what is known as secret by now.
        material: What a notebook carries of the run's files.

    Raises:
        SetupError: The file cannot be written, or a package is missing.
    """
    sample = redactor.event(sample_of(record, record.run_id, whole=True))
    try:
        # Whole or not at all: whoever reads a file sees the old one or the new one.
        with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".cellwright-") as made:
            write = _writer(find_format(name), lambda _: material)
            files = write([sample], Path(made) / path.name)
            return tuple(file.replace(path.with_name(file.name)) for file in files)
    except OSError as error:
        raise SetupError(f"{str(path)!r} cannot be written: {error}.") from error


def export_samples(
    name: str,
    groups: Mapping[str, Callable[[], Iterator[SampleRecord]]],
    target: Path,
    folder: FolderOptions = FolderOptions(),
) -> tuple[Path, ...]:
    """Write samples that were made together; the files that were written.

    Args:
        name: The format's.
        groups: The samples by where they were, such as ``AGENT/TASK``.
        target: A folder that comes into being; where one file holds all, that file's stem.
        folder: What is written of a folder besides.

    Raises:
        SetupError: The files cannot be written, or a package is missing.
    """
    format_ = find_format(name)
    try:
        if format_.one_for_all:
            target.parent.mkdir(parents=True, exist_ok=True)
            every = (sample for samples in groups.values() for sample in samples())
            return format_.write(every, target.with_name(target.name + format_.ending))
        return tuple(_written(format_, groups, target, folder))
    except OSError as error:
        raise SetupError(f"{str(target)!r} cannot be written: {error}.") from error


def _written(
    format_: Format,
    groups: Mapping[str, Callable[[], Iterator[SampleRecord]]],
    target: Path,
    options: FolderOptions,
) -> Iterator[Path]:
    write, pages = _writer(format_, options.carry), list[IndexRow]()
    for place, samples in groups.items():
        folder = target / place
        if not format_.one_each:
            folder.parent.mkdir(parents=True, exist_ok=True)
            yield from format_.write(samples(), folder.with_name(folder.name + format_.ending))
            continue
        folder.mkdir(parents=True, exist_ok=True)
        taken: set[str] = set()
        for sample in samples():
            path = folder / (_file_stem(sample, taken) + format_.ending)
            pages.append(
                IndexRow(path.relative_to(target).as_posix(), place, _without_content(sample))
            )
            yield from write([sample], path)
    pages.sort(key=lambda row: (row.place, row.path))
    if pages:
        yield write_index(target, pages)
    if pages and options.with_gradebook:
        yield write_gradebook(target, pages)


def _without_content(sample: SampleRecord) -> SampleRecord:
    """What an index says of a sample; a folder may hold thousands."""
    return replace(sample, messages=(), cells=(), written=(), events=(), tools=(), env={})


def _file_stem(sample: SampleRecord, taken: set[str]) -> str:
    """A file's name that says which sample it is, and is no other one's on any system."""
    stem = UNSAFE.sub("_", sample.title).strip(".")[:80] or "sample"
    name, number = stem, 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name.casefold())
    return name


def _lines(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    with path.open("w", encoding="utf-8", errors="replace") as file:
        for sample in samples:
            file.write(text_of_line(line_of(sample)))
    return (path,)


def _page(samples: Iterable[SampleRecord], path: Path) -> tuple[Path, ...]:
    for sample in samples:
        path.write_text(sample_page(sample), encoding="utf-8")
    return (path,)


def _notebook(
    samples: Iterable[SampleRecord], path: Path, carry: Carry = _nothing
) -> tuple[Path, ...]:
    for sample in samples:
        made = sample_notebook(sample, carry(sample))
        path.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return (path,)


def _writer(format_: Format, carry: Carry) -> Write:
    return partial(_notebook, carry=carry) if format_.write is _notebook else format_.write


FORMAT_TABLE: Mapping[str, Format] = {
    "ipynb": Format(".ipynb", _notebook, one_each=True),
    "html": Format(".html", _page, one_each=True),
    "agentbench": Format(".agentbench.json", _lines),
    "inspect": Format(".eval", inspect_log.write),
    "atif": Format(".trajectory.json", trajectories.write, one_each=True),
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


def find_format_of_file(name: str) -> str:
    """Find the name of the format, one of ours, that the end of a file's name says.

    Raises:
        SetupError: It says none.
    """
    endings = {format_.ending: format_name for format_name, format_ in FORMAT_TABLE.items()}
    fitting = [ending for ending in endings if name.lower().endswith(ending)]
    if not fitting:
        raise SetupError(
            f"{name!r} is no format, and its end says none.",
            hint=f"Use one of: {', '.join(FORMAT_TABLE)}; or end it in {', '.join(endings)}.",
        )
    return endings[max(fitting, key=len)]
