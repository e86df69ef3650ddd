"""What prompts are understood to ask for."""

from __future__ import annotations

import pytest

from cellwright.demo.wishes import file_names, read_wish


@pytest.mark.parametrize(
    ("prompt", "tasks"),
    [
        ("Profile sales.csv", ("profile",)),
        ("summarise the table", ("profile",)),
        ("what is in this file", ("profile",)),
        ("how many values are missing?", ("profile",)),
        ("are there missing values", ("profile",)),
        ("有缺失值吗", ("profile",)),
        ("plot revenue by month", ("plot",)),
        ("please draw a histogram of units", ("plot",)),
        ("what is the mean of units by region", ("question",)),
        ("summarise revenue by region", ("question",)),
        ("which month had the best revenue, by region? plot it", ("question", "plot")),
        ("plot the mean of units by region", ("plot",)),
        ("clean missing values", ("clean",)),
        ("fill the missing units", ("clean",)),
        ("fix the missing values", ("clean",)),
        ("profile the data, then clean missing values", ("profile", "clean")),
        ("clean the data and profile it", ("clean", "profile")),
        ("clean the data; which region has the highest revenue?", ("clean", "question")),
        ("profile it; which month had the best revenue?", ("profile", "question")),
        ("fix the error in my last cell", ("fix",)),
        ("what went wrong", ("fix",)),
        ("修复上一个单元格的错误", ("fix",)),
        ("run\n```python\nx = 1\n```", ("run",)),
        ("say hello", ("greet",)),
        ("你好", ("greet",)),
        ("hello?", ("greet",)),
        ("hello, what is the mean of units", ("question",)),
        ("who are you?", ("help",)),
        ("help me plot units", ("plot",)),
        ("what can you do", ("help",)),
        ("清洗数据", ("clean",)),
        ("画图", ("plot",)),
        ("哪个地区最高", ("question",)),
        ("write a poem", ()),
    ],
)
def test_tasks_follow_the_words(prompt: str, tasks: tuple[str, ...]) -> None:
    assert read_wish(prompt).tasks == tasks


@pytest.mark.parametrize(
    ("prompt", "target"),
    [
        ("leave the table in `best`", "best"),
        ("leave the table in best.", "best"),
        ("leave it in counts", "counts"),
        ("save the result as a new variable called totals", "totals"),
        ("assign the sums to region_sums", "region_sums"),
        ("call it monthly", "monthly"),
        ("name the table `by_region`", "by_region"),
        ("put the cleaned data into the variable `tidy`", "tidy"),
        ("把结果存到 best_cn", "best_cn"),
        ("保存为变量 `result_2`", "result_2"),
        ("save it to a file", ""),
        ("save it in 2024", ""),
        ("leave it in class", ""),
        ("put revenue in a plot", ""),
        ("mean of `revenue` in North", ""),
    ],
)
def test_the_name_for_the_result_is_found(prompt: str, target: str) -> None:
    assert read_wish(prompt).target == target


@pytest.mark.parametrize(
    ("prompt", "limit", "extreme", "function", "chart"),
    [
        ("top 5 products by revenue", 5, "high", "", ""),
        ("the 3 lowest prices", 3, "low", "", ""),
        ("前 4 个产品", 4, "high", "", ""),
        ("average of units", 0, "", "mean", ""),
        ("bar chart of the median price", 0, "", "median", "bar"),
        ("how many orders", 0, "", "count", ""),
        ("worst month, then the best", 0, "low", "", ""),
        ("收入的总和，折线图", 0, "", "sum", "line"),
    ],
)
def test_numbers_and_functions_are_read(
    prompt: str, limit: int, extreme: str, function: str, chart: str
) -> None:
    wish = read_wish(prompt)
    assert (wish.limit, wish.extreme, wish.function, wish.chart) == (
        limit,
        extreme,
        function,
        chart,
    )


def test_files_are_found_bare_quoted_and_next_to_chinese() -> None:
    text = 'compare a.csv with "my data.xlsx" and 分析 ./data/b.tsv，c.csv'
    assert file_names(text) == ["a.csv", "my data.xlsx", "./data/b.tsv", "c.csv"]


def test_words_of_file_names_and_code_do_not_count() -> None:
    wish = read_wish("profile best_plots.csv\n```\nmean = 1\n```")
    assert wish.tasks == ("run",)
    assert not wish.extreme
    assert not wish.function
    assert wish.snippet == "mean = 1"
