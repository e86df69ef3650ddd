"""Logs of Inspect read as results and as a suite.

``inspect_log.json`` is a log that inspect_ai 0.3.285 wrote of ``tests/foreign/inspect_task.py``
with its mockllm, made shorter; its first message is an attachment, and its last sample stands
there a second time, with a limit and no score. Nothing of it is anybody's data.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from command_line import Shell
from scripted_model import ScriptedLM, says

from cellwright.bench.agents import model_agent
from cellwright.bench.environments import Rooms
from cellwright.bench.results import samples_in
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites.inspect_logs import read_log, samples_of
from cellwright.bench.suites.opening import open_suite
from cellwright.errors import SetupError
from cellwright.exports.formats import export_samples
from cellwright.exports.sample import ReplyGiven, ToolCalled
from cellwright.stopping import Stop

LOG = Path(__file__).with_name("inspect_log.json")


def test_a_log_is_read_with_what_was_said_done_and_found() -> None:
    two, many, lost, again = samples_of(read_log(LOG))
    assert (two.id, two.suite, two.agent) == ("sums:'two':1", "sums", "mockllm/model")
    assert (two.input, two.target, two.result) == ("What is 1 + 1?", "2", "It is 2")
    assert two.task.metadata == {"group": "small"}
    assert two.messages[0] == {"role": "system", "content": "You add numbers."}
    assert (two.passed, many.passed, lost.passed) == (True, True, False)
    (call,) = many.messages[2]["tool_calls"]
    assert call["function"] == {"name": "add", "arguments": '{"x": 20, "y": 22}'}
    assert (many.messages[3]["role"], many.messages[3]["name"]) == ("tool", "add")
    assert many.target == "42\nforty-two"
    replies = [event for event in many.events if isinstance(event, ReplyGiven)]
    assert [(reply.message, reply.finish_reason) for reply in replies] == [
        (2, "tool_calls"),
        (4, "stop"),
    ]
    assert [event.name for event in many.events if isinstance(event, ToolCalled)] == ["add"]
    assert many.usage == {"prompt_tokens": 102, "completion_tokens": 35}
    assert many.time.seconds > 0
    assert (lost.status, again.status, again.limit) == (
        "completed",
        "task limit reached",
        "token_limit",
    )
    assert [(score.name, score.value) for score in again.scores] == [
        ("includes", 0.0),
        ("match", None),
    ]
    assert again.scores[1].error


def test_it_is_imported_scored_again_compared_and_exported(tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})
    done = shell.run("bench", "import", str(LOG), "-o", "out", "--json")
    assert done.code == 0, done.err
    assert (done.document["passed"], done.document["total"]) == (2, 4)
    assert "holds a benchmark already" in shell.run("bench", "import", str(LOG), "-o", "out").err
    again = shell.run("bench", "rescore", "out", "--json")
    assert again.document["passed"] == 2, again.err
    (runs,) = (tmp_path / "out").glob("*/sums/runs.jsonl")
    assert {s.name for sample in samples_in(runs) for s in sample.scores} == {"answer", "any_of"}
    (tmp_path / "own.py").write_text("def check(sample): return '8' in sample.result\n")
    own = shell.run("bench", "rescore", "out", "--check", "own.py", "--json")
    assert own.document["passed"] == 2
    pages = shell.run("bench", "export", "out", "--to", "html", "-o", "pages", "--json")
    assert pages.code == 0, pages.err


def test_a_sample_that_inspect_could_not_run_is_in_no_total(tmp_path: Path) -> None:
    data = json.loads(LOG.read_text())
    for sample, message in ((data["samples"][0], "no route"), (data["samples"][2], "too late")):
        sample["error"] = {"message": message, "traceback": "", "traceback_ansi": ""}
    data["samples"][0]["scores"] = {}  # the other one was scored all the same
    (tmp_path / "log.json").write_text(json.dumps(data))
    shell = Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})
    done = shell.run("bench", "import", "log.json", "-o", "out")
    assert done.code == 1
    assert "two: INTERACT_FAILED: no route" in done.err
    (line,) = [line for line in done.out.splitlines() if line.startswith("mockllm/model ")]
    assert line.split()[1:3] == ["1", "3"]
    assert "1 INTERACT_FAILED" in line
    board = shell.run("bench", "leaderboard", "out")
    assert "mockllm/model" in board.out, "the agent's name, not its folder's"


def test_its_samples_can_be_asked_of_another_model() -> None:
    suite = open_suite(f"inspect:{LOG}")
    assert [item.index for item in suite.items] == ["two", "many", "lost"]
    found = {}
    for said in ("It is 2.", "2 it is", "It is 12"):
        job = Job(suite, suite.items[0], model_agent(ScriptedLM([says(said)]), "m"))
        scores = attempt(job, Laboratory(Rooms({})), Stop()).scores
        found[said] = [score.passed for score in scores]
    assert found == {"It is 2.": [True, True], "2 it is": [True, False], "It is 12": [True, False]}


def test_what_cellwright_wrote_comes_back_as_it_was(tmp_path: Path) -> None:
    samples = list(samples_of(read_log(LOG)))
    export_samples("inspect", {"m/sums": lambda: iter(samples)}, tmp_path)
    (log,) = tmp_path.rglob("*.eval")
    again = sorted(samples_of(read_log(log)), key=lambda sample: sample.id)
    assert again == sorted(samples, key=lambda sample: sample.id)


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    data = json.loads(LOG.read_text())
    for name, content, match in (
        ("none.json", "{", "no log of Inspect"),
        ("other.json", "{}", "no log of Inspect"),
        ("empty.json", json.dumps({**data, "samples": []}), "holds no samples"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(SetupError, match=match):
            read_log(tmp_path / name)
    with pytest.raises(SetupError, match="no log of Inspect"):
        read_log(tmp_path / "nothing.eval")


def test_a_compression_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("header.json", "{}")
    changed = bytearray(path.read_bytes())
    # 97 in the place of 0, stored: in the entry and in the directory
    changed[8] = changed[changed.index(b"PK\x01\x02") + 10] = 97
    path.write_bytes(bytes(changed))
    with pytest.raises(SetupError, match="cannot read") as caught:
        read_log(path)
    assert "inspect log convert" in caught.value.hint
