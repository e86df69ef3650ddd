"""A run as a notebook that can be read, and run again from top to bottom.

Cells the person had run before come first, as set-up. Failed attempts stay where they were, marked
so that nbclient goes on after them; cells that never ended are not run again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports import SecretsFilter
from cellwright.exports.sample import SampleRecord, trimmed
from cellwright.exports.sampling import run_of
from cellwright.exports.timeline import Item, Ran, TimelineMessage, Wrote, reply_of_calls, timeline
from cellwright.record.outputs import Output, to_nbformat
from cellwright.record.run_record import RunRecord
from cellwright.record.values import safe_json, to_dict
from cellwright.text.cleaning import safe_markdown

WIDGET_MIMES = (
    "application/vnd.jupyter.widget-view+json",
    "application/vnd.jupyter.widget-state+json",
)
GOES_ON = "raises-exception"
"""The tag that nbclient and Jupyter Book read as: an exception here is no reason to stop."""
NOT_RUN = "skip-execution"
"""The tag of a cell that nbclient leaves out."""


def export(record: RunRecord, redactor: SecretsFilter | None = None) -> str:
    """The run as the text of an ``.ipynb`` file."""
    return json.dumps(notebook(record, redactor), ensure_ascii=False, indent=1) + "\n"


def notebook(record: RunRecord, redactor: SecretsFilter | None = None) -> dict[str, Any]:
    """The run as an nbformat 4.5 notebook."""
    if redactor is not None:
        record = redactor.event(record)
    names = _Names()
    cells = [_prompt_cell(record, names), *_setup_cells(record, names)]
    for item in timeline(record):
        cells += _item_cells(item, names)
    _add_costs(cells, record)
    return {
        "cells": [safe_json(cell) for cell in cells],
        "metadata": safe_json(_notebook_metadata(record)),
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def sample_notebook(sample: SampleRecord) -> dict[str, Any]:
    """A sample as a notebook: its run to be read and run again, and the whole record in it."""
    document = notebook(run_of(sample))
    facts = {**document["metadata"]["cellwright"], "sample": trimmed(sample)}
    return {**document, "metadata": {**document["metadata"], "cellwright": safe_json(facts)}}


def sample_of_notebook(document: Mapping[str, Any]) -> SampleRecord:
    """The sample in a notebook that ``sample_notebook`` made.

    Raises:
        SetupError: The notebook was made by something else.
    """
    found = (document.get("metadata") or {}).get("cellwright") or {}
    if "sample" not in found:
        raise SetupError(
            "The notebook holds no sample of cellwright.",
            hint="Export one: cellwright bench export FOLDER --to notebooks.",
        )
    return SampleRecord.from_dict(found["sample"])


def _add_costs(cells: list[dict[str, Any]], record: RunRecord) -> None:
    """Say at the first cell of each reply what the reply took."""
    replies = reply_of_calls(record)
    for cell in cells:
        facts = cell["metadata"]["cellwright"]
        reply = replies.pop(facts.get("call_id", ""), None)
        if reply is not None:
            facts["usage"] = to_dict(reply.usage)
            facts["reply_seconds"] = reply.duration_seconds
            facts["cost_dollars"] = reply.cost_dollars


class _Names:
    """Cell ids that nbformat accepts, each used once."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def take(self, wanted: str) -> str:
        stem = re.sub(r"[^a-zA-Z0-9-_]", "-", wanted)[:56] or "cell"
        name, number = stem, 1
        while name in self._used:
            number += 1
            name = f"{stem}-{number}"
        self._used.add(name)
        return name


def _prompt_cell(record: RunRecord, names: _Names) -> dict[str, Any]:
    who = f"@{record.assistant}" if record.assistant else ""
    facts = [who, record.parameters.model, record.status, f"{record.duration_seconds:.1f} s"]
    if record.reason_line:
        facts.append(record.reason_line)
    quoted = "\n".join(f"> {line}".rstrip() for line in safe_markdown(record.prompt).split("\n"))
    footer = safe_markdown(" · ".join(fact for fact in facts if fact))
    return _markdown(f"{quoted}\n\n<small>{footer}</small>", names.take("prompt"), "prompt")


