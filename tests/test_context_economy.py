"""What a long session costs in context: measured on the requests as they went over the wire."""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path
from typing import Any

import pytest
from fake_answers import Request, Wire, text, tool_call
from fake_service import FakeService

from cellwright.kernels.fresh import start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.record.messages import Parameters
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.text.truncation import estimate_tokens

pytestmark = pytest.mark.usefixtures("forked_kernels")

TURNS = 30
HEAD_LIMIT_TOKENS = 2_500
REUSE_AT_LEAST = 0.95
GROWTH_LIMIT_TOKENS = 1_200
"""A turn of two calls adds at most this much to the next request."""
CELLS = (
    "import pandas as pd, numpy as np\n"
    "df{n} = pd.DataFrame(np.arange(1600).reshape(100, 16), columns=list('abcdefghijklmnop'))",
    "df0",
    "print('row of text ' * 5000)",
    "1 / 0",
    "total{n} = sum(range({n}))",
)


def answers(request: Request) -> Wire:
    """Two cells a turn, then a sentence; which cells depends on the turn alone."""
    messages = request.messages
    last_user = max(i for i, m in enumerate(messages) if m["role"] == "user")
    turn = sum(m["role"] == "user" for m in messages) - 1
    done = sum(m["role"] == "tool" for m in messages[last_user:])
    if done == 2:
        return text(f"Turn {turn} is done.")(request)
    number = 2 * turn + done
    code = CELLS[number % len(CELLS)].format(n=number)
    return tool_call("run_cell", {"code": code}, id=f"call_{number}")(request)


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Every request of a session of thirty turns, in order."""
    folder: Path = tmp_path_factory.mktemp("economy")
    database = open_database(folder / "runs.sqlite")
    kernel = start_kernel(cwd=str(folder))
    place = RunContext(
        kernel, RunStore(database), Redactor.from_environment(os.environ, ""), "bench"
    )
    with FakeService(answers) as service:
        conversation = Conversation(place)
        model = OpenAILM(service.settings())
        for turn in range(TURNS):
            question = RunRequest(
                f"Please do part {turn}.", Parameters("scripted"), service.base_url, mode="auto"
            )
            for _ in conversation.ask(question, model):
                pass
        requests = [request.body for request in service.requests]
    kernel.close()
    database.close()
    return [body for body in requests if "messages" in body]


def cached_text(body: dict[str, Any]) -> str:
    """Tools and messages, in the order in which a provider caches them."""
    return json.dumps(body["tools"], ensure_ascii=False) + "".join(
        json.dumps(message, ensure_ascii=False) for message in body["messages"]
    )


@pytest.mark.kernel
def test_every_request_extends_the_one_before(bodies: list[dict[str, Any]]) -> None:
    texts = [cached_text(body) for body in bodies]
    assert len(texts) == TURNS * 3
    assert all(b.startswith(a) for a, b in zip(texts, texts[1:], strict=False))


@pytest.mark.kernel
def test_the_prefix_a_provider_has_cached_is_nearly_all_of_a_request(
    bodies: list[dict[str, Any]],
) -> None:
    texts = [cached_text(body).encode() for body in bodies]
    shared = sum(len(os.path.commonprefix([a, b])) for a, b in zip(texts, texts[1:], strict=False))
    reuse = shared / sum(len(b) for b in texts[1:])
    assert reuse >= REUSE_AT_LEAST


@pytest.mark.kernel
def test_instructions_and_tools_are_a_small_head(bodies: list[dict[str, Any]]) -> None:
    first = bodies[0]
    head = json.dumps(first["tools"], ensure_ascii=False) + first["messages"][0]["content"]
    assert first["messages"][0]["role"] == "system"
    assert len(first["tools"]) <= 10
    assert estimate_tokens(head) <= HEAD_LIMIT_TOKENS


@pytest.mark.kernel
def test_what_a_turn_adds_stays_flat(bodies: list[dict[str, Any]]) -> None:
    last_of_turn = [estimate_tokens(cached_text(body)) for body in bodies[2::3]]
    added = [b - a for a, b in zip(last_of_turn, last_of_turn[1:], strict=False)]
    # The five kinds of cells come round every five turns, so fifths of the session are alike.
    early, late = statistics.mean(added[:10]), statistics.mean(added[-10:])
    assert statistics.mean(added) <= GROWTH_LIMIT_TOKENS
    assert late <= early * 1.1 + 20


@pytest.mark.kernel
def test_a_megabyte_of_output_costs_no_more_than_its_limit(bodies: list[dict[str, Any]]) -> None:
    results = [m for m in bodies[-1]["messages"] if m["role"] == "tool"]
    longest = max(estimate_tokens(m["content"]) for m in results)
    assert longest <= 2_200
    assert any("read_output" in m["content"] for m in results)
