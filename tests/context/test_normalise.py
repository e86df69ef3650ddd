from hypothesis import given
from hypothesis import strategies as st

from cellwright.context.normalise import INTERRUPTED, normalise
from cellwright.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)


def user(text: str) -> UserMessage:
    return UserMessage((TextPart(text),))


def call(*ids: str) -> AssistantMessage:
    return AssistantMessage(tool_calls=tuple(ToolCall(i, "run_cell", "{}") for i in ids))


def result(call_id: str, text: str = "done") -> ToolMessage:
    return ToolMessage(call_id, "run_cell", (TextPart(text),))


def test_system_messages_are_joined_and_come_first() -> None:
    messages = normalise([SystemMessage("a"), user("q"), SystemMessage("b")])
    assert messages == (SystemMessage("a\n\nb"), user("q"))


def test_a_call_without_a_result_is_answered_as_interrupted() -> None:
    """Fault M47."""
    messages = normalise([user("q"), call("a"), user("again")])
    assert [m.role for m in messages] == ["user", "assistant", "tool", "user"]
    assert text_of(messages[2]) == INTERRUPTED


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


ids = st.sampled_from(["a", "b", ""])
messages_strategy = st.lists(
    st.one_of(
        st.builds(SystemMessage, st.sampled_from(["rules", ""])),
        st.builds(user, st.text(max_size=5)),
        st.builds(lambda x: call(*x), st.lists(ids, min_size=1, max_size=3)),
        st.builds(AssistantMessage, st.text(max_size=5)),
        st.builds(result, ids),
    ),
    max_size=12,
)


@given(messages_strategy)
def test_any_prefix_of_any_transcript_is_accepted_by_a_strict_provider(
    messages: list[Message],
) -> None:
    """Fault M48."""
    for end in range(len(messages) + 1):
        check_strictly(normalise(messages[:end]))


@given(messages_strategy)
def test_normalising_twice_changes_nothing_more(messages: list[Message]) -> None:
    once = normalise(messages)
    assert normalise(once) == once


def check_strictly(messages: tuple[Message, ...]) -> None:
    seen: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            assert waiting, "a result without a call"
            assert message.call_id == waiting.pop(0)
            continue
        assert not waiting, "a call without a result"
        assert not isinstance(message, SystemMessage) or index == 0
        if isinstance(message, AssistantMessage):
            assert message.text.strip() or message.tool_calls
            waiting = [c.id for c in message.tool_calls]
            assert not seen & set(waiting)
            assert len(set(waiting)) == len(waiting)
            assert all(waiting)
            seen |= set(waiting)
    assert not waiting
