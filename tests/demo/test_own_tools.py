"""The demo model calls a person's tool with what the words give, and asks for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from demo_session import user

from cellwright.agent.typed_answers import TypedAnswers
from cellwright.demo.analyst import next_answer
from cellwright.demo.own_tools import asked_call
from cellwright.demo.typed import results_in
from cellwright.llm.signatures import Signature

SCHEMA: dict[str, Any] = {
    "properties": {
        "region": {"type": "string"},
        "unit_price": {"type": "number"},
        "year": {"type": "integer"},
        "kind": {"enum": ["small", "large"]},
        "all": {"type": "boolean"},
        "rows": {"type": "array"},
    },
    "required": ["region"],
}
TOOLS = {"revenue": SCHEMA}


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ('call revenue for the region "north"', {"region": "north"}),
        ("call `revenue` for 'north west'", {"region": "north west"}),
        ("use the tool revenue: region north, year 2025", {"region": "north", "year": 2025}),
        ("run revenue(region='south', all=True)", {"region": "south", "all": True}),
        ('invoke revenue("east", 2.5) in large', {"region": "east", "unit_price": 2.5,
                                                 "kind": "large"}),
        ("with the tool revenue, unit price = 3.5 and region is west",
         {"unit_price": 3.5, "region": "west"}),
        ("call revenue with all: yes, region: x, kind: SMALL",
         {"all": True, "region": "x", "kind": "small"}),
        ("call the function revenue", {}),
        ("call revenue(region=other) for it", {}),
        ("call revenue with all: perhaps, year: soon, rows: x", {}),
        ('call revenue for "a" or "b"', {}),
    ],
)  # fmt: skip
def test_arguments_are_taken_from_the_words(words: str, arguments: dict[str, Any]) -> None:
    asked = asked_call(words, TOOLS)
    assert asked is not None
    assert asked.arguments == arguments
    assert asked.missing == (() if "region" in arguments else ("region",))


@pytest.mark.parametrize("words", ["call me later", "what is the revenue by region?", ""])
def test_words_that_name_no_tool_ask_for_none(words: str) -> None:
    assert asked_call(words, TOOLS) is None


def test_names_alone_ask_for_the_tool_without_arguments() -> None:
    asked = asked_call("call me, and call ping", frozenset({"ping"}))
    assert asked is not None
    assert (asked.name, asked.arguments, asked.missing) == ("ping", {}, ())


def test_a_tool_that_needs_more_is_not_called() -> None:
    answer = next_answer([user("call revenue")], TOOLS)
    assert answer.call is None
    assert "`revenue` needs `region`. Write it like `revenue(region=…)`." in answer.text


def test_a_tool_that_is_asked_for_is_called_and_its_result_told() -> None:
    call = next_answer([user('call revenue("north")')], TOOLS).call
    assert call is not None
    assert (call.tool, call.arguments) == ("revenue", {"region": "north"})


ANSWER = "**pear** has the highest `price`: **1,230.50**.\n\nThe table is in `price_by_item`."


@pytest.mark.parametrize(
    ("types", "values", "missing"),
    [
        ("answer: str", {"answer": "pear has the highest price: 1,230.50."}, []),
        ("n: float, best: DataFrame", {"n": 1230.5, "best": "price_by_item"}, []),
        ("n: int, names: list[str], plot: Figure", {}, ["n", "names", "plot"]),
    ],
)
def test_an_answer_fills_what_it_holds(
    types: str, values: dict[str, Any], missing: list[str]
) -> None:
    results = results_in(ANSWER, Signature.parse(f"-> {types}").outputs)
    assert results.values == values
    assert [field.name for field in results.missing] == missing


def test_a_plot_is_the_figure_it_was_drawn_in() -> None:
    wanted = Signature.parse("-> chart: Figure, table: DataFrame").outputs
    answer = "The plot shows price by item (sum): highest at pear. Its table is in `price_by_item`."
    assert results_in(answer, wanted).values == {"chart": "figure", "table": "price_by_item"}


@pytest.mark.parametrize(
    ("asked", "types", "values", "missing"),
    [
        (
            "Which item has the highest price?",
            "item: str, share: float",
            {"item": "pear"},
            ["share"],
        ),
        ("Which item is the dearest?", "top_price: float", {}, ["top_price"]),
        ("maximum of price by item", "max_price: float", {"max_price": 1230.5}, []),
        ("highest price by item", "maximum_price: float", {"maximum_price": 1230.5}, []),
    ],
)
def test_a_result_is_filled_only_with_what_its_name_says(
    asked: str, types: str, values: dict[str, Any], missing: list[str]
) -> None:
    answer = ANSWER.replace(" has the highest", " is the `item` with the highest")
    results = results_in(answer, Signature.parse(f"-> {types}").outputs, (), asked)
    assert results.values == values
    assert [field.name for field in results.missing] == missing


def test_a_chinese_answer_fills_tables_and_plots_too() -> None:
    wanted = Signature.parse("-> chart: Figure, table: DataFrame").outputs
    answer = "图中用柱状图展示 各 item 的price。结果在 `price_by_item` 中。"
    assert results_in(answer, wanted).values == {"chart": "figure", "table": "price_by_item"}


def test_a_number_that_is_not_stressed_is_taken_from_the_last_line() -> None:
    (wanted,) = Signature.parse("-> n: float").outputs
    assert results_in("`margin` answered:\n\n24.5", (wanted,)).values == {"n": 24.5}
    assert results_in("It is **1,230.50**.", (wanted,), ["x: 1230.4999 of 7"]).values == {
        "n": 1230.4999
    }
    assert results_in("Nothing.", (wanted,)).missing == (wanted,)
    assert results_in("", Signature.parse("-> a: str, t: DataFrame").outputs).values == {}


def typed_prompt(types: str) -> str:
    return TypedAnswers(Signature.parse(types), 'call revenue("north")').prompt({})


def test_results_that_were_not_taken_are_told() -> None:
    tools = {**TOOLS, "hand_in": {"properties": {"values": {"type": "object"}}}}
    messages: list[dict[str, Any]] = [user(typed_prompt("-> n: float"))]
    given: list[Any] = []
    for number, result in enumerate(["12.5", "The results were not taken"]):
        call = next_answer(messages, tools).call
        assert call is not None
        given.append(call.arguments)
        function = {"name": call.tool, "arguments": "{}"}
        made = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [made]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    assert given == [{"region": "north"}, {"values": {"n": 12.5}}]
    assert next_answer(messages, tools).text == (
        "My results were not taken: The results were not taken"
    )
