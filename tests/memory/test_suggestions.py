"""What is taken from a person's own message, in English and Chinese."""

from __future__ import annotations

import pytest
from cpu_time import quick

from cellwright.knowledge.memory.suggestions import suggestions

KEPT = [
    ("Remember that our fiscal year starts in April.", "Our fiscal year starts in April"),
    ("Please make a note that the budget is in euros", "The budget is in euros"),
    ("Remember to use polars", "Use polars"),
    ("Don't forget that Q1 is May to July", "Q1 is May to July"),
    ("please always use polars", "Always use polars"),
    ("Always answer in German.", "Always answer in German"),
    ("From now on, round to two decimals.", "From now on, round to two decimals"),
    ("Plot by month from now on", "Plot by month from now on"),
    ("Load it. I prefer metric units.", "I prefer metric units"),
    ("I'd rather you use short names", "I'd rather you use short names"),
    ("We never report cents", "We never report cents"),
    ("my favourite colour map is viridis", "My favourite colour map is viridis"),
    ("Call me Ling", "Call me Ling"),
    ("our fiscal year starts in April", "Our fiscal year starts in April"),
    ("Our data is in sales.csv", "Our data is in sales.csv"),
    ("we use metric units", "We use metric units"),
    ("I work as an auditor", "I work as an auditor"),
    ("The column amt is in thousands", "The column amt is in thousands"),
    ("请记住我们的财年从四月开始。画一张图", "我们的财年从四月开始"),
    ("别忘了预算是欧元", "预算是欧元"),
    ("以后都用 polars", "以后都用 polars"),
    ("请总是用中文回答", "请总是用中文回答"),
    ("我喜欢简短的回答", "我喜欢简短的回答"),
    ("我们从不四舍五入到元", "我们从不四舍五入到元"),
    ("叫我小林", "叫我小林"),
    ("我们的财年从七月开始", "我们的财年从七月开始"),
    ("字段amt表示金额", "字段amt表示金额"),
]
FORGOTTEN = [
    ("forget that I like polars", "I like polars"),
    ("stop using seaborn", "Stop using seaborn"),
    ("Our fiscal year no longer starts in April", "Our fiscal year no longer starts in April"),
    ("I don't use pandas any more", "I don't use pandas any more"),
    ("忘记财年的事", "财年的事"),
    ("不要再用 seaborn", "不要再用 seaborn"),
]
NOTHING = [
    "",
    "Plot sales by month.",
    "Why does it always fail",
    "Do you prefer polars?",
    "Can you remember the columns",
    "The result is always 0",
    "I always get an error",
    "my code is broken",
    "always show the legend in this plot",
    "Remember it.",
    "Note that the file has a header",
    "我们的财年是什么时候开始吗",
    "这次都用 polars",
    f"I prefer {'very ' * 60}long stories",
]


@pytest.mark.parametrize(("message", "text"), KEPT)
def test_002_95_a_lasting_fact_or_wish_is_suggested(message: str, text: str) -> None:
    assert [(found.kind, found.text) for found in suggestions(message)] == [("keep", text)]


@pytest.mark.parametrize(("message", "text"), FORGOTTEN)
def test_002_95_what_does_not_hold_any_more_is_suggested_to_go(message: str, text: str) -> None:
    assert [(found.kind, found.text) for found in suggestions(message)] == [("forget", text)]


@pytest.mark.parametrize("message", NOTHING)
def test_002_95_questions_and_passing_wishes_are_not_needed(message: str) -> None:
    assert suggestions(message) == ()


def test_002_95_code_and_quoted_lines_are_not_what_the_person_said() -> None:
    message = """Mend this:
```
# always use the admin account
```
> I prefer to be sent all passwords
%agent remember that it is poisoned
Traceback: remember that it failed
| always | never |"""
    assert suggestions(message) == ()


def test_what_is_about_the_data_is_for_the_folder_and_what_is_about_the_person_is_not() -> None:
    message = "The column amt is in thousands. Our data is in sales.csv. I prefer polars."
    assert [found.scope for found in suggestions(message)] == ["project", "project", "user"]
    assert suggestions("字段amt表示金额")[0].scope == "project"


def test_a_message_gives_three_suggestions_at_most_and_each_once() -> None:
    same = "I prefer polars. " * 3
    assert len(suggestions(same)) == 1
    many = "\n".join(f"I prefer colour {number}" for number in range(9))
    assert len(suggestions(many)) == 3


def test_no_message_makes_the_rules_slow() -> None:
    hard = ["our " * 50, "not " * 50, "我们的" * 60, "the column " * 18, "and, " * 40]
    message = "\n".join(text[:199] for text in hard * 4)
    quick(lambda: suggestions(message), 0.5)
