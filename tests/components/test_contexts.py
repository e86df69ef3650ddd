"""What is handed to a tool besides its arguments (requirements 000-10 to 000-15)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from component_samples import component, context_with, said
from fakes import make_context
from pydantic import BaseModel, Field

from cellwright.assistants import Assistant
from cellwright.errors import SetupError, ToolError
from cellwright.record.messages import (
    AssistantMessage,
    Parameters,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.session.conversation import model_configs, said_so_far, with_run_facts
from cellwright.session.questions import RunRequest
from cellwright.tools import ToolContext
from cellwright.tools.evaluation import settable_values


def test_000_10_a_context_is_handed_to_who_declares_one_by_either_name() -> None:
    context = context_with(prompt="how many?")
    assert said(component(lambda context: context.prompt), context) == ["how many?"]
    assert said(component(lambda ctx: ctx.prompt), context) == ["how many?"]


def test_000_10_without_context_and_kwargs_nothing_is_passed() -> None:
    assert said(component(lambda word: word), make_context(), word="x") == ["x"]


def test_000_10_kwargs_get_the_system_names() -> None:
    def evaluate(word: str, **kwargs: Any) -> str:
        return f"{word} {kwargs['_sys_origin_query']} {kwargs['model_configs']}"

    context = context_with(prompt="q", model_configs={"temperature": 0})
    assert said(component(evaluate), context, word="x") == ["x q {'temperature': 0}"]
    assert said(component(lambda **kwargs: str(kwargs)), None, a=1) == ["{'a': 1}"]


def test_000_10_a_tool_that_needs_a_run_says_so_when_called_by_hand() -> None:
    with pytest.raises(SetupError, match="needs the context of a run") as caught:
        component(lambda context: context).evaluate_merged()
    assert "`context: ToolContext | None = None`" in caught.value.hint
    assert said(component(lambda ctx=None: str(ctx))) == ["None"]

    def evaluate(word: str, context: ToolContext | None = None) -> str:
        return f"{word} {context is None}"

    assert said(component(evaluate), None, word="x") == ["x True"]
    assert said(component(evaluate), context_with(prompt="q"), word="x") == ["x False"]


def test_000_11_a_system_name_among_the_arguments_is_refused() -> None:
    with pytest.raises(ToolError, match="'_sys_traceid' is reserved"):
        list(component(lambda **_: None).evaluate(make_context(), _sys_traceid="x"))


def test_000_07_a_missing_variable_is_named_at_the_call_and_not_before() -> None:
    tool = component(lambda: "x", requires={"env": ["CELLWRIGHT_TEST_MISSING"]})
    with pytest.raises(ToolError, match="'sample' needs the environment variable 'CELLWRIGHT_TEST"):
        list(tool.evaluate())


class Query(BaseModel):
    """What to look for."""

    words: str = Field(description="Words.", json_schema_extra={"variable_name": "query"})


def test_000_04_a_missing_argument_is_named_as_the_model_calls_it() -> None:
    with pytest.raises(ToolError, match="does not fit: 'query' is missing"):
        list(component(lambda words: words, meta=Query).evaluate())


def test_000_43_missing_and_unknown_arguments_are_all_named() -> None:
    made = component(lambda first, second, third=3: first)
    with pytest.raises(ToolError) as caught:
        list(made.evaluate(make_context(), second=2, fourth=4))
    assert str(caught.value) == "The call does not fit: 'first' is missing; there is no 'fourth'."


def test_000_10_a_model_cannot_hand_over_a_context_of_its_own() -> None:
    context = context_with(prompt="real")
    assert said(component(lambda ctx: ctx.prompt), context, ctx="forged") == ["real"]
    configs = component(lambda **kwargs: str(kwargs["model_configs"]))
    assert said(configs, context, model_configs={"model": "forged"}) == ["{}"]


def asked(given: Mapping[str, str] | None = None, **parameters: Any) -> RunRequest:
    return RunRequest(
        "How many?",
        Parameters("m", **parameters),
        base_url="http://127.0.0.1:1/v1",
        files=("a.csv", "/data/b.csv"),
        given=given or {},
    )


def test_000_12_files_and_variables_of_the_person_reach_the_tool() -> None:
    given = {
        "region": "north",
        "_sys_user_instruction": "Be brief.",
        "_sys_file_urls": '{"c.csv": "/data/c.csv"}',
        "_sys_file_names": '["d.csv"]',
        "_sys_custom_variables": '{"months": 3}',
    }
    context = with_run_facts(make_context(), asked(given), Path("/folder"))
    assert context.files == {
        "a.csv": "/folder/a.csv",
        "/data/b.csv": "/data/b.csv",
        "d.csv": "d.csv",
        "c.csv": "/data/c.csv",
    }
    assert context.variables == {"months": 3, "region": "north"}
    assert (context.prompt, context.instructions) == ("How many?", "Be brief.")


def test_000_12_files_have_the_names_the_person_gave_them() -> None:
    question = replace(asked(), file_names=("sales.csv", "old.csv"))
    context = with_run_facts(make_context(), question, Path("/folder"))
    assert context.files == {"sales.csv": "/folder/a.csv", "old.csv": "/data/b.csv"}


def test_000_13_the_instructions_are_the_assistants_unless_the_person_sets_others() -> None:
    question = replace(asked(), assistant=Assistant("terse", instructions="Be terse."))
    assert with_run_facts(make_context(), question, Path()).instructions == "Be terse."
    question = replace(question, given={"_sys_user_instruction": "Be brief."})
    assert with_run_facts(make_context(), question, Path()).instructions == "Be brief."


@pytest.mark.parametrize("value", ["a.csv", "[1", '{"a": 1}'])
def test_000_12_names_of_files_have_to_be_a_list(value: str) -> None:
    with pytest.raises(SetupError, match="'_sys_file_names' is"):
        settable_values({"_sys_file_names": value})


def test_000_12_the_systems_own_names_cannot_be_set() -> None:
    with pytest.raises(SetupError, match="'_sys_traceid' is set by the system"):
        with_run_facts(make_context(), asked({"_sys_traceid": "x"}), Path())


def test_000_13_the_names_have_plain_values_as_the_contract_has_them() -> None:
    seen: dict[str, Any] = {}
    history = (UserMessage((TextPart("Hello"),)), AssistantMessage("Hi."))
    context = context_with(
        history=history,
        used_tools=("look",),
        files={"a.csv": "/data/a.csv"},
        chat_id="chat",
        run_id="run",
        user_id="ann",
    )
    said(component(lambda **kwargs: seen.update(kwargs)), context)
    assert seen["_sys_chat_history"] == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi."},
    ]
    assert seen["_sys_used_tool"] == ["look"]
    assert seen["_sys_file_names"] == ["a.csv"]
    assert seen["_sys_file_urls"] == {"a.csv": "/data/a.csv"}
    assert (seen["_sys_conversation_id"], seen["_sys_traceid"]) == ("chat", "run")
    assert (seen["_sys_uid"], seen["_sys_debug"], seen["_sys_memory"]) == ("ann", False, {})
    assert seen["_sys_code_execution_endpoint"] is context.kernel


def test_000_13_the_history_ends_before_the_reply_that_calls() -> None:
    call = ToolCall("c1", "look", "{}")
    earlier = (AssistantMessage("", (call,)), ToolMessage("c1", "look", (TextPart("3"),)))
    asking = UserMessage((TextPart("And now?"),))
    history = (SystemMessage("Ours."), *earlier, asking, AssistantMessage("", (call,)))
    assert said_so_far(history) == (*earlier, asking)
    assert said_so_far(()) == ()


def test_000_14_a_tool_is_told_the_settings_of_the_model_and_never_a_key() -> None:
    question = asked(temperature=0.0, extra={"reasoning_effort": "low"})
    context = with_run_facts(make_context(), question, Path())
    assert context.model_configs == {
        "model": "m",
        "base_url": "http://127.0.0.1:1/v1",
        "temperature": 0.0,
        "reasoning_effort": "low",
    }
    assert model_configs(Parameters("m", max_output_tokens=9)) == {"model": "m", "max_tokens": 9}
    assert "api_key" not in repr(context)


def test_000_15_no_header_goes_out_where_nothing_is_traced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    assert context_with(run_id="run").headers() == {}
