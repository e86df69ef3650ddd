"""The main job with providers that refuse what the real ones refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command_line import Shell, sources
from fake_providers import DeepSeek, Gemini, OpenAIResponses, calls, says, thinks
from fake_service import FakeService, text

pytestmark = pytest.mark.kernel

PLOT = """
import base64
from IPython.display import Image
Image(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
))
"""
MAIN_JOB = [
    [
        thinks("First the total."),
        says("I add."),
        calls("run_cell", {"code": "best = 20 + 22\nbest"}),
    ],
    [thinks("Now the plot."), calls("run_cell", {"code": PLOT})],
    [thinks(), says("The best is 42.")],
]


def run(shell: Shell, provider: Any, *arguments: str, model: str) -> tuple[Any, FakeService]:
    """What a run of the main job says of itself, and the service it asked."""
    with FakeService(provider) as service:
        asking = shell.asking(service)
        asking = Shell(asking.folder, {**asking.environ, "CELLWRIGHT_MODEL": model})
        done = asking.run_process(
            "run", "Which is best?", "--mode", "auto", "--json", "-o", "out.ipynb", *arguments
        )
    assert done.code == 0, done.err
    return done.document, service


def test_the_main_job_runs_with_a_model_that_only_responses_serves(shell: Shell) -> None:
    provider = OpenAIResponses(MAIN_JOB, chunk_bytes=13)
    document, service = run(shell, provider, model="gpt-5.6")
    assert (document["status"], document["answer"]) == ("completed", "The best is 42.")
    paths = [request.path.removeprefix("/v1") for request in service.requests]
    assert paths == ["/chat/completions", "/responses", "/responses", "/responses"]
    assert len(provider.refusals) == 1, provider.refusals
    assert len(sources(shell.folder / "out.ipynb")) >= 2
    last = provider.taken[-1]["input"]
    assert [item["type"] for item in last].count("reasoning") == 2
    pictures = [
        part
        for item in last
        if item["type"] == "function_call_output" and isinstance(item["output"], list)
        for part in item["output"]
        if part["type"] == "input_image"
    ]
    assert len(pictures) == 1, "the plot goes with the result that made it"

    shell.run("export", document["id"], "--to", "html", "-o", "run.html")
    page = (shell.folder / "run.html").read_text(encoding="utf-8")
    assert "Responses API from now on" in page, "the record says why"

    replay = shell.run("replay", "last")
    assert (replay.code, replay.out) == (0, "2 cells, no differences.\n")

    with FakeService([text("Mine.")]) as other:
        done = shell.asking(other).run("rerun", document["id"], "-m", "other-model", "--json")
        assert done.code == 0, done.err
        assert "encrypted_content" not in other.requests[0].raw.decode()
    assert done.document["answer"] == "Mine."


def test_the_main_job_runs_where_thinking_has_to_come_back(shell: Shell) -> None:
    provider = DeepSeek(MAIN_JOB)
    document, _ = run(shell, provider, model="deepseek-v4-pro")
    assert (document["status"], document["answer"]) == ("completed", "The best is 42.")
    # It sees no pictures, which it says once; the plot's caption goes on without it.
    assert len(provider.refusals) == 1
    assert "image_url" in provider.refusals[0]
    thoughts = [
        message["reasoning_content"]
        for message in provider.taken[-1]["messages"]
        if message.get("tool_calls")
    ]
    assert thoughts == ["First the total.", "Now the plot."]


def test_the_main_job_runs_where_calls_are_signed(shell: Shell) -> None:
    provider = Gemini(MAIN_JOB)
    document, _ = run(shell, provider, model="gemini-3-pro")
    assert (document["status"], document["answer"]) == ("completed", "The best is 42.")
    assert provider.refusals == []
    body = json.dumps(provider.taken[-1])
    assert all(signature in body for signature in provider.signatures.values())
    assert '"image_url"' in body
