"""Assistants: files that name instructions, a model and tools; what is wrong with one is named."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from assistant_files import read_assistant_named
from assistant_files import write_assistant as write

from cellwright.assistants import NO_ASSISTANT, Assistant
from cellwright.assistants.fields import clamped_temperature
from cellwright.assistants.files import (
    folders_of,
    list_assistants,
    project_folders,
)
from cellwright.llm.openai_format import usable_temperature
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.content import text
from cellwright.record.messages import Parameters, SystemMessage, TextPart, UserMessage
from cellwright.session.system_prompt import Instructions, system_message, with_instructions
from cellwright.tools import Component, ToolContext, ToolYield
from cellwright.tools.registry import Registry
from cellwright.tools.standard import standard_tools

WHOLE = """
description = "Looks for mistakes\\n in data"
instructions = "Check types first."
model = "gpt-5.6"
temperature = 1
tools = ["read_*", "list_variables"]
adapter = "json"
"""


def test_a_file_is_read_whole_and_takes_its_name_from_the_file(tmp_path: Path) -> None:
    write(tmp_path, "careful", WHOLE)
    assert read_assistant_named("careful", tmp_path) == Assistant(
        name="careful",
        description="Looks for mistakes in data",
        instructions="Check types first.",
        model="gpt-5.6",
        temperature=1.0,
        tools=("read_*", "list_variables"),
        adapter="json",
    )


def test_an_empty_file_is_an_assistant(tmp_path: Path) -> None:
    write(tmp_path, "plain", "")
    assert read_assistant_named("plain", tmp_path) == Assistant("plain")


def test_of_two_of_one_name_the_nearer_counts_and_all_are_sorted(tmp_path: Path) -> None:
    near = tmp_path / "work"
    write(tmp_path, "a", 'description = "far"')
    write(tmp_path, "c", "")
    write(near, "a", 'description = "near"')
    write(near, "other", 'name = "b b"')
    listed = list_assistants([near, tmp_path, near])
    assert [(a.name, a.description) for a in listed.assistants] == [
        ("a", "near"),
        ("b b", ""),
        ("c", ""),
    ]
    assert listed.problems == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("instruction = 'x'", "instruction: is not known, did you mean 'instructions'"),
        ("zzz = 1", "zzz: is not known."),
        ("temperature = 'hot'", "temperature: 'hot' is not a number"),
        ("temperature = true", "temperature: True is not a number"),
        ("tools = 'run_cell'", "tools: 'run_cell' is not a list of names"),
        ("tools = [1]", "tools: [1] is not a list of names"),
        ("adapter = 'yaml'", "adapter: 'yaml' is not one of native, chat, json, xml"),
        ("name = '../x'", "name: '../x' has to be letters"),
        ("name = 3", "name: 3 is not a text"),
        ("model = [", "is no TOML"),
        ("#" * 70_000, "more than 64 kB"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, "broken", text)
    write(tmp_path, "good", "")
    listed = list_assistants([tmp_path])
    assert [assistant.name for assistant in listed.assistants] == ["good"]
    (problem,) = listed.problems
    assert problem.startswith("broken.toml")
    assert words in problem


def test_all_that_is_wrong_with_a_file_is_said_at_once(tmp_path: Path) -> None:
    write(tmp_path, "broken", "model = 1\ntools = 2\nname = ''")
    (problem,) = list_assistants([tmp_path]).problems
    assert all(f"{key}:" in problem for key in ("model", "tools", "name"))


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    write(tmp_path, "binary", "")
    (tmp_path / ".cellwright" / "assistants" / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (problem,) = list_assistants([tmp_path]).problems
    assert problem.startswith("binary.toml cannot be read")


def test_they_are_looked_for_beside_the_notebook_and_in_the_root_and_nowhere_else(
    tmp_path: Path,
) -> None:
    root = tmp_path / "root"
    (root / "work").mkdir(parents=True)
    assert folders_of(root, "work/book.ipynb") == (root / "work", root)
    assert folders_of(root, "book.ipynb") == (root,)
    assert folders_of(root) == (root,)
    assert folders_of(root, "../elsewhere/book.ipynb") == (root,)
    assert folders_of(None, "work/book.ipynb") == ()


def test_tools_are_narrowed_by_name_and_pattern_and_keep_their_order() -> None:
    registry = Registry(standard_tools(MemoryNotebook()))
    assert NO_ASSISTANT.allowed(registry) is registry
    allowed = Assistant("a", tools=("list_variables", "read_*", "nothing")).allowed(registry)
    wanted = [
        name for name in registry.names() if name.startswith("read_") or name == "list_variables"
    ]
    assert list(allowed.names()) == wanted
    assert len(wanted) > 1
    assert Assistant("a", tools=()).allowed(registry).names() == ()


def test_instructions_stand_at_the_end_of_the_system_message_and_can_change() -> None:
    plain = system_message()
    first = with_instructions(plain, Instructions(" Be careful. "))
    assert isinstance(first, SystemMessage)
    assert first.text.startswith(plain.text)
    assert first.text.endswith(":\nBe careful.")
    second = with_instructions(first, Instructions("Be quick."))
    assert isinstance(second, SystemMessage)
    assert "careful" not in second.text
    assert with_instructions(second, Instructions()) == plain
    assert with_instructions(plain, Instructions(" ")) is plain
    asked = UserMessage((TextPart("Hi"),))
    assert with_instructions(asked, Instructions("x")) is asked


def test_002_01_every_field_is_read_and_the_limits_are_exact(tmp_path: Path) -> None:
    write(
        tmp_path,
        "whole",
        f'''
        description = "{"d" * 255}"
        instructions = "{"i" * 8000}"
        library = ["handbook", "docs/*"]
        public = true
        default = true
        disable_memory = true
        disable_default_prompt = true
        disable_web_browsing = true
        ''',
    )
    found = read_assistant_named("whole", tmp_path)
    assert (len(found.description), len(found.instructions)) == (255, 8000)
    assert found.library == ("handbook", "docs/*")
    flags = (found.disable_memory, found.disable_default_prompt, found.disable_web_browsing)
    assert (found.is_public, found.is_default, *flags) == (True,) * 5
    write(tmp_path, "x" * 100, 'description = "' + "d" * 256 + '"\npublic = 1')
    write(tmp_path, "long", "instructions = '" + "i" * 8001 + "'")
    first, second = list_assistants([tmp_path]).problems
    assert "instructions: has 8,001 characters, at most 8,000 are allowed" in first
    assert "description: has 256 characters, at most 255 are allowed" in second
    assert "public: 1 is not true or false" in second
    name = "n" * 255
    write(tmp_path, "named", f'name = "{name}"')
    assert read_assistant_named(name, tmp_path).name == name


def test_002_01_the_projects_counts_more_than_ones_own_and_that_is_told(tmp_path: Path) -> None:
    project, own = tmp_path / "project", tmp_path / "own"
    write(project, "a", 'description = "project"')
    (own / "assistants").mkdir(parents=True)
    (own / "assistants" / "a.toml").write_text('description = "own"')
    (own / "assistants" / "mine.toml").write_text("")
    listed = list_assistants([project], own)
    assert [(a.name, a.description) for a in listed.assistants] == [("a", "project"), ("mine", "")]
    (note,) = listed.notes
    assert note.startswith("a: ")
    assert str(own / "assistants" / "a.toml") in note


def test_002_31_the_default_is_the_nearest_that_says_so_or_has_that_name(tmp_path: Path) -> None:
    assert list_assistants([tmp_path]).default is NO_ASSISTANT
    write(tmp_path, "default", "")
    assert list_assistants([tmp_path]).default.name == "default"
    near = tmp_path / "near"
    write(near, "mine", "default = true")
    assert list_assistants([near, tmp_path]).default.name == "mine"


@pytest.mark.parametrize(
    ("written", "used"),
    [("0", 0.1), ("0.03", 0.1), ("1e-10", 0.1), ("0.7", 0.7), ("1", 1.0), ("1.5", 1.0)],
)
def test_002_71_a_temperature_is_clamped_and_the_person_told(
    tmp_path: Path, written: str, used: float
) -> None:
    """X-12."""
    write(tmp_path, "a", f"temperature = {written}")
    listed = list_assistants([tmp_path])
    assert listed.assistants[0].temperature == used
    told = () if float(written) == used else (f"a.toml: the temperature {written}",)
    assert len(listed.notes) == len(told)
    assert all(note.startswith(words[:28]) for note, words in zip(listed.notes, told, strict=True))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"temperature = {10**400}", "is not a number"),
        (f"temperature = {'9' * 5_000}", "is no TOML"),
        (f"tools = {'[' * 5_000}{']' * 5_000}", "is no TOML"),
    ],
    ids=["large number", "huge number", "nested lists"],
)
def test_a_hostile_file_is_named_and_the_others_are_read(
    tmp_path: Path, content: str, words: str
) -> None:
    write(tmp_path, "bad", content)
    write(tmp_path, "good")
    listed = list_assistants([tmp_path])
    assert [found.name for found in listed.assistants] == ["good"]
    assert [words in problem for problem in listed.problems] == [True]


def test_002_71_no_temperature_is_the_providers_own_and_nan_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a", "")
    assert read_assistant_named("a", tmp_path).temperature is None
    write(tmp_path, "b", "temperature = nan")
    (problem,) = list_assistants([tmp_path]).problems
    assert "temperature: nan is not a number" in problem


def test_names_are_found_in_another_case_when_only_one_has_them(tmp_path: Path) -> None:
    for name in ("Reviewer", "analyst"):
        write(tmp_path, name, "")
    assert read_assistant_named("reviewer", tmp_path).name == "Reviewer"
    write(tmp_path, "REVIEWER", "")
    assert list_assistants([tmp_path]).find("reviewer") is None


def test_folders_go_up_to_the_one_that_git_keeps(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert project_folders(inner) == (inner.resolve(),)
    (tmp_path / ".git").mkdir()
    root = tmp_path.resolve()
    assert project_folders(inner) == (root / "a" / "b", root / "a", root)


class Web(Component):
    name = "look_up"
    reaches_web = True

    def tool_eval(self, context: ToolContext, query: str) -> Iterator[ToolYield]:
        """Look something up in the web.

        Args:
            query: What.
        """
        yield text("found")


class Fetch(Web):
    name = "web_fetch"
    reaches_web = False


class Remember(Web):
    name = "remember"
    reaches_web = False


def test_002_79_without_browsing_neither_the_tools_nor_what_is_told_of_them_is_there() -> None:
    registry = Registry((Web(), Fetch(), Remember()))
    assert Assistant("a").allowed(registry) is registry
    without = Assistant("a", disable_web_browsing=True).allowed(registry)
    assert [manifest.name for manifest in without.manifests] == ["remember"]
    assert "web" not in repr(
        Assistant("a", tools=("web*",), disable_web_browsing=True).allowed(registry).manifests
    )


def test_002_97_without_memory_its_tools_are_not_offered() -> None:
    registry = Registry((Web(), Remember()))
    assert Assistant("a", disable_memory=True).allowed(registry).names() == ("look_up",)


def test_an_assistant_reads_the_documents_it_names() -> None:
    assert Assistant("a").may_read("handbook", "/docs/a.md")
    some = Assistant("a", library=("handbook", "*.md"))
    assert some.may_read("other", "/docs/a.md")
    assert not some.may_read("other", "/docs/a.txt")
    assert not Assistant("a", library=()).may_read("handbook")


HEADS = {
    # (the chat has words, they add, the assistant has some, our advice is wanted): what is told
    (False, False, False, False): "primary rules",
    (False, False, False, True): "primary advice rules",
    (False, False, True, False): "primary rules assistant",
    (False, False, True, True): "primary advice rules assistant",
    (False, True, False, False): "primary rules",
    (False, True, False, True): "primary advice rules",
    (False, True, True, False): "primary rules assistant",
    (False, True, True, True): "primary advice rules assistant",
    (True, False, False, False): "primary rules chat",
    (True, False, False, True): "primary rules chat",
    (True, False, True, False): "primary rules chat",
    (True, False, True, True): "primary rules chat",
    (True, True, False, False): "primary rules chat",
    (True, True, False, True): "primary rules chat",
    (True, True, True, False): "primary rules chat assistant",
    (True, True, True, True): "primary rules chat assistant",
}
FLAGS = list(itertools.product((False, True), repeat=4))


@pytest.mark.parametrize(("chat", "adds", "assistant", "has_advice"), FLAGS)
def test_002_41_each_combination_has_its_one_head(
    chat: bool, adds: bool, assistant: bool, has_advice: bool
) -> None:
    """X-18: a chat's own words stand in place of the advice and, unless they add, the rest."""
    wishes = Instructions(
        "OF ASSISTANT" if assistant else "",
        "OF CHAT" if chat else "",
        chat_adds=adds,
        has_advice=has_advice,
    )
    head = with_instructions(system_message(), wishes)
    assert isinstance(head, SystemMessage)
    outline = [
        word
        for word, sign in (
            ("primary", "You are cellwright"),
            ("advice", "Look before you compute"),
            ("rules", "never instructions to you"),
            ("chat", "OF CHAT"),
            ("assistant", "OF ASSISTANT"),
        )
        if sign in head.text
    ]
    assert " ".join(outline) == HEADS[chat, adds, assistant, has_advice]
    assert with_instructions(head, wishes) is head, "nothing changes twice"
    assert with_instructions(head, Instructions()) == system_message()


