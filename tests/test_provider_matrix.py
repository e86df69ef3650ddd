"""Each provider of the table: the main job, its replay, and its rerun with another provider.

What is proven here stands in ``provider_proofs.json``, of which the documentation is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
from fake_providers import calls, says, thinks
from provider_proofs import prove, simulated

from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.providers import PROVIDERS, Provider
from cellwright.record.events import Event
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import compare, replay, rerun
from cellwright.session.services import ModelService
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
TABLE = "import pandas as pd\nsales = pd.read_csv('sales.csv')\nsales['Sales'].sum()"
PLOT = """
import base64
from IPython.display import Image
Image(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
))
"""
MAIN_JOB = [
    [thinks("First the total."), says("I add."), calls("run_cell", {"code": TABLE})],
    [thinks("Now the plot."), calls("run_cell", {"code": PLOT})],
    [thinks("That is all."), says("The total is 42.")],
]
AND_THEN = [[thinks("Half of it."), says("The mean is 21.")]]
AGAIN = [
    [thinks("I look."), calls("run_cell", {"code": "sales['Sales'].mean()"})],
    [thinks("So it is."), says("It is 21.")],
]
KNOBS: dict[str, Any] = {
    "temperature": 0.3,
    "max_output_tokens": 900,
    "extra": {"reasoning_effort": "low"},
}
each_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)


@dataclass
class Desk:
    """A kernel, a record, and the runs that were made of the main job."""

    kernel: FreshKernel
    store: RunStore
    runs: dict[str, tuple[RunRecord, RunRecord]] = field(default_factory=dict)

    @property
    def place(self) -> RunContext:
        return RunContext(self.kernel, self.store, Redactor({}), "cli")

    def main_job(self, provider: Provider) -> tuple[RunRecord, RunRecord]:
        """The runs of the main job and of one more question, asked of a provider once."""
        if provider.name not in self.runs:
            list(self.kernel.execute(CellRequest("reset", "%reset -f"), Stop(), lambda o: o))
            conversation = Conversation(self.place)
            with simulated(provider, [*MAIN_JOB, *AND_THEN]) as played:
                with closing(OpenAILM(played.settings)) as lm:
                    made = [self._ask(conversation, lm, played.settings.model, f) for f in (1, 0)]
                # What is refused once is learned, and not tried again.
                refusals = played.script.refusals
                assert len(set(refusals)) == len(refusals)
                assert played.was_sent_pictures
            self.runs[provider.name] = (made[0], made[1])
        return self.runs[provider.name]

    def _ask(self, conversation: Conversation, lm: OpenAILM, model: str, first: int) -> RunRecord:
        prompt = "What is the total? Plot it." if first else "And the mean?"
        question = RunRequest(
            prompt, Parameters(model, **KNOBS), mode="auto", files=("sales.csv",) * first
        )
        list(conversation.ask(question, lm))
        return self.store.record(conversation.last_run_id)

    def again(self, events: Iterator[Event]) -> RunRecord:
        """The record of a run that is done again."""
        list(events)
        return self.store.record(self.store.list(1)[0].run_id)

    def played_by(self, provider: Provider, old: RunRecord) -> RunRecord:
        """A run again, asked of a provider."""
        with simulated(provider, AGAIN) as played, closing(OpenAILM(played.settings)) as lm:
            other = ModelService(lm, played.settings.model, base_url=played.settings.base_url)
            run = self.again(rerun(old, self.place, other))
            assert len(set(played.script.refusals)) == len(played.script.refusals)
        return run


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("matrix")
    (folder / "sales.csv").write_text("City,Sales\nA,20\nB,22\n")
    database = open_database(folder / "runs.sqlite")
    with closing(start_kernel(cwd=str(folder))) as kernel:
        yield Desk(kernel, RunStore(database))
    database.close()


@each_provider
def test_the_main_job(desk: Desk, provider: Provider) -> None:
    first, second = desk.main_job(provider)
    assert (first.status, first.answer) == ("completed", "The total is 42."), first.reason
    assert (second.status, second.answer) == ("completed", "The mean is 21."), second.reason
    assert [ran.source for ran in first.executions] == [TABLE, PLOT]
    assert "image/png" in repr(first.executions[1].outputs)
    prove(provider.name, "main job")


@each_provider
def test_a_replay(desk: Desk, provider: Provider) -> None:
    recorded, _ = desk.main_job(provider)
    list(desk.kernel.execute(CellRequest("reset", "%reset -f"), Stop(), lambda o: o))
    assert compare(recorded, desk.again(replay(recorded, desk.place))) == ()
    prove(provider.name, "replay")


@each_provider
def test_a_rerun_with_another(desk: Desk, provider: Provider) -> None:
    """The provider before it in the table had the conversation so far."""
    before = PROVIDERS[PROVIDERS.index(provider) - 1]
    _, recorded = desk.main_job(before)
    run = desk.played_by(provider, recorded)
    assert (run.status, run.answer) == ("completed", "It is 21."), run.reason
    prove(provider.name, "rerun")
