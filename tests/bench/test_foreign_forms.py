"""Suites that others wrote for Inspect, lm-evaluation-harness and Harbor, where their data is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedLM, says

from cellwright.bench.agents import Agent, model_agent, open_agent
from cellwright.bench.environments import Rooms
from cellwright.bench.isolation import Isolation, check_isolation
from cellwright.bench.results import samples_in
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites import Needs, Suite
from cellwright.bench.suites.choices import find_choices
from cellwright.bench.suites.opening import open_suite, split_form
from cellwright.cli import main
from cellwright.commands.bench_running import BenchPlan, choose_items
from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord
from cellwright.stopping import Stop


def answered(suite: Suite, place: int, agent: Agent) -> SampleRecord:
    return attempt(Job(suite, suite.items[place], agent), Laboratory(Rooms({})), Stop())


def passes(suite: Suite, place: int, answer: str) -> bool:
    return answered(suite, place, model_agent(ScriptedLM([says(answer)]), "m")).passed


def test_the_form_of_a_suite_stands_before_its_path() -> None:
    assert split_form("lm-eval:tasks/a.yaml") == ("lm-eval:", "tasks/a.yaml")
    assert split_form("suites/own") == ("", "suites/own")


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ("So:\n**Answer: B**", (1,)),
        ("ANSWER: A, C", (0, 2)),
        ("ANSWER: A\nNo.\nANSWER: (b)", (1,)),
        ("The answer is B", ()),
        ("x ANSWER", ()),
    ],
)
def test_the_last_line_that_names_letters_is_the_answer(
    answer: str, places: tuple[int, ...]
) -> None:
    assert find_choices(answer) == places


# lm-evaluation-harness.

SUMS = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: sums.jsonl, train: shots.jsonl}}
test_split: test
fewshot_split: train
num_fewshot: 1
output_type: generate_until
doc_to_text: "Q: {{question}}\\nA:"
doc_to_target: "{{answer.split('####')[-1].strip()}}"
generation_kwargs: {until: ["Q:"]}
filter_list:
  - name: strict
    filter:
      - {function: regex, regex_pattern: "#### (\\\\-?[0-9]+)"}
      - {function: take_first}
  - name: flexible
    filter:
      - {function: regex, group_select: -1, regex_pattern: "(-?[0-9]+)"}
      - {function: take_first}
metric_list:
  - {metric: exact_match, aggregation: mean, ignore_case: true, regexes_to_ignore: [","]}
"""
CAPITALS = """
include: base_yaml
task: capitals
dataset_kwargs: {data_files: capitals.json}
doc_to_choice: "{{[a, b]}}"
process_docs: !function tools.only_true
"""
BASE = """
dataset_path: json
output_type: multiple_choice
test_split: train
doc_to_text: question
doc_to_target: label
metric_list: [{metric: acc}]
"""


@pytest.fixture
def harness(tmp_path: Path) -> Path:
    """Two tasks with their data."""
    rows = [{"question": "1 + 1?", "answer": "It is #### 2"}]
    (tmp_path / "sums.yaml").write_text(SUMS)
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "shots.jsonl").write_text(json.dumps({"question": "0 + 1?", "answer": "#### 1"}))
    (tmp_path / "capitals.yaml").write_text(CAPITALS)
    (tmp_path / "base_yaml").write_text(BASE)
    (tmp_path / "tools.py").write_text("def only_true(docs):\n    return docs.filter(bool)\n")
    capitals = [{"question": "Of France?", "a": "Rome", "b": "Paris", "label": 1}, {}]
    (tmp_path / "capitals.json").write_text(json.dumps(capitals))
    return tmp_path


