"""Outputs as values: the fold, and the way to and from a notebook file."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.record.outputs import (
    ClearOutput,
    DisplayData,
    DisplayUpdate,
    ErrorOutput,
    ExecuteResult,
    Output,
    OutputMessage,
    StreamOutput,
    fold,
    from_kernel_message,
    from_nbformat,
    to_nbformat,
)
from cellwright.record.values import from_dict, safe_json, safe_text, to_dict


def out(text: str) -> StreamOutput:
    return StreamOutput("stdout", text)


def err(text: str) -> StreamOutput:
    return StreamOutput("stderr", text)


def shown(text: str, display_id: str = "") -> DisplayData:
    return DisplayData({"text/plain": text}, {}, display_id)


# The fold


def test_adjacent_text_of_one_stream_is_joined() -> None:
    assert fold([out("a"), out("b\n"), err("c"), out("d")]) == (out("ab\n"), err("c"), out("d"))


def test_a_display_between_two_texts_keeps_them_apart() -> None:
    assert fold([out("a"), shown("x"), out("b")]) == (out("a"), shown("x"), out("b"))


def test_empty_text_leaves_no_trace() -> None:
    assert fold([out(""), shown("x"), err("")]) == (shown("x"),)


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("10%\r50%\r100%\n", "100%\n"),
        ("a long line\rshort\n", "shortg line\n"),
        ("windows\r\nlines\r\n", "windows\nlines\n"),
        ("done\r", "done"),
        ("12\b34", "134"),
        ("1/9\b\b\b2/9\b\b\b3/9", "3/9"),
        ("\b\bx", "x"),
        ("\x1b[32m 5%\x1b[0m\r\x1b[32m99%\x1b[0m\r", "\x1b[32m99%\x1b[0m"),
        ("\x1b[2K\r\r", "\x1b[2K"),
        ("first\nsecond\rSEC", "first\nSECond"),
    ],
)
def test_what_a_terminal_overwrites_is_gone(written: str, left: str) -> None:
    assert fold([out(written)]) == (out(left),)


def test_text_that_overwrites_itself_away_leaves_no_output() -> None:
    assert fold([out("\r\b\r")]) == ()


def test_a_progress_bar_of_a_hundred_thousand_steps_folds_in_a_moment() -> None:
    messages = [out(f"\r{step:>6}/100000 {'#' * 60}") for step in range(100_001)]
    (bar,) = fold(messages)
    assert bar == out("100000/100000 " + "#" * 60)


def test_clear_output_clears_at_once() -> None:
    assert fold([out("a"), ClearOutput()]) == ()


def test_clear_output_with_wait_clears_when_the_next_output_comes() -> None:
    waiting: list[OutputMessage] = [out("a"), ClearOutput(wait=True)]
    assert fold(waiting) == (out("a"),)
    assert fold([*waiting, shown("b")]) == (shown("b"),)
    assert fold([*waiting, out(""), shown("b"), shown("c")]) == (shown("b"), shown("c"))


def test_an_update_reaches_every_earlier_display_of_its_id() -> None:
    folded = fold(
        [
            shown("1", "bar"),
            shown("other", "x"),
            ExecuteResult({"text/plain": "1"}, {}, 4, "bar"),
            DisplayUpdate("bar", {"text/plain": "2"}, {"k": 1}),
            shown("late", "bar"),
        ]
    )
    assert folded == (
        DisplayData({"text/plain": "2"}, {"k": 1}, "bar"),
        shown("other", "x"),
        ExecuteResult({"text/plain": "2"}, {"k": 1}, 4, "bar"),
        shown("late", "bar"),
    )


def test_an_update_of_an_unknown_or_cleared_display_changes_nothing() -> None:
    update = DisplayUpdate("bar", {"text/plain": "2"})
    assert fold([update]) == ()
    assert fold([shown("1", "bar"), ClearOutput(), update, shown("3")]) == (shown("3"),)


def test_a_thousand_updates_leave_one_display() -> None:
    """K27."""
    updates = [DisplayUpdate("bar", {"text/plain": str(n)}) for n in range(1000)]
    assert fold([shown("", "bar"), *updates]) == (shown("999", "bar"),)


# What comes from a kernel


def test_kernel_messages_become_values() -> None:
    bundle = {"data": {"text/plain": "1"}, "metadata": {}, "transient": {"display_id": "d"}}
    assert from_kernel_message("stream", {"name": "stderr", "text": "x"}) == err("x")
    assert from_kernel_message("clear_output", {"wait": True}) == ClearOutput(True)
    assert from_kernel_message("display_data", bundle) == shown("1", "d")
    assert from_kernel_message("update_display_data", bundle) == DisplayUpdate(
        "d", {"text/plain": "1"}
    )
    assert from_kernel_message("execute_result", {**bundle, "execution_count": 3}) == (
        ExecuteResult({"text/plain": "1"}, {}, 3, "d")
    )
    assert from_kernel_message(
        "error", {"ename": "E", "evalue": "v", "traceback": ["a", "b"]}
    ) == ErrorOutput("E", "v", ("a", "b"))


@pytest.mark.parametrize("message_type", ["status", "comm_open", "execute_input"])
def test_a_message_that_is_no_output_is_none(message_type: str) -> None:
    assert from_kernel_message(message_type, {}) is None


def test_a_bundle_with_nothing_in_it_is_still_a_value() -> None:
    message = from_kernel_message("display_data", {"data": None, "metadata": None})
    assert message == DisplayData({}, {}, "")


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    """K24, M23: nothing that UTF-8 cannot hold gets past this line."""
    assert safe_text("a\ud800b") == "a\ufffdb"
    assert safe_text("\ud83d\ude00") == "\U0001f600"
    assert safe_text(7) == "7"
    message = from_kernel_message("stream", {"name": "stdout", "text": "\udcff"})
    assert message == out("\ufffd")
    assert fold([out("\ud83d"), out("\ude00")]) == (out("\U0001f600"),)


class Scalar:
    """Looks like a number of another library."""

    def item(self) -> float:
        return 2.5


class Silent:
    """Cannot even be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_what_json_cannot_hold_is_coerced() -> None:
    """K28."""
    value = {
        "nan": float("nan"),
        "infinite": float("-inf"),
        "bytes": b"ab",
        "set": {1},
        "scalar": Scalar(),
        "class": complex,
        "silent": Silent(),
        5: (True, None, 1.5),
    }
    safe = safe_json(value)
    assert safe == {
        "nan": None,
        "infinite": None,
        "bytes": "YWI=",
        "set": [1],
        "scalar": 2.5,
        "class": "<class 'complex'>",
        "silent": "<Silent object>",
        "5": [True, None, 1.5],
    }
    json.dumps(safe, allow_nan=False)


