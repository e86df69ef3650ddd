"""Chats: list, begin, change, branch, delete, export; their messages and pins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.context.normalise import known_filters
from cellwright.context.roles import ROLES
from cellwright.context.turns import is_summary, pinned_run, question_of
from cellwright.errors import SetupError
from cellwright.exports import html, notebook
from cellwright.exports.timeline import Called, Item, Ran, TimelineMessage, Wrote, timeline
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.record.mime_bundles import bundle_text
from cellwright.record.outputs import Output
from cellwright.record.run_record import THUMB, UNDONE, RunRecord, make_thumb, undone_step
from cellwright.record.values import safe_text, to_dict
from cellwright.server.application import Application
from cellwright.server.rest_types import ChatSummary, RunThumb
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.store.chat_rows import Chat, filters_of, with_filters
from cellwright.store.chats import ChatNote, ChatPins, PinsFullError
from cellwright.store.runs import RunScores
from cellwright.text.cleaning import clean, fenced, plain_text, safe_markdown
from cellwright.text.redaction import Redactor

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


class ChatsRoute(Route):
    """All chats of the person."""

    guest_methods = ("GET", "POST")

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The chats of a notebook, or of all, in which every word of a query is said."""
        notebook, query, owner = self.word("notebook"), self.word("query"), self.owner
        listed = await self.answer(lambda shared: _listed(shared, notebook, query, owner))
        self.send(to_dict(listed))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Begin a chat."""
        path, owner = self.fields(notebook_path=str).get("notebook_path", ""), self.owner
        chat = await self.answer(lambda shared: shared.chats.create(path, owner))
        self.send(to_dict(chat_summary(self.shared, chat)), 201)


class ChatRoute(Route):
    """One chat."""

    guest_methods = ("GET", "PATCH", "DELETE")

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """The chat, with its instructions."""
        chat = await self.answer(lambda shared: self.chat(shared, chat_id))
        self.send(to_dict(chat_summary(self.shared, chat)))

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
        self.send(to_dict(chat_summary(self.shared, chat)))

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
            chat = shared.chats.rename(chat_id, shared.redactor().text(changes["title"]))
        if "notebook_path" in changes:
            chat = shared.chats.move(chat_id, changes["notebook_path"])
        if "prompt" in changes or "prompt_adds" in changes:
            prompt = shared.redactor().text(changes.get("prompt", chat.prompt))
            adds = changes.get("prompt_adds", chat.prompt_adds)
            chat = shared.chats.instruct(chat_id, prompt, adds=adds)
        if "expires_at" in changes:
            chat = shared.chats.expire(chat_id, changes["expires_at"])
        _tell_pages(shared, chat)
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

        chat = await self.answer(branched)
        self.send(to_dict(chat_summary(self.shared, chat)), 201)


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


def _listed(shared: Application, notebook: str, query: str, owner: str) -> list[ChatSummary]:
    chats = shared.chats.list(notebook, query, owner=owner)
    return [chat_summary(shared, chat) for chat in chats]


def chat_summary(shared: Application, chat: Chat) -> ChatSummary:
    """A chat in one line."""
    live, scores = shared.live, shared.runs.scores
    return ChatSummary(
        id=chat.chat_id,
        title=chat.title,
        notebook_path=chat.notebook_path,
        updated_at=chat.updated_at,
        runs=chat.run_count,
        run=live.running(chat.chat_id) if live is not None else "",
        waits_for_answer=live is not None and live.waits_for_answer(chat.chat_id),
        branched_from=chat.branched_from,
        prompt=chat.prompt,
        prompt_adds=chat.prompt_adds,
        expires_at=chat.expires_at,
        pins=tuple(chat.pins),
        text_filters=tuple(item.name for item in known_filters(filters_of(chat.settings))),
        thumbs={
            run_id: RunThumb(bool(score.value), score.explanation)
            for run_id, score in scores.in_chat(chat.chat_id, THUMB).items()
        },
        undone={
            run_id: undone_step(score)
            for run_id, score in scores.in_chat(chat.chat_id, UNDONE).items()
        },
    )


# The messages of a chat.


@dataclass(frozen=True)
class MessageAuthor:
    """The assistant that said something."""

    id: str
    name: str


@dataclass(frozen=True)
class MessageCall:
    """A tool that the model called."""

    id: str
    name: str
    arguments: str | None
    """As the model wrote them; null unless ``debug`` is given."""


@dataclass(frozen=True)
class ChatMessage:
    """One message of a chat, as a list of them shows it."""

    run: str
    role: str
    """One of the eleven of docs/explanation/context.md."""
    hidden: bool
    """Whether its role is one that is not shown; such ones are left out unless ``debug`` is given.
    """
    text: str
    assistant: MessageAuthor | None = None
    calls: tuple[MessageCall, ...] = ()
    tool: str = ""
    """Of a result: the tool it is of."""
    call: str = ""
    """Of a result: the id of its call."""
    is_error: bool = False


@dataclass(frozen=True)
class WaitingMessage:
    """What the next question takes along; nobody answers it on its own."""

    id: str
    role: str
    text: str


@dataclass(frozen=True)
class NewMessage:
    """A message that is to wait."""

    text: str = ""
    role: str = "user_later"


@dataclass(frozen=True)
class ChatMessages:
    """The newest messages of a chat, oldest first."""

    chat: str
    messages: tuple[ChatMessage, ...] = ()
    before: str = ""
    """Asked with ``before`` set to this, the messages that came earlier; empty: there are none."""
    waiting: tuple[WaitingMessage, ...] = ()


# What was said in a chat, as a list: without what tools were called with, and nothing hidden.


RUNS_AT_ONCE = 50


def chat_messages(
    shared: Application, chat_id: str, before: str = "", *, debug: bool = False
) -> ChatMessages:
    """The messages of the newest runs that count.

    Args:
        shared: Where the record is.
        chat_id: The chat.
        before: Only runs before this one; empty: the newest.
        debug: With hidden messages, what was put beside them and what tools were called with.
    """
    runs = shared.chats.active_run_ids(chat_id)
    end = runs.index(before) if before in runs else len(runs)
    start = max(0, end - RUNS_AT_ONCE)
    redactor = shared.redactor()
    found: list[ChatMessage] = []
    for run_id in runs[start:end]:
        with suppress(SetupError):  # it has written nothing yet
            found += messages_of(shared.runs.record(run_id), redactor, debug=debug)
    waiting = waiting_messages(shared, chat_id, debug=debug)
    return ChatMessages(chat_id, tuple(found), runs[start] if start else "", waiting)


def waiting_messages(
    shared: Application, chat_id: str, *, debug: bool = False
) -> tuple[WaitingMessage, ...]:
    """What the next question takes along, in the order in which it was said."""
    return tuple(
        waiting_message(note)
        for note in shared.chats.notes.waiting(chat_id)
        if debug or ROLES[note.role].is_shown
    )


def waiting_message(note: ChatNote) -> WaitingMessage:
    """What waits in a chat, as it is listed."""
    return WaitingMessage(note.note_id, note.role, note.text)


def messages_of(record: RunRecord, redactor: Redactor, *, debug: bool) -> Iterator[ChatMessage]:
    """What was said in one run."""
    asked = record.prompt
    for message in record.messages[record.earlier_messages :]:
        role = _role(message)
        is_hidden = not ROLES[role].is_shown
        if is_hidden and not debug:
            continue
        text = text_of(message) if debug else _shown_text(message, asked)
        if role == "user":
            asked = ""
        shown = ChatMessage(record.run_id, role, is_hidden, redactor.text(text))
        yield _with_calls(shown, message, redactor, debug=debug)


def _role(message: Message) -> str:
    """What it was sent as; what the person did not say, such as our instructions, is hidden."""
    match message:
        case SystemMessage():
            return message.sent_as if message.origin == "user" else "system_hide"
        case UserMessage():
            stands_for_more = is_summary(message) or pinned_run(message)
            return "user_hide" if stands_for_more else message.sent_as
        case AssistantMessage():
            return "assistant_call" if message.tool_calls else "assistant"
        case ToolMessage():
            return "tool"


def _shown_text(message: Message, asked: str) -> str:
    """The person's own words, without what stood beside them."""
    if isinstance(message, UserMessage):
        return asked if asked and message.sent_as == "user" else question_of(message)
    return text_of(message)


