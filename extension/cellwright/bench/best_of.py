"""The best of several attempts at a benchmark's sample, as its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cellwright.bench.choosing import choose_attempt
from cellwright.bench.runner import BestOf, InfrastructureError, Job, SessionMemory
from cellwright.bench.scenes import JudgeReply
from cellwright.errors import ChoiceError, LMConnectionError, LMError, LMTimeoutError
from cellwright.exports.sample import SampleRecord
from cellwright.record.choices import Choice, ChoiceWay
from cellwright.record.messages import Usage
from cellwright.record.run_record import make_chosen
from cellwright.record.values import from_dict, to_dict
from cellwright.stopping import Stop

ChoosingJudge = Callable[[str, Stop], JudgeReply]
"""Asks a model which attempt is the best.

Raises:
    LMError: Its service failed.
"""


def make_best_of(
    count: int, way: ChoiceWay, memory: SessionMemory, ask: ChoosingJudge | None = None
) -> BestOf:
    """Several attempts at each sample, of which one is chosen.

    Args:
        count: How many.
        way: How one is chosen.
        memory: Keeps what was chosen, where samples go on from one another.
        ask: Asks the judge.
    """

    def choose(job: Job, attempts: Sequence[SampleRecord], stop: Stop) -> SampleRecord:
        asking = None if ask is None else lambda question: ask(question, stop)
        try:
            choice = choose_attempt(way, attempts, ask=asking, seed=job.sample_id)
        except LMError as error:
            is_network = isinstance(error, (LMConnectionError, LMTimeoutError))
            word = "NETWORK_ERROR" if is_network else "AGENT_FAILED"
            text = f"The judge failed: {type(error).__name__}: {error}"
            raise InfrastructureError(word, text, retryable=error.retryable) from error
        except ChoiceError as error:
            raise InfrastructureError("INTERACT_FAILED", str(error)) from error
        sample = merge_attempts(attempts, choice, job.sample_id)
        if job.suite.is_in_order:
            memory.note(sample)
        return sample

    return BestOf(count, choose)


def merge_attempts(
    attempts: Sequence[SampleRecord], choice: Choice, sample_id: str
) -> SampleRecord:
    """The chosen attempt as the sample: its tokens and cost are those of all, the judge's too.

    Args:
        attempts: All, in order.
        choice: Which one.
        sample_id: The sample's own id.
    """
    chosen = attempts[choice.number - 1]
    usages: list[Usage] = [from_dict(Usage, attempt.usage) for attempt in attempts]
    usage = sum(usages, choice.judge_usage)
    costs = [attempt.cost_dollars for attempt in attempts] + [choice.judge_cost_dollars]
    known = [cost for cost in costs if cost is not None]
    return replace(
        chosen,
        id=sample_id,
        scores=(*chosen.scores, make_chosen(choice)),
        usage={name: value for name, value in to_dict(usage).items() if value},
        cost_dollars=sum(known) if known else None,
        retries=sum(attempt.retries for attempt in attempts),
    )
