"""Several attempts at each sample of a benchmark, of which one is its result."""

from __future__ import annotations

import itertools
import json
import math
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell
from fake_service import MODEL, FakeService, Request, Wire, error, text

from cellwright.bench.agents import Agent, open_agent
from cellwright.bench.best_of import make_best_of, merge_attempts
from cellwright.bench.choosing import choose_attempt
from cellwright.bench.leaderboard import leaderboard_page, rank
from cellwright.bench.results import ResultFiles, read_lines, samples_in
from cellwright.bench.runner import (
    BenchProgress,
    BestOf,
    InfrastructureError,
    Job,
    Runner,
    RunnerOptions,
    SessionMemory,
    pack,
    pending,
    unpacked,
)
from cellwright.bench.scenes import JudgeReply
from cellwright.bench.suites import Item, Suite
from cellwright.bench.summary import summary_of
from cellwright.errors import LMRateLimitError, LMTimeoutError, RunCancelled
from cellwright.exports.notebook import sample_notebook
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask, Score
from cellwright.record.messages import Usage
from cellwright.record.run_record import choice_of
from cellwright.stopping import Stop

QUICK = RunnerOptions(workers=2, retry_limit=1, backoff_seconds=0.01)
ORACLE = open_agent("oracle")


def jobs(count: int, *, epochs: int = 1, is_in_order: bool = False) -> list[Job]:
    items = tuple(Item(number, "How many?", session="s", step=number) for number in range(count))
    suite = Suite("s", items, is_in_order=is_in_order)
    return [Job(suite, item, ORACLE, epoch + 1) for epoch in range(epochs) for item in items]


def done(job: Job, stop: Stop) -> SampleRecord:
    """The attempt of a sample's number and those after it pass."""
    passed = job.attempt >= int(job.item.index)
    return SampleRecord(
        job.id,
        f"run-{job.id}",
        suite="s",
        agent="oracle",
        task=SampleTask("s", job.item.index, "s", job.item.step, job.epoch, attempt=job.attempt),
        status="completed",
        result=f"It is {passed}.",
        cells=(SampleCell("c", "agent", f"x = {job.attempt}", "ok"),),
        scores=(Score("check", float(passed), passed=passed),),
        usage={"prompt_tokens": 10, "completion_tokens": 1},
        cost_dollars=0.5,
    )


def by(way: Any, count: int = 3, **options: Any) -> BestOf:
    return make_best_of(count, way, SessionMemory(), **options)


def read(root: Path) -> ResultFiles:
    return ResultFiles(root, "oracle", "s")


def test_every_attempt_is_recorded_and_the_sample_is_the_chosen_one(tmp_path: Path) -> None:
    told: list[BenchProgress] = []
    progress = Runner(tmp_path, done, QUICK, told.append, by("check")).run(jobs(5))
    assert (progress.total, progress.done, progress.passed, progress.failures) == (5, 5, 4, 0)
    assert (progress.cost_dollars, progress.running) == (7.5, 0)
    assert [seen.done for seen in told] == [1, 2, 3, 4, 5]
    attempts = list(read(tmp_path).list_attempts())
    assert Counter((a.task.index, a.task.attempt) for a in attempts) == Counter(
        itertools.product(range(5), (1, 2, 3))
    )
    for sample in read(tmp_path).samples():
        number = int(sample.task.index)
        choice = choice_of(sample.scores)
        assert choice is not None
        assert sample.id == f"s:{number}:1"
        assert choice.number == sample.task.attempt == (number if 1 <= number <= 3 else 1)
        assert [a.run_id for a in choice.attempts] == [f"run-s:{number}:1:{n}" for n in (1, 2, 3)]
        assert [a.passed for a in choice.attempts] == [n >= number for n in (1, 2, 3)]
        assert sample.run_id == choice.attempts[choice.number - 1].run_id
        assert sample.usage == {"prompt_tokens": 30, "completion_tokens": 3}
        assert sample.cost_dollars == 1.5
    assert pending(tmp_path, jobs(5)) == []


