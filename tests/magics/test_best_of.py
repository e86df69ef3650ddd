"""``--best-of N --choose …``: attempts in copies of the live kernel, of which one is kept."""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from pathlib import Path

import pytest
from fake_service import MODEL, Answer, Request, Wire, after, error, text, tool_call
from magics.live_kernel import LiveKernel, Message

from cellwright.exports.sampling import sample_of
from cellwright.record.choices import Choice
from cellwright.record.run_record import RunRecord, choice_of
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]


@pytest.fixture
def kernel(own_kernel: LiveKernel) -> LiveKernel:
    """Each test lets a copy take its kernel's place, and a second try needs a new one."""
    return own_kernel


def finding(*found: int) -> Answer:
    """A model that finds another number in each attempt; a judge prefers the greatest."""
    lock, numbers = threading.Lock(), itertools.cycle(found)

    def answer(request: Request) -> Wire:
        if "You choose the best" in str(request.messages[0]["content"]):
            listed = re.findall(r"found = (\d+)", request.last_text)
            best = listed.index(str(max(map(int, listed)))) + 1
            return text(json.dumps({"best": best, "reason": "It counted all."}))(request)
        own = re.findall(r"found = (\d+)", str(request.messages))
        if own:
            return text(f"I counted them.\n{own[-1]}.0")(request)
        with lock:
            number = next(numbers)
        return tool_call("run_cell", {"code": f"found = {number}; rows.append(found)"})(request)

    return answer


def chosen_run(kernel: LiveKernel) -> tuple[RunRecord, Choice]:
    database = open_database(kernel.home / "runs.sqlite")
    try:
        store = RunStore(database)
        records = [store.record(run.run_id) for run in store.list(9)]
    finally:
        database.close()
    return next((r, c) for r in records if (c := choice_of(r.scores)) is not None)


def test_what_most_attempts_say_is_kept_and_undo_brings_the_old_state_back(
    fresh: LiveKernel,
) -> None:
    fresh.run("rows = [1]; alias = rows; number = id(rows)")
    shown = fresh.run(
        "%agent --best-of 4 --choose vote --mode auto How many are there?", finding(41, 42, 42, 42)
    )
    said = [data.get("text/plain", "") for data in shown.displays]
    assert any("3 of 4 attempts say '42.0'" in each for each in said), said
    assert "was kept: its variables are the kernel's now" in said[-1]
    assert any(each.count("completed") == 4 for each in said), "the attempts, side by side"
    assert fresh.value("found, rows, alias is rows, id(rows) == number") == (
        "(42, [1, 42], True, True)"
    )

    record, choice = chosen_run(fresh)
    assert record.prompt.endswith("holds nothing but the answer, as short as it can be.")
    assert choice.way == "vote"
    assert [a.number for a in choice.attempts] == [1, 2, 3, 4]
    assert sorted(a.votes for a in choice.attempts) == [1, 3, 3, 3]
    assert choice.attempts[choice.number - 1].run_id == record.run_id
    assert len({attempt.run_id for attempt in choice.attempts}) == 4
    assert choice_of(sample_of(record, "s").scores) == choice
    assert not sample_of(record, "s").passed, "that it was chosen is no check"
    again = fresh.run(f"%agent show {record.run_id}")
    assert "chosen by vote: 3 of 4 attempts" in again.markdown

    fresh.run("%agent undo", answers=[])
    assert fresh.value("'found' in globals(), rows, alias is rows") == "(False, [1], True)"
    for question in ("and now?", "and then?"):
        fresh.run(f"%agent --mode auto {question}", [text("Well.")], answers=[])
        assert fresh.last_run.prompt == question, "the record goes on in the same file"
    kept = chosen_run(fresh)[0]
    assert kept.run_id == record.run_id
    assert [score.name for score in kept.scores] == ["chosen", "undone"]


def test_where_the_cell_goes_on_after_it_no_model_is_asked_and_none_is_kept(
    fresh: LiveKernel,
) -> None:
    for cell in (
        "run = %agent --best-of 2 --mode auto Go",
        "%agent --best-of 2 --mode auto Go\nafter = 1",
        '%agent branch 2 "Go" --mode auto --check "True"\nafter = 1',
    ):
        shown = fresh.run(cell, text("Done."))
        assert "has to be the last line of its cell" in str(shown.of("error")), cell
        assert not fresh.service.requests
    fresh.run('%agent branch 2 "Go" --mode auto\nafter = 1', text("Done."))
    refused = fresh.run("%agent branch keep 1\nafter = 2", answers=[])
    assert "%agent branch keep has to be the last line" in refused.stderr
    assert fresh.value("after") == "1"
    fresh.run("%agent branch drop")


def test_the_first_attempt_that_passes_the_checks_is_kept(fresh: LiveKernel) -> None:
    fresh.run("rows = []")
    shown = fresh.run(
        '%agent branch 3 "Count" --check "found > 5" --check "len(rows) == 1" --mode auto',
        finding(3, 7, 1),
    )
    assert "2 of 2 points (100%); 1 of 3 attempts pass." in str(shown.displays)
    assert fresh.value("found") == "7"
    record, choice = chosen_run(fresh)
    by_run = {attempt.run_id: attempt for attempt in choice.attempts}
    assert by_run[record.run_id].scores == {"found > 5": 1.0, "len(rows) == 1": 1.0}
    assert sorted(attempt.passed or False for attempt in choice.attempts) == [False, False, True]
    assert [score.name for score in record.scores] == ["found > 5", "len(rows) == 1", "chosen"]
    assert sample_of(record, "s").passed


