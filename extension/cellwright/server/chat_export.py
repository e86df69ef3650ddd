"""A chat as one file: the runs that count, in order, each as the export of a single run has it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports import html, notebook
from cellwright.exports.timeline import Called, Item, Ran, TimelineMessage, Wrote, timeline
from cellwright.record.mime_bundles import bundle_text
from cellwright.record.outputs import Output
from cellwright.record.run_record import RunRecord
from cellwright.record.values import safe_text
from cellwright.server.application import Application
from cellwright.store.chat_rows import Chat
from cellwright.text.cleaning import clean, fenced, plain_text, safe_markdown

# A chat as markdown that anybody can read: prompts, answers, code and what it printed.


OUTPUT_LIMIT_CHARACTERS = 20_000


def chat_markdown(title: str, records: Sequence[RunRecord]) -> str:
    """The runs under one heading; pictures are named, not held."""
    blocks = [f"# {plain_text(title)}"]
    for record in records:
        blocks += _run(record)
    return safe_text("\n\n".join(block for block in blocks if block.strip()) + "\n")


def _run(record: RunRecord) -> Iterator[str]:
    for said in (*record.notes, record.prompt):
        yield "\n".join(f"> {line}".rstrip() for line in safe_markdown(said).split("\n"))
    for item in timeline(record):
        yield from _item(item)
    who = f"@{record.assistant}" if record.assistant else ""
    facts = [who, record.parameters.model, record.status, record.reason]
    yield f"*{plain_text(' · '.join(fact for fact in facts if fact))}*"


def _item(item: Item) -> Iterator[str]:
    match item:
        case TimelineMessage():
            yield safe_markdown(item.text)
        case Called():
            yield f"*Called {plain_text(item.call.name)}: {plain_text(item.call.status)}.*"
        case Wrote(cell=cell) if cell.cell_type == "code":
            yield fenced(cell.source, "python")
        case Wrote(cell=cell):
            yield safe_markdown(cell.source)
        case Ran():
            yield fenced(item.execution.source, "python")
            for output in item.execution.outputs:
                yield _output(output)


def _output(output: Output) -> str:
    match output.kind:
        case "stream":
            text = clean(output.text)
        case "error":
            text = clean(f"{output.ename}: {output.evalue}")
        case _:
            text = bundle_text(output.data)
    shown = text.strip("\n")
    more = "\n…" if len(shown) > OUTPUT_LIMIT_CHARACTERS else ""
    return fenced(shown[:OUTPUT_LIMIT_CHARACTERS] + more, "text") if shown.strip() else ""


NAME_LIMIT_CHARACTERS = 60
BODY_START, BODY_END = "<body><main>", "</main></body>"


@dataclass(frozen=True)
class ChatFormat:
    """A kind of file."""

    ending: str
    mime: str
    write: Callable[[str, Sequence[RunRecord]], str]
    """The file's text, from the chat's title and its runs."""


@dataclass(frozen=True)
class ExportedChat:
    """A file."""

    name: str
    text: str


def export_chat(shared: Application, chat: Chat, format_: ChatFormat) -> ExportedChat:
    """The chat as a file, without what is known as secret by now.

    Raises:
        SetupError: Nothing was asked in it yet.
    """
    redactor = shared.redactor()
    asked = shared.chats.active_run_ids(chat.chat_id)
    runs = [run_id for run_id in asked if shared.runs.events(run_id)]
    if not runs:
        raise SetupError("There is nothing in this chat yet.", hint="Ask something first.")
    records = [redactor.event(shared.runs.record(run_id)) for run_id in runs]
    title = redactor.event(chat).title or "Chat"
    return ExportedChat(_file_name(title) + format_.ending, format_.write(title, records))


def _file_name(title: str) -> str:
    words = re.sub(r"[^\w\- ]+", " ", title)
    return "-".join(words.split())[:NAME_LIMIT_CHARACTERS].strip("-_") or "chat"


def _page(title: str, records: Sequence[RunRecord]) -> str:
    """One page of the pages of the runs: the head of the first, the bodies of all."""
    pages = [html.export(record) for record in records]
    head = pages[0].partition(BODY_START)[0]
    bodies = [page.partition(BODY_START)[2].rpartition(BODY_END)[0] for page in pages]
    return head + BODY_START + "\n<hr>\n".join(bodies) + BODY_END + "</html>\n"


def _notebook(title: str, records: Sequence[RunRecord]) -> str:
    whole: dict[str, Any] = notebook.notebook(records[0])
    cells: list[Mapping[str, Any]] = []
    for number, record in enumerate(records, start=1):
        for cell in notebook.notebook(record)["cells"]:
            # A cell id is used once; two runs may have worked on the same cell.
            cells.append({**cell, "id": f"{cell['id'][:56]}-{number}"})
    facts = {"chat": {"title": title, "runs": [record.run_id for record in records]}}
    metadata = {**whole["metadata"], "cellwright": facts}
    document = {**whole, "cells": cells, "metadata": metadata}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


FORMATS: Mapping[str, ChatFormat] = {
    "markdown": ChatFormat(".md", "text/markdown; charset=utf-8", chat_markdown),
    "ipynb": ChatFormat(".ipynb", "application/x-ipynb+json", _notebook),
    "html": ChatFormat(".html", "text/html; charset=utf-8", _page),
}