def test_a_stop_loses_only_the_attempts_under_way(tmp_path: Path) -> None:
    ran, stop = Counter[str](), Stop()
    lock = threading.Lock()

    def attempt(job: Job, own: Stop) -> SampleRecord:
        with lock:
            ran[job.id] += 1
            if ran.total() == 6:
                stop.set()
        if stop.is_set():
            raise RunCancelled
        return done(job, own)

    with pytest.raises(RunCancelled):
        Runner(tmp_path, attempt, QUICK, best_of=by("check")).run(jobs(4), stop)
    kept = {sample.id for sample in read(tmp_path).list_attempts()}
    stop = Stop()
    left = pending(tmp_path, jobs(4))
    progress = Runner(tmp_path, attempt, QUICK, best_of=by("check")).run(left)
    assert progress.done == progress.total == len(left)
    assert all(ran[each] == 1 for each in kept)
    assert len(list(read_lines(read(tmp_path).attempts))) == 12
    assert len(list(read_lines(read(tmp_path).runs))) == 4


def test_where_only_the_choice_is_missing_nothing_is_attempted_again(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        job = replace(jobs(1)[0], attempt=number)
        read(tmp_path).add_attempt(done(job, Stop()))

    def attempt(job: Job, stop: Stop) -> SampleRecord:
        raise AssertionError("it was paid for")

    progress = Runner(tmp_path, attempt, QUICK, best_of=by("vote")).run(jobs(1))
    assert (progress.done, progress.cost_dollars) == (1, 0.0)


def test_an_attempt_that_cannot_be_run_keeps_its_sample_open(tmp_path: Path) -> None:
    calls = Counter[str]()

    def attempt(job: Job, stop: Stop) -> SampleRecord:
        calls[job.id] += 1
        if job.item.index == 1 and job.attempt > 1 and calls[job.id] < 3:
            raise InfrastructureError("NETWORK_ERROR", "no route")
        return done(job, stop)

    progress = Runner(tmp_path, attempt, QUICK, best_of=by("check")).run(jobs(3))
    assert (progress.done, progress.failures, progress.total) == (2, 1, 3)
    assert summary_of(read(tmp_path), "oracle", "s").failures == {"NETWORK_ERROR": 1}
    left = pending(tmp_path, jobs(3))
    assert [job.item.index for job in left] == [1]
    again = Runner(tmp_path, attempt, QUICK, best_of=by("check")).run(left)
    assert (again.done, calls["s:1:1:1"], calls["s:1:1:2"]) == (1, 1, 3)
    assert summary_of(read(tmp_path), "oracle", "s").failures == {}
    assert {s.retries for s in read(tmp_path).samples()} == {0}


def judged(*replies: str | BaseException) -> Callable[[str, Stop], JudgeReply]:
    left = list(replies)

    def ask(question: str, stop: Stop) -> JudgeReply:
        reply = left.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return JudgeReply(reply, "j", Usage(100, 10), 0.25)

    return ask


def test_a_judge_is_asked_again_as_any_service_is_and_counts(tmp_path: Path) -> None:
    ask = judged("none", '{"best": 2, "reason": "So."}')
    progress = Runner(tmp_path, done, QUICK, best_of=by("judge", ask=ask)).run(jobs(1))
    (sample,) = read(tmp_path).samples()
    choice = choice_of(sample.scores)
    assert choice is not None
    assert (choice.way, choice.reason, choice.judge) == ("judge", "So.", "j")
    assert (sample.cost_dollars, progress.cost_dollars, sample.retries) == (1.75, 1.75, 1)
    assert sample.usage == {"prompt_tokens": 130, "completion_tokens": 13}


@pytest.mark.parametrize(
    ("replies", "word"),
    [
        (("none", "none"), "INTERACT_FAILED"),
        ((LMTimeoutError("slow"), LMTimeoutError("slow")), "NETWORK_ERROR"),
        ((LMRateLimitError("full"), LMRateLimitError("full")), "AGENT_FAILED"),
    ],
)
def test_a_judge_that_fails_is_a_failure_and_no_other_way_is_tried(
    replies: Sequence[str | BaseException], word: str, tmp_path: Path
) -> None:
    best_of = by("judge", ask=judged(*replies))
    progress = Runner(tmp_path, done, QUICK, best_of=best_of).run(jobs(1))
    assert (progress.done, progress.failures) == (0, 1)
    (line,) = read_lines(read(tmp_path).errors)
    assert (line["error"], line["cellwright"]["attempts"]) == (word, 2)
    again = Runner(tmp_path, done, QUICK, best_of=by("judge", ask=judged('{"best": 1}')))
    assert again.run(pending(tmp_path, jobs(1))).done == 1
    assert len(list(read_lines(read(tmp_path).attempts))) == 3


def test_what_goes_on_from_a_sample_goes_on_from_the_chosen_attempt(tmp_path: Path) -> None:
    memory, seen = SessionMemory(), list[tuple[int, str]]()

    def attempt(job: Job, stop: Stop) -> SampleRecord:
        before = memory.before("oracle", job.epoch, "s")
        seen.append((int(job.item.index), " ".join(before.values())))
        return done(job, stop)

    in_order = jobs(4, is_in_order=True)
    Runner(tmp_path, attempt, QUICK, best_of=make_best_of(3, "check", memory)).run(in_order)
    chosen = ["x = 1", "x = 1", "x = 2", "x = 3"]
    assert seen == [(index, " ".join(chosen[:index])) for index in range(4) for _ in range(3)]


def test_the_budget_counts_every_attempt(tmp_path: Path) -> None:
    options = replace(QUICK, workers=1, cost_limit_dollars=2.0)
    progress = Runner(tmp_path, done, options, best_of=by("check")).run(jobs(4))
    assert (progress.done, progress.cost_dollars) == (1, 2.0)
    assert len(list(read_lines(read(tmp_path).attempts))) == 4


def test_pass_at_k_of_the_attempts_is_what_an_enumeration_says(tmp_path: Path) -> None:
    best_of = by("check", 4)
    Runner(tmp_path, done, QUICK, best_of=best_of).run(jobs(6, epochs=2))
    best = summary_of(read(tmp_path), "oracle", "s").best_of
    assert best is not None
    passed = {index: [n >= index for n in (1, 2, 3, 4)] * 2 for index in range(6)}

    def enumerated(k: int) -> float:
        shares = [
            sum(map(any, itertools.combinations(tries, k))) / math.comb(len(tries), k)
            for tries in passed.values()
        ]
        return sum(shares) / len(shares)

    def published(k: int) -> float:
        """As the authors of HumanEval compute it: 1 - Π (1 - k / i), i from n - c + 1 to n."""
        shares = []
        for tries in passed.values():
            n, c = len(tries), sum(tries)
            factors = (1.0 - k / i for i in range(n - c + 1, n + 1))
            shares.append(1.0 if n - c < k else 1.0 - math.prod(factors))
        return sum(shares) / len(shares)

    assert best.at_k["mean"].value == pytest.approx(enumerated(1))
    for k in (2, 4, 8):
        assert best.at_k[f"pass@{k}"].value == pytest.approx(enumerated(k))
        assert best.at_k[f"pass@{k}"].value == pytest.approx(published(k))
    assert best.note.startswith("best of 4 by check (the samples' own checks chose: an upper")


def test_a_leaderboard_says_that_checks_chose(tmp_path: Path) -> None:
    Runner(tmp_path, done, QUICK, best_of=by("check")).run(jobs(3))
    page = leaderboard_page([rank("s", {"oracle": list(read(tmp_path).samples())})])
    assert "best of 3 by check (the samples&#x27; own checks chose" in page


def test_an_evaluated_notebook_says_why_and_makes_no_check_of_it(tmp_path: Path) -> None:
    Runner(tmp_path, done, QUICK, best_of=by("check")).run(jobs(1))
    (sample,) = read(tmp_path).samples()
    cells = sample_notebook(sample)["cells"]
    assert "chosen by check" in next(c["source"] for c in cells if "## Checks" in c["source"])
    checks = [c["metadata"]["cellwright"].get("score") for c in cells]
    assert [name for name in checks if name] == ["check"]


def test_an_attempt_travels_with_its_number(tmp_path: Path) -> None:
    seen: list[int] = []

    def answerer(item: Item, epoch: int) -> Any:
        seen.append(epoch)
        return ORACLE.answerer(item, epoch)

    agent = Agent("oracle", answerer)
    item = Item(0, "Set x.", reference=("x = 1",))
    job = Job(Suite("s", (item,)), item, agent, 2, 3, 4)
    with unpacked(pack(job)) as again:
        assert (again.epoch, again.attempt, again.id) == (2, 3, job.id) == (2, 3, "s:0:2:3")
    assert seen == [7], "the third attempt of the second epoch of four"


def test_costs_that_nobody_knows_stay_unknown() -> None:
    attempts = [
        replace(done(replace(jobs(1)[0], attempt=n), Stop()), cost_dollars=None) for n in (1, 2)
    ]
    merged = merge_attempts(attempts, choose_attempt("vote", attempts), "s:0:1")
    assert (merged.cost_dollars, merged.id) == (None, "s:0:1")


SUITE = """
def samples():
    for n in range(3):
        yield {"id": f"q{n}", "prompt": f"Set x to {n}.", "reference": [f"x = {n}"],
               "checks": [{"variable": "x", "equals": n}]}
"""
ANSWERS = {"q0": [9, 0, 8, 0], "q1": [9, 1, 1, 7], "q2": [9, 3, 3, 5]}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "three.py").write_text(SUITE)
    lines = [
        json.dumps({"id": name, "code": [f"x = {value}" for value in values]})
        for name, values in ANSWERS.items()
    ]
    (folder / "answers.jsonl").write_text("\n".join(lines))
    return Shell(folder, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})