def test_a_task_of_the_harness_is_asked_with_its_examples_and_scored_by_its_filters(
    harness: Path,
) -> None:
    suite = open_suite(f"lm-eval:{harness / 'sums.yaml'}")
    (item,) = suite.items
    assert (suite.name, item.index, item.group) == ("sums", 0, "sums")
    assert item.prompt == "Q: 0 + 1?\nA: 1\n\nQ: 1 + 1?\nA:"
    names = [check.score_name for check in item.checks]
    assert names == ["exact_match,strict", "exact_match,flexible"]
    assert {path.name for path in suite.hidden} == {"sums.yaml", "sums.jsonl", "shots.jsonl"}
    assert passes(suite, 0, "I add 1 and 1.\n#### 2")
    said = answered(suite, 0, model_agent(ScriptedLM([says("It is 2")]), "m"))
    assert [(score.passed, score.explanation) for score in said.scores] == [
        (False, "it is '[invalid]', not '2'"),
        (True, ""),
    ]
    assert not answered(suite, 0, open_agent("noop")).passed


def test_choices_of_the_harness_are_asked_with_letters(harness: Path) -> None:
    suite = open_suite(f"lm-eval:{harness}")
    assert [item.index for item in suite.items] == ["capitals-0", "sums-0"]
    item = suite.items[0]
    assert item.prompt.startswith("Of France?\n\nA) Rome\nB) Paris\n\nEnd with")
    assert answered(suite, 0, open_agent("oracle")).passed
    assert passes(suite, 0, "Not A.\n**Answer: B**")
    for said, why in (
        ("ANSWER: B\nNo:\nANSWER: A", "it says 'ANSWER: A', not 'ANSWER: B'"),
        ("ANSWER: A, B", "it says 'ANSWER: A, B', not 'ANSWER: B'"),
        ("Paris", "it names no choice, not 'ANSWER: B'"),
    ):
        (score,) = answered(suite, 0, model_agent(ScriptedLM([says(said)]), "m")).scores
        assert (score.name, score.passed, score.explanation) == ("acc", False, why)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"output_type": "loglikelihood_rolling"}, "wants 'loglikelihood_rolling'"),
        ({"metric_list": [{"metric": "bleu"}]}, "wants bleu"),
        ({"dataset_path": "openai/gsm8k"}, "is not local"),
        ({"doc_to_text": "{{nothing}}"}, "cannot be asked"),
        ({"filter_list": [{"name": "x", "filter": [{"function": "own"}]}]}, "filter 'own'"),
    ],
)
def test_what_a_task_of_the_harness_wants_besides_is_refused(
    harness: Path, change: dict[str, Any], wrong: str
) -> None:
    more = "".join(f"{key}: {json.dumps(value)}\n" for key, value in change.items())
    (harness / "sums.yaml").write_text(SUMS + more)  # of a key that is there twice the last counts
    with pytest.raises(SetupError, match=wrong):
        open_suite(f"lm-eval:{harness / 'sums.yaml'}")


def test_tasks_of_a_folder_are_asked_without_those_that_cannot_be(harness: Path) -> None:
    (harness / "far.yaml").write_text("task: far\ndataset_path: openai/gsm8k\n")
    (harness / "own.yaml").write_text("task: own\nclass: !function tools.only_true\n")
    (harness / "again.yaml").write_text(SUMS)
    (harness / "torn.yaml").write_text("task: [")
    (harness / "none.json").write_text("[]")
    (harness / "none.yaml").write_text(
        "include: [base_yaml]\ntask: none\ndataset_kwargs: {data_files: none.json}\n"
    )
    (harness / "words.yaml").write_text("- no task")
    inner = "{group: some, task: [sums, {task: capitals, num_fewshot: 3}]}"
    (harness / "all.yaml").write_text(f"group: all\ntask: [sums, {inner}]")
    suite = open_suite(f"lm-eval:{harness}")
    left_out = {str(item.index): item for item in suite.items if item.setup}
    asked = [item.index for item in suite.items if not item.setup]
    assert asked == ["sums-0", "capitals-0"]
    assert [item.index for item in suite.items][:2] == asked  # so that --limit asks them first
    reasons = {
        "far": "is not local: 'openai/gsm8k'",
        "own": "is a class in Python",
        "sums.yaml": "is that of",
        "torn.yaml": "cannot be read",
        "none": "has no documents",
        "all/capitals": "changes its settings",
    }
    assert left_out.keys() == reasons.keys()
    for name, why in reasons.items():
        assert why in left_out[name].setup[0], name


