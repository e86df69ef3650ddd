"""Files put beside a question, as the model is sent them: seen where it sees, else described."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, text
from PIL import Image

from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.record.attachments import human_size
from cellwright.record.messages import Parameters
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import ModelSettings
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]

SEEING, BLIND = "gpt-5-scripted", "scripted"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures")
    for name in ("a.png", "b.png", "c.png"):
        buffer = io.BytesIO()
        Image.new("RGB", (40, 30)).save(buffer, "PNG")
        (path / name).write_bytes(buffer.getvalue())
    (path / "report.pdf").write_bytes(b"%PDF-1.7 \0")
    return path


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[FreshKernel]:
    kernel = start_kernel(cwd=str(folder))
    yield kernel
    kernel.close()


def asked(kernel: FreshKernel, model: str, *files: str) -> list[dict[str, Any]]:
    """The messages that the model was sent."""
    database = open_database(None)
    place = RunContext(kernel, RunStore(database), Redactor({}), "cli")
    question = RunRequest("What is in it?", Parameters(model), mode="auto", files=files)
    with FakeService([text("Seen.")]) as service:
        lm = OpenAILM(service.settings(), models={BLIND: ModelSettings(vision=False)})
        list(Conversation(place).ask(question, lm))
        messages: list[dict[str, Any]] = service.requests[0].body["messages"]
    database.close()
    return messages


@pytest.mark.parametrize("names", [("a.png",), ("a.png", "b.png"), ("a.png", "b.png", "c.png")])
def test_002_49_pictures_and_the_question_are_one_message(
    kernel: FreshKernel, names: tuple[str, ...]
) -> None:
    _, user = asked(kernel, SEEING, *names)
    kinds = [part["type"] for part in user["content"]]
    assert sorted(kinds) == ["image_url"] * len(names) + ["text"]
    (said,) = (part["text"] for part in user["content"] if part["type"] == "text")
    assert said.count("What is in it?") == 1
    assert all(name in said for name in names)


def test_002_49_a_model_that_does_not_see_is_told_name_kind_and_size(
    kernel: FreshKernel, folder: Path
) -> None:
    _, user = asked(kernel, BLIND, "a.png")
    size = human_size((folder / "a.png").stat().st_size)
    assert f"a.png ({size})\n  [image/png 40x30]" in str(user["content"])
    assert "image_url" not in str(user)


def test_002_49_a_document_is_named_and_never_sent_as_a_picture(kernel: FreshKernel) -> None:
    _, user = asked(kernel, SEEING, "report.pdf")
    assert "report.pdf (10 bytes, application/pdf)" in str(user["content"])
    assert "image_url" not in str(user)
