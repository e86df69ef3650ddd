"""Requirements 002-40 to 002-56 and table 7.3: any transcript as a strict provider accepts it."""

from __future__ import annotations

import json

import pytest
from context.strict_providers import check_as_openai, check_as_template
from hypothesis import given
from hypothesis import strategies as st

from cellwright.context.normalise import (
    BROKEN_OFF,
    FOUND,
    GOES_ON,
    INTERRUPTED,
    NOTHING_FOUND,
    STANDARD_FILTERS,
    answer_calls,
    normalise,
    orphans,
)
from cellwright.llm import Capabilities
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    UserRole,
    text_of,
)

STRICT = Capabilities(alternates=True)
PICTURE, SECOND = ImagePart("image/png", "QUJD", "one"), ImagePart("image/png", "REVG", "two")


def user(text: str, sent_as: UserRole = "user") -> UserMessage:
    return UserMessage((TextPart(text),), sent_as)


def file(picture: ImagePart = PICTURE) -> UserMessage:
    return UserMessage((picture,), "file")


def call(*ids: str) -> AssistantMessage:
    return AssistantMessage(tool_calls=tuple(ToolCall(i, "run_cell", "{}") for i in ids))


def result(call_id: str, text: str = "done") -> ToolMessage:
    return ToolMessage(call_id, "run_cell", (TextPart(text),))


def test_system_messages_are_joined_and_come_first() -> None:
    messages = normalise([SystemMessage("a"), user("q"), SystemMessage("b")])
    assert messages == (SystemMessage("a\n\nb"), user("q"))


@pytest.mark.parametrize("after", [user("again"), SystemMessage("S"), call("b"), None])
def test_002_52_a_call_without_a_result_is_answered_as_interrupted(after: Message | None) -> None:
    """Fault M47."""
    messages = normalise([user("q"), call("a"), *([after] if after is not None else [])])
    answer = next(m for m in messages if isinstance(m, ToolMessage) and m.call_id == "a")
    assert messages[messages.index(answer) - 1] == call("a")
    said = json.loads(text_of(answer))
    assert (said["error"], said["retryable"]) == ("tool call interrupted", True)
    assert answer.is_error


def test_results_follow_their_calls_in_the_order_of_the_calls() -> None:
    messages = normalise([user("q"), call("a", "b"), result("b", "B"), result("a", "A")])
    assert [text_of(m) for m in messages[2:]] == ["A", "B"]


def test_a_result_after_a_late_user_message_still_answers_its_call() -> None:
    messages = normalise([user("q"), call("a"), user("hurry"), result("a", "A")])
    assert [m.role for m in messages] == ["user", "assistant", "tool", "user"]
    assert text_of(messages[2]) == "A"


def test_equal_call_ids_in_two_turns_are_made_unique() -> None:
    """Fault M10."""
    messages = normalise([user("q"), call("a"), result("a", "1"), call("a"), result("a", "2")])
    ids = [c.id for m in messages if isinstance(m, AssistantMessage) for c in m.tool_calls]
    answers = {m.call_id: text_of(m) for m in messages if isinstance(m, ToolMessage)}
    assert ids == ["a", "a_2"]
    assert answers == {"a": "1", "a_2": "2"}


def test_equal_call_ids_in_one_message_take_their_results_in_order() -> None:
    messages = normalise([user("q"), call("a", "a"), result("a", "1"), result("a", "2")])
    assert [text_of(m) for m in messages[2:]] == ["1", "2"]


def test_a_result_without_a_call_is_dropped() -> None:
    assert normalise([user("q"), result("ghost")]) == (user("q"),)


def test_an_empty_reply_is_dropped_and_the_questions_around_it_are_merged() -> None:
    (merged,) = normalise([user("one"), AssistantMessage("  "), user("two")])
    assert text_of(merged) == "one\ntwo"


Q1, Q2 = user("q1"), user("q2")
S = SystemMessage("S")
LATER = user("later", "user_later")
K1, K2 = user("K1", "knowledge"), user("K2", "knowledge")


