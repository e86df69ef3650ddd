"""Replies to whole conversations, with results written by hand: no kernel, no socket."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from demo_session import RUN_CELL, after, code_of, exchange, user

import cellwright.demo
from cellwright.demo.analyst import STEP_LIMIT, next_answer
from cellwright.demo.answers import number
from cellwright.demo.cells import identifier, reader_of


def overview(*columns: dict[str, Any], rows: int = 9) -> str:
    """What the look at a table shows."""
    usual: dict[str, Any] = {"dtype": "int64", "missing": 0, "counts": {"1": rows}}
    filled = [usual | column for column in columns]
    infos = [
        f" {place}   {c['column']}  {rows - c['missing']} non-null  {c['dtype']}"
        for place, c in enumerate(filled)
    ]
    head = (
        f"RangeIndex: {rows} entries, 0 to {rows - 1}\nData columns (total {len(filled)} columns):"
    )
    counts = repr({c["column"]: c["counts"] for c in filled})
    return "\n".join([head, " #  Column", "---  ------", *infos, "dtypes: any", counts])


NUMBERS = overview({"column": "n"}, {"column": "name", "dtype": "str", "counts": {"x": 9}})


def test_a_refused_step_ends_the_plan() -> None:
    answer = after("profile a.csv", "Refused by the person. They said: not now")
    assert answer.call is None
    assert "not allowed" in answer.text
    assert "not now" in answer.text


def test_an_unreadable_result_is_admitted() -> None:
    none = "(no output)"
    assert "could not read what came back" in after("profile a.csv", none, none).text


def test_an_error_that_nothing_mends_is_told() -> None:
    answer = after("profile a.csv", "PermissionError: [Errno 13] Permission denied: 'a.csv'")
    assert answer.text.startswith("I could not read `a.csv`: PermissionError: [Errno 13]")


def test_a_file_that_never_comes_right_is_given_up() -> None:
    one = [overview({"column": f"a{mark}b", "dtype": "str"}) for mark in (";", "\t", ";", "\t")]
    assert "whatever options I tried" in after("profile a.csv", *one).text


def test_a_second_parser_error_is_told() -> None:
    error = "ParserError: Error tokenizing data"
    answer = after("profile a.csv", error, "header: a;b", error)
    assert "I could not read `a.csv`: ParserError" in answer.text


def test_a_file_that_is_not_utf8_is_read_in_the_encoding_that_was_found() -> None:
    error = "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start"
    assert "find_encoding" in code_of(after("profile a.csv", error))
    assert 'encoding="utf-16"' in code_of(after("profile a.csv", error, "encoding: utf-16"))
    assert "do not recognise" in after("profile a.csv", error, "encoding: ").text


@pytest.mark.parametrize(
    "error",
    [
        "ModuleNotFoundError: No module named 'openpyxl'",
        "ImportError: `Import openpyxl` failed. Use pip to install the openpyxl package.",
        "ImportError: Missing optional dependency 'openpyxl'. Use pip or conda to install it.",
    ],
)
def test_a_missing_reader_is_installed_when_there_is_a_tool(error: str) -> None:
    tools = frozenset({"run_cell", "install_package"})
    asked = after("profile a.xlsx", error, tools=tools)
    assert asked.call is not None
    assert asked.call.tool == "install_package"
    assert asked.call.arguments == {"name": "openpyxl"}
    again = after("profile a.xlsx", error, "openpyxl 3.1 is installed.", tools=tools)
    assert "read_excel" in code_of(again)
    assert error[:19] in after("profile a.xlsx", error).text


def test_semicolons_and_decimal_commas_are_read_from_one_look() -> None:
    one = overview({"column": "day;t", "dtype": "str", "counts": {"mon;1,5": 9}})
    assert 'sep=";", decimal=","' in code_of(after("profile a.csv", one))
    other = overview({"column": "day;t", "dtype": "str", "counts": {"mon;1.5": 9}})
    assert "decimal" not in code_of(after("profile a.csv", other))


def test_without_matplotlib_the_plot_is_asked_for_or_given_up() -> None:
    error = "ModuleNotFoundError: No module named 'matplotlib'"
    assert "matplotlib is not installed" in after("plot n in a.csv", NUMBERS, error).text
    tools = frozenset({"run_cell", "install_package"})
    again = after("plot n in a.csv", NUMBERS, error, "installed", tools=tools)
    assert "axes.hist" in code_of(again)


def test_a_cell_without_its_result_is_admitted_everywhere() -> None:
    for prompt in (
        "plot n in a.csv",
        "plot n by name in a.csv",
        "top 3 rows by n in a.csv",
        "mean of n in a.csv",
        "mean of n by name in a.csv",
        "profile a.csv",
    ):
        answer = after(prompt, NUMBERS, "RuntimeError: broken")
        assert answer.text.endswith("RuntimeError: broken."), answer.text
    gaps = overview({"column": "n", "missing": 2})
    answer = after("clean missing values in a.csv", gaps, "RuntimeError: broken")
    assert answer.text.endswith("RuntimeError: broken.")
    assert "not give me a result" in after("mean of n by name in a.csv", NUMBERS, "odd").text


def test_columns_that_cannot_be_converted_stay_text() -> None:
    text = overview({"column": "d", "dtype": "str", "counts": {"2026-01-02": 9}})
    date_error = 'ValueError: time data "x" doesn\'t match format'
    stubborn = after("profile a.csv", text, date_error, date_error, "RuntimeError: other")
    assert "I sum up" in stubborn.text or "Not everything could be converted: `d`" in stubborn.text
    silent = after("how many rows by d in a.csv", text, "nothing to see")
    assert silent.call is not None


def test_a_second_date_format_that_is_not_enough_gives_way_to_each_by_itself() -> None:
    text = overview({"column": "d", "dtype": "str", "counts": {"2026-01-02": 9}})
    error = 'ValueError: time data "3 Feb 2026" doesn\'t match format'
    answer = after("profile a.csv", text, error, "ValueError: still not")
    assert 'format="mixed"' in code_of(answer)


def test_a_repair_is_tried_three_times_at_most() -> None:
    facts = '{"error": "NameError"}\n{"message": "name \'np\' is not defined"}\n{"source": "np.pi"}'
    errors = [f"NameError: name '{name}' is not defined" for name in ("pd", "re", "os", "json")]
    assert after("fix the error", facts, *errors[:-1]).call is not None
    assert "It still fails, now with `NameError" in after("fix the error", facts, *errors).text


def test_the_plan_ends_after_fourteen_steps() -> None:
    one = [overview({"column": f"a{mark}b", "dtype": "str"}) for mark in (";", "\t", ";")]
    date = {"column": "d", "dtype": "str", "counts": {"2026-01-02": 9}}
    price = {"column": "p", "dtype": "str", "counts": {"1": 9}, "missing": 1}
    steps = [
        *one,
        overview(date, price),
        'ValueError: time data "3 Feb 2026" doesn\'t match format',
        'ValueError: time data "x" doesn\'t match format',
        "ValueError: could not convert string to float: '1,5'",
        "d    0\np    1",
        *(["1"] * 6),
    ]
    prompt = ". ".join(
        ["profile a.csv", *(f"{f} of p" for f in ("max", "min", "sum", "mean", "std"))]
    )
    prompt += ". median of p"
    assert len(steps) == STEP_LIMIT
    assert after(prompt, *steps[:-1]).call is not None
    assert after(prompt, *steps).text.startswith("I stop here after 14 steps")


def test_more_results_than_a_plan_has_steps_end_in_its_answer() -> None:
    assert "`n` is **5**" in after("mean of n in a.csv", NUMBERS, "5", "more").text


def test_facts_that_cannot_be_read_are_admitted() -> None:
    assert "could not read what the kernel told me" in after("fix the error", "(cut)").text


def test_without_tools_it_says_so() -> None:
    assert "no `run_cell` tool" in after("profile a.csv", tools=frozenset()).text


def test_the_last_words_of_a_run_at_its_limit_tell_how_far_it_came() -> None:
    messages = [user("profile a.csv"), *exchange(0, "", NUMBERS)]
    summary = user("The run has reached a limit. What did you do, what did you find?")
    answer = next_answer([*messages, summary], frozenset())
    assert answer.call is None
    assert answer.text.startswith(
        "I had to stop after 1 step. Next I would have done this: I compute"
    )


def test_a_new_prompt_after_an_unfinished_run_starts_anew() -> None:
    messages = [user("profile a.csv"), *exchange(0, "", "Not finished: the run ended.")]
    assert "b.csv" in code_of(next_answer([*messages, user("profile b.csv")], RUN_CELL))


def test_content_may_come_in_parts_and_pictures_are_passed_over() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    parts = [{"type": "text", "text": "profile"}, picture, {"type": "text", "text": "a.csv"}]
    message = {"role": "user", "content": parts}
    assert 'read_csv("a.csv")' in code_of(next_answer([message], RUN_CELL))


def test_a_conversation_without_a_user_gets_the_abilities() -> None:
    assert "profile sales.csv" in next_answer([{"role": "system", "content": "x"}], RUN_CELL).text


def test_broken_arguments_of_an_earlier_call_do_no_harm() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "run_cell", "arguments": "{"}}
    other = {"id": "d", "type": "function", "function": {"name": "run_cell", "arguments": "[]"}}
    messages = [
        user("x"),
        {"role": "assistant", "content": None, "tool_calls": [call, other]},
        {"role": "tool", "tool_call_id": "c", "content": "invalid"},
        {"role": "tool", "tool_call_id": "d", "content": "invalid"},
        user("profile a.csv"),
    ]
    assert 'read_csv("a.csv")' in code_of(next_answer(messages, RUN_CELL))


def test_a_name_alone_is_profiled_and_a_strange_wish_is_not() -> None:
    assert after("a.csv").call is not None
    answer = after("translate a.csv into perfect medieval French", NUMBERS, "{'name': []}").text
    for words in ("“translate”", "“perfect medieval french”", "I only know a few kinds"):
        assert words in answer


def test_a_result_does_not_take_the_name_of_its_table() -> None:
    named = NUMBERS.replace("9 rows", "9 rows")
    for prompt in ("mean of n by name in n_by_name.csv", "plot n by name in n_by_name.csv"):
        code = code_of(after(prompt, named))
        assert "n_by_name_table = " in code
        assert "n_by_name = " not in code


def test_many_bars_are_cut_to_the_highest() -> None:
    name = {"column": "name", "dtype": "str", "unique": 80, "counts": {"x": 9}}
    many = overview({"column": "n"}, name, rows=99)
    assert 'nlargest(20, "n").plot.bar' in code_of(after("plot n by name in a.csv", many))


def test_a_plot_of_text_alone_is_not_guessed() -> None:
    text = overview({"column": "t", "dtype": "str", "counts": {"x": 9}})
    assert "I cannot answer this" in after("plot something, a.csv", text).text
    assert "I cannot answer this" in after("plot the count from a.csv", text).text


def test_the_tool_that_is_forced_is_called() -> None:
    answer = next_answer([user("hello")], frozenset({"echo"}), "echo")
    assert answer.call is not None
    assert answer.call.tool == "echo"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Sales 2024", "sales_2024"),
        ("2024", "data_2024"),
        ("list", "list_data"),
        ("class", "class_data"),
        ("--", "data"),
    ],
)
def test_file_names_become_variable_names(text: str, name: str) -> None:
    assert identifier(text) == name


def test_readers_follow_the_file_ending() -> None:
    assert reader_of("a.TSV") == ("read_csv", {"sep": "\t"})
    assert reader_of("a.csv") == ("read_csv", {})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1234567.0", "1,234,567"),
        ("1234.5", "1,234.50"),
        ("0.0123456", "0.01235"),
        ("nan", "–"),
        ("inf", "–"),
        ("2025-01", "2025-01"),
    ],
)
def test_numbers_are_shown_as_people_read_them(text: str, shown: str) -> None:
    assert number(text) == shown


def test_the_example_table_is_what_its_script_makes(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "examples" / "make_sales.py"
    made = tmp_path / "sales.csv"
    subprocess.run([sys.executable, str(script), str(made)], check=True, timeout=60)
    shipped = Path(cellwright.demo.__file__).parent / "data" / "sales.csv"
    assert made.read_bytes() == shipped.read_bytes()
