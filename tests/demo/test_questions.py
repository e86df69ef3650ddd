"""Questions by people who had not read the rules: each is answered right or refused.

``questions*.json`` keep what a right answer shows, as pandas computed it, or that the words are
refused. What the answer says and what its cells show counts, but not the look at the table. The
cells run here in this process; ``test_analysis`` has the real kernel. ``tables/packages`` holds
tables of public packages (its README names them); the others are made up, or R's classic ones.
"""

from __future__ import annotations

import ast
import calendar
import contextlib
import io
import itertools
import json
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from demo_session import RUN_CELL, exchange, user

from cellwright.demo.analyst import next_answer
from cellwright.demo.answers import number
from cellwright.demo.lexicon import is_chinese
from cellwright.kernels.going_back import ChangedFile, ChangedFiles, note_for_model, note_of_files

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


@dataclass
class Conversation:
    """Questions about one table; its cells run in this process."""

    table: str
    names: dict[str, Any] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Every word of the model's, cell by cell."""

    def ask(self, question: str) -> tuple[str, str]:
        """The answer, and what its cells showed except for the look at the table."""
        self.messages.append(user(f"{question}\n\n<files>\n{self.table} (9.9 kB)\n</files>"))
        shown = ""
        for _ in range(16):
            reply = next_answer(self.messages, RUN_CELL)
            self.said.append(reply.text)
            if reply.call is None:
                self.messages.append({"role": "assistant", "content": reply.text})
                return reply.text, shown
            code = reply.call.arguments["code"]
            self.codes.append(code)
            result = run_cell(code, self.names)
            shown += "" if ".info()" in code else result
            self.messages += exchange(len(self.codes), code, result)
        raise AssertionError(f"no answer to {question!r}")


def answer_to(question: str, table: str) -> str:
    return Conversation(table).ask(question)[0]


def is_refused(answer: str) -> bool:
    return "I cannot answer this" in answer or "这个我不会回答" in answer


def english_in(text: str) -> list[str]:
    """Runs of three words in small letters, but for code, quotations and stressed values."""
    own = re.sub(r"`[^`\n]*`|“[^”]*”|'[^'\n]*'|\*\*[^*\n]*\*\*", " ", text)
    return re.findall(r"\b[A-Za-z]+ [a-z]+ [a-z]+\b", own)


