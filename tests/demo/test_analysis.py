"""The demo model at work: real requests, a real kernel, numbers checked against pandas."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from demo_session import Session, tool, value, was_repaired

pytestmark = pytest.mark.kernel
Runner = Callable[[str], str]


@pytest.fixture(scope="module")
def sales() -> pd.DataFrame:
    """The sales table as pandas reads it when told everything."""
    import cellwright.demo

    path = Path(cellwright.demo.__file__).parent / "data" / "sales.csv"
    frame = pd.read_csv(path, thousands=",", na_values=["pending"])
    frame["order_date"] = pd.to_datetime(frame["order_date"], format="mixed")
    return frame


def test_the_best_month_by_region_is_what_pandas_says(
    session: Session, run: Runner, sales: pd.DataFrame
) -> None:
    turn = session.ask(
        "Which month had the best revenue, by region? Plot it and leave the table in `best`.\n\n"
        "<files>\nsales.csv (18.2 kB)\n  order_id,order_date\n</files>"
    )
    months = sales["order_date"].dt.to_period("M").astype(str).rename("month")
    sums = sales.groupby(["region", months])["revenue"].sum().reset_index()
    best = sums.loc[sums.groupby("region")["revenue"].idxmax()]
    expected = [[r, m, round(v, 2)] for r, m, v in best.itertuples(index=False)]
    found = value(run, "best.astype({'month': str}).round(2).values.tolist()")
    assert found == expected
    for region, month, revenue in expected:
        assert re.search(rf"{region}\s+{month}\s+{revenue:.2f}", "\n".join(turn.results))
    assert any("<Figure size" in result for result in turn.results)


def test_a_real_error_in_the_sales_dates_and_one_in_its_numbers_are_repaired(
    session: Session,
) -> None:
    turn = session.ask("Profile sales.csv")
    assert len(turn.errors) == 2
    assert "doesn't match format" in turn.errors[0]
    assert "could not convert string to float" in turn.errors[1]
    assert was_repaired(turn)
    repairs = [said for said in turn.said if "(ValueError)" in said]
    assert len(repairs) == 2


def test_a_profile_tells_what_pandas_counts(session: Session, sales: pd.DataFrame) -> None:
    turn = session.ask("Profile sales.csv and leave the summary in `numbers`")
    gaps = int(sales.isna().sum().sum())
    assert f"**360 rows** and **7 columns**; {gaps} values are missing" in turn.answer
    assert f"- `revenue`: numbers; {sales['revenue'].isna().sum()} missing" in turn.answer
    assert "- `region`: text; North, West, South, East; 5 missing" in turn.answer
    assert f"{sales['revenue'].max():.6f}" in turn.results[-1]
    assert "'pending' could not be read" in turn.answer


def test_only_its_first_answer_says_that_it_is_a_demo(session: Session) -> None:
    turn = session.ask("hello")
    assert turn.answer.splitlines()[0].startswith("I am cellwright's demo model, a set of rules")
    assert "demo model" not in session.ask("hello again").answer


def test_a_plot_has_a_title_named_axes_and_its_table(
    session: Session, run: Runner, sales: pd.DataFrame
) -> None:
    turn = session.ask("plot revenue by month from sales.csv")
    assert "Revenue by month (sum) as lines" in turn.answer
    monthly = sales.groupby(sales["order_date"].dt.to_period("M"))["revenue"].sum().round(2)
    assert value(run, "revenue_by_month['revenue'].round(2).tolist()") == monthly.tolist()
    assert value(run, "[axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]") == [
        "Revenue by month",
        "Month",
        "Sum of revenue",
    ]
    assert value(run, "__import__('matplotlib.pyplot').pyplot.get_fignums()") == []


def test_a_chart_asked_for_in_chinese_is_titled_in_chinese(session: Session, run: Runner) -> None:
    session.ask("画出 sales.csv 中各 region 的 units 柱状图")
    assert value(run, "[axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]") == [
        "各 region 的Units",
        "Region",
        "units 的总和",
    ]
    assert value(run, "plt.rcParams['font.family'] == ['sans-serif', *installed]")


@pytest.mark.parametrize(
    ("prompt", "expression", "expected"),
    [
        ("bar chart of units by product", "len(axes.patches)", 4),
        ("histogram of unit_price", "sum(p.get_height() for p in axes.patches)", 360),
        ("scatter plot of revenue against units", "len(axes.collections)", 1),
        ("plot unit_price by units", "len(axes.collections)", 1),
        (
            "plot the number of orders by region",
            "[t.get_text() for t in axes.get_xticklabels()]",
            ["East", "North", "South", "West"],
        ),
        ("line chart of revenue by region", "len(axes.lines)", 1),
        ("line chart of revenue by region and product", "len(axes.lines)", 4),
        ("bars of units by region and product", "len(axes.patches)", 16),
        ("draw bars of revenue per quarter", "len(axes.patches)", 4),
        ("plot revenue over time by product", "len(axes.lines)", 4),
        ("plot the distribution of units", "axes.get_title()", "Distribution of units"),
        ("box plot of revenue by region", "len(axes.lines)", 28),
    ],
)
def test_charts_are_drawn_as_asked(
    session: Session, run: Runner, prompt: str, expression: str, expected: object
) -> None:
    turn = session.ask(f"{prompt} from sales.csv")
    assert "The plot shows" in turn.answer
    assert value(run, expression) == expected


def test_the_top_n_are_the_n_highest_sums(
    session: Session, run: Runner, sales: pd.DataFrame
) -> None:
    turn = session.ask("top 2 products by revenue in sales.csv, save it as top")
    sums = sales.groupby("product")["revenue"].sum().nlargest(2).round(2)
    assert value(run, "top.round(2).values.tolist()") == [[n, v] for n, v in sums.items()]
    assert "the 2 `product` with the highest sum of `revenue`" in turn.answer


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("what is the mean of units", lambda s: s["units"].mean()),
        ("what's the median unit price", lambda s: s["unit_price"].median()),
        ("max of revenue", lambda s: s["revenue"].max()),
        ("lowest revenue", lambda s: s["revenue"].min()),
        ("total revenue", lambda s: s["revenue"].sum()),
        ("standard deviation of units", lambda s: s["units"].std()),
        ("how many rows are there", len),
        (
            "total revenue of Desk lamp or Monitor arm in North",
            lambda s: s[s["product"].isin(["Desk lamp", "Monitor arm"]) & (s["region"] == "North")][
                "revenue"
            ].sum(),
        ),
        ("how many orders had more than 5 units", lambda s: (s["units"] > 5).sum()),
        ("how many rows are duplicated?", lambda s: s.duplicated().sum()),
        ("how many values are missing in region", lambda s: s["region"].isna().sum()),
        (
            "what percentage of orders are from North?",
            lambda s: (s["region"] == "North").mean() * 100,
        ),
        ("how many different products are there", lambda s: s["product"].nunique()),
        ("correlation of units and unit price", lambda s: s["units"].corr(s["unit_price"])),
        ("revenue 超过 1000 的记录有多少条", lambda s: (s["revenue"] > 1000).sum()),
        ("units 的平均值是多少", lambda s: s["units"].mean()),
    ],
)
def test_one_number_is_what_pandas_computes(
    session: Session,
    run: Runner,
    sales: pd.DataFrame,
    prompt: str,
    expected: Callable[[pd.DataFrame], float],
) -> None:
    turn = session.ask(f"{prompt} (sales.csv)")
    assert value(run, "float(result)") == pytest.approx(expected(sales))
    assert "`result`" in turn.answer


@pytest.mark.parametrize(
    ("prompt", "header"),
    [
        ("mean of units by region", "region units"),
        ("average unit price by product and region", "product region unit_price"),
        ("how many orders per product", "product count"),
        ("按 region 统计 units 平均值", "region units"),
        ("which product sold the most units by region?", "region product units"),
        ("which region had the lowest revenue in each quarter?", "quarter region revenue"),
        ("哪个月的 revenue 最高，按 region", "region month revenue"),
        ("monthly revenue", "month revenue"),
    ],
)
def test_tables_have_the_groups_that_were_asked_for(
    session: Session, prompt: str, header: str
) -> None:
    shown = session.ask(f"{prompt} sales.csv").results[-1]
    assert header in [" ".join(line.split()) for line in shown.splitlines()]


def test_the_largest_rows_are_whole_rows(session: Session, run: Runner) -> None:
    turn = session.ask("show the top 3 rows by revenue in sales.csv")
    assert "the 3 rows with the highest `revenue`" in turn.answer
    assert value(run, "len(result)") == 3


def test_cleaning_leaves_no_gap_in_a_copy_and_the_original_as_it_was(
    session: Session, run: Runner, sales: pd.DataFrame
) -> None:
    turn = session.ask("clean missing values in sales.csv and leave the result in tidy")
    assert value(run, "int(tidy.isna().sum().sum())") == 0
    assert value(run, "int(sales.isna().sum().sum())") == int(sales.isna().sum().sum())
    assert value(run, "float(tidy['revenue'].median())") == pytest.approx(sales["revenue"].median())
    assert "`tidy` is the cleaned table: 360 of 360 rows" in turn.answer
    assert "filled with 'unknown'" in turn.answer


FRAME = """\
import pandas as pd
measured = pd.DataFrame({
    "when": pd.date_range("2026-01-01", periods=90, freq="D", tz="UTC"),
    "City": pd.Categorical(["Rome", "Oslo"] * 45),
    "score": range(90),
    "price": ["1.50", "2,000.00"] * 45,
    "tags": [[1], [2, 3]] * 45,
})
before = measured.copy()
"""


def test_a_named_dataframe_is_used_and_left_as_it_is(session: Session, run: Runner) -> None:
    run(FRAME)
    turn = session.ask("What is the sum of price by City in @measured?")
    assert re.search(r"Oslo\s+90000", turn.results[-1])
    assert "`measured_typed` is a copy of `measured`" in turn.answer
    assert value(run, "measured.equals(before)") is True


def test_dates_with_a_time_zone_are_cut_without_a_warning(session: Session, run: Runner) -> None:
    run(FRAME)
    turn = session.ask("plot score by month for @measured")
    assert "Score by month (mean) as lines" in turn.answer
    assert [text for text in turn.errors if "unhashable type: 'list'" not in text] == []


def test_a_dataframe_that_is_there_is_found_without_a_name(session: Session, run: Runner) -> None:
    run(FRAME.replace("before =", "_before ="))
    turn = session.ask("describe my table")
    assert "**90 rows** and **5 columns**" in turn.answer
    assert "- `City`: text; Rome, Oslo" in turn.answer


def test_cleaning_drops_rows_without_a_date_and_fills_categories(
    session: Session, run: Runner
) -> None:
    run(FRAME + "measured.loc[:4, 'when'] = None\nmeasured.loc[5:9, 'City'] = None")
    turn = session.ask("clean the missing values of @measured")
    assert "85 of 90 rows" in turn.answer
    assert "- `when`: 5 missing, rows dropped" in turn.answer
    assert value(run, "int(measured_clean['City'].eq('unknown').sum())") == 5


def test_nothing_is_cleaned_where_nothing_is_missing(session: Session, run: Runner) -> None:
    run("import pandas as pd\nfull = pd.DataFrame({'a': [1, 2]})")
    turn = session.ask("clean missing values of @full and leave it in spotless")
    assert "Nothing is missing in `full`" in turn.answer
    assert value(run, "spotless.equals(full)") is True


def test_columns_with_odd_names_are_quoted(session: Session, run: Runner) -> None:
    run(
        "import pandas as pd\n"
        "odd = pd.DataFrame({\"it's\": ['a', 'b'], '\"x\"': [1, 2], 7: [3, 4]})"
    )
    answer = session.ask("profile @odd").answer
    assert "- `it's`: text; all different" in answer
    assert "- `7`: numbers; all different" in answer


def test_a_variable_that_is_no_table_is_reported(session: Session, run: Runner) -> None:
    run("numbers = [1, 2]")
    assert "I could not look at `numbers`: AttributeError" in session.ask("profile @numbers").answer


def test_without_data_it_says_what_to_name(session: Session, folder: Path) -> None:
    (folder / "sales.csv").unlink()
    assert "I found no data to work on" in session.ask("what is the mean of units?").answer


def test_the_one_table_of_the_folder_need_not_be_named(session: Session, folder: Path) -> None:
    (folder / "run.json").write_text("{}")
    turn = session.ask("which region had the best revenue?")
    assert "is the `region` with the highest sum of `revenue`" in turn.answer


def test_the_prompt_that_the_panel_suggests_shows_the_table_of_the_folder(session: Session) -> None:
    turn = session.ask("Load the data files of this folder and show what is in them.")
    assert "`sales`" in turn.answer
    assert "- `revenue`: numbers" in turn.answer


def test_of_several_files_it_asks_which_one(session: Session, folder: Path) -> None:
    (folder / "other.csv").write_text("a,b\n1,2\n")
    answer = session.ask("what is the mean of units?").answer
    assert "several data files here: `other.csv`, `sales.csv`" in answer


def test_a_second_turn_uses_the_table_of_the_first(session: Session, run: Runner) -> None:
    session.ask("profile sales.csv")
    turn = session.ask(
        "which region had the best revenue in sales.csv?\n\n"
        "<notebook-state>\nsales: DataFrame 360 rows x 7 columns\n</notebook-state>"
    )
    assert not any("read_csv" in code for code in turn.codes)
    assert not turn.errors
    assert "is the `region` with the highest sum of `revenue`" in turn.answer


def test_rows_that_nothing_fits_are_admitted(session: Session) -> None:
    answer = session.ask("what is the mean of units in North in 2024? sales.csv").answer
    assert "There is no mean of `units`" in answer


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("what is the weather by planet?", ["“weather”", "“planet”"]),
        ("revanue: what is the average", ["“revanue”", "did you mean `revenue`"]),
        ("what is the mean of units in the northern regions", ["“northern”"]),
        ("is the mean of units in North higher than in spring?", ["“spring”"]),
        ("orders with units above average in North", ["“mean”", "of all rows"]),
        ("pie chart of mean unit price by product", ["“pie chart”", "“mean unit price”"]),
        ("how many more orders are from the north than in spring?", ["“spring”"]),
        ("draw something", ["“draw”", "“something”"]),
        ("unit price in North", ["unit_price", "the sum, the mean"]),
        ("second revenue", ["“second”"]),
        ("forecast revenue for next month", ["“forecast”", "“next”"]),
        ("北京的 units 平均值", ["“京”"]),
        ("scatter plot of revenue", ["“revenue”", "two columns of numbers"]),
    ],
)
def test_words_that_cannot_be_put_to_use_are_named_and_nothing_is_computed(
    session: Session, run: Runner, prompt: str, words: list[str]
) -> None:
    answer = session.ask(f"{prompt} sales.csv").answer
    assert answer.startswith(("I cannot answer this", "这个我不会回答"))
    for word in words:
        assert word in answer
    assert "**" not in answer


VISITS = """\
import pandas as pd
visits = pd.DataFrame({
    "Visit Date": pd.date_range("2025-01-30 06:00", periods=96, freq="8h"),
    "Room Kind": ["red", "blue", "green"] * 32,
    "fare": ["day", "night", "hour", "month", "小时", "bar"] * 16,
    "paid": range(96),
    "Hours": [1, 2, 3, 4] * 24,
})
dates = visits["Visit Date"].dt
"""


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("total paid per day", "visits.groupby(dates.date)['paid'].sum().tolist()"),
        ("mean paid for each month", "visits.groupby(dates.month)['paid'].mean().tolist()"),
        ("每个小时的 paid 平均值", "visits['paid'].tolist()"),
        ("mean paid by hour of the day", "visits.groupby(dates.hour)['paid'].mean().tolist()"),
        ("how many visits each month?", "visits.groupby(dates.month).size().tolist()"),
        ("visits per month", "visits.groupby(dates.month).size().tolist()"),
    ],
)
def test_a_unit_of_time_after_by_is_no_value_and_rows_of_a_date_are_counted(
    session: Session, run: Runner, prompt: str, expected: str
) -> None:
    run(VISITS)
    answer = session.ask(f"{prompt} in @visits, leave it in found").answer
    assert "rows where" not in answer
    assert value(run, "found.iloc[:, -1].tolist()") == value(run, expected)


def test_a_unit_of_time_beside_its_column_is_a_value(session: Session, run: Runner) -> None:
    run(VISITS)
    answer = session.ask("total paid of the day fare per day in @visits, leave it in found").answer
    assert "rows where `fare` is day" in answer
    assert value(run, "int(found['paid'].sum())") == value(
        run, "int(visits.loc[visits['fare'] == 'day', 'paid'].sum())"
    )


@pytest.mark.parametrize(
    ("prompt", "word"),
    [
        ("total paid day", "day"),
        ("mean paid of month", "month"),
        ("小时的 paid 平均值", "小时"),
        ("mean paid per hours slept", "slept"),
        ("how many dates are there?", "dates"),
        ("how many rooms are there?", "rooms"),
    ],
)
def test_a_word_with_two_meanings_is_refused_and_named(
    session: Session, run: Runner, prompt: str, word: str
) -> None:
    run(VISITS)
    answer = session.ask(f"{prompt} in @visits").answer
    assert "I cannot answer this" in answer or "这个我不会回答" in answer
    assert f"“{word}”" in answer


METERS = """\
import pandas as pd
meters = pd.DataFrame({
    "when_read": pd.date_range("2024-11-04", periods=90, freq="7D"),
    "gas_length": [float(n % 41) for n in range(90)],
    "gas_width": range(90),
    "score": [n % 7 for n in range(90)],
    "用时": range(90),
    "kind": ["used", "new", "old"] * 30,
    "part_id": [n // 5 for n in range(90)],
})
cut = meters["when_read"].dt.to_period("M")
"""


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("how many readings have a score of 3", "(meters['score'] == 3).sum()"),
        ("麻烦看一下 score 在2到4之间的记录有几条", "meters['score'].between(2, 4).sum()"),
        ("score 至少4分的有多少条数据", "(meters['score'] >= 4).sum()"),
        ("how strongly are score and gas_width correlated", "meters.score.corr(meters.gas_width)"),
        ("score 没有填的有几条", "meters['score'].isna().sum()"),
        ("how many parts are there", "meters['part_id'].nunique()"),
        ("what share of meters came through lent", "(meters['kind'] == 'lent').mean() * 100"),
    ],
)
def test_general_words_are_understood(
    session: Session, run: Runner, prompt: str, expected: str
) -> None:
    run(METERS.replace('"used"', '"lent"'))
    session.ask(f"{prompt} in @meters")
    assert value(run, "float(result)") == pytest.approx(value(run, f"float({expected})"))


def test_the_months_of_several_years_stand_by_themselves(session: Session, run: Runner) -> None:
    run(METERS)
    answer = session.ask("monthly average of score in @meters, leave it in found").answer
    assert "several years" in answer
    assert value(run, "str(found['month'][0])") == "2024-11"
    assert value(run, "found['score'].tolist()") == value(
        run, "meters.groupby(cut)['score'].mean().tolist()"
    )


def test_when_the_highest_was_is_told_with_it(session: Session, run: Runner) -> None:
    run(METERS)
    answer = session.ask("What is the longest gas and when did it happen in @meters?").answer
    day = value(run, "str(meters.loc[meters['gas_length'].idxmax(), 'when_read'].date())")
    assert str(day) in answer
    peak = session.ask("in which month did gas_width reach its peak in @meters?").answer
    assert "**2026-07**" in peak


@pytest.mark.parametrize(
    ("prompt", "word"),
    [
        ("average score of the used readings", "used"),
        ("average score of sold readings", "sold"),
        ("用时 超过30分的有多少条", "分"),
        ("谁的 score 平均值", "谁"),
        ("who has the highest score", "who"),
        ("when was the mean for each kind", "mean"),
        ("which month has the highest average score?", "month"),
        ("score 的平均值到3", "3"),
    ],
)
def test_a_general_word_that_would_change_the_answer_is_not_dropped(
    session: Session, run: Runner, prompt: str, word: str
) -> None:
    run(METERS.replace('"used", "new"', '"lent", "new"'))
    answer = session.ask(f"{prompt} in @meters").answer
    assert "I cannot answer this" in answer or "这个我不会回答" in answer
    assert f"“{word}”" in answer


@pytest.mark.parametrize("chart", ["line", "bar"])
@pytest.mark.parametrize("unit", ["day of the week", "hour of the day"])
def test_a_chart_may_have_the_days_of_the_week_or_the_hours_as_its_axis(
    session: Session, run: Runner, chart: str, unit: str
) -> None:
    run(VISITS)
    turn = session.ask(f"{chart} chart of paid by {unit} in @visits")
    assert "The plot shows Paid by" in turn.answer
    assert not turn.errors


def test_two_files_are_not_taken_for_one(session: Session) -> None:
    answer = session.ask("mean of units in sales.csv and other.csv").answer
    assert "one table at a time" in answer


def test_variables_are_listed_with_the_tool_when_there_is_one(
    open_session: Callable[..., Session], run: Runner
) -> None:
    run("import pandas as pd\nfull = pd.DataFrame({'a': [1, 2]})")

    def answer(name: str, arguments: dict[str, str]) -> str:
        if name == "list_variables":
            return "pd: module\nfull: DataFrame 2 rows x 1 columns"
        return run(arguments["code"])

    tools = [tool("run_cell", "code"), tool("list_variables", pattern="")]
    turn = open_session(answer, *tools).ask("what is the total of a?")
    assert turn.tools[0] == "list_variables"
    assert "**3**" in turn.answer
