import contextlib

import pytest

from cellwright.llm.budget import STOP_AT, WINDOW, RepeatDetector, RunBudget
from cellwright.record.messages import AssistantMessage, Price, Reply, Usage
from cellwright.settings import Limits


def reply(prompt: int = 100, completion: int = 10) -> Reply:
    return Reply(AssistantMessage("x"), "stop", Usage(prompt, completion), "m")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("limits", "cause", "option"),
    [
        (Limits(step_limit=2), "step_limit", "--max-steps"),
        (Limits(token_limit=200), "token_limit", "--max-tokens"),
        (Limits(cost_limit_dollars=0.0002), "cost_limit", "--budget"),
        (Limits(wall_seconds=10), "time_limit", "--max-seconds"),
    ],
)
def test_each_limit_ends_the_run_and_says_how_to_raise_it(
    limits: Limits, cause: str, option: str
) -> None:
    clock = Clock()
    budget = RunBudget(limits, Price(1.0, 1.0), clock)
    budget.add(reply())
    assert budget.exceeded() is None
    budget.add(reply())
    clock.now = 10.0
    reached = budget.exceeded()
    assert reached is not None
    assert reached.cause == cause
    assert option in reached.reason


def test_without_a_price_there_is_no_cost_and_no_cost_limit() -> None:
    budget = RunBudget(Limits(cost_limit_dollars=0.0))
    assert budget.add(reply()) is None
    assert budget.cost_dollars is None
    assert budget.exceeded() is None


def test_waiting_for_the_user_is_no_time_of_the_run() -> None:
    clock = Clock()
    budget = RunBudget(Limits(wall_seconds=10), clock=clock)
    clock.now = 2.0
    with contextlib.suppress(KeyboardInterrupt), budget.waiting():
        clock.now = 600.0
        raise KeyboardInterrupt
    clock.now = 601.0
    assert budget.elapsed_seconds() == 3.0
    assert budget.exceeded() is None


def test_equal_calls_with_equal_results_are_counted_up_to_the_stop() -> None:
    """Fault M19."""
    detector = RepeatDetector()
    counts = [detector.count("run_cell", {"code": "x"}, "1") for _ in range(STOP_AT)]
    assert counts == [1, 2, 3, 4, 5]


def test_growing_whitespace_does_not_hide_a_repeat() -> None:
    """Fault M20."""
    detector = RepeatDetector()
    counts = [detector.count("run_cell", {"code": "x = 1" + "\n " * n}, "") for n in range(3)]
    assert counts == [1, 2, 3]


def test_two_calls_in_turn_are_both_counted() -> None:
    """Fault M20."""
    detector = RepeatDetector()
    counts = [detector.count("a" if n % 2 else "b", {}, "") for n in range(6)]
    assert counts == [1, 1, 2, 2, 3, 3]


def test_a_result_that_differs_only_in_the_cell_it_names_is_the_same_result() -> None:
    detector = RepeatDetector()
    texts = [f"ValueError: no\nCell In[{n}], line 1\n[cell a{n}]" for n in range(3)]
    assert [detector.count("run_cell", {"code": "x"}, text) for text in texts] == [1, 2, 3]


def test_another_result_or_an_old_call_is_no_repeat() -> None:
    detector = RepeatDetector()
    detector.count("a", {}, "1")
    assert detector.count("a", {}, "2") == 1
    for number in range(WINDOW):
        detector.count("b", {"n": number}, "")
    assert detector.count("a", {}, "1") == 1