def _with_calls(
    shown: ChatMessage, message: Message, redactor: Redactor, *, debug: bool
) -> ChatMessage:
    match message:
        case AssistantMessage(author=author):
            calls = tuple(
                MessageCall(call.id, call.name, redactor.text(call.arguments) if debug else None)
                for call in message.tool_calls
            )
            assistant = MessageAuthor(author, author) if author else None
            return replace(shown, assistant=assistant, calls=calls)
        case ToolMessage():
            name, call = message.name, message.call_id
            return replace(shown, tool=name, call=call, is_error=message.is_error)
        case _:
            return shown


# Their routes: the list, and the messages that wait for the next question.


class ChatMessagesRoute(Route):
    """The messages of one chat."""

    guest_methods = ("GET", "POST")

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """The newest messages; ``debug=1`` with what is hidden and what tools were called with.

        ``waiting=1`` asks only for what waits: of a long chat no run is read for it.
        """
        before, debug = self.word("before"), self.word("debug") == "1"
        only_waiting = self.word("waiting") == "1"
        if debug and self.is_guest:
            raise Refusal(403, "Guests of this server are not shown what is hidden.", code="guest")

        def listed(shared: Application) -> ChatMessages:
            chat = self.chat(shared, chat_id)
            if only_waiting:
                waiting = waiting_messages(shared, chat.chat_id, debug=debug)
                return ChatMessages(chat.chat_id, (), "", waiting)
            return chat_messages(shared, chat.chat_id, before, debug=debug)

        self.send(to_dict(await self.answer(listed)))

    @web.authenticated
    @authorized
    async def post(self, chat_id: str) -> None:
        """Let a message wait for the next question; nobody answers it on its own."""
        given = self.fields(text=str, role=str)
        role, text = given.get("role", "user_later"), given.get("text", "")

        def noted(shared: Application) -> WaitingMessage:
            chat = self.chat(shared, chat_id)
            note = shared.chats.notes.add(chat.chat_id, role, shared.redactor().text(text))
            _tell_pages(shared, chat)
            return waiting_message(note)

        self.send(to_dict(await self.answer(noted)), 201)


