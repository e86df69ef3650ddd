"""``export`` and ``save-sample``: a recorded run as a file of another kind."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path

from cellwright.bench.saving import code_of, find_files
from cellwright.bench.saving import save_sample as write_sample
from cellwright.commands import VerbContext
from cellwright.commands.notebook_files import check_target
from cellwright.commands.records import check_record_file, make_redactor
from cellwright.commands.results import Result
from cellwright.errors import SetupError
from cellwright.exports import RECORD
from cellwright.exports.formats import (
    FolderOptions,
    export_samples,
    find_format,
    find_format_of_file,
    write_run,
)
from cellwright.exports.notebook import RunMaterial
from cellwright.exports.sampling import sample_of
from cellwright.record.run_record import RunRecord
from cellwright.text.redaction import Redactor

NOTEBOOKS = "notebooks"
"""The evaluated notebooks of runs, in a folder."""


def export(context: VerbContext) -> Result:
    """Write a run as a file, or to stdout; several as a folder with an index."""
    options = context.options
    if len(context.words) > 1 or options.gradebook or options.to == NOTEBOOKS:
        name = options.to or "ipynb"
        return _export_folder(context, "ipynb" if name == NOTEBOOKS else name)
    name = options.to or _format_of(options.out)
    with context.open_store() as store:
        record = store.record(store.resolve(context.words[0]))
        written = []
        if name == RECORD:
            written.append(options.out or f"{record.run_id}.sqlite")
            path = check_record_file(written[0])
            assert path is not None
            store.write_to(record.run_id, path)
        unsaved = store.storage(record.run_id).problem
    document = {"id": record.run_id, "format": name}
    if not written:
        redactor = make_redactor(context.settings)
        material = _material(context, record, redactor) if name == "ipynb" else None
        if options.out == "-":
            text = _read_export(record, name, redactor, material)
            return Result(plain=text.rstrip("\n"), document={**document, "text": text})
        path = check_target(options.out or record.run_id + find_format(name).ending)
        files = write_run(record, name, path, redactor, material)
        written = [str(file) for file in files]
    return Result(
        f"Run {record.run_id} is in {' and '.join(written)}. {unsaved}".rstrip(),
        document={**document, "path": written[0], **({"more": written[1:]} if written[1:] else {})},
        plain="\n".join([*written, *filter(None, [unsaved])]),
    )


def _format_of(file: str) -> str:
    """The format where none is named.

    Raises:
        SetupError: The end of the file's name says none.
    """
    if file in ("", "-"):
        return "ipynb"
    return RECORD if file.lower().endswith(".sqlite") else find_format_of_file(file)


def _export_folder(context: VerbContext, name: str) -> Result:
    """Write runs into a folder, each in a file of its own where the format has that."""
    options = context.options
    if name == RECORD or options.out == "-":
        raise SetupError("Several runs go into a folder.", hint="Use --to notebooks -o FOLDER.")
    with context.open_store() as store:
        ids = dict.fromkeys(store.resolve(word) for word in context.words)
        records = {run_id: store.record(run_id) for run_id in ids}
    redactor = make_redactor(context.settings)
    besides = FolderOptions(
        lambda sample: _material(context, records[sample.run_id], redactor),
        with_gradebook=options.gradebook,
    )
    target = Path(options.out or f"runs-{options.to or name}").expanduser()
    made = (redactor.event(sample_of(record, run, whole=True)) for run, record in records.items())
    files = export_samples(name, {"": lambda: made}, target, besides)
    written = [str(file) for file in files]
    document = {"format": name, "path": str(target), "files": written}
    return Result("\n".join(written), document=document)


def _material(context: VerbContext, record: RunRecord, redactor: Redactor) -> RunMaterial:
    """The files that a run's notebook carries; of those that cannot be had, it says so."""
    try:
        sources = (*record.start_executed, *code_of(record))
        found = find_files(record, sources, redactor)
        return RunMaterial({name: path.read_bytes() for name, path in found.items()})
    except (SetupError, OSError) as error:
        context.note(f"The notebook of {record.run_id} carries no files: {error}")
        return RunMaterial(elsewhere=record.files)


def _read_export(
    record: RunRecord, name: str, redactor: Redactor, material: RunMaterial | None
) -> str:
    """What the file would hold.

    Raises:
        SetupError: It is not one file of text.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = write_run(record, name, Path(folder) / "run", redactor, material)
        data = files[0].read_bytes()
        if len(files) == 1 and b"\0" not in data:
            return data.decode("utf-8")
    raise SetupError(f"The format {name!r} cannot be printed.", hint="Name a file: -o FILE.")


def save_sample(context: VerbContext) -> Result:
    """Write a run's sample into the folder of a suite, and say how to try it."""
    options = context.options
    with context.open_store() as store:
        record = store.record(store.resolve(context.words[0]))
    folder = Path(options.to).expanduser()
    redactor = make_redactor(context.settings)
    saved = write_sample(record, folder, options.check, redactor, options.name)
    trial = importlib.import_module("cellwright.bench.trial")  # costly: kernels, suites, agents
    problem = trial.try_sample(saved.path)
    said = f"{saved.path}\n{problem}" if problem else str(saved.path)
    return Result(
        f"{said}\nTry it: cellwright bench run {folder} --agent oracle",
        document={"id": record.run_id, "path": str(saved.path), "files": list(saved.files)},
    )
