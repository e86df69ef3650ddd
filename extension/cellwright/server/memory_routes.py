"""What is kept for later conversations: listed, added, changed, forgotten, decided about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.assistants.files import folders_of
from cellwright.knowledge.memory import (
    Action,
    Memory,
    Proposal,
    Scope,
    Whose,
    memory_owner,
    project_of,
)
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.server.application import Application
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable


@dataclass(frozen=True)
class KeptMemory:
    """One fact or wish that is kept."""

    id: str
    text: str
    scope: Scope
    created_at: float
    updated_at: float
    source_run: str
    folder: str = ""
    """Name of the folder it is kept for; empty: it counts everywhere."""


@dataclass(frozen=True)
class Proposed:
    """A change that waits for the person's word."""

    id: str
    action: Action
    text: str
    scope: Scope
    memory_id: str
    reason: str
    source_run: str
    created_at: float


@dataclass(frozen=True)
class MemoryList:
    """What is kept, and what is proposed."""

    memories: tuple[KeptMemory, ...]
    proposals: tuple[Proposed, ...]
    is_on: bool = True


@dataclass(frozen=True)
class MemorySetting:
    """Whether the person wants a memory; what is kept stays."""

    is_on: bool = False


@dataclass(frozen=True)
class NewMemory:
    """A text to keep."""

    text: str = ""
    scope: Scope = "user"
    notebook: str = ""
    """Whose folder it is for; empty: the folder that the server starts from."""


@dataclass(frozen=True)
class MemoryChange:
    """Another text."""

    text: str = ""


@dataclass(frozen=True)
class Decision:
    """What the person says of a proposal."""

    accept: bool = False


@dataclass(frozen=True)
class Decided:
    """What is kept because of it; null: nothing."""

    memory: KeptMemory | None


T = TypeVar("T")
SCOPES: tuple[Scope, ...] = ("user", "project")


class MemoryRoute(Route):
    """The memory of the person who asks; guests have none."""

    async def kept(self, work: Callable[[MemoryKeeper, Application, str], T]) -> T:
        """What ``work`` returns of the memory, the server and the name it is kept under.

        Raises:
            Refusal: It could not be done.
        """
        person = self.owner

        def done(shared: Application) -> T:
            owner = memory_owner(person, shared.settings().user)
            return work(MemoryKeeper(shared.database), shared, owner)

        return await self.answer(done)

    def text(self, shared: Application, text: str) -> str:
        """A text as it may be kept, the server's secrets taken out."""
        return shared.redactor().text(text)


class MemoriesRoute(MemoryRoute):
    """All that is kept."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What is kept, or what of it has to do with a query, and what is proposed."""
        query = self.word("query")

        def listed(keeper: MemoryKeeper, _shared: Application, owner: str) -> dict[str, Any]:
            return {
                "memories": [_memory(memory) for memory in keeper.all(owner, query)],
                "proposals": [_proposal(proposal) for proposal in keeper.proposals(owner)],
                "is_on": keeper.is_on(owner),
            }

        self.send(await self.kept(listed))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Keep a text; what says the same already is not kept twice."""
        given = self.fields(text=str, scope=str, notebook=str)
        scope: Scope | None = next((s for s in SCOPES if s == given.get("scope", "user")), None)
        if scope is None:
            raise Refusal(400, f"There is no scope {given['scope']!r}.", "Use user or project.")
        wanted = scope

        def keep(keeper: MemoryKeeper, shared: Application, owner: str) -> dict[str, Any]:
            folders = folders_of(shared.root, given.get("notebook", ""))
            whose = Whose(owner, project_of(str(folders[0])) if folders else "")
            text = self.text(shared, given.get("text", ""))
            return _memory(keeper.keep(whose, text, wanted).memory)

        self.send(await self.kept(keep), 201)


class OneMemoryRoute(MemoryRoute):
    """One memory."""

    @web.authenticated
    @authorized
    async def patch(self, memory_id: str) -> None:
        """Give it another text."""
        given = self.fields(text=str).get("text", "")

        def change(keeper: MemoryKeeper, shared: Application, owner: str) -> dict[str, Any]:
            _check_memory(keeper, owner, memory_id)
            return _memory(keeper.edit(owner, memory_id, self.text(shared, given)).memory)

        self.send(await self.kept(change))

    @web.authenticated
    @authorized
    async def delete(self, memory_id: str) -> None:
        """Forget it for good."""

        def forget(keeper: MemoryKeeper, _shared: Application, owner: str) -> None:
            _check_memory(keeper, owner, memory_id)
            keeper.forget(owner, memory_id)

        await self.kept(forget)
        self.send({})


class MemorySettingRoute(MemoryRoute):
    """Whether the person wants a memory."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Whether it is on."""
        is_on = await self.kept(lambda keeper, _shared, owner: keeper.is_on(owner))
        self.send({"is_on": is_on})

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Switch it; what is kept stays."""
        given = self.fields(is_on=bool)
        if "is_on" not in given:
            raise Refusal(400, "Nothing was decided.", "Give is_on: true or false.")

        def switch(keeper: MemoryKeeper, _shared: Application, owner: str) -> bool:
            keeper.switch(owner, is_on=given["is_on"])
            return keeper.is_on(owner)

        self.send({"is_on": await self.kept(switch)})


class ProposalRoute(MemoryRoute):
    """One proposal."""

    @web.authenticated
    @authorized
    async def post(self, proposal_id: str) -> None:
        """Do what it proposes, or put it aside for good."""
        given = self.fields(accept=bool)
        if "accept" not in given:
            raise Refusal(400, "Nothing was decided.", "Give accept: true or false.")

        def decide(keeper: MemoryKeeper, _shared: Application, owner: str) -> dict[str, Any]:
            if proposal_id not in {p.proposal_id for p in keeper.proposals(owner)}:
                hint = "It may have been decided about elsewhere."
                raise Refusal(404, f"There is no proposal {proposal_id!r}.", hint)
            kept = keeper.decide(owner, proposal_id, accept=given["accept"])
            return {"memory": _memory(kept.memory) if kept is not None else None}

        self.send(await self.kept(decide))


def _check_memory(keeper: MemoryKeeper, owner: str, memory_id: str) -> None:
    """Raises: Refusal: This person has no such memory; the start of an id is none here."""
    if memory_id not in {memory.memory_id for memory in keeper.all(owner)}:
        raise Refusal(404, f"There is no memory {memory_id!r}.", "See the list of memories.")


def _memory(memory: Memory) -> dict[str, Any]:
    return asdict(
        KeptMemory(
            memory.memory_id,
            memory.text,
            memory.scope,
            memory.created_at,
            memory.updated_at,
            memory.source_run,
            PurePosixPath(memory.project).name,
        )
    )


def _proposal(proposal: Proposal) -> dict[str, Any]:
    return asdict(
        Proposed(
            proposal.proposal_id,
            proposal.action,
            proposal.text,
            proposal.scope,
            proposal.memory_id,
            proposal.reason,
            proposal.source_run,
            proposal.created_at,
        )
    )


ROUTES: RouteTable = (
    ("memories", MemoriesRoute),
    (f"memories/{ROUTE_ID}", OneMemoryRoute),
    ("memory-setting", MemorySettingRoute),
    (f"proposals/{ROUTE_ID}", ProposalRoute),
)
