"""What was chosen for a chat: which text filters are on (requirement 002-47)."""

from __future__ import annotations

from typing import Any

import pytest

from cellwright.errors import SetupError
from cellwright.record.events import RunFinished
from cellwright.store.chat_rows import filters_of, with_filters
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database
from cellwright.store.runs import RunStore


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, None),
        ({"text_filters": []}, ()),
        ({"text_filters": ["blank_lines", "later_one", 3]}, ("blank_lines", "later_one")),
        ({"text_filters": "blank_lines"}, None),
        ({"text_filters": None}, None),
    ],
)
def test_002_47_a_chat_without_a_choice_has_the_standard_filters(
    settings: dict[str, Any], names: tuple[str, ...] | None
) -> None:
    assert filters_of(settings) == names


def test_002_47_a_choice_leaves_all_other_settings() -> None:
    settings = {"of_a_newer_version": 1}
    chosen = with_filters(settings, ["blank_lines", "line_ends", "blank_lines"])
    assert chosen == {"of_a_newer_version": 1, "text_filters": ["blank_lines", "line_ends"]}
    assert with_filters(chosen, None) == settings
    in_order = ["line_ends", "terminal_colours", "blank_lines"]
    assert with_filters(chosen, in_order) == settings, "the standard is no choice"
    with pytest.raises(SetupError, match="no text filter 'vowels'"):
        with_filters(settings, ["vowels"])


def test_002_47_a_branch_has_the_filters_of_its_chat(database: Database) -> None:
    chats = ChatStore(database)
    chat = chats.create().chat_id
    run = RunStore(database).start(RunFinished("completed")).run_id
    chats.add_run(chat, run)
    chats.keep_settings(chat, with_filters({}, ["blank_lines"]))
    branch = chats.branch(chat, run)
    assert filters_of(branch.settings) == ("blank_lines",)
    chats.keep_settings(chat, with_filters(chats.get(chat).settings, None))
    assert filters_of(chats.get(chat).settings) is None
    assert filters_of(chats.get(branch.chat_id).settings) == ("blank_lines",)
