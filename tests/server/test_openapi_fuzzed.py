"""Requests made of the description itself: the server answers all of them as described."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from recorded_runs import analysis_run
from server import hand_components as tools
from server_client import Client

from cellwright.knowledge.memory import Whose
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.server.application import Application

schemathesis = pytest.importorskip("schemathesis")
pytestmark = pytest.mark.server

# so that nothing that is made up becomes the address of a model service
HERE = ["http://127.0.0.1:9/v1"]
CONFIG = {
    "ServerApp": {"jpserver_extensions": {"cellwright": True}},
    "Cellwright": {"endpoints": HERE, "components": [tools.SETTING]},
}
EXAMPLES = settings(
    max_examples=3,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    return CONFIG


@dataclass(frozen=True)
class Fuzzer:
    """Sends what schemathesis makes of the description; for a worker thread."""

    document: Any
    address: str
    token: str

    def run(self, known: Mapping[str, str]) -> int:
        """Every operation, with its path made up and with one that is there; how many."""
        from schemathesis.generation.modes import GenerationMode

        schema = schemathesis.openapi.from_dict(self.document)
        count = 0
        for found in schema.get_all_operations():
            operation = found.ok()
            names = [parameter.name for parameter in operation.path_parameters]
            given_path = {name: known[name] for name in names}
            for path in [None, given_path] if names else [None]:
                self.send(operation.as_strategy(path_parameters=path))
            if any(body.media_type == "application/json" for body in operation.body):
                # any text is a parameter, and any bytes are a file: only objects can be wrong
                wrong = GenerationMode.NEGATIVE
                self.send(operation.as_strategy(wrong, path_parameters=given_path))
            count += 1
        return count

    def send(self, cases: Any) -> None:
        """Some cases of one kind."""
        from schemathesis.checks import not_a_server_error
        from schemathesis.specs.openapi import checks

        wanted = [
            not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        ]

        @EXAMPLES
        @given(case=cases)
        def each(case: Any) -> None:
            headers = {"Authorization": f"token {self.token}"}
            case.call_and_validate(self.address, headers=headers, checks=wanted)

        each()


async def test_the_server_answers_as_described_whatever_is_asked(
    client: Client, shared: Application, jp_http_port: int
) -> None:
    chat = shared.chats.create("a.ipynb").chat_id
    keeper = MemoryKeeper(shared.database)
    known = {
        "chat_id": chat,
        "message_id": shared.chats.notes.add(chat, "user_later", "In euros.").note_id,
        "run_id": shared.runs.start(*analysis_run()).run_id,
        "kernel_id": "none",
        "memory_id": keeper.keep(Whose(), "I prefer polars").memory.memory_id,
        "proposal_id": "none",
        "document_id": "0123456789ab",
        "branch_id": "1",
        "name": "word_count",
        "version": "v1",
    }
    document = (await client.call("GET", "/openapi.json")).json
    address = f"http://127.0.0.1:{jp_http_port}{client.base_url}cellwright"
    fuzzer = Fuzzer(document, address, client.token)
    loop = asyncio.get_running_loop()
    count = await loop.run_in_executor(None, fuzzer.run, known)
    assert count == sum(len(methods) for methods in document["paths"].values())
