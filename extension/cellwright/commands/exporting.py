"""``cellwright export``: a recorded run in another format."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.notebook_files import check_target, write_text
from cellwright.commands.records import make_redactor, open_store
from cellwright.exports import Export, agentbench, html, notebook
from cellwright.recording import RunRecord

__all__ = ["ENDINGS", "EXPORTS", "export"]

EXPORTS: Mapping[str, Export[RunRecord]] = {
    "ipynb": notebook.export,
    "html": html.export,
    "agentbench": agentbench.export,
}
ENDINGS = {"ipynb": ".ipynb", "html": ".html", "agentbench": ".agentbench.json"}


def export(invocation: Invocation) -> int:
    """Write a run as a file, or to stdout."""
    options, console = invocation.options, invocation.console
    with open_store(invocation) as store:
        record = store.record(store.resolve(options.id))
    document = {"id": record.run_id, "format": options.to}
    if options.output == "-":
        text = EXPORTS[options.to](record, make_redactor(invocation.settings))
        console.result({**document, "text": text}, text.rstrip("\n"))
        return COMPLETED
    path = check_target(options.output or record.run_id + ENDINGS[options.to])
    write_text(path, EXPORTS[options.to](record, make_redactor(invocation.settings)))
    console.result({**document, "path": str(path)}, str(path))
    return COMPLETED
