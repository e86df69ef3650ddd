"""Going on with a chat: its conversation as it counts, from the record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from cellwright.context.assemble import without_own_magics
from cellwright.context.roles import is_note
from cellwright.errors import SetupError
from cellwright.record.messages import AssistantMessage, Message
from cellwright.record.run_record import UNDONE, RunRecord, Runs, undone_step
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext
from cellwright.store.chats import ChatStore, before
from cellwright.store.runs import RunStore

ENDS_KERNEL = re.compile(r"^(?:exit|quit|sys\.exit)(?:\(.*\))?[ \t;]*(?:\n|\Z)", re.MULTILINE)


def resumed(place: RunContext, chats: ChatStore, chat_id: str, without: str = "") -> Conversation:
    """A conversation that knows what the chat's runs said.

    Left out are those that were superseded, and questions at the end that nobody answered.

    Args:
        place: Where it goes on.
        chats: Knows the runs.
        chat_id: The chat.
        without: A run that is left out too, with all that followed; empty: none.
    """
    conversation = Conversation(place)
    runs = chats.runs(chat_id)
    kept = before(runs, without)
    conversation.last_run_id = kept[-1] if kept else ""
    while kept and not chats.is_answered(kept[-1]):
        kept = kept[:-1]  # what made a question fail must not make all that follow fail too
    said = last_record(place.store, kept)
    # What was taken back has run all the same: the kernel is as the last of all runs left it.
    ran = last_record(place.store, [run.run_id for run in runs])
    if ran is not None:
        resume(conversation, said.messages if said is not None else (), ran)
    return conversation


def last_record(store: Runs, runs: Sequence[str]) -> RunRecord | None:
    """The last of these runs in which anything was said; None: there is none."""
    for run_id in reversed(runs):
        with suppress(SetupError):
            record = store.record(run_id)
            if record.messages:
                return record
    return None


def resume(conversation: Conversation, messages: Sequence[Message], record: RunRecord) -> None:
    """Let a conversation go on with these messages, in the kernel that a run has left."""
    session = str(record.kernel.get("session", ""))
    conversation.resume(tuple(messages), executed_in(record), session)


def executed_in(record: RunRecord) -> tuple[str, ...]:
    """The cells that had run in the kernel when a run was over."""
    return (*record.start_executed, *(ran.source for ran in record.executions))


def is_behind(conversation: Conversation, chats: ChatStore, chat_id: str) -> bool:
    """Whether the chat went on elsewhere, or something was taken back there."""
    runs = chats.active_run_ids(chat_id)
    return bool(runs) and runs[-1] != conversation.last_run_id


@contextmanager
def with_notes(
    conversation: Conversation, chats: ChatStore, chat_id: str, instead_of: str = ""
) -> Iterator[None]:
    """Let the next question take along what waits in the chat, until one of them was answered.

    The conversation is told what is pinned, too.

    Args:
        conversation: Where it is asked.
        chats: Knows what waits.
        chat_id: The chat.
        instead_of: The run it takes the place of, whose notes go with it again; empty: of none.
    """
    earlier = conversation.earlier
    earlier.pinned = chats.pins.turns(chat_id, conversation.last_run_id, earlier.pinned)
    waiting = chats.notes.waiting(chat_id)
    told = _since_the_last_answer(conversation.messages)
    taken = _notes_of(conversation.place.store, instead_of)
    notes = [*taken, *(note.message for note in waiting if note.message not in taken)]
    conversation.notes[:] = [note for note in notes if note not in told]
    try:
        yield
    finally:
        was_taken = waiting and not conversation.notes
        if was_taken and not chats.unanswered(chat_id):
            chats.notes.forget(chat_id, [note.note_id for note in waiting])
        conversation.notes.clear()


def _notes_of(store: Runs, run_id: str) -> tuple[Message, ...]:
    """What a run's question took along."""
    record = last_record(store, [run_id] if run_id else [])
    own = record.messages[record.earlier_messages :] if record is not None else ()
    return tuple(filter(is_note, own))


def _since_the_last_answer(messages: Sequence[Message]) -> Sequence[Message]:
    """What stands there of questions that nobody answered."""
    answers = [place for place, m in enumerate(messages) if isinstance(m, AssistantMessage)]
    return messages[answers[-1] + 1 :] if answers else messages


def executed_before(
    record: RunRecord, step: int, runs: RunStore, chats: ChatStore
) -> tuple[str, ...]:
    """Source of what ran in the kernel before one of a run's cells, in order.

    What earlier runs of its chat ran and the user took back is not among it, nor what would ask
    the agent, or end the kernel, when it runs again.

    Args:
        record: Of the run.
        step: Which of its cells, counted from 1; 0: before the run.
        runs: Knows the earlier runs, and which of them are undone.
        chats: Knows which those are.
    """
    ran = record.executions[: max(0, step - 1)]
    sources = [*record.start_executed, *(each.source for each in ran)]
    for run_id, from_step in _undone_before(record.run_id, runs, chats).items():
        if record.lane == "magic" and not from_step:
            # The list of what ran lies in the kernel there, and went back with the variables.
            continue
        undone = runs.record(run_id).executions[max(0, from_step - 1) :]
        _take_out(sources, [each.source for each in undone])
    return tuple(without_own_magics(ENDS_KERNEL.sub("", source) for source in sources))


def _undone_before(run_id: str, runs: RunStore, chats: ChatStore) -> Mapping[str, int]:
    """Earlier runs of the same chat that were undone, and from which cell on."""
    chat_id = chats.chat_of(run_id)
    in_chat = chats.run_ids(chat_id) if chat_id else ()
    undone = runs.scores.in_chat(chat_id, UNDONE)
    earlier = in_chat[: in_chat.index(run_id)] if run_id in in_chat else ()
    return {each: undone_step(undone[each]) for each in earlier if each in undone}


def _take_out(sources: list[str], run: Sequence[str]) -> None:
    """Take out what one run had run, which stands in a row."""
    count = len(run)
    for start in range(len(sources) - count, -1, -1):
        if count and sources[start : start + count] == list(run):
            del sources[start : start + count]
            return
