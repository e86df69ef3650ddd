"""Assistants: those that can be chosen for a chat, and their files made, changed and deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.assistants import Assistant, AssistantList, Unusable
from cellwright.assistants.editing import (
    AssistantFile,
    change_assistant,
    create_assistant,
    delete_assistant,
    open_assistant,
)
from cellwright.assistants.fields import ATTRIBUTES, KINDS
from cellwright.assistants.files import folders_of, list_assistants
from cellwright.assistants.places import AssistantPlace, place_of, places_of
from cellwright.assistants.writing import is_writable
from cellwright.errors import ConflictError
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.routes import Refusal, Route, RouteTable
from cellwright.session.composer import keep_public


@dataclass(frozen=True)
class AssistantSummary:
    """An assistant that can be chosen."""

    name: str
    description: str
    model: str
    scenes: tuple[str, ...] = ()
    is_public: bool = False
    is_default: bool = False
    """It answers here where no other is chosen."""
    place: str = ""
    """``notebook``, ``root`` or ``own``."""


@dataclass(frozen=True)
class UnusableAssistant:
    """An assistant that does not answer, because its file cannot be read."""

    name: str
    problem: str
    """What asking it is answered with."""
    file: str
    """As it is shown; empty for guests."""


@dataclass(frozen=True)
class WritablePlace:
    """A place where an assistant's file can be made."""

    place: str
    """``notebook``, ``root`` or ``own``."""
    folder: str
    """As it is shown."""


@dataclass(frozen=True)
class AssistantSummaries:
    """The assistants of a notebook, and what is wrong with the files of others."""

    assistants: tuple[AssistantSummary, ...]
    problems: tuple[str, ...]
    places: tuple[WritablePlace, ...] = ()
    """The nearest first; none for guests."""
    unusable: tuple[UnusableAssistant, ...] = ()


@dataclass(frozen=True)
class SceneDetails:
    """A scene of an assistant."""

    label: str
    prompt: str
    when: dict[str, Any] | None
    """When it is chosen; null: its label says it."""


@dataclass(frozen=True)
class AssistantDetails:
    """All that an assistant's file says."""

    name: str
    description: str
    instructions: str
    model: str
    temperature: float | None
    effort: str
    parameters: dict[str, Any]
    tools: tuple[str, ...] | None
    """Null: all."""
    adapter: str
    library: tuple[str, ...] | None
    """Null: all."""
    is_public: bool
    is_default: bool
    """The file says that it answers where no other is chosen."""
    disable_memory: bool
    memory_for_guests: bool
    disable_default_prompt: bool
    disable_web_browsing: bool
    scenes: tuple[SceneDetails, ...]
    place: str
    """``notebook``, ``root`` or ``own``."""
    file: str
    """As it is shown."""
    version: str
    """Changes whenever the file does."""


@dataclass(frozen=True)
class AssistantFields:
    """Fields of an assistant; one with its default is taken out of the file."""

    name: str = ""
    description: str = ""
    instructions: str = ""
    model: str = ""
    temperature: float | None = None
    effort: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    adapter: str = ""
    library: tuple[str, ...] | None = None
    is_public: bool = False
    is_default: bool = False
    disable_memory: bool = False
    memory_for_guests: bool = False
    disable_default_prompt: bool = False
    disable_web_browsing: bool = False
    scenes: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class NewAssistant(AssistantFields):
    """An assistant to be made."""

    place: str = ""
    """One of those that ``GET assistants`` names."""


@dataclass(frozen=True)
class AssistantChange(AssistantFields):
    """What is to be otherwise; what is missing stays. Another name renames it."""

    version: str = ""
    """Of the file that was seen."""


T = TypeVar("T")
FIELDS: Mapping[str, Any] = {
    "name": str,
    "description": str,
    "instructions": str,
    "model": str,
    "temperature": float | None,
    "effort": str,
    "parameters": dict,
    "tools": list | None,
    "adapter": str,
    "library": list | None,
    "is_public": bool,
    "is_default": bool,
    "disable_memory": bool,
    "memory_for_guests": bool,
    "disable_default_prompt": bool,
    "disable_web_browsing": bool,
    "scenes": list,
}
"""Type of each field of a body."""
NAME = r"([^/]{1,3072})"
"""Of 255 characters, as an address writes them."""


class AssistantRoute(Route):
    """A route about assistants of a notebook."""

    async def settled(self, work: Callable[[Application], T]) -> T:
        """What ``work`` returns.

        Raises:
            Refusal: It could not be done, or something else is there by now.
        """

        def worked(shared: Application) -> T:
            try:
                return work(shared)
            except ConflictError as error:
                message = shared.redactor().text(error.message)
                raise Refusal(409, message, error.hint, error.code) from error

        return await self.answer(worked)

    async def send_details(
        self, work: Callable[[Application], AssistantFile], status: int = 200
    ) -> None:
        """Answer with the assistant that ``work`` made or found."""
        notebook = self.word("notebook")
        details = await self.settled(
            lambda shared: _details(work(shared), _places(shared, notebook))
        )
        self.send(to_dict(details), status)


