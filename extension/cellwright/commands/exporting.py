"""``cellwright export``: a recorded run in another format."""

from __future__ import annotations

import tempfile
from pathlib import Path

from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.notebook_files import check_target
from cellwright.commands.records import check_record_file, make_redactor, open_store
from cellwright.errors import SetupError
from cellwright.exports import RECORD
from cellwright.exports.formats import find_format, write_run
from cellwright.record.run_record import RunRecord
from cellwright.text.redaction import Redactor


def export(invocation: Invocation) -> int:
    """Write a run as a file, or to stdout."""
    options, console = invocation.options, invocation.console
    with open_store(invocation) as store:
        record = store.record(store.resolve(options.id))
        if options.to == RECORD:
            name = options.output or f"{record.run_id}.sqlite"
            path = check_record_file(name)
            assert path is not None
            store.write_to(record.run_id, path)
            console.result({"id": record.run_id, "format": RECORD, "path": name}, name)
            return COMPLETED
    document = {"id": record.run_id, "format": options.to}
    redactor = make_redactor(invocation.settings)
    if options.output == "-":
        text = _text(record, options.to, redactor)
        console.result({**document, "text": text}, text.rstrip("\n"))
        return COMPLETED
    path = check_target(options.output or record.run_id + find_format(options.to).ending)
    written = [str(file) for file in write_run(record, options.to, path, redactor)]
    more = {"more": written[1:]} if len(written) > 1 else {}
    console.result({**document, "path": written[0], **more}, "\n".join(written))
    return COMPLETED


def _text(record: RunRecord, name: str, redactor: Redactor) -> str:
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
