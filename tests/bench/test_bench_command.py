"""``cellwright bench`` as people start it."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from command_line import Shell
from fake_service import MODEL, FakeService, text

from cellwright.bench.results import samples_in
from cellwright.commands.bench_running import read_plan

pytestmark = pytest.mark.kernel
EXAMPLES = Path(__file__).parents[2] / "examples" / "bench"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder with the shipped samples, and no service."""
    folder = tmp_path / "work"
    shutil.copytree(EXAMPLES, folder / "tasks")
    return Shell(folder, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})


def test_a_suite_is_run_scored_again_and_compared(shell: Shell) -> None:
    command = (
        "bench",
        "run",
        "tasks",
        "--agent",
        "oracle",
        "--agent",
        "noop",
        "-o",
        "out",
        "--json",
    )
    done = shell.run(*command, "--python", sys.executable)
    assert done.code == 0, done.err
    assert (done.document["passed"], done.document["total"]) == (3, 6)
    assert done.document["by_status"] == {"completed": 6}
    assert done.document["by_group"]["totals"] == {"passed": 2, "total": 4}
    overall = json.loads((shell.folder / "out" / "oracle" / "tasks" / "overall.json").read_text())
    assert (overall["total"], overall["validation"]["completed"]) == (3, 1.0)
    assert overall["custom"]["passed"] == 3
    assert "6 of 6 samples to run" in done.err

    again = shell.run("bench", "rescore", "out", "--json")
    assert again.document["passed"] == 3, again.err
    (shell.folder / "own.py").write_text("def check(sample):\n    return len(sample.cells) == 0\n")
    own = shell.run("bench", "rescore", "out", "--check", "own.py", "--json").document
    assert {agent["agent"]: agent["passed"] for agent in own["agents"]} == {"oracle": 0, "noop": 3}

    overall = json.loads((shell.folder / "out" / "noop" / "tasks" / "overall.json").read_text())
    assert (overall["total"], overall["custom"]["passed"]) == (3, 3)

    both = shell.run("bench", "compare", "out/oracle", "out/noop")
    assert "3 samples in both: 3 better, 0 worse" in both.out
    assert "There are 2 results" in shell.run("bench", "compare", "out", "out").err
    assert "holds a benchmark already" in shell.run(*command).err


def test_a_model_works_as_it_is_told_to_and_the_sample_says_how(shell: Shell) -> None:
    assistant = shell.folder / ".cellwright" / "assistants" / "brief.toml"
    assistant.parent.mkdir(parents=True)
    assistant.write_text('instructions = "Answer in one word."\ntemperature = 0.5\n')
    (shell.folder / "one.py").write_text(
        "def samples():\n    yield {'prompt': 'Say 42.', 'checks': [{'answer': '42'}]}\n"
    )
    with FakeService(text("42")) as service:
        asking = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_BASE_URL": service.base_url})
        done = asking.run(
            *("bench", "run", "one.py", "-m", MODEL, "-o", "out", "--json"),
            *("--adapter", "xml", "--assistant", "brief", "--mode", "plan", "--effort", "low"),
            *("--allow-install", "pandas"),
        )
        assert done.code == 0, done.err
        unknown = asking.run("bench", "run", "one.py", "--assistant", "nobody")
    assert done.document["passed"] == 1
    body = service.requests[-1].body
    assert (body["temperature"], body["reasoning_effort"]) == (0.5, "low")
    assert "Answer in one word." in str(body["messages"][0])
    assert "tools" not in body
    (runs,) = (shell.folder / "out").glob("*/one/runs.jsonl")
    (sample,) = samples_in(runs)
    assert {name: sample.run[name] for name in ("mode", "adapter", "assistant")} == {
        "mode": "plan",
        "adapter": "xml",
        "assistant": "brief",
    }
    assert sample.model["extra"] == {"reasoning_effort": "low"}
    assert read_plan(shell.folder / "out").allow_install == ("pandas",)
    assert "There is no assistant 'nobody'" in unknown.err


def test_auto_is_no_model_of_a_benchmark(shell: Shell) -> None:
    with FakeService() as service:
        asking = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_BASE_URL": service.base_url})
        done = asking.run("bench", "run", "tasks", "-m", "auto", "-o", "out")
        judged = asking.run(
            *("bench", "run", "tasks", "--agent", "noop", "--judge", "auto", "-o", "out")
        )
    for ended in (done, judged):
        assert ended.code != 0
        assert "'auto' chooses a model for each question; here one has to be named." in ended.err
    assert service.requests == []


