"""A person's tools and typed results: the same in every form, with either kind of model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_service import Answer, FakeService, text, tool_call

from cellwright.agent.typed_answers import TypedAnswers
from cellwright.demo.server import DemoServer
from cellwright.demo.wire import MODEL
from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.adapters.chain import ADAPTERS
from cellwright.llm.adapters.text_adapter import TextAdapter
from cellwright.llm.openai import OpenAILM
from cellwright.llm.signatures import Signature
from cellwright.record.events import TextDelta
from cellwright.record.messages import Parameters, ToolCall
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import ServiceSettings
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
SETUP = '''
%reset -f
import pandas as pd
from cellwright.tools import Component
from cellwright.tools.live_registry import LIVE

df = pd.DataFrame({"item": ["pear", "plum"], "price": [2.0, 1.0]})

def margin(item: str, year: int = 2025) -> float:
    """Margin of an item.

    Args:
        item: Its name.
        year: When.
    """
    return {"pear": 24.5}[item]

class Supplier(Component):
    name = "supplier"
    risk = "read"

    def tool_eval(self, item: str):
        """Look up who delivers an item.

        Args:
            item: Its name.
        """
        yield self.create_output(text="by Miller")
        yield self.create_output(text="555 0100", visible_scope="user")

supplier = Supplier()
LIVE.clear()
for name in ("margin", "supplier"):
    LIVE.add(name, globals()[name])
'''
Step = tuple[str, dict[str, Any]]
each_form = pytest.mark.parametrize("form", ["native", "chat", "json"])
each_model = pytest.mark.parametrize("kind", ["demo", "scripted"])


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    started = start_kernel(cwd=str(tmp_path_factory.mktemp("forms")))
    yield started
    started.close()


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    with DemoServer() as server:
        yield server.base_url


@dataclass(frozen=True)
class Asked:
    """A run and what the person saw of it."""

    record: RunRecord
    shown: str

    @property
    def cells(self) -> list[str]:
        return [ran.source for ran in self.record.executions]

    @property
    def told(self) -> str:
        return " ".join(repr(m) for m in self.record.messages if m.role == "tool")


@dataclass(frozen=True)
class Desk:
    """The kernel, and models of both kinds."""

    kernel: FreshKernel
    store: RunStore
    demo_url: str

    def ask(self, form: str, kind: str, prompt: str, *steps: Step, types: str = "") -> Asked:
        """Ask the demo model, or one whose calls are ``steps`` and that says "Done." then."""
        typed = TypedAnswers(Signature.parse(types), prompt) if types else None
        question = RunRequest(prompt, Parameters(MODEL), mode="auto", adapter=form, typed=typed)
        conversation = Conversation(RunContext(self.kernel, self.store, Redactor({}), "cli"))
        with self._model(form, kind, steps) as lm:
            events = conversation.ask(question, lm)
            shown = "".join(event.text for event in events if isinstance(event, TextDelta))
        return Asked(self.store.record(conversation.last_run_id), shown)

    @contextmanager
    def _model(self, form: str, kind: str, steps: tuple[Step, ...]) -> Iterator[OpenAILM]:
        if kind == "demo":
            lm = OpenAILM(ServiceSettings(base_url=self.demo_url, api_key="demo", model=MODEL))
            yield lm
            lm.close()
            return
        script = [spoken(form, step, number) for number, step in enumerate(steps)]
        with FakeService([*script, spoken(form, None, len(steps))]) as service:
            yield OpenAILM(service.settings())

    def value(self, name: str) -> str:
        return str(self.kernel.probe("inspect_variable", {"name": name}))


def spoken(form: str, step: Step | None, number: int) -> Answer:
    """A reply as a model gives it that was asked in this form."""
    adapter = ADAPTERS[form]()
    if not isinstance(adapter, TextAdapter):
        return tool_call(*step, id=f"c{number}") if step is not None else text("Done.")
    calls = [ToolCall("", step[0], json.dumps(step[1]))] if step is not None else []
    return text(adapter.write_reply("" if calls else "Done.", calls))


@pytest.fixture
def desk(kernel: FreshKernel, demo: str, tmp_path: Path) -> Iterator[Desk]:
    list(kernel.execute(CellRequest("setup", SETUP), Stop(), lambda output: output))
    database = open_database(tmp_path / "runs.sqlite")
    yield Desk(kernel, RunStore(database), demo)
    database.close()


@each_model
@each_form
def test_004_28_a_persons_tool_is_called_in_every_form(desk: Desk, form: str, kind: str) -> None:
    asked = desk.ask(form, kind, 'call margin for the item "pear"', ("margin", {"item": "pear"}))
    assert asked.record.status == "completed", asked.record.reason
    assert asked.cells == ["margin(item='pear')"]
    assert "24.5" in asked.told
    assert asked.record.adapter == form
    assert not {"adapter_repair", "adapter_fallback"} & set(asked.record.notices)
    for sign in ("[[ ##", '"say"', "<say>", "<call"):
        assert sign not in asked.shown


@each_form
def test_004_28_what_is_for_the_person_is_not_sent_in_any_form(desk: Desk, form: str) -> None:
    asked = desk.ask(form, "demo", 'use the tool supplier for the item "pear"')
    assert asked.record.status == "completed", asked.record.reason
    assert "by Miller" in asked.told
    assert "555 0100" not in asked.told


@each_model
@each_form
def test_004_40_typed_results_are_handed_in_in_every_form(desk: Desk, form: str, kind: str) -> None:
    asked = desk.ask(
        form,
        kind,
        "Which item has the lowest price?",
        ("run_cell", {"code": "price_by_item = df.nsmallest(1, 'price')"}),
        ("hand_in", {"values": {"answer": "plum", "best": "price_by_item"}}),
        types="df, question -> answer: str, best: DataFrame",
    )
    assert asked.record.status == "completed", asked.record.reason
    assert "plum" in desk.value("answer")
    assert "DataFrame" in desk.value("best")
    assert "answer, best = " in asked.cells[-1]


def test_the_demo_model_says_what_it_cannot_fill_and_no_variable_is_touched(desk: Desk) -> None:
    asked = desk.ask(
        "native", "demo", "Which item has the lowest price?", types="df, q -> names: list[str]"
    )
    assert (asked.record.status, asked.record.cause) == (
        "agent validation failed",
        "results_missing",
    )
    assert "none for `names: list[str]`" in asked.shown
    assert asked.record.answer == "I have rules for text, numbers, tables and plots only."