def asked(*parts: str | ImagePart) -> UserMessage:
    return UserMessage(tuple(TextPart(p) if isinstance(p, str) else p for p in parts))


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param([Q1, S, Q2], (S, asked("q1", "q2")), id="system between questions"),
        pytest.param(
            [Q1, call("a"), S, result("a", "A"), Q2],
            (S, Q1, call("a"), result("a", "A"), Q2),
            id="system inside a call",
        ),
        pytest.param(
            [Q1, call("a"), call("b"), result("a", "A"), result("b", "B")],
            (Q1, call("a"), result("a", "A"), call("b"), result("b", "B")),
            id="two calls, then both results",
        ),
        pytest.param(
            [Q1, call("a"), Q2],
            (Q1, call("a"), result("a", INTERRUPTED), Q2),
            id="call, then a question",
        ),
        pytest.param([Q1, call("a")], (Q1, call("a"), result("a", INTERRUPTED)), id="call at end"),
        pytest.param([file(), Q1], (asked(PICTURE, "q1"),), id="file, question"),
        pytest.param(
            [file(), LATER, Q1], (asked(PICTURE, "later", "q1"),), id="file, later, question"
        ),
        pytest.param(
            [file(), file(SECOND), Q1], (asked(PICTURE, SECOND, "q1"),), id="two files, question"
        ),
        pytest.param([SystemMessage("S", "system_hide"), Q1], (S, Q1), id="leading hidden system"),
        pytest.param(
            [SystemMessage("S1"), SystemMessage("S2"), Q1],
            (SystemMessage("S1\n\nS2"), Q1),
            id="two systems",
        ),
        pytest.param(
            [K1, Q1, AssistantMessage("a1"), K2, Q2],
            (SystemMessage(f"{FOUND}\nK2"), Q1, AssistantMessage("a1"), Q2),
            id="knowledge twice",
        ),
        pytest.param(
            [K1, S, Q1], (SystemMessage(f"S\n\n{FOUND}\nK1"), Q1), id="knowledge, system, question"
        ),
    ],
)
def test_002_44_the_inputs_of_table_7_3_lose_nothing(
    messages: list[Message], expected: tuple[Message, ...]
) -> None:
    sent = normalise(messages)
    assert [_told(message) for message in sent] == [_told(message) for message in expected]
    check_as_openai(sent)


def _told(message: Message) -> object:
    # whether a result is an error is told in its words
    return (message.call_id, text_of(message)) if isinstance(message, ToolMessage) else message


def test_002_45_empty_system_messages_of_both_kinds_are_skipped() -> None:
    sent = normalise([SystemMessage(" "), S, SystemMessage("", "system_hide"), Q1])
    assert sent == (S, Q1)


def test_002_40_one_system_message_comes_first_whatever_the_order() -> None:
    talk: list[Message] = [Q1, AssistantMessage("a"), S, SystemMessage("late"), Q2]
    assert [m.role for m in normalise(talk)] == ["system", "user", "assistant", "user"]
    assert text_of(normalise(talk)[0]) == "S\n\nlate"


def test_x_15_the_system_message_stands_last_where_a_model_wants_that() -> None:
    last = Capabilities(system_position="last")
    sent = normalise([S, Q1, AssistantMessage("a"), Q2], last)
    assert sent[-1] == S
    assert normalise(sent, last) == sent


def test_002_43_leading_and_late_system_messages_of_both_kinds_are_hoisted() -> None:
    late = SystemMessage("late", "system_hide", "user")
    assert normalise([S, Q1, late]) == (SystemMessage("S\n\nlate"), Q1)


def test_x_16_a_late_instruction_can_stay_where_it_was_said() -> None:
    in_place = Capabilities(system_notes="in_place")
    late = SystemMessage("Be brief.", origin="user")
    sent = normalise([S, Q1, AssistantMessage("a1"), late, Q2], in_place)
    assert sent[0] == S
    assert text_of(sent[-1]) == "[System note]\nBe brief.\nq2"
    assert normalise(sent, in_place) == sent


def test_002_49_files_without_words_wait_for_them() -> None:
    talk: list[Message] = [Q1, AssistantMessage("a1"), file(), file(SECOND)]
    assert normalise(talk) == (Q1, AssistantMessage("a1"))
    assert normalise([*talk, Q2])[-1] == asked(PICTURE, SECOND, "q2")


def test_002_49_three_files_and_one_that_is_no_picture() -> None:
    paper = UserMessage((TextPart("[Attachment: a.pdf] available at a.pdf"),), "file")
    (sent,) = normalise([file(), paper, file(SECOND), Q1])
    assert sent == asked(PICTURE, "[Attachment: a.pdf] available at a.pdf", SECOND, "q1")


def test_002_53_orphans_are_named_and_duplicates_keep_the_first() -> None:
    talk: list[Message] = [
        Q1,
        call("a"),
        result("a", "first"),
        result("a", "second"),
        result("ghost"),
    ]
    assert [text_of(m) for m in normalise(talk)[2:]] == ["first"]
    assert orphans(talk) == ("a", "ghost")


def test_002_53_a_result_after_another_call_goes_back_to_its_own() -> None:
    talk: list[Message] = [Q1, call("a"), call("b"), result("b", "B"), result("a", "A")]
    assert [text_of(m) for m in normalise(talk) if m.role == "tool"] == ["A", "B"]


def test_002_52_a_system_message_does_not_part_a_call_from_its_result() -> None:
    sent = normalise([Q1, call("a", "b"), result("b", "B"), S])
    assert [text_of(m) for m in sent] == ["S", "q1", "", INTERRUPTED, "B"]