class WaitingMessageRoute(Route):
    """One message that waits."""

    guest_methods = ("DELETE",)

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str, message_id: str) -> None:
        """Take it back."""

        def forgotten(shared: Application) -> None:
            chat, notes = self.chat(shared, chat_id), shared.chats.notes
            if message_id not in [note.note_id for note in notes.waiting(chat.chat_id)]:
                raise Refusal(404, f"No message {message_id!r} waits.", "A question took it along.")
            notes.forget(chat.chat_id, [message_id])
            _tell_pages(shared, chat)

        await self.answer(forgotten)
        self.send({})


def _tell_pages(shared: Application, chat: Chat) -> None:
    if shared.live is not None:
        shared.live.chat_changed(chat)


# Pinned turns stay in the context of a chat.


class ChatPinRoute(Route):
    """One turn of a chat."""

    guest_methods = ("PUT", "DELETE")

    @web.authenticated
    @authorized
    async def put(self, chat_id: str, run_id: str) -> None:
        """Pin it; it counts from the next question on."""
        await self._change(chat_id, run_id, ChatPins.pin)

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str, run_id: str) -> None:
        """Let it go, with the next turns that are left out."""
        await self._change(chat_id, run_id, ChatPins.unpin)

    async def _change(
        self, chat_id: str, run_id: str, change: Callable[[ChatPins, str, str], None]
    ) -> None:
        def changed(shared: Application) -> Chat:
            chat = self.chat(shared, chat_id)
            if run_id not in shared.chats.active_run_ids(chat.chat_id):
                raise Refusal(404, f"The chat has no run {run_id!r} that counts.", "Reload it.")
            try:
                change(shared.chats.pins, chat.chat_id, run_id)
            except PinsFullError as error:
                raise Refusal(409, error.message, error.hint, "pins_full") from error
            chat = shared.chats.get(chat.chat_id)
            _tell_pages(shared, chat)
            return chat

        self.send(to_dict(chat_summary(self.shared, await self.answer(changed))))


# What a person thinks of an answer.


class ChatThumbRoute(Route):
    """The thumb of one run of a chat, kept as a score of the run."""

    guest_methods = ("PUT", "DELETE")

    @web.authenticated
    @authorized
    async def put(self, chat_id: str, run_id: str) -> None:
        """Keep it, in the place of an earlier one."""
        given = self.fields(is_up=bool, comment=str)
        if "is_up" not in given:
            raise Refusal(400, "'is_up' is missing.", "Say true or false.")
        comment = self.shared.redactor().text(given.get("comment", "").strip())
        thumb = make_thumb(comment, is_up=given["is_up"])
        await self._change(chat_id, run_id, lambda scores: scores.give(run_id, thumb))

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str, run_id: str) -> None:
        """Take it back."""
        await self._change(chat_id, run_id, lambda scores: scores.withdraw(run_id, THUMB))

    async def _change(self, chat_id: str, run_id: str, change: Callable[[RunScores], None]) -> None:
        def changed(shared: Application) -> Chat:
            chat = self.chat(shared, chat_id)
            if run_id not in shared.chats.run_ids(chat.chat_id):
                raise Refusal(404, f"The chat has no run {run_id!r}.", "Reload it.")
            change(shared.runs.scores)
            _tell_pages(shared, chat)
            return chat

        self.send(to_dict(chat_summary(self.shared, await self.answer(changed))))


ROUTES: RouteTable = (
    ("chats", ChatsRoute),
    (f"chats/{ROUTE_ID}", ChatRoute),
    (f"chats/{ROUTE_ID}/branch", ChatBranchRoute),
    (f"chats/{ROUTE_ID}/export", ChatExportRoute),
    (f"chats/{ROUTE_ID}/messages", ChatMessagesRoute),
    (f"chats/{ROUTE_ID}/messages/{ROUTE_ID}", WaitingMessageRoute),
    (f"chats/{ROUTE_ID}/pins/{ROUTE_ID}", ChatPinRoute),
    (f"chats/{ROUTE_ID}/thumbs/{ROUTE_ID}", ChatThumbRoute),
)