COMMAND = ("bench", "run", "three.py", "--agent", "answers:answers.jsonl", "-o", "out")


@pytest.mark.kernel
def test_a_benchmark_that_is_killed_goes_on_with_the_attempts_it_has(shell: Shell) -> None:
    running = shell.start(*COMMAND, "--best-of", "4", "--choose", "check", "-j", "1")
    folder = shell.folder / "out" / "answers_answers.jsonl" / "three"
    attempts = folder / "attempts.jsonl"
    while not (attempts.exists() and attempts.read_text().count("\n") >= 5):
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    kept = attempts.read_bytes()
    done = shell.run("bench", "resume", "out")
    assert attempts.read_bytes().startswith(kept)
    assert attempts.read_text().count("\n") == 12
    assert "best of 4 by check (the samples' own checks chose: an upper bound" in done.out
    assert "66.7%, one attempt (pass@1) 33.3%, any of them (pass@4) 66.7%" in done.out
    samples = {sample.task.index: sample for sample in samples_in(folder / "runs.jsonl")}
    assert {name: sample.task.attempt for name, sample in samples.items()} == {
        "q0": 2,
        "q1": 2,
        "q2": 1,
    }
    board = shell.run("bench", "leaderboard", "out")
    assert "best of 4 by check (the samples' own checks chose" in board.out
    again = shell.run("bench", "rescore", "out", "--json").document
    assert again["agents"][0]["best_of"]["count"] == 4
    assert again["passed"] == 2


