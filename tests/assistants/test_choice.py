"""Who answers a prompt, and with which words, variables and temperature."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from assistant_files import write_assistant
from hypothesis import given
from hypothesis import strategies as st

from cellwright.assistants import NO_ASSISTANT, Assistant, AssistantList
from cellwright.assistants.files import list_assistants
from cellwright.assistants.scenes import Scene
from cellwright.errors import SetupError
from cellwright.record.messages import Parameters, with_variables
from cellwright.session.composer import AssistantChoice, Chosen, choose_assistant, with_assistant
from cellwright.session.questions import RunRequest

REVIEWER = Assistant("reviewer", "Looks for mistakes", "Check it.", temperature=0.2)
ANALYST = Assistant("data analyst", is_public=True)
USUAL = Assistant("default", "The project's")
LISTED = AssistantList((ANALYST, USUAL, REVIEWER), default=USUAL)
NONE = AssistantList()
QUESTION = RunRequest("Do it.", Parameters("m"), notice="First.")


def chosen(prompt: str, listed: AssistantList = LISTED, named: str = "", **more: object) -> Chosen:
    among = AssistantChoice(listed, **more)  # type: ignore[arg-type]
    return choose_assistant(RunRequest(prompt, assistant_name=named), among)


@pytest.mark.parametrize(
    ("prompt", "name", "rest"),
    [
        ("@reviewer check it", "reviewer", "check it"),
        ("  @Reviewer, check it", "reviewer", "check it"),
        ("@reviewer：检查", "reviewer", "检查"),
        ("@reviewer\ncheck\n it", "reviewer", "check\n it"),
        ("@data analyst sum up", "data analyst", "sum up"),
        ("@cellwright sum up", "", "sum up"),
    ],
)
def test_002_32_a_name_at_the_start_chooses_for_one_prompt_and_is_no_part_of_it(
    prompt: str, name: str, rest: str
) -> None:
    found = chosen(prompt, named="data analyst", of_chat="default")
    assert (found.assistant.name, found.prompt) == (name, rest)


@pytest.mark.parametrize(
    "prompt",
    ["@df what is it", "@reviewer.columns of it", "@reviewers all", "see @reviewer", "@data x"],
)
def test_002_32_a_name_that_is_no_assistant_stays_a_mention(prompt: str) -> None:
    variables = ("df", "reviewer", "reviewers", "data")
    found = chosen(prompt, variables=variables)
    assert (found.assistant, found.prompt, found.notice) == (USUAL, prompt, "")


def test_002_32_an_assistant_counts_more_than_a_variable_of_its_name() -> None:
    assert chosen("@reviewer go", variables=("reviewer",)).assistant is REVIEWER


def test_002_32_a_mistyped_name_is_an_error_where_no_variable_has_it() -> None:
    with pytest.raises(SetupError, match=r"no assistant 'reviewr'.*Did you mean @reviewer\?"):
        chosen("@reviewr go", variables=())
    found = chosen("@reviewr go")
    assert found.prompt == "@reviewr go"
    assert "taken for a variable. Did you mean @reviewer?" in found.notice


def test_002_32_a_name_alone_is_asked_nothing() -> None:
    with pytest.raises(SetupError, match="@reviewer is asked nothing"):
        chosen("@reviewer  ")


def test_002_31_the_order_is_prompt_then_option_then_chat_then_project_then_none() -> None:
    everything: dict[str, Any] = {"named": "reviewer", "of_chat": "data analyst"}
    assert chosen("@default go", **everything).assistant is USUAL
    assert chosen("go", **everything).assistant is REVIEWER
    assert chosen("go", of_chat="data analyst").assistant is ANALYST
    assert chosen("go").assistant is USUAL
    assert chosen("go", NONE).assistant is NO_ASSISTANT
    assert chosen("go", of_chat="cellwright").assistant is NO_ASSISTANT


def test_002_31_the_chats_own_that_is_gone_is_told_and_the_projects_answers() -> None:
    found = chosen("go", of_chat="gone")
    assert (found.assistant, found.notice) == (USUAL, "There is no assistant 'gone'.")


def test_002_31_one_that_was_named_and_is_not_there_is_an_error_with_what_there_is() -> None:
    with pytest.raises(SetupError, match="There are: data analyst, default, reviewer"):
        chosen("go", named="x")
    with pytest.raises(SetupError, match="Did you mean 'reviewer'"):
        chosen("go", named="reviwer")
    with pytest.raises(SetupError, match=r"Write .cellwright/assistants/x\.toml"):
        chosen("go", NONE, named="x")


def test_002_01_guests_may_choose_public_ones_alone() -> None:
    assert chosen("@data analyst go", is_guest=True).assistant is ANALYST
    assert chosen("go", is_guest=True).assistant is NO_ASSISTANT
    assert chosen("@reviewer go", is_guest=True).prompt == "@reviewer go"
    with pytest.raises(SetupError, match="There are: data analyst"):
        chosen("go", named="reviewer", is_guest=True)
    public = replace(USUAL, is_public=True)
    assert chosen("go", AssistantList((public,), default=public), is_guest=True).assistant is public


def test_002_42_variables_are_put_in_once_and_unknown_ones_stay() -> None:
    asked = replace(QUESTION, given={"year": "2026", "who": "{{year}}"})
    assistant = replace(REVIEWER, instructions="For {{ who }}.", scenes=(Scene("a", "{{year}}!"),))
    question = with_assistant(asked, Chosen(assistant, "In {{year}}, {{month}}?", "Second."))
    assert question.prompt == "In 2026, {{month}}?"
    assert question.assistant.instructions == "For {{year}}."
    assert question.assistant.scenes == (Scene("a", "2026!"),)
    assert (question.parameters.temperature, question.notice) == (0.2, "First. Second.")
    said = replace(asked, parameters=Parameters("m", 0.9))
    assert with_assistant(said, Chosen(assistant, "x")).parameters.temperature == 0.9


@pytest.mark.parametrize(
    "text",
    [
        "{{__class__}}",
        "{{k.__class__.__mro__}}",
        "{{k|upper}}",
        "{{ 7*7 }}",
        "{% for x in k %}{% endfor %}",
        "{k}",
        "{{k}",
        "{{ k() }}",
        "${k}",
    ],
)
def test_002_42_nothing_is_ever_evaluated(text: str) -> None:
    assert with_variables(text, {"k": "v", "x": "y"}) == text


@given(st.text(), st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), st.text()))
def test_002_42_text_without_known_names_stays_as_it_is(text: str, values: dict[str, str]) -> None:
    assert with_variables(text.replace("{", "("), values) == text.replace("{", "(")


def test_the_choice_reads_what_files_say(tmp_path: Path) -> None:
    write_assistant(tmp_path, "a", "default = true")
    assert chosen("go", list_assistants([tmp_path])).assistant.name == "a"


MISSPELT = "tols = ['read_*']\ntemprature = 0.2\n"


def test_a_misspelt_key_stops_the_assistant_and_whoever_would_answer_in_its_place(
    tmp_path: Path,
) -> None:
    write_assistant(tmp_path, "reviewer", MISSPELT)
    write_assistant(tmp_path, "usual", "default = true")
    listed = list_assistants([tmp_path])
    wanted = r"reviewer\.toml: tols: is not known, did you mean 'tools'; temprature"
    for said in ({"named": "reviewer"}, {"of_chat": "Reviewer"}):
        with pytest.raises(SetupError, match=wanted):
            chosen("go", listed, **said)
    for variables in (None, (), ("reviewer",)):
        with pytest.raises(SetupError, match=wanted):
            chosen("@reviewer go", listed, variables=variables)
    assert chosen("go", listed).assistant.name == "usual"
    assert chosen("@cellwright go", listed).assistant is NO_ASSISTANT


@pytest.mark.parametrize(
    ("name", "text"), [("default", MISSPELT), ("a", f"{MISSPELT}default = true"), ("default", "x")]
)
def test_a_default_with_a_mistake_lets_nobody_answer_without_its_limits(
    tmp_path: Path, name: str, text: str
) -> None:
    near = tmp_path / "near"
    write_assistant(near, name, text)
    write_assistant(tmp_path, "usual", "default = true")
    listed = list_assistants([near, tmp_path])
    assert listed.default is NO_ASSISTANT
    with pytest.raises(SetupError, match=rf"{name}\.toml.* @cellwright at the start"):
        chosen("go", listed)
    assert chosen("@usual go", listed).assistant.name == "usual"
    assert chosen("@cellwright go", listed).assistant is NO_ASSISTANT


def test_a_mistake_in_the_nearest_file_of_a_name_hides_the_others(tmp_path: Path) -> None:
    near = tmp_path / "near"
    write_assistant(near, "reviewer", MISSPELT)
    write_assistant(tmp_path, "reviewer", "")
    with pytest.raises(SetupError, match="tols"):
        chosen("@reviewer go", list_assistants([near, tmp_path]))
    found = chosen("@reviewer go", list_assistants([tmp_path, near]))
    assert found.assistant.name == "reviewer"


def test_a_guest_is_not_told_what_is_written_in_a_file(tmp_path: Path) -> None:
    write_assistant(tmp_path, "shared", f"{MISSPELT}public = true")
    write_assistant(tmp_path, "private", MISSPELT)
    listed = list_assistants([tmp_path])
    with pytest.raises(SetupError, match="The file of the assistant 'shared' has a mistake"):
        chosen("@shared go", listed, is_guest=True)
    assert chosen("@private go", listed, is_guest=True).prompt == "@private go"
