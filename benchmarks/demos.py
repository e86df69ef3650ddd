"""What examples cost in tokens, and how much of them a provider's prompt cache can keep.

    python benchmarks/demos.py [--questions 4] [--json]

Asks the demo model typed questions, each in a conversation of its own, with 0 to 8 examples. The
model's server counts tokens (four characters each) and how much of a prompt an earlier one began
with, as providers do. "shuffled" has the same examples in another order each time: that is what a
fixed order saves. It says nothing of whether examples make a model better: measure that with
``cellwright bench``.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from cellwright.agent.typed_answers import TypedAnswers
from cellwright.bench.few_shot_selection import Rule, select
from cellwright.context.few_shot import DemoSet
from cellwright.demo.server import DemoServer
from cellwright.demo.wire import MODEL
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask, Score
from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.llm.signatures import Signature
from cellwright.record.messages import Parameters, Usage
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import ServiceSettings
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

SETUP = """
import pandas as pd
df = pd.DataFrame({"item": ["pear", "plum"], "region": ["north", "south"], "price": [2.0, 1.0]})
"""
SIGNATURE = Signature.parse("df, question -> answer: str, best: DataFrame")
QUESTIONS = (
    "Which item has the lowest price?",
    "Which region has the highest price?",
    "What is the sum of price by item?",
    "What is the mean of price by region?",
)


@dataclass(frozen=True)
class Row:
    """One line of the table: the first requests of some conversations."""

    examples: int
    order: str
    example_tokens: int
    prompt_tokens: int
    cached_tokens: int
    """Of the requests after the first conversation's."""

    @property
    def cached_share(self) -> float:
        """How much of those prompts was known."""
        return self.cached_tokens / self.prompt_tokens


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=4, choices=range(2, 5))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with _kernel() as kernel:
        rows = [_measured(kernel, 0, "", options.questions)]
        for count in (2, 4, 8):
            rows += [_measured(kernel, count, o, options.questions) for o in ("same", "shuffled")]
    if options.json:
        print(json.dumps([vars(row) | {"cached_share": row.cached_share} for row in rows]))
        return
    print("examples  order     tokens of them  prompt tokens  cached  share")
    for row in rows:
        print(
            f"{row.examples:>8}  {row.order:<8}  {row.example_tokens:>14,}  "
            f"{row.prompt_tokens:>13,}  {row.cached_tokens:>6,}  {row.cached_share:>5.0%}"
        )


@contextmanager
def _kernel() -> Iterator[FreshKernel]:
    with tempfile.TemporaryDirectory() as folder, start_kernel(cwd=folder) as kernel:
        list(kernel.execute(CellRequest("setup", SETUP), Stop(), lambda output: output))
        yield kernel


def _measured(kernel: FreshKernel, count: int, order: str, questions: int) -> Row:
    chosen = select(map(_sample, range(12)), Rule(), count, 10_000).chosen
    dice = random.Random(count)
    prompts, cached = [], []
    with DemoServer() as server:
        lm = OpenAILM(ServiceSettings(base_url=server.base_url, api_key="demo", model=MODEL))
        for question in QUESTIONS[:questions]:
            demos = _shuffled(chosen, dice) if order == "shuffled" else chosen
            usage = _first_usage(kernel, lm, TypedAnswers(SIGNATURE, question, demos))
            prompts.append(usage.prompt_tokens)
            cached.append(usage.cached_tokens)
        lm.close()
    tokens = sum(demo.tokens for demo in chosen.demos)
    later = len(prompts) - 1
    return Row(count, order, tokens, sum(prompts[1:]) // later, sum(cached[1:]) // later)


def _first_usage(kernel: FreshKernel, lm: OpenAILM, typed: TypedAnswers) -> Usage:
    database = open_database(None)
    try:
        store = RunStore(database)
        conversation = Conversation(RunContext(kernel, store, Redactor({}), "bench"))
        question = RunRequest("", Parameters(MODEL), mode="auto", typed=typed)
        for _ in conversation.ask(question, lm):
            pass
        record = store.record(conversation.last_run_id)
        if record.status != "completed":
            raise RuntimeError(record.reason)
        return record.steps[0].usage
    finally:
        database.close()


def _shuffled(chosen: DemoSet, dice: random.Random) -> DemoSet:
    demos = list(chosen.demos)
    dice.shuffle(demos)
    return replace(chosen, demos=tuple(demos))


def _sample(number: int) -> SampleRecord:
    name = f"sample {number}"
    code = f'totals = df.groupby("column_{number}", as_index=False)["value"].sum()\ntotals.head()'
    return SampleRecord(
        name,
        suite="mine",
        task=SampleTask("mine", number),
        input=f"What is the sum of value by column_{number}? Leave the table in totals.",
        cells=(SampleCell("a", "agent", code, "ok"),),
        status="completed",
        result=f"The sum of value by column_{number} is in `totals`: " + "a, b, c. " * number,
        scores=(Score("check", 1.0, passed=True),),
    )


if __name__ == "__main__":
    main()
