"""What a benchmark came to, and two of them held together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cellwright.bench.checks import load_check, scored_by
from cellwright.bench.results import Failure, ResultFiles
from cellwright.bench.summary import compared, outcomes, summary_of
from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord, SampleTask, Score


def sample(
    index: int, value: float | None, *, epoch: int = 1, status: str = "completed"
) -> SampleRecord:
    error = "crashed" if value is None else ""
    return SampleRecord(
        f"t:{index}:{epoch}",
        task=SampleTask("t", index, epoch=epoch, group="even" if index % 2 == 0 else "odd"),
        status=status,
        result=f"answer {index}",
        scores=(Score("check", value, passed=value == 1.0, explanation="wrong", error=error),),
        cost_dollars=0.25,
    )


def results(root: Path, *samples: SampleRecord, agent: str = "a") -> ResultFiles:
    files = ResultFiles(root, agent, "t")
    for made in samples:
        files.add(made)
    return files


def test_a_sum_has_counts_by_status_and_group_and_an_interval(tmp_path: Path) -> None:
    files = results(
        tmp_path,
        sample(0, 1),
        sample(1, 0),
        sample(2, None),
        sample(3, 1, status="task limit reached"),
    )
    files.add_failure(Failure(4, 1, "NETWORK_ERROR", "no route"))
    files.add_failure(Failure(3, 1, "NETWORK_ERROR", "no route, at first"))
    found = summary_of(files, "a", "t")
    assert (found.passed, found.total, found.check_errors) == (2, 4, 1)
    assert found.by_status == {"completed": 3, "task limit reached": 1}
    assert {name: (g["passed"], g["total"]) for name, g in found.by_group.items()} == {
        "even": (1, 2),
        "odd": (1, 2),
    }
    assert found.failures == {"NETWORK_ERROR": 1}
    assert (found.share.method, found.share.value, found.cost_dollars) == ("wilson", 0.5, 1.0)
    assert found.share.low < 0.5 < found.share.high
    assert found.not_passed == ("1: wrong", "2: crashed")
    assert found.at_k == {}
    assert found.document()["by_group"]["even"]["total"] == 2


def test_epochs_give_pass_at_k_and_a_clustered_interval(tmp_path: Path) -> None:
    tries = [sample(i, float(i == 0 or e == 1), epoch=e) for i in range(3) for e in (1, 2)]
    found = summary_of(results(tmp_path, *tries), "a", "t")
    assert found.epochs == 2
    assert {name: number.value for name, number in found.at_k.items()} == {
        "mean": pytest.approx(2 / 3),
        "mode": pytest.approx(1 / 3),
        "pass@2": 1.0,
        "pass^2": pytest.approx(1 / 3),
        "at_least_2": pytest.approx(1 / 3),
    }
    assert all(number.low <= number.value <= number.high for number in found.at_k.values())
    assert found.document()["at_k"]["pass@2"]["method"] == "wilson"
    assert found.share.method == "clustered t"
    assert found.variance is not None
    assert found.variance.within == pytest.approx(1 / 3)


def test_checks_that_are_right_in_part_count_beside_what_passes(tmp_path: Path) -> None:
    def graded(index: int, *values: float) -> SampleRecord:
        points = (3.0, 1.0)
        scores = [
            Score(name, value, passed=value == 1, points=worth)
            for name, value, worth in zip(("table", "words"), values, points, strict=True)
        ]
        return SampleRecord(f"t:{index}:2", task=SampleTask("t", index, epoch=2), scores=(*scores,))

    found = summary_of(results(tmp_path, graded(0, 1.0, 0.5), graded(1, 0.5, 1.0)), "a", "t")
    assert (found.passed, found.share.value) == (0, 0.0)
    assert found.points.value == pytest.approx((3.5 / 4 + 2.5 / 4) / 2)
    assert found.points.low < found.points.value < found.points.high
    each = {name: (mean.value, mean.passed, mean.count) for name, mean in found.by_check.items()}
    assert each == {"table": (0.75, 1, 2), "words": (0.75, 1, 2)}
    assert found.document()["by_check"]["table"]["passed"] == 1
    # A check that says nothing of itself is told by its points, and a later epoch by its number.
    assert found.not_passed[0] == "0 (epoch 2): words: 0.5 of 1 points"


def test_checks_that_some_samples_lack_or_have_twice_have_no_mean(tmp_path: Path) -> None:
    one, two = (Score(name, 1.0, passed=True) for name in ("a", "b"))
    first = replace(sample(0, 1), scores=(one, two))
    twice = replace(sample(1, 1), scores=(one, two, two))
    assert summary_of(results(tmp_path / "2", first, twice), "a", "t").by_check == {}
    assert summary_of(results(tmp_path / "1", first, sample(1, 1)), "a", "t").by_check == {}


def test_nothing_yet_is_a_sum_too(tmp_path: Path) -> None:
    found = summary_of(ResultFiles(tmp_path, "a", "t"), "a", "t")
    assert (found.passed, found.total, found.cost_dollars, found.epochs) == (0, 0, None, 1)


def test_two_results_are_held_together_with_what_became_worse_first(tmp_path: Path) -> None:
    first = outcomes(results(tmp_path, sample(0, 1), sample(1, 0), sample(2, 1), sample(8, 1)))
    second = outcomes(
        results(tmp_path, sample(0, 0), sample(1, 1), sample(2, 1), sample(9, 1), agent="b")
    )
    found = compared(first, second)
    assert (found["better"], found["worse"], found["equal"], found["shared"]) == (1, 1, 1, 3)
    assert (found["only_first"], found["only_second"]) == (1, 1)
    assert [entry["index"] for entry in found["changed"]] == ["0", "1"]


def own_check(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("body", "value", "passed"),
    [
        ("return 'answer 1' in sample.result", 1.0, True),
        ("return 0.5", 0.5, False),
        ("assert sample.status == 'completed'", 1.0, True),
        ("assert False, 'no'", 0.0, False),
        ("assert False", 0.0, False),
        ("return 1 / 0", None, False),
        ("from cellwright.exports.sample import Score; return Score('x', 1.0, True)", 1.0, True),
    ],
)
def test_a_check_of_ones_own_scores_what_was_recorded(
    body: str, value: float | None, passed: bool, tmp_path: Path
) -> None:
    check = load_check(own_check(tmp_path, f"def check(sample):\n    {body}\n"))
    (score,) = scored_by(check, sample(1, 0)).scores
    assert (score.value, score.passed) == (value, passed)
    assert bool(score.error) == (value is None)


def test_a_file_without_a_check_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no function 'check'"):
        load_check(own_check(tmp_path, "x = 1"))
    with pytest.raises(SetupError, match="cannot be run"):
        load_check(own_check(tmp_path, "1 / 0"))
