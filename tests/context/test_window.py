"""Requirements 002-60 and 002-63: recent turns stay whole, older ones are left out together."""

from __future__ import annotations

import pytest
from context.strict_providers import check_as_openai
from hypothesis import given
from hypothesis import strategies as st

from cellwright.context.normalise import normalise
from cellwright.context.turns import (
    PICTURE_TOKENS,
    HistorySummary,
    is_summary,
    message_tokens,
    openings,
    question_of,
    split_turns,
    summary_in,
    total_tokens,
)
from cellwright.context.window import Window, summary_of, when_refused, with_summary
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.text.truncation import estimate_tokens


def user(text: str) -> UserMessage:
    return UserMessage((TextPart(text),))


def turn(number: int, words: int = 100) -> list[Message]:
    call = ToolCall(f"c{number}", "run_cell", "{}")
    result = f"[cell cell{number}]\n" + f"row{number} " * words
    return [
        user(f"Question {number}?\n\n<notebook-state>\nx: int\n</notebook-state>"),
        AssistantMessage(tool_calls=(call,)),
        ToolMessage(f"c{number}", "run_cell", (TextPart(result),)),
        AssistantMessage(f"Answer {number}."),
    ]


def talk(count: int, words: int = 100) -> list[Message]:
    return [SystemMessage("Work."), *(m for n in range(count) for m in turn(n, words))]


def test_002_60_a_short_conversation_stays_as_it_is() -> None:
    assert Window(10_000).before_a_run(talk(3)) is None
    assert Window(10_000).in_a_run(talk(3)) is None


def test_002_60_older_turns_go_together_and_the_newest_stay_whole() -> None:
    messages = talk(40)
    fitted = Window(4_000).before_a_run(messages)
    assert fitted is not None
    kept = [m for m in fitted.messages if not is_summary(m)]
    turns_kept = (len(kept) - 1) // 4
    assert tuple(kept[1:]) == tuple(messages[-4 * turns_kept :])
    assert fitted.turns_left_out == 40 - turns_kept
    assert total_tokens(fitted.messages) <= 4_000 * 0.6
    # the next steps come long after: the prompt's start changes rarely
    assert Window(4_000).before_a_run([*fitted.messages, *turn(40)]) is None


def test_002_60_no_call_is_parted_from_its_result() -> None:
    for count in range(1, 30):
        fitted = Window(2_500).before_a_run(talk(count, 60))
        if fitted is not None:
            check_as_openai(fitted.messages)


def test_002_60_one_message_over_the_budget_is_cut_in_the_middle_and_says_so() -> None:
    messages: list[Message] = [SystemMessage("Work."), user("start " + "x" * 40_000 + " end")]
    fitted = Window(3_000).in_a_run(messages)
    assert fitted is not None
    text = text_of(fitted[1])
    assert total_tokens(fitted) <= 3_000
    assert text.startswith("start")
    assert text.endswith("end")
    assert "left out" in text


def test_002_60_a_long_answer_is_cut_too_and_instructions_never_are() -> None:
    said = AssistantMessage("a" * 40_000)
    messages: list[Message] = [SystemMessage("s" * 40_000), user("q"), said]
    fitted = Window(3_000).in_a_run(messages)
    assert fitted is not None
    assert fitted[0] == messages[0]
    assert len(text_of(fitted[-1])) < 5_000


def test_where_nothing_can_be_left_out_nothing_changes() -> None:
    assert Window(100).in_a_run([SystemMessage("s" * 4_000), user("q")]) is None


def test_a_summary_tells_of_each_turn_what_was_asked_run_and_answered() -> None:
    fitted = Window(4_000).before_a_run(talk(40))
    assert fitted is not None
    first = fitted.summary.splitlines()[0]
    assert first == "- asked: Question 0? | cells: cell0 | answered: Answer 0."
    assert "<notebook-state>" not in fitted.summary
    assert summary_of(fitted.messages).text.strip() == fitted.summary


def test_a_second_step_goes_on_with_the_first_summary_and_what_a_person_wrote_stays() -> None:
    first = Window(4_000).before_a_run(talk(40))
    assert first is not None
    summary = summary_in(first.summary)
    words = "Keep in mind: never use data of 2018."
    edited = with_summary(first.messages, HistorySummary(words, summary.turns, summary.left_out))
    second = Window(4_000).before_a_run([*edited, *(m for n in range(40, 80) for m in turn(n))])
    assert second is not None
    assert sum(is_summary(m) for m in second.messages) == 1
    assert second.summary.startswith(words)
    assert "Question 0?" in second.summary
    assert "Question 70?" in second.summary


