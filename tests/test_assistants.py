"""Assistants: files that name instructions, a model and tools; what is wrong with one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.assistants import (
    NO_ASSISTANT,
    Assistant,
    assistant_named,
    folders_of,
    list_assistants,
)
from cellwright.components.registry import Registry
from cellwright.components.standard import standard_tools
from cellwright.context.assemble import system_message, with_instructions
from cellwright.errors import SetupError
from cellwright.messages import SystemMessage, TextPart, UserMessage
from cellwright.notebooks.memory import MemoryNotebook

WHOLE = """
description = "Looks for mistakes\\n in data"
instructions = "Check types first."
model = "gpt-5.6"
temperature = 1
tools = ["read_*", "list_variables"]
adapter = "json"
"""


def write(folder: Path, name: str, text: str) -> None:
    path = folder / ".cellwright" / "assistants" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_a_file_is_read_whole_and_takes_its_name_from_the_file(tmp_path: Path) -> None:
    write(tmp_path, "careful", WHOLE)
    assert assistant_named("careful", [tmp_path]) == Assistant(
        name="careful",
        description="Looks for mistakes in data",
        instructions="Check types first.",
        model="gpt-5.6",
        temperature=1.0,
        tools=("read_*", "list_variables"),
        adapter="json",
    )


def test_an_empty_file_is_an_assistant_and_an_empty_name_is_none(tmp_path: Path) -> None:
    write(tmp_path, "plain", "")
    assert assistant_named("plain", [tmp_path]) == Assistant("plain")
    assert assistant_named("", [tmp_path]) is NO_ASSISTANT


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


def test_an_unknown_name_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"There is no assistant 'x'.*x\.toml"):
        assistant_named("x", [tmp_path])
    write(tmp_path, "good", "")
    write(tmp_path, "broken", "zzz = 1")
    with pytest.raises(SetupError) as refused:
        assistant_named("x", [tmp_path])
    assert "There are: good." in refused.value.hint
    assert "broken.toml" in refused.value.hint


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
    first = with_instructions(plain, " Be careful. ")
    assert isinstance(first, SystemMessage)
    assert first.text.startswith(plain.text)
    assert first.text.endswith(":\nBe careful.")
    second = with_instructions(first, "Be quick.")
    assert isinstance(second, SystemMessage)
    assert "careful" not in second.text
    assert with_instructions(second, "") == plain
    assert with_instructions(plain, " ") is plain
    asked = UserMessage((TextPart("Hi"),))
    assert with_instructions(asked, "x") is asked
