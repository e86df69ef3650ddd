"""Whose the objects are that a request names: the one check for REST routes and frames alike."""

from __future__ import annotations

import functools
import typing
from collections.abc import Container, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from cellwright.server.application import Application
from cellwright.server.frames import ObjectName, RefusedError
from cellwright.store.chat_rows import Chat, is_guest, may_open

LIST_HINT = "See the list of chats."


@dataclass(frozen=True)
class Person:
    """Who asks."""

    name: str = ""
    """The name that their chats are kept under; empty: everybody here shares one token."""
    may_use_kernels: bool = True
    """The server lets them run code in its kernels."""


def open_chat(shared: Application, owner: str, chat_id: str) -> Chat:
    """The chat, if this person may open it.

    Raises:
        RefusedError: There is no such chat for them; whether it exists is not said.
    """
    chat = shared.chats.find(chat_id)
    if chat is None or not may_open(owner, chat.owner):
        raise RefusedError("not_found", f"There is no chat {chat_id!r}.", hint=LIST_HINT)
    return chat


def check_run(shared: Application, owner: str, run_id: str, *, may_be_gone: bool = False) -> None:
    """Return if this person may see and change what is kept of a run.

    Raises:
        RefusedError: There is no such run for them; whether it exists is not said.
    """
    chat_id = shared.chats.chat_of(run_id)
    chat = shared.chats.find(chat_id) if chat_id else None
    if chat_id:
        is_theirs = chat is not None and may_open(owner, chat.owner)
    elif shared.runs.events(run_id):
        is_theirs = not is_guest(owner)
    else:
        is_theirs = may_be_gone
    if not is_theirs:
        # Not ``not_found``: that is what tells a page that the chat of the frame is gone.
        raise RefusedError("no_run", f"There is no run {run_id!r}.", hint=LIST_HINT)


def check_objects(
    shared: Application, person: Person, frame: Any, attached: Container[str]
) -> None:
    """Return if everything that a frame names is this person's to use.

    Args:
        shared: Stores.
        person: Who sent it.
        frame: What a page sent.
        attached: The notebooks that the page has open.

    Raises:
        RefusedError: Something is another person's, or is not there.
    """
    for name, value in _named_objects(frame):
        match name.kind:
            case "chat":
                open_chat(shared, person.name, value)
            case "run":
                check_run(shared, person.name, value, may_be_gone=name.may_be_gone)
            case "file":
                _check_file(shared, person, value)
            case "kernel":
                check_kernels(person)
            case "notebook" if value not in attached:
                raise RefusedError("no_notebook", "That notebook is not open in this tab.")


def _check_file(shared: Application, person: Person, file: str) -> None:
    if is_guest(person.name) and not shared.uploads.is_from(person.name, file):
        raise RefusedError(
            "no_file", f"There is no file {file!r}.", hint="Add it to the prompt again."
        )


def check_kernels(person: Person) -> None:
    """Return if this person may run code in the server's kernels.

    Raises:
        RefusedError: They may not.
    """
    if not person.may_use_kernels:
        raise RefusedError("not_allowed", "You may not run code in kernels on this server.")


def _named_objects(value: Any) -> Iterator[tuple[ObjectName, str]]:
    """Each object that a frame names, those inside of its parts included."""
    if isinstance(value, tuple):
        for item in value:
            yield from _named_objects(item)
    elif is_dataclass(value) and not isinstance(value, type):
        names = _names_in(type(value))
        for each in fields(value):
            content = getattr(value, each.name)
            name = names.get(each.name)
            if name is None:
                yield from _named_objects(content)
            elif content:
                yield name, content


@functools.cache
def _names_in(cls: type) -> dict[str, ObjectName]:
    hints = typing.get_type_hints(cls, include_extras=True)
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    return {
        name: mark
        for name, found in marks.items()
        for mark in found
        if isinstance(mark, ObjectName)
    }