@pytest.mark.kernel
def test_a_task_that_is_left_out_is_told_with_its_reason_and_is_in_no_total(
    harness: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (harness / "far.yaml").write_text("task: far\ndataset_path: openai/gsm8k\n")
    words = ["bench", "run", f"lm-eval:{harness}", "--agent", "oracle", "--json"]
    code = main([*words, "-o", str(harness / "runs")])
    told = capsys.readouterr()
    assert code == 1
    assert json.loads(told.out)["total"] == 2
    assert json.loads(told.out)["agents"][0]["failures"] == {"START_FAILED": 1}
    assert "far: START_FAILED: Setup cell 1 failed: NotImplementedError: The data of" in told.err
    (line,) = (harness / "runs" / "oracle" / harness.name / "error.jsonl").read_text().splitlines()
    assert "is not local: 'openai/gsm8k'" in json.loads(line)["info"]


def test_a_folder_of_the_harness_of_which_nothing_is_left_is_refused(harness: Path) -> None:
    (harness / "sums.yaml").write_text(SUMS + "output_type: loglikelihood\n")
    (harness / "capitals.yaml").write_text("task: capitals\ndataset_path: geography\n")
    with pytest.raises(SetupError, match="No task in .* sums: .* wants 'loglikelihood'"):
        open_suite(f"lm-eval:{harness}")
    (harness / "all.yaml").write_text("group: all\ntask: [sums]")
    with pytest.raises(SetupError, match="is a group. Name the folder"):
        open_suite(f"lm-eval:{harness / 'all.yaml'}")


def test_a_task_of_the_harness_that_does_not_say_what_is_asked_is_asked_for_text(
    harness: Path,
) -> None:
    (harness / "sums.yaml").write_text(SUMS.replace("output_type: generate_until\n", ""))
    (item,) = open_suite(f"lm-eval:{harness / 'sums.yaml'}").items
    assert item.prompt.endswith("Q: 1 + 1?\nA:")


# Inspect.

TASKS = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, choice, includes, scorer, accuracy
from inspect_ai.solver import generate, multiple_choice

@scorer(metrics=[accuracy()])
def half():
    async def score(state, target):
        said = "well" in state.output.completion
        return Score(value="P" if said else "I", explanation="half is enough")
    return score

@task
def capitals():
    sample = Sample(input="Of France?", choices=["Rome", "Paris"], target="B", metadata={"x": 1})
    return Task(dataset=[sample], solver=multiple_choice(), scorer=choice())

@task
def files():
    files = {"data.csv": "data.csv", "notes/own.txt": "in words"}
    sample = Sample(id="f", input="What is in it?", target=["3", "three"], files=files)
    return Task(dataset=[sample], solver=generate(), scorer=[includes(), half()])
"""


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A file with two tasks."""
    pytest.importorskip("inspect_ai")
    (tmp_path / "tasks.py").write_text(TASKS)
    (tmp_path / "data.csv").write_text("a\n3\n")
    return tmp_path / "tasks.py"


def test_choices_of_inspect_are_scored_by_its_own_scorer(tasks: Path) -> None:
    suite = open_suite(f"inspect:{tasks}@capitals")
    assert (suite.name, suite.items[0].index) == ("capitals", 1)
    assert suite.items[0].metadata == {"x": 1}
    assert answered(suite, 0, open_agent("oracle")).passed
    assert passes(suite, 0, "Rome is not.\nANSWER: B")
    assert not passes(suite, 0, "ANSWER: A")
    assert not answered(suite, 0, open_agent("noop")).passed


@pytest.mark.kernel
def test_a_task_of_inspect_has_its_files_and_all_its_scorers(tasks: Path) -> None:
    suite = open_suite(f"inspect:{tasks}@files")
    with Rooms({}).open(suite.items[0], Stop()) as room:
        found = {path.name: path.read_text() for path in room.folder.rglob("*.*")}
    assert found == {"data.csv": "a\n3\n", "own.txt": "in words"}
    said = answered(suite, 0, model_agent(ScriptedLM([says("It is three, well.")]), "m"))
    assert [(score.name, score.value, score.explanation) for score in said.scores] == [
        ("includes", 1.0, "It is three, well."),
        ("half", 0.5, "half is enough"),
    ]


def test_a_task_of_inspect_that_is_not_there_is_refused(tasks: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="has several tasks.*capitals, files: name one"):
        open_suite(f"inspect:{tasks}")
    with pytest.raises(SetupError, match="has no task 'rivers'.*capitals, files: name one"):
        open_suite(f"inspect:{tasks}@rivers")
    (tmp_path / "broken.py").write_text("1 / 0")
    with pytest.raises(SetupError, match="ZeroDivisionError"):
        open_suite(f"inspect:{tmp_path / 'broken.py'}")


# Harbor.

CONFIG = """
schema_version = "1.4"
[metadata]
category = "files"
[agent]
timeout_sec = 90.0
[verifier]
timeout_sec = 60.0
env = { LIMIT = "2" }
[environment]
network_mode = "no-network"
env = { MODE = "strict" }
"""
DOCKERFILE = """
FROM python:3.13
WORKDIR /data/app
# what is there
COPY input.txt ./
COPY more sub/
"""
TEST_SCRIPT = """
cd /data/app
lines=$(cat /tests/expected.txt)
if [ "$(cat out.txt)" = "$lines" ]; then echo 1; else echo 0.25; fi > /logs/verifier/reward.txt
echo "looked at $LIMIT"
"""


@pytest.fixture
def harbor(tmp_path: Path) -> Path:
    """A folder of one task."""
    folder = tmp_path / "tasks" / "upper"
    files = {
        "task.toml": CONFIG,
        "instruction.md": "Write /data/app/input.txt in capitals to /data/app/out.txt.\n",
        "environment/Dockerfile": DOCKERFILE,
        "environment/input.txt": "abc\n",
        "environment/more/b.txt": "b",
        "solution/solve.sh": "tr a-z A-Z < /data/app/input.txt > /data/app/out.txt\n",
        "tests/test.sh": TEST_SCRIPT,
        "tests/expected.txt": "ABC\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder.parent


def test_a_task_of_harbor_says_what_it_needs(harbor: Path) -> None:
    suite = open_suite(f"harbor:{harbor}")
    (item,) = suite.items
    assert (suite.name, item.index, item.group) == ("tasks", "upper", "files")
    assert sorted(item.files) == ["input.txt", "sub/b.txt"]
    assert item.needs == Needs(network=False, workdir="/data/app")
    assert item.limits.wall_seconds == 90
    (harbor / "upper/environment/Dockerfile").write_text("FROM x\nCOPY input.txt /etc/own/\n")
    (item,) = open_suite(f"harbor:{harbor / 'upper'}").items
    assert "copies input.txt /etc/own/" in item.setup[0]
    with pytest.raises(SetupError, match="no 'task.toml'"):
        open_suite(f"harbor:{harbor / 'upper' / 'tests'}")


@pytest.mark.kernel
def test_a_task_of_harbor_runs_in_a_box_and_its_tests_score_it(
    harbor: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        check_isolation(Isolation("bwrap"), "/usr/bin/python3")
    except SetupError as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    run = ["bench", "run", "harbor:tasks", "--agent", "oracle", "--agent", "noop", "--json", "-q"]
    assert main(run) == 2
    assert "--isolation" in capsys.readouterr().out
    assert main([*run, "--isolation", "bwrap", "-o", "results"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {agent["agent"]: agent["passed"] for agent in told["agents"]} == {"oracle": 1, "noop": 0}
    (sample,) = samples_in(Path("results/noop/tasks/runs.jsonl"))
    (score,) = sample.scores
    assert (score.name, score.value) == ("tests", 0.25)
    assert "looked at 2" in score.explanation
    suite = choose_items(BenchPlan(""), open_suite("harbor:tasks"))
    assert suite.items[0].reference[0].startswith("import subprocess")
