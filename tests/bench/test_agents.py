"""Agents that need no model: what they do for a sample, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cellwright.bench.agents import NoAnswerError, open_agent
from cellwright.bench.checks import code_in, cut_recorded, fenced, named_value
from cellwright.bench.suites import Item
from cellwright.errors import SetupError
from cellwright.llm.replay import ReplayLM
from cellwright.record.messages import Parameters, Prompt, Reply, TextPart, UserMessage
from cellwright.stopping import Stop

ITEM = Item(3, "Do it.", reference=("x = 1", "y = 2"))


def said(specification: str, item: Item = ITEM, epoch: int = 1) -> list[tuple[str, ...]]:
    """The cells and the words of an agent, in order."""
    answerer = open_agent(specification).answerer(item, epoch)
    replies = []
    for _ in range(answerer.replies):
        stream = answerer.lm.stream(
            Prompt((UserMessage((TextPart("x"),)),), (), Parameters(answerer.model)), Stop()
        )
        replies.append(whole(stream).message)
    return [
        (message.text, *(json.loads(call.arguments)["code"] for call in message.tool_calls))
        for message in replies
    ]


def whole(stream: Any) -> Reply:
    while True:
        try:
            next(stream)
        except StopIteration as ended:
            reply: Reply = ended.value
            return reply


def test_the_oracle_gives_the_reference_and_noop_nothing() -> None:
    assert said("oracle") == [("", "x = 1"), ("", "y = 2"), ("Done.",)]
    assert said("oracle", Item(1, "x", reference_answer="42")) == [("42",)]
    assert said("noop") == [("I did nothing.",)]
    with pytest.raises(NoAnswerError, match="no reference"):
        open_agent("oracle").answerer(Item(1, "x"), 1)


def answers_file(tmp_path: Path, *rows: Any) -> str:
    path = tmp_path / "model.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"answers:{path}"


def test_recorded_answers_are_run_as_cells_or_said_as_code(tmp_path: Path) -> None:
    file = answers_file(
        tmp_path,
        {"id": 3, "code": ["```python\nx = 1\n```", "x = 2</code> and more"]},
        {"metadata": {"problem_id": 4}, "code": "x = 4"},
        {"task_id": "HumanEval/0", "completion": "    return 1\n"},
    )
    assert said(file) == [("", "\nx = 1\n"), ("Done.",)]
    assert said(file, epoch=2) == [("", "x = 2"), ("Done.",)]
    assert said(file, Item(4, "x", is_answer_code=True)) == [(fenced("x = 4"),)]
    item = Item("HumanEval/0", "x", prefix="def one():\n")
    assert said(file, item)[0] == ("", "def one():\n    return 1\n")
    with pytest.raises(NoAnswerError, match="no answer for the sample 9"):
        open_agent(file).answerer(Item(9, "x"), 1)


def test_an_answer_that_is_for_no_sample_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="does not say which sample"):
        open_agent(answers_file(tmp_path, {"code": "x"}))
    with pytest.raises(SetupError, match="does not say which sample"):
        open_agent(answers_file(tmp_path, {"code": "x", "metadata": {}}))


@pytest.mark.parametrize("name", ["gpt", "answers", "answers:", "replay:", "oracle:x"])
def test_an_agent_that_is_not_there_is_told_with_those_that_are(name: str) -> None:
    with pytest.raises(SetupError, match="Use oracle, noop"):
        open_agent(name)


def recorded_file(tmp_path: Path, epoch: int = 1) -> str:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "run_cell", "arguments": '{"code": "x = 9"}'},
    }
    messages = [
        {"role": "user", "content": "Do it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
        {"role": "assistant", "content": "It is 9."},
    ]
    full = {
        "id": "s",
        "task": {"index": 3, "epoch": epoch},
        "messages": messages,
        "model": {"model": "m"},
    }
    path = tmp_path / "agent" / "task" / "runs.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"index": 3, "output": {"cellwright": full}}) + "\n")
    return f"replay:{path}"


def test_a_recorded_sample_is_given_again_by_epoch(tmp_path: Path) -> None:
    file = recorded_file(tmp_path, epoch=2)
    assert said(file, epoch=2) == [("", "x = 9"), ("It is 9.",)]
    assert open_agent(file).name == "replay:agent"
    with pytest.raises(NoAnswerError, match="no run of the sample 3"):
        open_agent(file).answerer(ITEM, 1)
    with pytest.raises(SetupError, match="no recorded samples"):
        open_agent(f"replay:{tmp_path}/none.jsonl")


@pytest.mark.parametrize("code", ["x = 1", "    return 1\n", "", "\n\nx\n", "a\n\n\tb"])
def test_code_comes_back_out_of_its_block_as_it_was(code: str) -> None:
    assert code_in(fenced(code)) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = 1", "x = 1"),
        ("```python\nx\n```", "\nx\n"),
        ("x</code>y", "x"),
        ("<code>x", "x"),
        ("x\nEND SOLUTION\ny", "x"),
        ("x\n```\nmore\n```", "x\n"),
    ],
)
def test_a_recorded_answer_is_cut_by_the_published_rule(text: str, code: str) -> None:
    assert cut_recorded(text) == code


def test_the_last_block_and_the_last_named_value_count() -> None:
    assert code_in("```\na\n```\nbetter:\n```python\nb\n```") == "b"
    assert named_value("@mean[1] no, @mean[ 2 ]", "mean") == "2"
    assert named_value("@mean[1]", "median") is None


def test_a_replaying_model_is_what_answers() -> None:
    assert isinstance(open_agent("noop").answerer(ITEM, 1).lm, ReplayLM)
