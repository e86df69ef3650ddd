"""``instructions``: what a project tells every agent, read and agreed to by the user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cellwright.assistants.files import project_folders
from cellwright.commands import VerbContext
from cellwright.commands.results import Result
from cellwright.knowledge.project import OfferedTexts, ProjectText
from cellwright.knowledge.project.files import ProjectFiles
from cellwright.settings import not_for_guests
from cellwright.store.tools import ToolStore
from cellwright.text.cleaning import plain_text
from cellwright.text.truncation import estimate_tokens

HEADINGS = ("id", "state", "kind", "name", "<tokens>", "path")
OFF = "They are off: CELLWRIGHT_PROJECT_FILES=yes switches them on."
NOTHING = "Neither this project nor your home has instructions or skills for agents."


@contextmanager
def _open(context: VerbContext) -> Iterator[ProjectFiles]:
    not_for_guests(context.settings, "What a project says")
    with context.open_store() as store:
        settings = context.settings
        consents = ToolStore(store.database, settings.user)
        yield ProjectFiles(consents, settings.home, project_folders(Path.cwd()))


def list_texts(context: VerbContext) -> Result:
    """List instructions and skills; whole texts of what is asked about."""
    with _open(context) as files:
        offered = files.offered()
    rows = [
        (
            each.item.text_id,
            each.state,
            each.item.kind,
            each.item.name,
            str(estimate_tokens(each.item.text)),
            str(each.item.path),
        )
        for each in offered.texts
    ]
    text = "\n\n".join(filter(None, _say(offered, context)))
    items = [each.item for each in offered.texts]
    listed = [dict(zip([name.strip("<>") for name in HEADINGS], row, strict=True)) for row in rows]
    document = {"texts": listed, "problems": list(offered.problems)}
    return Result(text, HEADINGS, rows, items, document)


def _say(offered: OfferedTexts, context: VerbContext) -> Iterator[str]:
    if not context.settings.project_files:
        yield OFF
    if not offered.texts:
        yield NOTHING
    asked = [each.item for each in offered.texts if each.state == "asked"]
    yield from (_shown(item, is_whole=item.kind == "instructions") for item in asked)
    if asked:
        ids = " ".join(item.text_id for item in asked)
        yield f"Let models read them: {context.prefix}instructions allow {ids}"
    notes = [f"{each.item.name}: {note}." for each in offered.texts for note in each.item.notes]
    yield "\n".join([*notes, *offered.problems])


def show(context: VerbContext) -> Result:
    """Show all that a model would be given of one."""
    with _open(context) as files:
        item = files.offered().find(context.words[0])
    return Result(_shown(item, is_whole=True), document={"path": str(item.path), "text": item.text})


def allow(context: VerbContext) -> Result:
    """Let models read them, as they are now."""
    with _open(context) as files:
        items = _named(files, context)
        for item in items:
            files.agree(item)
    return _done("Models are told these from the next question on", items)


def refuse(context: VerbContext) -> Result:
    """Let no model read them."""
    with _open(context) as files:
        items = _named(files, context)
        for item in items:
            files.refuse(item)
    return _done("No model is told these, and you are asked again only when they change", items)


def _named(files: ProjectFiles, context: VerbContext) -> list[ProjectText]:
    offered = files.offered()
    return [offered.find(word) for word in context.words]


def _done(words: str, items: list[ProjectText]) -> Result:
    names = ", ".join(str(item.path) for item in items)
    return Result(plain_text(f"{words}: {names}."), document={"done": [i.text_id for i in items]})


def _shown(item: ProjectText, *, is_whole: bool) -> str:
    head = f"{item.text_id} {item.kind} {item.path}, {len(item.text):,} characters"
    about = f"{item.name}: {item.description}\n{item.listing}" if item.description else ""
    return plain_text("\n".join(filter(None, [head, about, item.text if is_whole else ""])))
