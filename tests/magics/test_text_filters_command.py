"""``%agent filters``: what is done to a person's words before they are sent (002-47)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import FakeKernel
from magics.typed_lines import command

from cellwright.commands.results import Result
from cellwright.context.normalise import STANDARD_FILTERS
from cellwright.errors import SetupError
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright_magics.chats import ChatWords, KeptWords, OwnWords, hand_over
from cellwright_magics.commands import Offers
from cellwright_magics.context_commands import context_command, tabulate_filters


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def conversation(database: Database) -> Conversation:
    return Conversation(RunContext(FakeKernel(), RunStore(database), Redactor({}), "magic"))


@pytest.fixture(params=["no chat", "chat"])
def own(
    request: pytest.FixtureRequest, conversation: Conversation, database: Database
) -> ChatWords:
    if request.param == "no chat":
        return OwnWords(conversation)
    chats = ChatStore(database)
    return KeptWords(conversation, chats, chats.create().chat_id)


def run(line: str, conversation: Conversation, own: ChatWords) -> str:
    """Names of the filters that are on after a line."""
    told = context_command(command(f"/{line}"), conversation, own)
    assert isinstance(told, Result)
    assert tabulate_filters(own.text_filters).items == told.items
    return " ".join(item.name for item in told)


def test_002_47_filters_are_switched_ordered_and_reset(
    conversation: Conversation, own: ChatWords
) -> None:
    in_order = " ".join(STANDARD_FILTERS)
    assert run("filters", conversation, own) == in_order
    for line, on in (
        ("blank_lines off", "line_ends terminal_colours"),
        ("blank_lines off", "line_ends terminal_colours"),
        ("line_ends off", "terminal_colours"),
        ("line_ends on", "line_ends terminal_colours"),
        ("blank_lines on", in_order),
        ("blank_lines line_ends", "blank_lines line_ends"),
        ("terminal_colours on", "blank_lines line_ends terminal_colours"),
        ("off", ""),
        ("terminal_colours on", "terminal_colours"),
        ("reset", in_order),
    ):
        assert run(f"filters {line}", conversation, own) == on, line
    assert own.text_filters is None
    for wrong in ("blonk_lines off", "line_ends blonk"):
        with pytest.raises(SetupError, match=r"'blonk\w*'\. There are: line_ends, terminal_col"):
            context_command(command(f"/filters {wrong}"), conversation, own)


def test_002_47_the_table_shows_order_and_what_each_does() -> None:
    assert tabulate_filters(("blank_lines", "line_ends")).rows == [
        ("1", "blank_lines", "on", "Of several blank lines in a row one is left."),
        ("2", "line_ends", "on", "Windows line ends become plain ones."),
        ("–", "terminal_colours", "off", "Colours of a terminal are taken out."),
    ]


def test_002_47_a_chat_that_begins_has_what_was_chosen_before(
    conversation: Conversation, database: Database
) -> None:
    before, chats = OwnWords(conversation), ChatStore(database)
    kept = KeptWords(conversation, chats, chats.create().chat_id)
    before.choose_filters(["blank_lines"])
    hand_over(before, kept)
    assert (kept.text_filters, before.text_filters) == (("blank_lines",), None)
    hand_over(before, kept)
    assert kept.text_filters == ("blank_lines",), "nothing was chosen meanwhile"


def test_002_47_filters_are_completed() -> None:
    offers = Offers(tuple, tuple)
    completed = offers.complete("%agent filters ")
    assert completed is not None
    assert completed.offers == (*STANDARD_FILTERS, "off", "reset")
    completed = offers.complete("%agent filters blank_lines o")
    assert completed is not None
    assert completed.offers == ("off", "on")
