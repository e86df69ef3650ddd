"""Tokens that tools spend on models of their own, in every total (requirements 000-14, 000-28)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fakes import FakeKernel, Played
from scripted_model import ScriptedLM, calls, says

from cellwright.errors import SetupError
from cellwright.llm.budget import RunBudget
from cellwright.record.events import Notice, RunStarted
from cellwright.record.messages import ModelUsage, Parameters, Price, Usage
from cellwright.record.outputs import DisplayData
from cellwright.record.values import to_dict
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import rerun
from cellwright.session.run import Run
from cellwright.session.services import ModelService
from cellwright.settings import Limits
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.tools import Component
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.live_tools import call_code

ROW = LiveRow("translate", "translate", "Translates.", {"type": "object", "properties": {}})
SPENT = {"model": "dear", "prompt_tokens": 1_000, "completion_tokens": 10}


def translating() -> FakeKernel:
    """A kernel with a tool that asks a model itself."""
    said = Component().create_output(text="Hallo", usage=SPENT)
    shown = Played((DisplayData(said._repr_mimebundle_(), {}),))
    return FakeKernel({call_code(ROW, {}): shown}, {"live_tools": [to_dict(ROW)]})


@pytest.fixture
def store() -> Iterator[RunStore]:
    database = open_database(None)
    yield RunStore(database)
    database.close()


@pytest.fixture
def conversation(store: RunStore) -> Conversation:
    prices = {"scripted": Price(1.0, 1.0), "dear": Price(10.0, 10.0)}
    return Conversation(
        RunContext(translating(), store, Redactor({}), "cli", prices=prices, user_id="ann")
    )


QUESTION = RunRequest("Translate.", Parameters("scripted"), mode="auto")
SCRIPT = (calls(("translate", {})), says("Done."))


def test_000_14_tokens_and_money_of_a_tool_are_in_the_runs_totals(
    conversation: Conversation, store: RunStore
) -> None:
    list(conversation.ask(QUESTION, ScriptedLM(SCRIPT)))
    record = store.record(conversation.last_run_id)
    assert record.status == "completed"
    assert record.calls[0].usage == (ModelUsage("dear", Usage(1_000, 10)),)
    assert record.usage == Usage(1_200, 30, 100)
    assert record.cost_dollars == pytest.approx(220e-6 + 10_100e-6)
    assert "1,230 tokens" in Run(record).summary()
    (summary,) = store.list()
    assert (summary.usage, summary.cost_dollars) == (record.usage, record.cost_dollars)


def test_000_14_a_tool_that_spends_too_much_ends_the_run(
    conversation: Conversation, store: RunStore
) -> None:
    question = RunRequest(
        "Translate.", Parameters("scripted"), mode="auto", limits=Limits(token_limit=1_000)
    )
    list(conversation.ask(question, ScriptedLM(SCRIPT)))
    record = store.record(conversation.last_run_id)
    assert (record.status, record.cause) == ("task limit reached", "token_limit")


def test_usage_of_an_unknown_price_counts_as_tokens_alone() -> None:
    budget = RunBudget(Limits())
    budget.add_of_tools([ModelUsage("x", Usage(3, 1)), ModelUsage("", Usage(2))])
    assert (budget.usage, budget.cost_dollars, budget.steps) == (Usage(5, 1), None, 0)


@pytest.mark.parametrize(
    ("wanted", "sent", "said"),
    [
        (7.0, 2.0, "The temperature 7.0 cannot be sent; 2 is sent."),
        (-1.0, 0.0, "The temperature -1.0 cannot be sent; 0 is sent."),
        (float("nan"), None, "The temperature nan cannot be sent; the provider's own counts."),
    ],
)
def test_x_12_a_temperature_that_cannot_be_sent_is_changed_recorded_and_told(
    conversation: Conversation, wanted: float, sent: float | None, said: str
) -> None:
    question = RunRequest("Hi.", Parameters("scripted", wanted), mode="auto")
    lm = ScriptedLM([says("Hello.")])
    events = list(conversation.ask(question, lm))
    assert [event.text for event in events if isinstance(event, Notice)] == [said]
    (started,) = (event for event in events if isinstance(event, RunStarted))
    assert started.parameters.temperature == sent
    assert lm.prompts[0].parameters.temperature == sent


@pytest.mark.parametrize("wanted", [None, 0.0, 1.0, 2.0])
def test_x_12_a_temperature_that_can_be_sent_is_left_alone(
    conversation: Conversation, wanted: float | None
) -> None:
    question = RunRequest("Hi.", Parameters("scripted", wanted), mode="auto")
    lm = ScriptedLM([says("Hello.")])
    assert not any(isinstance(event, Notice) for event in conversation.ask(question, lm))
    assert lm.prompts[0].parameters.temperature == wanted


def test_000_12_what_the_person_set_is_recorded_without_secrets_and_set_again(
    store: RunStore,
) -> None:
    redactor = Redactor({"TOKEN": "hunter2-hunter2"})
    place = RunContext(translating(), store, redactor, "cli")
    given = {"region": "north", "key": "hunter2-hunter2"}
    question = RunRequest("Hi.", Parameters("scripted"), mode="auto", given=given)
    conversation = Conversation(place)
    list(conversation.ask(question, ScriptedLM([says("Hello.")])))
    record = store.record(conversation.last_run_id)
    assert record.given["region"] == "north"
    assert "hunter2" not in record.given["key"]
    other = ModelService(ScriptedLM([says("Hello.")]), "other")
    list(rerun(record, place, other))
    assert store.record(store.last_started).given == record.given


def test_000_12_a_name_of_the_system_is_refused_before_anything_is_recorded(
    conversation: Conversation, store: RunStore
) -> None:
    question = RunRequest("Hi.", Parameters("scripted"), given={"_sys_traceid": "x"})
    with pytest.raises(SetupError, match="'_sys_traceid' is set by the system"):
        list(conversation.ask(question, ScriptedLM([])))
    assert store.list() == ()