def test_a_json_value_that_contains_itself_is_cut() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert "list" in json.dumps(safe_json(endless))


def test_nan_in_a_json_bundle_becomes_null() -> None:
    """K28."""
    message = from_kernel_message("display_data", {"data": {"application/json": [float("nan")]}})
    assert message == DisplayData({"application/json": [None]})


# Notebook files


def test_lists_of_lines_in_a_file_are_joined_but_json_lists_are_kept() -> None:
    data = {"text/html": ["<b>", "x</b>"], "application/json": ["a", "b"]}
    read = from_nbformat({"output_type": "display_data", "data": data, "metadata": {}})
    assert read == DisplayData({"text/html": "<b>x</b>", "application/json": ["a", "b"]})
    assert from_nbformat({"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]}) == (
        out("a\nb")
    )


def test_an_unknown_output_type_is_named() -> None:
    with pytest.raises(ValueError, match="unknown output_type 'pyout'; known: stream"):
        from_nbformat({"output_type": "pyout"})


def test_a_value_that_a_file_cannot_hold_under_its_type_is_written_as_text() -> None:
    written = to_nbformat(DisplayData({"text/x-odd": {"a": 1}, "application/vnd.v1+json": [1]}))
    assert written["data"] == {"text/x-odd": '{"a": 1}', "application/vnd.v1+json": [1]}


# Properties

names = st.sampled_from(["stdout", "stderr"])
texts = st.text(st.sampled_from("ab\r\b\n\x1b\u00e9\U0001f600"), max_size=12)
display_ids = st.sampled_from(["", "one", "two"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
bundles = st.dictionaries(st.sampled_from(["text/plain", "image/png"]), st.text(), max_size=2)
json_bundles = bundles | st.fixed_dictionaries({"application/json": st.lists(scalars)})
metadata = st.dictionaries(st.text(max_size=3), scalars.filter(lambda v: v == v), max_size=2)
finite = json_bundles.map(safe_json)
outputs: st.SearchStrategy[Output] = st.one_of(
    st.builds(StreamOutput, names, texts),
    st.builds(DisplayData, finite, metadata.map(safe_json), display_ids),
    st.builds(
        ExecuteResult,
        finite,
        metadata.map(safe_json),
        st.none() | st.integers(0, 99),
        display_ids,
    ),
    st.builds(ErrorOutput, st.text(), st.text(), st.lists(st.text(), max_size=3).map(tuple)),
)
messages: st.SearchStrategy[OutputMessage] = st.one_of(
    outputs,
    st.builds(DisplayUpdate, st.sampled_from(["one", "two"]), finite),
    st.builds(ClearOutput, st.booleans()),
)


@given(st.lists(messages, max_size=8), st.data())
def test_the_fold_does_not_depend_on_how_a_stream_was_cut(
    sent: list[OutputMessage], data: st.DataObject
) -> None:
    cut: list[OutputMessage] = []
    for message in sent:
        if isinstance(message, StreamOutput):
            place = data.draw(st.integers(0, len(message.text)))
            cut += [out_of(message, message.text[:place]), out_of(message, message.text[place:])]
        else:
            cut.append(message)
    assert fold(cut) == fold(sent)


def out_of(message: StreamOutput, text: str) -> StreamOutput:
    return StreamOutput(message.name, text)


@given(st.lists(messages, max_size=8))
def test_folding_what_was_folded_changes_nothing(sent: list[OutputMessage]) -> None:
    assert fold(fold(sent)) == fold(sent)


@given(st.lists(messages, max_size=8))
def test_folded_outputs_make_a_valid_notebook_and_come_back(sent: list[OutputMessage]) -> None:
    folded = fold(sent)
    written = [to_nbformat(output) for output in folded]
    cell = nbformat.v4.new_code_cell("1", outputs=[nbformat.from_dict(w) for w in written])
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    read = [from_nbformat(json.loads(json.dumps(w, allow_nan=False))) for w in written]
    assert [to_nbformat(output) for output in read] == written


@given(messages)
def test_messages_round_trip_through_plain_data(message: OutputMessage) -> None:
    assert from_dict(OutputMessage, json.loads(json.dumps(to_dict(message)))) == message


def test_13_13_a_flood_that_is_overwritten_is_folded_once_a_run() -> None:
    """Each run folds it several times: seven times a second that no Stop could end."""
    flood = [StreamOutput("stdout", "progress\r" * 20_000)]
    (first,), (second,) = fold(flood), fold([*flood])
    assert isinstance(first, StreamOutput)
    assert isinstance(second, StreamOutput)
    assert first.text == "progress"
    assert first.text is second.text
