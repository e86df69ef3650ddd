"""Scenes: what is wrong with them is named, and rules choose the one that fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from assistant_files import read_assistant_named, write_assistant

from cellwright.assistants import Assistant
from cellwright.assistants.files import list_assistants
from cellwright.assistants.scenes import (
    THRESHOLD,
    Scene,
    Situation,
    When,
    choose_scene,
    imported_names,
)
from cellwright.context.turn_sources import SourceQuestion
from cellwright.session.scene_source import SceneSource

DATA, PLOT, DEBUG = Scene("data", "D"), Scene("plotting", "P"), Scene("debug", "B")
ALL = (DATA, PLOT, DEBUG)


def scenes_of(count: int, label: str = "scene{}") -> str:
    return "".join(
        f'[[scenes]]\nlabel = "{label.format(number)}"\nprompt = "Do."\n' for number in range(count)
    )


def chosen(situation: Situation, *scenes: Scene) -> str:
    found = choose_scene(scenes or ALL, situation)
    return found.scene.label if found is not None else ""


def test_002_13_ten_scenes_are_read_and_the_eleventh_is_refused(tmp_path: Path) -> None:
    write_assistant(tmp_path, "ten", scenes_of(10))
    write_assistant(tmp_path, "eleven", scenes_of(11))
    assert len(read_assistant_named("ten", tmp_path).scenes) == 10
    (problem,) = list_assistants([tmp_path]).problems
    assert "eleven.toml: scenes: there are 11, at most 10 are allowed" in problem


def test_002_13_the_limits_of_label_and_prompt_are_exact(tmp_path: Path) -> None:
    fits = f'[[scenes]]\nlabel = "{"l" * 20}"\nprompt = "{"p" * 512}"\n'
    write_assistant(tmp_path, "fits", fits)
    long = f'[[scenes]]\nlabel = "{"l" * 21}"\nprompt = "{"p" * 513}"\n'
    write_assistant(tmp_path, "long", long)
    assert len(read_assistant_named("fits", tmp_path).scenes) == 1
    (problem,) = list_assistants([tmp_path]).problems
    assert "label of 21 characters, at most 20" in problem
    assert "prompt of 513 characters, at most 512" in problem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (scenes_of(2, "same"), "there are two with the label 'same'"),
        ("scenes = 3", "they are written as [[scenes]]"),
        ("scenes = [1]", "they are written as [[scenes]]"),
        ("[[scenes]]\nlabel = 'a'", "'a' has no prompt"),
        ("[[scenes]]\nprompt = 'a'", "number 1 has no label"),
        ("[[scenes]]\nlabel = 'a'\nprompt = 'b'\nwhat = 1", "'a' has 'what'"),
        ("[[scenes]]\nlabel = 'a'\nprompt = 'b'\nwhen = {}", "at least one of them"),
        ("[[scenes]]\nlabel = 'a'\nprompt = 'b'\nwhen = 1", "at least one of them"),
        ("[[scenes]]\nlabel='a'\nprompt='b'\nwhen = {prompt = '('}", "is no regular expression"),
        ("[[scenes]]\nlabel='a'\nprompt='b'\nwhen = {error = 1}", "error 1 is not a text"),
        ("[[scenes]]\nlabel='a'\nprompt='b'\nwhen = {error = '(a+)+$'}", "can take for ever"),
        ("[[scenes]]\nlabel='a'\nprompt='b'\nwhen={prompt='^((\\w+\\s?))*$'}", "take for ever"),
        ("[[scenes]]\nlabel='a'\nprompt='b'\nwhen = {prompt = '^(a|a)*$'}", "take for ever"),
        (f"[[scenes]]\nlabel='a'\nprompt='b'\nwhen = {{prompt = '{'x' * 201}'}}", "200"),
        ("[[scenes]]\nlabel='a'\nprompt='b'\nwhen = {types = 'x'}", "is not a list of names"),
        ("[[scenes]]\nlabel='a'\nprompt='b'\nwhen = {size = 1}", "'size' is not known"),
    ],
)
def test_002_13_what_is_wrong_with_a_scene_is_named(tmp_path: Path, text: str, words: str) -> None:
    write_assistant(tmp_path, "broken", text)
    (problem,) = list_assistants([tmp_path]).problems
    assert problem.startswith("broken.toml: scenes: ")
    assert words in problem


def test_002_13_when_a_scene_is_chosen_is_read_from_its_file(tmp_path: Path) -> None:
    when = 'when = { prompt = "sales?", imports = ["pandas"], types = ["Series"], error = "Key" }'
    write_assistant(tmp_path, "own", f'[[scenes]]\nlabel = "a"\nprompt = "b"\n{when}\n')
    (scene,) = read_assistant_named("own", tmp_path).scenes
    assert scene.when == When("sales?", ("pandas",), ("Series",), "Key")


def test_002_98_an_assistant_without_scenes_gets_none_and_nobody_is_asked() -> None:
    assert choose_scene((), Situation("plot it")) is None
    found = SceneSource().look_up(SourceQuestion("plot it", "c", assistant=Assistant("plain")))
    assert (found.blocks, found.notices, found.problems) == ((), (), ())
    assert SceneSource().components() == ()


@pytest.mark.parametrize(
    ("situation", "label"),
    [
        (Situation("What is in here?"), ""),
        (Situation("What is in here?", types=("int", "DataFrame")), "data"),
        (Situation("What is in here?", imports=("os", "matplotlib")), "plotting"),
        (Situation("What is in here?", last_error="KeyError: 'a'"), "debug"),
        (Situation("Draw a histogram", types=("DataFrame",)), "plotting"),
        (Situation("按地区画图", types=("DataFrame",)), "plotting"),
        (Situation("Why does this fail?", imports=("matplotlib",)), "debug"),
        (Situation("Plot it", last_error="an old one"), "plotting"),
        (Situation("Which columns are missing?"), "data"),
        (Situation("Which airplane is it?"), ""),
    ],
)
def test_002_98_rules_choose_what_the_situation_calls_for(situation: Situation, label: str) -> None:
    assert chosen(situation) == label


def test_002_98_a_label_that_is_no_known_situation_counts_when_the_prompt_says_it() -> None:
    letters = Scene("letters", "L")
    assert chosen(Situation("Count the Letters here"), letters) == "letters"
    assert chosen(Situation("Count the newsletters"), letters) == ""


def test_002_98_a_scene_says_itself_when_it_fits_and_all_of_it_has_to_be_so() -> None:
    scene = Scene("own", "O", When(prompt="reven\\w+", imports=("pandas", "polars")))
    fits = Situation("Sum up the Revenue", imports=("polars",))
    found = choose_scene((*ALL, scene), fits)
    assert found is not None
    assert (found.scene.label, found.confidence) == ("own", 1.0)
    assert found.reason == "the prompt says 'Revenue', polars is imported"
    assert chosen(Situation("Sum up the Revenue"), scene) == ""
    assert chosen(Situation("Sum up", imports=("polars",)), scene) == ""
    broken = Scene("broken", "B", When(error="KeyError", types=("Table",)))
    assert chosen(Situation("x", "KeyError: 'a'", ("Table",)), broken) == "broken"
    assert chosen(Situation("x", "ValueError", ("Table",)), broken) == ""
    assert broken.when_words == "variable of type Table, error says KeyError"
    assert (DATA.when_words, Scene("letters", "").when_words) == (
        "the prompt speaks of data, or there is a table",
        "the prompt says 'letters'",
    )


def test_002_98_what_fits_less_well_than_the_threshold_is_not_chosen() -> None:
    situation = Situation("x", types=("DataFrame",))
    found = choose_scene(ALL, situation)
    assert found is not None
    assert found.confidence == THRESHOLD == 0.7
    assert choose_scene(ALL, situation, threshold=0.71) is None


def test_002_98_of_two_that_fit_as_well_the_first_counts() -> None:
    first, second = Scene("one", "", When("x")), Scene("two", "", When("x"))
    assert chosen(Situation("x"), first, second) == "one"


def test_packages_are_found_in_the_cells_that_import_them() -> None:
    cells = ["import os, sys as s\nfrom matplotlib.pyplot import plot", "x = 'import'", "import os"]
    assert imported_names(cells) == ("os", "sys", "matplotlib")


def test_002_98_the_scene_is_told_the_model_at_the_end_and_its_choice_shown() -> None:
    assistant = Assistant("analyst", scenes=ALL)
    found = SceneSource().look_up(SourceQuestion("Plot it", "c", assistant=assistant))
    (block,) = found.blocks
    assert (block.label, block.text) == ("how to answer this time (scene plotting)", "P")
    assert found.notices == ("Scene 'plotting' of analyst: the prompt says 'Plot'.",)
    assert SceneSource().name == "scenes"