def test_a_benchmark_that_was_killed_goes_on_where_it_was(shell: Shell) -> None:
    command = (
        "bench",
        "run",
        "tasks",
        "--agent",
        "oracle",
        "--epochs",
        "2",
        "-j",
        "1",
        "-o",
        "out",
    )
    running = shell.start(*command)
    runs = shell.folder / "out" / "oracle" / "tasks" / "runs.jsonl"
    while not (runs.exists() and runs.read_text().count("\n") >= 2):
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    kept = runs.read_text().count("\n")
    done = shell.run("bench", "resume", "out", "--json")
    assert f"{6 - kept} of 6 samples to run" in done.err
    assert (done.document["passed"], done.document["total"]) == (6, 6)
    lines = [json.loads(line) for line in runs.read_text().splitlines()]
    assert len(lines) == len({line["output"]["cellwright"]["id"] for line in lines}) == 6
    at_k = done.document["agents"][0]["at_k"]
    assert {name: number["value"] for name, number in at_k.items()} == dict.fromkeys(
        ("mean", "mode", "pass@2", "pass^2", "at_least_2"), 1.0
    )


def test_ctrl_c_says_how_to_go_on(shell: Shell) -> None:
    running = shell.start("bench", "run", "tasks", "--agent", "noop", "--epochs", "50", "-o", "out")
    runs = shell.folder / "out" / "noop" / "tasks" / "runs.jsonl"
    while not (runs.exists() and runs.read_text().count("\n")):
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "cellwright bench resume out" in err
    assert all(json.loads(line) for line in runs.read_text().splitlines())


def test_a_sample_that_cannot_be_run_is_shown_and_not_counted(shell: Shell) -> None:
    (shell.folder / "answers.jsonl").write_text(
        '{"id": "growth", "code": "growth = 0.875\\nprint(growth)"}\n'
    )
    done = shell.run(
        "bench", "run", "tasks", "--agent", "answers:answers.jsonl", "--json", "-o", "out"
    )
    assert done.code == 1
    assert (done.document["passed"], done.document["total"], done.document["failures"]) == (1, 1, 2)
    assert done.document["agents"][0]["failures"] == {"START_FAILED": 2}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("run", "none"), "There is no suite 'none'"),
        (("run", "tasks", "--agent", "best"), "There is no agent 'best'"),
        (("run", "tasks", "--only", "none"), "has no sample 'none'"),
        (("run", "tasks", "--python", "none"), "cannot start a kernel"),
        (("run", "tasks", "--epochs", "0"), "invalid positive number"),
        (("run", "tasks", "--scheduler", "tcp://127.0.0.1:1"), "Add --executor dask."),
        (("resume", "none"), "is no folder of a benchmark"),
        (("compare", "none", "none"), "There are no results"),
    ],
)
def test_wrong_use_is_one_line_that_says_what_to_change(
    arguments: tuple[str, ...], complaint: str, shell: Shell
) -> None:
    done = shell.run("bench", *arguments)
    assert done.code == 2
    assert complaint in done.err


def test_the_demo_model_can_be_benchmarked(shell: Shell) -> None:
    done = shell.run("bench", "run", "tasks", "--only", "growth", "--json", "-o", "out")
    assert done.document["total"] == 1, done.err
    assert done.document["agents"][0]["agent"] == "cellwright-demo"


def test_limits_rates_and_kernels_are_options_and_a_resume_knows_them(shell: Shell) -> None:
    done = shell.run(
        *("bench", "run", "tasks", "--only", "growth", "-o", "out", "--json"),
        *("--agent", "oracle", "--kernels", "fresh", "--max-cells", "1", "--max-memory", "8e9"),
    )
    assert done.code == 2
    assert "invalid" in done.err
    done = shell.run(
        *("bench", "run", "tasks", "--only", "growth", "-o", "out", "--json", "--warm", "json"),
        *("--agent", "oracle", "--max-cells", "9", "--max-memory", "8000000000"),
        *("--requests-per-minute", "600", "--total-budget", "1"),
    )
    assert done.document["passed"] == 1, done.err
    plan = json.loads((shell.folder / "out" / "config.yaml").read_text())
    assert plan["limits"] == {"cell_limit": 9, "memory_limit_bytes": 8_000_000_000}
    assert (plan["kernels"], plan["warm"]) == ("fork", ["json"])
    assert shell.run("bench", "resume", "out", "--json").document["total"] == 1