def test_a_long_summary_keeps_the_first_question_and_counts_what_it_leaves_out() -> None:
    turns = [turn(n) for n in range(200)]
    summary = HistorySummary().with_turns(turns, 500)
    assert summary.left_out > 100
    assert "Question 0?" in summary.turns[0]
    assert "Question 199?" in summary.turns[-1]
    again = summary_in(summary.text)
    assert again == summary
    assert again.with_turns([turn(200)], 500).left_out > summary.left_out
    least = summary.with_turns([], 1)
    assert (least.turns, least.left_out) == (summary.turns[:1], 199), "the first one always stays"


def test_data_cannot_close_the_summary() -> None:
    message = HistorySummary("x </earlier-in-this-chat> y").message()
    assert text_of(message).count("</earlier-in-this-chat>") == 1


def test_an_empty_summary_takes_the_message_out() -> None:
    messages = with_summary(talk(1), HistorySummary("words"))
    assert is_summary(messages[1])
    assert with_summary(messages, HistorySummary()) == talk(1)


def test_a_turn_without_words_has_no_line() -> None:
    assert HistorySummary().with_turns([[AssistantMessage("Hello.")]], 500) == HistorySummary()


def test_what_a_person_asks_to_make_shorter_loses_results_before_words() -> None:
    messages = talk(12, 400)
    fitted = Window().when_asked(messages)
    assert fitted is not None
    assert total_tokens(fitted.messages) < total_tokens(messages) / 2
    assert fitted.messages[-1] == messages[-1]
    assert Window().when_asked([user("Hi"), AssistantMessage("Hi")]) is None


def test_a_refused_request_is_made_shorter_by_turns_where_results_are_short() -> None:
    messages: list[Message] = [SystemMessage("s")]
    for number in range(60):
        messages += [user(f"q{number} " * 100), AssistantMessage("a")]
    shorter = when_refused(messages)
    assert shorter is not None
    assert total_tokens(shorter) < 0.7 * total_tokens(messages)
    assert when_refused([user("short")]) is None


@pytest.mark.parametrize(
    ("context", "limit"), [(None, 58_000), (200_000, 58_000), (16_000, 10_000), (1_000, 400)]
)
def test_the_budget_follows_the_model_and_has_a_ceiling(context: int | None, limit: int) -> None:
    assert Window.of(context, other_tokens=2_000).limit_tokens == limit


def test_a_service_that_counts_more_gets_less() -> None:
    assert Window.of(None, counted_per_estimated=2.0).limit_tokens == 30_000
    assert Window.of(None, counted_per_estimated=0.5).limit_tokens == 60_000


def test_sizes_count_wide_signs_and_pictures() -> None:
    assert estimate_tokens("库存" * 4) == 6
    assert estimate_tokens("abcd" * 2) == 2
    picture = UserMessage((ImagePart("image/png", "QUJD"),))
    assert message_tokens(picture) >= PICTURE_TOKENS
    assert message_tokens(turn(0)[1]) > 4


def test_notes_and_their_question_are_one_turn_and_late_results_stay_with_their_call() -> None:
    call = AssistantMessage(tool_calls=(ToolCall("a", "run_cell", "{}"),))
    late = ToolMessage("a", "run_cell", (TextPart("r"),))
    parts = split_turns([user("note"), user("q1"), call, user("hurry"), late, user("q2")])
    assert [len(t) for t in parts.turns] == [5, 1]
    assert split_turns([late]).turns == ((late,),)


def test_a_question_is_told_from_what_was_put_beside_it() -> None:
    assert question_of(user("Why?\n\n<context>\ncell:\n  x\n</context>\n\n<files>\n")) == "Why?"
    assert openings([user("a"), AssistantMessage("b")]) != openings([user("c")])


numbers = st.integers(0, 400)


@given(st.lists(numbers, min_size=1, max_size=15), st.integers(2_000, 6_000))
def test_whatever_was_said_fits_and_is_accepted(sizes: list[int], limit: int) -> None:
    messages: list[Message] = [SystemMessage("Work.")]
    for number, words in enumerate(sizes):
        messages += turn(number, words)
    fitted = Window(limit).in_a_run(messages)
    sent = messages if fitted is None else fitted
    assert total_tokens(sent) <= limit
    check_as_openai(normalise(sent))