@pytest.mark.kernel
def test_a_model_judges_what_a_benchmark_keeps(shell: Shell) -> None:
    said = iter(("Seven.", "Eight.", "Nine."))
    lock = threading.Lock()

    def answer(request: Request) -> Wire:
        if "You choose the best" in str(request.messages[0]["content"]):
            parts = request.last_text.split("Answer: ")[1:]
            best = next(n for n, part in enumerate(parts, 1) if part.startswith("Eight"))
            return text(json.dumps({"best": best, "reason": "It is even."}))(request)
        with lock:
            return text(next(said))(request)

    (shell.folder / "one.py").write_text(
        "def samples():\n    yield {'prompt': 'Say.', 'checks': [{'answer': 'Eight.'}]}\n"
    )
    command = ("bench", "run", "one.py", "-m", MODEL, "--best-of", "3", "--choose", "judge")
    with FakeService(answer) as service:
        asking = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_BASE_URL": service.base_url})
        done = asking.run(*command, "--judge", MODEL, "-o", "out", "--json")
    assert done.document["passed"] == 1, done.err
    best = done.document["agents"][0]["best_of"]
    assert (best["way"], best["note"]) == ("judge", "best of 3 by judge")
    assert best["at_k"]["mean"]["value"] == pytest.approx(1 / 3)
    with FakeService(error(500, "down")) as service:
        asking = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_BASE_URL": service.base_url})
        without = asking.run(*command, "-o", "two")
    assert "--choose judge needs a model" in without.err
    assert service.requests == []


@pytest.mark.parametrize("options", [("--choose", "vote"), ("--best-of", "1")])
def test_one_attempt_is_nothing_to_choose_from(options: tuple[str, ...], shell: Shell) -> None:
    done = shell.run(*COMMAND, *options)
    assert done.code == 2
    assert "There is one attempt to choose from" in done.err
    assert not (shell.folder / "out").exists()