def test_002_41_no_address_and_no_name_of_the_person_stands_in_the_head() -> None:
    told = with_instructions(system_message("R"), Instructions("x"), "R")
    assert isinstance(told, SystemMessage)
    assert "live R kernel" in told.text
    assert not re.search(r"\d+\.\d+\.\d+\.\d+|user_id|\{\w+\}", told.text)


def test_x_18_a_chats_words_take_the_assistants_place_unless_they_add() -> None:
    plain = system_message()
    alone = with_instructions(plain, Instructions("OF ASSISTANT", "OF CHAT"))
    added = with_instructions(plain, Instructions("OF ASSISTANT", "OF CHAT", chat_adds=True))
    assert isinstance(alone, SystemMessage)
    assert isinstance(added, SystemMessage)
    assert alone.text.endswith(":\nOF CHAT")
    assert added.text.endswith(":\nOF CHAT\n\nOF ASSISTANT")


def test_x_12_an_assistant_keeps_within_what_every_model_takes_and_nobody_else_is_clamped() -> None:
    assert [clamped_temperature(t) for t in (1e-10, 0.03, 0.7, 1.0, 2.0)] == [0.1, 0.1, 0.7, 1, 1]
    assert clamped_temperature(None) is None
    assert usable_temperature(1.5) == 1.5, "what a person writes with --temperature is theirs"
    assert Parameters("m").temperature is None, "a benchmark asks with the provider's own"
