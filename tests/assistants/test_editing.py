"""Files of assistants are changed so that the rest stays as the person wrote it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from assistant_files import write_assistant

from cellwright.assistants import Assistant
from cellwright.assistants.editing import (
    add_scene,
    bind_tool,
    change_assistant,
    create_assistant,
    delete_assistant,
    new_assistant,
    open_assistant,
    remove_scene,
    unbind_tool,
)
from cellwright.assistants.files import list_assistants, read_assistant
from cellwright.assistants.writing import create_file, rename_file, replace_file
from cellwright.errors import ConflictError, SetupError

WRITTEN = """# mine
description = "Looks"   # short
tools = [
    "read_*",
    "run_cell",  # needed
]

[[scenes]]
label = "data"
prompt = "Check."
"""


def written(folder: Path, text: str = WRITTEN) -> Assistant:
    return read_assistant(write_assistant(folder, "analyst", text))


def again(assistant: Assistant) -> Assistant:
    return read_assistant(Path(assistant.path))


def test_002_01_a_new_one_is_a_file_with_its_instructions(tmp_path: Path) -> None:
    path = new_assistant(tmp_path, "analyst", 'Say "hi"\n\\now \x7f é')
    assert path == tmp_path / ".cellwright" / "assistants" / "analyst.toml"
    assert read_assistant(path).instructions == 'Say "hi"\n\\now \x7f é'
    with pytest.raises(SetupError, match="There is an assistant 'analyst' already"):
        new_assistant(tmp_path, "analyst")
    with pytest.raises(SetupError, match="has to be letters"):
        new_assistant(tmp_path, "../x")
    assert not (tmp_path / ".cellwright" / "x.toml").exists()


def test_002_03_a_tool_is_bound_once_and_unbound_once(tmp_path: Path) -> None:
    assistant = written(tmp_path)
    bind_tool(assistant, "plot")
    assert again(assistant).tools == ("read_*", "run_cell", "plot")
    assert Path(assistant.path).read_text().startswith('# mine\ndescription = "Looks"   # short\n')
    with pytest.raises(SetupError, match="may use 'plot' already"):
        bind_tool(again(assistant), "plot")
    unbind_tool(again(assistant), "plot")
    assert again(assistant).tools == ("read_*", "run_cell")
    with pytest.raises(SetupError, match=r"'plot' is not among .* It has: read_\*, run_cell"):
        unbind_tool(again(assistant), "plot")
    assert again(assistant).scenes == assistant.scenes


def test_002_03_an_assistant_without_a_list_has_every_tool(tmp_path: Path) -> None:
    plain = written(tmp_path, "description = 'x'\n")
    with pytest.raises(SetupError, match="may use every tool already"):
        bind_tool(plain, "plot")
    with pytest.raises(SetupError, match="has no list of tools"):
        unbind_tool(plain, "plot")
    empty = written(tmp_path, "tools = []\n")
    bind_tool(empty, "plot")
    assert again(empty).tools == ("plot",)


def test_002_13_scenes_are_added_up_to_the_tenth(tmp_path: Path) -> None:
    assistant = written(tmp_path)
    for number in range(9):
        add_scene(assistant, f"scene {number}", 'Say "yes".')
    text = Path(assistant.path).read_text()
    assert text.startswith(WRITTEN.rstrip())
    assert [scene.label for scene in again(assistant).scenes] == [
        "data",
        *(f"scene {number}" for number in range(9)),
    ]
    with pytest.raises(SetupError, match="there are 11, at most 10 are allowed"):
        add_scene(assistant, "eleventh", "No.")
    assert Path(assistant.path).read_text() == text


@pytest.mark.parametrize(
    ("label", "words"),
    [("data", "two with the label"), ("l" * 21, "21 characters"), ("", "no label")],
)
def test_002_13_a_scene_that_cannot_be_is_not_written(
    tmp_path: Path, label: str, words: str
) -> None:
    assistant = written(tmp_path)
    with pytest.raises(SetupError, match=words):
        add_scene(assistant, label, "Do.")
    assert again(assistant) == assistant


def test_002_13_a_scene_is_taken_out_by_its_label(tmp_path: Path) -> None:
    assistant = written(tmp_path)
    add_scene(assistant, "money", "In thousands.")
    remove_scene(assistant, "data")
    assert [scene.label for scene in again(assistant).scenes] == ["money"]
    with pytest.raises(SetupError, match="analyst has no scene 'data'. It has: money"):
        remove_scene(assistant, "data")
    remove_scene(assistant, "money")
    with pytest.raises(SetupError, match="It has none"):
        remove_scene(assistant, "money")
    assert Path(assistant.path).read_text().startswith("# mine\n")


def test_one_that_was_read_long_ago_takes_nothing_of_others_away(tmp_path: Path) -> None:
    seen = written(tmp_path)
    add_scene(seen, "money", "In thousands.")
    bind_tool(seen, "plot")
    add_scene(seen, "long", "Sum up.")
    bind_tool(seen, "inspect_variable")
    assert [scene.label for scene in again(seen).scenes] == ["data", "money", "long"]
    assert again(seen).tools == ("read_*", "run_cell", "plot", "inspect_variable")


def test_tools_with_brackets_are_bound_too(tmp_path: Path) -> None:
    brackets = written(tmp_path, 'tools = ["read_[ab]"] # both\n')
    bind_tool(brackets, "plot")
    assert Path(brackets.path).read_text() == 'tools = ["read_[ab]", "plot"] # both\n'


def test_a_file_that_is_gone_cannot_be_changed(tmp_path: Path) -> None:
    assistant = written(tmp_path)
    Path(assistant.path).unlink()
    with pytest.raises(SetupError, match=r"analyst\.toml cannot be read"):
        bind_tool(assistant, "plot")
    with pytest.raises(SetupError, match=r"analyst\.toml cannot be deleted: No such file"):
        delete_assistant(assistant.file)


def test_a_folder_that_takes_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / ".cellwright").write_text("no folder")
    with pytest.raises(SetupError, match=r"cannot be written: .*Look at "):
        new_assistant(tmp_path, "analyst")


def test_002_01_every_field_of_a_new_one_is_in_its_file_and_defaults_are_not(
    tmp_path: Path,
) -> None:
    fields = {
        "instructions": "Be\nbrief.",
        "description": "",
        "temperature": 1.5,
        "tools": [],
        "library": None,
        "public": True,
        "default": False,
        "scenes": [{"label": "plot", "prompt": "Axes.", "when": None}],
    }
    made = create_assistant(tmp_path / "assistants", "new one", fields)
    assert made.path.read_text() == (
        'instructions = """\nBe\nbrief."""\ntemperature = 1.0\ntools = []\npublic = true\n'
        '\n[[scenes]]\nlabel = "plot"\nprompt = "Axes."\n'
    )
    assert made.assistant == read_assistant(made.path)
    assert create_assistant(tmp_path / "assistants", "empty", {}).path.read_bytes() == b""
    assert [file.suffix for file in made.path.parent.iterdir()] == [".toml", ".toml"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../x", "has to be letters"),
        ("a/b", "has to be letters"),
        ("", "has to be letters"),
        ("CON", "cannot be used on Windows"),
        ("nul.x", "cannot be used on Windows"),
        ("LPT1", "cannot be used on Windows"),
        ("dot.", "cannot be used on Windows"),
        ("blank ", "cannot be used on Windows"),
        ("n" * 246, "too long for a file"),
        ("统" * 82, "too long for a file"),
    ],
)
def test_names_that_no_file_can_have_everywhere_are_refused(
    tmp_path: Path, name: str, words: str
) -> None:
    assistant = written(tmp_path)
    with pytest.raises(SetupError, match=words):
        new_assistant(tmp_path, name)
    with pytest.raises(SetupError, match=words):
        change_assistant(assistant.file, {}, name=name)
    assert [file.name for file in assistant.file.parent.iterdir()] == ["analyst.toml"]


def test_long_names_are_files_too(tmp_path: Path) -> None:
    assert new_assistant(tmp_path, "统" * 81).is_file()


@pytest.mark.parametrize("name", ["analyst", "Analyst", "ＡNALYST", "By Key", "broken"])
def test_002_01_no_two_of_a_folder_differ_in_nothing_but_case(tmp_path: Path, name: str) -> None:
    other = written(tmp_path)
    write_assistant(tmp_path, "file", 'name = "by key"\n')
    write_assistant(tmp_path, "broken", "=")
    mine = write_assistant(tmp_path, "mine")
    with pytest.raises(ConflictError, match="There is an assistant '.*' already") as caught:
        create_assistant(mine.parent, name, {})
    assert caught.value.code == "exists"
    with pytest.raises(ConflictError):
        change_assistant(mine, {"description": "x"}, name=name)
    assert mine.read_text() == ""
    assert again(other) == other


def test_a_file_of_that_name_that_is_another_assistant_is_not_written_over(tmp_path: Path) -> None:
    there = write_assistant(tmp_path, "taken", 'name = "other"\n')
    with pytest.raises(ConflictError, match="There is an assistant 'other' already"):
        create_assistant(there.parent, "taken", {})
    # somebody writes it in the moment after we looked
    with pytest.raises(ConflictError, match=r"There is a file 'taken\.toml' already"):
        create_file(there, "mine")
    assert there.read_text() == 'name = "other"\n'
    assert [file.name for file in there.parent.iterdir()] == ["taken.toml"]


def test_002_01_a_renamed_one_has_another_file_and_keeps_all_else(tmp_path: Path) -> None:
    assistant = written(tmp_path)
    assistant.file.chmod(0o640)
    renamed = change_assistant(assistant.file, {"description": "Other"}, name="critic")
    assert (renamed.path.name, renamed.assistant.name) == ("critic.toml", "critic")
    assert renamed.path.read_text() == WRITTEN.replace("Looks", "Other")
    assert renamed.path.stat().st_mode & 0o777 == 0o640
    assert not assistant.file.exists()


def test_002_01_a_name_in_the_file_stays_true_when_it_is_renamed(tmp_path: Path) -> None:
    same = write_assistant(tmp_path, "same", '# me\nname = "same" # me\n')
    renamed = change_assistant(same, {}, name="other")
    assert (renamed.path.name, renamed.text) == ("other.toml", '# me\nname = "other" # me\n')
    apart = write_assistant(tmp_path, "apart", 'name = "called"\n')
    renamed = change_assistant(apart, {}, name="third")
    assert (renamed.path.name, renamed.text) == ("apart.toml", 'name = "third"\n')


def test_002_01_the_case_of_a_name_can_be_changed(tmp_path: Path) -> None:
    assistant = written(tmp_path)
    renamed = change_assistant(assistant.file, {}, name="Analyst")
    assert [file.name for file in assistant.file.parent.iterdir()] == ["Analyst.toml"]
    assert renamed.text == WRITTEN


def test_where_case_does_not_count_a_file_gets_its_new_name_all_the_same(tmp_path: Path) -> None:
    """Two names of one file stand in for a disk that knows no case."""
    path = write_assistant(tmp_path, "analyst", "")
    other = path.with_name("Analyst.toml")
    other.hardlink_to(path)
    rename_file(path, other, "public = true\n", "")
    assert other.read_text() == "public = true\n"
    assert not path.exists()


def test_of_two_writers_the_second_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    path = written(tmp_path).file
    mine, theirs = open_assistant(path), open_assistant(path)
    first = change_assistant(path, {"description": "First"}, version=mine.version)
    with pytest.raises(ConflictError, match="was changed by somebody else meanwhile") as caught:
        change_assistant(path, {"description": "Second"}, version=theirs.version)
    assert caught.value.code == "changed"
    with pytest.raises(ConflictError, match="changed by somebody else"):
        delete_assistant(path, theirs.version)
    # who has already read the file when the other one writes it
    for late in (
        lambda: replace_file(path, "late", theirs.text),
        lambda: rename_file(path, path.with_name("b.toml"), "late", theirs.text),
    ):
        with pytest.raises(ConflictError, match="changed by somebody else"):
            late()
    assert (path.read_text(), first.version) == (first.text, open_assistant(path).version)
    delete_assistant(path, first.version)
    assert list(path.parent.iterdir()) == []


def test_002_01_one_with_tools_and_scenes_is_deleted_with_them(tmp_path: Path) -> None:
    """Its tools are a list of the file itself: nothing is bound to what is gone."""
    bound = written(tmp_path)
    bind_tool(bound, "plot")
    delete_assistant(bound.file)
    listed = list_assistants([tmp_path])
    assert (listed.assistants, listed.problems) == ((), ())


def test_002_01_of_two_of_one_name_the_persons_own_answers_when_the_nearer_is_gone(
    tmp_path: Path,
) -> None:
    own = create_assistant(tmp_path / "home" / "assistants", "analyst", {"model": "mine"})
    near = written(tmp_path / "project")
    listed = list_assistants([tmp_path / "project"], tmp_path / "home")
    assert listed.notes == (f"analyst: {near.path} counts, not {own.path}.",)
    delete_assistant(near.file)
    listed = list_assistants([tmp_path / "project"], tmp_path / "home")
    assert listed.assistants == (own.assistant,)


def test_many_threads_change_one_file_and_each_change_is_there(tmp_path: Path) -> None:
    path = write_assistant(tmp_path, "shared", "tools = []\n")
    seen = read_assistant(path)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: bind_tool(seen, f"tool_{number}"), range(12)))
    assert sorted(again(seen).tools or ()) == sorted(f"tool_{number}" for number in range(12))
