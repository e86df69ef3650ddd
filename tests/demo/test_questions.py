"""Two hundred questions by people who had not read the rules: each is answered right or refused.

``questions.json`` and ``questions2.json`` keep what a right answer shows, as pandas computed it,
or that the words are refused. The cells run here in this process; ``test_analysis`` has the real
kernel.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from demo_session import RUN_CELL, exchange, user

from cellwright.demo.analyst import next_answer

HERE = Path(__file__).parent
QUESTIONS: list[dict[str, Any]] = [
    question
    for path in sorted(HERE.glob("questions*.json"))
    for question in json.loads(path.read_text("utf-8"))
]


def run_cell(code: str, names: dict[str, Any]) -> str:
    """What a cell prints and shows, or the error it ends with."""
    printed = io.StringIO()
    body = ast.parse(code).body
    last = body[-1] if isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fonts without Chinese letters
        try:
            before = body if last is None else body[:-1]
            exec(compile(ast.Module(before, []), "cell", "exec"), names)
            if last is not None:
                shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
                print("" if shown is None else repr(shown))
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()


def answer_to(question: str, table: str) -> str:
    names: dict[str, Any] = {}
    messages = [user(f"{question}\n\n<files>\n{table} (9.9 kB)\n</files>")]
    for place in range(16):
        reply = next_answer(messages, RUN_CELL)
        if reply.call is None:
            return reply.text
        messages += exchange(place, "", run_cell(reply.call.arguments["code"], names))
    raise AssertionError(f"no answer to {question!r}")


@pytest.mark.parametrize("asked", QUESTIONS, ids=[each["id"] for each in QUESTIONS])
def test_a_question_is_answered_right_or_refused_with_its_words(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plots = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setenv("MPLBACKEND", "agg")
    plots.switch_backend("agg")
    monkeypatch.chdir(HERE / "tables")
    answer = answer_to(asked["question"], asked["table"])
    plots.close("all")
    if asked.get("refused"):
        assert "I cannot answer this" in answer or "这个我不会回答" in answer
        assert re.search("“.+?”", answer)
        return
    for shown in asked["shows"]:
        assert shown in answer