def test_002_55_only_words_of_another_assistant_are_marked() -> None:
    talk: list[Message] = [
        Q1,
        AssistantMessage("by A", author="A"),
        Q2,
        AssistantMessage("by B", author="B"),
    ]
    sent = [text_of(m) for m in normalise(talk, answering="A")]
    assert sent == ["q1", "by A", "q2", "[said by 'B']\nby B"]
    assert normalise(normalise(talk, answering="A"), answering="A") == normalise(
        talk, answering="A"
    )


def test_002_55_calls_alone_are_not_marked_and_nobody_marks_where_nobody_asks() -> None:
    talk: list[Message] = [
        Q1,
        AssistantMessage(tool_calls=call("a").tool_calls, author="B"),
        result("a"),
    ]
    assert normalise(talk, answering="A")[1] == call("a")
    assert text_of(normalise([Q1, AssistantMessage("x", author="B")])[1]) == "x"


def test_002_56_three_notes_for_later_and_the_question_become_one_message() -> None:
    notes = [user(f"n{number}", "user_later") for number in range(3)]
    assert normalise([*notes, Q1]) == (asked("n0", "n1", "n2", "q1"),)


def test_x_17_neighbouring_words_of_the_model_become_one_message() -> None:
    talk: list[Message] = [
        Q1,
        AssistantMessage("a"),
        AssistantMessage(refusal="no"),
        call("x"),
        result("x"),
    ]
    assert normalise(talk)[1] == AssistantMessage("a\n\nno", call("x").tool_calls)


def test_002_58_an_empty_search_is_told_in_one_sentence() -> None:
    assert normalise([user("", "knowledge"), Q1]) == (SystemMessage(NOTHING_FOUND), Q1)


def test_a_model_that_wants_turns_gets_them() -> None:
    talk: list[Message] = [AssistantMessage("Hello."), Q1, call("a"), Q2]
    sent = normalise(talk, STRICT)
    assert text_of(sent[0]) == GOES_ON
    assert text_of(sent[-2]) == BROKEN_OFF
    check_as_template(sent)


def test_002_46_the_messages_given_are_not_changed() -> None:
    talk: list[Message] = [user("a\r\nb"), AssistantMessage("x", author="B"), S, Q2]
    before = list(talk)
    normalise(talk, answering="A")
    assert talk == before


ids = st.sampled_from(["a", "b", ""])
sent_as: st.SearchStrategy[UserRole] = st.sampled_from(
    ["user", "user_later", "user_hide", "file", "knowledge"]
)
origins = st.sampled_from(["", "user"])
words = st.text("a\n\r`~ \x1b[m", max_size=8)
messages_strategy = st.lists(
    st.one_of(
        st.builds(
            SystemMessage, st.sampled_from(["rules", ""]), origin=st.sampled_from(["", "user"])
        ),
        st.builds(user, words, sent_as),
        st.builds(file),
        st.builds(lambda x: call(*x), st.lists(ids, min_size=1, max_size=3)),
        st.builds(AssistantMessage, words, author=st.sampled_from(["", "A", "B"])),
        st.builds(AssistantMessage, refusal=st.just("no")),
        st.builds(result, ids),
    ),
    max_size=12,
)
capable = st.builds(
    Capabilities,
    alternates=st.booleans(),
    system_notes=st.sampled_from(["head", "in_place"]),
)


@given(messages_strategy, st.sampled_from([None, "", "A"]))
def test_any_prefix_of_any_transcript_is_accepted_by_a_strict_provider(
    messages: list[Message], answering: str | None
) -> None:
    """Fault M48."""
    for end in range(len(messages) + 1):
        prefix = messages[:end]
        check_as_openai(normalise(prefix, answering=answering))
        if is_answerable(prefix):  # no other request is ever sent
            check_as_template(normalise(prefix, STRICT, answering=answering))


def is_answerable(messages: list[Message]) -> bool:
    """Whether the messages end in something that wants an answer; instructions and files wait."""
    asked = ("user", "user_hide")
    said = answer_calls(
        [
            message
            for message in messages
            if isinstance(message, AssistantMessage | ToolMessage)
            or getattr(message, "sent_as", "") in asked
        ]
    )
    is_asked = any(isinstance(message, UserMessage) for message in said)
    return is_asked and not isinstance(said[-1], AssistantMessage)


chosen_filters = st.one_of(st.none(), st.permutations(STANDARD_FILTERS), st.just(["blank_lines"]))


@given(messages_strategy, capable, st.sampled_from([None, "", "A"]), chosen_filters)
def test_normalising_twice_changes_nothing_more(
    messages: list[Message], able: Capabilities, answering: str | None, names: list[str] | None
) -> None:
    once = normalise(messages, able, answering=answering, text_filters=names)
    assert normalise(once, able, answering=answering, text_filters=names) == once
