"""The demo model over every adapter: real requests, a real kernel, the same work each time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import cellwright.demo
from cellwright.demo.server import DemoServer
from cellwright.demo.wire import MODEL
from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.adapters.chain import ADAPTERS
from cellwright.llm.openai import OpenAILM
from cellwright.record.events import TextDelta
from cellwright.record.messages import Parameters, ToolMessage
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import Limits, ServiceSettings
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
SALES = Path(cellwright.demo.__file__).parent / "data" / "sales.csv"
each_adapter = pytest.mark.parametrize("name", list(ADAPTERS))


@dataclass(frozen=True)
class Desk:
    """A kernel in a folder with a table, a store and the demo model."""

    kernel: FreshKernel
    store: RunStore
    lm: OpenAILM

    def ask(self, conversation: Conversation, prompt: str, adapter: str, steps: int = 12) -> str:
        question = RunRequest(
            prompt,
            Parameters(MODEL),
            files=("sales.csv",),
            mode="auto",
            limits=Limits(step_limit=steps),
            adapter=adapter,
        )
        shown = [e.text for e in conversation.ask(question, self.lm) if isinstance(e, TextDelta)]
        return "".join(shown)

    def talk(self) -> Conversation:
        return Conversation(RunContext(self.kernel, self.store, Redactor({}), "cli"))

    def record(self, conversation: Conversation) -> RunRecord:
        return self.store.record(conversation.last_run_id)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    folder = tmp_path_factory.mktemp("demo-suite")
    shutil.copy(SALES, folder / "sales.csv")
    started = start_kernel(cwd=str(folder))
    yield started
    started.close()


@pytest.fixture
def desk(kernel: FreshKernel, tmp_path: Path) -> Iterator[Desk]:
    list(kernel.execute(CellRequest("reset", "%reset -f"), Stop(), lambda output: output))
    database = open_database(tmp_path / "runs.sqlite")
    with DemoServer() as server:
        lm = OpenAILM(ServiceSettings(base_url=server.base_url, api_key="demo", model=MODEL))
        yield Desk(kernel, RunStore(database), lm)
        lm.close()
    database.close()


def work_of(record: RunRecord) -> list[tuple[str, str]]:
    return [
        (each.source, each.execution.status if each.execution is not None else "")
        for each in record.executions
    ]


def test_004_28_every_form_leads_to_the_same_cells_and_the_same_answer(desk: Desk) -> None:
    found = {}
    for name in ADAPTERS:
        conversation = desk.talk()
        shown = desk.ask(conversation, "mean of revenue by region in sales.csv", name)
        record = desk.record(conversation)
        assert record.status == "completed", record.reason
        # It takes no schema; the form is in the instructions as well.
        assert ["'response_format'" in notice for notice in record.notices] == (
            [True] if name == "json" else []
        )
        for sign in ("[[ ##", '"say"', "<say>", "<call"):
            assert sign not in shown
        found[name] = (work_of(record), record.answer)
        list(desk.kernel.execute(CellRequest("r", "%reset -f"), Stop(), lambda output: output))
    assert all(each == found["native"] for each in found.values())
    assert found["native"][0]


@each_adapter
def test_004_28_a_second_question_knows_the_first(desk: Desk, name: str) -> None:
    conversation = desk.talk()
    desk.ask(conversation, "how many rows are there in sales.csv?", name)
    desk.ask(conversation, "plot revenue by month in sales.csv", name)
    record = desk.record(conversation)
    assert (record.status, record.notices) == ("completed", ())
    assert record.earlier_messages > 2
    assert any(isinstance(message, ToolMessage) for message in record.messages)
    assert "cellwright-demo" not in record.answer


@each_adapter
def test_004_28_a_run_at_its_limit_is_summed_up(desk: Desk, name: str) -> None:
    conversation = desk.talk()
    desk.ask(conversation, "profile sales.csv", name, steps=1)
    record = desk.record(conversation)
    assert (record.status, record.cause) == ("task limit reached", "step_limit")
    assert record.answer.startswith("I had to stop after 1 step.")
