"""Compacting when the person wants it: a run that asks no model and is gone on from."""

from __future__ import annotations

from recorded_runs import called, record_of, replied, result, started, user

from cellwright.record.events import (
    COMPACT_PROMPT,
    HistoryCompacted,
    ModelAsked,
    RunFinished,
    StateCaptured,
)
from cellwright.record.messages import AssistantMessage, Message, SystemMessage, text_of
from cellwright.session.compacting import compaction_of

LONG = "a row of numbers\n" * 1_000
MESSAGES: list[Message] = [
    SystemMessage("Work well."),
    user("Show all."),
    *(
        message
        for number in range(4)
        for message in (called(f"c{number}"), result(f"c{number}", LONG))
    ),
    AssistantMessage("Done."),
]
STATE = StateCaptured(executed=("x = 1",), kernel={"session": "s1"})


def last_run() -> tuple[object, ...]:
    return (started(), STATE, ModelAsked(1, tuple(MESSAGES)), RunFinished("completed"))


def test_what_is_left_is_recorded_and_can_be_gone_on_from() -> None:
    last = record_of(last_run())  # type: ignore[arg-type]
    found = compaction_of(last, MESSAGES, tokens=20_000)
    assert found is not None
    record = record_of(found.events)
    assert record.messages == found.messages
    assert record.prompt == COMPACT_PROMPT
    assert record.status == "completed"
    assert record.steps == ()
    assert record.continues == last.run_id
    assert record.parameters == last.parameters
    assert record.start_executed == ("x = 1",)
    assert record.kernel == {"session": "s1"}
    assert record.earlier_messages == len(MESSAGES)
    kept = [len(text_of(message)) for message in found.messages]
    assert sum(kept) < sum(len(text_of(message)) for message in MESSAGES) / 5


def test_it_tells_what_it_saved_of_what_the_service_counted() -> None:
    last = record_of(last_run())  # type: ignore[arg-type]
    found = compaction_of(last, MESSAGES, tokens=20_000)
    guessed = compaction_of(last, MESSAGES)
    assert found is not None
    assert guessed is not None
    (told,) = [event for event in found.events if isinstance(event, HistoryCompacted)]
    (guess,) = [event for event in guessed.events if isinstance(event, HistoryCompacted)]
    assert told.tokens_before == 20_000
    assert 0 < told.tokens_after < told.tokens_before
    saved = told.tokens_before - told.tokens_after
    assert saved == guess.tokens_before - guess.tokens_after


def test_a_count_that_is_too_low_never_gives_more_than_before() -> None:
    found = compaction_of(record_of(last_run()), MESSAGES, tokens=10)  # type: ignore[arg-type]
    assert found is not None
    (told,) = [event for event in found.events if isinstance(event, HistoryCompacted)]
    assert told.tokens_after == told.tokens_before == 10


def test_where_nothing_is_long_nothing_is_to_gain() -> None:
    last = record_of([started(), ModelAsked(1, (user("Hi"),)), replied(AssistantMessage("Hi"))])
    assert compaction_of(last, last.messages, tokens=100) is None
