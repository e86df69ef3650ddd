"""``%agent pin``, ``%agent unpin``: turns whose words stay in the context."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.context.pins import PinnedTurn
from cellwright.errors import SetupError
from cellwright.session.compacting import COMPACT_PROMPT, SUMMARY_PROMPT
from cellwright.store.chats import ChatStore
from cellwright.store.ids import find_id
from cellwright_magics.commands import is_turn_number
from cellwright_magics.reports import Advice, Table
from cellwright_magics.wording import one_line

QUESTION_CHARACTERS = 60
NO_CHAT = "There is no chat here yet."


class PinTable(Table):
    """What is pinned in a chat."""

    headings = ("turn", "run", "tokens", "question")
    empty = "Nothing is pinned. %agent pin keeps the last turn, %agent pin N the N-th."

    def __init__(self, turns: Sequence[PinnedTurn], asked: Sequence[str]) -> None:
        self.turns = tuple(turns)
        self._asked = tuple(asked)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a turn, in the order of the chat."""
        return [
            (
                str(self._asked.index(turn.run_id) + 1) if turn.run_id in self._asked else "",
                turn.run_id,
                f"{turn.tokens:,}",
                one_line(turn.asked, QUESTION_CHARACTERS),
            )
            for turn in self.turns
        ]


def pin_command(words: Sequence[str], chats: ChatStore, chat_id: str) -> object:
    """Do what a line about pins asks for.

    Args:
        words: The line.
        chats: Where the chat is.
        chat_id: The chat that goes on here; empty: there is none.

    Raises:
        SetupError: There is no such turn, or more cannot be pinned.
    """
    if not chat_id or chats.find(chat_id) is None:
        raise SetupError(NO_CHAT, hint="Ask something, or go on with one: %agent resume.")
    action, name = words[0], words[1] if len(words) > 1 else "last"
    asked = _asked(chats, chat_id)
    pins = chats.pins
    if name == "list":
        last = chats.active_run_ids(chat_id)[-1:]
        return PinTable(pins.turns(chat_id, last[0]) if last else (), asked)
    if name == "all":
        count = len(pins.of(chat_id))
        for run_id in pins.of(chat_id):
            pins.unpin(chat_id, run_id)
        return Advice(f"{count} turn{' is' if count == 1 else 's are'} not pinned any more.")
    run_id = _named(name, asked)
    number = asked.index(run_id) + 1
    if action == "unpin":
        pins.unpin(chat_id, run_id)
        return Advice(
            f"Turn {number} is not pinned. It goes with the next turns that are left out."
        )
    pins.pin(chat_id, run_id)
    return Advice(f"Turn {number} is pinned: its question and answer stay in the context.")


def _asked(chats: ChatStore, chat_id: str) -> tuple[str, ...]:
    """The turns of a chat that count, in order; what only made it shorter is none."""
    prompts = chats.prompts(chat_id)
    return tuple(
        run for run, prompt in prompts.items() if prompt not in (COMPACT_PROMPT, SUMMARY_PROMPT)
    )


def _named(name: str, asked: Sequence[str]) -> str:
    """The turn that a name means: ``last``, a number, or a part of a run's id.

    Raises:
        SetupError: There is none, or there are several.
    """
    if not asked:
        raise SetupError("Nothing was asked in this chat yet.", hint="Ask something first.")
    if is_turn_number(name):
        found = asked[int(name) - 1 : int(name)] if int(name) else ()
        if not found:
            raise SetupError(f"There is no turn {name} in this chat.", hint=f"It has {len(asked)}.")
        return found[0]
    return find_id(name, asked[::-1], "turn")