def _setup_cells(record: RunRecord, names: _Names) -> Iterator[dict[str, Any]]:
    for source in record.start_executed:
        yield _code(source, names.take("setup"), {"role": "setup"}, (GOES_ON, "cellwright-setup"))


def _item_cells(item: Item, names: _Names) -> Iterator[dict[str, Any]]:
    match item:
        case TimelineMessage(text=text) if text.strip():
            yield _markdown(safe_markdown(text), names.take("text"), "text")
        case Wrote(cell=cell) if cell.cell_type == "code":
            yield _code(cell.source, names.take(cell.id), {"role": "not run"}, (NOT_RUN,))
        case Wrote(cell=cell):
            yield _markdown(safe_markdown(cell.source), names.take(cell.id), "cell")
        case Ran():
            yield _ran(item, names)
        case _:
            pass


def _ran(item: Ran, names: _Names) -> dict[str, Any]:
    ran, ended = item.execution, item.execution.execution
    status = ended.status if ended is not None else "running"
    facts: dict[str, Any] = {"role": "step", "status": status, "origin": ran.origin}
    facts |= {"call_id": ran.call_id, "cell_id": ran.cell_id, "started_at": ran.started_at}
    if ended is not None:
        facts["duration_seconds"] = ended.duration_seconds
    tags: tuple[str, ...] = ()
    if status == "error":
        tags = (GOES_ON, "cellwright-failed")
    elif status != "ok":
        tags = (NOT_RUN, "cellwright-failed")
    if item.superseded:
        tags = (*tags, "cellwright-superseded")
    cell = _code(ran.source, names.take(ran.cell_id), facts, tags)
    cell["outputs"] = [_output(output) for output in ran.outputs]
    cell["execution_count"] = ended.execution_count if ended is not None else None
    if item.superseded:
        cell["metadata"] |= {"collapsed": True, "jupyter": {"outputs_hidden": True}}
    return cell


def _output(output: Output) -> dict[str, Any]:
    plain = to_nbformat(output)
    if "data" not in plain:
        return plain
    kept = {mime: value for mime, value in plain["data"].items() if mime not in WIDGET_MIMES}
    if len(kept) < len(plain["data"]):
        # A widget's state is in the kernel; without it the view is an error message.
        kept.setdefault("text/plain", "(a widget, shown only in the live notebook)")
        metadata = {k: v for k, v in plain["metadata"].items() if k not in WIDGET_MIMES}
        plain |= {"data": kept, "metadata": metadata}
    return plain


def _markdown(source: str, name: str, role: str) -> dict[str, Any]:
    metadata = {"cellwright": {"role": role}}
    return {"cell_type": "markdown", "id": name, "metadata": metadata, "source": source}


def _code(
    source: str, name: str, facts: Mapping[str, Any], tags: tuple[str, ...]
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"cellwright": dict(facts)}
    if tags:
        metadata["tags"] = list(tags)
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata,
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


def _notebook_metadata(record: RunRecord) -> dict[str, Any]:
    language = str(record.kernel.get("language") or "python")
    python = language == "python"
    kernel = {
        "name": "python3" if python else language,
        "display_name": "Python 3 (ipykernel)" if python else language,
        "language": language,
    }
    info = {"name": language}
    if record.kernel.get("version"):
        info["version"] = str(record.kernel["version"])
    return {"kernelspec": kernel, "language_info": info, "cellwright": {"run": _facts(record)}}


def _facts(record: RunRecord) -> dict[str, Any]:
    names = ("run_id", "schema", "version", "status", "cause", "reason", "prompt", "lane", "mode")
    more = ("parameters", "usage", "cost_dollars", "started_at", "duration_seconds")
    rest = ("files", "packages", "notices", "source_run", "continues", "answer", "assistant")
    return {name: to_dict(getattr(record, name)) for name in (*names, *more, *rest)}
