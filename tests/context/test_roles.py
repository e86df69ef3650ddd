"""Requirements 002-20 to 002-30: the eleven roles."""

from __future__ import annotations

import pytest

from cellwright.context.normalise import FOUND, normalise
from cellwright.context.roles import ROLES, message_as
from cellwright.errors import SetupError
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

WORDS = (TextPart("Hello"),)
QUESTION = UserMessage((TextPart("So?"),))
CALL = AssistantMessage(tool_calls=(ToolCall("a", "run_cell", "{}"),))
RESULT = ToolMessage("a", "run_cell", (TextPart("done"),))


@pytest.mark.parametrize(
    ("role", "message"),
    [
        pytest.param("user", UserMessage(WORDS), id="002-20"),
        pytest.param("user_later", UserMessage(WORDS, "user_later"), id="002-21"),
        pytest.param("user_hide", UserMessage(WORDS, "user_hide"), id="002-22"),
        pytest.param("system", SystemMessage("Hello", origin="user"), id="002-23"),
        pytest.param("system_hide", SystemMessage("Hello", "system_hide", "user"), id="002-24"),
        pytest.param("assistant", AssistantMessage("Hello", origin="user"), id="002-25"),
    ],
)
def test_002_20_to_25_what_a_person_sends_is_marked_as_theirs(role: str, message: object) -> None:
    assert message_as(role, WORDS) == message


@pytest.mark.parametrize(
    "role", ["system_override", "file", "assistant_call", "tool", "knowledge", "robot", ""]
)
def test_002_26_to_30_other_roles_cannot_be_sent(role: str) -> None:
    with pytest.raises(SetupError, match="cannot be sent as"):
        message_as(role, WORDS)


def test_002_20_and_22_alone_ask_for_an_answer_and_hidden_ones_are_not_shown() -> None:
    assert len(ROLES) == 11
    assert {name for name, role in ROLES.items() if role.asks} == {"user", "user_hide"}
    hidden = {name for name, role in ROLES.items() if not role.is_shown}
    assert hidden == {"user_hide", "system_hide", "system_override"}


def test_002_22_hidden_words_of_the_person_are_answered_like_others() -> None:
    hidden = message_as("user_hide", WORDS)
    assert normalise([hidden]) == (UserMessage(WORDS),)


def test_002_24_hidden_instructions_join_the_others_and_are_not_answered() -> None:
    hidden = message_as("system_hide", WORDS)
    assert normalise([SystemMessage("Rules"), QUESTION, hidden]) == (
        SystemMessage("Rules\n\nHello"),
        QUESTION,
    )


def test_002_25_an_answer_that_a_person_brings_is_the_models_and_marked_as_theirs() -> None:
    brought = message_as("assistant", WORDS)
    assert isinstance(brought, AssistantMessage)
    assert brought.origin == "user"
    assert normalise([QUESTION, brought]) == (QUESTION, AssistantMessage("Hello"))


def test_002_27_a_file_waits_for_the_words_that_follow_it() -> None:
    picture = ImagePart("image/png", "QUJD")
    file = UserMessage((picture,), "file")
    assert normalise([file, QUESTION]) == (UserMessage((picture, *QUESTION.parts)),)


def test_002_28_and_29_a_call_and_its_result_are_shown_and_want_the_next_step() -> None:
    assert normalise([QUESTION, CALL, RESULT]) == (QUESTION, CALL, RESULT)
    assert ROLES["assistant_call"].is_shown
    assert ROLES["tool"].is_shown


def test_002_29_a_result_is_nothing_that_a_person_can_send() -> None:
    with pytest.raises(SetupError, match="'tool'"):
        message_as("tool", WORDS)


def test_002_30_the_last_knowledge_alone_ends_the_instructions() -> None:
    first, last = (UserMessage((TextPart(text),), "knowledge") for text in ("old", "new"))
    assert normalise([first, SystemMessage("Rules"), last, QUESTION]) == (
        SystemMessage(f"Rules\n\n{FOUND}\nnew"),
        QUESTION,
    )