def test_a_judge_chooses_in_a_run_of_its_own_that_is_paid_for(fresh: LiveKernel) -> None:
    fresh.run("rows = []")
    fresh.run("%agent --best-of 3 --choose judge --mode auto Count", finding(3, 9, 5))
    assert fresh.value("found") == "9"
    record, choice = chosen_run(fresh)
    assert (choice.way, choice.reason, choice.judge) == ("judge", "It counted all.", MODEL)
    assert choice.judge_usage.total_tokens > 0
    database = open_database(fresh.home / "runs.sqlite")
    judged = RunStore(database).record(choice.judge_run)
    database.close()
    assert (judged.lane, judged.tools, judged.calls) == ("judge", (), ())
    assert judged.usage == choice.judge_usage
    assert fresh.last_run.run_id != judged.run_id, "nobody means a judge's run as the last one"
    assert record.run_id in {attempt.run_id for attempt in choice.attempts}


@pytest.mark.parametrize(
    ("line", "found", "why"),
    [
        ("--best-of 2 --check 'found == 9' --mode auto Count", (1, 2), "None of 2 attempts passes"),
        ("--best-of 3 --mode auto Count", (1, 2, 3), "No two of 3 attempts say the same"),
    ],
)
def test_where_nothing_is_chosen_the_attempts_stay_open(
    line: str, found: tuple[int, ...], why: str, fresh: LiveKernel
) -> None:
    fresh.run("rows = []")
    shown = fresh.run(f"%agent {line}", finding(*found))
    assert f"Nothing was chosen: {why}" in str(shown.of("error") or shown.stderr)
    assert fresh.value("rows") == "[]"
    kept = fresh.run("%agent branch keep 2", answers=[])
    assert "Branch 2 was kept" in kept.displays[-1]["text/plain"]


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (text('{"best": 3, "reason": "?"}'), "The judge chose 3, which is no attempt from 1 to 2"),
        (error(404, "no such model"), "The judge's run ended as 'task error': "),
    ],
)
def test_a_judge_that_fails_is_told_of_and_nothing_else_is_tried(
    judge: Answer, why: str, fresh: LiveKernel
) -> None:
    fresh.run("rows = []")
    model = finding(1, 1)

    def answer(request: Request) -> Wire:
        if "You choose the best" in str(request.messages[0]["content"]):
            return judge(request)
        return model(request)

    shown = fresh.run("%agent --best-of 2 --choose judge --mode auto Count", answer)
    assert why in str(shown.messages)
    assert "The branches stay open" in str(shown.messages)
    judged = [each for each in fresh.service.requests if "You choose the best" in str(each.body)]
    assert (len(fresh.service.requests), len(judged)) == (5, 1), "two for each attempt"
    assert fresh.value("rows") == "[]"
    assert fresh.run("%agent branch drop").results[0].startswith("The branches are gone")


def test_what_cannot_be_chosen_is_refused_before_a_model_is_asked(fresh: LiveKernel) -> None:
    for line, why in (
        ("--best-of 9 Count", "cannot be compared"),
        ("--best-of 2 --choose check Count", "There are no checks to choose by"),
        ("--best-of 2 --check 'x ==' Count", "is no Python"),
        ("--best-of 2 --judge other Count", "Add --choose judge"),
        ("--best-of 2 --out run Count", "of no use with --best-of"),
        ("--choose vote Count", "Add --best-of N"),
    ):
        shown = fresh.run(f"%agent --mode auto {line}")
        assert why in str(shown.of("error") or shown.stderr), line
    assert fresh.service.requests == []


def test_attempts_that_are_interrupted_are_not_chosen_from(fresh: LiveKernel) -> None:
    fresh.run("rows = []")
    pressed: list[float] = []

    def press(message: Message) -> None:
        if "asks the model" in str(message["content"]) and not pressed:
            pressed.append(time.monotonic())
            time.sleep(0.5)  # the other attempt asks by then, too
            fresh.manager.interrupt_kernel()

    shown = fresh.run(
        "%agent --best-of 2 --mode auto Count",
        lambda request: after(text("1"), 20.0)(request),
        watch=press,
    )
    assert time.monotonic() - pressed[0] < 15
    assert shown.results[0].count("cancelled") == 2
    assert "chosen" not in str(shown.messages)
    assert fresh.run("%agent branch drop").results[0].startswith("The branches are gone")


def test_a_question_with_types_and_what_is_attached_goes_to_every_attempt(
    fresh: LiveKernel, tmp_path: Path
) -> None:
    (tmp_path / "rows.txt").write_text("seven rows")
    fresh.run("rows = [1, 2]")
    fresh.run(f"%agent attach '{tmp_path / 'rows.txt'}'")
    numbers, lock = itertools.cycle((1, 2, 2)), threading.Lock()

    def answer(request: Request) -> Wire:
        assert "seven rows" in str(request.messages)
        with lock:
            return tool_call("hand_in", {"values": {"n": next(numbers)}})(request)

    fresh.run("%%agent --best-of 3 --mode auto rows, question -> n: int\nHow many?", answer)
    assert fresh.value("n") == "2"
    record, choice = chosen_run(fresh)
    assert sorted(attempt.votes for attempt in choice.attempts) == [1, 2, 2]
    assert "nothing but the answer" not in record.prompt
    fresh.run("%agent --mode auto And now?", [text("Well.")], answers=[])
    assert fresh.last_run.files == {}, "what was attached went along once"
