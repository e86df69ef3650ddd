"""What the project of a chat's notebook tells every agent: to be read, and agreed to or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.assistants.files import folders_of
from cellwright.knowledge.project import OfferedText
from cellwright.knowledge.project.files import ProjectFiles
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.routes import ROUTE_ID, Route, RouteTable
from cellwright.settings import not_for_guests
from cellwright.store.chat_rows import Chat
from cellwright.store.tools import ToolStore

FIELDS: Mapping[str, type] = {"id": str, "is_allowed": bool}


@dataclass(frozen=True)
class ProjectTextRow:
    """A file of instructions, or a skill, as a model would be given it."""

    id: str
    """Of this version of it: once the file changes it has another."""
    state: str
    """``asked``, ``used`` or ``refused``."""
    type: str
    """``instructions`` or ``skill``."""
    name: str
    path: str
    size_bytes: int
    about: str
    """Of a skill: what it is for, and which other files it has."""
    text: str
    place: str
    """``project``, ``own`` (cellwright's folder) or ``home``."""


@dataclass(frozen=True)
class ProjectTextRows:
    """What there is, and what cannot be read."""

    texts: tuple[ProjectTextRow, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProjectConsent:
    """Whether models may read one of them."""

    id: str = ""
    is_allowed: bool = False


def list_rows(shared: Application, chat: Chat) -> ProjectTextRows:
    """What the project of a chat offers; nothing where that is switched off."""
    if not shared.settings().project_files:
        return ProjectTextRows()
    offered = _files(shared, chat).offered()
    return ProjectTextRows(tuple(_row(each) for each in offered.texts), offered.problems)


def decide(shared: Application, chat: Chat, consent: ProjectConsent) -> ProjectTextRows:
    """Let models read a text as it is now, or not.

    Raises:
        SetupError: There is none of that id; it may have changed since it was shown.
    """
    files = _files(shared, chat)
    item = files.offered().find(consent.id)
    if consent.is_allowed:
        files.agree(item)
    else:
        files.refuse(item)
    return list_rows(shared, chat)


def _files(shared: Application, chat: Chat) -> ProjectFiles:
    settings = shared.settings()
    not_for_guests(settings, "What a project says")
    consents = ToolStore(shared.database, settings.user)
    return ProjectFiles(consents, settings.home, folders_of(shared.root, chat.notebook_path))


def _row(each: OfferedText) -> ProjectTextRow:
    item = each.item
    about = f"{item.description}\n{item.listing}" if item.description else ""
    notes = "".join(f"\n{note}." for note in item.notes)
    size = len(item.text.encode())
    return ProjectTextRow(
        *(item.text_id, each.state, item.kind, item.name, str(item.path), size),
        (about + notes).strip(),
        item.text,
        item.place,
    )


class ProjectRoute(Route):
    """The instructions and skills beside a chat's notebook."""

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """What there is, whole, and what the person said to each."""
        found = lambda shared: list_rows(shared, self.chat(shared, chat_id))  # noqa: E731
        self.send(to_dict(await self.answer(found)))

    @web.authenticated
    @authorized
    async def put(self, chat_id: str) -> None:
        """Let models read one of them from the next question on, or none."""
        consent = ProjectConsent(**self.fields(**FIELDS))

        def decided(shared: Application) -> ProjectTextRows:
            return decide(shared, self.chat(shared, chat_id), consent)

        self.send(to_dict(await self.answer(decided)))


ROUTES: RouteTable = ((f"chats/{ROUTE_ID}/project", ProjectRoute),)