class AssistantsRoute(AssistantRoute):
    """The assistants beside a notebook, where the server starts from, and the person's own."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What can be chosen, and what is wrong with the files of others."""
        notebook = self.word("notebook")

        def listed(shared: Application) -> AssistantSummaries:
            found, places = _listed(shared, notebook), _places(shared, notebook)
            return _summaries(found, places, for_guest=self.is_guest)

        self.send(to_dict(await self.answer(listed)))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Write a file for a new one."""
        given = self.fields(**FIELDS, place=str)
        notebook = self.word("notebook")

        def create(shared: Application) -> AssistantFile:
            places = _places(shared, notebook)
            wanted = [each for each in places if each.place == given.get("place", "")]
            if not wanted:
                known = ", ".join(each.place for each in places)
                message = f"There is no place {given.get('place', '')!r} for it."
                raise Refusal(400, message, f"There are: {known}.")
            return create_assistant(wanted[0].folder, given.get("name", ""), _keys(given))

        await self.send_details(create, 201)


class OneAssistantRoute(AssistantRoute):
    """One assistant."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """All that its file says."""
        notebook = self.word("notebook")
        await self.send_details(lambda shared: _found(shared, notebook, name))

    @web.authenticated
    @authorized
    async def put(self, name: str) -> None:
        """Change its file; the rest of it stays as it was written."""
        given = self.fields(**FIELDS, version=str)
        notebook, version = self.word("notebook"), _version(given.get("version", ""))

        def change(shared: Application) -> AssistantFile:
            path = _found(shared, notebook, name).path
            wanted = given.get("name")
            return change_assistant(path, _keys(given), name=wanted, version=version)

        await self.send_details(change)

    @web.authenticated
    @authorized
    async def delete(self, name: str) -> None:
        """Delete its file; chats keep the name."""
        notebook, version = self.word("notebook"), _version(self.word("version"))

        await self.settled(
            lambda shared: delete_assistant(_found(shared, notebook, name).path, version)
        )
        self.set_status(204)
        self.finish()


def _listed(shared: Application, notebook: str) -> AssistantList:
    return list_assistants(folders_of(shared.root, notebook), shared.settings().home)


def _places(shared: Application, notebook: str) -> tuple[AssistantPlace, ...]:
    return places_of(shared.root, notebook, shared.settings().home)


def _found(shared: Application, notebook: str, name: str) -> AssistantFile:
    """The file of the assistant of that name.

    Raises:
        Refusal: There is none.
    """
    listed = _listed(shared, notebook)
    found = listed.find(name)
    if found is None:
        hint = " ".join([*listed.problems, "See the list of assistants."])
        raise Refusal(404, f"There is no assistant {name!r}.", shared.redactor().text(hint))
    return open_assistant(found.file)


def _version(version: str) -> str:
    if not version:
        raise Refusal(400, "It is not said which version was seen.", "Give its version.")
    return version


def _keys(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body by their keys in a file."""
    names = {key: ATTRIBUTES.get(key, key) for key in KINDS if key != "name"}
    return {key: given[name] for key, name in names.items() if name in given}


def _summaries(
    found: AssistantList, places: tuple[AssistantPlace, ...], *, for_guest: bool
) -> AssistantSummaries:
    listed = keep_public(found) if for_guest else found
    writable = () if for_guest else [each for each in places if is_writable(each.folder)]
    return AssistantSummaries(
        tuple(_summary(assistant, listed, places) for assistant in listed.assistants),
        (*listed.problems, *listed.notes),
        tuple(WritablePlace(each.place, each.shown) for each in writable),
        tuple(_unusable(each, places) for each in listed.unusable),
    )


def _unusable(unusable: Unusable, places: tuple[AssistantPlace, ...]) -> UnusableAssistant:
    path = Path(unusable.path)
    shown = f"{place_of(path, places).shown}/{path.name}" if unusable.path else ""
    return UnusableAssistant(unusable.name, unusable.problem, shown)


def _summary(
    assistant: Assistant, found: AssistantList, places: tuple[AssistantPlace, ...]
) -> AssistantSummary:
    return AssistantSummary(
        name=assistant.name,
        description=assistant.description,
        model=assistant.model,
        scenes=tuple(scene.label for scene in assistant.scenes),
        is_public=assistant.is_public,
        is_default=assistant is found.default,
        place=place_of(assistant.file, places).place,
    )


def _details(file: AssistantFile, places: tuple[AssistantPlace, ...]) -> AssistantDetails:
    assistant, place = file.assistant, place_of(file.path, places)
    scenes = (SceneDetails(**{"when": None, **scene.row}) for scene in assistant.scenes)
    return AssistantDetails(
        **{name: getattr(assistant, name) for name in FIELDS if name != "scenes"},
        scenes=tuple(scenes),
        place=place.place,
        file=f"{place.shown}/{file.path.name}",
        version=file.version,
    )


ROUTES: RouteTable = (
    ("assistants", AssistantsRoute),
    (f"assistants/{NAME}", OneAssistantRoute),
)
