"""How words of a prompt are matched with the columns of a table."""

from __future__ import annotations

import pytest

from cellwright.demo.columns import Column, TableColumns, date_format, number_style
from cellwright.demo.matching import closest, left_over, mentions, read_query
from cellwright.demo.wishes import read_wish

SALES = TableColumns(
    "sales",
    360,
    (
        Column("order_id", "str", 0, 360, ("S-1", "S-2")),
        Column("order_date", "datetime64[ns]", 0, 240),
        Column("region", "object", 5, 4, ("North",)),
        Column("Category", "object", 0, 3, ("Toys",)),
        Column("unitPrice", "float64", 0, 300),
        Column("revenue", "float64", 0, 340),
        Column("year", "int64", 0, 3),
        Column("地区", "object", 0, 4, ("北",)),
        Column("a", "int64", 0, 2),
    ),
)


def named(text: str) -> list[str]:
    return [mention.group.label for mention in mentions(text, SALES)]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("revenue per region", ["revenue", "region"]),
        ("Regions and categories", ["region", "Category"]),
        ("the unit price", ["unitPrice"]),
        ("prices by date", ["unitPrice", "order_date"]),
        ("revenues by order date", ["revenue", "order_date"]),
        ("reveneu", ["revenue"]),
        ("revenue by month and year", ["revenue", "month", "year"]),
        ("按地区", ["地区"]),
        ("a plot of a by region", ["a", "region"]),
        ("nothing that is there", []),
    ],
)
def test_columns_are_recognised(text: str, columns: list[str]) -> None:
    assert named(text) == columns


def test_units_of_time_need_a_date() -> None:
    bare = TableColumns("bare", 2, (Column("n", "int64"),))
    assert [mention.group.label for mention in mentions("n by month", bare)] == ["n"]


@pytest.mark.parametrize(
    ("prompt", "measure", "function", "by", "subject"),
    [
        ("mean revenue by region", "revenue", "mean", ["region"], None),
        ("which region has the highest revenue", "revenue", "sum", [], "region"),
        ("best month by revenue", "revenue", "sum", [], "month"),
        ("which month was best in each region", "revenue", "sum", ["region"], "month"),
        ("by region, which month had the best revenue", "revenue", "sum", ["region"], "month"),
        ("highest revenue by region", "revenue", "max", ["region"], None),
        ("revenue by region", "revenue", "sum", ["region"], None),
        ("unit price by region", "unitPrice", "mean", ["region"], None),
        ("which region has the worst unit price", "unitPrice", "min", [], "region"),
        ("how many orders by region", None, "count", ["region"], None),
        ("number of order ids by region", None, "count", ["order_id", "region"], None),
        ("regions", None, "count", ["region"], None),
        ("mean revenue by year", "revenue", "mean", ["year"], None),
        ("revenue by month of order_date", "revenue", "sum", ["month"], None),
        ("which month, by order date, was best", "revenue", "sum", [], "month"),
        ("average", "revenue", "mean", [], None),
        ("revenue trend", "revenue", "sum", ["order_date"], None),
    ],
)
def test_queries_are_put_in_terms_of_columns(
    prompt: str, measure: str | None, function: str, by: list[str], subject: str | None
) -> None:
    query = read_query(read_wish(prompt), SALES)
    assert query is not None
    assert (query.measure.name if query.measure else None) == measure
    assert query.function == function
    assert [group.label for group in query.by] == by
    assert (query.subject.label if query.subject else None) == subject


def test_the_number_of_a_numeric_identifier_is_counted() -> None:
    frame = TableColumns("t", 9, (Column("id", "int64", 0, 9), Column("size", "int64", 0, 9)))
    counted = read_query(read_wish("how many id"), frame)
    summed = read_query(read_wish("how many size"), frame)
    assert counted is not None
    assert summed is not None
    assert (counted.function, summed.function) == ("count", "sum")


def test_the_first_number_is_summed_up_where_no_name_suits() -> None:
    frame = TableColumns(
        "t", 9, (Column("k_id", "int64"), Column("q", "int64"), Column("name", "str"))
    )
    query = read_query(read_wish("which name is the best"), frame)
    assert query is not None
    assert query.measure is not None
    assert query.measure.name == "q"
    texts = TableColumns("t", 9, (Column("name", "str"),))
    counted = read_query(read_wish("which name is the best"), texts)
    assert counted is not None
    assert counted.function == "count"


def test_a_prompt_without_columns_has_no_query() -> None:
    assert read_query(read_wish("what is the weather?"), SALES) is None


def test_values_that_would_pick_rows_are_left_over() -> None:
    wish = read_wish('mean revenue in North for "Toys and games" in 2024, I think')
    assert left_over(wish, SALES) == ["North", "Toys and games", "2024"]


def test_the_closest_name_ignores_case() -> None:
    assert closest("REVENU", ["region", "Revenue"]) == "Revenue"
    assert closest("xyz", ["region"]) == ""


def test_a_column_of_marks_only_is_never_named() -> None:
    assert mentions("what about this", TableColumns("t", 1, (Column("__", "int64"),))) == []


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["2026-01-02"], "%Y-%m-%d"),
        (["2026-01-02 10:00"], "%Y-%m-%d %H:%M"),
        (["2026-01-02T10:00:00Z"], "%Y-%m-%dT%H:%M:%S%z"),
        (["13/02/2026", "01/02/2026"], "%d/%m/%Y"),
        (["3 Feb 2026"], "%d %b %Y"),
        (["2026年1月2日"], "%Y年%m月%d日"),
        (["2026-01-02", "x"], ""),
        ([], ""),
    ],
)
def test_the_format_of_dates_is_found(texts: list[str], form: str) -> None:
    assert date_format(texts) == form


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("12", "plain"),
        ("-1,234.50", "plain"),
        ("12,345", "plain"),
        ("$1,234.50", "symbols"),
        ("45 %", "symbols"),
        ("12,5", "comma"),
        ("1.234,50", "comma"),
        ("10.0.0.1", None),
        ("twelve", None),
    ],
)
def test_the_style_of_a_number_is_found(text: str, style: str | None) -> None:
    assert number_style(text) == style


@pytest.mark.parametrize(
    ("column", "reads_as"),
    [
        (Column("x", "str", examples=("1", "n/a")), "number"),
        (Column("x", "str", examples=("n/a", "-")), "text"),
        (Column("x", "object", examples=("2026-01-02",)), "date"),
        (Column("x", "bool", examples=("True",)), "text"),
        (Column("x", "category", examples=("1",)), "text"),
        (Column("x", "Int64"), "number"),
        (Column("x", "datetime64[us, UTC]"), "date"),
    ],
)
def test_text_is_known_for_what_it_holds(column: Column, reads_as: str) -> None:
    assert column.reads_as == reads_as
