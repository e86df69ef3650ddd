"""nbconvert's exporter ``cellwright``: ``jupyter nbconvert --to cellwright``, and Lab's menu."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from traitlets import default

from cellwright.errors import CellwrightError
from cellwright.exports.evaluated_notebook import evaluated_page, run_ids
from cellwright.llm.keys import SignIns, load_settings
from cellwright.record.run_record import RunRecord
from cellwright.settings import Settings
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor


class CellwrightExporter(Exporter):
    """The evaluated notebook as one HTML file that loads nothing."""

    export_from_notebook = "Cellwright evaluated HTML"
    output_mimetype = "text/html"

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(  # type: ignore[override]  # as nbconvert's own exporters have it
        self, nb: Any, resources: Any | None = None, **keywords: Any
    ) -> tuple[str, Any]:
        """The page of a notebook, without what is known as secret here."""
        document, found = super().from_notebook_node(nb, resources, **keywords)
        settings = load_settings()
        tokens = SignIns(settings.home).secrets()
        redactor = Redactor.from_environment(os.environ, settings.service.api_key, tokens)
        name = str((found.get("metadata") or {}).get("name") or "")
        clean: Mapping[str, Any] = redactor.value(document)
        runs = tuple(redactor.event(record) for record in _records(run_ids(document), settings))
        return evaluated_page(clean, runs, name), found


def _records(names: tuple[str, ...], settings: Settings) -> list[RunRecord]:
    """The records of these runs that are on this machine."""
    path: Path = settings.home / "runs.sqlite"
    if not names or not path.exists():
        return []
    database = open_database(path)
    try:
        store = RunStore(database)
        return [record for name in names if (record := _record(store, name)) is not None]
    finally:
        database.close()


def _record(store: RunStore, name: str) -> RunRecord | None:
    try:
        return store.record(name)
    except CellwrightError:  # the notebook came from elsewhere
        return None
