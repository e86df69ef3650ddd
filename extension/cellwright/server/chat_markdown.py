"""A chat as markdown that anybody can read: prompts, answers, code and what it printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cellwright.exports.timeline import Called, Item, Ran, Said, Wrote, timeline
from cellwright.record.mime_text import bundle_text
from cellwright.record.outputs import Output, safe_text
from cellwright.record.run_record import RunRecord
from cellwright.text.cleaning import clean
from cellwright.text.safe_markdown import fenced, plain_text, safe_markdown

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
        case Said():
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
