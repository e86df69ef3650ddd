"""Files of assistants are changed so that the rest stays as the person wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest
from assistant_files import write_assistant

from cellwright.assistant_editing import add_scene, bind_tool, new_assistant, unbind_tool
from cellwright.assistants import Assistant, read_assistant
from cellwright.errors import SetupError

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


def test_what_would_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    inline = written(tmp_path, 'scenes = [{label = "a", prompt = "b"}]\n')
    with pytest.raises(SetupError, match="written in a way we do not change"):
        add_scene(inline, "other", "Do.")
    brackets = written(tmp_path, 'tools = ["read_[ab]"]\n')
    with pytest.raises(SetupError, match="Change it in the file"):
        bind_tool(brackets, "plot")
    assert again(brackets).tools == ("read_[ab]",)


def test_a_file_that_is_gone_cannot_be_changed(tmp_path: Path) -> None:
    assistant = written(tmp_path)
    Path(assistant.path).unlink()
    with pytest.raises(SetupError, match="analyst.toml cannot be changed"):
        bind_tool(assistant, "plot")


def test_a_folder_that_takes_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / ".cellwright").write_text("no folder")
    with pytest.raises(SetupError, match="cannot be written"):
        new_assistant(tmp_path, "analyst")
    with pytest.raises(SetupError, match="cannot be written"):
        new_assistant(tmp_path / "elsewhere", "n" * 249)
    gone = Assistant("gone", tools=("a",), path=str(tmp_path / "gone" / "gone.toml"))
    with pytest.raises(SetupError, match="cannot be changed"):
        bind_tool(gone, "b")
