"""Chats: list, begin, change, branch, delete, export."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.context.text_filters import known_filters
from cellwright.server.application import Application
from cellwright.server.chat_export import FORMATS, export_chat
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.store.chat_rows import Chat
from cellwright.store.chat_settings import filters_of, with_filters


class ChatsRoute(Route):
    """All chats of the person."""

    guest_methods = ("GET", "POST")

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The chats of a notebook, or of all, in which every word of a query is said."""
        notebook, query, owner = self.word("notebook"), self.word("query"), self.owner
        self.send(await self.answer(lambda shared: _listed(shared, notebook, query, owner)))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Begin a chat."""
        path, owner = self.fields(notebook_path=str).get("notebook_path", ""), self.owner
        chat = await self.answer(lambda shared: shared.chats.create(path, owner))
        self.send(chat_summary(self.shared, chat), 201)


class ChatRoute(Route):
    """One chat."""

    guest_methods = ("GET", "PATCH", "DELETE")

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """The chat, with its instructions."""
        chat = await self.answer(lambda shared: self.chat(shared, chat_id))
        self.send(chat_summary(self.shared, chat))

    @web.authenticated
    @authorized
    async def patch(self, chat_id: str) -> None:
        """Give it a title, another notebook, instructions and text filters of its own or an end."""
        changes = self.fields(
            title=str,
            notebook_path=str,
            prompt=str,
            prompt_adds=bool,
            expires_at=float,
            text_filters=list,
        )
        if not changes:
            raise Refusal(400, "Nothing is to be changed.", "Give a title or a notebook_path.")
        if "expires_at" in changes and self.is_guest:
            raise Refusal(403, "A guest's chat is kept for a day.", code="guest")
        chat = await self.answer(lambda shared: self._changed(shared, chat_id, changes))
        self.send(chat_summary(self.shared, chat))

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str) -> None:
        """Delete it with its runs."""
        await self.answer(lambda shared: self._deleted(shared, chat_id))
        self.send({})

    def _changed(self, shared: Application, chat_id: str, changes: dict[str, Any]) -> Chat:
        chat = self.chat(shared, chat_id)
        if "text_filters" in changes:
            settings = with_filters(chat.settings, map(str, changes["text_filters"]))
            chat = shared.chats.keep_settings(chat_id, settings)
        if "title" in changes:
            chat = shared.chats.rename(chat_id, changes["title"])
        if "notebook_path" in changes:
            chat = shared.chats.move(chat_id, changes["notebook_path"])
        if "prompt" in changes or "prompt_adds" in changes:
            prompt = shared.redactor().text(changes.get("prompt", chat.prompt))
            adds = changes.get("prompt_adds", chat.prompt_adds)
            chat = shared.chats.instruct(chat_id, prompt, adds=adds)
        if "expires_at" in changes:
            chat = shared.chats.expire(chat_id, changes["expires_at"])
        if shared.live is not None:
            shared.live.chat_changed(chat)
        return chat

    def _deleted(self, shared: Application, chat_id: str) -> None:
        self.chat(shared, chat_id)
        is_live = shared.live is not None and shared.live.running(chat_id)
        if is_live or shared.chats.claims.is_held(chat_id, elsewhere=True):
            raise Refusal(409, "A run of this chat is going on.", "Stop it first.", "running")
        shared.chats.delete(chat_id)
        if shared.live is not None:
            shared.live.chat_deleted(chat_id)


class ChatBranchRoute(Route):
    """Another chat that goes on from a place in this one."""

    guest_methods = ("POST",)

    @web.authenticated
    @authorized
    async def post(self, chat_id: str) -> None:
        """Make it; what was said up to and with the run is in both."""
        run, owner = self.fields(run=str).get("run", ""), self.owner

        def branched(shared: Application) -> Chat:
            self.chat(shared, chat_id)
            return shared.chats.branch(chat_id, run, owner)

        self.send(chat_summary(self.shared, await self.answer(branched)), 201)


class ChatExportRoute(Route):
    """One chat as a file."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """The chat as markdown, a notebook or a page."""
        to = self.word("to")
        if to not in FORMATS:
            raise Refusal(400, f"There is no format {to!r}.", f"Use one of: {', '.join(FORMATS)}.")
        file = await self.answer(
            lambda shared: export_chat(shared, self.chat(shared, chat_id), FORMATS[to])
        )
        self.send_file(file.text, file.name, FORMATS[to].mime)


def _listed(shared: Application, notebook: str, query: str, owner: str) -> list[dict[str, Any]]:
    chats = shared.chats.list(notebook, query, owner=owner)
    return [chat_summary(shared, chat) for chat in chats]


def chat_summary(shared: Application, chat: Chat) -> dict[str, Any]:
    """A chat in one line."""
    return {
        "id": chat.chat_id,
        "title": chat.title,
        "notebook_path": chat.notebook_path,
        "updated_at": chat.updated_at,
        "runs": chat.run_count,
        "run": shared.live.running(chat.chat_id) if shared.live is not None else "",
        "waits_for_answer": shared.live is not None and shared.live.waits_for_answer(chat.chat_id),
        "branched_from": chat.branched_from,
        "prompt": chat.prompt,
        "prompt_adds": chat.prompt_adds,
        "expires_at": chat.expires_at,
        "pins": list(chat.pins),
        "text_filters": [item.name for item in known_filters(filters_of(chat.settings))],
    }


ROUTES: RouteTable = (
    ("chats", ChatsRoute),
    (f"chats/{ROUTE_ID}", ChatRoute),
    (f"chats/{ROUTE_ID}/branch", ChatBranchRoute),
    (f"chats/{ROUTE_ID}/export", ChatExportRoute),
)
