"""What a line of ``%agent`` says."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

from cellwright_magics.arguments import OPTIONS, AgentOptions, agent_arguments, options_help, parse


@pytest.mark.parametrize(
    "prompt",
    [
        "it's a test",
        'say "hello" and {x} for $5',
        "-5 is what?",
        "- a list",
        "— dashes",
        "统计收入",
        "what is -m for",
        "a -- b",
    ],
)
def test_everything_after_the_options_is_the_prompt_as_it_stands(prompt: str) -> None:
    assert parse(prompt).prompt == prompt
    assert parse(f"-m x {prompt}").prompt == prompt
    asked = parse("--mode auto", prompt)
    assert (asked.prompt, asked.options.mode) == (prompt, "auto")


def test_two_dashes_end_the_options() -> None:
    assert parse("-m x -- --mode is a word").prompt == "--mode is a word"


def test_words_on_the_line_of_a_cell_come_before_its_body() -> None:
    assert parse("-q First line", "second\nthird\n").prompt == "First line\nsecond\nthird"


def test_options_are_typed() -> None:
    line = (
        "-m 'my model' --max-steps 3 --max-seconds 2.5 --max-tokens 9 --budget .5 --timeout 4 "
        "--temperature -1 -o r -q -h"
    )
    assert parse(line).options == AgentOptions(
        model="my model",
        max_steps=3,
        max_seconds=2.5,
        max_tokens=9,
        budget=0.5,
        timeout=4.0,
        temperature=-1.0,
        out="r",
        quiet=True,
        help=True,
    )


def test_000_12_values_for_tools_are_named() -> None:
    asked = parse("--var region=north --var 'note=a = b' --var empty= look")
    assert asked.options.var == (("region", "north"), ("note", "a = b"), ("empty", ""))
    assert asked.prompt == "look"
    assert parse("look").options.var == ()
    for wrong in ("region", "=x", "a-b=c"):
        with pytest.raises(UsageError, match=f"'{wrong}' is not written NAME=VALUE"):
            parse(f"--var {wrong} look")


def test_a_value_may_follow_an_equals_sign() -> None:
    asked = parse("--model=x --files=a.csv look")
    assert (asked.options.model, asked.options.files, asked.prompt) == ("x", ("a.csv",), "look")


@pytest.mark.parametrize(
    ("line", "files", "prompt"),
    [
        ("--files a.csv what is it?", ("a.csv",), "what is it?"),
        ("--files a.csv b.parquet what is it?", ("a.csv", "b.parquet"), "what is it?"),
        ("--files a.csv,b.csv look", ("a.csv", "b.csv"), "look"),
        ("--files a.csv, b.csv look", ("a.csv", "b.csv"), "look"),
        ("-f 'my data.csv' 'b c.txt', notes look", ("my data.csv", "b c.txt", "notes"), "look"),
        ("--files Makefile look", ("Makefile",), "look"),
        ("--files a.csv -m x look", ("a.csv",), "look"),
        ("--files a.csv -- b.csv is what?", ("a.csv",), "b.csv is what?"),
        ("--files a.csv look. Then b.csv", ("a.csv",), "look. Then b.csv"),
        ("--files data/a.csv", ("data/a.csv",), ""),
    ],
)
def test_files_end_where_the_prompt_begins(line: str, files: tuple[str, ...], prompt: str) -> None:
    asked = parse(line)
    assert (asked.options.files, asked.prompt) == (files, prompt)


def test_a_word_that_is_a_file_here_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "LICENSE").write_text("", encoding="utf-8")
    asked = parse("--files a.csv LICENSE compare")
    assert (asked.options.files, asked.prompt) == (("a.csv", "LICENSE"), "compare")


def test_a_last_semicolon_is_no_part_of_the_prompt() -> None:
    assert parse("draw it;").prompt == parse("draw it ;").prompt
    assert parse("draw it;").silent
    assert parse("draw it;").prompt == "draw it"
    assert not parse("draw; it").silent


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--quite x", r"no option '--quite'. Did you mean --quiet\?"),
        ("--zzzzzz x", "no option '--zzzzzz'. See %agent --help"),
        ("--mode fast x", "invalid choice: 'fast'"),
        ("--max-steps many x", "invalid int value: 'many'"),
        ("--budget 0 x", "'0' is not above zero"),
        ("-o 2fast x", "'2fast' cannot be a variable's name"),
        ("-o class x", "'class' cannot be a variable's name"),
        ("-m", "expected one argument"),
        ("--files", "expected at least one argument"),
    ],
)
def test_a_mistake_is_named_with_its_value(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse(line)


def test_help_names_every_option() -> None:
    def magic(line: str) -> None:
        """Do it."""

    documented: Callable[..., Any] = agent_arguments(magic)
    for option in OPTIONS:
        for name in option.names:
            assert name in options_help()
            assert name in str(documented.__doc__)
    assert isinstance(getattr(documented, "parser", None), argparse.ArgumentParser)
