"""The one way into the memory: screened, kept once, proposed, decided."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from cpu_time import quick

from cellwright.errors import SetupError
from cellwright.knowledge.memory import Memory, Whose, memory_owner, project_of
from cellwright.knowledge.memory.ranking import TOKEN_LIMIT, relevant, words_of
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.knowledge.memory.store import MemoryStore
from cellwright.knowledge.memory.suggestions import TEXT_LIMIT_CHARACTERS, Suggestion
from cellwright.store.database import Database
from cellwright.text.truncation import estimate_tokens

ADA = Whose("ada", "/home/me/a")


def keep_texts(text: str, kind: str = "keep", scope: str = "user") -> Suggestion:
    return Suggestion(kind, text, "You said so.", scope)  # type: ignore[arg-type]


def texts(memories: tuple[Memory, ...]) -> list[str]:
    return [memory.text for memory in memories]


def test_002_11_a_text_is_kept_once_whatever_its_scope(keeper: MemoryKeeper) -> None:
    first = keeper.keep(ADA, "  Use\npolars ", source_run="run-1")
    assert (first.change, first.memory.text, first.memory.source_run) == (
        "added",
        "Use polars",
        "run-1",
    )
    again = keeper.keep(ADA, "use polars.", "project")
    assert (again.change, again.memory) == ("known", first.memory)
    assert keeper.all("ada") == (first.memory,)


def test_002_95_a_similar_text_is_kept_and_told(keeper: MemoryKeeper) -> None:
    first = keeper.keep(ADA, "Our fiscal year starts in April").memory
    second = keeper.keep(ADA, "Our fiscal year starts in July")
    assert second.similar == (first,)
    assert len(keeper.all("ada")) == 2


def test_002_95_an_edit_saves_the_new_text_and_says_the_old(keeper: MemoryKeeper) -> None:
    made = keeper.keep(ADA, "Our fiscal year starts in April").memory
    kept = keeper.edit("ada", made.memory_id, "Our fiscal year starts in July")
    assert (kept.change, kept.before) == ("changed", made.text)
    assert texts(keeper.all("ada")) == ["Our fiscal year starts in July"]
    with pytest.raises(SetupError, match="There is no memory"):
        keeper.edit("bob", made.memory_id, "Something else")


def test_002_95_an_edit_into_another_memory_takes_its_proposals_along(keeper: MemoryKeeper) -> None:
    keeper.keep(ADA, "Use polars")
    other = keeper.keep(ADA, "Budgets are in euros").memory
    keeper.propose(ADA, keep_texts("budgets in euros", "forget"))
    keeper.edit("ada", other.memory_id, "use polars")
    assert keeper.proposals("ada") == ()
    assert texts(keeper.all("ada")) == ["Use polars"]


def test_002_95_what_is_forgotten_is_gone_with_what_waits_about_it(keeper: MemoryKeeper) -> None:
    made = keeper.keep(ADA, "Our fiscal year starts in April").memory
    keeper.propose(ADA, keep_texts("Our fiscal year starts in July"))
    with pytest.raises(SetupError):
        keeper.forget("bob", made.memory_id)
    assert keeper.forget("ada", made.memory_id) == made
    assert keeper.all("ada") == ()
    assert keeper.proposals("ada") == ()


def test_002_95_a_proposal_keeps_nothing_until_it_is_accepted(keeper: MemoryKeeper) -> None:
    proposal = keeper.propose(ADA, keep_texts("I prefer polars"), "run-1")
    assert proposal is not None
    assert (proposal.action, proposal.scope, proposal.source_run) == ("add", "user", "run-1")
    assert keeper.all("ada") == ()
    assert keeper.proposals("ada") == (proposal,)
    with pytest.raises(SetupError, match="There is no open proposal"):
        keeper.decide("bob", proposal.proposal_id, accept=True)
    kept = keeper.decide("ada", proposal.proposal_id, accept=True)
    assert kept is not None
    assert (kept.memory.text, kept.memory.source_run) == ("I prefer polars", "run-1")
    assert keeper.proposals("ada") == ()
    assert keeper.propose(ADA, keep_texts("i prefer polars")) is None


def test_002_95_a_rejected_proposal_keeps_nothing_and_does_not_come_again(
    keeper: MemoryKeeper,
) -> None:
    proposal = keeper.propose(ADA, keep_texts("I prefer polars"))
    assert proposal is not None
    assert keeper.decide("ada", proposal.proposal_id, accept=False) is None
    assert keeper.all("ada") == ()
    assert keeper.propose(ADA, keep_texts("I prefer polars")) is None


def test_002_95_another_version_of_what_is_kept_is_proposed_as_a_change(
    keeper: MemoryKeeper,
) -> None:
    made = keeper.keep(ADA, "Our fiscal year starts in April", "project").memory
    proposal = keeper.propose(ADA, keep_texts("The fiscal year starts in July"), "run-2")
    assert proposal is not None
    assert (proposal.action, proposal.memory_id) == ("update", made.memory_id)
    assert proposal.scope == "project"
    kept = keeper.decide("ada", proposal.proposal_id, accept=True)
    assert kept is not None
    assert (kept.memory.memory_id, kept.before) == (made.memory_id, made.text)
    assert texts(keeper.all("ada")) == ["The fiscal year starts in July"]


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("I prefer polars", "I prefer polars"),
        ("Our fiscal year starts in April", "Our fiscal year no longer starts in April"),
        ("Always use seaborn for plots", "Stop using seaborn"),
        ("我们的财年从四月开始", "财年的事"),
        ("以后都用 seaborn", "不要再用 seaborn"),
    ],
)
def test_002_95_what_does_not_hold_any_more_is_proposed_to_go(
    keeper: MemoryKeeper, kept: str, said: str
) -> None:
    keeper.keep(ADA, "The budget is in euros")
    made = keeper.keep(ADA, kept).memory
    proposal = keeper.propose(ADA, keep_texts(said, "forget"))
    assert proposal is not None
    assert (proposal.action, proposal.memory_id, proposal.text) == (
        "delete",
        made.memory_id,
        made.text,
    )
    assert len(keeper.all("ada")) == 2
    assert keeper.decide("ada", proposal.proposal_id, accept=True) is None
    assert texts(keeper.all("ada")) == ["The budget is in euros"]


def test_002_95_what_is_said_of_something_else_changes_nothing(keeper: MemoryKeeper) -> None:
    keeper.keep(ADA, "Column amt of sales is in euros")
    proposal = keeper.propose(ADA, keep_texts("Column tax of sales is in euros"))
    assert proposal is not None
    assert (proposal.action, proposal.memory_id) == ("add", "")


def test_002_95_nothing_is_proposed_to_go_that_is_not_there(keeper: MemoryKeeper) -> None:
    assert keeper.propose(ADA, keep_texts("Stop using seaborn", "forget")) is None
    keeper.keep(ADA, "The budget is in euros")
    assert keeper.propose(ADA, keep_texts("Stop using seaborn", "forget")) is None


def test_what_was_kept_another_way_is_proposed_no_more(keeper: MemoryKeeper) -> None:
    keeper.propose(ADA, keep_texts("I prefer polars"))
    keeper.propose(ADA, keep_texts("The budget is in euros"))
    keeper.keep(ADA, "I prefer polars")
    assert [waiting.text for waiting in keeper.proposals("ada")] == ["The budget is in euros"]


def test_what_is_for_a_folder_needs_one(keeper: MemoryKeeper) -> None:
    made = keeper.keep(ADA, "Amounts are in thousands", "project").memory
    assert (made.scope, made.project) == ("project", "/home/me/a")
    assert keeper.here(Whose("ada", "/home/me/b")) == ()
    with pytest.raises(SetupError, match="no folder"):
        keeper.keep(Whose("ada"), "Dates are in ISO format", "project")
    proposal = keeper.propose(ADA, keep_texts("Column b is in euros", scope="project"))
    assert proposal is not None
    assert proposal.project == "/home/me/a"


MAIL = "ada" + "@" + "example.org"
KEY = "sk-" + "proj-" + "a1" * 20


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"My key is {KEY}", "a key"),
        ("Use «redacted:openai_key:1a2b» for it", "a key"),
        ("The database password is swordfish", "a password"),
        ("API key: 12345", "a key or a password"),
        ("数据库密码是 abc123", "a password"),
        (f"Send reports to {MAIL}", "an e-mail address"),
        ("word " * 200, "characters, more than"),
        ("  ", "it is empty"),
        ("use it always", "it says nothing"),
    ],
)
def test_002_97_keys_addresses_and_long_texts_are_never_kept(
    keeper: MemoryKeeper, text: str, why: str
) -> None:
    made = keeper.keep(ADA, "Budgets are in euros").memory
    for attempt in (
        lambda: keeper.keep(ADA, text),
        lambda: keeper.edit("ada", made.memory_id, text),
        lambda: keeper.propose(ADA, keep_texts(text)),
    ):
        with pytest.raises(SetupError, match=why) as told:
            attempt()
        assert KEY not in str(told.value)
        assert MAIL not in str(told.value)
    assert keeper.all("ada") == (made,)
    assert keeper.proposals("ada") == ()


def test_a_text_of_the_greatest_length_is_kept(keeper: MemoryKeeper) -> None:
    text = ("word " * 200)[: TEXT_LIMIT_CHARACTERS - 1] + "."
    assert keeper.keep(ADA, text).change == "added"


def test_002_97_nothing_goes_with_a_question_while_the_memory_is_off(keeper: MemoryKeeper) -> None:
    keeper.keep(ADA, "Budgets are in euros")
    keeper.switch("ada", is_on=False)
    assert keeper.relevant(ADA, "budgets") == ()
    assert len(keeper.all("ada")) == 1
    keeper.switch("ada", is_on=True)
    assert len(keeper.relevant(ADA, "budgets")) == 1


def test_memories_are_searched_by_words_and_by_parts_of_words(keeper: MemoryKeeper) -> None:
    for text in ("Budgets are in euros", "Use polars", "我们的财年从四月开始"):
        keeper.keep(ADA, text)
    assert texts(keeper.all("ada", "budget")) == ["Budgets are in euros"]
    assert texts(keeper.here(ADA, "OLAR")) == ["Use polars"]
    assert texts(keeper.all("ada", "财年")) == ["我们的财年从四月开始"]
    assert keeper.all("ada", "nowhere") == ()
    assert len(keeper.all("ada", "  ")) == 3


def five_hundred() -> list[Memory]:
    return [
        Memory(f"m{n}", f"Column c{n} of table t{n % 7} holds the {n}th measure of {n % 13}", "",
               "", float(n), float(n))
        for n in range(500)
    ]  # fmt: skip


def test_002_96_of_500_memories_the_relevant_ones_go_along_within_1000_tokens() -> None:
    wish = Memory("wish", "Always answer in German", "", "", 0.0, 0.0)
    memories = [*reversed(five_hundred()), wish]
    chosen = relevant(memories, "What does c321 of table t6 measure?")
    assert chosen[0].memory_id == "m321"
    assert wish in chosen
    assert len(chosen) <= 16
    assert sum(estimate_tokens(memory.text) for memory in chosen) <= TOKEN_LIMIT


def test_002_96_long_memories_stay_within_the_tokens_too() -> None:
    memories = [
        Memory(f"m{n}", f"预算{n}" + "以欧元计并按月报告" * 40, "", "", float(n), float(n))
        for n in range(20)
    ]
    chosen = relevant(memories, "预算3")
    assert 0 < sum(estimate_tokens(memory.text) for memory in chosen) <= TOKEN_LIMIT


def test_002_96_a_few_memories_all_go_along_whatever_is_asked() -> None:
    memories = five_hundred()[:3]
    assert set(relevant(memories, "Hello")) == set(memories)
    assert relevant([], "Hello") == ()


def test_002_96_500_memories_are_looked_through_in_50_ms(
    keeper: MemoryKeeper, database: Database
) -> None:
    store = MemoryStore(database)
    for memory in five_hundred():
        store.add(Whose("ada"), memory.text)

    def relevant_ones() -> Sequence[Memory]:
        words_of.cache_clear()
        return keeper.relevant(ADA, "What does c17 of table t3 measure?")

    found = quick(relevant_ones, 0.05)
    assert "Column c17 " in found[0].text


def test_the_owner_of_the_store_has_no_name_in_it() -> None:
    assert memory_owner("ada", "ada") == ""
    assert memory_owner("", "ada") == ""
    assert memory_owner("bob", "ada") == "bob"


def test_a_folder_has_one_key_however_it_is_reached(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert project_of(str(link)) == project_of(f"{folder}/../work/") != ""
    assert project_of("") == ""
