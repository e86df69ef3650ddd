"""Requirements 002-20 to 002-30: the eleven roles."""

from __future__ import annotations

import pytest

from cellwright.context.roles import ROLES, message_as
from cellwright.errors import SetupError
from cellwright.messages import AssistantMessage, SystemMessage, TextPart, UserMessage

WORDS = (TextPart("Hello"),)


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
