"""Requirement 002-60: pinned turns stay word for word, whatever is left out around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from context.strict_providers import check_as_openai
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import called, record_of, replied, result, started, user

from cellwright.context.normalise import normalise
from cellwright.context.pins import (
    NOT_ANSWERED,
    PINNED_TOKENS,
    PinnedTurn,
    pinned_turn,
    pinned_within,
    said_in,
)
from cellwright.context.turns import (
    HistorySummary,
    is_summary,
    opening_of,
    pinned_run,
    question_of,
    total_tokens,
)
from cellwright.context.window import Window, context_parts, summary_of, when_refused
from cellwright.record.events import Event, ModelAsked, RunFinished
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.session.compacting import compaction_of
from cellwright.text.truncation import estimate_tokens

SYSTEM = SystemMessage("Work.")


def asked(number: int) -> str:
    return f"Question <{number}>?"


def sent(number: int) -> UserMessage:
    return user(f"{asked(number)}\n\n<notebook-state>\nx{number}: int\n</notebook-state>")


def turn(number: int, words: int = 100) -> list[Message]:
    call = ToolCall(f"c{number}", "run_cell", "{}")
    return [
        sent(number),
        AssistantMessage(tool_calls=(call,)),
        ToolMessage(f"c{number}", "run_cell", (TextPart(f"row{number} " * words),)),
        AssistantMessage(f"Answer <{number}>."),
    ]


def talk(numbers: Sequence[int], words: int = 100) -> list[Message]:
    return [SYSTEM, *(message for number in numbers for message in turn(number, words))]


def pin(number: int) -> PinnedTurn:
    answer = AssistantMessage(f"Answer <{number}>.")
    return PinnedTurn(f"run-{number}", asked(number), answer, opening_of(sent(number)))


def questions(messages: Sequence[Message]) -> list[str]:
    return [question_of(m) for m in messages if isinstance(m, UserMessage) and not is_summary(m)]


def test_002_60_a_pinned_turn_stands_after_the_summary_and_before_the_newest() -> None:
    fitted = Window(4_000, (pin(1),)).before_a_run(talk(range(40)))
    assert fitted is not None
    system, summary, question, answer, *newest = fitted.messages
    assert (system, is_summary(summary)) == (SYSTEM, True)
    assert text_of(question) == "[pinned turn, run run-1]\nQuestion <1>?"
    assert answer == AssistantMessage("Answer <1>.")
    assert newest == turn(38) + turn(39) or newest[-4:] == turn(39)
    assert asked(0) in fitted.summary
    assert asked(1) not in fitted.summary


def test_002_60_pinning_changes_nothing_while_the_turn_is_still_there() -> None:
    assert Window(10_000, (pin(1),)).before_a_run(talk(range(3))) is None
    assert Window(10_000, (pin(1),)).in_a_run(talk(range(3))) is None
    kept = Window(4_000, (pin(39),)).before_a_run(talk(range(40)))
    assert kept == Window(4_000).before_a_run(talk(range(40)))


def test_002_60_what_was_left_out_comes_back_with_the_next_question_and_only_once() -> None:
    left = Window(4_000).before_a_run(talk(range(40)))
    assert left is not None
    back = Window(4_000, (pin(3), pin(7))).before_a_run(left.messages)
    assert back is not None
    assert (back.brought_back, back.turns_left_out) == (True, 0)
    assert questions(back.messages)[:2] == [asked(3), asked(7)]
    assert asked(3) in left.summary
    assert asked(3) not in back.summary
    assert asked(4) in back.summary
    assert [m for m in back.messages if m in left.messages][-8:] == list(left.messages[-8:])
    assert Window(4_000, (pin(3), pin(7))).before_a_run(back.messages) is None
    more = Window(4_000, (pin(3), pin(5), pin(7))).before_a_run(back.messages)
    assert more is not None
    assert questions(more.messages)[:3] == [asked(3), asked(5), asked(7)]


def test_002_60_what_comes_back_without_room_makes_older_turns_go() -> None:
    messages = [SYSTEM, *turn(1), *turn(2, 400), *turn(3, 400)]
    left = replace(pin(0), asked=asked(0) + "word " * 200)
    size = total_tokens(messages)
    window = Window(int(size / 0.8) + 20, (left,))
    assert replace(window, pinned=()).before_a_run(messages) is None
    fitted = window.before_a_run(messages)
    assert fitted is not None
    assert fitted.turns_left_out > 0
    assert questions(fitted.messages)[0] == left.asked.strip()


def test_002_60_an_unpinned_turn_goes_with_the_next_big_step_and_not_before() -> None:
    first = Window(4_000, (pin(1),)).before_a_run(talk(range(40)))
    assert first is not None
    assert Window(4_000).before_a_run(first.messages) is None
    later = [*first.messages, *(m for n in range(40, 55) for m in turn(n))]
    second = Window(4_000).before_a_run(later)
    assert second is not None
    assert asked(1) not in questions(second.messages)
    assert f"- asked: {asked(1)} | answered: Answer <1>." in second.summary
    assert "pinned turn" not in second.summary


def test_002_60_notes_that_went_with_a_pinned_question_are_summed_up() -> None:
    note = UserMessage((TextPart("The unit is kg."),), "user_later")
    messages: list[Message] = [SYSTEM, note, *turn(0), *talk(range(1, 40))[1:]]
    fitted = Window(4_000, (pin(0),)).before_a_run(messages)
    assert fitted is not None
    assert fitted.summary.splitlines()[0] == "- asked: The unit is kg."
    assert asked(0) in questions(fitted.messages)


def test_002_60_the_same_question_asked_twice_is_told_apart_by_its_answer() -> None:
    again: list[Message] = [sent(1), AssistantMessage("Another answer.")]
    messages = [*talk(range(40)), *again, *turn(50)]
    fitted = Window(4_000, (pin(1),)).before_a_run(messages)
    assert fitted is not None
    assert fitted.messages[3] == AssistantMessage("Answer <1>.")
    assert AssistantMessage("Another answer.") in fitted.messages[4:]


def test_002_60_compact_now_and_a_refused_request_keep_what_is_pinned() -> None:
    messages = talk(range(12), 400)
    window = Window(pinned=(pin(2),))
    fitted = window.when_asked(messages)
    assert fitted is not None
    assert asked(2) in questions(fitted.messages)
    record = record_of([started(), ModelAsked(1, tuple(messages)), RunFinished("completed")])
    found = compaction_of(record, messages, pinned=(pin(2),))
    assert found is not None
    assert found.messages == fitted.messages
    plain: list[Message] = [SYSTEM]
    for number in range(60):
        plain += [user(f"{asked(number)} " * 30), AssistantMessage("a")]
    second = PinnedTurn("r", text_of(plain[3]), AssistantMessage("a"), opening_of(plain[3]))
    shorter = when_refused(plain, Window(pinned=(second,)))
    assert shorter is not None
    assert total_tokens(shorter) < 0.7 * total_tokens(plain)
    assert second.asked.strip() in questions(shorter)


def test_002_60_the_question_of_the_run_stays_and_other_texts_are_cut_before_it() -> None:
    question = user("start " + "q" * 4_000 + " end")
    messages = [*talk(range(20)), question, called("a"), result("a", "r" * 30_000)]
    messages.append(AssistantMessage("t" * 12_000))
    fitted = Window(3_000, (pin(1),)).in_a_run(messages)
    assert fitted is not None
    assert total_tokens(fitted) <= 3_000
    assert question in fitted
    assert asked(1) in questions(fitted)
    check_as_openai(normalise(fitted))


def test_002_60_a_question_that_is_too_long_is_cut_with_a_notice_and_pins_stay() -> None:
    messages = [*talk(range(20)), user("start " + "q" * 40_000 + " end")]
    fitted = Window(3_000, (pin(1),)).in_a_run(messages)
    assert fitted is not None
    assert total_tokens(fitted) <= 3_000
    last = text_of(fitted[-1])
    assert (last[:5], last[-3:]) == ("start", "end")
    assert "characters left out …]" in last
    assert text_of(fitted[2]) == text_of(pin(1).messages[0])


def test_002_60_the_words_of_a_pinned_turn_that_is_still_there_are_cut_last() -> None:
    question, answer = user("p" * 1_200), AssistantMessage("a" * 1_200)
    pinned = PinnedTurn("r", text_of(question), answer, opening_of(question))
    said = replace(called("a"), text="t" * 9_000)
    messages = [*talk(range(3)), question, said, result("a", "r" * 9_000), answer]
    fitted = Window(3_000, (pinned,)).before_a_run(messages, 800)
    assert fitted is not None
    assert {question, answer} < set(fitted.messages)
    assert total_tokens(fitted.messages) <= 1_600


@pytest.mark.parametrize("turns", [0, 20], ids=["still there", "left out and put back"])
def test_002_60_the_question_is_cut_before_the_words_of_what_is_pinned(turns: int) -> None:
    question, answer = user("p" * 5_000), AssistantMessage("a" * 5_000)
    pinned = PinnedTurn("r", text_of(question), answer, opening_of(question))
    asked_now = user("start " + "q" * 90_000 + " end")
    messages = [SYSTEM, question, answer, *talk(range(turns))[1:], asked_now]
    fitted = Window(20_000, (pinned,)).in_a_run(messages)
    assert fitted is not None
    assert total_tokens(fitted) <= 20_000
    words = [text_of(message) for message in fitted]
    assert "characters left out …]" in words[-1]
    assert any("p" * 5_000 in text for text in words)
    assert "a" * 5_000 in words


def test_002_60_only_a_window_too_small_for_all_else_has_pinned_words_cut() -> None:
    pinned = PinnedTurn("r", "p" * 8_000, AssistantMessage("a"))
    question = user(pinned.asked)
    pinned = replace(pinned, opening=opening_of(question))
    system = SystemMessage("s" * 6_000)
    fitted = Window(2_000, (pinned,)).in_a_run([system, question, pinned.answer])
    assert fitted is not None
    assert "characters left out …]" in text_of(fitted[1])


def test_002_60_together_they_have_at_most_a_quarter_of_a_small_window() -> None:
    turns = [replace(pin(n), asked=f"{n} " + "word " * 400) for n in range(3)]
    turns.append(pin(9))
    kept = pinned_within(turns, 600)
    assert sum(turn.tokens for turn in kept) <= 600
    assert kept[3] == turns[3]
    assert all("characters left out …]" in turn.asked for turn in kept[:3])
    assert pinned_within(turns, PINNED_TOKENS) == tuple(turns)
    assert pinned_within([], 100) == ()
    # a floor: so many cannot be cut to nothing
    assert len(pinned_within(turns, 1)) == 4
    fitted = Window(2_400, tuple(turns)).before_a_run(talk(range(20, 60)))
    assert fitted is not None
    left = said_in(fitted.messages, turns)
    assert left.missing == ()
    again = [*talk(range(1)), *[sent(9)], *talk(range(20, 60))[1:]]
    long = replace(pin(9), asked="word " * 1_000)
    fitted = Window(2_400, (long,)).before_a_run(again)
    assert fitted is not None
    assert asked(9) not in fitted.summary
    assert sum(map(estimate_tokens, questions(fitted.messages)[:4])) <= 600


def test_002_60_a_run_made_shorter_on_its_way_leaves_one_copy_when_it_is_gone_on_with() -> None:
    """The record of such a run has the whole turn and, later, what stood for it."""
    window = Window(4_000, (pin(1),))
    before = [*talk(range(40)), sent(40), called("x"), result("x", "1")]
    shorter = window.in_a_run(before)
    assert shorter is not None
    added = [m for m in shorter if m not in before]
    recorded = [*before, *added, called("y"), result("y", "2"), AssistantMessage("Answer <40>.")]
    fitted = window.before_a_run(recorded)
    assert fitted is not None
    assert questions(fitted.messages).count(asked(1)) == 1
    assert fitted.messages[-1] == AssistantMessage("Answer <40>.")
    check_as_openai(normalise(fitted.messages))
    # one whose answer is repeated, too, where a reply follows at once
    again = [*before, *pin(1).messages, called("y"), result("y", "2"), AssistantMessage("Yes.")]
    fitted = window.before_a_run(again)
    assert fitted is not None
    assert questions(fitted.messages).count(asked(1)) == 1
    assert sum(m == AssistantMessage("Answer <1>.") for m in fitted.messages) == 1


def test_002_60_what_stands_for_a_pin_without_an_answer_behind_it_is_no_turn() -> None:
    stray = pin(1).messages[0]
    said = said_in([SYSTEM, stray, called("a"), result("a", "1"), AssistantMessage("b")], ())
    assert said.let_go == ()
    assert [pinned_run(m) for turn in said.turns for m in turn] == ["", "", ""]
    assert said_in([stray], ()).turns == ()


def test_002_60_a_summary_loses_the_line_of_a_turn_that_comes_back() -> None:
    lines = (
        "- asked: Why? | cells: a | answered: So.",
        "- asked: note / Why not? | answered: So.",
        "- asked: How long is it, when all of it is coun…",
        "- asked: Why?",
    )
    summary = HistorySummary(turns=lines)
    assert summary.without("Why?").turns == lines[1:]
    assert summary.without("Why not?").turns == (lines[0], *lines[2:])
    assert summary.without("How long is it, when all of it is counted?").turns == (
        *lines[:2],
        lines[3],
    )
    assert summary.without("Who?") == summary


def test_002_60_what_is_pinned_is_a_part_of_the_context_of_its_own() -> None:
    messages = [SYSTEM, *pin(1).messages, *turn(2)]
    parts = {part.name: part for part in context_parts(messages)}
    assert parts["pinned"].pieces == 1
    assert parts["pinned"].tokens == pin(1).tokens
    assert parts["questions"].pieces == 1
    assert parts["answers"].pieces == 1


def record(prompt: str, *events: Event) -> PinnedTurn:
    return pinned_turn(record_of([started(prompt), *events]))


NUDGE = (
    replied(AssistantMessage("")),
    ModelAsked(2, (UserMessage((TextPart("Your reply was empty."),), "user_hide"),)),
)


@pytest.mark.parametrize("between", [(), NUDGE], ids=["at once", "after a nudge of the loop"])
def test_002_60_a_run_is_known_by_its_words(between: tuple[Event, ...]) -> None:
    answer = AssistantMessage("North.", reasoning="Hm.")
    found = record(
        asked(1),
        ModelAsked(1, (SYSTEM, *pin(0).messages, sent(1))),
        *between,
        replied(answer),
        RunFinished("completed", "North."),
    )
    assert found == PinnedTurn(found.run_id, asked(1), answer, opening_of(sent(1)))


@pytest.mark.parametrize("messages", [(), (sent(2), AssistantMessage("Answer <2>."))])
def test_002_60_a_run_that_never_asked_has_its_prompt_alone(messages: tuple[Message, ...]) -> None:
    found = record(asked(1), ModelAsked(1, messages), RunFinished("task error"))
    assert (found.asked, found.opening) == (asked(1), "")
    assert text_of(found.messages[1]) == NOT_ANSWERED


def test_002_60_of_a_run_that_was_stopped_what_the_model_said_until_then_stays() -> None:
    said = replace(called("a"), text="First I count.")
    events = (ModelAsked(1, (sent(1),)), replied(said), RunFinished("cancelled"))
    assert record(asked(1), *events).answer == AssistantMessage("First I count.")


def test_002_60_an_answer_that_was_handed_in_counts_and_a_question_of_files_has_words() -> None:
    question = user("Describe these files.\n\n<files>\na.csv\n</files>")
    found = record(
        "", ModelAsked(1, (question,)), replied(called("a")), RunFinished("completed", "Ok")
    )
    assert (found.asked, found.answer) == ("Describe these files.", AssistantMessage("Ok"))


def test_002_60_a_question_that_was_cut_is_known_by_how_it_begins() -> None:
    prompt = "start " + "q" * 4_000 + " end"
    cut = Window(2_000).in_a_run([SYSTEM, SystemMessage("s" * 5_000), user(prompt)])
    assert cut is not None
    assert text_of(cut[-1]) != prompt
    assert record(prompt, ModelAsked(1, cut)).opening == opening_of(cut[-1])


steps = st.lists(
    st.tuples(st.sampled_from(["question", "step", "compact"]), st.integers(0, 250)),
    min_size=1,
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 13), max_size=4), steps, st.integers(3_000, 6_000))
def test_002_60_whatever_is_done_pinned_questions_stay_once_and_in_order(
    pinned: set[int], doings: list[tuple[str, int]], limit: int
) -> None:
    messages: list[Message] = [SYSTEM]
    done = 0
    for doing, words in doings:
        window = Window(limit, tuple(pin(n) for n in sorted(pinned) if n < done))
        if doing == "compact":
            made = window.when_asked(messages)
            messages = list(made.messages) if made is not None else messages
        else:
            fitted = window.before_a_run(messages, 20)
            messages = list(fitted.messages) if fitted is not None else messages
            messages += turn(done, words)
            in_run = window.in_a_run(messages[:-1]) if doing == "step" else None
            messages = [*in_run, messages[-1]] if in_run is not None else messages
            done += 1
        wanted = [asked(n) for n in sorted(pinned) if n < done]
        assert [text for text in questions(messages) if text in wanted] == wanted
        assert not any(text in summary_of(messages).text for text in wanted)
        check_as_openai(normalise(messages))
        assert total_tokens(messages[:-1]) <= limit
