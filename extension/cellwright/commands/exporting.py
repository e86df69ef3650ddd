"""``export`` and ``save-sample``: a recorded run as a file of another kind."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path

from cellwright.bench.saving import save_sample as write_sample
from cellwright.commands import VerbContext
from cellwright.commands.notebook_files import check_target
from cellwright.commands.records import check_record_file, make_redactor
from cellwright.commands.results import Result
from cellwright.errors import SetupError
from cellwright.exports import RECORD
from cellwright.exports.formats import find_format, write_run
from cellwright.record.run_record import RunRecord
from cellwright.text.redaction import Redactor


def export(context: VerbContext) -> Result:
    """Write a run as a file, or to stdout."""
    options = context.options
    with context.open_store() as store:
        record = store.record(store.resolve(context.words[0]))
        written = []
        if options.to == RECORD:
            written.append(options.out or f"{record.run_id}.sqlite")
            path = check_record_file(written[0])
            assert path is not None
            store.write_to(record.run_id, path)
        unsaved = store.storage(record.run_id).problem
    document = {"id": record.run_id, "format": options.to}
    if not written:
        redactor = make_redactor(context.settings)
        if options.out == "-":
            text = _read_export(record, options.to, redactor)
            return Result(plain=text.rstrip("\n"), document={**document, "text": text})
        path = check_target(options.out or record.run_id + find_format(options.to).ending)
        written = [str(file) for file in write_run(record, options.to, path, redactor)]
    return Result(
        f"Run {record.run_id} is in {' and '.join(written)}. {unsaved}".rstrip(),
        document={**document, "path": written[0], **({"more": written[1:]} if written[1:] else {})},
        plain="\n".join([*written, *filter(None, [unsaved])]),
    )


def _read_export(record: RunRecord, name: str, redactor: Redactor) -> str:
    """What the file would hold.

    Raises:
        SetupError: It is not one file of text.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = write_run(record, name, Path(folder) / "run", redactor)
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
