"""What a conversation has of the memory, and that nothing gets into it without consent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cpu_time import quick
from fakes import make_context

from cellwright.agent.policy import assess
from cellwright.assistants import Assistant
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion, looked_up
from cellwright.knowledge.memory import Whose, project_of
from cellwright.knowledge.memory.ranking import fingerprint, words_of
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.knowledge.memory.source import LABEL, PROPOSED, TOLD_TO_GUESTS, MemorySource
from cellwright.knowledge.memory.store import MemoryStore
from cellwright.record.events import Notice
from cellwright.store.database import Database, Statement

EVERYWHERE = Whose("")


@pytest.fixture
def source(keeper: MemoryKeeper) -> MemorySource:
    return MemorySource(keeper, "ada")


def turn(prompt: str = "Hello", **fields: object) -> SourceQuestion:
    return replace(SourceQuestion(prompt, "chat", "run", "ada", folder="/home/me/a"), **fields)  # type: ignore[arg-type]


def lines_of(found: RetrievalResult) -> list[str]:
    return [line for block in found.blocks for line in block.text.split("\n")]


def notices_of(found: RetrievalResult) -> list[Notice]:
    return [notice for notice in found.notices if isinstance(notice, Notice)]


def test_002_96_the_memories_of_a_question_are_a_block_labelled_memory(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    here = Whose("", project_of("/home/me/a"))
    keeper.keep(here, "Column amt is in thousands", "project")
    keeper.keep(here, "Always answer in German")
    keeper.keep(Whose("", project_of("/home/me/b")), "Column amt is in euros", "project")
    keeper.keep(Whose("bob"), "Bob likes amt in yen")
    found = source.look_up(turn("Plot amt"))
    assert [block.label for block in found.blocks] == [LABEL]
    assert LABEL.startswith("memory")
    assert lines_of(found) == [
        "- Column amt is in thousands (in this folder)",
        "- Always answer in German",
    ]


def test_without_memories_there_is_no_block(source: MemorySource) -> None:
    assert source.look_up(turn()) == RetrievalResult()


def test_a_variable_brings_up_what_is_kept_about_it(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    for number in range(60):
        keeper.keep(EVERYWHERE, f"Table t{number} belongs to team {number + 100}")
    assert "- Table t3 belongs to team 103" in lines_of(
        source.look_up(turn("Sum it up", variables=("t3",)))
    )


def test_002_95_what_the_person_says_is_proposed_and_not_kept(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    found = source.look_up(turn("Our fiscal year starts in April. Plot the sales."))
    (proposal,) = keeper.proposals("")
    (notice,) = notices_of(found)
    assert (notice.code, notice.level) == (PROPOSED, "info")
    assert PROPOSED == "memory_proposed"
    assert notice.text == (
        f"Remember “Our fiscal year starts in April”? (proposal {proposal.proposal_id})"
    )
    assert f"%agent memory accept {proposal.proposal_id}" in notice.action
    assert proposal.source_run == "run"
    assert keeper.all("") == ()
    assert source.look_up(turn("Our fiscal year starts in April.")) == RetrievalResult()


def test_002_95_a_change_and_a_deletion_are_proposed_as_such(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    keeper.keep(EVERYWHERE, "Our fiscal year starts in April")
    (change,) = notices_of(source.look_up(turn("Our fiscal year starts in July")))
    assert change.text.startswith(
        "Remember “Our fiscal year starts in July” instead of “Our fiscal year starts in April”?"
    )
    (deletion,) = notices_of(source.look_up(turn("Our fiscal year no longer starts in April")))
    assert deletion.text.startswith("Forget “Our fiscal year starts in April”?")
    (of_folder,) = notices_of(source.look_up(turn("The column amt is in thousands")))
    assert of_folder.text.startswith("Remember “The column amt is in thousands” in this folder?")
    assert [p.action for p in keeper.proposals("")] == ["add", "delete", "update"]


def test_002_97_a_secret_is_not_proposed_and_the_person_is_told(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    mail = "ada" + "@" + "example.org"
    (notice,) = notices_of(source.look_up(turn(f"Remember that reports go to {mail}")))
    assert notice.text == "This is not kept: it holds an e-mail address."
    assert keeper.proposals("") == ()


@pytest.mark.parametrize(
    "fields",
    [{"is_guest": True}, {"assistant": Assistant("auditor", disable_memory=True)}],
    ids=["guest", "disable_memory"],
)
def test_002_97_guests_and_assistants_without_memory_have_none(
    keeper: MemoryKeeper, source: MemorySource, fields: dict[str, object]
) -> None:
    keeper.keep(EVERYWHERE, "Always answer in German")
    assert source.look_up(turn("I prefer polars", **fields)) == RetrievalResult()
    assert keeper.proposals("") == ()
    assert said(source, 0, text="I prefer polars").startswith("The memory is off for")
    assert said(source, 1).startswith("The memory is off for")
    assert len(keeper.all("")) == 1


def test_X_25_a_guest_reads_nothing_of_the_owner_whatever_they_are_called(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    keeper.keep(EVERYWHERE, "The owner works in Bonn")
    for name in ("ada", "", "guest-1"):
        assert source.look_up(turn("Where?", user_id=name, is_guest=True)).blocks == ()


def test_X_25_guests_are_told_the_owners_memory_only_where_a_public_assistant_says_so(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    keeper.keep(EVERYWHERE, "The shop opens at nine")
    desk = Assistant("desk", is_public=True, memory_for_guests=True)

    def told(assistant: Assistant) -> RetrievalResult:
        asked = turn("I prefer tea. When is it open?", is_guest=True, assistant=assistant)
        return source.look_up(asked)

    (block,) = told(desk).blocks
    assert "this server's owner" in block.label
    assert "opens at nine" in block.text
    assert told(desk).notices == (TOLD_TO_GUESTS,)
    assert keeper.proposals("") == (), "a guest writes nothing"
    assert said(source, 0, text="I prefer tea").startswith("The memory is off for guests")
    assert said(source, 1).startswith("The memory is off for guests")
    for closed in (
        replace(desk, memory_for_guests=False),
        replace(desk, is_public=False),
        replace(desk, disable_memory=True),
    ):
        assert told(closed) == RetrievalResult()
    keeper.switch("", is_on=False)
    assert told(desk) == RetrievalResult()


def test_another_person_of_the_store_has_a_memory_of_their_own(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    keeper.keep(EVERYWHERE, "Always answer in German")
    assert source.look_up(turn("I prefer polars", user_id="bob")).blocks == ()
    assert [p.text for p in keeper.proposals("bob")] == ["I prefer polars"]
    assert keeper.proposals("") == ()


def test_002_97_while_it_is_off_nothing_is_read_proposed_or_kept(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    keeper.keep(EVERYWHERE, "Always answer in German")
    keeper.switch("", is_on=False)
    assert source.look_up(turn("I prefer polars")) == RetrievalResult()
    assert keeper.proposals("") == ()
    assert said(source, 1) == "The person has switched the memory off. Go on without it."


def test_002_95_a_store_that_takes_no_proposal_is_a_problem_and_no_end(
    keeper: MemoryKeeper, database: Database, source: MemorySource
) -> None:
    keeper.keep(EVERYWHERE, "Always answer in German")
    database.write(
        Statement(
            "CREATE TRIGGER refuse BEFORE INSERT ON memory_proposals "
            "BEGIN SELECT RAISE(FAIL, 'no'); END"
        )
    )
    found = looked_up([source], turn("I prefer polars"))
    assert lines_of(found) == ["- Always answer in German"]
    assert found.problems[0].startswith("Nothing was proposed for the memory: ")


def test_002_96_a_question_with_proposals_takes_50_ms_at_most_over_500_memories(
    database: Database, source: MemorySource
) -> None:
    store = MemoryStore(database)
    for number in range(500):
        store.add(EVERYWHERE, f"Column c{number} of table t{number % 7} holds measure {number}")

    def look_up() -> RetrievalResult:
        words_of.cache_clear()
        fingerprint.cache_clear()
        return source.look_up(turn("Our fiscal year starts in April. I prefer polars. Plot c12."))

    found = quick(look_up, 0.05)
    assert len(found.notices) == 2
    assert "- Column c12 of table t5 holds measure 12" in lines_of(found)


def test_the_folder_of_a_chat_stays_when_code_changes_the_kernels(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    source.look_up(turn())
    source.look_up(turn("The column amt is in euros", folder="/elsewhere"))
    assert keeper.proposals("")[0].project == project_of("/home/me/a")


def test_only_so_many_runs_are_remembered(source: MemorySource) -> None:
    for number in range(300):
        source.look_up(turn(run_id=f"run-{number}"))
    assert said(source, 1, "run-299") == "Nothing is kept yet."
    assert said(source, 1, "run-0").startswith("The memory is not there in this run.")


def said(source: MemorySource, tool: int, run_id: str = "run", **arguments: object) -> str:
    context = replace(make_context(), run_id=run_id)
    output = source.components()[tool].evaluate_merged(context, **arguments)
    return "\n".join(str(item.text["info"]) for item in output.content)


def test_002_95_remember_keeps_a_text_and_says_what_it_changed(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    source.look_up(turn())
    assert said(source, 0, text="Fiscal year starts in April").startswith("Kept [")
    (made,) = keeper.all("")
    assert made.source_run == "run"
    assert said(source, 0, text="fiscal year starts in April.") == (
        f"That is kept already: Fiscal year starts in April [{made.memory_id}]"
    )
    similar = said(source, 0, text="Fiscal year starts in May", scope="project")
    assert f"Nearly the same is kept: {made.text} [{made.memory_id}]" in similar
    changed = said(source, 0, text="Fiscal year starts in July", replaces=made.memory_id)
    assert changed == (
        f"Changed [{made.memory_id}]: Fiscal year starts in July\n"
        "Before: Fiscal year starts in April"
    )
    missing = said(source, 0, text="Something else", replaces="nowhere")
    assert missing == "There is no memory 'nowhere'. Use recall for the ids."
    assert said(source, 0, text="the password is swordfish").startswith("This is not kept: ")
    assert said(source, 0, text="so " * 41) == (
        "That is too long to be kept: 123 characters. Say it in 120."
    )


def test_remember_does_not_reach_what_is_kept_for_other_folders(
    keeper: MemoryKeeper, source: MemorySource
) -> None:
    source.look_up(turn())
    other = keeper.keep(Whose("", "/other"), "Amounts are in yen", "project").memory
    refused = said(source, 0, text="Amounts are in euros", replaces=other.memory_id)
    assert refused.startswith("There is no memory")
    assert said(source, 1) == "Nothing is kept yet."


def test_recall_tells_what_is_kept_with_ids(keeper: MemoryKeeper, source: MemorySource) -> None:
    source.look_up(turn())
    made = keeper.keep(EVERYWHERE, "Fiscal year starts in April").memory
    assert said(source, 1, query="fiscal").startswith(f"[{made.memory_id}] Fiscal year starts")
    assert said(source, 1, query="polars") == "Nothing is kept about 'polars'."
    for number in range(20):
        keeper.keep(EVERYWHERE, f"t{number} " + f"belongs to team{number} " * 22)
    lines = said(source, 1).split("\n")
    assert lines[-1] == f"[… {21 - len(lines) + 1} more; ask with a query …]"


def test_a_conversation_keeps_the_same_two_tools(source: MemorySource) -> None:
    assert source.components() is source.components()
    (remember,), (recall,) = (tool.tool_manifests() for tool in source.components())
    assert (remember.name, list(remember.parameters["properties"])) == (
        "remember",
        ["text", "scope", "replaces"],
    )
    assert remember.parameters["properties"]["scope"]["enum"] == ["user", "project"]
    assert (recall.name, list(recall.parameters["properties"])) == ("recall", ["query"])


def test_002_95_remember_is_asked_about_in_every_mode_with_its_whole_text(
    source: MemorySource,
) -> None:
    remember, recall = source.components()
    arguments = {"text": "Fiscal year starts in April", "scope": "project"}
    assert remember.label(**arguments) == "remember in this folder: Fiscal year starts in April"
    assert remember.label(text="New", replaces="m1") == "change memory m1 to: New"
    assert recall.label() == "recall what is kept"
    assert recall.label(query="tax") == "recall what is kept about tax"
    reason = assess(remember, arguments).reason
    assert reason == "It keeps something for your later conversations."