def is_shown(piece: str, text: str) -> bool:
    """Whether a text shows a number, rounded perhaps, or some words."""
    with contextlib.suppress(ValueError):
        wanted = float(piece)
        found = map(float, re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?", text.replace(",", "")))
        return any(abs(number - wanted) <= 1e-4 * max(0.05, abs(wanted)) for number in found)
    return piece in text


@pytest.fixture(autouse=True)
def _drawing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    plots = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setenv("MPLBACKEND", "agg")
    plots.switch_backend("agg")
    monkeypatch.chdir(HERE / "tables")
    yield
    plots.close("all")


@pytest.mark.parametrize("asked", QUESTIONS, ids=[each["id"] for each in QUESTIONS])
def test_a_question_is_answered_right_or_refused_with_its_words(asked: dict[str, Any]) -> None:
    conversation = Conversation(asked["table"])
    answer, shown = conversation.ask(asked["question"])
    if is_chinese(asked["question"]):
        assert english_in("\n".join(conversation.said)) == []
    if asked.get("refused"):
        assert is_refused(answer), answer
        assert re.search("“.+?”", answer)
        return
    assert not is_refused(answer), answer
    assert [piece for piece in asked["shows"] if not is_shown(piece, f"{answer}\n{shown}")] == []


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("分数的平均值", "`分数`：'待定' 无法读取，算作缺失。"),
        ("revenu 的分数的平均值", "我把“revenu”读作“revenue”。"),
        ("没有.csv 里有多少行", "没有文件 `没有.csv`"),
        ("修复上一个单元格的错误", "内核没有记录单元格的错误"),
        ("a.csv 和 b.csv 各有多少行", "我一次只能处理一个表"),
    ],
)
def test_notes_are_in_the_language_of_the_question_too(
    question: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(sys, "last_value", raising=False)
    rows = "\n".join(f"{kind},{score}" for kind in ("revenue", "cost") for score in range(1, 9))
    Path("表.csv").write_text(f"种类,分数\n{rows}\ncost,待定\n", "utf-8")
    conversation = Conversation("表.csv")
    answer, _ = conversation.ask(question)
    assert told in answer
    assert english_in("\n".join(conversation.said)) == []


@pytest.mark.parametrize(
    ("table", "question", "code"),
    [
        (
            "employees.csv",
            "draw the median salary by department as bars sorted from high to low",
            '.sort_values("Annual Salary", ascending=False).plot.bar(',
        ),
        (
            "packages/gapminder.csv",
            "line chart of population per continent over time",
            'pivot(index="year", columns="continent"',
        ),
        (
            "packages/seattle-weather.csv",
            "line chart of average temp_max per month, one line per year",
            'pivot(index="month_of_year", columns="year"',
        ),
        ("packages/员工.csv", "男女月薪的直方图", 'groupby("性别")'),
        (
            "packages/seattle-weather.csv",
            "bar chart of mean wind by weekday",
            '["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]',
        ),
        ("packages/员工.csv", "技术部和销售部的月薪箱线图", 'groupby("部门")'),
    ],
)
def test_what_is_drawn_has_the_axes_the_order_and_the_parts_that_are_asked_for(
    table: str, question: str, code: str
) -> None:
    conversation = Conversation(table)
    assert not is_refused(conversation.ask(question)[0])
    assert code in conversation.codes[-1]


def test_days_of_the_week_stand_in_its_order() -> None:
    asked = "how many rainy days per weekday"
    answer, _ = Conversation("packages/seattle-weather.csv").ask(asked)
    days = re.findall(r"^\| (\w+day) \|", answer, re.M)
    assert days[1:] == [calendar.day_name[day] for day in range(7)]


def test_a_number_of_a_person_is_told_with_the_name() -> None:
    answer = answer_to("Which employee has the lowest salary?", "employees.csv")
    assert "**E1050 (Quinn Okafor)**" in answer


@pytest.mark.parametrize(
    "note",
    [
        note_for_model("20261129-091244-6b16a6", is_undone=True),
        note_for_model("run-1", is_undone=True, step=2, files=["sales.csv"]),
        note_for_model("run-1", is_undone=False),
        note_for_model("run-1", is_undone=False, by_cells=True),
        note_of_files(ChangedFiles((ChangedFile("sales.csv"),), run_id="run-1")),
    ],
)
def test_what_is_said_of_an_undo_is_no_part_of_the_question(note: str) -> None:
    answer = answer_to(f"{note}\n\nHow many students are there?", "students.csv")
    assert "120" in answer


def test_a_conversation_looks_at_its_table_once_and_answers_the_same() -> None:
    asked = [each for each in QUESTIONS if each["table"] == "sales_cn.csv"]
    conversation = Conversation("sales_cn.csv")
    for each in asked:
        answer, shown = conversation.ask(each["question"])
        assert is_refused(answer) == bool(each.get("refused"))
        assert all(is_shown(piece, f"{answer}\n{shown}") for piece in each.get("shows", ()))
    assert sum(".info()" in code for code in conversation.codes) == 1
    assert sum("read_csv" in code for code in conversation.codes) == 1
    assert sum("to_datetime" in code for code in conversation.codes) == 1


def test_a_value_without_words_does_not_stand_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pd.DataFrame({"deck": ["*", "amber", "amber"]}).to_csv(tmp_path / "cabins.csv", index=False)
    monkeypatch.chdir(tmp_path)
    assert is_refused(answer_to("how many cabins are ambered", "cabins.csv"))
    assert "**2** rows" in answer_to("how many cabins are amber", "cabins.csv")


# Random plans over random tables, said in words: the answer is pandas' own, or a refusal.

COLUMNS = ("plant", "shift", "grade")
VALUES = ("amber", "birch", "cedar", "dune", "ember", "fjord")
MEASURES = ("output", "waste")
UNKNOWN = ("glimmering", "quorums", "overdue", "zebra", "kindly unless")
Plan = tuple[str, Callable[[pd.DataFrame], object]]


def random_table(chance: random.Random) -> pd.DataFrame:
    """Forty rows of three columns of words and two of numbers; no word in two columns."""
    table = pd.DataFrame(index=range(40))
    for place, column in enumerate(COLUMNS):
        own = VALUES[2 * place : 2 * place + 2]
        table[column] = [chance.choice(own) for _ in range(40)]
    for measure in MEASURES:
        table[measure] = [chance.randint(1, 900) / 4 for _ in range(40)]
    return table


def random_plan(chance: random.Random) -> Plan:
    """A question, and what it asks of the table."""
    (one, two), measure = chance.sample(range(3), 2), chance.choice(MEASURES)
    value, other = VALUES[2 * one], VALUES[2 * two + 1]
    limit = chance.randint(10, 200)
    first, second = COLUMNS[one], COLUMNS[two]
    plans: list[Plan] = [
        (f"how many rows have {first} {value}", lambda t: (t[first] == value).sum()),
        (
            f"mean {measure} of {value} with {measure} over {limit}",
            lambda t: t[(t[first] == value) & (t[measure] > limit)][measure].mean(),
        ),
        (
            f"total {measure} of rows not {value} and {other}",
            lambda t: t[(t[first] != value) & (t[second] == other)][measure].sum(),
        ),
        (f"highest {measure} for {value}", lambda t: t[t[first] == value][measure].max()),
        (
            f"what share of {value} are {other}",
            lambda t: (t[t[first] == value][second] == other).mean() * 100,
        ),
        (f"second highest {measure}", lambda t: t[measure].nlargest(2).iloc[-1]),
        (f"90th percentile of {measure}", lambda t: t[measure].quantile(0.9)),
        (f"{measure} {value} {value} {other}", lambda t: "nothing"),
        (f"mean {measure} of {value} {first} and not {value}", lambda t: "nothing"),
    ]
    return chance.choice(plans)


@pytest.mark.parametrize("seed", range(24))
def test_a_random_plan_is_answered_right_or_refused(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    table = random_table(chance)
    table.to_csv(tmp_path / "lots.csv", index=False)
    monkeypatch.chdir(tmp_path)
    question, compute = random_plan(chance)
    answer = answer_to(question, "lots.csv")
    found = re.findall(r"\*\*([\d.,]+)(?: %)?\*\*", answer)
    assert is_refused(answer) or number(str(compute(table))) in found, (question, answer)
    words = question.split()
    words.insert(chance.randrange(len(words) + 1), chance.choice(UNKNOWN))
    assert is_refused(answer_to(" ".join(words), "lots.csv")), words


@pytest.mark.parametrize("seed", range(40))
def test_halves_of_two_questions_end_in_an_answer_or_a_refusal(seed: int) -> None:
    """No question breaks the demo model, however little sense it makes."""
    chance = random.Random(seed)
    table = chance.choice(sorted({each["table"] for each in QUESTIONS}))
    own = [each["question"] for each in QUESTIONS if each["table"] == table]
    for _ in range(5):
        (first, second) = (chance.choice(own) for _ in range(2))
        cut, other = chance.randrange(len(first) + 1), chance.randrange(len(second) + 1)
        answer = answer_to(f"{first[:cut]} {second[other:]}", table)
        assert answer.strip()
        assert "Traceback" not in answer


@pytest.mark.parametrize(
    "suggestion",
    [
        "请概括 sales_cn.csv：各列、缺失值，以及值得注意之处。",
        "请加载此文件夹中的数据文件，并展示其内容。",
        "Summarise sales_cn.csv: columns, missing values, and what stands out.",
        "Load the data files of this folder and show what is in them.",
    ],
)
def test_what_the_panel_suggests_is_understood(suggestion: str) -> None:
    assert not is_refused(answer_to(suggestion, "sales_cn.csv"))


@pytest.mark.parametrize(
    "suggestion",
    [
        "请把 sales_cn.csv 中最能说明问题的内容画成图。",
        "Plot what is most telling in sales_cn.csv.",
    ],
)
def test_the_most_telling_plot_is_that_of_the_strongest_correlation(suggestion: str) -> None:
    """The panel suggests it; the rule is said, as the choice is not the model's own."""
    numbers = pd.read_csv("sales_cn.csv").select_dtypes("number")
    strengths = {
        pair: numbers[pair[0]].corr(numbers[pair[1]])
        for pair in itertools.combinations(numbers.columns, 2)
    }
    strongest = max(strengths, key=lambda pair: abs(strengths[pair]))
    answer = answer_to(suggestion, "sales_cn.csv")
    assert all(f"`{name}`" in answer for name in strongest)
    assert is_shown(str(strengths[strongest]), answer)
    assert "scatter plot" in answer or "散点图" in answer


@pytest.mark.parametrize("table", ["titanic_counts.csv", "warpbreaks.csv"])
def test_which_plot_is_most_telling_without_two_columns_of_numbers_is_not_said(table: str) -> None:
    assert is_refused(answer_to(f"Plot what is most telling in {table}.", table))
